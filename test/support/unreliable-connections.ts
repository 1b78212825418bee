/**
 * Connections of a client that are lost at random moments: before the response, after some time, or
 * after some bytes of it.
 */
import { setTimeout as sleep } from 'node:timers/promises';

const BEFORE_RESPONSE = 0.05;
const MAX_OPEN_MS = 100;
/** Some steps are larger, most are smaller. */
const MAX_BYTES = 20_000;

export class UnreliableConnections {
  /** Lost connections. */
  cuts = 0;
  /** Whether connections are no longer lost. */
  isReliable = false;

  readonly fetch = async (request: Request): Promise<Response> => {
    const connection = new AbortController();
    const signal = AbortSignal.any([request.signal, connection.signal]);
    if (this.isReliable) return fetch(request, { signal });
    let isLost = false;
    const lose = (): void => {
      if (!isLost && !request.signal.aborted) this.cuts += 1;
      isLost = true;
      connection.abort();
    };
    if (Math.random() < BEFORE_RESPONSE) setTimeout(lose, Math.random() * 10);
    const response = await fetch(request, { signal });
    if (response.body === null || !response.ok) return response;
    setTimeout(lose, Math.random() * MAX_OPEN_MS);
    let left = Math.floor(Math.random() ** 2 * MAX_BYTES);
    const body = response.body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          controller.enqueue(chunk.subarray(0, left));
          left -= chunk.length;
          if (left > 0) return;
          controller.terminate();
          lose();
        },
      }),
    );
    return new Response(body, { status: response.status, headers: response.headers });
  };

  /** Resolves after a number of further cuts. */
  async lose(count: number): Promise<void> {
    const end = this.cuts + count;
    while (this.cuts < end) await sleep(2);
  }
}
