/**
 * Counts the blocks that contain a transaction, where there are so many that a request must not
 * count them: anybody can mine it again and again.
 */
import type { DerivedState } from '../derived-state.ts';
import type { StateChanges } from '../state-changes.ts';
import { faultsOf } from '../queryable.ts';

/** Readers count up to this many blocks themselves. Also in the comment of the table. */
const MAX_UNCOUNTED = 16;

class Contained {
  /** Number of blocks of this batch, by transaction. */
  readonly blocks = new Map<number, number>();
}

/**
 * Transactions that have a row only need the blocks of this batch. Of the others, there are at most
 * MAX_UNCOUNTED older ones to count.
 */
const COUNT = `
  with added as materialized (select * from unnest($1::bigint[], $2::bigint[]) added (id, blocks)),
  counted as (
    update repeated_transactions r set block_count = r.block_count + added.blocks
      from added where r.transaction_id = added.id returning r.transaction_id)
  insert into repeated_transactions (transaction_id, block_count)
  select added.id, found.blocks
    from added
   cross join lateral (
     select count(*) as blocks from (
       select from block_transactions bt where bt.transaction_id = added.id
         limit ${MAX_UNCOUNTED} + added.blocks) contained) found
   where found.blocks > ${MAX_UNCOUNTED}
     and not exists (select from repeated_transactions r where r.transaction_id = added.id)`;

const EXPECTED = `
  select transaction_id, count(*) as block_count from block_transactions group by transaction_id
    having count(*) > ${MAX_UNCOUNTED}`;

const SELECT_WRONG_COUNTS = `
  with expected as (${EXPECTED})
  select format('transaction %s is in %s blocks, kept are %s', transaction_id,
    coalesce(e.block_count, 0), coalesce(s.block_count, 0)) as fault
    from expected e full join repeated_transactions s using (transaction_id)
   where e.block_count is distinct from s.block_count
   limit 20`;

export const repeatedTransactions: DerivedState = {
  tables: { emptied: ['repeated_transactions'] },
  verify: { 4: faultsOf(SELECT_WRONG_COUNTS) },

  collect(item, changes) {
    if (item.kind !== 'contained') return;
    const { blocks } = changes.of(Contained);
    for (const transaction of item.transactions) blocks.set(transaction, (blocks.get(transaction) ?? 0) + 1);
  },

  async apply(client, changes) {
    const added = listRepeated(changes);
    if (added.length === 0) return;
    const [ids, blocks] = [added.map(([id]) => id), added.map(([, count]) => count)];
    await client.query({ name: 'count-repeated-transactions', text: COUNT, values: [ids, blocks] });
  },

  rebuild: {
    fromRows: (client) => client.query(`insert into repeated_transactions (transaction_id, block_count) ${EXPECTED}`),
  },
};

/** Most transactions are new and in few blocks of the batch. */
function listRepeated(changes: StateChanges): [id: number, blocks: number][] {
  const { firstTransaction } = changes.range;
  return [...changes.of(Contained).blocks].filter(([id, count]) => id < firstTransaction || count > MAX_UNCOUNTED);
}
