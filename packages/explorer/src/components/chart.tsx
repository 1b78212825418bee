/** A line chart over time. uPlot is loaded with the first chart, since most pages have none. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type uPlot from 'uplot';
import { theme } from '../state/theme.ts';

export interface ChartData {
  /** Unix milliseconds, ascending. */
  times: readonly number[];
  values: readonly (number | null)[];
}

interface ChartProps extends ChartData {
  title: string;
  format: (value: number) => string;
  /** Balances and supplies change at once, rates do not. */
  isStepped?: boolean;
  heightPx?: number;
}

const loadPlot = async () => {
  const [plot] = await Promise.all([import('uplot'), import('uplot/dist/uPlot.min.css')]);
  return plot;
};

const moment = new Intl.DateTimeFormat('en', {
  year: 'numeric',
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
  timeZoneName: 'short',
});
const clock = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const day = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric' });
const month = new Intl.DateTimeFormat('en', { month: 'short', year: 'numeric' });

/** That of the browser, in which all times are shown. */
const ZONE = moment.resolvedOptions().timeZone;

const HOUR_MS = 3_600_000;

/**
 * Formats the ticks of the time axis by their distance, since a single tick tells nothing of it.
 */
function formatTicks(ticks: readonly number[], stepMs: number): string[] {
  const format = stepMs < 12 * HOUR_MS ? clock : stepMs < 26 * 24 * HOUR_MS ? day : month;
  return ticks.map((tick) => format.format(tick));
}

export function Chart({ title, times, values, format, isStepped = false, heightPx = 180 }: ChartProps) {
  const frame = useRef<HTMLDivElement>(null);
  const [pointed, setPointed] = useState<number>();
  const [isMissing, setMissing] = useState(false);
  const current = theme.value;

  useEffect(() => {
    const element = frame.current;
    if (element === null || times.length === 0) return undefined;
    let plot: uPlot | undefined;
    let isCurrent = true;
    const observer = new ResizeObserver(() => plot?.setSize({ width: element.clientWidth, height: heightPx }));
    const draw = async (): Promise<void> => {
      const { default: Plot } = await loadPlot();
      if (!isCurrent) return;
      const style = getComputedStyle(element);
      const [accent, muted, grid] = ['--accent', '--muted', '--line'].map((name) => style.getPropertyValue(name));
      const axis = {
        stroke: muted ?? '',
        grid: { stroke: grid ?? '', width: 1 },
        ticks: { show: false },
        font: '12px system-ui, sans-serif',
      };
      plot = new Plot(
        {
          width: element.clientWidth,
          height: heightPx,
          ms: 1,
          padding: [8, 22, 0, 0],
          legend: { show: false },
          cursor: { y: false, points: { size: 7 } },
          scales: { y: { range: (_, least, most) => rangeOf(least, most) } },
          axes: [
            { ...axis, size: 28, space: 64, values: (_, ticks, __, ___, stepMs) => formatTicks(ticks, stepMs) },
            { ...axis, size: 64, values: (_, ticks) => ticks.map((tick) => format(tick)) },
          ],
          series: [
            {},
            {
              stroke: accent ?? '',
              fill: `color-mix(in srgb, ${accent} 14%, transparent)`,
              width: 2,
              points: { show: times.length < 2 },
              ...(isStepped && Plot.paths.stepped && { paths: Plot.paths.stepped({ align: 1 }) }),
            },
          ],
          hooks: { setCursor: [({ cursor }) => setPointed(cursor.idx ?? undefined)] },
        },
        [[...times], [...values]],
        element,
      );
      observer.observe(element);
    };
    // After an upgrade, the server has other files than those that this page was built with.
    draw().catch(() => setMissing(true));
    return () => {
      isCurrent = false;
      observer.disconnect();
      plot?.destroy();
    };
  }, [times, values, current, isStepped, heightPx]);

  const index = pointed ?? times.length - 1;
  const value = values[index];
  const time = times[index];
  const summary = value == null ? 'no data' : format(value);
  return (
    <figure class="chart">
      <figcaption>
        <span>{title}</span>
        <span class="reading">
          <b>{summary}</b> {time !== undefined && <time>{moment.format(time)}</time>}
        </span>
      </figcaption>
      <div
        ref={frame}
        class="plot"
        role="img"
        aria-label={`${title}: ${summary} at the end`}
        style={{ height: `${heightPx}px` }}
      >
        {times.length === 0 && <p class="empty">No data in this time.</p>}
        {isMissing && <p class="empty">The chart could not be loaded. Reload the page.</p>}
      </div>
      <p class="zone">Times: {ZONE}</p>
    </figure>
  );
}

/** Rates begin at zero, so that small changes do not look large. */
function rangeOf(least: number, most: number): [number, number] {
  if (most <= 0) return [0, 1];
  return [Math.min(0, least), most * 1.08];
}
