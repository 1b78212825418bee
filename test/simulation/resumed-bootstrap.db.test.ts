/**
 * A UTXO set that is loaded in several pieces: the pieces loaded before a stop are kept and not
 * read again.
 */
import { expect, test } from 'vitest';
import { buildTransaction, type DagTransaction, leastFee, withDerived } from '@kasgres/devnet';
import { blockOn, scriptOf } from '@kasgres/devnet/testing';
import {
  expectStateOfSimulatedDag,
  followToTheTip,
  loadedUtxos,
  pruneAbove,
  createPruningHarness,
  bootstrapsOf,
  visibleRows,
} from './bootstraps-harness.ts';
import { freshDatabase, type Harness } from '../support/harness.ts';
import { CHUNK_UTXOS, PARAMS, startIndexing, type SimulatedDag } from '../support/simulated-dag.ts';

const TIMEOUT_MS = 300_000;
/** The loader commits this many UTXOs at once. */
const SEGMENT = 50_000;
const SPLIT_INTO = 900;
/** Enough to be split into many UTXOs above the dust limit. */
const SUBSIDY = 5_000_000_000_000n;

/** Splits mature rewards until there are more UTXOs than this. */
function makeUtxos(simulatedDag: SimulatedDag, count: number): void {
  const { node } = simulatedDag;
  const { utxos, params } = node.consensus;
  while (utxos.size <= count) {
    const { daaScore } = node.consensus.virtual;
    const mature = utxos.values().find(({ isCoinbase, blockDaaScore }) => {
      return isCoinbase && Number(blockDaaScore) + params.coinbaseMaturity <= daaScore;
    });
    node.receive(blockOn(node, { payments: mature === undefined ? [] : [split(mature)] }));
  }
}

function split(entry: Parameters<typeof buildTransaction>[0]['utxos'][number]['entry']): DagTransaction {
  const fee = leastFee({ utxos: 1, outputs: SPLIT_INTO, payload: 0 });
  const amount = Math.floor((Number(entry.amount) - fee) / SPLIT_INTO);
  const outputs = Array.from({ length: SPLIT_INTO }, (_, index) => ({
    amount,
    scriptPublicKey: scriptOf(index % 250),
  }));
  const utxos = [{ entry, redeemScript: undefined }];
  return withDerived(buildTransaction({ version: 0, utxos, outputs, payload: new Uint8Array(0) }));
}

/** Stops the load after its first piece. */
async function loadFirstPiece({ simulatedDag, database }: Harness): Promise<void> {
  simulatedDag.p2pFaults.plan = (chunk) => (chunk * CHUNK_UTXOS > SEGMENT ? { kind: 'silent' } : undefined);
  const indexer = startIndexing(simulatedDag, database.url);
  await expect.poll(() => loadedUtxos(database.pool), { timeout: TIMEOUT_MS }).toBe(SEGMENT);
  await indexer.stop();
  expect(await visibleRows(database.pool)).toEqual({});
}

test(
  'a stopped load of a UTXO set resumes if the pruning point is the same',
  async () => {
    const harness = await createPruningHarness('resumed', { params: { ...PARAMS, subsidy: SUBSIDY } });
    const { simulatedDag } = harness;
    makeUtxos(simulatedDag, SEGMENT + 5_000);
    simulatedDag.node.prune(simulatedDag.node.dag.chainBlocks.at(-2)?.hash ?? '');
    const other = { ...harness, database: await freshDatabase() };
    await loadFirstPiece(harness);
    await loadFirstPiece(other);

    // A second read of these UTXOs would get altered ones.
    simulatedDag.p2pFaults.plan = (chunk) => (chunk === 3 ? { kind: 'altered' } : undefined);
    await followToTheTip(harness);
    await expectStateOfSimulatedDag(harness);

    simulatedDag.p2pFaults.plan = undefined;
    const start = pruneAbove(simulatedDag, 3);
    await followToTheTip(other);
    expect((await bootstrapsOf(other.database.pool)).map(({ hash }) => hash)).toEqual([start.hash]);
    await expectStateOfSimulatedDag(other);
  },
  TIMEOUT_MS,
);
