/**
 * Bounds the memory of responses that clients read slowly or not at all. A large response is sent
 * in slices, each when the one before has been taken, so that progress can be measured, also
 * through compression and TLS. A connection is closed
 *
 * - if it has not taken a slice, or the rest of its response, for `stallMs`;
 * - if all unread responses exceed `maxBytes`: the longest stalled one of the caller with the most
 *   bytes.
 *
 * A response counts with its whole size until it has been sent, since its slices share one buffer.
 */
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { type Item, LinkedList } from '@kasgres/reads';
import { LineLimit } from '@kasgres/runtime';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
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
/** A second. */
const lines = new LineLimit(20);

export type CutOffReason = 'stalled' | 'memory';

export interface Unread {
  caller: string;
  bytes: number;
  sentAt: number;
  /** When the latest slice was taken. */
  progressAt: number;
  raw: Pick<ServerResponse, 'destroyed'>;
  cutOff: (reason: CutOffReason) => void;
}

declare module 'fastify' {
  interface FastifyReply {
    unread: Item<Unread> | null;
  }
}

export class UnreadResponses {
  readonly #options: typeof UNREAD_RESPONSES;
  readonly #responses = new LinkedList<Unread>();
  readonly #timer: NodeJS.Timeout;
  bytes = 0;

  constructor(options = UNREAD_RESPONSES) {
    this.#options = options;
    this.#timer = setInterval(() => this.#check(), options.checkMs).unref();
  }

  add(caller: string, bytes: number, raw: Unread['raw'], cutOff: Unread['cutOff']): Item<Unread> {
    const now = performance.now();
    this.bytes += bytes;
    return this.#responses.add({ caller, bytes, sentAt: now, progressAt: now, raw, cutOff });
  }

  remove(unread: Item<Unread>): void {
    if (unread.isIn) this.bytes -= unread.value.bytes;
    this.#responses.remove(unread);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #check(): void {
    const now = performance.now();
    for (const unread of this.#responses) {
      const { raw, progressAt } = unread.value;
      // The client disconnected.
      if (raw.destroyed) this.remove(unread);
      else if (now - progressAt >= this.#options.stallMs) this.#cutOff(unread, 'stalled');
    }
    while (this.bytes > this.#options.maxBytes) {
      const next = this.#findNextToClose(now);
      if (next === undefined) return;
      this.#cutOff(next, 'memory');
    }
  }

  #cutOff(unread: Item<Unread>, reason: CutOffReason): void {
    this.remove(unread);
    unread.value.cutOff(reason);
  }

  /**
   * Returns undefined while all responses of the caller with the most bytes are within the grace
   * period.
   */
  #findNextToClose(now: number): Item<Unread> | undefined {
    const bytesOf = new Map<string, number>();
    for (const { value } of this.#responses) bytesOf.set(value.caller, (bytesOf.get(value.caller) ?? 0) + value.bytes);
    const [largest] = [...bytesOf].toSorted(([, left], [, right]) => right - left)[0] ?? [];
    return [...this.#responses]
      .filter(({ value: { caller, sentAt } }) => caller === largest && now - sentAt >= this.#options.graceMs)
      .toSorted((left, right) => left.value.progressAt - right.value.progressAt)[0];
  }
}

export interface UnreadLimit {
  /**
   * Counts a response from here on, and returns its payload, which compression must read
   * afterwards: a large one in slices.
   */
  begin: (request: FastifyRequest, reply: FastifyReply, payload: unknown) => unknown;
  /** Called when the response has been sent. */
  end: (reply: FastifyReply) => void;
}

export function limitUnreadResponses(
  app: FastifyInstance,
  onCutOff: (reason: CutOffReason) => void,
  processes = 1,
): UnreadLimit {
  const unread = new UnreadResponses({ ...UNREAD_RESPONSES, maxBytes: UNREAD_RESPONSES.maxBytes / processes });
  app.addHook('onClose', async () => unread.close());
  app.decorateReply('unread', null);
  const begin: UnreadLimit['begin'] = (request, reply, payload) => {
    if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return payload;
    const bytes = Buffer.byteLength(payload);
    const response = unread.add(callerOf(request), bytes, reply.raw, (reason) => {
      const seconds = Math.round((performance.now() - response.value.sentAt) / 1000);
      const fields = { reason, bytes, seconds, apiKeyId: request.apiKey?.id };
      if (lines.admit((omitted) => request.log.info({ omitted }, 'omitted log lines of clients that did not read')))
        request.log.info(fields, 'closed connection of client that did not read');
      onCutOff(reason);
      // A reset frees the buffers of the kernel, too, and tells the client at once. It is not
      // available over TLS.
      const { socket } = request.raw;
      if (socket instanceof TLSSocket) reply.raw.destroy();
      else socket.resetAndDestroy();
    });
    reply.unread = response;
    if (bytes <= SLICE_BYTES) return payload;
    reply.header('content-length', String(bytes));
    const body = Buffer.isBuffer(payload) ? payload : Buffer.from(payload);
    return Readable.from(slicesOf(body, response.value), { objectMode: false, highWaterMark: SLICE_BYTES });
  };
  const end: UnreadLimit['end'] = (reply) => {
    if (reply.unread !== null) unread.remove(reply.unread);
  };
  return { begin, end };
}

function* slicesOf(body: Buffer, unread: Unread): Generator<Buffer> {
  for (let start = 0; start < body.length; start += SLICE_BYTES) {
    unread.progressAt = performance.now();
    yield body.subarray(start, start + SLICE_BYTES);
  }
  unread.progressAt = performance.now();
}
