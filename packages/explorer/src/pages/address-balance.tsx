/** The balance of an address over time: by interval, or after each of the latest transactions. */
import type { Client, Schema } from '@kasgres/client';
import { useLocation } from 'preact-iso';
import { useMemo } from 'preact/hooks';
import { Chart } from '../components/chart.tsx';
import { Card, Load, Tabs } from '../components/page.tsx';
import { formatCompact, toKas } from '../format.ts';
import { serverNow } from '../state/clock.ts';
import { useResource } from '../state/resource.ts';

const INTERVALS = [
  ['recent', 'Recent'],
  ['hour', 'Hours'],
  ['day', 'Days'],
  ['month', 'Months'],
] as const;

type Interval = (typeof INTERVALS)[number][0];

interface Point {
  timestamp: number;
  balance: string;
}

const RECENT_TRANSACTIONS = 100;
const RECENT_ATTEMPTS = 3;
const DAY_MS = 86_400_000;

/**
 * Computes the balances after the latest transactions, from the current one backwards. Another
 * transaction may come between the reading of both, which are read again then.
 */
async function readRecent(
  client: Client,
  address: string,
  current: string,
  attempts = RECENT_ATTEMPTS,
): Promise<Point[]> {
  const query = { limit: RECENT_TRANSACTIONS, accepted_only: true };
  const { transactions } = await client.get('/v1/addresses/{address}/transactions', {
    params: { path: { address }, query },
  });
  const { balance: after } = await client.get('/v1/rpc/getBalanceByAddress/{address}', {
    params: { path: { address } },
  });
  if (after !== current && attempts > 1) return readRecent(client, address, after, attempts - 1);
  let balance = BigInt(current);
  const points = transactions.map(({ blockTime, balanceChange }) => {
    const point = { timestamp: blockTime, balance: String(balance) };
    balance -= BigInt(balanceChange);
    return point;
  });
  // Transactions are listed in the order of their first writing, which differs a little from that
  // of their times.
  return points.sort((a, b) => a.timestamp - b.timestamp);
}

async function readIntervals(client: Client, address: string, interval: Exclude<Interval, 'recent'>): Promise<Point[]> {
  const query = { interval };
  return (await client.get('/v1/addresses/{address}/balance-history', { params: { path: { address }, query } }))
    .history;
}

/**
 * The last interval ends later than now, and there is none since the balance changed last: the
 * chart ends now.
 */
function untilNow(points: readonly Point[], balance: string): Point[] {
  const now = serverNow();
  return [...points.filter(({ timestamp }) => timestamp < now), { timestamp: now, balance }];
}

/** Chooses an interval of which there are several. */
function defaultFor(firstSeen: number | null): Interval {
  const age = firstSeen === null ? 0 : serverNow() - firstSeen;
  return age < DAY_MS ? 'recent' : age < 14 * DAY_MS ? 'hour' : 'day';
}

export function BalanceChart({
  details: { address, firstSeen, balance: current },
}: {
  details: Schema<'AddressDetails'>;
}) {
  const { query } = useLocation();
  const interval = INTERVALS.find(([name]) => name === query['interval'])?.[0] ?? defaultFor(firstSeen);
  const resource = useResource(`balances of ${address} ${interval}`, (client) =>
    interval === 'recent' ? readRecent(client, address, current) : readIntervals(client, address, interval),
  );
  const { data = [] } = resource;
  const series = useMemo(() => {
    const points = untilNow(data, current);
    return { times: points.map(({ timestamp }) => timestamp), values: points.map(({ balance }) => toKas(balance)) };
  }, [resource.data, current]);
  return (
    <Card
      title="Balance over time"
      aside={<Tabs label="Interval" parameter="interval" tabs={INTERVALS} current={interval} hasDefault={false} />}
    >
      <Load resource={resource} rows={9}>
        {() =>
          data.length < 2 ? (
            <p class="empty">A chart needs two changes of the balance.</p>
          ) : (
            <Chart title="Balance, KAS" {...series} format={formatCompact} isStepped heightPx={280} />
          )
        }
      </Load>
    </Card>
  );
}
