/**
 * The database fails repeatedly during the bootstrap at a pruning point, each time at a later step:
 * the load of the UTXO set resumes, or starts from scratch if a crash has emptied it, and the index
 * equals an undisturbed one (invariants 1 and 5).
 */
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { checkUtxoCommitment } from '@kasgres/verification';
import { loadedUtxos, pruneBeforeEarlierHour } from '../simulation/bootstraps-harness.ts';
import { FAULTS, failAtEach, holdAt, prepareSteps, release, removeSteps, stopAt } from './held-steps.ts';
import { emptyDatabase, expectRecovery, follow, openHarness } from './harness.ts';

/** In the order of the indexer. */
const STEPS = [
  'bootstrap: truncate loaded UTXOs',
  'bootstrap: piece of the UTXO set',
  'bootstrap: commit of a piece',
  'bootstrap: UTXOs',
  'bootstrap: commit',
  'batch',
  'rebuild UTXOs',
  'rebuild hourly changes',
  // The hours are committed before.
  'rebuild intervals',
  'commit that admits requests',
];

const TIMEOUT_MS = 300_000;

const harness = await openHarness('start', { commitsToUtxos: true });
// Transactions accepted in an hour before that of the bootstrap block, by the blocks' own times,
// must not count twice.
pruneBeforeEarlierHour(harness.simulatedDag, 80);
harness.simulatedDag.mine(400, 2);

beforeEach(async () => {
  await emptyDatabase(harness);
  await prepareSteps(harness);
});
afterAll(() => harness.close());

describe.each(FAULTS)('the bootstrap at a pruning point recovers when %s', (_, fail) => {
  test(
    'at each of its steps',
    async () => {
      await holdAt(harness, STEPS[0] ?? '');
      const indexer = follow(harness, { batchTransactions: '40' });
      await failAtEach(harness, indexer, STEPS, fail);
      await expectRecovery(harness, indexer);
      expect(await checkUtxoCommitment(harness.database.pool)).toEqual([]);
      expect(await loadedUtxos(harness.database.pool)).toBe(0);
      await removeSteps(harness);
    },
    TIMEOUT_MS,
  );
});

test(
  'the indexer stops during the write of the UTXO set, and commits none of it',
  async () => {
    const step = 'bootstrap: UTXOs';
    await holdAt(harness, step);
    await stopAt(harness, follow(harness), step);
    const { rows } = await harness.database.pool.query(
      'select from bootstrap_blocks union all select from bootstrap_utxos',
    );
    expect(rows).toEqual([]);
    await release(harness, step);
    await expectRecovery(harness, follow(harness));
  },
  TIMEOUT_MS,
);
