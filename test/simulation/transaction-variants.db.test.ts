/**
 * Only the node knows which variant of a transaction it accepted, and a non-standard script that
 * the sink accepts keeps it from telling about the chain block below
 * (packages/indexer/src/source/find-sources.ts). An index that asked before knows it; another one
 * learns it with the next block.
 */
import type { Connection } from '@kasgres/database';
import {
  type BlockBody,
  buildTransaction,
  type DagTransaction,
  type Fault,
  leastFee,
  type UtxoEntry,
  withDerived,
  withOtherSignatures,
} from '@kasgres/devnet';
import { blake2b256, toHex } from '@kasgres/kaspa';
import { type AnyOp, type NodeClient, NodeRpcError } from '@kasgres/node';
import { sleep } from '@kasgres/runtime';
import { expect, test } from 'vitest';
import { blockOn, FEE, payment, scriptOf, siblings } from '@kasgres/devnet/testing';
import { onTestEnd, atRest, expectRight, indexFromScratch, createHarness, type Harness } from '../support/harness.ts';
import { PARAMS, startIndexing, type SimulatedDag } from '../support/simulated-dag.ts';

const VARIANTS_OF = 'getVirtualChainFromBlockV2';
const AMBIGUOUS = 300;

/** These tests know which variants can be told apart. */
const HONEST = { hostileRate: 0, applicationRate: 0 };

test('a variant that the node cannot tell at once is known with the next block', async () => {
  const harness = await createHarness('several variants', undefined, undefined, {
    ...HONEST,
    reorgRate: 0,
    duplicateRate: 0.8,
    variantRate: 1,
    nonStandardRate: 0.15,
  });
  const { simulatedDag, database, node } = harness;
  const indexer = startIndexing(simulatedDag, database.url);
  let known: KnownVariant | undefined;
  while (known === undefined) {
    simulatedDag.mine(1);
    await atRest(database, node, indexer);
    known = await findUntellable(database, node);
  }
  const late = await indexFromScratch(harness);
  expect(await findAcceptedVariant(late, known)).toBeNull();
  await expectRight(harness);

  const lateIndexer = startIndexing(simulatedDag, late.url);
  const sink = () => simulatedDag.node.consensus.sink.header.blueScore;
  const before = sink();
  while (sink() === before) simulatedDag.mine(1);
  await atRest(database, node, indexer);
  await atRest(late, node, lateIndexer);
  expect(await findAcceptedVariant(late, known)).toEqual(known.hash);
  await expectRight(harness);
  await indexer.stop();
  await lateIndexer.stop();
});

/** Counts the requests for accepted variants and injects their faults. */
class VariantRequests {
  count = 0;
  fault: Fault | undefined;

  plan = (op: AnyOp): Fault | undefined => {
    if (op !== VARIANTS_OF) return undefined;
    this.count += 1;
    return this.fault;
  };
}

test('one request tells the variants of all 300 ambiguous ids of a chain block', async () => {
  const requests = new VariantRequests();
  const harness = await createHarness('many variants', requests.plan, undefined, HONEST);
  const { simulatedDag, database, node } = harness;
  const indexer = startIndexing(simulatedDag, database.url);
  onTestEnd(() => indexer.stop());
  mergeAmbiguousIds(simulatedDag);
  await atRest(database, node, indexer);
  expect(await countAmbiguous(harness)).toEqual({ ids: AMBIGUOUS, unresolved: 0 });
  expect(requests.count).toBe(1);
  await expectRight(harness);
});

test('a node that cannot tell is asked ever less often, and the index resolves the variants when it restarts', async () => {
  const requests = new VariantRequests();
  const harness = await createHarness('untellable variants', requests.plan, undefined, HONEST);
  const { simulatedDag, database, node } = harness;
  const indexer = startIndexing(simulatedDag, database.url);
  onTestEnd(() => indexer.stop());
  requests.fault = { kind: 'error', message: 'The address is invalid' };
  mergeAmbiguousIds(simulatedDag);
  for (let blocks = 0; blocks < 30; blocks += 1) {
    simulatedDag.node.receive(blockOn(simulatedDag.node));
    await atRest(database, node, indexer);
  }
  expect(await countAmbiguous(harness)).toEqual({ ids: AMBIGUOUS, unresolved: AMBIGUOUS });
  // After 1, 2, 3, 5, 9, 17 chain blocks. The next is after 33.
  expect(requests.count).toBeGreaterThanOrEqual(6);
  expect(requests.count).toBeLessThanOrEqual(7);

  requests.fault = undefined;
  requests.count = 0;
  await indexer.stop();
  const restarted = startIndexing(simulatedDag, database.url);
  onTestEnd(() => restarted.stop());
  simulatedDag.node.receive(blockOn(simulatedDag.node));
  await atRest(database, node, restarted);
  expect(await countAmbiguous(harness)).toEqual({ ids: AMBIGUOUS, unresolved: 0 });
  expect(requests.count).toBe(1);
  await expectRight(harness);
});

