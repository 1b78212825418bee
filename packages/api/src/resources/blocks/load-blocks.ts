/** Whole blocks by id, as the endpoints under /v1/rpc show them. */
import type { Reading } from '../../index-state/state.ts';
import type { BlockJson } from '../../schemas/block.ts';
import { loadTransactions } from '../transactions/load-transactions.ts';
import { listContainedIds } from '../transactions/queries.ts';
import { listBlocks, listChildren, listMergeSets, listParents, type Relative } from './queries.ts';
import { toBlock } from './to-block.ts';

/** In the order of the ids. With transactions or with their ids only. */
export async function loadBlocks(
  { db, slices }: Pick<Reading, 'db' | 'slices'>,
  ids: readonly bigint[],
  withTransactions: boolean,
): Promise<BlockJson[]> {
  const rows = new Map((await listBlocks(db, ids)).map((row) => [row.id, row]));
  const parents = groupHashes(await listParents(db, ids));
  const children = groupHashes(await listChildren(db, ids));
  const blues = groupHashes(await listMergeSets(db, ids, 'merge_set_blues'));
  const reds = groupHashes(await listMergeSets(db, ids, 'merge_set_reds'));
  const transactions = withTransactions ? await loadTransactions({ db, slices }, rows) : undefined;
  const transactionIds = withTransactions ? undefined : groupHashes(await listContainedIds(db, ids));

  return slices.map(ids, (id) => {
    const row = rows.get(id);
    if (row === undefined) throw new Error(`Block ${id} is missing`);
    return toBlock(row, {
      parents: parents(id),
      children: children(id),
      blues: blues(id),
      reds: reds(id),
      transactions: transactions && (transactions.get(id) ?? []),
      transactionIds: transactionIds?.(id) ?? [],
    });
  });
}

/** A function that gives the hashes that belong to a block. */
function groupHashes(rows: readonly Relative[]): (blockId: bigint) => string[] {
  const groups = Map.groupBy(rows, (row) => row.block_id);
  return (blockId) => groups.get(blockId)?.map((row) => row.hash) ?? [];
}
