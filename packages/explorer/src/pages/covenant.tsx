import type { Schema } from '@kasgres/client';
import { Card, Facts, Load, Page, Pager, Stat, Table, useCursor } from '../components/page.tsx';
import { Amount, CopyButton, HashLink, Time } from '../components/values.tsx';
import { formatCount, formatTime, shortHash } from '../format.ts';
import { CovenantState } from '../programs/covenant-parts.tsx';
import { TemplateLink } from '../programs/names.tsx';
import { Timeline } from '../programs/timeline.tsx';
import { useResource } from '../state/resource.ts';

type Covenant = Schema<'Covenant'>;

const REFRESH_MS = 5000;
const UTXOS = 10;
const EVENTS = 10;

function Summary({ covenant }: { covenant: Covenant }) {
  return (
    <dl class="stats" aria-label="The covenant">
      <Stat label="Balance" value={<Amount sompi={covenant.balance} />} note="KAS" />
      <Stat label="UTXOs" value={formatCount(covenant.utxoCount)} note={covenant.isLive ? 'live' : 'it has ended'} />
      <Stat
        label="Events"
        value={formatCount(covenant.eventCount)}
        note={covenant.isComplete ? 'since its genesis' : 'as far as known'}
      />
      <Stat
        label="Last seen"
        value={<Time ms={covenant.lastSeen} />}
        note={
          <>
            first <Time ms={covenant.firstSeen} />
          </>
        }
      />
    </dl>
  );
}

function Origin({ covenant: { genesis, template, isComplete } }: { covenant: Covenant }) {
  return (
    <Card title="Origin">
      <Facts
        facts={[
          ...(genesis === null
            ? ([['Genesis', <span class="muted">before the indexed blocks</span>]] as const)
            : ([
                ['Genesis', <HashLink kind="transaction" hash={genesis.transactionId} isLong />],
                ['Time', formatTime(genesis.timestamp)],
                [
                  'Authorised by',
                  <span class="value">
                    <a
                      class="mono"
                      href={`/transactions/${genesis.previousOutput.transactionId}#output-${genesis.previousOutput.index}`}
                      title="The id of the covenant commits to this output"
                    >
                      {shortHash(genesis.previousOutput.transactionId)}:{genesis.previousOutput.index}
                    </a>
                  </span>,
                ],
              ] as const)),
          ['Template', <TemplateLink template={template} />],
          !isComplete && ['Lineage', 'Events before the indexed blocks, or in a gap, are not counted.'],
        ]}
      />
    </Card>
  );
}

type Utxo = Schema<'RestUtxo'>;

const outpointOf = (one: Pick<Utxo, 'transactionId' | 'index'> | undefined): string | undefined =>
  one === undefined ? undefined : `${one.transactionId}:${one.index}`;

function Utxos({ covenantId }: { covenantId: string }) {
  const resource = useResource(
    `UTXOs of covenant ${covenantId}`,
    (client) =>
      client.get('/v1/covenants/{covenantId}/utxos', { params: { path: { covenantId }, query: { limit: UTXOS } } }),
    { refreshMs: REFRESH_MS },
  );
  return (
    <Card title="Live UTXOs">
      <Load resource={resource} rows={4}>
        {({ utxos, metadata }) => (
          <>
            <Table
              caption="Unspent outputs of the covenant"
              columns={[
                { title: 'Output', cell: (one) => <HashLink kind="transaction" hash={one.transactionId} /> },
                { title: '#', isNumber: true, cell: ({ index }) => index },
                { title: 'DAA score', isNumber: true, isMinor: true, cell: (one) => formatCount(one.blockDaaScore) },
                { title: 'Amount, KAS', isNumber: true, cell: ({ amount }) => <Amount sompi={amount} /> },
              ]}
              rows={utxos}
              keyOf={(one) => outpointOf(one) ?? ''}
              empty="It has no unspent outputs: the covenant has ended."
            />
            {metadata.hasMore && <p class="muted">The first {UTXOS} are shown.</p>}
          </>
        )}
      </Load>
    </Card>
  );
}

function Events({ covenantId }: { covenantId: string }) {
  const cursor = useCursor();
  const parameters = { limit: EVENTS, ...cursor };
  const isFirst = Object.keys(cursor).length === 0;
  const resource = useResource(
    `events of ${covenantId} ${JSON.stringify(parameters)}`,
    async (client) => {
      const params = { path: { covenantId }, query: parameters };
      const page = await client.get('/v1/covenants/{covenantId}/events', { params });
      const last = page.events.at(-1)?.transactionId;
      const mayHaveOlder = last !== undefined && (page.metadata.hasMore || parameters.ending_before !== undefined);
      // The state before the last one of the page.
      const older = mayHaveOlder
        ? await client.get('/v1/covenants/{covenantId}/events', {
            params: { path: { covenantId }, query: { limit: 1, starting_after: last } },
          })
        : undefined;
      return { ...page, older: older?.events[0] };
    },
    { refreshMs: isFirst ? REFRESH_MS : undefined },
  );
  return (
    <Card title="Timeline">
      <Load resource={resource} rows={10}>
        {({ events, older, metadata }) => (
          <>
            <Timeline events={events} older={older} />
            <Pager metadata={metadata} first={events[0]?.transactionId} last={events.at(-1)?.transactionId} />
          </>
        )}
      </Load>
    </Card>
  );
}

export function CovenantPage({ covenantId }: { covenantId: string }) {
  const resource = useResource(
    `covenant ${covenantId}`,
    (client) => client.get('/v1/covenants/{covenantId}', { params: { path: { covenantId } } }),
    { refreshMs: REFRESH_MS },
  );
  const found = resource.data?.covenant;
  return (
    <Page
      title={`Covenant ${shortHash(covenantId)}`}
      heading={
        <>
          Covenant {found !== undefined && <CovenantState {...found} />}
          <span class="subject mono">
            {covenantId} <CopyButton value={covenantId} label="covenant id" />
          </span>
        </>
      }
    >
      <Load resource={resource} rows={16} notFound="No such covenant is indexed.">
        {({ covenant }) => (
          <>
            <Summary covenant={covenant} />
            <div class="columns">
              <Origin covenant={covenant} />
              <Utxos covenantId={covenantId} />
            </div>
            <Events key={covenantId} covenantId={covenantId} />
          </>
        )}
      </Load>
    </Page>
  );
}
