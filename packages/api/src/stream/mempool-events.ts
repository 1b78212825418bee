/**
 * Mempool and pending transactions for streams, sampled once a second while somebody listens. Not resumable. A transaction is pending in the mempool,
 * and in a block that is not merged yet, where the mempool no longer has it.
 */
import type { Logger } from '@kasgres/runtime';
import { sql } from 'kysely';
import { type EventLoopTurns, Slices } from '../fairness/event-loop-turns.ts';
import type { IndexReader } from '../index-state/state.ts';
import type { MempoolSample, MempoolSamples, PendingTransaction } from '../mempool-samples.ts';
import { toPendingTransaction } from '../resources/mempool/summary.ts';
import type { Message } from './messages.ts';
import type { Subscriber } from './subscriber.ts';

const SAMPLE_MS = 1000;
const DROPPED_AFTER_SAMPLES = 2;

interface Amounts {
  sent: bigint;
  received: bigint;
}

interface Pending {
  /** By address. */
  amounts: ReadonlyMap<string, Amounts>;
  absentSamples: number;
  /** In the latest sample. */
  wasPresent: boolean;
}

interface Move {
  address: string;
  amounts: Amounts;
  message: () => Message;
}

type Moves = ReadonlyMap<string, readonly Move[]>;

interface PendingChanges {
  fresh: Moves;
  dropping: Moves;
  /** Everything that is pending. */
  all: () => Moves;
}

interface Options {
  index: IndexReader;
  turns: EventLoopTurns;
  mempool: MempoolSamples;
  logger: Logger;
}

export class MempoolEvents {
  readonly #options: Options;
  readonly #subscribers: ReadonlySet<Subscriber>;
  /** What each subscriber knows of the mempool: all of it, or that it cannot be read. */
  readonly #informed = new WeakMap<Subscriber, 'whole' | 'unavailable'>();
  /** Pending transactions with their addresses, by id; kept until they are dropped or merged. */
  readonly #pending = new Map<string, Pending>();
  /** The amounts that each subscriber received. They exist once for each pending transaction and address. */
  readonly #told = new WeakMap<Subscriber, { amounts: WeakSet<Amounts>; revision: number }>();
  #last: MempoolSample | undefined;
  /** The sample whose absent transactions were counted. */
  #counted: MempoolSample | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isRunning = false;

  constructor(options: Options, subscribers: ReadonlySet<Subscriber>) {
    this.#options = options;
    this.#subscribers = subscribers;
  }

  wake(): void {
    this.#timer ??= setInterval(() => void this.#tick(), SAMPLE_MS).unref();
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /**
   * Must be called when a subscriber unsubscribes from the mempool. Otherwise it would get no snapshot if it subscribes again before the next
   * sample.
   */
  forget(subscriber: Subscriber): void {
    this.#informed.delete(subscriber);
  }

  async #tick(): Promise<void> {
    const ofPool = [...this.#subscribers].filter(wantsPool);
    for (const subscriber of this.#subscribers) if (!wantsPool(subscriber)) this.forget(subscriber);
    const ofAddresses = [...this.#subscribers].filter(
      ({ subscription }) => subscription.events.has('address') && subscription.addresses.size > 0,
    );
    if (this.#subscribers.size === 0) this.close();
    if (this.#isRunning || ofPool.length + ofAddresses.length === 0) return;
    this.#isRunning = true;
    try {
      const sample = await this.#options.mempool.get().catch(() => undefined);
      await this.#sendPool(ofPool, sample);
      if (sample !== undefined && ofAddresses.length > 0) await this.#sendPending(ofAddresses, sample);
      if (ofAddresses.length === 0) this.#pending.clear();
    } catch (error) {
      this.#options.logger.warn({ reason: String(error) }, 'could not read pending transactions for streams');
    } finally {
      this.#isRunning = false;
    }
  }

  async #sendPool(subscribers: readonly Subscriber[], sample: MempoolSample | undefined): Promise<void> {
    const before = this.#last;
    this.#last = sample;
    if (sample === undefined) {
      const unavailable = poolMessage({ available: false });
      await this.#each(subscribers, (subscriber) => {
        if (!wantsPool(subscriber) || this.#informed.get(subscriber) === 'unavailable') return;
        this.#informed.set(subscriber, 'unavailable');
        subscriber.send([unavailable]);
      });
      return;
    }
    const snapshot = lazy(() =>
      poolMessage({
        added: [...sample.transactions.values()].map(toPendingTransaction),
        removed: [],
        isSnapshot: true,
      }),
    );
    const changes = lazy(() => {
      const added = [...sample.transactions.values()].filter(({ id }) => before?.transactions.has(id) !== true);
      const removed = [...(before?.transactions.keys() ?? [])].filter((id) => !sample.transactions.has(id));
      const isEmpty = added.length === 0 && removed.length === 0;
      return isEmpty ? undefined : poolMessage({ added: added.map(toPendingTransaction), removed, isSnapshot: false });
    });
    await this.#each(subscribers, (subscriber) => {
      // It may have unsubscribed during the sample.
      if (!wantsPool(subscriber)) return;
      const isInformed = before !== undefined && this.#informed.get(subscriber) === 'whole';
      const message = isInformed ? changes() : snapshot();
      this.#informed.set(subscriber, 'whole');
      if (message !== undefined) subscriber.send([message]);
    });
  }

