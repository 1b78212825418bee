/** The DAG of a node at rest, read once with the generated decoder. */
import type { NodeClient, protocol } from '@kasgres/node';

export interface ChainBlock {
  hash: string;
  header: protocol.Header;
  acceptedTransactionIds: string[];
}

export interface NodeDag {
  genesis: string;
  /** Genesis if there is no other block. */
  sink: ChainBlock;
  /** Every block of getBlocks, with transactions. */
  blocks: Map<string, protocol.Block>;
  /** From the first block after genesis up to the sink. */
  chain: ChainBlock[];
  /** By transaction id. */
  acceptedBy: Map<string, ChainBlock>;
  /** The chain block whose mergeset has a block, by the hash of that block. */
  mergedBy: Map<string, ChainBlock>;
  transactionIds: string[];
  addresses: string[];
}

export async function readDag(node: NodeClient): Promise<NodeDag> {
  const { pruningPointHash: genesis } = await node.call('getBlockDagInfo', {});
  const blocks = await readBlocks(node, genesis);
  const chain = await readChain(node, genesis, blocks);
  const sink = chain.at(-1) ?? chainBlock(genesis, [], blocks);
  const transactions = [...blocks.values()].flatMap((block) => block.transactions);
  const addresses = transactions.flatMap(({ outputs }) =>
    outputs.flatMap(({ verboseData }) => verboseData?.scriptPublicKeyAddress ?? []),
  );
  return {
    genesis,
    sink,
    blocks,
    chain,
    acceptedBy: new Map(chain.flatMap((block) => block.acceptedTransactionIds.map((id) => [id, block] as const))),
    mergedBy: new Map(
      chain.flatMap((block) => {
        const { mergeSetBluesHashes = [], mergeSetRedsHashes = [] } = blocks.get(block.hash)?.verboseData ?? {};
        return [...mergeSetBluesHashes, ...mergeSetRedsHashes].map((hash) => [hash, block] as const);
      }),
    ),
    transactionIds: [...new Set(transactions.flatMap(({ verboseData }) => verboseData?.transactionId ?? []))],
    addresses: [...new Set(addresses)],
  };
}

async function readBlocks(node: NodeClient, genesis: string): Promise<Map<string, protocol.Block>> {
  const blocks = new Map<string, protocol.Block>();
  const { sink } = await node.call('getSink', {});
  let lowHash = genesis;
  while (!blocks.has(sink)) {
    const page = await node.call('getBlocks', { lowHash, includeBlocks: true, includeTransactions: true });
    for (const block of page.blocks) blocks.set(block.verboseData?.hash ?? '', block);
    lowHash = page.blockHashes.at(-1) ?? sink;
  }
  return blocks;
}

async function readChain(
  node: NodeClient,
  genesis: string,
  blocks: ReadonlyMap<string, protocol.Block>,
): Promise<ChainBlock[]> {
  const chain: ChainBlock[] = [];
  for (;;) {
    const startHash = chain.at(-1)?.hash ?? genesis;
    const response = await node.call('getVirtualChainFromBlock', { startHash, includeAcceptedTransactionIds: true });
    if (response.addedChainBlockHashes.length === 0) return chain;
    for (const { acceptingBlockHash, acceptedTransactionIds } of response.acceptedTransactionIds) {
      chain.push(chainBlock(acceptingBlockHash, acceptedTransactionIds, blocks));
    }
  }
}

function chainBlock(
  hash: string,
  acceptedTransactionIds: string[],
  blocks: ReadonlyMap<string, protocol.Block>,
): ChainBlock {
  const header = blocks.get(hash)?.header;
  if (header === undefined) throw new Error(`chain block ${hash} is not among the blocks`);
  return { hash, header, acceptedTransactionIds };
}
