/** Lets a loop rest until something happens, or a while has passed. What happens while nobody waits is remembered. */
export class Waker {
  #awake = false;
  #resolve: (() => void) | undefined;

  wake(): void {
    this.#awake = true;
    this.#resolve?.();
  }

  /** @throws the signal's reason when it is aborted */
  async rest(maxMs: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (!this.#awake) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#resolve = resolve;
      const timer = setTimeout(resolve, maxMs);
      const onAbort = (): void => resolve();
      signal.addEventListener('abort', onAbort, { once: true });
      await promise;
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      this.#resolve = undefined;
    }
    this.#awake = false;
    signal.throwIfAborted();
  }
}
