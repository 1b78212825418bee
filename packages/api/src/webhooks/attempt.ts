/** One attempt of a delivery: a POST to the address that was checked, without redirects, limited in time and in what is read. */
import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import ipaddr from 'ipaddr.js';
import { type AllowedRange, hostOf, resolveTarget, TargetError } from './targets.ts';

const CONNECT_MS = 5000;
const TOTAL_MS = 15_000;
const MAX_RESPONSE_BYTES = 4096;
const MAX_RETRY_AFTER_MS = 3_600_000;

export interface Outcome {
  /** Null if there was no response. */
  statusCode: number | null;
  latencyMs: number;
  /** Null after a 2xx. */
  error: string | null;
  /** The pause that the receiver asks for, up to an hour. */
  retryAfterMs: number | undefined;
}

export interface AttemptRequest {
  url: string;
  headers: Record<string, string>;
  body: string;
  allowed: readonly AllowedRange[];
  signal: AbortSignal;
}

/** Never rejects. */
export async function attempt({ url, headers, body, allowed, signal }: AttemptRequest): Promise<Outcome> {
  const startedAt = performance.now();
  const outcome = (statusCode: number | null, error: string | null, retryAfterMs?: number): Outcome => ({
    statusCode,
    latencyMs: Math.round(performance.now() - startedAt),
    error,
    retryAfterMs,
  });
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(TOTAL_MS)]);
  try {
    const target = await resolveWithin(resolveTarget(url, allowed), CONNECT_MS);
    const { protocol, hostname, port, pathname, search, host } = target.url;
    const name = hostOf(target.url);
    const client = protocol === 'https:' ? https : http;
    const request = client.request({
      method: 'POST',
      host: target.address,
      family: target.family,
      port: port === '' ? undefined : port,
      path: `${pathname}${search}`,
      // SNI and the certificate are those of the name, except for addresses, which have no SNI.
      ...(protocol === 'https:' && !ipaddr.isValid(name) && { servername: hostname }),
      headers: { ...headers, host, 'content-length': Buffer.byteLength(body), connection: 'close' },
      agent: false,
      signal: deadline,
    });
    // A request may also fail after its response, when it is aborted.
    request.on('error', () => {});
    abandonSlowConnect(request, protocol);
    request.end(body);
    const [response] = (await once(request, 'response')) as [http.IncomingMessage];
    await readSome(response);
    const { statusCode = 0 } = response;
    if (statusCode >= 200 && statusCode < 300) return outcome(statusCode, null);
    return outcome(
      statusCode,
      `the receiver responded ${statusCode}`,
      parseRetryAfter(response.headers['retry-after']),
    );
  } catch (error) {
    return outcome(null, describe(error, deadline));
  }
}

/** A look-up of a name cannot be aborted. */
async function resolveWithin<T>(promise: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new TargetError(`the name could not be resolved within ${ms / 1000} seconds`)), ms);
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

function abandonSlowConnect(request: http.ClientRequest, protocol: string): void {
  const timer = setTimeout(
    () => request.destroy(new Error(`no connection within ${CONNECT_MS / 1000} seconds`)),
    CONNECT_MS,
  );
  const stop = (): void => clearTimeout(timer);
  request.once('socket', (socket) => socket.once(protocol === 'https:' ? 'secureConnect' : 'connect', stop));
  request.once('close', stop);
}

/** The content is not used. Reading some of it lets receivers finish their response. */
async function readSome(response: http.IncomingMessage): Promise<void> {
  let bytes = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes >= MAX_RESPONSE_BYTES) break;
    }
  } catch {
    // The status has arrived, which is what counts.
  }
  response.destroy();
}

/** Parses seconds or an HTTP date. */
export function parseRetryAfter(text: string | undefined, now = Date.now()): number | undefined {
  if (text === undefined) return undefined;
  const ms = /^\d+$/.test(text.trim()) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), MAX_RETRY_AFTER_MS);
}

function describe(error: unknown, deadline: AbortSignal): string {
  if (error instanceof TargetError) return error.message;
  if (deadline.aborted) return `no response within ${TOTAL_MS / 1000} seconds`;
  const { code, message } = error as NodeJS.ErrnoException;
  return code ?? message;
}
