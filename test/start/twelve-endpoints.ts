/** Requests all twelve specified endpoints of a running demo: each must respond 200 with plausible values. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { z } from 'zod';
import type { ApiClient } from '../support/api-client.ts';

const hash = z.string().regex(/^[0-9a-f]{64}$/);
const integer = z.string().regex(/^\d+$/).transform(BigInt);

const virtualChain = z.object({
  removedChainBlockHashes: z.array(hash),
  addedChainBlockHashes: z.array(hash),
  acceptedTransactionIds: z.array(z.object({ acceptingBlockHash: hash, acceptedTransactionIds: z.array(hash) })),
});
const transaction = z.object({
  inputs: z.array(z.object({ previousOutpoint: z.object({ transactionId: hash, index: z.number() }) })),
  outputs: z.array(z.object({ value: integer })),
  verboseData: z.object({ transactionId: hash }),
});
const blocks = z.object({
  blockHashes: z.array(hash),
  blocks: z.array(
    z.object({
      header: z.object({ hash, daaScore: integer, timestamp: integer }),
      transactions: z.array(transaction),
      verboseData: z.object({ isChainBlock: z.boolean() }),
    }),
  ),
});
const acceptance = z.object({
  transactions: z.array(
    z.object({
      transactionId: hash,
      isAccepted: z.boolean(),
      acceptingBlockHash: hash.nullable(),
      confirmations: z.number(),
    }),
  ),
});
const mempoolEntry = z.object({ fee: integer, transaction, isOrphan: z.boolean() });
const template = z.object({
  block: z.object({ header: z.object({ blueScore: integer }), transactions: z.array(z.unknown()).nonempty() }),
});
const tag = z.object({
  tag: z.object({ address: z.string(), name: z.string().min(1), link: z.string(), labels: z.array(z.string()) }),
});
const supply = z.object({ maxSompi: integer, circulatingSompi: integer });

/** `addresses` have tags on the simulated chain. */
export async function askTwelveEndpoints(api: ApiClient, addresses: readonly [string, ...string[]]): Promise<void> {
  const [address] = addresses;

  const network = await api.read('/v1/rpc/getCurrentNetwork', z.object({ network: z.string() }));
  expect(network).toEqual({ network: 'simnet' });

  const request = { includeBlocks: true, includeTransactions: true };
  const first = await api.read('/v1/rpc/getBlocks', blocks, request);
  expect(first.blockHashes.length).toBeGreaterThan(100);
  expect(first.blocks.map(({ header }) => header.hash)).toEqual(first.blockHashes);
  expect(first.blocks.slice(1).every(({ transactions }) => transactions.length > 0)).toBe(true);

  const startHash = first.blockHashes[0];
  const chain = await api.read('/v1/rpc/getVirtualChainFromBlock', virtualChain, {
    startHash,
    includeAcceptedTransactionIds: true,
  });
  expect(chain.removedChainBlockHashes).toEqual([]);
  expect(chain.addedChainBlockHashes.length).toBeGreaterThan(500);
  expect(chain.acceptedTransactionIds.map(({ acceptingBlockHash }) => acceptingBlockHash)).toEqual(
    chain.addedChainBlockHashes,
  );

  const accepted = chain.acceptedTransactionIds.flatMap(({ acceptedTransactionIds }) => acceptedTransactionIds);
  const unknown = 'f'.repeat(64);
  const asked = [...accepted.slice(0, 499), unknown];
  const { transactions } = await api.read('/v1/transactions/acceptance', acceptance, { transactionIds: asked });
  expect(transactions.map(({ transactionId }) => transactionId)).toEqual(asked);
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
  const estimates = await api.read(
    '/v1/rpc/getDaaScoreTimestampEstimate',
    z.object({ timestamps: z.array(integer).length(2) }),
    { daaScores: [String(known?.daaScore), '99999999'] },
  );
  expect(estimates.timestamps[0]).toBe(known?.timestamp);
  expect(estimates.timestamps[1]).toBeGreaterThan(BigInt(Date.now()));

  const { balance } = await api.read(`/v1/rpc/getBalanceByAddress/${address}`, z.object({ balance: integer }));
  const { maxSompi, circulatingSompi } = await api.read('/v1/rpc/getCoinSupply', supply);
  expect(balance).toBeGreaterThan(0n);
  expect(circulatingSompi).toBeGreaterThan(balance);
  expect(maxSompi).toBeGreaterThan(circulatingSompi);

  expect((await api.read(`/v1/addresses/${address}/tag`, tag)).tag.address).toBe(address);

  const rate = await api.read(
    '/v1/rpc/estimateNetworkHashesPerSecond?windowSize=1000',
    z.object({ networkHashesPerSecond: integer }),
  );
  expect(rate.networkHashesPerSecond).toBeGreaterThan(0n);

  const { block } = await api.read('/v1/rpc/getBlockTemplate', template, { payAddress: address, extraData: 'test' });
  expect(block.header.blueScore).toBeGreaterThan(2_000n);

  await askMempool(api, addresses);
}

/** Payments are sent and mined at random moments, so this polls until one is in the mempool. */
async function askMempool(api: ApiClient, addresses: readonly string[]): Promise<void> {
  const pools = { includeOrphanPool: true, filterTransactionPool: false };
  for (const end = Date.now() + 60_000; Date.now() < end; await sleep(100)) {
    const { entries } = await api.read(
      '/v1/rpc/getMempoolEntriesByAddresses',
      z.object({ entries: z.array(mempoolEntry) }),
      { addresses, ...pools },
    );
    const transactionId = entries.at(-1)?.transaction.verboseData.transactionId;
    if (transactionId === undefined) continue;
    const one = await api
      .read('/v1/rpc/getMempoolEntry', z.object({ mempoolEntry }), { transactionId, ...pools })
      .catch((error: unknown) => error);
    // It was mined between the two requests, which gives a 404; try the next.
    if (one instanceof Error) {
      expect(one.message).toContain('404');
      continue;
    }
    expect(one).toMatchObject({ mempoolEntry: { transaction: { verboseData: { transactionId } } } });
    return;
  }
  expect.fail('no payment to or from a tagged address was met in the mempool within a minute');
}
