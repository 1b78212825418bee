/**
 * Attempts in flight, shared by keys: a receiver that hangs holds a slot until the deadline of its
 * attempt.
 */
export interface Task {
  webhookId: bigint;
  keyId: bigint;
  deliveryId: bigint;
}

interface Busy {
  keyId: bigint;
  /** By performance.now(). */
  since: number;
  done: Promise<void>;
}

/**
 * At most one attempt of each webhook, and at most `max` together. A key may hold as many slots as
 * are free, so that the webhooks of another key always find one. Keys with the fewest attempts in
 * flight are next.
 */
export class Slots {
  readonly #max: number;
  readonly #onFree: () => void;
  readonly #busy = new Map<bigint, Busy>();
  readonly #ofKeys = new Map<bigint, number>();

  constructor(max: number, onFree: () => void) {
    this.#max = max;
    this.#onFree = onFree;
  }

  has(webhookId: bigint): boolean {
    return this.#busy.has(webhookId);
  }

  /** Returns how long the oldest attempt has been running, in milliseconds. */
  get longestMs(): number {
    // In the order in which they began.
    const [oldest] = this.#busy.values();
    return oldest === undefined ? 0 : performance.now() - oldest.since;
  }

  /**
   * Starts those tasks that find a slot.
   * @param tasks in the order in which they became due
   * @param run must not reject
   */
  start(tasks: readonly Task[], run: (task: Task) => Promise<void>): void {
    const positions = new Map<bigint, number>();
    const ranked = tasks.map((task) => {
      const position = positions.get(task.keyId) ?? this.#heldBy(task.keyId);
      positions.set(task.keyId, position + 1);
      return { task, position };
    });
    for (const { task } of ranked.sort((one, other) => one.position - other.position)) {
      const isFree = this.#heldBy(task.keyId) < this.#max - this.#busy.size;
      if (isFree && !this.has(task.webhookId)) this.#run(task, run);
    }
  }

  async allDone(): Promise<void> {
    await Promise.all(Array.from(this.#busy.values(), ({ done }) => done));
  }

  #heldBy(keyId: bigint): number {
    return this.#ofKeys.get(keyId) ?? 0;
  }

  #run(task: Task, run: (task: Task) => Promise<void>): void {
    const { webhookId, keyId } = task;
    this.#ofKeys.set(keyId, this.#heldBy(keyId) + 1);
    const done = run(task).finally(() => {
      this.#busy.delete(webhookId);
      const held = this.#heldBy(keyId) - 1;
      if (held === 0) this.#ofKeys.delete(keyId);
      else this.#ofKeys.set(keyId, held);
      this.#onFree();
    });
    this.#busy.set(webhookId, { keyId, since: performance.now(), done });
  }
}
