import { getOrInsert, type Outpoint } from '../state-changes.ts';

export class OutpointMap<Item extends Pick<Outpoint, 'transaction' | 'index'>> {
  readonly #byTransaction = new Map<number, (Item | undefined)[]>();

  get isEmpty(): boolean {
    return this.#byTransaction.size === 0;
  }

  get({ transaction, index }: Pick<Outpoint, 'transaction' | 'index'>): Item | undefined {
    return this.#byTransaction.get(transaction)?.[index];
  }

  add(item: Item): void {
    getOrInsert<number, (Item | undefined)[]>(this.#byTransaction, item.transaction, () => [])[item.index] = item;
  }

  delete(outpoint: Pick<Outpoint, 'transaction' | 'index'>): boolean {
    const items = this.#byTransaction.get(outpoint.transaction);
    if (items?.[outpoint.index] === undefined) return false;
    items[outpoint.index] = undefined;
    return true;
  }

  *[Symbol.iterator](): Generator<Item> {
    for (const items of this.#byTransaction.values()) for (const item of items) if (item !== undefined) yield item;
  }
}
