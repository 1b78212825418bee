/**
 * Tells streams how pending transactions change the balances of the addresses, and the covenants,
 * that they watch. A transaction is pending while it is in the mempool, and in a block that is not
 * merged yet, which the mempool no longer has. Work is proportional to what is new: transactions of
 * the mempool, or addresses and covenants.
 */
import { type Message, type Subscription, toMessage, watchesAddresses, watchesCovenants } from '@kasgres/chain-steps';
import type { PackedPairs } from '@kasgres/node';
import { type EventLoopTurns, type IndexReader, Slices } from '@kasgres/reads';
import type { MempoolSample } from '../node/mempool-samples.ts';
import { CREATES, PendingReads, SPENDS, type Touched } from './pending-reads.ts';
import type { Subscriber } from './subscriber.ts';

const DROPPED_AFTER_SAMPLES = 2;

/** The effect of a pending transaction on an address or a covenant that is watched. */
type Move = { transactionId: string } & (
  | { address: string; sent: bigint; received: bigint }
  | { covenantId: string; template: string | null; what: bigint }
);

interface Pending extends Touched {
  absentSamples: number;
  /** In the latest sample. */
  wasPresent: boolean;
}

type Names = Pick<ReadonlySet<string>, 'has'>;

/**
 * By what is watched: an address, a covenant id, or a template, whose names are never the same;
 * then by transaction, and of a template also by covenant.
 */
type Moves = ReadonlyMap<string, ReadonlyMap<string, Move>>;

interface News {
  fresh: Moves;
  dropping: Moves;
  /** Whether a transaction is in the mempool or in a block, and not accepted yet. */
  isPresent: (id: string) => boolean;
}

export class PendingMoves {
  readonly #reads: PendingReads;
  readonly #turns: EventLoopTurns;
  /** By id; kept until they are dropped or merged. */
  readonly #pending = new Map<string, Pending>();
  /** Those that are new, or present again, since subscribers were told. */
  readonly #untold = new Set<string>();
  /** The effects of pending transactions on all that is watched. */
  readonly #watched = new Map<string, Map<string, Move>>();
  /** The revisions of the subscriptions that `#watched` follows. */
  #revisions: ReadonlyMap<Subscriber, number> = new Map();
  /** The moves that each subscriber was told. A move exists once for each name that is watched. */
  readonly #told = new WeakMap<Subscriber, { moves: WeakSet<Move>; revision: number }>();
  /** The sample whose absent transactions were counted. */
  #counted: MempoolSample | undefined;

  constructor({ index, turns }: { index: IndexReader; turns: EventLoopTurns }) {
    this.#reads = new PendingReads(index);
    this.#turns = turns;
  }

  clear(): void {
    this.#pending.clear();
    this.#untold.clear();
    this.#watched.clear();
    this.#revisions = new Map();
  }

