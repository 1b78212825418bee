/**
 * Sends requests without pause from a separate process, so that what it costs does not count into the times that a test measures:
 * `node flood-client.ts` reads a Flood as JSON from its standard input, and prints how often each status came, `error` for none.
 */
import { randomBytes } from 'node:crypto';
import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';

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
}

const flood = JSON.parse(await text(process.stdin)) as Flood;
const agent = new Agent({ keepAlive: true, maxSockets: flood.outstanding });
const counts: Record<string, number> = {};
const endAt = performance.now() + flood.durationMs;
let sent = 0;

function send({ path, method = 'GET', headers = {}, body, withUnknownKey = false }: FloodRequest): Promise<string> {
  const key = withUnknownKey ? { 'x-api-key': `kdp_${randomBytes(32).toString('hex')}` } : {};
  const type = body === undefined ? {} : { 'content-type': 'application/json' };
  const { promise, resolve } = Promise.withResolvers<string>();
  const options = { agent, method, headers: { ...headers, ...key, ...type } };
  const sending = request(`${flood.url}${path}`, options, (response) => {
    response.resume();
    response.on('close', () => resolve(String(response.statusCode)));
  });
  sending.on('error', () => resolve('error'));
  sending.end(body);
  return promise;
}

async function work(): Promise<void> {
  while (performance.now() < endAt) {
    const next = flood.requests[sent % flood.requests.length];
    if (next === undefined) return;
    sent += 1;
    const outcome = await send(next);
    counts[outcome] = (counts[outcome] ?? 0) + 1;
  }
}

await Promise.all(Array.from({ length: flood.outstanding }, work));
agent.destroy();
console.log(JSON.stringify(counts));
