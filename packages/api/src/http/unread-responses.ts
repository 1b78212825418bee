/**
 * Bounds the memory of responses that clients read slowly or not at all. A large response is sent in slices, each when the one before has been
 * taken, so that progress can be measured, also through compression and TLS. A connection is closed
 *
 * - if it has not taken a slice, or the rest of its response, for `stallMs`;
 * - if all unread responses exceed `maxBytes`: the longest stalled one of the caller with the most bytes.
 *
 * A response counts with its whole size until it has been sent, since its slices share one buffer.
 */
import { Readable } from 'node:stream';
import { TLSSocket } from 'node:tls';
import type { FastifyInstance } from 'fastify';
import { callerOf } from './request-identity.ts';

const UNREAD_RESPONSES = {
  /** How long a slice may take. With SLICE_BYTES, the lowest rate is 9 kB per second. */
  stallMs: 30_000,
  /** Total size of unread responses, before compression. */
  maxBytes: 256 * 2 ** 20,
  /** A response is not closed for its memory before this time. Most clients need less. */
  graceMs: 2000,
  checkMs: 500,
};

const SLICE_BYTES = 256 * 1024;

export type CutOffReason = 'stalled' | 'memory';

export interface Unread {
  caller: string;
  bytes: number;
  sentAt: number;
  /** When the latest slice was taken. */
  progressAt: number;
  cutOff: (reason: CutOffReason) => void;
}

export class UnreadResponses {
  readonly #options: typeof UNREAD_RESPONSES;
  readonly #responses = new Set<Unread>();
  readonly #timer: NodeJS.Timeout;
  bytes = 0;

  constructor(options = UNREAD_RESPONSES) {
    this.#options = options;
    this.#timer = setInterval(() => this.#check(), options.checkMs).unref();
  }

  add(caller: string, bytes: number, cutOff: Unread['cutOff']): Unread {
    const now = performance.now();
    const unread = { caller, bytes, sentAt: now, progressAt: now, cutOff };
    this.#responses.add(unread);
    this.bytes += bytes;
    return unread;
  }

  remove(unread: Unread): void {
    if (this.#responses.delete(unread)) this.bytes -= unread.bytes;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #check(): void {
    const now = performance.now();
    for (const unread of this.#responses) {
      if (now - unread.progressAt >= this.#options.stallMs) this.#cutOff(unread, 'stalled');
    }
    while (this.bytes > this.#options.maxBytes) {
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

/** Must be registered before compression, which reads the slices. */
export function limitUnreadResponses(
  app: FastifyInstance,
  onCutOff: (reason: CutOffReason) => void,
  processes = 1,
): void {
  const unread = new UnreadResponses({ ...UNREAD_RESPONSES, maxBytes: UNREAD_RESPONSES.maxBytes / processes });
  app.addHook('onClose', async () => unread.close());
  app.addHook('onSend', async (request, reply, payload: unknown) => {
    if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return payload;
    const bytes = Buffer.byteLength(payload);
    const response = unread.add(callerOf(request), bytes, (reason) => {
      const seconds = Math.round((performance.now() - response.sentAt) / 1000);
      const fields = { reason, bytes, seconds, apiKeyId: request.apiKey?.id };
      request.log.info(fields, 'closed connection of client that did not read');
      onCutOff(reason);
      // A reset frees the buffers of the kernel, too, and tells the client at once. It is not available over TLS.
      const { socket } = request.raw;
      if (socket instanceof TLSSocket) reply.raw.destroy();
      else socket.resetAndDestroy();
    });
    reply.raw.once('close', () => unread.remove(response));
    if (bytes <= SLICE_BYTES) return payload;
    reply.header('content-length', String(bytes));
    const body = Buffer.isBuffer(payload) ? payload : Buffer.from(payload);
    return Readable.from(slicesOf(body, response), { objectMode: false, highWaterMark: SLICE_BYTES });
  });
}

function* slicesOf(body: Buffer, unread: Unread): Generator<Buffer> {
  for (let start = 0; start < body.length; start += SLICE_BYTES) {
    unread.progressAt = performance.now();
    yield body.subarray(start, start + SLICE_BYTES);
  }
  unread.progressAt = performance.now();
}