  /**
   * Tells subscribers what is new for them. What could not be told since a read failed is told
   * after the next sample.
   */
  async send(subscribers: readonly Subscriber[], sample: MempoolSample): Promise<void> {
    const isKnown = (id: string): boolean => this.#pending.has(id);
    const unmerged = await this.#reads.readUnmerged(isKnown);
    const listed = await this.#reads.readListed(sample, isKnown);
    const added: string[] = [];
    for (const [id, touched] of [...listed, ...unmerged.added]) {
      if (isKnown(id)) continue;
      this.#pending.set(id, { ...touched, absentSamples: 0, wasPresent: true });
      added.push(id);
      this.#untold.add(id);
    }
    await this.#watch(subscribers, added);
    const isListed = (id: string): boolean => sample.transactions.has(id) || unmerged.ids.has(id);
    const gone = this.#countAbsences(isListed, sample);
    const dropped = await this.#reads.listUnindexed(gone);
    const fresh = await this.#movesOf([...this.#untold]);
    const dropping = await this.#movesOf(dropped);
    // The sample may be older than steps that streams have sent.
    const untold = await this.#listUntold(subscribers, fresh);
    const accepted = new Set(await this.#reads.listAccepted(untold.filter(isListed)));
    const isPresent = (id: string): boolean => isListed(id) && !accepted.has(id);
    const news = { fresh, dropping, isPresent };
    await new Slices(this.#turns, 'streams').forEach(subscribers, (subscriber) => this.#tell(subscriber, news));
    this.#untold.clear();
    await this.#remove(gone);
  }

  /** Returns those that have left the mempool. */
  #countAbsences(isPresent: (id: string) => boolean, sample: MempoolSample): string[] {
    // A large mempool is sampled less often than it is asked for.
    const isNew = sample !== this.#counted;
    this.#counted = sample;
    const gone: string[] = [];
    for (const [id, pending] of this.#pending) {
      const isHere = isPresent(id);
      // A stream that began while it was absent does not know it.
      if (!pending.wasPresent && isHere) this.#untold.add(id);
      pending.wasPresent = isHere;
      if (isHere) pending.absentSamples = 0;
      else if (isNew) pending.absentSamples += 1;
      if (pending.absentSamples >= DROPPED_AFTER_SAMPLES) gone.push(id);
    }
    return gone;
  }

  /**
   * Follows what these subscribers watch: adds what the added transactions do, and for new names
   * what all of them do.
   */
  async #watch(subscribers: readonly Subscriber[], added: readonly string[]): Promise<void> {
    const before = new Set(this.#watched.keys());
    const isChanged =
      subscribers.length !== this.#revisions.size ||
      subscribers.some((subscriber) => this.#revisions.get(subscriber) !== subscriber.revision);
    const fresh = new Set<string>();
    if (isChanged) {
      const left = this.#revisions;
      this.#revisions = new Map(subscribers.map((subscriber) => [subscriber, subscriber.revision]));
      for (const subscriber of left.keys()) if (!this.#revisions.has(subscriber)) this.#told.delete(subscriber);
      await new Slices(this.#turns, 'streams').forEach(subscribers, ({ subscription }) => {
        for (const names of namesOf(subscription)) {
          for (const name of names) {
            before.delete(name);
            if (this.#watched.has(name)) continue;
            this.#watched.set(name, new Map());
            fresh.add(name);
          }
        }
      });
      for (const name of before) this.#watched.delete(name);
    }
    const isAdded = new Set(added);
    const ids = fresh.size === 0 ? added : [...this.#pending.keys()];
    await new Slices(this.#turns, 'streams').forEach(ids, (id) => {
      this.#collect(id, isAdded.has(id) ? this.#watched : fresh);
    });
  }

  #collect(transactionId: string, names: Names): void {
    const pending = this.#pending.get(transactionId);
    if (pending === undefined) return;
    const add = (address: string, sent: bigint, received: bigint): void => {
      const moves = names.has(address) ? this.#watched.get(address) : undefined;
      if (moves === undefined) return;
      const move = moves.get(transactionId);
      if (move === undefined || !('address' in move))
        moves.set(transactionId, { transactionId, address, sent, received });
      else {
        move.sent += sent;
        move.received += received;
      }
    };
    pending.received.forEach((address, amount) => add(address, 0n, amount));
    pending.sent.forEach((address, amount) => add(address, amount, 0n));
    forEachCovenant(pending.covenants, transactionId, ({ name, key, covenantId, template, what }) => {
      if (names.has(name)) this.#watched.get(name)?.set(key, { transactionId, covenantId, template, what });
    });
  }

  /** Returns what these transactions do to all that is watched. */
  async #movesOf(ids: readonly string[]): Promise<Moves> {
    const moves = new Map<string, Map<string, Move>>();
    await this.#forEachWatched(ids, (name, key, ofName) => {
      const move = ofName.get(key);
      if (move === undefined) return;
      const known = moves.get(name) ?? new Map<string, Move>();
      moves.set(name, known.set(key, move));
    });
    return moves;
  }

  async #remove(ids: readonly string[]): Promise<void> {
    await this.#forEachWatched(ids, (_, key, ofName) => void ofName.delete(key));
    for (const id of ids) this.#pending.delete(id);
  }

  async #forEachWatched(
    ids: readonly string[],
    handle: (name: string, key: string, ofName: Map<string, Move>) => void,
  ): Promise<void> {
    await new Slices(this.#turns, 'streams').forEach(ids, (id) => {
      const pending = this.#pending.get(id);
      if (pending === undefined) return;
      const handleIfWatched = (name: string, key: string): void => {
        const ofName = this.#watched.get(name);
        if (ofName !== undefined) handle(name, key, ofName);
      };
      for (const pairs of [pending.received, pending.sent]) pairs.forEach((address) => handleIfWatched(address, id));
      forEachCovenant(pending.covenants, id, ({ name, key }) => handleIfWatched(name, key));
    });
  }

  /** Lists the transactions of the moves that subscribers may have to be told. */
  async #listUntold(subscribers: readonly Subscriber[], fresh: Moves): Promise<string[]> {
    const ids = new Set<string>();
    await new Slices(this.#turns, 'streams').forEach(subscribers, (subscriber) => {
      for (const { transactionId } of this.#movesFor(subscriber, fresh)) ids.add(transactionId);
    });
    return [...ids];
  }

  /**
   * Returns all that is pending for a subscriber whose subscription is new, and what is new for the
   * others.
   */
  #movesFor(subscriber: Subscriber, fresh: Moves): Generator<Move> {
    const isKnown = this.#told.get(subscriber)?.revision === subscriber.revision;
    return within(namesOf(subscriber.subscription), isKnown ? fresh : this.#watched);
  }

  #tell(subscriber: Subscriber, { fresh, dropping, isPresent }: News): void {
    const { subscription, revision } = subscriber;
    const before = this.#told.get(subscriber);
    const messages: Message[] = [];
    for (const move of within(namesOf(subscription), dropping)) {
      if (before?.moves.delete(move) === true) messages.push(messageOf('dropped', move));
    }
    // If its subscription has changed since the moves were collected, the next sample has them.
    if (this.#revisions.get(subscriber) === revision) {
      // Forgets what it was told of names that it no longer watches.
      const told = before?.revision === revision ? before.moves : new WeakSet<Move>();
      for (const move of this.#movesFor(subscriber, fresh)) {
        const wasTold = before?.moves.has(move) === true;
        if (!wasTold && !isPresent(move.transactionId)) continue;
        told.add(move);
        if (!wasTold) messages.push(messageOf('pending', move));
      }
      this.#told.set(subscriber, { moves: told, revision });
    }
    subscriber.send(messages);
  }
}

