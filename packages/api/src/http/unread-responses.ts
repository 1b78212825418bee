/**
 * Bounds the memory of responses that clients read slowly or not at all. A large response is sent in slices, each when the one before has been
 * taken, so that progress can be measured, also through compression and TLS. A connection is closed
 *
 * - if it has not taken a slice, or the rest of its response, for `stallMs`;
 * - if all unread responses exceed `maxBytes`: the longest stalled one of the caller with the most bytes.
 *
 * A response counts with its whole size until it has been sent, since its slices share one buffer.
 */
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { TLSSocket } from 'node:tls';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { callerOf } from './request-identity.ts';

export interface UnreadResponsesOptions {
  /** How long a slice may take. With SLICE_BYTES, the lowest rate is 9 kB per second. */
  stallMs: number;
  /** Total size of unread responses, before compression. */
  maxBytes: number;
  /** A response is not closed for its memory before this time. Most clients need less. */
  graceMs: number;
  checkMs: number;
}

export const UNREAD_RESPONSES: UnreadResponsesOptions = {
  stallMs: 30_000,
  maxBytes: 256 * 2 ** 20,
  graceMs: 2000,
  checkMs: 500,
};

export type CutOffReason = 'stalled' | 'memory';

const SLICE_BYTES = 256 * 1024;

export interface Unread {
  caller: string;
  bytes: number;
  sentAt: number;
  /** When the latest slice was taken. */
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
      const next = this.#findNextToClose(now);
      if (next === undefined) return;
      this.#cutOff(next, 'memory');
    }
  }

  #cutOff(unread: Unread, reason: CutOffReason): void {
    this.remove(unread);
    unread.cutOff(reason);
  }

  /** Returns undefined while all responses of the caller with the most bytes are within the grace period. */
  #findNextToClose(now: number): Unread | undefined {
    const bytesOf = new Map<string, number>();
    for (const { caller, bytes } of this.#responses) bytesOf.set(caller, (bytesOf.get(caller) ?? 0) + bytes);
    const [largest] = [...bytesOf].toSorted(([, left], [, right]) => right - left)[0] ?? [];
    return [...this.#responses]
      .filter(({ caller, sentAt }) => caller === largest && now - sentAt >= this.#options.graceMs)
      .toSorted((left, right) => left.progressAt - right.progressAt)[0];
  }
}

export interface LimitUnreadResponsesOptions {
  unread: UnreadResponses;
  onCutOff: (reason: CutOffReason) => void;
}

/** Must be registered before compression, which reads the slices. */
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
      request.log.info(
        { reason, bytes, seconds, apiKeyId: request.apiKey?.id },
        'closed connection of client that did not read',
      );
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

/** A reset frees the buffers of the kernel, too, and tells the client at once. It is not available over TLS. */
function cutOff(request: FastifyRequest, response: ServerResponse): void {
  const { socket } = request.raw;
  if (socket instanceof TLSSocket) response.destroy();
  else socket.resetAndDestroy();
}
