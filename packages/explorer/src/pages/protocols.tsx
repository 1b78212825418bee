import type { Schema } from '@kasgres/client';
import { useLocation } from 'preact-iso';
import { useMemo } from 'preact/hooks';
import { Chart } from '../components/chart.tsx';
import { Card, Load, Page, Pager, Share, Table, Tabs, useCursor, useHref } from '../components/page.tsx';
import { Amount, ChainText, HashLink, ShortText, Time } from '../components/values.tsx';
import { escapeUnseen, formatCompact, formatCount, formatTime } from '../format.ts';
import { Json, nameOfSource, OperationName, ProtocolLink } from '../programs/transaction-uses.tsx';
import { getExact } from '../state/exact-json.ts';
import { useResource } from '../state/resource.ts';

type Interval = Schema<'ProtocolInterval'>;
type Inscription = Schema<'Inscription'>;

const INTERVALS = [
  ['day', 'Days'],
  ['hour', 'Hours'],
] as const;

const PAGE = 20;
const REFRESH_MS = 30_000;

interface Total {
  protocol: string;
  transactions: number;
  fees: bigint;
}

function totalsOf(history: readonly Interval[]): Total[] {
  const totals = new Map<string, Total>();
  for (const { protocol, transactions, fees } of history.flatMap(({ protocols }) => protocols)) {
    const total = totals.get(protocol) ?? { protocol, transactions: 0, fees: 0n };
    totals.set(protocol, {
      protocol,
      transactions: total.transactions + transactions,
      fees: total.fees + BigInt(fees),
    });
  }
  return [...totals.values()].sort((a, b) => b.transactions - a.transactions);
}

function Totals({ history }: { history: readonly Interval[] }) {
  const all = history.reduce((sum, { transactions }) => sum + transactions, 0);
  return (
    <Table
      caption="Transactions by protocol"
      columns={[
        { title: 'Protocol', cell: ({ protocol }) => <ProtocolLink protocol={protocol} /> },
        { title: 'Transactions', isNumber: true, cell: ({ transactions }) => formatCount(transactions) },
        {
          title: 'Share of all',
          isNumber: true,
          cell: ({ transactions }) => <Share share={all === 0 ? 0 : transactions / all} />,
        },
        { title: 'Fees, KAS', isNumber: true, isMinor: true, cell: ({ fees }) => <Amount sompi={fees} /> },
      ]}
      rows={totalsOf(history)}
      keyOf={({ protocol }) => protocol}
      empty="No transaction of this time states an operation of a known protocol."
    />
  );
}

const MOST_PROTOCOLS = 6;

interface Measure {
  title: string;
  valueOf: (interval: Interval) => number;
}

const FIXED_MEASURES: readonly Measure[] = [
  {
    title: 'Covenant events',
    valueOf: ({ covenantEvents: { genesis, transition, burn } }) => genesis + transition + burn,
  },
  { title: 'Covenants created', valueOf: ({ covenantEvents }) => covenantEvents.genesis },
  { title: 'Covenants burned', valueOf: ({ covenantEvents }) => covenantEvents.burn },
  { title: 'Transactions in lanes', valueOf: ({ lanes }) => lanes.transactions },
];

/** Returns what occurred at all in this time. */
function measuresOf(history: readonly Interval[]): Measure[] {
  const protocols = totalsOf(history)
    .slice(0, MOST_PROTOCOLS)
    .map(({ protocol: name }) => ({
      title: `Transactions of ${name}`,
      valueOf: ({ protocols: ofInterval }: Interval) =>
        ofInterval.find(({ protocol }) => protocol === name)?.transactions ?? 0,
    }));
  const families = [...new Set(history.flatMap(({ opcodes }) => opcodes.map(({ family }) => family)))].map((name) => ({
    title: `Spends with opcodes of ${name}`,
    valueOf: ({ opcodes }: Interval) => opcodes.find(({ family }) => family === name)?.spends ?? 0,
  }));
  return [...protocols, ...FIXED_MEASURES, ...families].filter(({ valueOf }) =>
    history.some((interval) => valueOf(interval) > 0),
  );
}

function Charts({ history }: { history: readonly Interval[] }) {
  const series = useMemo(() => {
    // An interval that has just begun would show as a drop.
    const shown = history.filter(({ isOpen }) => !isOpen);
    // One point is no line.
    if (shown.length < 2) return [];
    const times = shown.map(({ start }) => start);
    return measuresOf(shown).map(({ title, valueOf }) => ({ title, times, values: shown.map(valueOf) }));
  }, [history]);
  if (series.length === 0) return null;
  return (
    <div class="charts">
      {series.map(({ title, times, values }) => (
        <Card key={title}>
          <Chart title={title} times={times} values={values} format={formatCompact} />
        </Card>
      ))}
    </div>
  );
}

