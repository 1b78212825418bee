/**
 * The database fails while an index begins at a pruning point, again and again, each time at a later place: the load of the UTXO set goes
 * on, or begins again where a crash has emptied it, and the index equals one that was never disturbed (invariants 1 and 5).
 */
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { checkUtxoCommitment } from '../invariants/hashes.ts';
import { loadedUtxos, pruneBeforeEarlierHour } from '../simulation/starts-stage.ts';
import { FAULTS, failAtEach, holdAt, preparePlaces, removePlaces } from './held-places.ts';
import { emptyDatabase, expectRecovery, follow, openStage } from './stage.ts';

/** In the order in which the indexer comes by. */
const PLACES = [
  'start: the emptying of what was loaded',
  'start: a piece of the set',
  'start: the commit of a piece',
  'start: its coins',
  'start: its commit',
  'a batch',
  'the making of coins',
  'the making of hours',
  // The hours are committed.
  'the making of intervals',
  'the commit that lets questions in',
];

const TIMEOUT_MS = 300_000;

const stage = await openStage('start', { commitsToUtxos: true });
// What was accepted in an earlier hour than that of the start, by the blocks' own times, must not count twice.
pruneBeforeEarlierHour(stage.world, 80);
stage.world.mine(400, 2);

beforeEach(async () => {
  await emptyDatabase(stage);
  await preparePlaces(stage);
});
afterAll(() => stage.close());

describe.each(FAULTS)('%s', (_, fail) => {
  test(
    'at each place of a start at a pruning point',
    async () => {
      await holdAt(stage, PLACES[0] ?? '');
      const indexer = follow(stage, { BATCH_TRANSACTIONS: '40' });
      await failAtEach(stage, indexer, PLACES, fail);
      await expectRecovery(stage, indexer);
      expect(await checkUtxoCommitment(stage.database.pool)).toEqual([]);
      expect(await loadedUtxos(stage.database.pool)).toBe(0);
      await removePlaces(stage);
    },
    TIMEOUT_MS,
  );
});
