/**
 * Tells streams how pending transactions change the balances of the addresses they watch. A transaction is pending while it is in the mempool, and
 * in a block that is not merged yet, which the mempool no longer has. Work is proportional to what is new: transactions of the mempool, or addresses.
 */
import { PackedPairs } from '@kasgres/node';
import { sql } from 'kysely';
import { type EventLoopTurns, Slices } from '../fairness/event-loop-turns.ts';
import type { IndexReader } from '../index-state/state.ts';
import type { MempoolSample, PendingTransaction } from '../mempool-samples.ts';
import type { Message } from './messages.ts';
import type { Subscriber } from './subscriber.ts';

const DROPPED_AFTER_SAMPLES = 2;
/** Spent UTXOs are looked up for this many in each sample; transactions with few of them come first. */
const MAX_SPENT_PER_SAMPLE = 20_000;

interface Amounts {
  sent: bigint;
  received: bigint;
}

interface Pending {
  /** Addresses and amounts, like the following. */
  received: PackedPairs;
  sent: PackedPairs;
  absentSamples: number;
  /** In the latest sample. */
  wasPresent: boolean;
}

interface Moved {
  address: string;
  amount: bigint;
}

type AddressFilter = Pick<ReadonlySet<string>, 'has'>;

/** By address, by transaction id. */
type AmountsByAddress = ReadonlyMap<string, ReadonlyMap<string, Amounts>>;

interface Moves {
  fresh: AmountsByAddress;
  dropping: AmountsByAddress;
  /** Whether a transaction is in the mempool or in a block. */
  isPresent: (id: string) => boolean;
}

export class PendingMoves {
  readonly #index: IndexReader;
  readonly #turns: EventLoopTurns;
  /** By id; kept until they are dropped or merged. */
  readonly #pending = new Map<string, Pending>();
  /** Those that are new, or present again, since subscribers were told. */
  readonly #untold = new Set<string>();
  /** For each watched address, the amounts that pending transactions move, by transaction id. */
  readonly #watched = new Map<string, Map<string, Amounts>>();
  /** The revisions of the subscriptions that `#watched` follows. */
  #revisions: ReadonlyMap<Subscriber, number> = new Map();
  /** The amounts that each subscriber received. They exist once for each pending transaction and address. */
  readonly #told = new WeakMap<Subscriber, { amounts: WeakSet<Amounts>; revision: number }>();
  /** The sample whose absent transactions were counted. */
  #counted: MempoolSample | undefined;

  constructor({ index, turns }: { index: IndexReader; turns: EventLoopTurns }) {
    this.#index = index;
    this.#turns = turns;
  }

  clear(): void {
    this.#pending.clear();
    this.#untold.clear();
    this.#watched.clear();
    this.#revisions = new Map();
  }

