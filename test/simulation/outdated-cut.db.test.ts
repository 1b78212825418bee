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
  firstKeyOf,
  forgetContested,
  prepareCut,
  stageNextBootstrap,
} from '@kasgres/indexer/testing';
import { type Outpoint, toHex } from '@kasgres/kaspa';
import { backfillInscriptions } from '@kasgres/state';
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
/** So many that the index keeps who spends the output. */
const SPENDERS = 5;
const FEE = 1_000_000n;
const EARLIER_DECODERS = 0;

/** The output may be unspent. */
const firstOutputOf = ({ transactionId }: DagTransaction): Outpoint => ({ transactionId, index: 0 });
const pay = (from: Outpoint, amount: bigint, payload = 0): DagTransaction =>
  spending([from], [{ amount, scriptPublicKey: ANYONES_SCRIPT }], payload);

const REPEATED = pay({ transactionId: Buffer.alloc(32, 9), index: 1 }, 1n);
const CONTESTED = pay({ transactionId: Buffer.alloc(32, 9), index: 2 }, 1n);

/** A payment of which only the second half is mined early, so that it is not accepted. */
async function listPayments({ database }: Harness): Promise<[first: DagTransaction, second: DagTransaction]> {
  const { rows } = await database.pool.query<{ id: Buffer; index: number; amount: bigint }>(
    `select t.transaction_id as id, u.index, u.amount from utxos u
       join scripts s on s.id = u.script_id join transactions t on t.id = u.transaction_id
      where s.script = $1 order by u.transaction_id limit 1`,
    [Buffer.from(ANYONES_SCRIPT.script)],
  );
  const [utxo] = rows;
  if (utxo === undefined) throw new Error('nobody may spend anything');
  const first = pay({ transactionId: utxo.id, index: utxo.index }, utxo.amount - FEE);
  return [first, pay(firstOutputOf(first), utxo.amount - 2n * FEE)];
}

interface Indexed extends Harness {
  payments: [first: DagTransaction, second: DagTransaction];
}

/** An index on which nothing has been cut yet, since that waits for clusters. */
async function openIndex(): Promise<Indexed> {
  const harness = await createPruningHarness('outdated cut', {}, SHALLOW_MERGES);
  const { simulatedDag, database, node } = harness;
  simulatedDag.mine(60);
  const miner = await HostileMiner.begin(node, { seed: SEED, coinbaseMaturity: PARAMS.coinbaseMaturity });
  for (let made = 0; made < COPIES; made += 1) await miner.mine([[REPEATED]]);
  await miner.mine([[CONTESTED], ...Array.from({ length: SPENDERS }, (_, n) => [spend(CONTESTED, n)])]);
  const indexer = startIndexing(simulatedDag, database.url, VARIABLES);
  await atRest(database, node, indexer);
  const payments = await listPayments(harness);
  await miner.mine([[payments[1]]]);
  for (let round = 0; round < 40; round += 1) {
    simulatedDag.mine(10);
    await atRest(database, node, indexer);
  }
  await indexer.stop();
  await cluster(database, { depth: 10n });
  return { ...harness, payments };
}

/** Prepares a cut of the index. */
async function prepare({ database }: Pick<Harness, 'database'>) {
  const remover = await database.pool.connect();
  onTestEnd(async () => remover.release(true));
  const cut = await findCutPoint(remover, { kind: 'blue score', blueScore: 100n }, DEPTHS);
  if (cut === undefined) throw new Error('the chain is too short');
  await stageNextBootstrap(remover, cut, { signal: new AbortController().signal, onProgress: () => undefined });
  await remover.query('begin');
  return { remover, cut, prepared: await prepareCut(remover, cut, DEPTHS) };
}

type Preparation = Awaited<ReturnType<typeof prepare>>;

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

/** Returns whether the transaction of each contested output is known. */
async function listContested({ database }: Harness): Promise<boolean[]> {
  const { rows } = await database.pool.query<{ known: boolean }>(
    `select exists (select from transactions t where t.id = c.transaction_id)
         or exists (select from pre_bootstrap_transactions e where e.id = c.transaction_id) as known
       from contested_outputs c order by transaction_id, index`,
  );
  return rows.map(({ known }) => known);
}

async function isOldAndAccepted(
  { database }: Harness,
  { transactionId }: DagTransaction,
  { cut }: { cut: { generation: number } },
): Promise<boolean | undefined> {
  const { rows } = await database.pool.query<{ is: boolean }>(
    'select accepting_index is not null and id < $2 as is from transactions where transaction_id = $1',
    [Buffer.from(transactionId), firstKeyOf(cut.generation)],
  );
  return rows[0]?.is;
}

/** Adds what was written since, and compares the acceptance of all copies with it. */
async function expectCurrent({ remover, cut, prepared }: Preparation): Promise<void> {
  expect(await catchUp(remover, prepared)).toBe('current');
  const { rows } = await remover.query(
    `select copied.id from transactions_kept_${cut.generation} copied join transactions t using (id)
      where (copied.accepting_index, copied.accepted_variant) is distinct from (
        case when t.accepting_index > $1 then t.accepting_index end,
        case when t.accepting_index > $1 then t.accepted_variant end)`,
    [cut.chainIndex],
  );
  expect(rows).toEqual([]);
}

/**
 * Returns how many rows of what stays another call of `catchUp` reads when blocks carry many more
 * old transactions again.
 */