const PROGRAM = Uint8Array.of(0xb9, 0x75, 0x51);
const PROGRAM_HASH = blake2b256(PROGRAM);
const SCRIPT_HASH = { version: 0, script: Buffer.from(`aa20${toHex(PROGRAM_HASH)}87`, 'hex') };

test('a variant that becomes known late may be the first in its chain block to reveal a program', async () => {
  const requests = new VariantRequests();
  const harness = await createHarness('first reveal', requests.plan, undefined, HONEST);
  const { simulatedDag, database, node } = harness;
  const { node: simulated } = simulatedDag;
  const indexer = startIndexing(simulatedDag, database.url);
  onTestEnd(() => indexer.stop());
  const [first, second] = payProgram(simulatedDag).map((entry) => {
    const outputs = [{ amount: Number(entry.amount) - FEE, scriptPublicKey: scriptOf(4) }];
    const utxos = [{ entry, redeemScript: PROGRAM }];
    return withDerived(buildTransaction({ version: 0, utxos, outputs, payload: new Uint8Array(0) }));
  }) as [DagTransaction, DagTransaction];
  requests.fault = { kind: 'error', message: 'The address is invalid' };
  const variant = withDerived(withOtherSignatures(first, { broken: false }));
  for (const block of siblings(simulated, [[first], [variant, second]])) simulated.receive(block);
  simulated.receive(blockOn(simulated));
  await atRest(database, node, indexer);
  expect(await countAmbiguous(harness)).toEqual({ ids: 1, unresolved: 1 });

  requests.fault = undefined;
  while ((await countAmbiguous(harness)).unresolved > 0) {
    simulated.receive(blockOn(simulated));
    await atRest(database, node, indexer);
  }
  const { rows } = await database.pool.query('select transaction_id, spend_count from kaspa.programs where hash = $1', [
    toHex(PROGRAM_HASH),
  ]);
  expect(rows).toEqual([{ transaction_id: toHex(first.transactionId), spend_count: 2n }]);
  await expectRight(harness);
});

/** Pays two outputs to the hash of the program. Returns these. */
function payProgram(simulatedDag: SimulatedDag): UtxoEntry[] {
  const { node } = simulatedDag;
  const [entry] = matureUtxos(simulatedDag);
  if (entry === undefined) throw new Error('no coinbase is mature');
  const output = { amount: Math.floor((Number(entry.amount) - FEE) / 2), scriptPublicKey: SCRIPT_HASH };
  const utxos = [{ entry, redeemScript: undefined }];
  const outputs = [output, output];
  const split = withDerived(buildTransaction({ version: 0, utxos, outputs, payload: new Uint8Array(0) }));
  node.receive(blockOn(node, { payments: [split] }));
  node.receive(blockOn(node));
  return node.consensus.utxos.utxosOf(SCRIPT_HASH);
}

test('a slow node does not keep the index from the tip', async () => {
  const requests = new VariantRequests();
  const harness = await createHarness('slow variants', requests.plan, undefined, HONEST);
  const { simulatedDag, database, node } = harness;
  const indexer = startIndexing(simulatedDag, database.url);
  onTestEnd(() => indexer.stop());
  const ms = 20_000;
  requests.fault = { kind: 'delay', ms };
  const askedAt = performance.now();
  mergeAmbiguousIds(simulatedDag);
  await atRest(database, node, indexer);
  simulatedDag.node.receive(blockOn(simulatedDag.node));
  await atRest(database, node, indexer);
  expect(performance.now() - askedAt).toBeLessThan(ms);
  expect(await countAmbiguous(harness)).toEqual({ ids: AMBIGUOUS, unresolved: AMBIGUOUS });

  while ((await countAmbiguous(harness)).unresolved > 0) {
    simulatedDag.node.receive(blockOn(simulatedDag.node));
    await atRest(database, node, indexer);
    await sleep(500);
  }
  expect(requests.count).toBe(1);
});

test('the variant with number 32,768 of an id is indexed as any other', async () => {
  const harness = await createHarness('32,768 variants', undefined, undefined, HONEST);
  const { simulatedDag, database, node } = harness;
  const [utxo] = matureUtxos(simulatedDag);
  const original = payment(utxo, scriptOf(4));
  const variant = withDerived(withOtherSignatures(original, { broken: false }));
  const [first, second] = siblings(simulatedDag.node, [[original], [variant]]);
  const mineAndIndex = async (block: BlockBody | undefined): Promise<void> => {
    if (block === undefined) throw new Error('no block');
    const indexer = startIndexing(simulatedDag, database.url);
    simulatedDag.node.receive(block);
    await atRest(database, node, indexer);
    await indexer.stop();
  };
  await mineAndIndex(first);
  // These rows are as if other blocks had carried one variant each.
  await database.pool.query(
    `insert into transaction_variants (transaction_id, variant, hash, storage_mass, compute_mass, json_bytes)
     select t.id, n, sha256(n::text::bytea), 0, 0, 0 from transactions t
       cross join generate_series(1, 32767) n where t.transaction_id = $1`,
    [Buffer.from(original.transactionId)],
  );
  await mineAndIndex(second);
  await mineAndIndex(blockOn(simulatedDag.node));
  const { rows } = await database.pool.query(
    `select t.accepted_variant, k.hash, i.signature_script
       from transactions t join kaspa.transactions k on k.transaction_key = t.id
         join kaspa.inputs i on i.transaction_key = t.id
      where t.transaction_id = $1`,
    [Buffer.from(original.transactionId)],
  );
  const [input] = variant.inputs;
  expect(rows).toEqual([
    {
      accepted_variant: 32_768,
      hash: toHex(variant.hash),
      signature_script: input && toHex(input.signatureScript),
    },
  ]);
  await database.pool.query('delete from transaction_variants where variant < 32768');
  await expectRight(harness);
});

