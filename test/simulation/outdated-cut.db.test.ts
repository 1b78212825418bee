/**
 * A cut must be prepared again if a batch that is written after its preparation concerns rows that
 * the cut removes or copies.
 */
import {
  completeCut,
  findCutPoint,
  firstKeyOf,
  prepareCut,
  recheck,
  stageNextBootstrap,
} from '@kasgres/indexer/testing';
import { expect, test } from 'vitest';
import { atRest, expectInvariants, type Harness, onTestEnd } from '../support/harness.ts';
import { startIndexing } from '../support/simulated-dag.ts';
import { cluster } from './clusters-harness.ts';
import { createPruningHarness, SHALLOW_MERGES } from './bootstraps-harness.ts';

const DEPTHS = { finalityDepth: 60n, pruningDepth: 70n };
const VARIABLES = { FINALITY_DEPTH: '60', PRUNING_DEPTH: '70', RETENTION: '100' };

const CARRY = `insert into block_transactions (block_id, transaction_id, index,
  variant) select next_block_id, $1, 1, 0 from checkpoint`;
const CARRY_NOT = `delete from block_transactions
  where transaction_id = $1 and block_id = (select next_block_id from checkpoint)`;
const ACCEPT = 'update transactions set accepting_index = accepting_index + 10000 where id = $1';
const ACCEPT_NOT = 'update transactions set accepting_index = accepting_index - 10000 where id = $1';
const VARY = `insert into transaction_variants (transaction_id, variant, hash, storage_mass,
  compute_mass, json_bytes) values ($1, 99, '', 0, 0, 0)`;
const VARY_NOT = 'delete from transaction_variants where transaction_id = $1 and variant = 99';

/** An index on which nothing has been cut yet, since that waits for clusters. */
async function openIndex(): Promise<Harness> {
  const harness = await createPruningHarness('outdated cut', {}, SHALLOW_MERGES);
  const { simulatedDag, database, node } = harness;
  simulatedDag.mine(60);
  const indexer = startIndexing(simulatedDag, database.url, VARIABLES);
  for (let round = 0; round < 40; round += 1) {
    simulatedDag.mine(10);
    await atRest(database, node, indexer);
  }
  await indexer.stop();
  await cluster(database, { depth: 10n });
  return harness;
}

test('a cut is prepared again if a batch refers to what it removes, or changes what it has copied', {
  timeout: 300_000,
}, async () => {
  const { database, node } = await openIndex();
  const { pool } = database;
  const remover = await pool.connect();
  onTestEnd(async () => remover.release(true));
  const cut = await findCutPoint(remover, { kind: 'blue score', blueScore: 100n }, DEPTHS);
  if (cut === undefined) throw new Error('the chain is too short');
  await stageNextBootstrap(remover, cut, { signal: new AbortController().signal, onProgress: () => undefined });
  await remover.query('begin');
  const prepared = await prepareCut(remover, cut, DEPTHS);
  const someOf = async (transactions: string): Promise<unknown> => {
    const { rows } = await remover.query<{ id: bigint }>(`select id from ${transactions} order by id limit 1`);
    if (rows[0] === undefined) throw new Error(`no row of ${transactions}`);
    return rows[0].id;
  };
  /** Writes as a batch would, and takes it back. */
  const recheckAfter = async (change: string, transaction: unknown, undo: string): Promise<string> => {
    await pool.query(change, [transaction]);
    const found = await recheck(remover, prepared);
    await pool.query(undo, [transaction]);
    expect(await recheck(remover, prepared)).toBe('current');
    return found;
  };

  const kept = await someOf('cut_kept_transactions join transactions using (id) where accepting_index is not null');
  expect(await recheckAfter(ACCEPT, kept, ACCEPT_NOT)).toBe('outdated');
  expect(await recheckAfter(VARY, kept, VARY_NOT)).toBe('outdated');
  expect(await recheckAfter(CARRY, kept, CARRY_NOT)).toBe('current');
  const removed = await someOf('transactions where id not in (select id from cut_kept_transactions)');
  expect(await recheckAfter(CARRY, removed, CARRY_NOT)).toBe('outdated');
  // As if the first block of the new generation had merged it.
  const ofCut = await someOf(`transactions where id >= ${firstKeyOf(cut.generation)}`);
  await remover.query('insert into cut_removed_transactions values ($1)', [ofCut]);
  expect(await recheckAfter(CARRY, ofCut, CARRY_NOT)).toBe('outdated');
  await remover.query('delete from cut_removed_transactions where id = $1', [ofCut]);

  expect(await completeCut(remover, prepared)).toBe('cut');
  await remover.query('commit');
  await expectInvariants(pool, node);
});
