/**
 * Sends requests from a separate process, so that their cost does not count in the times that a
 * test measures: `node flood-client.ts` reads a Flood as JSON from its standard input and prints
 * the number of responses by status, `error` for requests without a response.
 */
import { randomBytes } from 'node:crypto';
import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

export interface FloodRequest {
  path: string;
  method?: 'GET' | 'POST';
  headers?: Record<string, string>;
  body?: string;
  /** Sends a different well-formed but unknown key with each request. */
  withUnknownKey?: boolean;
}

export interface Flood {
  url: string;
  /** They are sent in turn. */
  requests: FloodRequest[];
  outstanding: number;
  durationMs: number;
  /** Milliseconds between a response and the next request. */
  pauseMs?: number;
}

/** After the end of the flood. Later responses count as errors. */
const LAST_RESPONSES_MS = 30_000;

/** Returns the number of responses by status. */
export async function flood({
  url,
  requests,
  outstanding,
  durationMs,
  pauseMs,
}: Flood): Promise<Record<string, number>> {
  const agent = new Agent({ keepAlive: true, maxSockets: outstanding });
  const counts: Record<string, number> = {};
  const endAt = performance.now() + durationMs;
  let sent = 0;
  const work = async (): Promise<void> => {
    while (performance.now() < endAt) {
      const next = requests[sent % requests.length];
      if (next === undefined) return;
      sent += 1;
      const outcome = await send(agent, url, next);
      counts[outcome] = (counts[outcome] ?? 0) + 1;
      if (pauseMs !== undefined) await sleep(pauseMs);
    }
  };
  // A server that is still busy with the flood must not hold up its end.
  const end = setTimeout(() => agent.destroy(), durationMs + LAST_RESPONSES_MS);
  await Promise.all(Array.from({ length: outstanding }, work));
  clearTimeout(end);
  agent.destroy();
  return counts;
}

function send(
  agent: Agent,
  url: string,
  { path, method = 'GET', headers = {}, body, withUnknownKey = false }: FloodRequest,
): Promise<string> {
  const key = withUnknownKey ? { 'x-api-key': `kdp_${randomBytes(32).toString('hex')}` } : {};
  const type = body === undefined ? {} : { 'content-type': 'application/json' };
  const { promise, resolve } = Promise.withResolvers<string>();
  const options = { agent, method, headers: { ...headers, ...key, ...type } };
  const sending = request(`${url}${path}`, options, (response) => {
    response.resume();
    response.on('close', () => resolve(String(response.statusCode)));
  });
  sending.on('error', () => resolve('error'));
  sending.end(body);
  return promise;
}

if (import.meta.main) console.log(JSON.stringify(await flood(JSON.parse(await text(process.stdin)) as Flood)));
