/** A node that has pruned: its responses, the UTXO set that it serves, and its further growth. */
import { classifyScript, MuHash, toHex, type Utxo } from '@kasgres/kaspa';
import { NodeClient, readUtxoSet } from '@kasgres/node';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { DagBlock } from '../../dag/dag.ts';
import { UtxoSetServer } from '../../p2p/server.ts';
import { NodeServer } from '../../rpc/server.ts';
import { blockOn } from '../testing/hand-made.ts';
import { blocksBeside, hardPruningPoints } from '../testing/pruning-points.ts';
import {
  growTo,
  smallNode,
  type SmallSimulatedDag,
  smallSimulatedDag,
  START_TIME,
} from '../testing/small-simulated-dag.ts';

const NOT_ON_ITS_CHAIN = 'the queried hash does not have retention root on its chain';

let simulatedDag: SmallSimulatedDag;
/** All blocks before the pruning, as the node told of them then. */
let blocks: Map<string, { block: DagBlock; transactionCount: number; mergingIndex: number | undefined }>;
let pruningPoint: DagBlock;
let pruningIndex: number;

beforeEach(() => {
  simulatedDag = smallSimulatedDag('pruned', 260, { commitsToUtxos: true });
  const { dag } = simulatedDag.node;
  const first = hardPruningPoints(dag).find(({ chainIndex }) => Number(chainIndex) > 60);
  if (first === undefined) throw new Error('no block is hard to begin at');
  pruningPoint = first;
  pruningIndex = Number(first.chainIndex);
  blocks = new Map(
    [...dag.allBlocks()].map((block) => [
      block.hash,
      { block, transactionCount: block.transactions.length, mergingIndex: block.mergingBlock?.chainIndex },
    ]),
  );
});

test('the header of every chain block commits to its UTXO set', () => {
  const { node } = simulatedDag;
  const chainBlocks = node.dag.chainBlocks.filter((_, index) => index > 0 && index % 10 === 0);
  for (const block of chainBlocks) {
    node.prune(block.hash);
    expect(commitmentTo(node.pruningPointSet().utxos), `block ${block.hash}`).toBe(toHex(block.header.utxoCommitment));
  }
  const other = smallNode({ commitsToUtxos: true });
  other.restore(simulatedDag.bodies);
  expect(other.dag.sink.hash).toBe(simulatedDag.node.dag.sink.hash);
});

describe('a pruned node keeps', () => {
  test('the pruning point, its future, and blocks of its anticone that the future merges, with transactions', () => {
    const beside = blocksBeside(pruningPoint, simulatedDag.node.dag);
    expect(beside).not.toEqual([]);
    simulatedDag.node.prune(pruningPoint.hash);
    for (const { block, transactionCount, mergingIndex } of blocks.values()) {
      if (block !== pruningPoint && (mergingIndex ?? Infinity) <= pruningIndex) continue;
      if (!isInPastOf(simulatedDag.node.dag.sink, block)) continue;
      expect(simulatedDag.node.dag.find(block.hash)).toBe(block);
      expect([block.isHeaderOnly, block.transactions.length]).toEqual([false, transactionCount]);
    }
    for (const block of beside) expect(simulatedDag.node.dag.find(block.hash)).toBe(block);
  });

  test('headers of the blocks that these refer to, and nothing below', () => {
    const mergeSets = new Map(
      [...blocks].map(([hash, { block }]) => [hash, block.mergeSet.map((merged) => merged.hash)]),
    );
    const { dag } = simulatedDag.node;
    simulatedDag.node.prune(pruningPoint.hash);
    const kept = [...dag.allBlocks()];
    const headers = kept.filter(({ isHeaderOnly }) => isHeaderOnly);
    expect(headers.length).toBeGreaterThan(0);
    expect(headers.flatMap(({ transactions }) => transactions)).toEqual([]);
    expect(kept.length).toBeLessThan(blocks.size - 20);
    for (const block of kept) {
      const named = [...block.parents, ...block.mergeSet, ...block.children];
      expect(named.filter(({ hash }) => dag.find(hash) === undefined)).toEqual([]);
      if (!block.isHeaderOnly) expect(block.mergeSet.map(({ hash }) => hash)).toEqual(mergeSets.get(block.hash));
    }
  });
});

