/**
 * Every endpoint, field by field, against the answers of a real node at rest, for every block, transaction, chain block and address.
 * What may differ stands in differences.ts, and nothing else may.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { fromHex, toHex } from '@kasgres/kaspa';
import { checkInvariant3 } from '../invariants/acceptance.ts';
import { checkInvariant4 } from '../invariants/balances.ts';
import { checkGhostdag, checkInvariant7 } from '../invariants/completeness.ts';
import { checkInvariant8, checkUtxoCommitment } from '../invariants/hashes.ts';
import { compareFromEveryBlock, comparePages } from './compare/blocks.ts';
import { compareAcceptance, compareVirtualChain } from './compare/chain.ts';
import {
  compareBalances,
  compareBalancesTogether,
  compareRichList,
  compareSupply,
  compareTags,
  compareUtxoListings,
  compareUtxos,
  recordUtxos,
} from './compare/utxos.ts';
import { compareHashRates, compareTimes } from './compare/estimates.ts';
import { compareMempoolByAddresses, compareMempoolEntries, compareTemplate } from './compare/mempool.ts';
import { type NodeDag, readDag } from './compare/node-dag.ts';
import { compareBlocksByHash, comparePools, compareStates } from './compare/passthroughs.ts';
import { compareRestBlocks } from './compare/rest-blocks.ts';
import { compareTransactions, readTransactions } from './compare/rest-transactions.ts';
import {
  compareRefusals,
  makePayments,
  mineThroughApi,
  submitPayments,
  untilTemplateHas,
} from './compare/submitting.ts';
import { varietyOf } from './compare/variety.ts';
import { reportOfDifferences } from './differences.ts';
import { fillMempool } from './load/mempool.ts';
import { mineTemplate } from './load/miner.ts';
import { schnorrOwner } from './load/owner.ts';
import { createSimulatedDag, isLoadedByOthers, isWithoutNode, type SimulatedDag } from './simulated-dag.ts';

/** Of how many blocks one is compared where that is costly; 1 compares all. */
const every = Number(process.env['COMPARE_EVERY'] ?? 25);

const miner = schnorrOwner(new Uint8Array(32).fill(1));
const UNKNOWN_HASH = 'cd'.repeat(32);

const withWrongRoot = (template: string): string =>
  template.replace(/"hashMerkleRoot":"\w+"/, `"hashMerkleRoot":"${UNKNOWN_HASH}"`);

