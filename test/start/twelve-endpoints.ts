/** Requests all twelve specified endpoints of a running demo: each must respond 200 with plausible values. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { ApiError, type Client } from '../../packages/client/src/index.ts';

/** `addresses` have tags on the simulated chain. */
export async function requestTwelveEndpoints(api: Client, addresses: readonly [string, ...string[]]): Promise<void> {
  const [address] = addresses;
  const path = { address };
  expect(await api.get('/v1/rpc/getCurrentNetwork')).toEqual({ network: 'simnet' });

  const first = await api.post('/v1/rpc/getBlocks', { body: { includeBlocks: true, includeTransactions: true } });
  expect(first.blockHashes.length).toBeGreaterThan(100);
  expect(first.blocks.map(({ header }) => header.hash)).toEqual(first.blockHashes);
  expect(first.blocks.slice(1).every(({ transactions = [] }) => transactions.length > 0)).toBe(true);

  const chain = await api.post('/v1/rpc/getVirtualChainFromBlock', {
    body: { startHash: first.blockHashes[0] ?? '', includeAcceptedTransactionIds: true },
  });
  expect(chain.removedChainBlockHashes).toEqual([]);
  expect(chain.addedChainBlockHashes.length).toBeGreaterThan(500);
  expect(chain.acceptedTransactionIds.map(({ acceptingBlockHash }) => acceptingBlockHash)).toEqual(
    chain.addedChainBlockHashes,
  );

  const accepted = chain.acceptedTransactionIds.flatMap(({ acceptedTransactionIds }) => acceptedTransactionIds);
  const unknown = 'f'.repeat(64);
  const transactionIds = [...accepted.slice(0, 499), unknown];
  const { transactions } = await api.post('/v1/transactions/acceptance', { body: { transactionIds } });
  expect(transactions.map(({ transactionId }) => transactionId)).toEqual(transactionIds);
  expect(transactions.slice(0, -1).every(({ isAccepted, confirmations }) => isAccepted && confirmations > 0)).toBe(
    true,
  );
  expect(transactions.at(-1)).toEqual({
    transactionId: unknown,
    isAccepted: false,
    acceptingBlockHash: null,
    confirmations: 0,
  });

  const known = first.blocks.findLast(({ verboseData }) => verboseData.isChainBlock)?.header;
  const { timestamps } = await api.post('/v1/rpc/getDaaScoreTimestampEstimate', {
    body: { daaScores: [String(known?.daaScore), '99999999'] },
  });
  expect(timestamps).toHaveLength(2);
  expect(timestamps[0]).toBe(known?.timestamp);
  expect(Number(timestamps[1])).toBeGreaterThan(Date.now());

  const { balance } = await api.get('/v1/rpc/getBalanceByAddress/{address}', { params: { path } });
  const { maxSompi, circulatingSompi } = await api.get('/v1/rpc/getCoinSupply');
  expect(BigInt(balance)).toBeGreaterThan(0n);
  expect(BigInt(circulatingSompi)).toBeGreaterThan(BigInt(balance));
  expect(BigInt(maxSompi)).toBeGreaterThan(BigInt(circulatingSompi));

  expect((await api.get('/v1/addresses/{address}/tag', { params: { path } })).tag.address).toBe(address);

  const { networkHashesPerSecond } = await api.get('/v1/rpc/estimateNetworkHashesPerSecond', {
    params: { query: { windowSize: 1000 } },
  });
  expect(Number(networkHashesPerSecond)).toBeGreaterThan(0);

  const { block } = await api.post('/v1/rpc/getBlockTemplate', { body: { payAddress: address, extraData: 'test' } });
  expect(Number(block.header.blueScore)).toBeGreaterThan(2_000);
  expect(block.transactions).not.toEqual([]);

  await requestMempool(api, addresses);
}

/** Payments are sent and mined at random moments, so this polls until one is in the mempool. */
async function requestMempool(api: Client, addresses: readonly string[]): Promise<void> {
  const pools = { includeOrphanPool: true, filterTransactionPool: false };
  for (const end = Date.now() + 60_000; Date.now() < end; await sleep(100)) {
    const { entries } = await api.post('/v1/rpc/getMempoolEntriesByAddresses', {
      body: { addresses: [...addresses], ...pools },
    });
    const transactionId = entries.at(-1)?.transaction.verboseData?.transactionId;
    if (transactionId === undefined) continue;
    try {
      const one = await api.post('/v1/rpc/getMempoolEntry', { body: { transactionId, ...pools } });
      expect(one).toMatchObject({ mempoolEntry: { transaction: { verboseData: { transactionId } } } });
      return;
    } catch (error) {
      // It was mined between the two requests.
      if (!(error instanceof ApiError) || error.status !== 404) throw error;
    }
  }
  expect.fail('no payment to or from a tagged address was in the mempool within a minute');
}
