/**
 * Measures the time from the node's notification of a new sink to the first HTTP response that
 * shows it or a later one.
 */
import { sleep } from '@kasgres/runtime';
import { encodeRequest, HttpConnection } from './http-connection.ts';
import { SinkLatencies } from './sink-latencies.ts';
import type { AtTip } from './started-programs.ts';

/** The pause between responses that are inspected. */
const POLL_MS = 2;
/** The last sinks of a run must be shown within this time. */
const SHOWN_WITHIN_MS = 30_000;

/**
 * Subscribes for some seconds, and inspects responses until every notified sink is shown.
 * @param onSink is called with each new sink when its notification arrives here
 */
export async function measureTip(
  { client, api: { url }, key, requireNode }: Omit<AtTip, 'database'>,
  seconds: number,
  onSink: (hash: string) => void = () => undefined,
): Promise<SinkLatencies> {
  const latencies = new SinkLatencies();
  const subscription = client.subscribe(['virtualChainChanged'], ({ topic, message }) => {
    if (topic !== 'virtualChainChanged') return;
    const sink = message.addedChainBlockHashes.at(-1);
    if (sink === undefined) return;
    latencies.notified(sink, performance.now());
    onSink(sink);
  });
  const connection = new HttpConnection(url);
  const request = encodeRequest(url, key, { path: '/v1/blocks' });
  try {
    const endAt = performance.now() + seconds * 1_000;
    for (;;) {
      // Responses that nobody waits for would only take the processor that is measured.
      while (latencies.pending === 0 && performance.now() < endAt) await sleep(POLL_MS);
      const { status, head } = await connection.send(request);
      const [, sink] = /^x-kasgres-sink: (\w+)\r?$/im.exec(head) ?? [];
      if (status !== 200 || sink === undefined) throw new Error(`/v1/blocks responds:\n${head}`);
      const now = performance.now();
      latencies.shown(sink, now);
      if (now >= endAt) {
        latencies.stopCounting();
        requireNode();
        if (latencies.pending === 0) return latencies;
        if (now >= endAt + SHOWN_WITHIN_MS) throw new Error(`${latencies.pending} sinks are not shown in time`);
      }
      await sleep(POLL_MS);
    }
  } finally {
    subscription.close();
    connection.close();
  }
}