  /** Tells subscribers what is new for them. What could not be told since a read failed is told after the next sample. */
  async send(subscribers: readonly Subscriber[], sample: MempoolSample): Promise<void> {
    const unmerged = await this.#readUnmerged();
    const added: string[] = [];
    for (const [id, moved] of [...(await this.#readListed(sample)), ...unmerged]) {
      if (this.#pending.has(id)) continue;
      this.#pending.set(id, { ...moved, absentSamples: 0, wasPresent: true });
      added.push(id);
      this.#untold.add(id);
    }
    await this.#watch(subscribers, added);
    const isPresent = (id: string): boolean => sample.transactions.has(id) || unmerged.has(id);
    const gone = this.#countAbsences(isPresent, sample);
    const dropped = await this.#listUnindexed(gone);
    const moves = { fresh: await this.#movesOf([...this.#untold]), dropping: await this.#movesOf(dropped), isPresent };
    await new Slices(this.#turns, 'streams').forEach(subscribers, (subscriber) => this.#tell(subscriber, moves));
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

  /** Follows the addresses of these subscribers: adds what the added transactions move, and for new addresses what all of them move. */
  async #watch(subscribers: readonly Subscriber[], added: readonly string[]): Promise<void> {
    const before = new Set(this.#watched.keys());
    const isChanged =
      subscribers.length !== this.#revisions.size ||
      subscribers.some((subscriber) => this.#revisions.get(subscriber) !== subscriber.revision);
    const fresh = new Set<string>();
    if (isChanged) {
      this.#revisions = new Map(subscribers.map((subscriber) => [subscriber, subscriber.revision]));
      await new Slices(this.#turns, 'streams').forEach(subscribers, ({ subscription }) => {
        for (const address of subscription.addresses) {
          before.delete(address);
          if (this.#watched.has(address)) continue;
          this.#watched.set(address, new Map());
          fresh.add(address);
        }
      });
      for (const address of before) this.#watched.delete(address);
    }
    const isAdded = new Set(added);
    const ids = fresh.size === 0 ? added : [...this.#pending.keys()];
    await new Slices(this.#turns, 'streams').forEach(ids, (id) => {
      this.#collect(id, isAdded.has(id) ? this.#watched : fresh);
    });
  }

  #collect(id: string, addresses: AddressFilter): void {
    const pending = this.#pending.get(id);
    const of = (address: string): Amounts | undefined => {
      if (!addresses.has(address)) return undefined;
      const moves = this.#watched.get(address);
      const amounts = moves?.get(id) ?? { sent: 0n, received: 0n };
      moves?.set(id, amounts);
      return amounts;
    };
    pending?.received.forEach((address, amount) => {
      const amounts = of(address);
      if (amounts !== undefined) amounts.received += amount;
    });
    pending?.sent.forEach((address, amount) => {
      const amounts = of(address);
      if (amounts !== undefined) amounts.sent += amount;
    });
  }

  /** Returns what these transactions move of watched addresses. */
  async #movesOf(ids: readonly string[]): Promise<AmountsByAddress> {
    const moves = new Map<string, Map<string, Amounts>>();
    await this.#forEachWatched(ids, (address, id, ofAddress) => {
      const amounts = ofAddress.get(id);
      if (amounts === undefined) return;
      const known = moves.get(address) ?? new Map<string, Amounts>();
      moves.set(address, known.set(id, amounts));
    });
    return moves;
  }

  async #remove(ids: readonly string[]): Promise<void> {
    await this.#forEachWatched(ids, (_, id, ofAddress) => void ofAddress.delete(id));
    for (const id of ids) this.#pending.delete(id);
  }

  async #forEachWatched(
    ids: readonly string[],
    handle: (address: string, id: string, ofAddress: Map<string, Amounts>) => void,
  ): Promise<void> {
    await new Slices(this.#turns, 'streams').forEach(ids, (id) => {
      const pending = this.#pending.get(id);
      for (const pairs of [pending?.received, pending?.sent]) {
        pairs?.forEach((address) => {
          const ofAddress = this.#watched.get(address);
          if (ofAddress !== undefined) handle(address, id, ofAddress);
        });
      }
    });
  }

  /** Tells all that is pending to a subscriber whose subscription is new, and what is new to the others. */
  #tell(subscriber: Subscriber, { fresh, dropping, isPresent }: Moves): void {
    const { subscription, revision } = subscriber;
    // Its subscription has changed since the addresses were collected: the next sample has them.
    if (this.#revisions.get(subscriber) !== revision) return;
    const before = this.#told.get(subscriber);
    const { amounts: told } = before ?? { amounts: new WeakSet<Amounts>() };
    this.#told.set(subscriber, { amounts: told, revision });
    const messages: Message[] = [];
    const moves = before?.revision === revision ? fresh : this.#watched;
    for (const [address, id, amounts] of within(subscription.addresses, moves)) {
      if (told.has(amounts) || !isPresent(id)) continue;
      told.add(amounts);
      messages.push(addressMessage('pending', id, address, amounts));
    }
    for (const [address, id, amounts] of within(subscription.addresses, dropping)) {
      if (told.delete(amounts)) messages.push(addressMessage('dropped', id, address, amounts));
    }
    subscriber.send(messages);
  }

