/**
 * Follows the stream of the API: reconnects by itself and continues where it was, so that no step
 * is missed or seen by half.
 */

import { type ErrorDetail, readRetryAfter } from './api-error.ts';
import { keyHeader } from './key-header.ts';
import type { Schema } from './operations.ts';
import { sleep } from './sleep.ts';

export interface SubscribeOptions {
  /**
   * `chain` by default. With addresses, `address` is included; with covenants or a template,
   * `covenant`.
   */
  events?: readonly StreamEvent['event'][] | undefined;
  addresses?: readonly string[] | undefined;
  /** Ids of covenants. */
  covenants?: readonly string[] | undefined;
  /** Instead of covenants: the events after which a covenant has this template. */
  template?: string | undefined;
  /**
   * Blue scores after which accepted transactions of the addresses and covenants are announced as
   * `confirmed`.
   */
  confirmations?: number | undefined;
  /** Adds the ids of accepted transactions to added chain blocks. */
  acceptedIds?: boolean | undefined;
  /** The block to continue from; the sink by default. */
  from?: string | undefined;
  /** Ends the subscription. */
  signal?: AbortSignal | undefined;
  /** Pause before a new connection; it grows to five seconds. 500 by default. */
  reconnectMs?: number | undefined;
}

type Message = Schema<'StreamMessage'>;
type WithoutId<Event> = Event extends unknown ? Omit<Event, 'id'> : never;

/** `event` tells the type of `data`. */
export type StreamEvent = WithoutId<Exclude<Message, { event: 'heartbeat' | 'error' }>>;

/**
 * The events until the chain block `cursor` was reached: apply it as a whole. Events that belong to
 * no step come alone, without a cursor.
 */
export interface StreamStep {
  cursor: string | undefined;
  events: StreamEvent[];
}

/** The server refuses to continue: unknown or lost cursor, no valid key. */
export class StreamError extends Error {
  override name = 'StreamError';
  readonly statusCode: number;
  /** Empty unless the status is 400. */
  readonly details: readonly ErrorDetail[];

  constructor(statusCode: number, message: string, details: readonly ErrorDetail[] = []) {
    super(message);
    this.statusCode = statusCode;
    this.details = details;
  }
}

interface Api {
  baseUrl: string;
  apiKey: string | undefined;
  fetch: (request: Request) => Promise<Response>;
}

/** A failure that a retry may solve. */
class TemporaryError extends Error {
  readonly retryAfterMs: number;

  constructor(message: string, retryAfterMs: number) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}

const MAX_PAUSE_MS = 5000;
/** The longest pause that a server may ask for. */
const MAX_RETRY_AFTER_MS = 3_600_000;
/** The server sends a heartbeat every 15 seconds. */
const SILENCE_MS = 45_000;

/**
 * Yields steps and single events as they happen, until `signal` is aborted.
 * @throws StreamError if the server refuses to continue; TypeError for an address or a key with
 * which no request can be sent; other failures are retried
 */
export async function* subscribe(api: Api, options: SubscribeOptions = {}): AsyncGenerator<StreamStep> {
  const { signal, reconnectMs = 500 } = options;
  let cursor = options.from;
  let pauseMs = reconnectMs;
  while (!isAborted(signal)) {
    const connection = new AbortController();
    const end = (): void => connection.abort();
    const request = makeRequest(api, options, cursor, connection.signal);
    signal?.addEventListener('abort', end);
    let retryAfterMs = 0;
    try {
      const body = await unlessSilent(connect(api, request), connection);
      let pending: StreamEvent[] = [];
      for await (const { message, id } of parse(body, connection)) {
        pauseMs = reconnectMs;
        if (message.event === 'error') throw refusal(message.data);
        if (message.event === 'heartbeat') {
          cursor = id ?? cursor;
          continue;
        }
        if (isAlone(message)) {
          yield { cursor: undefined, events: [message] };
          continue;
        }
        pending.push(message);
        if (id === undefined) continue;
        cursor = id;
        yield { cursor, events: pending };
        pending = [];
      }
    } catch (error) {
      if (error instanceof StreamError) throw error;
      if (error instanceof TemporaryError) ({ retryAfterMs } = error);
    } finally {
      signal?.removeEventListener('abort', end);
      end();
    }
    if (isAborted(signal)) return;
    // The loop ends if it was aborted.
    await sleep(retryAfterMs + pauseMs * (0.5 + Math.random()), signal).catch(() => undefined);
    pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS);
  }
}

