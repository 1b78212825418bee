/**
 * The order half of invariant 3, without a node. A chain block accepts a selection of the
 * transactions of its mergeset, in the order of the mergeset (the selected parent, then ascending
 * by blue work and hash) and of each block, beginning with the selected parent's coinbase and
 * without any other; of several instances of a transaction it accepts the first valid one. The UTXO
 * commitment proves the selection itself. The accepted variant is one that the mergeset carries,
 * and is known if there is only one.
 */
import type { Queryable } from '@kasgres/state';
import { type Faults, findFaults } from './queries.ts';
import { EVERYTHING, type From } from './since.ts';

const PAGE = 500;
/**
 * Instances of transactions in the mergesets of a page, which take some 100 bytes each. Miners can
 * save up a day of full blocks for one page.
 */
const MAX_CARRIED = 1_000_000;
const MOST_FAULTS = 20;
/**
 * Values instead of a variant: it is unknown, or a later chain block accepts the transaction again.
 */
const UNKNOWN = -1;
const ACCEPTED_AGAIN = -2;

/** A transaction without a row has no variant; invariant 7 reports the missing row. */
const SELECT_ACCEPTED = `
  select c.index, c.accepted_transactions as accepted,
    c.index in (select chain_index from bootstrap_blocks) as is_bootstrap, array(
      select case when t.accepting_index = c.index then coalesce(t.accepted_variant, ${UNKNOWN})
        else ${ACCEPTED_AGAIN} end::integer
      from unnest(c.accepted_transactions) with ordinality as listed (id, position)
        left join transactions t on t.id = listed.id
      order by listed.position
    ) as variants, (
      select coalesce(sum(m.transaction_count), 0)::float8 from blocks b
        join blocks m on m.id = any (b.merge_set_blues || b.merge_set_reds)
      where b.id = c.block_id
    ) as carried
  from chain_blocks c where c.index > $1 order by c.index limit ${PAGE}`;

const SELECT_CARRIED = `
  with merged as (
    select c.index, m.id,
      row_number() over (partition by c.index
        order by m.id <> b.selected_parent_id, m.blue_work, m.hash) as position
    from chain_blocks c join blocks b on b.id = c.block_id
    join blocks m on m.id = any (b.merge_set_blues || b.merge_set_reds)
    where c.index between $1 and $2
  )
  select merged.index,
    array_agg(bt.transaction_id order by merged.position, bt.index) as transactions,
    array_agg(bt.variant::integer order by merged.position, bt.index) as variants,
    array_agg(merged.position::integer order by merged.position, bt.index) as blocks
  from merged join block_transactions bt on bt.block_id = merged.id
  where bt.index > 0 or merged.position = 1
  group by merged.index`;

const SELECT_PREVIOUS = `
  select transaction_id, array_agg(previous_transaction_id) as previous from transaction_inputs
  where transaction_id = any ($1) and previous_transaction_id is not null group by transaction_id`;

const wrongVariants = ({ transactionId }: From): Faults => ({
  'transaction {}': `
    select format('%s has variant %s accepted, %s', encode(t.transaction_id, 'hex'),
      t.accepted_variant, case when t.accepting_index is null then 'and is not accepted'
        else 'which is not stored' end)
    from transactions t
    where t.id >= ${transactionId} and t.accepted_variant is not null and (
      t.accepting_index is null
      or t.accepted_variant < 0
      or t.accepted_variant > 0
        and not exists (select from transaction_variants b
          where b.transaction_id = t.id and b.variant = t.accepted_variant)
    )`,
});

/** Faults of columns that bound the scans of requests with a range of time. */
const wrongBounds = ({ chainIndex }: From): Faults => ({
  'chain block {}': `
    select format('%s has other transactions than its bounds allow', c.index)
    from (
      select index, accepted_transactions, highest_transaction, lowest_transaction,
        lag(highest_transaction, 1, 0::bigint) over (order by index) as highest_below
      from chain_blocks where index >= ${chainIndex}
    ) c
    cross join lateral (select min(id) as lowest, max(id) as highest
      from unnest(c.accepted_transactions) id) accepted
    where c.highest_transaction < c.highest_below or accepted.highest > c.highest_transaction
      or accepted.lowest < c.lowest_transaction`,
});

interface AcceptedRow {
  index: bigint;
  /** The transactions that a bootstrap block accepts may be pre-bootstrap. */
  is_bootstrap: boolean;
  accepted: bigint[];
  variants: number[];
  /** The number of instances of transactions in its mergeset. */
  carried: number;
}

interface CarriedRow {
  index: bigint;
  /**
   * The transactions of the mergeset in order, with their variants and the positions of their
   * blocks.
   */
  transactions: bigint[];
  variants: number[];
  blocks: number[];
}

