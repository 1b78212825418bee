/**
 * The latest steps, each of which begins where the one before it ends. Bounded in number, and in
 * what they hold: a step of a catch-up has megabytes.
 */
import { type Step } from '@kasgres/chain-steps';

const MAX_STEPS = 300;
/**
 * Changes of addresses and covenants, and ids of accepted transactions, of up to a kilobyte each
 * with their messages.
 */
const MAX_ITEMS = 50_000;

export class RecentSteps {
  readonly #steps: Step[] = [];
  #items = 0;

  get latest(): Step | undefined {
    return this.#steps.at(-1);
  }

  /** Keeps the step, however large, and forgets the oldest ones that are too many. */
  push(step: Step): void {
    this.#steps.push(step);
    this.#items += itemsOf(step);
    while (this.#steps.length > MAX_STEPS || (this.#items > MAX_ITEMS && this.#steps.length > 1)) {
      this.#items -= itemsOf(this.#steps.shift() as Step);
    }
  }

  clear(): void {
    this.#steps.length = 0;
    this.#items = 0;
  }

  /** Returns whether a kept step ends at this block. */
  reaches(hash: string): boolean {
    return this.#steps.some(({ to }) => to === hash);
  }

  /** Returns the steps from a block on; undefined if none of them begins there. */
  from(hash: string): readonly Step[] | undefined {
    // Most subscribers lack few. If the chain returned to this block, the steps in between cancel
    // out.
    const first = this.#steps.findLastIndex(({ from }) => from === hash);
    return first === -1 ? undefined : this.#steps.slice(first);
  }
}

function itemsOf({ added, changes, covenants }: Step): number {
  const lists = [
    ...added.map(({ acceptedTransactionIds = [] }) => acceptedTransactionIds),
    ...[changes, covenants].flatMap((kind) => (kind ? [kind.reverted, kind.accepted, ...kind.confirmed.values()] : [])),
  ];
  return lists.reduce((items, { length }) => items + length, 0);
}
