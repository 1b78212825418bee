import type { Schema } from '@kasgres/client';
import { useLocation } from 'preact-iso';
import { Card, Load, Page, Pager, Table, Tabs, useCursor, useHref } from '../components/page.tsx';
import { Amount, HashLink, Time } from '../components/values.tsx';
import { formatCount } from '../format.ts';
import { CovenantState, EventKind } from '../programs/covenant-parts.tsx';
import { TemplateLink } from '../programs/names.tsx';
import { useResource } from '../state/resource.ts';

type Covenant = Schema<'Covenant'>;
type Order = 'last_seen' | 'created';

const PAGE = 20;
const REFRESH_MS = 10_000;

const NO_COVENANTS =
  'No output of the indexed blocks is bound to a covenant. Covenants exist on mainnet since June 2026 (Toccata).';

interface CovenantTableProps {
  covenants: readonly Covenant[];
  empty: string;
  /** All have the template of the page. */
  isOfTemplate?: boolean;
}

export function CovenantTable({ covenants, empty, isOfTemplate = false }: CovenantTableProps) {
  return (
    <Table
      caption="Covenants"
      columns={[
        { title: 'Covenant', cell: ({ covenantId }) => <HashLink kind="covenant" hash={covenantId} /> },
        { title: 'State', cell: (covenant) => <CovenantState {...covenant} /> },
        ...(isOfTemplate
          ? []
          : [
              {
                title: 'Template',
                isMinor: true,
                cell: ({ template }: Covenant) => <TemplateLink template={template} />,
              },
            ]),
        { title: 'UTXOs', isNumber: true, isMinor: true, cell: ({ utxoCount }) => formatCount(utxoCount) },
        { title: 'Balance, KAS', isNumber: true, cell: ({ balance }) => <Amount sompi={balance} /> },
        { title: 'Events', isNumber: true, cell: ({ eventCount }) => formatCount(eventCount) },
        { title: 'Last seen', isMinor: true, cell: ({ lastSeen }) => <Time ms={lastSeen} /> },
      ]}
      rows={covenants}
      keyOf={({ covenantId }) => covenantId}
      empty={empty}
    />
  );
}

/** The position of a covenant in a listing, which changes with its events. */
export const cursorOf = (covenant: Covenant | undefined, order: Order): string | undefined =>
  covenant === undefined
    ? undefined
    : `${order === 'created' ? covenant.firstSeen : covenant.lastSeen}:${covenant.covenantId}`;

function List({ order }: { order: Order }) {
  const { query } = useLocation();
  const cursor = useCursor();
  const template = query['template'];
  const isLiveOnly = query['live'] === 'true';
  const parameters = {
    limit: PAGE,
    order,
    ...cursor,
    ...(isLiveOnly && { live_only: true }),
    ...(template !== undefined && { template }),
  };
  const resource = useResource(`covenants ${JSON.stringify(parameters)}`, (client) =>
    client.get('/v1/covenants', { params: { query: parameters } }),
  );
  return (
    <Load resource={resource} rows={12}>
      {({ covenants, metadata }) => (
        <>
          <CovenantTable
            covenants={covenants}
            empty={isLiveOnly || template !== undefined ? 'No covenants match.' : NO_COVENANTS}
          />
          <Pager metadata={metadata} first={cursorOf(covenants[0], order)} last={cursorOf(covenants.at(-1), order)} />
        </>
      )}
    </Load>
  );
}

function Events() {
  const cursor = useCursor();
  const parameters = { limit: PAGE, ...cursor };
  const isFirst = Object.keys(cursor).length === 0;
  const resource = useResource(
    `covenant events ${JSON.stringify(parameters)}`,
    (client) => client.get('/v1/covenant-events', { params: { query: parameters } }),
    { refreshMs: isFirst ? REFRESH_MS : undefined },
  );
  return (
    <Load resource={resource} rows={12}>
      {({ events, metadata }) => (
        <>
          <Table
            caption="Events of all covenants, newest first"
            columns={[
              { title: 'Event', cell: ({ kind }) => <EventKind kind={kind} /> },
              { title: 'Covenant', cell: ({ covenantId }) => <HashLink kind="covenant" hash={covenantId} /> },
              { title: 'Transaction', cell: (event) => <HashLink kind="transaction" hash={event.transactionId} /> },
              { title: 'Inputs', isNumber: true, isMinor: true, cell: ({ inputs }) => formatCount(inputs.length) },
              { title: 'Outputs', isNumber: true, isMinor: true, cell: ({ outputs }) => formatCount(outputs.length) },
              { title: 'Time', isMinor: true, cell: ({ timestamp }) => <Time ms={timestamp} /> },
            ]}
            rows={events}
            keyOf={({ covenantId, transactionId }) => `${covenantId}:${transactionId}`}
            empty={NO_COVENANTS}
            isLive
          />
          <Pager metadata={metadata} first={eventCursor(events[0])} last={eventCursor(events.at(-1))} />
        </>
      )}
    </Load>
  );
}

const eventCursor = (event: Schema<'CovenantEvent'> | undefined): string | undefined => event?.transactionId;

const VIEWS = [
  ['last_seen', 'Last used'],
  ['created', 'Newest'],
  ['events', 'Events'],
] as const;

export function CovenantsPage() {
  const { query } = useLocation();
  const href = useHref();
  const view = VIEWS.find(([name]) => name === query['show'])?.[0] ?? 'last_seen';
  const isLiveOnly = query['live'] === 'true';
  const reset = { after: undefined, before: undefined };
  return (
    <Page
      title="Covenants"
      aside={
        <div class="row">
          {view !== 'events' && (
            <a class="button" href={href({ ...reset, live: isLiveOnly ? undefined : 'true' })}>
              {isLiveOnly ? 'Show ended ones, too' : 'Show live ones only'}
            </a>
          )}
          <Tabs label="Order" parameter="show" tabs={VIEWS} current={view} />
        </div>
      }
    >
      {query['template'] !== undefined && view !== 'events' && (
        <p class="row">
          Of the template <TemplateLink template={query['template']} />
          <a href={href({ ...reset, template: undefined })}>All templates</a>
        </p>
      )}
      <Card>{view === 'events' ? <Events /> : <List order={view} />}</Card>
    </Page>
  );
}
