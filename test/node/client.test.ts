import { setTimeout as sleep } from 'node:timers/promises';
import {
  encodeAddress,
  getNetwork,
  type Hash,
  headerHash,
  merkleRoot,
  toHex,
  transactionHash,
  transactionId,
} from '@kasgres/kaspa';
import {
  checkNode,
  NodeClient,
  NodeRpcError,
  NodeUnavailableError,
  NodeUnsuitableError,
  type Notification,
} from '@kasgres/node';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { findKaspad, Kaspad } from '../support/kaspad.ts';

const hasKaspad = findKaspad() !== undefined;

const MINER = encodeAddress({ prefix: 'kaspasim', version: 0, payload: new Uint8Array(32).fill(7) });
const { genesisHash } = getNetwork('simnet');

describe.skipIf(!hasKaspad)('a real node', () => {
  let kaspad: Kaspad;
  let client: NodeClient;

  beforeAll(async () => {
    kaspad = await Kaspad.start();
    client = new NodeClient({ url: kaspad.url, streams: 2, maxPauseMs: 300 });
    await client.waitUntilConnected({ signal: AbortSignal.timeout(30_000) });
  });

  afterAll(async () => {
    await client.close();
    await kaspad.stop();
  });

  /** Mines blocks one on another, each from the node's template. */
  async function mine(count: number): Promise<void> {
    for (let mined = 0; mined < count; mined++) {
      const { block } = await client.call('getBlockTemplate', { payAddress: MINER, extraData: 'test' });
      if (block === undefined) throw new Error('a template without a block');
      await client.call('submitBlock', { block, allowNonDAABlocks: false });
    }
  }

  it('passes the check and describes itself', async () => {
    const status = await checkNode(client, { network: 'simnet' });
    expect(status).toMatchObject({
      network: { id: 'simnet' },
      serverVersion: expect.stringMatching(/^\d+\.\d+/) as string,
    });
    expect(Buffer.from(status.pruningPoint)).toEqual(Buffer.from(genesisHash));
  });

  it('fails the check with an explanation if another network is expected', async () => {
    await expect(checkNode(client, { network: 'mainnet' })).rejects.toThrow(NodeUnsuitableError);
  });

  it('accepts blocks of its templates, and returns them with the computed hashes', async () => {
    await mine(30);
    const { blocks, blockHashes, wireBytes } = await client.getBlocks({
      lowHash: genesisHash,
      includeBlocks: true,
      includeTransactions: true,
    });
    expect(blocks.map(({ hash }) => hash)).toEqual(blockHashes);
    expect(blocks.length).toBe(31);
    expect(wireBytes).toBeGreaterThan(31 * 500);
    for (const block of blocks) {
      expect(toHex(headerHash(block.header))).toBe(toHex(block.hash));
      expect(toHex(merkleRoot(block.transactions.map(transactionHash)))).toBe(toHex(block.header.hashMerkleRoot));
      for (const transaction of block.transactions) {
        expect(toHex(transactionId(transaction))).toBe(toHex(transaction.transactionId));
        expect(toHex(transactionHash(transaction))).toBe(toHex(transaction.hash));
      }
    }
  });

  it('returns its chain with accepted transactions, and each of its blocks', async () => {
    const chain = await client.getVirtualChainFromBlock({
      startHash: genesisHash,
      includeAcceptedTransactionIds: true,
    });
    const { sink } = await client.call('getSink', {});
    expect(toHex(chain.addedChainBlockHashes.at(-1) as Hash)).toBe(sink);
    expect(chain.removedChainBlockHashes).toEqual([]);
    expect(chain.acceptedTransactionIds.map((accepted) => accepted.acceptingBlockHash)).toEqual(
      chain.addedChainBlockHashes,
    );

    const hash = chain.addedChainBlockHashes[3] as Hash;
    const whole = await client.getBlock({ hash, includeTransactions: true });
    const bare = await client.getBlock({ hash, includeTransactions: false });
    expect(whole.transactions).toHaveLength(1);
    expect(bare).toEqual({ ...whole, transactions: [], transactionIds: [whole.transactions[0]?.transactionId] });
    const early = await client.getVirtualChainFromBlock({
      startHash: genesisHash,
      includeAcceptedTransactionIds: false,
      minConfirmationCount: 10n,
    });
    // More than ten blocks above them, so the last eleven are held back.
    expect(early.addedChainBlockHashes.length).toBe(chain.addedChainBlockHashes.length - 11);
  });

  it('responds to every call with the described message', async () => {
    const hash = toHex(
      (await client.getVirtualChainFromBlock({ startHash: genesisHash, includeAcceptedTransactionIds: false }))
        .addedChainBlockHashes[3] as Hash,
    );
    await client.call('ping', {});
    expect((await client.call('getCurrentNetwork', {})).currentNetwork).toBe('simnet');
    expect((await client.call('getSyncStatus', {})).isSynced).toBe(true);
    expect((await client.call('getBlockCount', {})).blockCount).toBe(30n);
    expect((await client.call('getSinkBlueScore', {})).blueScore).toBe(30n);
    expect((await client.call('getConnectedPeerInfo', {})).infos).toEqual([]);
    expect((await client.call('getCurrentBlockColor', { hash })).blue).toBe(true);
    expect((await client.call('getBlockRewardInfo', { hash })).rewardAmount).toBeGreaterThan(0n);
    expect(
      (await client.call('getVirtualChainFromBlockV2', { startHash: toHex(genesisHash) }))
        .chainBlockAcceptedTransactions,
    ).toHaveLength(30);
    expect((await client.call('getDaaScoreTimestampEstimate', { daaScores: [1n] })).timestamps).toHaveLength(1);
    expect((await client.call('getCoinSupply', {})).circulatingSompi).toBeGreaterThan(0n);
    expect((await client.call('getBalanceByAddress', { address: MINER })).balance).toBeGreaterThan(0n);
    expect((await client.call('getBalancesByAddresses', { addresses: [MINER] })).entries).toHaveLength(1);
    expect((await client.call('getUtxosByAddresses', { addresses: [MINER] })).entries.length).toBeGreaterThan(0);
    expect((await client.call('getMempoolEntries', {})).entries).toEqual([]);
    expect((await client.call('getMempoolEntriesByAddresses', { addresses: [MINER] })).entries).toHaveLength(1);
    expect((await client.call('getFeeEstimate', {})).estimate?.priorityBucket?.feerate).toBeGreaterThan(0);
    expect((await client.call('getFeeEstimateExperimental', { verbose: true })).verbose).toBeDefined();
  });

  it.each([
    ['getBlock', { hash: 'ab'.repeat(32) }, 'unknown-block'],
    ['getMempoolEntry', { txId: 'ab'.repeat(32) }, 'not-found'],
    ['getCurrentBlockColor', { hash: 'ab'.repeat(32) }, 'not-found'],
    ['getSubnetwork', { subnetworkId: '00'.repeat(20) }, 'other'],
    ['addPeer', { address: 'not an address' }, 'other'],
    ['submitTransaction', { transaction: { subnetworkId: '00'.repeat(20) } }, 'other'],
    ['submitTransactionReplacement', { transaction: { subnetworkId: '00'.repeat(20) } }, 'other'],
    ['estimateNetworkHashesPerSecond', { windowSize: 1_000 }, 'other'],
  ] as const)('refuses %s %j with an error of kind %s', async (op, request, kind) => {
    const error = await client.call(op, request).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(NodeRpcError);
    expect(error).toMatchObject({ op, kind });
  });

  it('notifies subscribers, also after a restart', async () => {
    const received: Notification[] = [];
    const onSubscribed = vi.fn<() => void>();
    const subscription = client.subscribe(
      ['blockAdded', 'virtualChainChanged', 'virtualDaaScoreChanged', 'sinkBlueScoreChanged'],
      (notification) => received.push(notification),
      { includeAcceptedTransactionIds: true, onSubscribed },
    );
    const topics = (): string[] => [...new Set(received.map(({ topic }) => topic))].toSorted();
    const all = ['blockAdded', 'sinkBlueScoreChanged', 'virtualChainChanged', 'virtualDaaScoreChanged'];
    await expect.poll(() => onSubscribed).toHaveBeenCalledTimes(1);
    await mine(2);
    await expect.poll(() => topics()).toEqual(all);

    await kaspad.halt();
    await vi.waitFor(() => expect(client.connected).toBe(false), { timeout: 10_000 });
    await expect(client.call('getSink', {}, { deadlineMs: 2_000 })).rejects.toThrow(NodeUnavailableError);
    await kaspad.run();
    await vi.waitFor(() => expect(onSubscribed).toHaveBeenCalledTimes(2), { timeout: 30_000 });
    received.length = 0;
    await mine(1);
    await expect.poll(() => topics()).toEqual(all);
    subscription.close();
    await sleep(200);
    received.length = 0;
    await mine(1);
    await sleep(200);
    expect(received).toEqual([]);
  });
});

describe.skipIf(!hasKaspad)('a real node without --utxoindex', () => {
  it('passes the check', async () => {
    const kaspad = await Kaspad.start({ utxoIndex: false });
    const client = new NodeClient({ url: kaspad.url, maxPauseMs: 300 });
    try {
      await client.waitUntilConnected({ signal: AbortSignal.timeout(30_000) });
      expect(await checkNode(client)).toMatchObject({ network: { id: 'simnet' } });
      const error = await client.call('getCoinSupply', {}).catch((error: unknown) => error);
      expect(error).toMatchObject({ kind: 'no-utxoindex' });
    } finally {
      await client.close();
      await kaspad.stop();
    }
  });
});