  /** There may be thousands of subscribers. */
  async #each(subscribers: readonly Subscriber[], handle: (subscriber: Subscriber) => void): Promise<void> {
    await new Slices(this.#options.turns, 'streams').forEach(subscribers, handle);
  }

  async #sendPending(subscribers: readonly Subscriber[], sample: MempoolSample): Promise<void> {
    const added = [...sample.transactions.values()].filter(({ id }) => !this.#pending.has(id));
    const unmerged = await this.#readUnmerged();
    const fresh: string[] = [];
    for (const [id, amounts] of [...(await this.#readAmounts(added)), ...unmerged]) {
      if (this.#pending.has(id)) continue;
      this.#pending.set(id, { amounts, absentSamples: 0, wasPresent: true });
      fresh.push(id);
    }
    const present = new Set([...sample.transactions.keys(), ...unmerged.keys()]);
    // A large mempool is sampled less often than it is asked for.
    const isNew = sample !== this.#counted;
    this.#counted = sample;
    const gone: string[] = [];
    for (const [id, pending] of this.#pending) {
      // A stream that began meanwhile does not know it.
      if (!pending.wasPresent && present.has(id)) fresh.push(id);
      pending.wasPresent = present.has(id);
      if (present.has(id)) pending.absentSamples = 0;
      else if (isNew) pending.absentSamples += 1;
      if (pending.absentSamples >= DROPPED_AFTER_SAMPLES) gone.push(id);
    }
    const dropped = await this.#listUnindexed(gone);
    const all = lazy(() => this.#byAddress('pending', [...present]));
    const changes = { fresh: this.#byAddress('pending', fresh), dropping: this.#byAddress('dropped', dropped), all };
    await this.#each(subscribers, (subscriber) => this.#tell(subscriber, changes));
    for (const id of gone) this.#pending.delete(id);
  }

  /** Returns what pending transactions move, by address: there may be thousands of subscribers, each with few addresses. */
  #byAddress(status: 'pending' | 'dropped', ids: readonly string[]): Map<string, Move[]> {
    const moves = ids.flatMap((id) =>
      [...(this.#pending.get(id)?.amounts ?? [])].map(([address, amounts]): Move => {
        return { address, amounts, message: lazy(() => addressMessage(status, id, address, amounts)) };
      }),
    );
    return Map.groupBy(moves, ({ address }) => address);
  }

  /** Tells all that is pending to a subscriber whose subscription is new, and what is new to the others. */
  #tell(subscriber: Subscriber, { fresh, dropping, all }: PendingChanges): void {
    const { subscription, revision } = subscriber;
    const before = this.#told.get(subscriber);
    const { amounts: told } = before ?? { amounts: new WeakSet<Amounts>() };
    this.#told.set(subscriber, { amounts: told, revision });
    const messages: Message[] = [];
    const moves = before?.revision === revision ? fresh : all();
    for (const { amounts, message } of movesOf(subscription.addresses, moves)) {
      if (told.has(amounts)) continue;
      told.add(amounts);
      messages.push(message());
    }
    for (const { amounts, message } of movesOf(subscription.addresses, dropping)) {
      if (told.delete(amounts)) messages.push(message());
    }
    subscriber.send(messages);
  }

  /** Of UTXOs that are not indexed yet, such as those of other pending transactions, nothing is known but their spending. */
  async #readAmounts(transactions: readonly PendingTransaction[]): Promise<Map<string, Map<string, Amounts>>> {
    const amounts = new Map(transactions.map(({ id }) => [id, new Map<string, Amounts>()]));
    const of = (id: string, address: string): Amounts => {
      const ofTransaction = amounts.get(id) as Map<string, Amounts>;
      const known = ofTransaction.get(address) ?? { sent: 0n, received: 0n };
      ofTransaction.set(address, known);
      return known;
    };
    for (const { id, paid } of transactions) for (const { address, amount } of paid) of(id, address).received += amount;
    const spent = transactions.flatMap(({ id, spent: outpoints }) =>
      outpoints.map((outpoint) => ({ id, ...outpoint })),
    );
    if (spent.length === 0) return amounts;
    const rows = await this.#options.index.readIfAny(async (db) => {
      const found = await sql<{ id: string; address: string; amount: bigint }>`
        select spent.id, s.address, o.amount
        from unnest(${spent.map(({ id }) => id)}::text[], ${spent.map(({ transactionId }) => transactionId)}::text[],
          ${spent.map(({ index }) => index)}::bigint[]) spent (id, transaction_id, index)
        cross join lateral (
          select o.script_id, o.amount from transactions t join transaction_outputs o on o.transaction_id = t.id
            and o.index = spent.index and o.index >> 4 = spent.index >> 4
          where encode(t.transaction_id, 'hex') = spent.transaction_id
          union
          select o.script_id, o.amount from earlier_transactions t join start_utxos o on o.transaction_id = t.id and o.index = spent.index
          where t.transaction_id = decode(spent.transaction_id, 'hex')
        ) o
        join scripts s on s.id = o.script_id and s.address is not null`.execute(db);
      return found.rows;
    }, 'stream');
    for (const { id, address, amount } of rows) of(id, address).sent += amount;
    return amounts;
  }