describe.skipIf(isWithoutNode)('the API against a real node', () => {
  let simulatedDag: SimulatedDag;
  let dag: NodeDag;

  beforeAll(async () => {
    simulatedDag = await createSimulatedDag();
    dag = await readDag(simulatedDag.node);
    const inBlocks = dag.transactionIds.length;
    process.stdout.write(
      `${dag.blocks.size} blocks, ${dag.chain.length} on the chain, ${inBlocks} transactions, ${dag.addresses.length} addresses\n`,
    );
  });

  afterEach(({ task }) => {
    if (task.result?.state === 'fail') process.stdout.write(simulatedDag.apiOutput());
  });

  afterAll(async () => {
    await simulatedDag?.close();
    process.stdout.write(`${reportOfDifferences()}\n`);
  });

  test.skipIf(isLoadedByOthers)('the load has reorganised the chain to the depths that were asked for', () => {
    expect(simulatedDag.history?.reorganisations.map(({ removed }) => removed)).toEqual([1, 10, 100]);
  });

  test.skipIf(isLoadedByOthers)('the load holds everything that a chain can hold', () => {
    const variety = varietyOf(dag);
    process.stdout.write(`${JSON.stringify(variety)}\n`);
    expect(Object.entries(variety).filter(([, count]) => count === 0)).toEqual([]);
  });

  test.skipIf(isLoadedByOthers)(
    'of two bodies of one id the node accepts the second, and so does the index',
    async () => {
      if (simulatedDag.history === undefined) throw new Error('there is no load');
      const { transactionId, goodHash, badHash, goodBlockHash, badBlockHash, acceptedFrom } =
        simulatedDag.history.twoVariants;
      expect(acceptedFrom).toBe(goodBlockHash);

      const { rows } = await simulatedDag.pool.query<{ block: string; hash: string; is_accepted: boolean }>(
        `select encode(b.hash, 'hex') as block, encode(coalesce(body.hash, t.hash), 'hex') as hash,
         bt.body = t.accepted_body as is_accepted
       from transactions t join block_transactions bt on bt.transaction_id = t.id join blocks b on b.id = bt.block_id
       left join transaction_bodies body on body.transaction_id = t.id and body.body = bt.body
       where t.transaction_id = $1`,
        [fromHex(transactionId)],
      );
      expect(rows).toHaveLength(2);
      expect(rows).toContainEqual({ block: goodBlockHash, hash: goodHash, is_accepted: true });
      expect(rows).toContainEqual({ block: badBlockHash, hash: badHash, is_accepted: false });
    },
  );

  test('getBlocks, page by page', async () => {
    expect(await comparePages(simulatedDag.node, simulatedDag.api, dag)).toEqual([]);
  });

  test('getBlocks from every block', async () => {
    expect(await compareFromEveryBlock(simulatedDag.node, simulatedDag.api, dag, { every })).toEqual([]);
  });

  test('getBlock of every block', async () => {
    expect(await compareBlocksByHash(simulatedDag.node, simulatedDag.api, [...dag.blocks.keys()])).toEqual([]);
  });

  test('every block of the listing, and by its hash, with its colour', async () => {
    expect(await compareRestBlocks(simulatedDag.node, simulatedDag.api, dag)).toEqual([]);
  });

  test('what is asked without a field', async () => {
    expect(await compareStates(simulatedDag.node, simulatedDag.api)).toEqual([]);
    await expect(simulatedDag.node.call('getSubnetwork', { subnetworkId: '00'.repeat(20) })).rejects.toThrow(
      'Not implemented',
    );
    expect(await simulatedDag.api.post('/v1/rpc/getSubnetwork', { subnetworkId: '00'.repeat(20) })).toMatchObject({
      status: 400,
      body: { message: 'The node rejected the request: Not implemented' },
    });
  });

  test('getVirtualChainFromBlock from every block', async () => {
    expect(await compareVirtualChain(simulatedDag.node, simulatedDag.api, dag)).toEqual([]);
  });

  test('a block that the node does not know', async () => {
    const { node, api } = simulatedDag;
    const requests = {
      getBlock: { hash: UNKNOWN_HASH, includeTransactions: false },
      getBlocks: { lowHash: UNKNOWN_HASH },
      getVirtualChainFromBlock: { startHash: UNKNOWN_HASH, includeAcceptedTransactionIds: true },
    } as const;
    for (const [name, request] of Object.entries(requests)) {
      const op = name as keyof typeof requests;
      await expect(node.call(op, request)).rejects.toThrow(`cannot find header ${UNKNOWN_HASH}`);
      expect(await api.post(`/v1/rpc/${op}`, request)).toMatchObject({ status: 404 });
    }
  });

  test('acceptance of every transaction', async () => {
    expect(await compareAcceptance(simulatedDag.api, dag)).toEqual([]);
  });

  test('every transaction by its id', async () => {
    // Which of several bodies was accepted is told above, of the one that was made for it.
    const transactions = await readTransactions(simulatedDag.node, simulatedDag.pool, () => undefined);
    expect(transactions.ids.length).toBeGreaterThanOrEqual(dag.transactionIds.length);
    expect(await compareTransactions(simulatedDag.api, transactions)).toEqual([]);
  });

  test('getDaaScoreTimestampEstimate of every score', async () => {
    expect(await compareTimes(simulatedDag.node, simulatedDag.api, dag)).toEqual([]);
  });

  test('estimateNetworkHashesPerSecond', async () => {
    expect(await compareHashRates(simulatedDag.node, simulatedDag.api, dag, { every })).toEqual([]);
  });

  test('the tag of every address', async () => {
    expect(await compareTags(simulatedDag.api, dag.addresses)).toEqual([]);
  });

  test('getCurrentNetwork', async () => {
    const { currentNetwork } = await simulatedDag.node.call('getCurrentNetwork', {});
    expect(await simulatedDag.api.get('/v1/rpc/getCurrentNetwork')).toEqual({
      status: 200,
      body: { network: currentNetwork },
    });
  });

  test('balances and UTXOs of every address, and the supply, one block later', async () => {
    const { node, api } = simulatedDag;
    const isSupplyExact = await simulatedDag.restartNode();
    const recorded = await recordUtxos(node, dag.addresses, { isSupplyExact });
    const { virtualParentHashes } = await node.call('getBlockDagInfo', {});
    await mineTemplate(node, miner);
    await simulatedDag.untilAtRest();
    const { sink } = await node.call('getSink', {});
    const { block } = await node.call('getBlock', { hash: sink, includeTransactions: false });
    expect(block?.header?.parents[0]?.parentHashes.toSorted()).toEqual(virtualParentHashes.toSorted());

    const now = await recordUtxos(node, dag.addresses, { isSupplyExact });
    expect(await compareBalances(api, recorded, now)).toEqual([]);
    expect(await compareBalancesTogether(api, recorded)).toEqual([]);
    expect(await compareUtxos(api, recorded)).toEqual([]);
    expect(await compareUtxoListings(api, recorded)).toEqual([]);
    const { rows } = await simulatedDag.pool.query<{ sum: bigint }>(
      'select sum(u.amount)::bigint as sum from utxos u join scripts s on s.id = u.script_id where s.address is null',
    );
    expect(await compareRichList(api, recorded, rows[0]?.sum ?? 0n)).toEqual([]);
    expect(await compareSupply(api, recorded)).toEqual([]);
  });

  test('the mempool, and templates with what it holds', async () => {
    const { node, api } = simulatedDag;
    const payAddress = dag.addresses[0] ?? '';
    expect(await compareTemplate(node, api, { payAddress, extraData: '' })).toEqual([]);
    const { ids, addresses } = await fillMempool(node, await simulatedDag.load());
    expect(await compareMempoolEntries(node, api, [...ids, UNKNOWN_HASH])).toEqual([]);
    expect(await compareMempoolByAddresses(node, api, addresses)).toEqual([]);
    expect(await comparePools(node, api)).toEqual([]);
    await untilTemplateHas(api, '"signatureScript"');
    expect(await compareTemplate(node, api, { payAddress, extraData: 'with payments' })).toEqual([]);
  });

  test('payments and a block that are handed in through the API', async () => {
    const { node, api } = simulatedDag;
    const load = await simulatedDag.load();
    const payments = makePayments(load);
    expect(await submitPayments(api, payments)).toEqual([]);
    const ids = payments.map(({ id }) => toHex(id));
    expect(await compareMempoolEntries(node, api, ids)).toEqual([]);
    const [first] = payments;
    if (first === undefined) throw new Error('there is no payment');
    expect(await compareRefusals(api, load, first)).toEqual([]);

    // With all their digits.
    await untilTemplateHas(api, '"sequence":18446744073709551615');
    expect((await mineThroughApi(node, api, withWrongRoot)).answer).toMatchObject({
      status: 400,
      body: { message: 'The node rejected the request: Block was not submitted: block is invalid' },
    });

    const mined = await mineThroughApi(node, api);
    expect(mined.answer).toEqual({ status: 200, body: { rejectReason: 'NONE' } });
    await simulatedDag.untilAtRest();
    expect(await compareBlocksByHash(node, api, [mined.sink])).toEqual([]);
    const { block } = await node.call('getBlock', { hash: mined.sink, includeTransactions: true });
    const carried = block?.transactions.map(({ verboseData }) => verboseData?.transactionId);
    expect(carried).toEqual(expect.arrayContaining(ids));

    expect((await mineThroughApi(node, api)).answer.status).toBe(200);
    await simulatedDag.untilAtRest();
    const { body } = await api.post('/v1/transactions/acceptance', { transactionIds: ids });
    expect(body['transactions']).toMatchObject(ids.map((transactionId) => ({ transactionId, isAccepted: true })));
    const transactions = await readTransactions(node, simulatedDag.pool, () => undefined);
    expect(await compareTransactions(api, transactions)).toEqual([]);
  });

  test('invariants 3, 4, 7 and 8', async () => {
    const { node, pool } = simulatedDag;
    await mineTemplate(node, miner);
    await simulatedDag.untilAtRest();
    expect(await checkInvariant3(pool, node)).toEqual([]);
    expect(await checkInvariant4(pool)).toEqual([]);
    expect(await checkInvariant7(pool)).toEqual([]);
    expect(await checkGhostdag(pool)).toEqual([]);
    expect(await checkInvariant8(pool)).toEqual([]);
    expect(await checkUtxoCommitment(pool, 'utxos')).toEqual([]);
  });
});
