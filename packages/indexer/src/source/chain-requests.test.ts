import { fromHex, getNetwork, type Hash, toHex } from '@kasgres/kaspa';
import { type NodeClient, NodeRpcError, NodeUnsuitableError, type RpcBlock } from '@kasgres/node';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { IncompleteUpdateError, NodeBehindError } from '../errors.ts';
import type { OwnChain } from '../indexed-chain.ts';
import { ChainRequests, type ChainStep, findLeast } from './chain-requests.ts';

const network = { ...getNetwork('simnet'), finalityDepth: 100n };
const { signal } = new AbortController();

/**
 * Blocks are named by their chain and their height, which is their blue score and their work: `a7`.
 * `a` is ours.
 */
const hashOf = (name: string): Hash => fromHex(Buffer.from(name).toString('hex').padEnd(64, '0'));
const nameOf = (hash: Hash): string => Buffer.from(hash).toString().replaceAll('\0', '');
const heightOf = (name: string): number => Number(name.slice(1));
const range = (chain: string, from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, i) => `${chain}${from + i}`);

interface FakeNode {
  /** Its chain from the first block that it has, up. */
  chain: string[];
  /** The selected parents of known blocks off its chain. */
  others?: Record<string, string>;
  /** It has the header alone. */
  pruned?: string[];
}

/** Responds as the node does. */
function nodeWith({ chain, others = {}, pruned = [] }: FakeNode): NodeClient & { asked: string[] } {
  const asked: string[] = [];
  const check = (name: string): void => {
    if (!chain.includes(name) && others[name] === undefined && !pruned.includes(name)) {
      throw new NodeRpcError('getBlock', `cannot find header ${name}`);
    }
  };
  const sink = chain.at(-1) as string;
  const below = (name: string): string => others[name] ?? chain[chain.indexOf(name) - 1] ?? 'origin';
  const responses = {
    asked,
    call: async () => ({ blueScore: BigInt(heightOf(sink)), sink: toHex(hashOf(sink)) }),
    getBlock: async ({ hash }: { hash: Hash }) => {
      const name = nameOf(hash);
      asked.push(name);
      check(name);
      const height = BigInt(heightOf(name));
      return { header: { blueScore: height, blueWork: height }, selectedParentHash: hashOf(below(name)) } as RpcBlock;
    },
    getVirtualChainFromBlock: async ({ startHash }: { startHash: Hash }) => {
      let name = nameOf(startHash);
      check(name);
      if (pruned.includes(name)) throw new NodeRpcError('', `some data is missing for block ${name}`);
      const removed: string[] = [];
      for (; !chain.includes(name); name = below(name)) removed.push(name);
      const added = chain.slice(chain.indexOf(name) + 1).map(hashOf);
      return {
        removedChainBlockHashes: removed.map(hashOf),
        addedChainBlockHashes: added,
        acceptedTransactionIds: added.map((hash) => ({ acceptingBlockHash: hash, acceptedTransactionIds: [] })),
      };
    },
  };
  return responses as unknown as NodeClient & { asked: string[] };
}

/** `a0`, where the index began, to `a<top>`, every so many heights. */
function ourChain(top: number, everyHeight = 1): OwnChain {
  const find = async (depth: number) => {
    const height = BigInt(top - depth * everyHeight);
    return { hash: hashOf(`a${height}`), blueScore: height, blueWork: height };
  };
  return {
    depth: async () => top / everyHeight - 1,
    find,
    top: (count) => Promise.all(Array.from({ length: count }, async (_, depth) => (await find(depth)).hash)),
  };
}

interface Names extends Pick<ChainStep, 'targetBlueScore'> {
  removed: string[];
  added: string[];
  fork: string;
}

async function ask(node: NodeClient, own: OwnChain, isCheckpoint = true): Promise<Names> {
  const step = await new ChainRequests({ node, network, ownChain: own, signal }).requestStep(
    await own.find(0),
    isCheckpoint,
  );
  const { removed, added, fork, targetBlueScore } = step;
  return { removed: removed.map(nameOf), added: added.map(nameOf), fork: nameOf(fork.hash), targetBlueScore };
}

const refused = (reason: string): unknown => expect.objectContaining({ name: NodeUnsuitableError.name, reason });

test.each([1, 2, 3, 4, 7, 8, 30, 99])(
  'if the node never received the top %i blocks, it continues at the highest block that the node knows',
  async (lost) => {
    const fork = 200 - lost;
    const node = nodeWith({ chain: [...range('a', 0, fork), ...range('b', fork + 1, 210)] });
    await expect(ask(node, ourChain(200))).resolves.toEqual({
      removed: range('a', fork + 1, 200).reverse(),
      added: range('b', fork + 1, 210),
      fork: `a${fork}`,
      targetBlueScore: 210n,
    });
    expect(node.asked.length).toBeLessThan(20);
  },
);

