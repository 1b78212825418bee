/**
 * Bounds the memory of responses that their clients do not read, or read slowly. A large response is handed to its connection in slices,
 * each when the one before has been taken, so that progress can be told: also through compression and TLS. A connection is cut off
 *
 * - if it has not taken a slice, or the rest of its response, for `stallMs`;
 * - if all unread responses exceed `maxBytes`: of the caller who has most of them, the one that has been stalled longest.
 *
 * A response counts with its whole size until it is over, since its slices are parts of one buffer.
 */
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { TLSSocket } from 'node:tls';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { callerOf } from './caller.ts';

export interface UnreadResponsesOptions {
  /** How long a slice may take: with SLICE_BYTES it is the lowest rate, 9 kB a second. */
  stallMs: number;
  /** Of all responses together, before compression. */
  maxBytes: number;
  /** A response is not cut off for its memory before this time, in which a good client reads most of them. */
  graceMs: number;
  /** How often connections are looked at. */
  checkMs: number;
}

export const UNREAD_RESPONSES: UnreadResponsesOptions = {
  stallMs: 30_000,
  maxBytes: 256 * 2 ** 20,
  graceMs: 2000,
  checkMs: 500,
};

export type CutOffReason = 'stalled' | 'memory';

export const SLICE_BYTES = 256 * 1024;

/** A response that is being sent. */
export interface Unread {
  caller: string;
  bytes: number;
  sentAt: number;
  /** When a slice was taken last. */
  progressAt: number;
  cutOff: (reason: CutOffReason) => void;
}

export class UnreadResponses {
  readonly #options: UnreadResponsesOptions;
  readonly #responses = new Set<Unread>();
  readonly #timer: NodeJS.Timeout;
  #bytes = 0;

  constructor(options: UnreadResponsesOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#check(), options.checkMs).unref();
  }

  /** Of all responses that are being sent. */
  get bytes(): number {
    return this.#bytes;
  }

  add(caller: string, bytes: number, cutOff: Unread['cutOff']): Unread {
    const now = performance.now();
    const unread = { caller, bytes, sentAt: now, progressAt: now, cutOff };
    this.#responses.add(unread);
    this.#bytes += bytes;
    return unread;
  }

  remove(unread: Unread): void {
    if (this.#responses.delete(unread)) this.#bytes -= unread.bytes;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #check(): void {
    const now = performance.now();
    for (const unread of this.#responses) {
      if (now - unread.progressAt >= this.#options.stallMs) this.#cutOff(unread, 'stalled');
    }
    while (this.#bytes > this.#options.maxBytes) {
      const next = this.#nextToGo(now);
      if (next === undefined) return;
      this.#cutOff(next, 'memory');
    }
  }

  #cutOff(unread: Unread, reason: CutOffReason): void {
    this.remove(unread);
    unread.cutOff(reason);
  }

  /** Undefined while all of that caller are too young. */
  #nextToGo(now: number): Unread | undefined {
    const bytesOf = new Map<string, number>();
    for (const { caller, bytes } of this.#responses) bytesOf.set(caller, (bytesOf.get(caller) ?? 0) + bytes);
    const [greediest] = [...bytesOf].toSorted(([, left], [, right]) => right - left)[0] ?? [];
    return [...this.#responses]
      .filter(({ caller, sentAt }) => caller === greediest && now - sentAt >= this.#options.graceMs)
      .toSorted((left, right) => left.progressAt - right.progressAt)[0];
  }
}

export interface LimitUnreadResponsesOptions {
  unread: UnreadResponses;
  onCutOff: (reason: CutOffReason) => void;
}

/** Must be registered before compression, which takes slices as they are read. */
export function limitUnreadResponses(app: FastifyInstance, { unread, onCutOff }: LimitUnreadResponsesOptions): void {
  app.addHook('onClose', async () => unread.close());
  app.addHook('onSend', (request, reply, payload: unknown, done) => {
    if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) {
      done(null, payload);
      return;
    }
    const bytes = Buffer.byteLength(payload);
    const response = unread.add(callerOf(request), bytes, (reason) => {
      const seconds = Math.round((performance.now() - response.sentAt) / 1000);
      request.log.info({ reason, bytes, seconds, apiKeyId: request.apiKey?.id }, 'cut off a client that did not read');
      onCutOff(reason);
      cutOff(request, reply.raw);
    });
    reply.raw.once('close', () => unread.remove(response));
    if (bytes <= SLICE_BYTES) {
      done(null, payload);
      return;
    }
    reply.header('content-length', String(bytes));
    done(null, toStream(Buffer.isBuffer(payload) ? payload : Buffer.from(payload), response));
  });
}

function toStream(body: Buffer, unread: Unread): Readable {
  function* slices(): Generator<Buffer> {
    for (let start = 0; start < body.length; start += SLICE_BYTES) {
      unread.progressAt = performance.now();
      yield body.subarray(start, start + SLICE_BYTES);
    }
    unread.progressAt = performance.now();
  }
  return Readable.from(slices(), { objectMode: false, highWaterMark: SLICE_BYTES });
}

/** A reset frees what the kernel holds as well, and tells the client at once; TLS has none. */
function cutOff(request: FastifyRequest, response: ServerResponse): void {
  const { socket } = request.raw;
  if (socket instanceof TLSSocket) response.destroy();
  else socket.resetAndDestroy();
}
