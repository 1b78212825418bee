/**
 * Divides the streams at once among callers. A caller may have as many as are free. When none is, a
 * caller that has fewer than another one gets the latest slot of the one that has the most, so
 * nobody is shut out by the number of somebody else's streams. Clients without a key have half of
 * the slots together, and half of the watched addresses and covenants, so the others are there for
 * keys.
 */
import { unavailable } from '@kasgres/reads';

const RETRY_AFTER_SECONDS = 5;

export interface Caller {
  name: string;
  isAnonymous: boolean;
}

interface Holder extends Caller {
  /** The latest is the last one. */
  slots: Set<StreamSlot>;
  watched: number;
}

/** The slot of one stream. */
export class StreamSlot {
  readonly caller: string;
  /** Called when another caller gets the slot. */
  onTaken: () => void = () => {};
  isTaken = false;
  #isReleased = false;
  #watched = 0;
  readonly #release: (slot: StreamSlot) => void;
  readonly #change: (change: number) => void;

  constructor(caller: string, release: (slot: StreamSlot) => void, change: (change: number) => void) {
    this.caller = caller;
    this.#release = release;
    this.#change = change;
  }

  /**
   * Notes how many addresses and covenants the stream watches.
   * @throws HttpError 503 if there is no room for them
   */
  hold(count: number): void {
    if (this.#isReleased) return;
    this.#change(count - this.#watched);
    this.#watched = count;
  }

  take(): void {
    this.isTaken = true;
    this.release();
    this.onTaken();
  }

  release(): void {
    this.hold(0);
    this.#isReleased = true;
    this.#release(this);
  }
}

export class StreamSlots {
  readonly #max: number;
  readonly #maxAnonymous: number;
  readonly #maxWatched: number;
  readonly #holders = new Map<string, Holder>();
  #count = 0;
  #anonymous = 0;
  #watched = 0;
  #watchedAnonymously = 0;

  /** @param maxWatched of all streams together. A caller holds at most as many as are free */
  constructor(max: number, maxWatched: number) {
    this.#max = max;
    this.#maxAnonymous = Math.max(Math.floor(max / 2), 1);
    this.#maxWatched = maxWatched;
  }

  get count(): number {
    return this.#count;
  }

  /** @throws HttpError 503 if there is none for this caller */
  take({ name, isAnonymous }: Caller): StreamSlot {
    const holder = this.#holders.get(name) ?? { name, isAnonymous, slots: new Set(), watched: 0 };
    if (isAnonymous && this.#anonymous >= this.#maxAnonymous) this.#takeFromLargest(holder, true);
    if (this.#count >= this.#max) this.#takeFromLargest(holder, false);
    const slot = new StreamSlot(
      name,
      (released) => this.#release(holder, released),
      (change) => this.#hold(holder, change),
    );
    holder.slots.add(slot);
    this.#holders.set(name, holder);
    this.#count += 1;
    if (isAnonymous) this.#anonymous += 1;
    return slot;
  }

  #takeFromLargest({ slots }: Holder, amongAnonymous: boolean): void {
    let largest: Holder | undefined;
    for (const other of this.#holders.values()) {
      if (amongAnonymous && !other.isAnonymous) continue;
      if (largest === undefined || other.slots.size > largest.slots.size) largest = other;
    }
    // Otherwise two callers would take the slot from each other for ever.
    if (largest === undefined || largest.slots.size <= slots.size + 1) {
      throw unavailable('This server has too many streams', RETRY_AFTER_SECONDS);
    }
    [...largest.slots].at(-1)?.take();
  }

  #release(holder: Holder, slot: StreamSlot): void {
    if (!holder.slots.delete(slot)) return;
    this.#count -= 1;
    if (holder.isAnonymous) this.#anonymous -= 1;
    if (holder.slots.size === 0 && this.#holders.get(holder.name) === holder) this.#holders.delete(holder.name);
  }

  #hold(holder: Holder, change: number): void {
    const anonymously = this.#watchedAnonymously + (holder.isAnonymous ? change : 0);
    const isRoom =
      holder.watched + change <= this.#maxWatched - this.#watched - change && anonymously <= this.#maxWatched / 2;
    if (change > 0 && !isRoom) {
      throw unavailable('This server has too many addresses and covenants of streams', RETRY_AFTER_SECONDS);
    }
    holder.watched += change;
    this.#watched += change;
    this.#watchedAnonymously = anonymously;
  }
}