  /** Reads what transactions move that the mempool has and that are not known. */
  async #readListed({ transactions }: MempoolSample): Promise<Map<string, Pick<Pending, 'received' | 'sent'>>> {
    const unknown = [...transactions.values()].filter(({ id }) => !this.#pending.has(id));
    const chosen: PendingTransaction[] = [];
    let spentCount = 0;
    for (const transaction of unknown.sort((one, other) => one.spent.length - other.spent.length)) {
      spentCount += transaction.spent.length;
      if (chosen.length > 0 && spentCount > MAX_SPENT_PER_SAMPLE) break;
      chosen.push(transaction);
    }
    const sent = await this.#readSent(chosen);
    return new Map(chosen.map(({ id, paid }) => [id, { received: paid, sent: packed(sent.get(id)) }]));
  }

  /**
   * Reads addresses and amounts of the UTXOs that transactions spend, by the ids of these. Of UTXOs that are not indexed yet, such as those of other
   * pending transactions, nothing is known but their spending.
   */
  async #readSent(transactions: readonly PendingTransaction[]): Promise<Map<string, Moved[]>> {
    const spent: { id: string; transactionId: string; index: bigint }[] = [];
    for (const { id, spent: outpoints } of transactions)
      outpoints.forEach((transactionId, index) => spent.push({ id, transactionId, index }));
    if (spent.length === 0) return new Map();
    const rows = await this.#index.readIfAny(async (db) => {
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
    return Map.groupBy(rows, ({ id }) => id);
  }

  /** Reads the transactions that only blocks contain that are not merged yet, with what they would move, by id. */
  async #readUnmerged(): Promise<Map<string, Pick<Pending, 'received' | 'sent'>>> {
    const rows = await this.#index.readIfAny(async (db) => {
      // Amounts of what nobody has accepted: their sums may have any size.
      const found = await sql<{ id: string; address: string; amount: bigint; isSent: boolean }>`
        with unmerged as materialized (
          select distinct t.id, t.transaction_id
          from checkpoint c cross join unnest(c.virtual_merge_set || c.block_id) block (id)
          join block_transactions contained on contained.block_id = block.id
          join transactions t on t.id = contained.transaction_id and t.accepting_index is null and t.subnetwork_id <> 1),
        moved as (
          select unmerged.transaction_id, o.script_id, o.amount, false as is_sent
          from unmerged join transaction_outputs o on o.transaction_id = unmerged.id
          union all
          select unmerged.transaction_id, u.script_id, u.amount, true
          from unmerged join transaction_inputs i on i.transaction_id = unmerged.id
          join utxos u on u.script_id = i.script_id and u.transaction_id = i.previous_transaction_id and u.index = i.previous_index)
        select encode(moved.transaction_id, 'hex') as id, s.address, moved.amount, moved.is_sent as "isSent"
        from moved join scripts s on s.id = moved.script_id and s.address is not null`.execute(db);
      return found.rows;
    }, 'stream');
    const byId = Map.groupBy(rows, ({ id }) => id);
    return new Map(
      [...byId].map(([id, moved]) => [
        id,
        { received: packed(moved.filter(({ isSent }) => !isSent)), sent: packed(moved.filter(({ isSent }) => isSent)) },
      ]),
    );
  }

  /** Returns those of these ids that no indexed block contains. */
  async #listUnindexed(ids: readonly string[]): Promise<string[]> {
    if (ids.length === 0) return [];
    return this.#index.readIfAny(async (db) => {
      const { rows } = await sql<{ id: string }>`
        select id from unnest(${ids}::text[]) gone (id)
        where not exists (select from transactions t where encode(t.transaction_id, 'hex') = gone.id)`.execute(db);
      return rows.map(({ id }) => id);
    }, 'stream');
  }
}

const packed = (moved: readonly Moved[] = []): PackedPairs =>
  PackedPairs.of(moved.map(({ address, amount }) => [address, amount]));

/** Returns the moves of these addresses. A subscriber has up to a thousand addresses, and a second has few moves. */
function* within(
  addresses: ReadonlySet<string>,
  moves: AmountsByAddress,
): Generator<[address: string, id: string, amounts: Amounts]> {
  const common = addresses.size < moves.size ? addresses : moves.keys();
  for (const address of common) {
    if (!addresses.has(address)) continue;
    for (const [id, amounts] of moves.get(address) ?? []) yield [address, id, amounts];
  }
}

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