const isAborted = (signal: AbortSignal | undefined): boolean => signal?.aborted === true;

/** @throws TypeError if no request can be made: it would fail in every retry, too */
function makeRequest(
  { baseUrl, apiKey }: Api,
  { events, addresses, covenants, template, confirmations, acceptedIds }: SubscribeOptions,
  cursor: string | undefined,
  signal: AbortSignal,
): Request {
  const body = {
    ...(events !== undefined && { events }),
    ...(addresses !== undefined && { addresses }),
    ...(covenants !== undefined && { covenants }),
    ...(template !== undefined && { template }),
    ...(confirmations !== undefined && { confirmations }),
    ...(acceptedIds === true && { include: 'accepted_ids' }),
  };
  const request = new Request(`${baseUrl}/v1/stream`, {
    method: 'POST',
    headers: {
      ...keyHeader(apiKey),
      'content-type': 'application/json',
      ...(cursor !== undefined && { 'last-event-id': cursor }),
    },
    body: JSON.stringify(body),
    signal,
  });
  if (!/^https?:/.test(request.url)) throw new TypeError('baseUrl must begin with http:// or https://');
  return request;
}

/** @throws StreamError for a refusal; TemporaryError for a failure that a retry may solve */
async function connect({ fetch }: Api, request: Request): Promise<ReadableStream<Uint8Array>> {
  const response = await fetch(request);
  if (response.ok && response.body !== null) return response.body;
  const retryAfterMs = Math.min((readRetryAfter(response.headers) ?? 0) * 1000, MAX_RETRY_AFTER_MS);
  throw refusal(await response.json().catch(() => ({})), response.status, retryAfterMs);
}

function refusal(data: unknown, status = 500, retryAfterMs = 0): Error {
  const { statusCode = status, message = 'The stream ended', details } = data as Partial<StreamError>;
  if (isTemporary(statusCode)) return new TemporaryError(message, retryAfterMs);
  return new StreamError(statusCode, message, details);
}

/** A timeout, a limit, or a failure of the server: not a refusal. */
const isTemporary = (statusCode: number): boolean => statusCode === 408 || statusCode === 429 || statusCode >= 500;

/**
 * Aborts the connection if nothing arrives in time. The time that the caller takes for an event
 * does not count.
 */
async function unlessSilent<T>(arrival: Promise<T>, connection: AbortController): Promise<T> {
  const timer = setTimeout(() => connection.abort(), SILENCE_MS);
  try {
    return await arrival;
  } finally {
    clearTimeout(timer);
  }
}

/** Events of the mempool, and of blocks, belong to no step. */
function isAlone({ event, data }: StreamEvent): boolean {
  if (event === 'address' || event === 'covenant') return data.status === 'pending' || data.status === 'dropped';
  return event === 'block' || event === 'mempool';
}

async function* parse(
  body: ReadableStream<Uint8Array>,
  connection: AbortController,
): AsyncGenerator<{ message: WithoutId<Message>; id: string | undefined }> {
  const { signal } = connection;
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const cancel = (): void => void reader.cancel().catch(() => undefined);
  signal.addEventListener('abort', cancel);
  // It may have been aborted while the connection was made.
  if (signal.aborted) cancel();
  let text = '';
  for (;;) {
    const { value, done } = await unlessSilent(reader.read(), connection);
    if (done) return;
    text += decoder.decode(value, { stream: true });
    // Messages that arrived before an abort are not yielded after it.
    for (let end = text.indexOf('\n\n'); end !== -1 && !signal.aborted; end = text.indexOf('\n\n')) {
      const fields = new Map(text.slice(0, end).split('\n').map(toField));
      text = text.slice(end + 2);
      const [event, data] = [fields.get('event'), fields.get('data')];
      if (event !== undefined && data !== undefined)
        yield { message: { event, data: JSON.parse(data) as unknown } as WithoutId<Message>, id: fields.get('id') };
    }
  }
}

function toField(line: string): [string, string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon), line.slice(colon + 1).trimStart()];
}
