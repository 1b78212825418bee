/** Says whether the chain can be followed from a block up to the sink, and if not, why. */
import { cannotCross, conflict, getPathToChain, listGaps, type Reading } from '@kasgres/reads';
import { sql } from 'kysely';

/**
 * @throws HttpError 404 if the block is unknown; 409 if it is before the index, below a gap, or
 * what it accepted is no longer known
 */
export async function requireStart(reading: Reading, from: Uint8Array, withChanges: boolean): Promise<void> {
  const { offChain, chainBlock } = await getPathToChain(reading, from);
  const gap = (await listGaps(reading)).findLast(({ after }) => after.index >= chainBlock.index);
  if (gap !== undefined) throw cannotCross(gap);
  if (withChanges) await requireKnown(reading, offChain, chainBlock);
}

/**
 * The indexer keeps rows of removed chain blocks for twice the finality depth, and no reorg is
 * deeper than that depth. So above it, a block without a row never was a chain block.
 * @param offChain blocks above the chain block, off the chain
 * @throws HttpError 409 if these blocks may have been chain blocks whose rows are deleted
 */
async function requireKnown(
  { db, state }: Reading,
  offChain: readonly { id: bigint }[],
  chainBlock: { index: bigint },
): Promise<void> {
  const isKept = chainBlock.index >= state.sinkChainIndex - state.network.finalityDepth;
  if (offChain.length === 0 || isKept) return;
  const { rows } = await sql<{ known: bigint }>`
    select count(*) as known from removed_chain_blocks
      where block_id = any(${offChain.map(({ id }) => id)}::bigint[])`.execute(db);
  if (Number(rows[0]?.known) === offChain.length) return;
  throw conflict(
    'What the removed blocks had accepted is no longer known: read the present state and continue from its sink',
  );
}