/** Mines until one miner's rewards are mature. */
function matureUtxos({ node }: SimulatedDag): UtxoEntry[] {
  const miner = scriptOf(2);
  for (let made = 0; made < PARAMS.coinbaseMaturity + 10; made += 1) {
    node.receive(blockOn(node, { miner, nonce: made }));
  }
  return node.consensus.utxos.utxosOf(miner);
}

/** Mines a chain block that merges two blocks with the same payments and different signatures. */
function mergeAmbiguousIds(simulatedDag: SimulatedDag): void {
  const { node } = simulatedDag;
  const [utxo] = matureUtxos(simulatedDag);
  if (utxo === undefined) throw new Error('no coinbase is mature');
  const fee = leastFee({ utxos: 1, outputs: AMBIGUOUS, payload: 0 });
  const amount = Math.floor((Number(utxo.amount) - fee) / AMBIGUOUS);
  const recipient = scriptOf(3);
  const outputs = Array.from({ length: AMBIGUOUS }, () => ({ amount, scriptPublicKey: recipient }));
  const utxos = [{ entry: utxo, redeemScript: undefined }];
  const split = withDerived(buildTransaction({ version: 0, utxos, outputs, payload: new Uint8Array(0) }));
  node.receive(blockOn(node, { payments: [split] }));
  node.receive(blockOn(node));
  const payments = node.consensus.utxos.utxosOf(recipient).map((each) => payment(each, scriptOf(4)));
  const others = payments.map((each): DagTransaction => withDerived(withOtherSignatures(each, { broken: false })));
  for (const block of siblings(node, [payments, others])) node.receive(block);
  node.receive(blockOn(node));
}

async function countAmbiguous({ database }: Harness): Promise<{ ids: number; unresolved: number }> {
  const { rows } = await database.pool.query<{ ids: number; unresolved: number }>(
    `select count(*)::integer as ids, count(*) filter (where accepted_variant is null)::integer as unresolved
       from transactions where accepting_index is not null
         and id in (select transaction_id from transaction_variants)`,
  );
  if (rows[0] === undefined) throw new Error('no count');
  return rows[0];
}

interface KnownVariant {
  transaction_id: Buffer;
  /** The hash of the variant, whose number may differ between indexes. */
  hash: Buffer;
  parent: string;
}

/** The accepted variant of a transaction `t`; null while it is unknown. */
const ACCEPTED_HASH = `
  case when t.accepted_variant = 0 then t.hash
       else (select b.hash from transaction_variants b
         where b.transaction_id = t.id and b.variant = t.accepted_variant) end`;

type Queryable = Pick<Connection, 'pool'>;

/** Returns a variant that this index knows and the node no longer tells. */
async function findUntellable({ pool }: Queryable, node: NodeClient): Promise<KnownVariant | undefined> {
  const { rows } = await pool.query<KnownVariant>(
    `select t.transaction_id, ${ACCEPTED_HASH} as hash, encode(parent.hash, 'hex') as parent
       from checkpoint
       join blocks sink on sink.id = checkpoint.block_id
       join blocks below on below.id = sink.selected_parent_id
         and below.blue_score = sink.blue_score - 1
       join blocks parent on parent.id = below.selected_parent_id
       join chain_blocks accepting on accepting.block_id = below.id
       join transactions t on t.accepting_index = accepting.index
      where t.accepted_variant is not null
        and (select count(distinct bt.variant) from block_transactions bt
          join blocks merged on merged.id = bt.block_id
              where bt.transaction_id = t.id and merged.merging_block_id = below.id) > 1`,
  );
  const [row] = rows;
  if (row === undefined) return undefined;
  try {
    await node.call('getVirtualChainFromBlockV2', { startHash: row.parent });
    return undefined;
  } catch (error) {
    if (error instanceof NodeRpcError) return row;
    throw error;
  }
}

async function findAcceptedVariant({ pool }: Queryable, { transaction_id: id }: KnownVariant): Promise<Buffer | null> {
  const { rows } = await pool.query<{ hash: Buffer | null }>(
    `select ${ACCEPTED_HASH} as hash from transactions t where t.transaction_id = $1`,
    [id],
  );
  if (rows[0] === undefined) throw new Error('the transaction is missing');
  return rows[0].hash;
}
