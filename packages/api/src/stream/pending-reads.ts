/** Reads what pending transactions move from and to addresses, and do to covenants. */
import { PackedPairs } from '@kasgres/node';
import { hasTransactionId, type IndexReader } from '@kasgres/reads';
import { type RawBuilder, sql } from 'kysely';
import type { MempoolSample, PendingTransaction } from '../node/mempool-samples.ts';

/**
 * Spent UTXOs and bound outputs are looked up for this many in each sample; transactions with few
 * of them come first.
 */
const MAX_LOOKED_UP_PER_SAMPLE = 20_000;
/**
 * Transactions of unmerged blocks in each sample: blocks with few of them come first. A chain block
 * may merge 248 blocks with 2,000 each.
 */
const MAX_UNMERGED = 20_000;
/**
 * Limits the sum of `transactions.json_bytes` of new ones in each sample. An input or an output
 * counts more than 300 bytes.
 */
const MAX_UNMERGED_BYTES_PER_SAMPLE = 4 * 2 ** 20;
const CALLER = 'stream';

/** The effect of a transaction on a covenant, as bits. */
export const CREATES = 1n;
export const SPENDS = 2n;

/** The addresses and covenants that a pending transaction touches. */
export interface Touched {
  /** Addresses and amounts, like the following. */
  received: PackedPairs;
  sent: PackedPairs;
  /**
   * Covenant ids, each followed by a space and its template if it has one, with what the
   * transaction does.
   */
  covenants: PackedPairs;
}

/** An output or a spent UTXO. */
interface Moved {
  id: string;
  address: string | null;
  amount: bigint;
  covenantId: string | null;
  isSent: boolean;
}

interface Unmerged {
  /** transactions.id. */
  key: bigint;
  id: string;
  bytes: number;
}

/** The template of the latest program that a spend of the covenant in `moved` has revealed. */
const TEMPLATE = sql<string | null>`(
  select encode(p.template, 'hex') from covenants c join program_templates p on p.id = c.template_id
    where c.covenant_id = moved.covenant_id)`;

const IS_GIVEN = hasTransactionId('t', sql`decode(given.id, 'hex')`);

export class PendingReads {
  readonly #index: IndexReader;

  constructor(index: IndexReader) {
    this.#index = index;
  }

  /** Reads what transactions touch that the mempool has and that are not known, by id. */
  async readListed({ transactions }: MempoolSample, isKnown: (id: string) => boolean): Promise<Map<string, Touched>> {
    const unknown = [...transactions.values()].filter(({ id }) => !isKnown(id));
    const chosen = smallestOf(unknown, sizeOf, MAX_LOOKED_UP_PER_SAMPLE);
    const sent = await this.#readSent(chosen, transactions);
    const covenants = new Map(
      chosen.map((transaction) => [transaction.id, covenantsOf(transaction, sent.get(transaction.id) ?? [])]),
    );
    const templates = await this.#readTemplates(new Set([...covenants.values()].flatMap((of) => [...of.keys()])));
    return new Map(
      chosen.map(({ id, paid }) => [
        id,
        {
          received: paid,
          sent: packed(sent.get(id) ?? []),
          covenants: packedCovenants(covenants.get(id), (covenantId) => templates.get(covenantId)),
        },
      ]),
    );
  }

