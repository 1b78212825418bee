/**
 * Compares every endpoint, field by field, with the responses of a real node at rest: for every
 * block, transaction, chain block and address. The tolerated differences are in
 * test/support/compare/comparison.ts.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { foundedBy, type UtxoEntry } from '@kasgres/devnet';
import { COINBASE_SUBNETWORK, fromHex, NATIVE_SUBNETWORK, scriptToAddress, toHex } from '@kasgres/kaspa';
import { type NodeClient, type protocol, toTransactionMessage } from '@kasgres/node';
import { checkUtxoCommitment } from '@kasgres/verification';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { ApiClient } from '../support/api-client.ts';
import type { ApiResponse } from '../support/openapi.ts';
import { compareRestBlocks } from '../support/compare/blocks.ts';
import {
  compareBlockPages,
  compareBlocksFromEveryBlock,
  compareCalls,
  compareHashRates,
  compareMempoolByAddresses,
  compareMempoolEntries,
  comparePools,
  compareStates,
  compareTemplate,
  compareTimes,
  compareVirtualChain,
} from '../support/compare/calls.ts';
import { type DagComparison, inParallel, reportOfDifferences } from '../support/compare/comparison.ts';
import { submittedForm } from '../support/compare/expected.ts';
import { type NodeDag, readDag } from '../support/compare/node-dag.ts';
import { compareAcceptance, compareTransactions, readTransactions } from '../support/compare/transactions.ts';
import { compareStateAfterBlock } from '../support/compare/utxos.ts';
import { expectInvariants } from '../support/harness.ts';
import { type IndexedNode, isExternalNode, isWithoutNode, startIndexedNode } from './indexed-node.ts';
import type { Load } from './load/load.ts';
import { IDLE_MINER, mineTemplate } from './load/miner.ts';
import { idOf, outputsOf, type Payment, sign } from './load/payment.ts';
import { draftOf } from './load/traffic.ts';

const MIN_SOMPI = 1_000_000_000n;
const SMALL_SOMPI = 40_000_000;
const FEE_SOMPI = 3_000_000;
/** The greatest 64-bit number. */
const MAX_SEQUENCE = 2n ** 64n - 1n;
const TEMPLATE_DEADLINE_MS = 20_000;

/**
 * Returns payments of both versions, with a payload, a covenant and, since each splits a UTXO, a
 * storage mass.
 */
function createPayments({ keys, wallet }: Load): Payment[] {
  const [plain, second, founding] = [takeUtxo(wallet), takeUtxo(wallet), takeUtxo(wallet)];
  const small = { amount: SMALL_SOMPI, scriptPublicKey: IDLE_MINER };
  const covenant = { authorizingInput: 0, covenantId: foundedBy(founding, [[0, small]]) };
  const outputs = (utxo: UtxoEntry) => [small, restOf(utxo, SMALL_SOMPI + FEE_SOMPI)];
  return [
    draftOf(plain, outputs(plain), { sequence: MAX_SEQUENCE, payload: Buffer.from('by HTTP') }),
    draftOf(second, outputs(second), { version: 1, sequence: MAX_SEQUENCE }),
    draftOf(founding, [{ ...small, covenant }, ...outputs(founding).slice(1)], { version: 1 }),
  ].map((draft) => sign(keys, draft));
}

function takeUtxo(wallet: Load['wallet']): UtxoEntry {
  return wallet.takeStandard(MIN_SOMPI);
}

/** Returns an output to the owner of a UTXO with its amount, less some sompi. */
function restOf({ amount, scriptPublicKey }: UtxoEntry, lessSompi: number) {
  return { amount: Number(amount) - lessSompi, scriptPublicKey };
}

async function submitPayments(api: ApiClient, payments: readonly Payment[]): Promise<string[]> {
  const wrong: string[] = [];
  for (const payment of payments) {
    const response = await submitPayment(api, payment);
    if (response.status !== 200 || response.json['transactionId'] !== idOf(payment)) {
      wrong.push(`submitTransaction ${idOf(payment)}: ${JSON.stringify(response)}`);
    }
  }
  return wrong;
}

function submitPayment(api: ApiClient, { transaction }: Payment): Promise<ApiResponse> {
  return api.post('/v1/rpc/submitTransaction', { transaction: submittedForm(transaction) });
}

