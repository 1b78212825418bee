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
    const response = await fetch(`${apiUrl}/v1/status`, { signal: AbortSignal.timeout(RESPONSE_WITHIN_MS) });
    const status: unknown = await response.json();
    return apiStatus.safeParse(status).success ? (status as ApiStatus) : undefined;
  } catch {
    return undefined;
  }
}

/** Returns whether the API serves the web explorer; otherwise its / is a redirect. */
export async function findExplorer(apiUrl: string): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(RESPONSE_WITHIN_MS);
    return (await fetch(`${apiUrl}/`, { method: 'HEAD', redirect: 'manual', signal })).ok;
  } catch {
    return false;
  }
}

export function apiUrlOf(host: string, port: number): string {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}
