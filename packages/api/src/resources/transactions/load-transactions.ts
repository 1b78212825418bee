/** The transactions of blocks, each with the body that the block carries: an id can have several (DESIGN.md §4). */
import type { Reading } from '../../index-state/state.ts';
import type { TransactionJson } from '../../schemas/transaction.ts';
import { loadFurtherBodies } from './further-bodies.ts';
import { listContained, listInputs, listOutputs } from './queries.ts';
import { type ContainingBlock, toTransaction } from './to-transaction.ts';

/** By block id, in the order of each block. */
export async function loadTransactions(
  { db, slices }: Pick<Reading, 'db' | 'slices'>,
  blocks: ReadonlyMap<bigint, ContainingBlock>,
): Promise<Map<bigint, TransactionJson[]>> {
  const contained = await listContained(db, [...blocks.keys()]);
  const ids = [...new Set(contained.map((row) => row.id))];
  const inputs = Map.groupBy(await listInputs(db, ids), (row) => row.transaction_id);
  const outputs = Map.groupBy(await listOutputs(db, ids), (row) => row.transaction_id);
  const withBody = await loadFurtherBodies(db, contained);

  const ofBlocks = await slices.map(
    Map.groupBy(contained, (row) => row.block_id),
    ([blockId, rows]) => {
      const block = blocks.get(blockId) as ContainingBlock;
      const transactions = rows.map((row) => {
        const carried = withBody(row, inputs.get(row.id) ?? []);
        return toTransaction(carried.row, carried.inputs, outputs.get(row.id) ?? [], block);
      });
      return [blockId, transactions] as const;
    },
  );
  return new Map(ofBlocks);
}
