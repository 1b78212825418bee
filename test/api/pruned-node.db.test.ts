/**
 * The API on what the indexer makes of a node that has pruned, and of one that prunes while nobody
 * follows it: walks give what the node gives from its pruning point on, and what the node no more
 * has is a gap. Other responses are covered in starts.db.test.ts.
 */
import { createKey } from '@kasgres/database';
import { createTestDatabase } from '@kasgres/database/testing';
import { NodeClient } from '@kasgres/node';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectedBlock } from '../support/compare/expected.ts';
import { type Program, startApi } from '../support/programs.ts';
import type { Harness } from '../support/harness.ts';
import { followToTheTip, pruneAbove } from '../simulation/bootstraps-harness.ts';
import { SimulatedDag } from '../support/simulated-dag.ts';
import { ApiClient } from '../support/api-client.ts';
import type { ApiResponse } from '../support/openapi.ts';

const BLOCKS = '/v1/rpc/getBlocks';
const VIRTUAL_CHAIN = '/v1/rpc/getVirtualChainFromBlock';

const post = (path: string, body: object): Promise<ApiResponse> => api.postChecked(path, body);

let harness: Harness;
let program: Program;
let api: ApiClient;
let start: string;

/** The seed is fixed: these tests are about the API. */
beforeAll(async () => {
  const simulatedDag = await SimulatedDag.start('pruned', undefined, { commitsToUtxos: true });
  const node = new NodeClient({ url: simulatedDag.server.url });
  harness = { simulatedDag, node, database: await createTestDatabase() };
  start = pruneAbove(simulatedDag, 60).hash;
  await followToTheTip(harness);
  const { key } = await createKey(harness.database.kysely, { name: 'test' });
  const started = await startApi({ nodeUrl: simulatedDag.server.url, databaseUrl: harness.database.url });
  program = started.program;
  api = new ApiClient(started.url, key);
});
afterAll(async () => {
  await program?.stop();
  await harness?.node.close();
  harness?.simulatedDag.stop();
  await harness?.database.drop();
});

/**
 * From a block of the node's to the sink, page by page; the order of what is not merged yet, and of
 * children, is nobody's.
 */
async function expectBlocksOfNode(from: string): Promise<void> {
  const { node } = harness;
  let lowHash = from;
  for (;;) {
    const request = { lowHash, includeBlocks: true, includeTransactions: true };
    const ofNode = await node.call('getBlocks', request);
    const { json } = await post(BLOCKS, request);
    const hashes = json['blockHashes'] as string[];
    expect(hashes.toSorted()).toEqual(ofNode.blockHashes.toSorted());
    const wanted = new Map(
      ofNode.blocks.map((block) => [block.verboseData?.hash, expectedBlock(block, { withTransactions: true })]),
    );
    for (const block of json['blocks'] as BlockJson[]) {
      expect(withoutOrder(block)).toEqual(withoutOrder(wanted.get(block.verboseData.hash) as unknown as BlockJson));
    }
    const last = hashes.at(-1) as string;
    if (last === lowHash || hashes.includes((await node.call('getSink', {})).sink)) return;
    lowHash = last;
  }
}

interface BlockJson {
  verboseData: { hash: string; childrenHashes: string[] };
}

const withoutOrder = (block: BlockJson): BlockJson => ({
  ...block,
  verboseData: { ...block.verboseData, childrenHashes: block.verboseData.childrenHashes.toSorted() },
});

async function expectChainOfNode(from: string): Promise<void> {
  const request = { startHash: from, includeAcceptedTransactionIds: true };
  const ofNode = await harness.node.call('getVirtualChainFromBlock', request);
  const { json } = await post(VIRTUAL_CHAIN, request);
  expect(json).toEqual({
    removedChainBlockHashes: [],
    addedChainBlockHashes: ofNode.addedChainBlockHashes,
    acceptedTransactionIds: ofNode.acceptedTransactionIds.map(({ acceptingBlockHash, acceptedTransactionIds }) => ({
      acceptingBlockHash,
      acceptedTransactionIds,
    })),
  });
}

interface TransactionJson {
  fee: string | null;
  inputs: { previousOutput: { transactionId: string; amount: string | null } }[];
}

/** Every transaction that spends UTXOs from before the start. */
async function expectInputsKnown(): Promise<void> {
  const { rows } = await harness.database.pool.query<{ id: string }>(
    `select distinct encode(t.transaction_id, 'hex') as id
     from transaction_inputs i join pre_bootstrap_transactions e on e.id = i.previous_transaction_id
       join transactions t on t.id = i.transaction_id
     where t.accepting_index is not null limit 500`,
  );
  expect(rows.length).toBeGreaterThan(0);
  const { json } = await post('/v1/transactions', { transactionIds: rows.map(({ id }) => id) });
  const transactions = json['transactions'] as TransactionJson[];
  expect(transactions).toHaveLength(rows.length);
  for (const { fee, inputs } of transactions) {
    expect(fee).not.toBeNull();
    for (const { previousOutput } of inputs) expect(previousOutput.amount).not.toBeNull();
  }
}

test('it responds like the node from the pruning point on', async () => {
  await expectBlocksOfNode(start);
  await expectChainOfNode(start);
  await expectInputsKnown();
  const { json } = await api.getChecked('/v1/status');
  expect(json).toMatchObject({ firstBlock: start, starts: [{ hash: start }], gaps: [], utxoSetLoad: null });
});

test('it responds like the node behind a gap, and names the gap', async () => {
  const { simulatedDag } = harness;
  const after = simulatedDag.node.dag.sink.hash;
  const before = pruneAbove(simulatedDag, 20, simulatedDag.node.dag.sink).hash;
  await followToTheTip(harness, { ON_GAP: 'record' });
  await expectBlocksOfNode(before);
  await expectChainOfNode(before);
  await expectInputsKnown();
  const sink = await api.getChecked('/v1/rpc/getSink');
  expect(sink.headers.get('x-kasgres-gaps')).toBe('1');
  expect((await api.getChecked('/v1/status')).json).toMatchObject({
    starts: [{ hash: start }, { hash: before }],
    gaps: [{ afterBlock: after, beforeBlock: before }],
  });
  const inTheWay = {
    statusCode: 409,
    message: `The chain is not indexed between ${after} and ${before}: continue from the latter`,
  };
  const request = { startHash: start, includeAcceptedTransactionIds: false };
  const added = (await post(VIRTUAL_CHAIN, request)).json['addedChainBlockHashes'] as string[];
  expect(added.at(-1)).toBe(after);
  expect((await post(VIRTUAL_CHAIN, { ...request, startHash: after })).json).toEqual(inTheWay);
  expect((await post(BLOCKS, { lowHash: after })).json).toEqual(inTheWay);
});
