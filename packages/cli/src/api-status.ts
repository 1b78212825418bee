/** `/v1/status` of a running API, as far as this command speaks of it. */
import { z } from 'zod';

const apiStatus = z.object({
  network: z.string().nullable(),
  synced: z.boolean(),
  sink: z.string().nullable(),
  sinkBlueScore: z.string().nullable(),
  nodeSinkBlueScore: z.string().nullable(),
  lagSeconds: z.number().nullable(),
  starts: z.array(z.object({ blueScore: z.string() })),
  utxoSetLoad: z.object({ utxoCount: z.number() }).nullable(),
  nodeConnected: z.boolean(),
  nodeSynced: z.boolean().nullable(),
});

export type ApiStatus = z.infer<typeof apiStatus>;

const RESPONSE_WITHIN_MS = 3_000;

/** The response, with the fields that this command knows; undefined while the API does not respond. */
export async function findApiStatus(apiUrl: string): Promise<ApiStatus | undefined> {
  return apiStatus.safeParse(await requestJson(apiUrl)).data;
}

/** The response as it is; undefined while no API of Kasgres responds. */
export async function askStatus(apiUrl: string): Promise<Record<string, unknown> | undefined> {
  const response = await requestJson(apiUrl);
  return apiStatus.safeParse(response).success ? (response as Record<string, unknown>) : undefined;
}

async function requestJson(apiUrl: string): Promise<unknown> {
  try {
    const response = await fetch(`${apiUrl}/v1/status`, { signal: AbortSignal.timeout(RESPONSE_WITHIN_MS) });
    return response.ok ? await response.json() : undefined;
  } catch {
    return undefined;
  }
}

/** Where a person on this machine reaches an API that listens on `host`. */
export function apiUrlOf(host: string, port: number): string {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}