async function readsBeside(kept: number, { remover, cut, prepared }: Preparation): Promise<number> {
  const readRows = async (): Promise<number> => {
    const { rows } = await remover.query<{ read: number }>(
      `select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::float8 as read
         from pg_stat_xact_user_tables where relname ~ '_kept_|^cut_'`,
    );
    return rows[0]?.read ?? Number.NaN;
  };
  const copy = async (table: string, key: string, others: string): Promise<void> => {
    const partition = `${table}_kept_${cut.generation}`;
    await remover.query(
      `insert into ${partition}
       select (jsonb_populate_record(sample, jsonb_build_object('${key}', -n) || ${others})).*
         from (select sample from ${table} sample limit 1) one, generate_series(1, ${kept}) n`,
    );
    await remover.query(`analyze ${partition}`);
  };
  await remover.query('savepoint beside');
  await copy('transactions', 'id', `'{"accepting_index": null, "accepted_variant": null}'`);
  await copy('transaction_inputs', 'transaction_id', `'{"amount": null}'`);
  for (const [table, columns] of [
    ['cut_kept_transactions', 'id'],
    ['cut_copies', 'transaction_id'],
    ['cut_lost', 'transaction_id'],
  ] as const) {
    await remover.query(`insert into ${table} (${columns}) select -n from generate_series(1, ${kept}) n`);
    await remover.query(`analyze ${table}`);
  }
  const before = await readRows();
  expect(await catchUp(remover, { ...prepared })).toBe('current');
  const read = (await readRows()) - before;
  await remover.query('rollback to beside');
  return read;
}

/** Decodes inscriptions again. @returns whether that is complete */
async function decodeAgain({ pool }: Harness['database']): Promise<boolean> {
  const client = await pool.connect();
  try {
    await client.query(`set lock_timeout = '10s'`);
    while (await backfillInscriptions(client));
    const { rows } = await client.query<{ version: number }>('select version from inscription_decoders');
    return rows[0]?.version !== EARLIER_DECODERS;
  } finally {
    client.release(true);
  }
}

const spend = (transaction: DagTransaction, payload: number): DagTransaction =>
  pay(firstOutputOf(transaction), 1n, payload);
const resign = (transaction: DagTransaction): DagTransaction =>
  withDerived(withOtherSignatures(transaction, { broken: true }));

test('a cut keeps the old transactions that blocks carry again after its preparation, and completes', {
  timeout: 300_000,
}, async () => {
  const harness = await openIndex();
  const { simulatedDag, database, node, payments } = harness;
  const old = await listOld(harness);
  expect(old.length).toBeGreaterThan(20);
  const miner = await HostileMiner.begin(node, { seed: SEED, coinbaseMaturity: PARAMS.coinbaseMaturity });
  const index = async (): Promise<void> => {
    const indexer = startIndexing(simulatedDag, database.url);
    await atRest(database, node, indexer);
    await indexer.stop();
  };
  const follow = async (...contents: DagTransaction[][]): Promise<void> => {
    await miner.mine(contents);
    await miner.mineEmpty(2);
    await index();
  };
  const [kept, removed] = [old.slice(0, 5), old.slice(5)];
  // The cut keeps copies of the first ones, and forgets outputs of the others that were spent.
  await follow(
    [...kept, payments[1]],
    removed.slice(0, 8).map((each) => spend(each, 1)),
  );
  const preparation = await prepare(harness);
  const { remover, prepared } = preparation;
  await database.pool.query('update inscription_decoders set version = $1', [EARLIER_DECODERS]);
  expect(await decodeAgain(database)).toBe(false);
  for (const [round, transaction] of removed.slice(0, 6).entries()) {
    const again = removed[round + 6] as DagTransaction;
    await follow(
      [transaction, ...kept.map(resign)],
      [spend(again, 2)],
      [resign(transaction), again],
      [spend(transaction, 3)],
    );
    await expectCurrent(preparation);
  }
  // Both are accepted now, when the block that carries the second one is known already.
  await follow([payments[0]]);
  await miner.mine([[payments[1]]]);
  await index();
  await expectCurrent(preparation);
  expect(await isOldAndAccepted(harness, payments[1], prepared)).toBe(false);
  await miner.mineEmpty(2);
  await index();
  expect(await isOldAndAccepted(harness, payments[1], prepared)).toBe(true);
  await expectCurrent(preparation);
  simulatedDag.reorganise(5);
  await index();
  await expectCurrent(preparation);
  await follow([REPEATED, resign(removed[0] as DagTransaction)], [spend(removed[15] as DagTransaction, 4)]);
  const read = await readsBeside(20_000, preparation);
  expect(read).toBeGreaterThan(0);
  expect(read).toBeLessThan(10_000);
  expect(await completeCut(remover, prepared)).toBe('cut');
  await remover.query('commit');

  await dropDetached(remover);
  const contested = await listContested(harness);
  expect(contested).toContain(false);
  await forgetContested(remover);
  expect(await listContested(harness)).toEqual(contested.filter(Boolean));
  await follow(removed.slice(0, 20));
  expect(await decodeAgain(database)).toBe(true);
  await expectInvariants(database.pool, node);
  const whole = await freshDatabase();
  const indexer = startIndexing(simulatedDag, whole.url);
  await atRest(whole, node, indexer);
  await indexer.stop();
  await expectBootstrappedAtFirst(database, whole);
});
