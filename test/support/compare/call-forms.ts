/** Parts of responses in one order, and values that the node does not say. */
import type { ResponseOf } from '@kasgres/node';
import type { DagComparison, Json } from './comparison.ts';
import { expectedMempoolEntry } from './expected.ts';
import type { NodeDag } from './node-dag.ts';

export interface BlockJson {
  header: { hash: string };
  verboseData: { childrenHashes: string[] };
}

export interface BlocksJson {
  blockHashes: string[];
  blocks: BlockJson[];
}

export function sortChildren(block: BlockJson | undefined, { indexed }: DagComparison): void {
  if (block === undefined) return;
  const children = block.verboseData.childrenHashes;
  block.verboseData.childrenHashes = children.filter((hash) => indexed?.has(hash) ?? true).sort();
}

/**
 * Sorts the blocks beyond the sink. Starting at a block that is not merged yet, the node repeats
 * blocks of its past there.
 */
export function sortPage(page: BlocksJson, lowHash: string, comparison: DagComparison): void {
  const { dag, indexed } = comparison;
  const tail = page.blockHashes.splice(page.blockHashes.lastIndexOf(dag.sink.hash) + 1 || page.blockHashes.length);
  const repeated = indexed === undefined ? new Set() : pastBesideChain(lowHash, dag);
  page.blockHashes.push(...tail.filter((hash) => !repeated.has(hash)).sort());
  const blocks = new Map(page.blocks.map((block) => [block.header.hash, block]));
  if (page.blocks.length > 0) page.blocks = page.blockHashes.flatMap((hash) => blocks.get(hash) ?? []);
  for (const block of page.blocks) sortChildren(block, comparison);
}

function pastBesideChain(hash: string, { blocks }: NodeDag): Set<string> {
  const past = new Set<string>();
  let data = blocks.get(hash)?.verboseData;
  while (data !== undefined && !data.isChainBlock) {
    for (const merged of [...data.mergeSetBluesHashes, ...data.mergeSetRedsHashes]) past.add(merged);
    data = blocks.get(data.selectedParentHash)?.verboseData;
  }
  return past;
}

/** Interpolates between the two neighbours on the chain with the node's own arithmetic. */
export function timeOf(score: bigint, { chain, blocks, genesis }: NodeDag): bigint {
  const aboveIndex = chain.findIndex(({ header }) => header.daaScore > score);
  const above = chain[aboveIndex]?.header;
  const below = chain[aboveIndex - 1]?.header ?? blocks.get(genesis)?.header;
  if (above === undefined || below === undefined) throw new Error(`no chain blocks around DAA score ${score}`);
  const duration = Math.max(0, Number(above.timestamp - below.timestamp));
  const share = Number(score - below.daaScore) / Number(above.daaScore - below.daaScore);
  return below.timestamp + BigInt(Math.trunc(duration * share));
}

/**
 * For each address what it sends, then what it receives, each transaction once. Neither group has a
 * fixed order.
 */
export function entryGroups(
  entries: ResponseOf<'getMempoolEntriesByAddresses'>['entries'],
  addresses: readonly string[],
): Json[][] {
  const seen = new Set<string>();
  return addresses.flatMap((address) => {
    const found = entries.find((entry) => entry.address === address);
    return [found?.sending ?? [], found?.receiving ?? []].map((group) =>
      group.map(expectedMempoolEntry).filter((entry) => seen.size < seen.add(transactionIdOf(entry)).size),
    );
  });
}

function transactionIdOf(entry: Json): string {
  return (entry as { transaction: { verboseData: { transactionId: string } } }).transaction.verboseData.transactionId;
}

export const byTransactionId = (left: Json, right: Json): number =>
  transactionIdOf(left) < transactionIdOf(right) ? -1 : 1;