  /** Reads the transactions that only blocks contain that are not merged yet, with what they would move, by id. */
  async #readUnmerged(): Promise<Map<string, Map<string, Amounts>>> {
    const rows = await this.#options.index.readIfAny(async (db) => {
      const found = await sql<{ id: string; address: string; sent: string; received: string }>`
        with unmerged as materialized (
          select distinct t.id, t.transaction_id
          from checkpoint c cross join unnest(c.virtual_merge_set || c.block_id) block (id)
          join block_transactions contained on contained.block_id = block.id
          join transactions t on t.id = contained.transaction_id and t.accepting_index is null and t.subnetwork_id <> 1),
        moved as (
          select unmerged.transaction_id, o.script_id, 0::bigint as sent, o.amount as received
          from unmerged join transaction_outputs o on o.transaction_id = unmerged.id
          union all
          select unmerged.transaction_id, u.script_id, u.amount, 0
          from unmerged join transaction_inputs i on i.transaction_id = unmerged.id
          join utxos u on u.script_id = i.script_id and u.transaction_id = i.previous_transaction_id and u.index = i.previous_index)
        select encode(moved.transaction_id, 'hex') as id, s.address, sum(sent) as sent, sum(received) as received
        from moved join scripts s on s.id = moved.script_id and s.address is not null group by 1, 2`.execute(db);
      return found.rows;
    }, 'stream');
    const unmerged = new Map<string, Map<string, Amounts>>();
    for (const { id, address, sent, received } of rows) {
      const ofTransaction = unmerged.get(id) ?? new Map<string, Amounts>();
      unmerged.set(id, ofTransaction.set(address, { sent: BigInt(sent), received: BigInt(received) }));
    }
    return unmerged;
  }

  /** Returns those of these ids that no indexed block contains. */
  async #listUnindexed(ids: readonly string[]): Promise<string[]> {
    if (ids.length === 0) return [];
    return this.#options.index.readIfAny(async (db) => {
      const { rows } = await sql<{ id: string }>`
        select id from unnest(${ids}::text[]) gone (id)
        where not exists (select from transactions t where encode(t.transaction_id, 'hex') = gone.id)`.execute(db);
      return rows.map(({ id }) => id);
    }, 'stream');
  }
}

/** A subscriber has up to a thousand addresses, and a second has few moves. */
function movesOf(addresses: ReadonlySet<string>, moves: Moves): readonly Move[] {
  if (addresses.size < moves.size) return [...addresses].flatMap((address) => moves.get(address) ?? []);
  return [...moves].flatMap(([address, of]) => (addresses.has(address) ? of : []));
}

const wantsPool = ({ subscription }: Subscriber): boolean => subscription.events.has('mempool');

const poolMessage = (data: object): Message => ({ event: 'mempool', data: JSON.stringify(data) });

const addressMessage = (
  status: 'pending' | 'dropped',
  transactionId: string,
  address: string,
  amounts: Amounts,
): Message => ({
  event: 'address',
  data: JSON.stringify({
    address,
    transactionId,
    status,
    isCoinbase: false,
    amountSent: String(amounts.sent),
    amountReceived: String(amounts.received),
    balanceChange: String(amounts.received - amounts.sent),
    acceptingBlockHash: null,
    acceptingBlockBlueScore: null,
    confirmations: 0,
    balance: null,
  }),
});

function lazy<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
