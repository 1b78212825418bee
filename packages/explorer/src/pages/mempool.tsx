import type { Schema } from '@kasgres/client';
import { useMemo } from 'preact/hooks';
import { Card, Load, Page, Share, Stat, Table } from '../components/page.tsx';
import { Amount, HashLink, Time } from '../components/values.tsx';
import { formatCount, formatDuration, formatRate } from '../format.ts';
import { serverNow } from '../state/clock.ts';
import { usePolled } from '../state/resource.ts';
import type { Mempool } from '../stream/mempool.ts';
import { useMempool } from '../stream/stream.ts';

type Summary = Schema<'Mempool'>;

/** Until the stream sends the mempool, and while it is away. */
const POLL_MS = 2000;
const NEWEST = 20;
/** Limits of fee rates: 0, 1, 2, 5, 10 and so on up to a million, as in the response of the API. */
const LIMITS = [0, ...[0, 1, 2, 3, 4, 5].flatMap((power) => [1, 2, 5].map((step) => step * 10 ** power)), 1_000_000];

/** Summarises the mempool of the stream in the form of the response of the API. */
function summarize(mempool: Mempool): Summary {
  const transactions = [...mempool.values()];
  const buckets = LIMITS.map((from, index) => {
    const to = LIMITS[index + 1] ?? null;
    const within = transactions.filter(({ feerate }) => {
      const rate = feerate ?? 0;
      return rate >= from && (to === null || rate < to);
    });
    return { from, to, transactions: within.length, mass: sumOf(within, 'mass'), fees: sumOf(within, 'fee') };
  });
  return {
    timestamp: serverNow(),
    size: transactions.length,
    mass: sumOf(transactions, 'mass'),
    fees: buckets.slice(Math.max(buckets.findIndex(isUsed), 0), buckets.findLastIndex(isUsed) + 1),
    newest: transactions.toSorted((one, other) => other.seenAt - one.seenAt).slice(0, NEWEST),
  };
}

const isUsed = ({ transactions }: { transactions: number }): boolean => transactions > 0;

const sumOf = (transactions: Summary['newest'], field: 'mass' | 'fee'): string =>
  String(transactions.reduce((sum, one) => sum + BigInt(one[field] ?? 0), 0n));

function Fees({ fees }: { fees: Summary['fees'] }) {
  const most = Math.max(...fees.map(({ transactions }) => transactions), 1);
  return (
    <Card title="Fee rates">
      <Table
        caption="Pending transactions by fee rate"
        columns={[
          {
            title: 'Sompi per gram',
            cell: ({ from, to }) =>
              to === null ? `${formatCount(from)} and more` : `${formatCount(from)} – ${formatCount(to)}`,
          },
          {
            title: 'Transactions',
            isNumber: true,
            cell: ({ transactions }) => <Share share={transactions / most} text={formatCount(transactions)} />,
          },
          { title: 'Mass', isNumber: true, isMinor: true, cell: ({ mass }) => formatCount(mass) },
          { title: 'Fees, KAS', isNumber: true, cell: (one) => <Amount sompi={one.fees} /> },
        ]}
        rows={fees}
        keyOf={({ from }) => String(from)}
        empty="The mempool is empty."
      />
    </Card>
  );
}

const ESTIMATE_MS = 10_000;
/** Grams of a payment from one UTXO to a payee and back. */
const SIMPLE_PAYMENT = 2036;

type Bucket = Schema<'FeerateBucket'>;

const rowsOf = (priority: Bucket, normal: readonly Bucket[], low: readonly Bucket[]) => [
  { speed: 'Priority', ...priority },
  ...normal.slice(0, 1).map((bucket) => ({ speed: 'Normal', ...bucket })),
  ...low.slice(0, 1).map((bucket) => ({ speed: 'Low', ...bucket })),
];

/** The node's own estimate, from its mempool and the latest blocks. */
function Recommended() {
  const resource = usePolled('fee estimate', (client) => client.get('/v1/rpc/getFeeEstimate'), ESTIMATE_MS);
  return (
    <Card title="Recommended fees">
      <Load resource={resource} rows={3}>
        {({ estimate: { priorityBucket, normalBuckets, lowBuckets } }) => (
          <Table
            caption="Recommended fees, from the node's estimate"
            columns={[
              { title: 'Speed', cell: ({ speed }) => speed },
              { title: 'Sompi per gram', isNumber: true, cell: ({ feerate }) => formatRate(feerate) },
              {
                title: 'In a block within',
                isNumber: true,
                cell: ({ estimatedSeconds }) => (estimatedSeconds < 1 ? '1 s' : formatDuration(estimatedSeconds)),
              },
              {
                title: 'Simple payment, KAS',
                isNumber: true,
                isMinor: true,
                cell: ({ feerate }) => <Amount sompi={BigInt(Math.ceil(feerate * SIMPLE_PAYMENT))} />,
              },
            ]}
            rows={rowsOf(priorityBucket, normalBuckets, lowBuckets)}
            keyOf={({ speed }) => speed}
            empty="The node estimates no fees."
          />
        )}
      </Load>
    </Card>
  );
}

function Newest({ newest }: { newest: Summary['newest'] }) {
  return (
    <Card title="Newest">
      <Table
        caption="Newest pending transactions"
        isLive
        columns={[
          { title: 'Transaction', cell: ({ transactionId }) => <HashLink kind="transaction" hash={transactionId} /> },
          { title: 'Seen', cell: ({ seenAt }) => <Time ms={seenAt} /> },
          { title: 'Mass', isNumber: true, isMinor: true, cell: ({ mass }) => formatCount(mass) },
          {
            title: 'Sompi per gram',
            isNumber: true,
            isMinor: true,
            cell: ({ feerate }) => (feerate === null ? '' : formatRate(feerate)),
          },
          { title: 'Fee, KAS', isNumber: true, cell: ({ fee }) => (fee === null ? '' : <Amount sompi={fee} />) },
          {
            title: 'Amount, KAS',
            isNumber: true,
            isMinor: true,
            cell: ({ outputSum }) => <Amount sompi={outputSum} />,
          },
        ]}
        rows={newest}
        keyOf={({ transactionId }) => transactionId}
        empty="No transactions are pending."
      />
    </Card>
  );
}

export function MempoolPage() {
  const streamed = useMempool();
  const polled = usePolled(
    'mempool',
    (client) => client.get('/v1/mempool'),
    streamed === undefined ? POLL_MS : undefined,
  );
  const data = useMemo(() => streamed && summarize(streamed), [streamed]);
  const resource = data === undefined ? polled : { ...polled, data, error: undefined };
  return (
    <Page title="Mempool">
      <Load resource={resource} rows={16}>
        {({ size, mass, fees, newest, timestamp }) => (
          <>
            <dl class="stats" aria-label="The mempool">
              <Stat label="Transactions" value={formatCount(size)} note="pending" />
              <Stat label="Mass" value={formatCount(mass)} note="grams" />
              <Stat
                label="Fees"
                value={<Amount sompi={fees.reduce((sum, one) => sum + BigInt(one.fees), 0n)} />}
                note="KAS"
              />
              <Stat label="Sampled" value={<Time ms={timestamp} />} note="from the node" />
            </dl>
            <Recommended />
            <Fees fees={fees} />
            <Newest newest={newest} />
          </>
        )}
      </Load>
    </Page>
  );
}