const sourceOf = ({ source }: Inscription): string => (source === 'payload' ? source : String(source.input));

const cursorOf = (one: Inscription | undefined): string | undefined =>
  one === undefined ? undefined : `${one.transactionId}:${sourceOf(one)}`;

function Operations() {
  const { query } = useLocation();
  const cursor = useCursor();
  const { protocol, operation, tick } = query;
  const parameters = {
    limit: PAGE,
    ...cursor,
    ...(protocol !== undefined && { protocol }),
    ...(operation !== undefined && { operation }),
    ...(tick !== undefined && { tick }),
  };
  const isFirst = Object.keys(cursor).length === 0;
  const resource = useResource(
    `inscriptions ${JSON.stringify(parameters)}`,
    (client) => getExact(client, '/v1/inscriptions', { params: { query: parameters } }),
    { refreshMs: isFirst ? REFRESH_MS : undefined },
  );
  const isFiltered = protocol !== undefined || operation !== undefined || tick !== undefined;
  return (
    <Card title="Operations" aside={<Filters query={query} />}>
      <Load resource={resource} rows={10}>
        {({ inscriptions, metadata }) => (
          <>
            <Table
              caption="Operations of protocols, newest first"
              columns={[
                { title: 'Protocol', cell: (one) => <ProtocolLink protocol={one.protocol} /> },
                { title: 'Operation', cell: (one) => <OperationName operation={one.operation} /> },
                { title: 'Tick', cell: (one) => <Tick {...one} /> },
                { title: 'Transaction', cell: (one) => <HashLink kind="transaction" hash={one.transactionId} /> },
                { title: 'In', isMinor: true, cell: ({ source }) => nameOfSource(source) },
                { title: 'Content', isMinor: true, cell: ({ body }) => <Body body={body} /> },
                { title: 'Time', isMinor: true, cell: ({ timestamp }) => <Time ms={timestamp} /> },
              ]}
              rows={inscriptions}
              keyOf={(one) => cursorOf(one) ?? ''}
              empty={
                isFiltered
                  ? 'No operations match.'
                  : 'No transaction states an operation of a protocol that is known here.'
              }
            />
            <Pager metadata={metadata} first={cursorOf(inscriptions[0])} last={cursorOf(inscriptions.at(-1))} />
          </>
        )}
      </Load>
    </Card>
  );
}

function Tick({ protocol, tick }: Inscription) {
  if (tick === null) return null;
  return (
    <a href={`/protocols?${new URLSearchParams({ protocol, tick })}`}>
      <ShortText text={tick} />
    </a>
  );
}

function Body({ body }: { body: unknown }) {
  if (body == null) return null;
  return (
    <details>
      <summary>Show</summary>
      {typeof body === 'string' ? <ChainText text={body} /> : <Json value={body} />}
    </details>
  );
}

function Filters({ query }: { query: Record<string, string> }) {
  const href = useHref();
  const given = ['protocol', 'operation', 'tick'].flatMap((name) => {
    const value = query[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return (
    <span class="row">
      {given.map(([name, value]) => (
        <a
          class="badge quiet"
          key={name}
          href={href({ [name]: undefined, after: undefined, before: undefined })}
          title={`Remove the filter of the ${name}`}
        >
          {name} {escapeUnseen(value)} ×
        </a>
      ))}
    </span>
  );
}

export function ProtocolsPage() {
  const { query } = useLocation();
  const interval = INTERVALS.find(([name]) => name === query['interval'])?.[0] ?? 'day';
  const history = useResource(
    `protocols ${interval}`,
    (client) => client.get('/v1/network/protocols', { params: { query: { interval } } }),
    { refreshMs: REFRESH_MS },
  );
  return (
    <Page title="Protocols" aside={<Tabs label="Interval" parameter="interval" tabs={INTERVALS} current={interval} />}>
      <Card
        title="Transactions by protocol"
        aside={history.data?.history[0] && <span class="muted">since {formatTime(history.data.history[0].start)}</span>}
      >
        <Load resource={history} rows={6}>
          {(data) => <Totals history={data.history} />}
        </Load>
        <p class="muted">
          What transactions state. Whether an operation has an effect, only the indexer of its protocol knows.
        </p>
      </Card>
      {history.data !== undefined && <Charts history={history.data.history} />}
      <Operations />
    </Page>
  );
}