  /**
   * Finds addresses, amounts and covenants of the UTXOs that transactions spend, by the ids of
   * these, in the sample or else in the index.
   */
  async #readSent(
    chosen: readonly PendingTransaction[],
    transactions: MempoolSample['transactions'],
  ): Promise<Map<string, Moved[]>> {
    const ofSample: Moved[] = [];
    const spent: { id: string; transactionId: string; index: bigint }[] = [];
    const outputsOf = outputsOfSample(transactions);
    for (const { id, spent: outpoints } of chosen) {
      outpoints.forEach((transactionId, index) => {
        const outputs = outputsOf(transactionId);
        if (outputs === undefined) spent.push({ id, transactionId, index });
        else ofSample.push({ id, isSent: true, ...(outputs[Number(index)] ?? NO_OUTPUT) });
      });
    }
    return Map.groupBy([...ofSample, ...(await this.#readSpent(spent))], ({ id }) => id);
  }

  async #readSpent(spent: readonly { id: string; transactionId: string; index: bigint }[]): Promise<Moved[]> {
    if (spent.length === 0) return [];
    return this.#index.readIfAny(async (db) => {
      const found = await sql<Moved>`
        select spent.id, s.address, o.amount, encode(o.covenant_id, 'hex') as "covenantId",
          true as "isSent"
        from unnest(${spent.map(({ id }) => id)}::text[],
          ${spent.map(({ transactionId }) => transactionId)}::text[],
          ${spent.map(({ index }) => index)}::bigint[]) spent (id, transaction_id, index)
        cross join lateral (
          select o.script_id, o.amount, o.covenant_id from transactions t
            join transaction_outputs o on o.transaction_id = t.id
            and o.index = spent.index and o.index >> 4 = spent.index >> 4
          where ${hasTransactionId('t', sql`decode(spent.transaction_id, 'hex')`)}
          union
          select o.script_id, o.amount, o.covenant_id
          from pre_bootstrap_transactions t
            join bootstrap_utxos o on o.transaction_id = t.id and o.index = spent.index
          where t.transaction_id = decode(spent.transaction_id, 'hex')
        ) o
        join scripts s on s.id = o.script_id
          and (s.address is not null or o.covenant_id is not null)`.execute(db);
      return found.rows;
    }, CALLER);
  }

  /** Reads the present templates of covenants, by id. */
  async #readTemplates(covenantIds: ReadonlySet<string>): Promise<Map<string, string>> {
    if (covenantIds.size === 0) return new Map();
    const rows = await this.#index.readIfAny(async (db) => {
      const found = await sql<{ id: string; template: string | null }>`
        select encode(moved.covenant_id, 'hex') as id, ${TEMPLATE} as template
        from (select decode(id, 'hex') as covenant_id
          from unnest(${[...covenantIds]}::text[]) given (id)) moved`.execute(db);
      return found.rows;
    }, CALLER);
    return new Map(rows.flatMap(({ id, template }) => (template === null ? [] : [[id, template]])));
  }

  /**
   * Lists the transactions that only blocks contain that are not merged yet, and reads what those
   * would touch that are not known, by id. Anybody can mine such blocks, and what a block contains
   * never changes, so no amounts are read twice.
   */
  async readUnmerged(
    isKnown: (id: string) => boolean,
  ): Promise<{ ids: ReadonlySet<string>; added: Map<string, Touched> }> {
    const listed = await this.#index.readIfAny(async (db) => {
      const { rows } = await sql<Unmerged>`
        select t.id as key, encode(t.transaction_id, 'hex') as id, t.json_bytes as bytes
        from (
          select distinct contained.transaction_id
          from (
            select b.id, sum(b.transaction_count) over (order by b.transaction_count,
              b.id) as transactions
            from checkpoint c cross join unnest(c.virtual_merge_set || c.block_id) unmerged (id)
            join blocks b on b.id = unmerged.id) block
          join block_transactions contained on contained.block_id = block.id
          where block.transactions <= ${sql.lit(MAX_UNMERGED)}) contained
        join transactions t on t.id = contained.transaction_id and t.accepting_index is null
          and t.subnetwork_id <> 1`.execute(db);
      return rows;
    }, CALLER);
    const unknown = listed.filter(({ id }) => !isKnown(id));
    const chosen = smallestOf(unknown, ({ bytes }) => bytes, MAX_UNMERGED_BYTES_PER_SAMPLE);
    return { ids: new Set(listed.map(({ id }) => id)), added: await this.#readTouched(chosen.map(({ key }) => key)) };
  }

  /** Reads what transactions that nobody has accepted would touch, by their ids. */
  async #readTouched(keys: readonly bigint[]): Promise<Map<string, Touched>> {
    if (keys.length === 0) return new Map();
    const rows = await this.#index.readIfAny(async (db) => {
      // Amounts of what nobody has accepted: their sums may have any size.
      const found = await sql<Moved & { template: string | null }>`
        with unmerged as materialized (
          select t.id, t.transaction_id from unnest(${keys}::bigint[]) given (key)
          join transactions t on t.id = given.key and t.accepting_index is null),
        moved as (
          select unmerged.id, o.script_id, o.amount, o.covenant_id, false as is_sent
          from unmerged join transaction_outputs o on o.transaction_id = unmerged.id
          union all
          select unmerged.id, i.script_id, i.amount, u.covenant_id, true
          from unmerged join transaction_inputs i on i.transaction_id = unmerged.id
            and i.amount is not null
          left join utxos u on u.script_id = i.script_id
            and u.transaction_id = i.previous_transaction_id and u.index = i.previous_index
          union all
          select unmerged.id, null, 0, o.covenant_id, true
          from unmerged join transaction_inputs i on i.transaction_id = unmerged.id
          join transaction_outputs o on o.transaction_id = i.previous_transaction_id
            and o.index = i.previous_index
            and o.covenant_id is not null)
        select encode(unmerged.transaction_id, 'hex') as id, s.address, moved.amount,
          moved.is_sent as "isSent", encode(moved.covenant_id, 'hex') as "covenantId", case
            when moved.covenant_id is not null then ${TEMPLATE} end as template
        from unmerged left join moved on moved.id = unmerged.id
          left join scripts s on s.id = moved.script_id`.execute(db);
      return found.rows;
    }, CALLER);
    const templates = new Map(rows.map(({ covenantId, template }) => [covenantId, template ?? undefined]));
    return new Map(
      [...Map.groupBy(rows, ({ id }) => id)].map(([id, moved]) => [
        id,
        {
          received: packed(moved.filter(({ isSent }) => !isSent)),
          sent: packed(moved.filter(({ isSent }) => isSent)),
          covenants: packedCovenants(covenantsOfMoved(moved), (covenantId) => templates.get(covenantId)),
        },
      ]),
    );
  }

  /** Returns those of these ids that no indexed block contains. */
  listUnindexed(ids: readonly string[]): Promise<string[]> {
    return this.#listIds(ids, sql`not exists (select from transactions t where ${IS_GIVEN})`);
  }

  /** Returns those of these ids that the chain has accepted. */
  listAccepted(ids: readonly string[]): Promise<string[]> {
    return this.#listIds(
      ids,
      sql`exists (select from transactions t where ${IS_GIVEN} and t.accepting_index is not null)`,
    );
  }

  async #listIds(ids: readonly string[], condition: RawBuilder<boolean>): Promise<string[]> {
    if (ids.length === 0) return [];
    return this.#index.readIfAny(async (db) => {
      const { rows } = await sql<{ id: string }>`
        select id from unnest(${ids}::text[]) given (id) where ${condition}`.execute(db);
      return rows.map(({ id }) => id);
    }, CALLER);
  }
}

