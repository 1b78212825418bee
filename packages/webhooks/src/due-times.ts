/**
 * When the pending deliveries are due, by the clock of this process: that of the database may be
 * changed, and a pause must not take longer for that.
 */
import type { ActiveWebhook } from './queue.ts';

type Pending = Pick<ActiveWebhook, 'id' | 'revision' | 'failures' | 'dueInMs'> & { deliveryId: bigint };

interface Due {
  /**
   * The delivery and the state of its webhook when the pause began. A change of these begins
   * another pause.
   */
  cause: string;
  /** By performance.now(). */
  at: number;
}

export class DueTimes {
  #due = new Map<bigint, Due>();

  /**
   * Replaces what is known by these deliveries, and returns when each is due, by performance.now().
   */
  update(pending: readonly Pending[]): Map<bigint, number> {
    const now = performance.now();
    const before = this.#due;
    this.#due = new Map(
      pending.map(({ id, revision, failures, deliveryId, dueInMs }) => {
        const cause = `${deliveryId} ${revision} ${failures}`;
        const known = before.get(id);
        return [id, known?.cause === cause ? known : { cause, at: now + dueInMs }];
      }),
    );
    return new Map(Array.from(this.#due, ([id, { at }]) => [id, at]));
  }
}