/** An instance that was skipped although the same variant was accepted later in the mergeset. */
interface Skipped {
  index: bigint;
  transaction: bigint;
  /**
   * Whether a transaction is accepted in the same block of the mergeset or later: the instance may
   * depend on it.
   */
  isLater: (transaction: bigint) => boolean;
}

/** Returns the faults, one sentence each (the first 20 of a kind). */
export async function checkAcceptance(db: Queryable, from: From = EVERYTHING): Promise<string[]> {
  const wrong: string[] = [];
  for (let after = from.chainIndex - 1n; wrong.length < MOST_FAULTS; ) {
    const rows = withinMemory((await db.query<AcceptedRow>(SELECT_ACCEPTED, [after])).rows, MAX_CARRIED);
    const [first, last] = [rows.at(0), rows.at(-1)];
    if (first === undefined || last === undefined) break;
    const carried = await db.query<CarriedRow>(SELECT_CARRIED, [first.index, last.index]);
    const byIndex = new Map(carried.rows.map((row) => [row.index, row]));
    const walks = rows.map((row) => walkMergeSet(row, byIndex.get(row.index)));
    wrong.push(...walks.flatMap(({ faults }) => faults));
    wrong.push(
      ...(await skippedWithoutReason(
        db,
        walks.flatMap(({ skipped }) => skipped),
      )),
    );
    after = last.index;
  }
  return [...wrong.slice(0, MOST_FAULTS), ...(await findFaults(db, { ...wrongVariants(from), ...wrongBounds(from) }))];
}

/** Returns the first rows, as many as carry `most` instances together, but at least one. */
export function withinMemory<Row extends Pick<AcceptedRow, 'carried'>>(rows: readonly Row[], most: number): Row[] {
  let total = 0;
  for (const [n, { carried }] of rows.entries()) {
    total += carried;
    if (total > most && n > 0) return rows.slice(0, n);
  }
  return [...rows];
}

export function walkMergeSet(
  { index, is_bootstrap: isBootstrap, accepted, variants }: Omit<AcceptedRow, 'carried'>,
  carried: CarriedRow | undefined,
): { faults: string[]; skipped: Skipped[] } {
  const faults: string[] = [];
  const skipped: Skipped[] = [];
  const positionOf = new Map(accepted.map((id, position) => [id, position]));
  const carriedVariants = new Map<bigint, Set<number>>();
  let position = 0;
  let positionOfBlock = 0;
  carried?.transactions.forEach((id, at) => {
    if (carried.blocks[at] !== carried.blocks[at - 1]) positionOfBlock = position;
    const acceptedAt = positionOf.get(id);
    if (acceptedAt === undefined) return;
    const variant = carried.variants[at] ?? 0;
    const known = carriedVariants.get(id) ?? new Set();
    carriedVariants.set(id, known.add(variant));
    const expected = variants[acceptedAt];
    const isAccepted = expected === UNKNOWN || expected === ACCEPTED_AGAIN || expected === variant;
    if (acceptedAt === position && isAccepted) position += 1;
    else if (acceptedAt > position && expected === variant) {
      // All instances share the positions: any block of a mergeset may carry thousands.
      const from = positionOfBlock;
      skipped.push({ index, transaction: id, isLater: (other) => (positionOf.get(other) ?? -1) >= from });
    }
  });
  const ofBlock = `chain block ${index}`;
  if (position < accepted.length) {
    faults.push(
      `${ofBlock} accepts transaction ${accepted[position]} at position ${position}, where its mergeset does not carry this variant of it`,
    );
  }
  const coinbase = carried?.transactions[0];
  const isUnknown = isBootstrap && accepted.length === 0;
  if (coinbase !== undefined && accepted[0] !== coinbase && !isUnknown) {
    faults.push(`${ofBlock} does not accept the coinbase ${coinbase} of its selected parent first`);
  }
  accepted.forEach((id, at) => {
    if (variants[at] === UNKNOWN && carriedVariants.get(id)?.size === 1) {
      faults.push(`${ofBlock} accepts transaction ${id} in an unknown variant, although it merges only one`);
    }
  });
  return { faults, skipped };
}

/**
 * An instance is not valid yet, and rightly skipped, if it spends an output that is accepted after
 * it or in its own block.
 */
async function skippedWithoutReason(db: Queryable, skipped: readonly Skipped[]): Promise<string[]> {
  if (skipped.length === 0) return [];
  const { rows } = await db.query<{ transaction_id: bigint; previous: bigint[] }>(SELECT_PREVIOUS, [
    [...new Set(skipped.map(({ transaction }) => transaction))],
  ]);
  const previousOf = new Map(rows.map((row) => [row.transaction_id, row.previous]));
  return skipped
    .filter(({ transaction, isLater }) => !previousOf.get(transaction)?.some(isLater))
    .map(
      ({ index, transaction }) =>
        `chain block ${index} accepts transaction ${transaction} later than where its mergeset first carries it`,
    );
}
