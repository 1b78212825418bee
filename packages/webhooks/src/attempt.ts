/**
 * One attempt of a delivery: a POST to the address that was checked, without redirects, limited in
 * time and in what is read.
 */
import http from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import { lookUpName } from './names.ts';
import { type AllowedRange, hostOf, resolveTarget, type Target, TargetError } from './targets.ts';

const CONNECT_MS = 5000;
const TOTAL_MS = 15_000;
const MAX_RESPONSE_BYTES = 4096;
const MAX_RETRY_AFTER_MS = 3_600_000;
/** Responses of 1xx before the final one. */
const MAX_INTERIM_RESPONSES = 10;
const SWITCHING_PROTOCOLS = 101;

export interface Outcome {
  /** Null if there was no response. */
  statusCode: number | null;
  latencyMs: number;
  /** Null after a 2xx. */
  error: string | null;
  /** The reason, for the log only: the owner of the webhook must not learn it. */
  reason?: string | undefined;
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

/** Never rejects, and resolves within `totalMs`, regardless of what the receiver does. */
export async function attempt(
  { url, headers, body, allowed, signal }: AttemptRequest,
  totalMs = TOTAL_MS,
): Promise<Outcome> {
  const startedAt = performance.now();
  const outcome = (statusCode: number | null, error: string | null, more: Partial<Outcome> = {}): Outcome => ({
    statusCode,
    latencyMs: Math.round(performance.now() - startedAt),
    error,
    retryAfterMs: undefined,
    ...more,
  });
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(totalMs)]);
  const expired = untilAborted(deadline);
  let request: http.ClientRequest | undefined;
  try {
    const connecting = AbortSignal.any([deadline, AbortSignal.timeout(CONNECT_MS)]);
    const target = await Promise.race([resolveTarget(url, allowed, (host) => lookUpName(host, connecting)), expired]);
    request = open(target, headers, body);
    const response = await Promise.race([responseTo(request), expired]);
    // The status has arrived, which is what counts.
    const { statusCode = 0 } = response;
    if (statusCode !== SWITCHING_PROTOCOLS) await Promise.race([readSome(response), expired]).catch(() => undefined);
    if (statusCode >= 200 && statusCode < 300) return outcome(statusCode, null);
    return outcome(statusCode, `the receiver responded ${statusCode}`, {
      retryAfterMs: parseRetryAfter(response.headers['retry-after']),
    });
  } catch (error) {
    return outcome(
      null,
      describe(error, deadline, totalMs),
      error instanceof TargetError ? { reason: error.reason } : {},
    );
  } finally {
    request?.destroy();
    request?.socket?.destroy();
  }
}

/** Rejects when the signal is aborted. */
function untilAborted(signal: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(new Error('aborted'));
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
  // It is raced, and may reject after the race.
  promise.catch(() => undefined);
  return promise;
}

function open({ url, addresses }: Target, headers: Record<string, string>, body: string): http.ClientRequest {
  const { protocol, port, pathname, search, host } = url;
  const client = protocol === 'https:' ? https : http;
  // The connection goes to the addresses that were checked, and to no others.
  const lookup: LookupFunction = (_host, { all }, callback) => {
    const [first = { address: '', family: 0 }] = addresses;
    if (all === true) callback(null, [...addresses]);
    else callback(null, first.address, first.family);
  };
  const request = client.request({
    method: 'POST',
    host: hostOf(url),
    port: port === '' ? undefined : port,
    path: `${pathname}${search}`,
    headers: { ...headers, host, 'content-length': Buffer.byteLength(body), connection: 'close' },
    agent: false,
    lookup,
  });
  abandonSlowConnect(request, protocol);
  request.end(body);
  return request;
}

/** Rejects if the connection ends without a final response. */
function responseTo(request: http.ClientRequest): Promise<http.IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<http.IncomingMessage>();
  let interim = 0;
  request.once('response', resolve);
  // A 101 is final: what follows it is not HTTP.
  request.once('upgrade', (response, socket) => {
    socket.destroy();
    resolve(response);
  });
  request.on('information', () => {
    interim += 1;
    if (interim > MAX_INTERIM_RESPONSES) request.destroy(new Error('the receiver sends interim responses only'));
  });
  // A request may also fail after its response, when it is aborted.
  request.on('error', reject);
  request.once('close', () => reject(new Error('the receiver closed the connection without a response')));
  return promise;
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

function describe(error: unknown, deadline: AbortSignal, totalMs: number): string {
  if (error instanceof TargetError) return error.message;
  if (deadline.aborted) return `no response within ${totalMs / 1000} seconds`;
  const { code, message } = error as NodeJS.ErrnoException;
  return code ?? message;
}
