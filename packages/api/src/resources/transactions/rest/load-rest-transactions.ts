/** Whole transactions by key, as listings and look-ups show them. */
import type { Reading } from '../../../index-state/state.ts';
import { getStartBlueScore } from '../earlier.ts';
import { loadFurtherBodies } from '../further-bodies.ts';
import { listOutputs } from '../queries.ts';
import {
  listContainingBlocks,
  listRestTransactions,
  listSpenders,
  listSpendingInputs,
  type RestTransactionRow,
} from './queries.ts';
import type { RestTransactionJson } from './schemas.ts';
import { toRestTransaction } from './to-rest-transaction.ts';

/**
 * In the order of the keys (`transactions.id`), all of which must be there. Rests on a finished first catch-up: before, indexes for
 * some of these look-ups may be missing (`requireCaughtUp`).
 */
export async function loadRestTransactions(
  { db, state, slices }: Reading,
  keys: readonly bigint[],
  { includePayload }: { includePayload: boolean },
): Promise<RestTransactionJson[]> {
  if (keys.length === 0) return [];
  const rows = new Map((await listRestTransactions(db, keys, includePayload)).map((row) => [row.id, row]));
  const withBody = await loadFurtherBodies(db, [...rows.values()]);
  const inputs = Map.groupBy(await listSpendingInputs(db, keys), (row) => row.transaction_id);
  const outputs = Map.groupBy(await listOutputs(db, keys), (row) => row.transaction_id);
  const spenders = Map.groupBy(await listSpenders(db, keys), (row) => row.transaction_id);
  const blocks = Map.groupBy(await listContainingBlocks(db, keys), (row) => row.transaction_id);
  const wasAcceptedEarlier = [...rows.values()].some(isAcceptedEarlier);
  const startBlueScore = wasAcceptedEarlier ? await getStartBlueScore(db) : undefined;

  return slices.map(keys, (key) => {
    const found = rows.get(key);
    if (found === undefined) throw new Error(`Transaction ${key} is missing`);
    const shown = withBody(found, inputs.get(key) ?? []);
    return toRestTransaction(
      shown.row,
      {
        blocks: blocks.get(key) ?? [],
        inputs: shown.inputs,
        outputs: outputs.get(key) ?? [],
        spenders: spenders.get(key) ?? [],
      },
      { sinkBlueScore: state.sinkBlueScore, startBlueScore },
    );
  });
}

const isAcceptedEarlier = (row: RestTransactionRow): boolean => row.is_accepted && row.accepting_block_id === null;
