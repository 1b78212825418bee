import type { Schema } from '@kasgres/client';
import { useLocation } from 'preact-iso';
import { useMemo } from 'preact/hooks';
import { Chart } from '../components/chart.tsx';
import { readForm } from '../components/form.ts';
import { Card, Load, Page, Tabs, useHref } from '../components/page.tsx';
import { formatCompact, formatHashRate, formatPercent, formatRate, toKas } from '../format.ts';
import { serverNow } from '../state/clock.ts';
import { useResource } from '../state/resource.ts';

type Interval = Schema<'NetworkInterval'>;
type IntervalName = 'minute' | 'hour' | 'day';

const SECONDS = { minute: 60, hour: 3600, day: 86_400 } as const;

const INTERVALS = [
  ['minute', 'Minutes'],
  ['hour', 'Hours'],
  ['day', 'Days'],
] as const satisfies readonly (readonly [IntervalName, string])[];

/** Lengths of time in hours, the first one by default. Each has at most 1,000 intervals. */
const RANGES: Readonly<Record<IntervalName, readonly (readonly [name: string, title: string])[]>> = {
  minute: [
    ['1', '1 h'],
    ['6', '6 h'],
    ['16', '16 h'],
  ],
  hour: [
    ['24', '1 day'],
    ['168', '1 week'],
    ['720', '30 days'],
  ],
  day: [
    ['720', '30 days'],
    ['2160', '90 days'],
    ['8760', '1 year'],
    ['23760', 'All'],
  ],
};

interface Measure {
  title: string;
  valueOf: (interval: Interval, seconds: number) => number;
  format: (value: number) => string;
  isStepped?: boolean;
}

const MEASURES: readonly Measure[] = [
  { title: 'Transactions per second', valueOf: ({ transactions }, s) => transactions / s, format: formatRate },
  { title: 'Blocks per second', valueOf: ({ blocks }, s) => blocks / s, format: formatRate },
  { title: 'Hash rate', valueOf: (one) => Number(one.hashesPerSecond), format: formatHashRate },
  { title: 'Fees, KAS', valueOf: ({ fees }) => toKas(fees), format: formatCompact },
  { title: 'Volume, KAS', valueOf: ({ volume }) => toKas(volume), format: formatCompact },
  { title: 'Active addresses', valueOf: (one) => one.activeAddresses, format: formatCompact },
  { title: 'New addresses', valueOf: (one) => one.newAddresses, format: formatCompact },
  { title: 'Supply, KAS', valueOf: ({ supply }) => toKas(supply), format: formatCompact },
  {
    title: 'Red blocks',
    valueOf: ({ redBlocks, blocks }) => (blocks === 0 ? 0 : redBlocks / blocks),
    format: formatPercent,
  },
];

/** The open interval lasts until now, so its rates are those of the elapsed time. */
function secondsOf({ start, isOpen }: Interval, name: IntervalName): number {
  return isOpen ? Math.max(1, Math.min(SECONDS[name], (serverNow() - start) / 1000)) : SECONDS[name];
}

function Charts({ history, name }: { history: readonly Interval[]; name: IntervalName }) {
  const series = useMemo(() => {
    // An interval that has just begun would show as a drop of everything that is counted.
    const shown = history.filter(({ isOpen }, index) => !isOpen || index === 0);
    const times = shown.map(({ start }) => start);
    return MEASURES.map((measure) => ({
      measure,
      times,
      values: shown.map((interval) => measure.valueOf(interval, secondsOf(interval, name))),
    }));
  }, [history, name]);
  return (
    <div class="charts">
      {series.map(({ measure: { title, format }, times, values }) => (
        <Card key={title}>
          <Chart title={title} times={times} values={values} format={format} />
        </Card>
      ))}
    </div>
  );
}

const toMs = (text: string | undefined): number | undefined => {
  const ms = text === undefined ? Number.NaN : Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms;
};

function OwnRange({ from, to }: { from: string | undefined; to: string | undefined }) {
  const { route } = useLocation();
  const href = useHref();
  const submit = (event: SubmitEvent): void => {
    route(href({ ...readForm(event, ['from', 'to']), range: undefined }));
  };
  return (
    <form class="filters" onSubmit={submit} key={`${from}${to}`}>
      <label>
        From <input type="datetime-local" name="from" value={from ?? ''} />
      </label>
      <label>
        To <input type="datetime-local" name="to" value={to ?? ''} />
      </label>
      <button type="submit">Show</button>
      {(from !== undefined || to !== undefined) && <a href={href({ from: undefined, to: undefined })}>Clear</a>}
    </form>
  );
}

export function ChartsPage() {
  const { query } = useLocation();
  const interval = INTERVALS.find(([name]) => name === query['interval'])?.[0] ?? 'minute';
  const ranges = RANGES[interval];
  const range = ranges.find(([name]) => name === query['range'])?.[0] ?? ranges[0]?.[0] ?? '1';
  const { from, to } = query;
  const history = useResource(
    `history ${interval} ${range} ${from} ${to}`,
    (client) => {
      const end = toMs(to);
      const begin = toMs(from) ?? (end ?? serverNow()) - Number(range) * 3_600_000;
      return client.get('/v1/network/history', {
        params: { query: { interval, from: Math.max(0, begin), ...(end !== undefined && { to: end }) } },
      });
    },
    { refreshMs: 20_000 },
  );
  return (
    <Page
      title="Charts of the network"
      aside={
        <div class="row">
          <Tabs label="Interval" parameter="interval" tabs={INTERVALS} current={interval} />
          <Tabs
            label="Time range"
            parameter="range"
            clears={['from', 'to']}
            tabs={ranges}
            current={from === undefined && to === undefined ? range : ''}
          />
        </div>
      }
    >
      <OwnRange from={from} to={to} />
      <Load resource={history} rows={18}>
        {(data) => (
          <>
            <Charts history={data.history} name={interval} />
            {data.hasMore && <p class="muted">Only the first 1,000 intervals of this time are shown.</p>}
          </>
        )}
      </Load>
    </Page>
  );
}
