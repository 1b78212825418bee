import { getNetwork, type Hash, toHex } from '@kasgres/kaspa';
import { type NodeClient, NodeRpcError, type RpcBlock, type VirtualChainResponse } from '@kasgres/node';
import { FatalError } from '@kasgres/runtime';
import { decodeBlocks } from '@kasgres/node/decode-responses';
import { expect, test } from 'vitest';
import { recordedResponses } from '../../../node/src/testing/recorded-calls.ts';
import type { ChainUpdate } from '../chain-update.ts';
import { IncompleteUpdateError, NodeBehindError } from '../errors.ts';
import type { OwnChain } from '../indexed-chain.ts';
import { mergeSetOf } from './block-set.ts';
import { findFault } from './check-block.ts';
import { Source } from './source.ts';

const network = getNetwork('simnet');
const limits = { pageStreams: 1, maxBytesAhead: 1e6, batchTransactions: 100 };
const hashOf = (n: number): Hash => new Uint8Array(32).fill(n);
const start = { hash: hashOf(1), blueScore: 1_000_000n };
/** For tests in which the node knows the checkpoint, or nothing of ours. */
const noChain: OwnChain = {
  depth: async () => 0,
  find: async () => ({ ...start, blueWork: start.blueScore }),
  top: async () => [],
};

/**
 * A node that gives one response about the chain, and knows every block by its blue score alone;
 * each blue block is one of work.
 */
function nodeThatSays(
  chain: Partial<VirtualChainResponse> | Error,
  blueScoreOfBlocks = start.blueScore,
  blocks: RpcBlock[] = [],
): NodeClient {
  const header = { blueScore: blueScoreOfBlocks, blueWork: blueScoreOfBlocks };
  const responses = {
    subscribe: () => ({ close: () => undefined }),
    call: async () => ({ blueScore: 1_000_000n, sink: toHex(hashOf(0xff)) }),
    getVirtualChainFromBlock: async () => {
      if (chain instanceof Error) throw chain;
      return {
        removedChainBlockHashes: [],
        addedChainBlockHashes: [],
        acceptedTransactionIds: [],
        wireBytes: 0,
        ...chain,
      };
    },
    getBlock: async () => ({ header, selectedParentHash: hashOf(9) }) as RpcBlock,
    getBlocks: async () => ({ blockHashes: [], blocks, wireBytes: 0 }),
  };
  return responses as unknown as NodeClient;
}

async function firstUpdate(node: NodeClient, from = start): Promise<ChainUpdate> {
  const { signal } = new AbortController();
  const updates = new Source({ node, network, ownChain: noChain, limits, signal }).updates(from);
  const next = await updates.next();
  await updates.return(undefined);
  return next.value as ChainUpdate;
}

test('it refuses a reorg below finality with an explanation (invariant 11)', async () => {
  const node = nodeThatSays({ removedChainBlockHashes: [hashOf(1)] }, start.blueScore - network.finalityDepth - 1n);
  await expect(firstUpdate(node)).rejects.toThrow(/a reorg 432001 blue blocks deep, below finality/);
  await expect(firstUpdate(node)).rejects.toBeInstanceOf(FatalError);
});

test('it follows a reorg at finality, also if no block was added yet', async () => {
  const node = nodeThatSays({ removedChainBlockHashes: [hashOf(1)] }, start.blueScore - network.finalityDepth);
  await expect(firstUpdate(node)).resolves.toMatchObject({ removed: [hashOf(1)], added: [] });
});

test.each([
  'cannot find header 0101',
  'some data is missing for block 0101',
  'the queried hash does not have retention root on its chain',
])('a node that says "%s" of the checkpoint is refused with an explanation (invariant 11)', async (message) => {
  const node = nodeThatSays(new NodeRpcError('getVirtualChainFromBlock', message));
  await expect(firstUpdate(node)).rejects.toThrow(/no longer knows block 0101/);
  await expect(firstUpdate(node)).rejects.toBeInstanceOf(FatalError);
});

test('it distinguishes a node that is behind from one on another chain', async () => {
  const node = nodeThatSays(new NodeRpcError('getVirtualChainFromBlock', 'cannot find header 0101'), 999_999n);
  await expect(firstUpdate(node)).rejects.toBeInstanceOf(NodeBehindError);
  await expect(firstUpdate(node)).rejects.toThrow(
    /is at blue score 999999, and does not know block 0101.* at 1000000 yet/,
  );
});

test('it rejects a chain without lists of accepted ids (invariant 10)', async () => {
  const node = nodeThatSays({ addedChainBlockHashes: [hashOf(2)] });
  await expect(firstUpdate(node)).rejects.toBeInstanceOf(IncompleteUpdateError);
});

test('it rejects a chain whose blocks are missing (invariant 10)', async () => {
  const node = nodeThatSays({
    addedChainBlockHashes: [hashOf(2)],
    acceptedTransactionIds: [{ acceptingBlockHash: hashOf(2), acceptedTransactionIds: [] }],
  });
  await expect(firstUpdate(node)).rejects.toThrow(/no blocks come after 0101/);
});

test('it rejects a chain that leaves out a chain block (invariant 10)', async () => {
  const blocks = recordedResponses('getBlocks')
    .flatMap(({ body }) => [...decodeBlocks(body)])
    .filter((block) => findFault(block) === undefined);
  const byName = new Map(blocks.map((block) => [toHex(block.hash), block]));
  const known = (hash: Hash | undefined) => (hash === undefined ? undefined : byName.get(toHex(hash)));
  // A block with its mergeset whose selected parent has its own selected parent there, which
  // becomes the checkpoint.
  const top = blocks.find(
    (block) => mergeSetOf(block).every(known) && known(known(mergeSetOf(block)[0])?.mergeSetBluesHashes[0]),
  ) as RpcBlock;
  const parent = known(mergeSetOf(top)[0]) as RpcBlock;
  const below = known(parent.mergeSetBluesHashes[0]) as RpcBlock;
  const from = { hash: below.hash, blueScore: below.header.blueScore };
  const updateOf = (...added: RpcBlock[]): Promise<ChainUpdate> => {
    const chain = {
      addedChainBlockHashes: added.map(({ hash }) => hash),
      acceptedTransactionIds: added.map(({ hash, selectedParentHash }) => ({
        acceptingBlockHash: hash,
        acceptedTransactionIds: known(selectedParentHash)?.transactions.map(({ transactionId }) => transactionId) ?? [],
      })),
    };
    return firstUpdate(nodeThatSays(chain, below.header.blueScore, [...byName.values()]), from);
  };
  await expect(updateOf(top)).rejects.toThrow(/does not follow/);
  await expect(updateOf(parent, top)).resolves.toMatchObject({ added: [{}, {}] });
});
