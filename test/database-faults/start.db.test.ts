/**
 * The database fails while an index begins at a pruning point, again and again, each time at a later place: the load of the UTXO set goes
 * on, or begins again where a crash has emptied it, and the index equals one that was never disturbed (invariants 1 and 5).
 */
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { checkUtxoCommitment } from '@kasgres/cli';
import { loadedUtxos, pruneBeforeEarlierHour } from '../simulation/starts-harness.ts';
import { FAULTS, failAtEach, holdAt, preparePlaces, removePlaces } from './held-places.ts';
import { emptyDatabase, expectRecovery, follow, openHarness } from './harness.ts';

/** In the order in which the indexer comes by. */
const PLACES = [
  'start: the emptying of what was loaded',
  'start: a piece of the set',
  'start: the commit of a piece',
  'start: its UTXOs',
  'start: its commit',
  'a batch',
  'the making of UTXOs',
  'the making of hours',
  // The hours are committed.
  'the making of intervals',
  'the commit that lets requests in',
];

const TIMEOUT_MS = 300_000;

const harness = await openHarness('start', { commitsToUtxos: true });
// What was accepted in an earlier hour than that of the start, by the blocks' own times, must not count twice.
pruneBeforeEarlierHour(harness.simulatedDag, 80);
harness.simulatedDag.mine(400, 2);

beforeEach(async () => {
  await emptyDatabase(harness);
  await preparePlaces(harness);
});
afterAll(() => harness.close());

describe.each(FAULTS)('%s', (_, fail) => {
  test(
    'at each place of a start at a pruning point',
    async () => {
      await holdAt(harness, PLACES[0] ?? '');
      const indexer = follow(harness, { BATCH_TRANSACTIONS: '40' });
      await failAtEach(harness, indexer, PLACES, fail);
      await expectRecovery(harness, indexer);
      expect(await checkUtxoCommitment(harness.database.pool)).toEqual([]);
      expect(await loadedUtxos(harness.database.pool)).toBe(0);
      await removePlaces(harness);
    },
    TIMEOUT_MS,
  );
});
