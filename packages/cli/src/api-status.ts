/**
 * Requests to the API of this machine, directly: variables such as HTTP_PROXY are for other hosts.
 */
import { Agent, type IncomingMessage, request } from 'node:http';
import { json } from 'node:stream/consumers';
import { z } from 'zod';

const apiStatus = z.looseObject({
  network: z.string().nullable(),
  synced: z.boolean(),
  sink: z.string().nullable(),
  sinkBlueScore: z.string().nullable(),
  nodeSinkBlueScore: z.string().nullable(),
  starts: z.array(z.looseObject({ blueScore: z.string() })),
  utxoSetLoad: z.looseObject({ utxoCount: z.number() }).nullable(),
  nodeSynced: z.boolean().nullable(),
});

export type ApiStatus = z.infer<typeof apiStatus>;

const RESPONSE_WITHIN_MS = 3_000;

/** Returns undefined if no Kasgres API responds. */
export async function findApiStatus(apiUrl: string): Promise<ApiStatus | undefined> {
  try {
    const status: unknown = await json(await send(`${apiUrl}/v1/status`, 'GET'));
    return apiStatus.safeParse(status).success ? (status as ApiStatus) : undefined;
  } catch {
    return undefined;
  }
}

/** Returns whether the API serves the web explorer; otherwise its / is a redirect. */
export async function findExplorer(apiUrl: string): Promise<boolean> {
  try {
    const response = await send(`${apiUrl}/`, 'HEAD');
    response.resume();
    return response.statusCode === 200;
  } catch {
    return false;
  }
}

/** Unlike the global agent and `fetch`, an agent does not read variables of proxies. */
const direct = new Agent();

async function send(url: string, method: 'GET' | 'HEAD'): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const options = { method, agent: direct, signal: AbortSignal.timeout(RESPONSE_WITHIN_MS) };
  request(url, options, resolve).on('error', reject).end();
  return await promise;
}

export function apiUrlOf(host: string, port: number): string {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}