/** Submits transactions that the node must refuse, and compares its messages. */
async function compareRefusals(api: ApiClient, { keys, wallet, traffic }: Load, inMempool: Payment): Promise<string[]> {
  const utxo = takeUtxo(wallet);
  const cases: [Payment, RegExp][] = [
    [inMempool, /is already in the mempool$/],
    [traffic.stranger(), /is an orphan where orphan is disallowed$/],
    [sign(keys, draftOf(utxo, [restOf(utxo, FEE_SOMPI)]), { isBroken: true }), /failed to verify the signature script/],
    [sign(keys, draftOf(utxo, [restOf(utxo, -1)])), /tries to spend \d+ while its total inputs amount is \d+/],
  ];
  const wrong: string[] = [];
  for (const [payment, reason] of cases) {
    const response = await submitPayment(api, payment);
    const message = String(response.json['message']);
    const start = `The node rejected the request: Rejected transaction ${idOf(payment)}: `;
    if (response.status !== 400 || !message.startsWith(start) || !reason.test(message))
      wrong.push(`a refusal: ${JSON.stringify(response)}`);
  }
  wallet.giveBack(utxo);
  return wrong;
}

/**
 * Submits the exact text of a template of the API, or the result of `change`. Returns the response
 * and the node's sink.
 */
async function mineThroughApi(
  node: NodeClient,
  api: ApiClient,
  change = (template: string): string => template,
): Promise<{ response: ApiResponse; sink: string }> {
  const response = await api.post('/v1/rpc/submitBlock', change(await getTemplate(api)));
  return { response, sink: (await node.call('getSink', {})).sink };
}

async function getTemplate(api: ApiClient): Promise<string> {
  const payAddress = scriptToAddress(IDLE_MINER, 'kaspasim');
  return (await api.post('/v1/rpc/getBlockTemplate', { payAddress, extraData: 'HTTP' })).text;
}

/**
 * Waits for a template with this text: the node keeps a template for a second, also if its mempool
 * changes.
 */
async function untilTemplateHas(api: ApiClient, text: string): Promise<void> {
  const deadline = Date.now() + TEMPLATE_DEADLINE_MS;
  while (!(await getTemplate(api)).includes(text)) {
    if (Date.now() > deadline) throw new Error(`no template of the node has ${text}`);
    await sleep(100);
  }
}

/**
 * Transactions for the node's mempool: payments, payments that spend the outputs of those, and
 * orphans.
 */
const PAYMENTS = 12;
const MIN_MEMPOOL_SOMPI = 200_000_000n;

/** Returns the ids, and the addresses that they spend from or pay to. */
async function fillMempool(
  node: NodeClient,
  { traffic, wallet, random }: Load,
): Promise<{ ids: string[]; addresses: string[] }> {
  const payments = Array.from({ length: PAYMENTS }, () =>
    traffic.split(wallet.takeStandard(MIN_MEMPOOL_SOMPI), random.bytes(random.pick([0, 0, 40]))),
  );
  const children = payments.slice(0, 3).flatMap((parent) =>
    outputsOf(parent)
      .slice(0, 1)
      .map((utxo) => traffic.split(utxo)),
  );
  const orphans = [traffic.stranger(), traffic.stranger()];
  const submit = async ({ transaction }: Payment, allowOrphan: boolean): Promise<void> => {
    await node.call('submitTransaction', { transaction: toTransactionMessage(transaction), allowOrphan });
  };
  for (const payment of [...payments, ...children]) await submit(payment, false);
  for (const orphan of orphans) await submit(orphan, true);
  const all = [...payments, ...children, ...orphans];
  const entries = all.flatMap((payment) => [...payment.draft.utxos.map(({ entry }) => entry), ...outputsOf(payment)]);
  const addresses = entries.flatMap(({ scriptPublicKey }) => scriptToAddress(scriptPublicKey, 'kaspasim') ?? []);
  return { ids: all.map(idOf), addresses: [...new Set(addresses)] };
}

/** Costly comparisons are done for every n-th block; 1 compares all. */
const every = Number(process.env['COMPARE_EVERY'] ?? 25);

const UNKNOWN_HASH = 'cd'.repeat(32);

const withWrongRoot = (template: string): string =>
  template.replace(/"hashMerkleRoot":"\w+"/, `"hashMerkleRoot":"${UNKNOWN_HASH}"`);

