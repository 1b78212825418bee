/**
 * Batches that are written after a cut was prepared may concern rows that it removes or copies:
 * anybody can mine old transactions again, and spend old outputs.
 */
import { ANYONES_SCRIPT, type DagTransaction, withDerived, withOtherSignatures } from '@kasgres/devnet';
import {
  catchUp,
  completeCut,
  dropDetached,
  findCutPoint,
  prepareCut,
  stageNextBootstrap,
} from '@kasgres/indexer/testing';
import { type Outpoint, toHex } from '@kasgres/kaspa';
import { expect, test } from 'vitest';
import { HostileMiner } from '../node/load/hostile-miner.ts';
import { atRest, expectInvariants, freshDatabase, type Harness, onTestEnd, SEED } from '../support/harness.ts';
import { PARAMS, startIndexing } from '../support/simulated-dag.ts';
import { spending } from '../support/unaccepted.ts';
import { cluster } from './clusters-harness.ts';
import { createPruningHarness, SHALLOW_MERGES } from './bootstraps-harness.ts';
import { expectBootstrappedAtFirst } from './retention-oracle.ts';

const DEPTHS = { finalityDepth: 60n, pruningDepth: 70n };
const VARIABLES = { FINALITY_DEPTH: '60', PRUNING_DEPTH: '70', RETENTION: '100' };

/** So many that the index counts them. */
const COPIES = 20;
const REPEATED = spending(
  [{ transactionId: Buffer.alloc(32, 9), index: 1 }],
  [{ amount: 1n, scriptPublicKey: ANYONES_SCRIPT }],
);

/** An index on which nothing has been cut yet, since that waits for clusters. */
async function openIndex(): Promise<Harness> {
  const harness = await createPruningHarness('outdated cut', {}, SHALLOW_MERGES);
  const { simulatedDag, database, node } = harness;
  simulatedDag.mine(60);
  const miner = await HostileMiner.begin(node, { seed: SEED, coinbaseMaturity: PARAMS.coinbaseMaturity });
  for (let made = 0; made < COPIES; made += 1) await miner.mine([[REPEATED]]);
  const indexer = startIndexing(simulatedDag, database.url, VARIABLES);
  for (let round = 0; round < 40; round += 1) {
    simulatedDag.mine(10);
    await atRest(database, node, indexer);
  }
  await indexer.stop();
  await cluster(database, { depth: 10n });
  return harness;
}

/** Prepares a cut of the index. */
async function prepare({ database }: Harness) {
  const remover = await database.pool.connect();
  onTestEnd(async () => remover.release(true));
  const cut = await findCutPoint(remover, { kind: 'blue score', blueScore: 100n }, DEPTHS);
  if (cut === undefined) throw new Error('the chain is too short');
  await stageNextBootstrap(remover, cut, { signal: new AbortController().signal, onProgress: () => undefined });
  await remover.query('begin');
  return { remover, cut, prepared: await prepareCut(remover, cut, DEPTHS) };
}

/** Returns old transactions that do not spend each other, so that a block may contain all. */
async function listOld({ simulatedDag, database }: Harness): Promise<DagTransaction[]> {
  const { rows } = await database.pool.query<{ id: string }>(
    `select encode(transaction_id, 'hex') as id from transactions
      where accepting_index between 30 and 60 and subnetwork_id = 0 order by id`,
  );
  const all = simulatedDag.bodies.flatMap(({ transactions }) => transactions);
  const byId = new Map(all.map((transaction) => [toHex(transaction.transactionId), transaction]));
  const related = new Set<string>();
  return rows.flatMap(({ id }) => {
    const transaction = byId.get(id);
    const ids = [
      id,
      ...(transaction?.inputs ?? []).map(({ previousOutpoint }) => toHex(previousOutpoint.transactionId)),
    ];
    if (transaction === undefined || ids.some((each) => related.has(each))) return [];
    for (const each of ids) related.add(each);
    return [transaction];
  });
}

/** The output may be unspent. */
const firstOutputOf = ({ transactionId }: DagTransaction): Outpoint => ({ transactionId, index: 0 });
const spend = (transaction: DagTransaction, payload: number): DagTransaction =>
  spending([firstOutputOf(transaction)], [{ amount: 1n, scriptPublicKey: ANYONES_SCRIPT }], payload);
const resign = (transaction: DagTransaction): DagTransaction =>
  withDerived(withOtherSignatures(transaction, { broken: true }));

test('a cut keeps the old transactions that blocks carry again after its preparation, and completes', {
  timeout: 300_000,
}, async () => {
  const harness = await openIndex();
  const { simulatedDag, database, node } = harness;
  const old = await listOld(harness);
  expect(old.length).toBeGreaterThan(20);
  const miner = await HostileMiner.begin(node, { seed: SEED, coinbaseMaturity: PARAMS.coinbaseMaturity });
  const follow = async (...contents: DagTransaction[][]): Promise<void> => {
    await miner.mine(contents);
    await miner.mineEmpty(2);
    const indexer = startIndexing(simulatedDag, database.url);
    await atRest(database, node, indexer);
    await indexer.stop();
  };
  const [kept, removed] = [old.slice(0, 5), old.slice(5)];
  // The cut keeps copies of the first ones, and forgets outputs of the others that were spent.
  await follow(
    kept,
    removed.slice(0, 8).map((each) => spend(each, 1)),
  );
  const { remover, prepared } = await prepare(harness);
  for (const [round, transaction] of removed.slice(0, 6).entries()) {
    const again = removed[round + 6] as DagTransaction;
    await follow(
      [transaction, ...kept.map(resign)],
      [spend(again, 2)],
      [resign(transaction), again],
      [spend(transaction, 3)],
    );
    expect(await catchUp(remover, prepared)).toBe('current');
  }
  await follow([REPEATED, resign(removed[0] as DagTransaction)], [spend(removed[15] as DagTransaction, 4)]);
  expect(await completeCut(remover, prepared)).toBe('cut');
  await remover.query('commit');

  await dropDetached(remover);
  await follow(removed.slice(0, 20));
  await expectInvariants(database.pool, node);
  const whole = await freshDatabase();
  const indexer = startIndexing(simulatedDag, whole.url);
  await atRest(whole, node, indexer);
  await indexer.stop();
  await expectBootstrappedAtFirst(database, whole);
});