test('it also removes known blocks off the chain of the node, down to the fork', async () => {
  const node = nodeWith({
    chain: [...range('a', 0, 150), ...range('b', 151, 210)],
    others: Object.fromEntries(range('a', 151, 190).map((name, i) => [name, `a${150 + i}`])),
  });
  await expect(ask(node, ourChain(200))).resolves.toMatchObject({
    removed: range('a', 151, 200).reverse(),
    added: range('b', 151, 210),
    fork: 'a150',
  });
});

/** It knows ours up to 150, and follows another from the fork on. */
const partedAt = (fork: number) => ({
  chain: [...range('a', 0, fork), ...range('b', fork + 1, 210)],
  others: Object.fromEntries(range('a', fork + 1, 150).map((name, i) => [name, `a${fork + i}`])),
});

test('it measures finality from the checkpoint to the fork, not from the highest known block', async () => {
  await expect(ask(nodeWith(partedAt(100)), ourChain(200))).resolves.toMatchObject({ fork: 'a100' });
  await expect(ask(nodeWith(partedAt(98)), ourChain(200))).rejects.toThrow(
    /a reorg 101 blue blocks deep, below finality/,
  );
  await expect(ask(nodeWith(partedAt(98)), ourChain(200))).rejects.toEqual(refused('other-chain'));
});

test.each([1, 5])(
  'a node that knows no block down to finality has another chain (invariant 11; a chain block every %i heights)',
  async (every) => {
    const at = nodeWith({ chain: [...range('a', 0, 100), ...range('b', 101, 210)] });
    await expect(ask(at, ourChain(200, every))).resolves.toMatchObject({ fork: 'a100' });
    const below = nodeWith({ chain: [...range('a', 0, 99), ...range('b', 100, 210)] });
    await expect(ask(below, ourChain(200, every))).rejects.toEqual(refused('other-chain'));
    expect(below.asked.every((name) => name.startsWith('b') || heightOf(name) >= 100)).toBe(true);
  },
);

test('it does not continue from the bootstrap block, since another network may have the same genesis', async () => {
  const node = nodeWith({ chain: ['a0', ...range('b', 1, 60)] });
  await expect(ask(node, ourChain(50))).rejects.toThrow(/no longer knows block/);
  await expect(ask(node, ourChain(50))).rejects.toEqual(refused('other-chain'));
  await expect(ask(node, ourChain(1))).rejects.toEqual(refused('other-chain'));
});

test('it waits for a node whose sink has less work than ours', async () => {
  const wiped = nodeWith({ chain: range('a', 0, 199) });
  await expect(ask(wiped, ourChain(200))).rejects.toBeInstanceOf(NodeBehindError);
  const elsewhere = nodeWith({ chain: [...range('a', 0, 190), ...range('b', 191, 199)] });
  await expect(ask(elsewhere, ourChain(200))).rejects.toBeInstanceOf(NodeBehindError);
  const headersFirst = nodeWith({
    chain: range('a', 0, 20),
    others: Object.fromEntries(range('a', 21, 200).map((name, i) => [name, `a${20 + i}`])),
  });
  await expect(ask(headersFirst, ourChain(200))).rejects.toThrow(
    /is at blue score 20, and has no more than the header/,
  );
  await expect(ask(headersFirst, ourChain(200))).rejects.toBeInstanceOf(NodeBehindError);
});

test('it follows a node with as much work as ours', async () => {
  const node = nodeWith({ chain: [...range('a', 0, 199), 'b200'] });
  await expect(ask(node, ourChain(200))).resolves.toMatchObject({ removed: ['a200'], added: ['b200'] });
});

test('it stops if the node has pruned our blocks (invariant 11)', async () => {
  const chain = range('b', 195, 500);
  await expect(ask(nodeWith({ chain, pruned: range('a', 0, 200) }), ourChain(200))).rejects.toEqual(refused('pruned'));
  await expect(ask(nodeWith({ chain, pruned: range('a', 0, 190) }), ourChain(200))).rejects.toEqual(refused('pruned'));
});

test('it retries from the checkpoint if a later position is unknown, since the database does not have it yet', async () => {
  const node = nodeWith({ chain: [...range('a', 0, 199), 'b200', 'b201'] });
  await expect(ask(node, ourChain(200), false)).rejects.toBeInstanceOf(IncompleteUpdateError);
});

test('it finds the least candidate with about twice its logarithm of checks', async () => {
  const cases = fc.asyncProperty(fc.integer({ min: 1, max: 500_000 }), fc.nat(500_000), async (least, max) => {
    const asked: number[] = [];
    const found = await findLeast(max, async (candidate) => {
      asked.push(candidate);
      return candidate >= least;
    });
    expect(found).toBe(least <= max ? least : undefined);
    expect(asked.every((candidate) => candidate >= 1 && candidate <= max)).toBe(true);
    expect(asked.length).toBeLessThanOrEqual(2 * Math.ceil(Math.log2(Math.min(least, max + 1))) + 2);
  });
  await fc.assert(cases);
});