describe.skipIf(isWithoutNode)('the API against a real node', () => {
  let indexed: IndexedNode;
  let comparison: DagComparison;

  beforeAll(async () => {
    indexed = await startIndexedNode();
    comparison = { node: indexed.node, api: indexed.api, dag: await readDag(indexed.node) };
    const { blocks, chain, transactionIds, addresses } = comparison.dag;
    process.stdout.write(
      `${blocks.size} blocks, ${chain.length} on the chain, ${transactionIds.length} transactions, ${addresses.length} addresses\n`,
    );
  });

  afterEach(({ task }) => {
    if (task.result?.state === 'fail') process.stdout.write(indexed.apiOutput());
  });

  afterAll(async () => {
    await indexed?.close();
    process.stdout.write(`${reportOfDifferences()}\n`);
  });

  test.skipIf(isExternalNode)('the load has reorganised the chain at depths 1, 10 and 100', () => {
    expect(indexed.history?.removedBlocks).toEqual([1, 10, 100]);
  });

  test.skipIf(isExternalNode)('the load has every kind of block, transaction and output', () => {
    const variety = varietyOf(comparison.dag);
    process.stdout.write(`${JSON.stringify(variety)}\n`);
    expect(Object.entries(variety).filter(([, count]) => count === 0)).toEqual([]);
  });

  test.skipIf(isExternalNode)(
    'the index stores the variant of a transaction that the node accepts, the second of two',
    async () => {
      if (indexed.history === undefined) throw new Error('there is no load');
      const { transactionId, goodHash, badHash, goodBlockHash, badBlockHash, acceptedFrom } =
        indexed.history.twoVariants;
      expect(acceptedFrom).toBe(goodBlockHash);

      const { rows } = await indexed.pool.query<{ block: string; hash: string; is_accepted: boolean }>(
        `select encode(b.hash, 'hex') as block, encode(coalesce(variant.hash, t.hash), 'hex') as hash,
         bt.variant = t.accepted_variant as is_accepted
       from transactions t join block_transactions bt on bt.transaction_id = t.id
         join blocks b on b.id = bt.block_id
       left join transaction_variants variant on variant.transaction_id = t.id
         and variant.variant = bt.variant
       where t.transaction_id = $1`,
        [fromHex(transactionId)],
      );
      expect(rows).toHaveLength(2);
      expect(rows).toContainEqual({ block: goodBlockHash, hash: goodHash, is_accepted: true });
      expect(rows).toContainEqual({ block: badBlockHash, hash: badHash, is_accepted: false });
    },
  );

  test('getBlocks pages through the whole DAG like the node', async () => {
    expect(await compareBlockPages(comparison)).toEqual([]);
  });

  test('getBlocks responds like the node from every block', async () => {
    expect(await compareBlocksFromEveryBlock(comparison, every)).toEqual([]);
  });

  test('getBlock responds like the node for every block', async () => {
    expect(await compareCalls(comparison, 'getBlock', blockRequests([...comparison.dag.blocks.keys()]))).toEqual([]);
  });

  test('every block is listed and looked up with the colour that the node tells', async () => {
    expect(await compareRestBlocks(comparison)).toEqual([]);
  });

  test('endpoints without parameters, and the unimplemented getSubnetwork, respond like the node', async () => {
    expect(await compareStates(comparison)).toEqual([]);
    await expect(indexed.node.call('getSubnetwork', { subnetworkId: '00'.repeat(20) })).rejects.toThrow(
      'Not implemented',
    );
    expect(await indexed.api.post('/v1/rpc/getSubnetwork', { subnetworkId: '00'.repeat(20) })).toMatchObject({
      status: 400,
      json: { message: 'The node rejected the request: Not implemented' },
    });
  });

  test('getSeqCommitLaneProof responds like the node, here that a lane is not active', async () => {
    const { sink } = await indexed.node.call('getSink', {});
    const laneKey = '07'.repeat(32);
    const proof = await indexed.node.call('getSeqCommitLaneProof', {
      blockHash: fromHex(sink),
      laneKey: fromHex(laneKey),
    });
    expect(await indexed.api.post('/v1/rpc/getSeqCommitLaneProof', { blockHash: sink, laneKey })).toMatchObject({
      status: 200,
      json: {
        smtProof: toHex(proof.smtProof),
        payloadAndCtxDigest: toHex(proof.payloadAndCtxDigest),
        parentSeqCommit: toHex(proof.parentSeqCommit),
        inactivityShortcut: toHex(proof.inactivityShortcut),
      },
    });
    expect(proof.laneTip).toBeUndefined();
    expect(await indexed.api.post('/v1/rpc/getSeqCommitLaneProof', { blockHash: UNKNOWN_HASH, laneKey })).toMatchObject(
      {
        status: 404,
      },
    );
  });

  test('getVirtualChainFromBlock responds like the node from every block', async () => {
    expect(await compareVirtualChain(comparison)).toEqual([]);
  });

  test('a block that the node does not know is a 404', async () => {
    const requests = {
      getBlock: { hash: UNKNOWN_HASH, includeTransactions: false },
      getBlocks: { lowHash: UNKNOWN_HASH },
      getVirtualChainFromBlock: { startHash: UNKNOWN_HASH, includeAcceptedTransactionIds: true },
    } as const;
    for (const [name, request] of Object.entries(requests)) {
      const op = name as keyof typeof requests;
      await expect(indexed.node.call(op, request)).rejects.toThrow(`cannot find header ${UNKNOWN_HASH}`);
      expect(await indexed.api.post(`/v1/rpc/${op}`, request)).toMatchObject({ status: 404 });
    }
  });

  test("every transaction has the acceptance of the node's chain", async () => {
    expect(await compareAcceptance(comparison)).toEqual([]);
  });

  test('every transaction is looked up with the inputs, outputs and blocks that the node has', async () => {
    // The test above covers which of several variants was accepted.
    const transactions = await readTransactions(indexed.node, indexed.pool, () => undefined);
    expect(transactions.ids.length).toBeGreaterThanOrEqual(comparison.dag.transactionIds.length);
    expect(await compareTransactions(indexed.api, transactions)).toEqual([]);
  });

  test('getDaaScoreTimestampEstimate responds like the node for every score', async () => {
    expect(await compareTimes(comparison)).toEqual([]);
  });

  test('estimateNetworkHashesPerSecond responds like the node', async () => {
    expect(await compareHashRates(comparison, every)).toEqual([]);
  });

  test('no address has a tag, since none was imported', async () => {
    await inParallel(comparison.dag.addresses, async (address) => {
      expect(await indexed.api.get(`/v1/addresses/${address}/tag`)).toMatchObject({
        status: 404,
        json: { statusCode: 404 },
      });
    });
  });

  test('balances, UTXOs and the supply are those of the virtual block before one more block was mined', async () => {
    const isSupplyExact = await indexed.restartNode();
    const faults = await compareStateAfterBlock(comparison, comparison.dag.addresses, {
      isSupplyExact,
      mine: async () => {
        await mineTemplate(indexed.node);
        await indexed.untilAtRest();
      },
      addressless: async () => {
        const { rows } = await indexed.pool.query<{ sum: bigint }>(
          'select coalesce(sum(u.amount), 0)::bigint as sum from utxos u join scripts s on s.id = u.script_id where s.address is null',
        );
        return rows[0]?.sum ?? 0n;
      },
    });
    expect(faults).toEqual([]);
  });

  test('the mempool, and templates with its transactions, are those of the node', async () => {
    const payAddress = comparison.dag.addresses[0] ?? '';
    expect(await compareTemplate(comparison, { payAddress, extraData: '' })).toEqual([]);
    const { ids, addresses } = await fillMempool(indexed.node, await indexed.load());
    expect(await compareMempoolEntries(comparison, [...ids, UNKNOWN_HASH])).toEqual([]);
    expect(await compareMempoolByAddresses(comparison, addresses)).toEqual([]);
    expect(await comparePools(comparison)).toEqual([]);
    await untilTemplateHas(indexed.api, '"signatureScript"');
    expect(await compareTemplate(comparison, { payAddress, extraData: 'with payments' })).toEqual([]);
  });

  test('payments and a block that are submitted through the API reach the node and the index', async () => {
    const { node, api } = indexed;
    const load = await indexed.load();
    const payments = createPayments(load);
    expect(await submitPayments(api, payments)).toEqual([]);
    const ids = payments.map(idOf);
    expect(await compareMempoolEntries(comparison, ids)).toEqual([]);
    const [first] = payments;
    if (first === undefined) throw new Error('there is no payment');
    expect(await compareRefusals(api, load, first)).toEqual([]);

    // All digits of 64-bit numbers are kept.
    await untilTemplateHas(api, '"sequence":18446744073709551615');
    expect((await mineThroughApi(node, api, withWrongRoot)).response).toMatchObject({
      status: 400,
      json: { message: 'The node rejected the request: Block was not submitted: block is invalid' },
    });

    const mined = await mineThroughApi(node, api);
    expect(mined.response).toMatchObject({ status: 200, json: { rejectReason: 'NONE' } });
    await indexed.untilAtRest();
    expect(await compareCalls(comparison, 'getBlock', blockRequests([mined.sink]))).toEqual([]);
    const { block } = await node.call('getBlock', { hash: mined.sink, includeTransactions: true });
    const carried = block?.transactions.map(({ verboseData }) => verboseData?.transactionId);
    expect(carried).toEqual(expect.arrayContaining(ids));

    expect((await mineThroughApi(node, api)).response.status).toBe(200);
    await indexed.untilAtRest();
    const { json } = await api.post('/v1/transactions/acceptance', { transactionIds: ids });
    expect(json['transactions']).toMatchObject(ids.map((transactionId) => ({ transactionId, isAccepted: true })));
    const transactions = await readTransactions(node, indexed.pool, () => undefined);
    expect(await compareTransactions(api, transactions)).toEqual([]);
  });

  test('invariants 3, 4, 7 and 8 hold', async () => {
    await mineTemplate(indexed.node);
    await indexed.untilAtRest();
    await expectInvariants(indexed.pool, indexed.node);
    expect(await checkUtxoCommitment(indexed.pool, 'utxos')).toEqual([]);
  });
});