/** Returns the smallest items, as many as have at most this size together, and at least one. */
function smallestOf<Item>(items: readonly Item[], size: (item: Item) => number, most: number): Item[] {
  const chosen: Item[] = [];
  let sum = 0;
  for (const item of items.toSorted((one, other) => size(one) - size(other))) {
    sum += size(item);
    if (chosen.length > 0 && sum > most) break;
    chosen.push(item);
  }
  return chosen;
}

const sizeOf = ({ spent, bound }: PendingTransaction): number => spent.length + bound.length;

const packed = (moved: readonly Moved[]): PackedPairs =>
  PackedPairs.of(moved.flatMap(({ address, amount }) => (address === null ? [] : [[address, amount] as const])));

/** The effects of a transaction, by covenant. */
type ByCovenant = Map<string, bigint>;

const note = (covenants: ByCovenant, covenantId: string, what: bigint): void =>
  void covenants.set(covenantId, (covenants.get(covenantId) ?? 0n) | what);

function covenantsOfMoved(moved: readonly Moved[]): ByCovenant {
  const covenants: ByCovenant = new Map();
  for (const { covenantId, isSent } of moved)
    if (covenantId !== null) note(covenants, covenantId, isSent ? SPENDS : CREATES);
  return covenants;
}

/** @param sent the UTXOs that it spends */
function covenantsOf({ bound }: PendingTransaction, sent: readonly Moved[]): ByCovenant {
  const covenants = covenantsOfMoved(sent);
  bound.forEach((covenantId) => note(covenants, covenantId, CREATES));
  return covenants;
}

type Output = Pick<Moved, 'address' | 'amount' | 'covenantId'>;

/** A node may name outputs that a transaction does not have. */
const NO_OUTPUT: Output = { address: null, amount: 0n, covenantId: null };

/**
 * Returns a function that lists the outputs of each transaction of a sample at most once; undefined
 * for other transactions.
 */
function outputsOfSample(transactions: MempoolSample['transactions']): (id: string) => readonly Output[] | undefined {
  const listed = new Map<string, Output[]>();
  return (id) => {
    const transaction = transactions.get(id);
    if (transaction === undefined) return undefined;
    const known = listed.get(id);
    if (known !== undefined) return known;
    const outputs: Output[] = [];
    transaction.paid.forEach((address, amount) => outputs.push({ ...NO_OUTPUT, address: address || null, amount }));
    transaction.bound.forEach((covenantId, index) => {
      outputs[Number(index)] = { ...(outputs[Number(index)] ?? NO_OUTPUT), covenantId };
    });
    listed.set(id, outputs);
    return outputs;
  };
}

const packedCovenants = (
  covenants: ByCovenant = new Map(),
  templateOf: (covenantId: string) => string | undefined,
): PackedPairs =>
  PackedPairs.of(
    Array.from(covenants, ([covenantId, what]) => {
      const template = templateOf(covenantId);
      return [template === undefined ? covenantId : `${covenantId} ${template}`, what] as const;
    }),
  );