describe('responses', () => {
  test('as before from the pruning point on', async () => {
    const client = await clientOf(simulatedDag);
    const ask = async (start: string) => ({
      chain: await client.call('getVirtualChainFromBlock', { startHash: start, includeAcceptedTransactionIds: true }),
      full: await client
        .call('getVirtualChainFromBlockV2', { startHash: start, dataVerbosityLevel: 1 })
        .catch((error: unknown) => error),
      blocks: await client.call('getBlocks', { lowHash: start, includeBlocks: true, includeTransactions: true }),
    });
    const above = simulatedDag.node.dag.chainBlocks.slice(pruningIndex);
    const starts = above.filter((_, index) => index % 10 === 0).map(({ hash }) => hash);
    const before = await Promise.all(starts.map(ask));
    simulatedDag.node.prune(pruningPoint.hash);
    expect(await Promise.all(starts.map(ask))).toEqual(before);
    const { pruningPointHash } = await client.call('getBlockDagInfo', {});
    expect(pruningPointHash).toBe(pruningPoint.hash);
  });

  test('with the error of kaspad for blocks below', async () => {
    const client = await clientOf(simulatedDag);
    const { dag } = simulatedDag.node;
    const genesis = dag.genesis.hash;
    simulatedDag.node.prune(pruningPoint.hash);
    const gone = [...blocks.keys()].filter((hash) => dag.find(hash) === undefined && hash !== genesis).slice(0, 20);
    for (const hash of gone) {
      const words = `cannot find header ${hash}`;
      await expect(getBlock(client, hash)).rejects.toThrow(words);
      await expect(getBlocks(client, hash)).rejects.toThrow(words);
      await expect(getChain(client, hash)).rejects.toThrow(words);
    }
    await expect(getBlock(client, genesis)).rejects.toThrow(`some data is missing for block ${genesis}`);
    await expect(getBlocks(client, '')).rejects.toThrow(`some data is missing for block ${genesis}`);
    await expect(getChain(client, genesis)).rejects.toThrow(NOT_ON_ITS_CHAIN);
  });

  test('with headers just below, and no chain from there or from its anticone', async () => {
    const client = await clientOf(simulatedDag);
    const { dag } = simulatedDag.node;
    const beside = blocksBeside(pruningPoint, dag);
    simulatedDag.node.prune(pruningPoint.hash);
    const { selectedParent } = pruningPoint;
    if (selectedParent === undefined) throw new Error('no header below the pruning point');
    const { block } = await getBlock(client, selectedParent.hash);
    expect(block?.verboseData).toMatchObject({ isHeaderOnly: true, isChainBlock: true, transactionIds: [] });
    expect(block?.transactions).toEqual([]);
    const { blocks: page } = await getBlocks(client, selectedParent.hash);
    expect(page.find(({ verboseData }) => verboseData?.hash === pruningPoint.hash)?.transactions).not.toEqual([]);
    for (const { hash } of [selectedParent, ...beside]) {
      await expect(getChain(client, hash)).rejects.toThrow(NOT_ON_ITS_CHAIN);
    }
    await expect(client.call('getBlockRewardInfo', { hash: selectedParent.hash })).rejects.toThrow(
      'the queried hash does not have retention root in its past',
    );
    await expect(client.call('getCurrentBlockColor', { hash: selectedParent.hash })).rejects.toThrow(
      /doesn't have any merger block/,
    );
    expect(await client.call('getBlockRewardInfo', { hash: pruningPoint.hash })).toMatchObject({ blockColor: 1 });
    const { timestamps } = await client.call('getDaaScoreTimestampEstimate', {
      daaScores: [dag.genesis.header.daaScore, pruningPoint.header.daaScore, dag.sink.header.daaScore],
    });
    expect(timestamps).toEqual([dag.genesis, pruningPoint, dag.sink].map(({ header }) => header.timestamp));
  });
});

describe('a pruned node sends', () => {
  test('the UTXO set that the header of its pruning point commits to, with all rare features', async () => {
    const { node } = simulatedDag;
    const server = await utxoSetServerOf(simulatedDag);
    expect(await readSet(server, node.dag.genesis.hash)).toEqual([]);
    node.prune(pruningPoint.hash);
    const set = await readSet(server, pruningPoint.hash);
    expect(set.length).toBeGreaterThan(100);
    expect(commitmentTo(set)).toBe(toHex(pruningPoint.header.utxoCommitment));
    expect(set.some(({ scriptPublicKey }) => classifyScript(scriptPublicKey) === 'nonstandard')).toBe(true);
    expect(set.some(({ covenantId }) => covenantId !== undefined)).toBe(true);
    const spentAbove = node.dag.chainBlocks
      .slice(Number(pruningPoint.chainIndex) + 1)
      .flatMap(({ accepted = [] }) => accepted.flatMap(({ transaction }) => transaction.inputs))
      .map(({ previousOutpoint }) => `${toHex(previousOutpoint.transactionId)}:${previousOutpoint.index}`);
    const inSet = new Set(set.map(({ outpoint }) => `${toHex(outpoint.transactionId)}:${outpoint.index}`));
    expect(spentAbove.some((outpoint) => inSet.has(outpoint))).toBe(true);
  });

  test('another set when its pruning point moves, and no longer the old one', async () => {
    const { node } = simulatedDag;
    const server = await utxoSetServerOf(simulatedDag);
    node.prune(pruningPoint.hash);
    growTo(300, simulatedDag);
    const next = node.dag.chainBlocks.at(-10);
    if (next === undefined) throw new Error('no chain');
    node.prune(next.hash);
    expect(commitmentTo(await readSet(server, next.hash))).toBe(toHex(next.header.utxoCommitment));
    await expect(readSet(server, pruningPoint.hash)).rejects.toThrow('has another pruning point now');
  });
});

