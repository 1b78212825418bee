import type { Schema } from '@kasgres/client';
import { Card, Load, Page, Pager, Stat, Table, useCursor } from '../components/page.tsx';
import { TransactionList } from '../components/transfers.tsx';
import { Amount, CopyButton, Time } from '../components/values.tsx';
import { formatCount, textOfHex } from '../format.ts';
import { serverNow } from '../state/clock.ts';
import { useResource } from '../state/resource.ts';

const PAGE = 20;
const REFRESH_MS = 10_000;

/** A namespace of four letters is read more easily than its hex digits. */
function Namespace({ namespace }: { namespace: string }) {
  const text = textOfHex(namespace);
  return (
    <span class="named">
      <a class="mono" href={`/lanes/${namespace}`}>
        {namespace}
      </a>
      {text !== undefined && /\S/.test(text) && <bdi class="muted">“{text}”</bdi>}
    </span>
  );
}

export function LanesPage() {
  const cursor = useCursor();
  const parameters = { limit: PAGE, ...cursor };
  const isFirst = Object.keys(cursor).length === 0;
  const resource = useResource(
    `lanes ${JSON.stringify(parameters)}`,
    (client) => client.get('/v1/lanes', { params: { query: parameters } }),
    { refreshMs: isFirst ? REFRESH_MS : undefined },
  );
  return (
    <Page title="Lanes">
      <Card>
        <Load resource={resource} rows={10}>
          {({ lanes, metadata }) => (
            <>
              <Table
                caption="User lanes, the last used first"
                columns={[
                  { title: 'Namespace', cell: (lane) => <Namespace {...lane} /> },
                  { title: 'Transactions', isNumber: true, cell: (lane) => formatCount(lane.transactionCount) },
                  { title: 'Gas', isNumber: true, isMinor: true, cell: ({ gas }) => formatCount(gas) },
                  { title: 'Fees, KAS', isNumber: true, isMinor: true, cell: ({ fees }) => <Amount sompi={fees} /> },
                  { title: 'Last used', cell: ({ lastSeen }) => <Time ms={lastSeen} /> },
                ]}
                rows={lanes}
                keyOf={({ namespace }) => namespace}
                empty="No transaction of the indexed blocks belongs to a user lane, in which applications order what they do (KIP-21)."
              />
              <Pager metadata={metadata} first={cursorOf(lanes[0])} last={cursorOf(lanes.at(-1))} />
            </>
          )}
        </Load>
      </Card>
    </Page>
  );
}

/** The time is part of the cursor, since the position of a lane changes with its use. */
const cursorOf = (lane: Schema<'Lane'> | undefined): string | undefined =>
  lane === undefined ? undefined : `${lane.lastSeen}:${lane.namespace}`;

export function LanePage({ namespace }: { namespace: string }) {
  const resource = useResource(
    `lane ${namespace}`,
    (client) => client.get('/v1/lanes/{namespace}', { params: { path: { namespace } } }),
    { refreshMs: REFRESH_MS },
  );
  const text = textOfHex(namespace);
  return (
    <Page
      title={`Lane ${namespace}`}
      heading={
        <>
          Lane {text !== undefined && /\S/.test(text) && <bdi class="muted">“{text}”</bdi>}
          <span class="subject mono">
            {namespace} <CopyButton value={namespace} label="namespace" />
          </span>
        </>
      }
    >
      <Load resource={resource} rows={12} notFound="No such lane is indexed.">
        {({ lane }) => (
          <>
            <dl class="stats" aria-label="The lane">
              <Stat label="Transactions" value={formatCount(lane.transactionCount)} note="accepted" />
              <Stat label="Fees" value={<Amount sompi={lane.fees} />} note="KAS" />
              <Stat label="Gas" value={formatCount(lane.gas)} note="committed" />
              <Stat
                label="Last used"
                value={<Time ms={lane.lastSeen} />}
                note={
                  <>
                    first <Time ms={lane.firstSeen} />
                  </>
                }
              />
            </dl>
            <Transactions namespace={namespace} />
          </>
        )}
      </Load>
    </Page>
  );
}

function Transactions({ namespace }: { namespace: string }) {
  const cursor = useCursor();
  const parameters = { limit: PAGE, include: 'tags' as const, ...cursor };
  const isFirst = Object.keys(cursor).length === 0;
  const resource = useResource(
    `transactions of lane ${namespace} ${JSON.stringify(parameters)}`,
    async (client) => {
      const params = { path: { namespace }, query: parameters };
      return { ...(await client.get('/v1/lanes/{namespace}/transactions', { params })), loadedAt: serverNow() };
    },
    { refreshMs: isFirst ? REFRESH_MS : undefined },
  );
  return (
    <Card title="Transactions">
      <Load resource={resource} rows={12}>
        {({ transactions, loadedAt, tags, metadata }) => (
          <>
            <TransactionList
              transactions={transactions}
              loadedAt={loadedAt}
              tags={tags}
              empty="None of its transactions is in the indexed blocks."
            />
            <Pager
              metadata={metadata}
              first={transactions[0]?.transactionId}
              last={transactions.at(-1)?.transactionId}
            />
          </>
        )}
      </Load>
    </Card>
  );
}
