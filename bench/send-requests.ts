/** A client for benchmarks: one request, sent again and again over a few kept connections. */
import type { Request } from '../test/plans/harness.ts';

const CONCURRENCY = 8;

/**
 * Returns the time of each response in milliseconds.
 * @throws if a response has another status than 200
 */
export async function sendRequests(
  durationMs: number,
  url: string,
  key: string,
  { method, url: path, body }: Request,
): Promise<number[]> {
  const headers = { 'x-api-key': key, ...(body && { 'content-type': 'application/json' }) };
  const init = { method: method.toUpperCase(), headers, ...(body && { body: JSON.stringify(body) }) };
  const times: number[] = [];
  const endAt = performance.now() + durationMs;
  const worker = async (): Promise<void> => {
    while (performance.now() < endAt) {
      const start = performance.now();
      const response = await fetch(`${url}${path}`, init);
      await response.arrayBuffer();
      if (response.status !== 200) throw new Error(`${path} responds ${response.status}`);
      times.push(performance.now() - start);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  return times;
}