/** Returns the names that a subscription watches. */
function namesOf(subscription: Subscription): ReadonlySet<string>[] {
  const { addresses, covenants, template } = subscription;
  return [
    ...(watchesAddresses(subscription) ? [addresses] : []),
    ...(watchesCovenants(subscription)
      ? [template === undefined ? covenants : new Set([nameOfTemplate(template)])]
      : []),
  ];
}

const nameOfTemplate = (template: string): string => `template ${template}`;

interface CovenantMove {
  name: string;
  key: string;
  covenantId: string;
  template: string | null;
  what: bigint;
}

function forEachCovenant(covenants: PackedPairs, transactionId: string, handle: (move: CovenantMove) => void): void {
  covenants.forEach((text, what) => {
    const [covenantId = '', template = null] = text.split(' ');
    const move = { covenantId, template, what };
    handle({ name: covenantId, key: transactionId, ...move });
    if (template !== null) handle({ name: nameOfTemplate(template), key: `${transactionId} ${covenantId}`, ...move });
  });
}

/**
 * Returns the moves of these names. A subscriber has up to two thousand names, and a second has few
 * moves.
 */
function* within(names: readonly ReadonlySet<string>[], moves: Moves): Generator<Move> {
  for (const each of names) {
    const common = each.size < moves.size ? each : moves.keys();
    for (const name of common) if (each.has(name)) yield* moves.get(name)?.values() ?? [];
  }
}

const NOT_ACCEPTED = { acceptingBlockHash: null, acceptingBlockBlueScore: null, confirmations: 0 } as const;

function messageOf(status: 'pending' | 'dropped', move: Move): Message {
  const { transactionId } = move;
  if ('address' in move) {
    const { address, sent, received } = move;
    const amounts = {
      amountSent: String(sent),
      amountReceived: String(received),
      balanceChange: String(received - sent),
    };
    const moved = { address, transactionId, status, isCoinbase: false, ...amounts };
    return toMessage('address', { ...moved, ...NOT_ACCEPTED, balance: null });
  }
  const { covenantId, template, what } = move;
  const kind = what === CREATES ? 'genesis' : what === SPENDS ? 'burn' : 'transition';
  return toMessage('covenant', { covenantId, transactionId, status, kind, template, ...NOT_ACCEPTED });
}