function blockRequests(hashes: readonly string[]): { hash: string; includeTransactions: boolean }[] {
  return hashes.flatMap((hash) => [false, true].map((includeTransactions) => ({ hash, includeTransactions })));
}

const COINBASE = toHex(COINBASE_SUBNETWORK);
const NATIVE = toHex(NATIVE_SUBNETWORK);
const MANY_INPUTS = 10;
/** Keys of a Postgres B-tree are smaller. */
const LONG_SCRIPT_BYTES = 2704;

/**
 * Counts the kinds of blocks, transactions and outputs: a kind with none would leave something
 * untested.
 */
function varietyOf({ blocks, chain, acceptedBy, transactionIds }: NodeDag): Record<string, number> {
  const variants = [...blocks.values()].flatMap((block) => block.transactions);
  const byId = Map.groupBy(variants, ({ verboseData }) => verboseData?.transactionId ?? '');
  const transactions = [...byId.values()].flatMap(([first]) => first ?? []);
  const payments = transactions.filter(({ subnetworkId }) => subnetworkId !== COINBASE);
  const inputs = payments.flatMap((payment) => payment.inputs);
  const outputs = transactions.flatMap((transaction) => transaction.outputs);

  const payment = (has: (transaction: protocol.Transaction) => boolean): number => payments.filter(has).length;
  const output = (has: (output: protocol.TransactionOutput) => boolean): number => outputs.filter(has).length;
  const id = (has: (variants: protocol.Transaction[]) => boolean): number => [...byId.values()].filter(has).length;
  return {
    redBlocks: chain.flatMap(({ hash }) => blocks.get(hash)?.verboseData?.mergeSetRedsHashes ?? []).length,
    coinbasesInSeveralBlocks: id((variants) => isCoinbase(variants) && variants.length > 1),
    paymentsInSeveralBlocks: id((variants) => !isCoinbase(variants) && variants.length > 1),
    idsWithSeveralVariants: id((variants) => new Set(variants.map(({ verboseData }) => verboseData?.hash)).size > 1),
    paymentsNotAccepted: payment(({ verboseData }) => !acceptedBy.has(verboseData?.transactionId ?? '')),
    utxosSpentTwice: [
      ...Map.groupBy(inputs, ({ previousOutpoint }) => `${previousOutpoint?.transactionId}:${previousOutpoint?.index}`),
    ].filter(([, spending]) => spending.length > 1).length,
    utxosThatNeverExisted: inputs.filter(({ previousOutpoint }) => !byId.has(previousOutpoint?.transactionId ?? ''))
      .length,
    sweeps: payment((transaction) => transaction.inputs.length >= MANY_INPUTS),
    version1: payment(({ version }) => version === 1),
    lanes: payment(({ subnetworkId }) => subnetworkId !== NATIVE),
    payloads: payment((transaction) => transaction.payload !== ''),
    lockTimes: payment((transaction) => transaction.lockTime > 0n),
    covenants: output(({ covenant }) => covenant !== undefined),
    pubKeys: output(({ verboseData }) => verboseData?.scriptPublicKeyType === 'pubkey'),
    ecdsaPubKeys: output(({ verboseData }) => verboseData?.scriptPublicKeyType === 'pubkeyecdsa'),
    scriptHashes: output(({ verboseData }) => verboseData?.scriptPublicKeyType === 'scripthash'),
    nonStandardScripts: output(({ verboseData }) => verboseData === undefined),
    scriptsOfOtherVersions: output(({ scriptPublicKey }) => (scriptPublicKey?.version ?? 0) > 0),
    longScripts: output(
      ({ scriptPublicKey }) => (scriptPublicKey?.scriptPublicKey.length ?? 0) / 2 > LONG_SCRIPT_BYTES,
    ),
    transactions: transactionIds.length,
  };
}

function isCoinbase([first]: protocol.Transaction[]): boolean {
  return first?.subnetworkId === COINBASE;
}
