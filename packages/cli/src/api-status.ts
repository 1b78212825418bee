/** `/v1/status` of a running API. */
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

/** Returns the fields that this command uses; undefined if the API does not respond. */
export async function findApiStatus(apiUrl: string): Promise<ApiStatus | undefined> {
  return apiStatus.safeParse(await requestJson(apiUrl)).data;
}

/** Returns the whole response; undefined if no Kasgres API responds. */
export async function findFullApiStatus(apiUrl: string): Promise<Record<string, unknown> | undefined> {
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

/** Returns the URL on this machine of an API that listens on `host`. */
export function apiUrlOf(host: string, port: number): string {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}
