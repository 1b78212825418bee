/** The transactions of blocks, each with the body that the block carries: an id can have several (DESIGN.md §4). */
import type { Database } from '@kasgres/database';
import type { Kysely } from 'kysely';
import type { TransactionJson } from '../../schemas/transaction.ts';
import { loadFurtherBodies } from './further-bodies.ts';
import { listContained, listInputs, listOutputs } from './queries.ts';
import { type ContainingBlock, toTransaction } from './to-transaction.ts';

/** By block id, in the order of each block. */
export async function loadTransactions(
  db: Kysely<Database>,
  blocks: ReadonlyMap<bigint, ContainingBlock>,
): Promise<Map<bigint, TransactionJson[]>> {
  const contained = await listContained(db, [...blocks.keys()]);
  const ids = [...new Set(contained.map((row) => row.id))];
  const inputs = Map.groupBy(await listInputs(db, ids), (row) => row.transaction_id);
  const outputs = Map.groupBy(await listOutputs(db, ids), (row) => row.transaction_id);
  const withBody = await loadFurtherBodies(db, contained);

  const transactions = new Map<bigint, TransactionJson[]>();
  for (const [blockId, rows] of Map.groupBy(contained, (row) => row.block_id)) {
    const block = blocks.get(blockId) as ContainingBlock;
    const ofBlock = rows.map((row) => {
      const carried = withBody(row, inputs.get(row.id) ?? []);
      return toTransaction(carried.row, carried.inputs, outputs.get(row.id) ?? [], block);
    });
    transactions.set(blockId, ofBlock);
  }
  return transactions;
}