describe('a pruned node continues', () => {
  test('with blocks that refer to the pruning point, at every remaining depth', () => {
    const { node } = simulatedDag;
    const { dag } = node;
    const young = dag.chainBlocks.at(-4);
    if (young === undefined) throw new Error('no chain');
    node.prune(young.hash);
    growTo(400, simulatedDag);
    expect(dag.chainBlocks).toContain(young);
    const added = [...dag.allBlocks()].filter(({ hash }) => !blocks.has(hash));
    expect(added.length).toBeGreaterThan(100);
    expect(new Set(added.map(({ header }) => toHex(header.pruningPoint)))).toEqual(new Set([young.hash]));
  });

  test('after a reorg right above the pruning point', () => {
    const { node, simulation } = simulatedDag;
    const { dag } = node;
    node.prune(pruningPoint.hash);
    const above = dag.chainBlocks.slice(Number(pruningPoint.chainIndex) + 1);
    simulation.reorganise(node.consensus.changeableDepth, START_TIME + 500 * node.consensus.size);
    expect(above.filter(({ chainIndex }) => chainIndex !== undefined)).toEqual([]);
    expect(dag.chainBlocks).toContain(pruningPoint);
    growTo(node.consensus.size + 40, simulatedDag);
    expect(dag.chainBlocks).toContain(pruningPoint);
  });

  test('without blocks mined below the pruning point or in its anticone', () => {
    const { node } = simulatedDag;
    const below = node.dag.chainBlocks[pruningIndex - 1]?.header;
    const virtual = node.consensus.findVirtualOn([node.consensus.get(fromPruningPoint())]);
    if (virtual === undefined || below === undefined) throw new Error('nothing is below');
    const late = blockOn(node, { virtual });
    node.prune(pruningPoint.hash);
    expect(() => node.receive(late)).toThrow(`pruning point ${pruningPoint.hash} is not in the past of this block`);
    expect(() => node.prune(pruningPoint.hash)).toThrow(RangeError);
  });
});

function fromPruningPoint(): Uint8Array {
  return Buffer.from(pruningPoint.selectedParent?.hash ?? '', 'hex');
}

async function clientOf({ node }: SmallSimulatedDag): Promise<NodeClient> {
  const server = await NodeServer.start({ state: node });
  const client = new NodeClient({ url: server.url });
  onTestFinished(async () => {
    await client.close();
    server.close();
  });
  await client.waitUntilConnected();
  return client;
}

async function utxoSetServerOf({ node }: SmallSimulatedDag): Promise<UtxoSetServer> {
  const server = await UtxoSetServer.start({ network: 'simnet', set: () => node.pruningPointSet(), chunkSize: 50 });
  onTestFinished(() => server.close());
  return server;
}

async function readSet({ url }: UtxoSetServer, hash: string): Promise<Utxo[]> {
  const set: Utxo[] = [];
  const chunks = readUtxoSet({ url, network: 'simnet', pruningPointHash: Buffer.from(hash, 'hex') });
  for await (const { utxos } of chunks) set.push(...utxos);
  return set;
}

function getBlock(client: NodeClient, hash: string) {
  return client.call('getBlock', { hash, includeTransactions: true });
}

function getBlocks(client: NodeClient, lowHash: string) {
  return client.call('getBlocks', { lowHash, includeBlocks: true, includeTransactions: true });
}

function getChain(client: NodeClient, startHash: string) {
  return client.call('getVirtualChainFromBlock', { startHash, includeAcceptedTransactionIds: true });
}

function commitmentTo(utxos: readonly Utxo[]): string {
  const muhash = new MuHash();
  for (const utxo of utxos) muhash.add(utxo);
  return toHex(muhash.commitment());
}

function isInPastOf(block: DagBlock, other: DagBlock): boolean {
  const past = new Set([block]);
  for (const { parents } of past) for (const parent of parents) past.add(parent);
  return past.has(other);
}
