/** Checks invariant 9 from outside: responses agree with the sink in their header. */
import { expect } from 'vitest';
import type { ApiClient } from '../support/api-client.ts';
import type { ApiResponse } from '../support/openapi.ts';

export const CHAIN = '/v1/rpc/getVirtualChainFromBlock';
export const BLOCKS = '/v1/rpc/getBlocks';

export const sinkOf = ({ headers }: ApiResponse): string | null => headers.get('x-kasgres-sink');

/**
 * Requests the chain and its last blocks, compares each response with its sink header, and returns
 * the sink.
 */
export async function readOneState(api: ApiClient, genesis: string): Promise<string | null> {
  const chain = await api.request(CHAIN, { body: { startHash: genesis, includeAcceptedTransactionIds: true } });
  const added = chain.json['addedChainBlockHashes'] as string[];
  const groups = chain.json['acceptedTransactionIds'] as AcceptedIds[];
  expect(added.at(-1)).toBe(sinkOf(chain));
  expect(groups.map((group) => group.acceptingBlockHash)).toEqual(added);

  const page = await api.request(BLOCKS, { body: { lowHash: added.at(-20), includeBlocks: true } });
  const blocks = page.json['blocks'] as { verboseData: BlockLink }[];
  expectOneChain(
    blocks.map((block) => block.verboseData),
    sinkOf(page),
  );
  return sinkOf(chain);
}

interface AcceptedIds {
  acceptingBlockHash: string;
  acceptedTransactionIds: string[];
}

interface BlockLink {
  hash: string;
  isChainBlock: boolean;
  selectedParentHash: string;
}

/**
 * Expects that the blocks with `isChainBlock` are one chain of selected parents that ends in the
 * sink.
 */
function expectOneChain(blocks: readonly BlockLink[], sink: string | null): void {
  const chain = blocks.filter((block) => block.isChainBlock);
  const hashes = new Set(chain.map((block) => block.hash));
  expect(hashes).toContain(sink);
  expect(chain.filter((block) => !hashes.has(block.selectedParentHash))).toHaveLength(1);
}
