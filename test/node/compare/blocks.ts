/** getBlocks: every page from genesis on, and what comes from every block, on the chain or beside it. */
import type { NodeClient } from '@kasgres/node';
import type { ApiClient } from '../api-client.ts';
import { meet } from '../differences.ts';
import { expectedBlock } from '../expected.ts';
import { firstDifference } from './first-difference.ts';
import { inParallel } from './in-parallel.ts';
import type { NodeDag } from './node-dag.ts';

interface Request {
  lowHash: string;
  includeBlocks: boolean;
  includeTransactions: boolean;
}

interface BlocksJson {
  blockHashes: string[];
  blocks: { verboseData: { hash: string; childrenHashes: string[] } }[];
}

const FORMS = [
  { includeBlocks: false, includeTransactions: false },
  { includeBlocks: true, includeTransactions: false },
  { includeBlocks: true, includeTransactions: true },
];

/** Page after page, in every form, from genesis to the sink: each block of the DAG with all its fields. */
export async function comparePages(node: NodeClient, api: ApiClient, dag: NodeDag): Promise<string[]> {
  const wrong: string[] = [];
  for (const form of FORMS) {
    // An empty lowHash is genesis.
    const seen = new Set<string>();
    let lowHash = '';
    while (!seen.has(dag.sink.hash)) {
      const { fault, hashes } = await compareOne(node, api, dag, { lowHash, ...form });
      if (fault !== undefined) wrong.push(fault);
      for (const hash of hashes) seen.add(hash);
      lowHash = hashes.at(-1) ?? dag.sink.hash;
    }
    if (seen.size !== dag.blocks.size) wrong.push(`pages gave ${seen.size} of ${dag.blocks.size} blocks`);
  }
  return wrong;
}

/** From every block the hashes; from every `every`-th one also the blocks, and the blocks with transactions. */
export async function compareFromEveryBlock(
  node: NodeClient,
  api: ApiClient,
  dag: NodeDag,
  { every }: { every: number },
): Promise<string[]> {
  const wrong: string[] = [];
  const tail = new Set(tailOf(dag));
  await inParallel([...[...dag.blocks.keys()].entries()], async ([index, lowHash]) => {
    const forms = index % every === 0 || tail.has(lowHash) ? FORMS : FORMS.slice(0, 1);
    for (const form of forms) {
      const { fault } = await compareOne(node, api, dag, { lowHash, ...form });
      if (fault !== undefined) wrong.push(fault);
    }
  });
  return wrong;
}

/** Blocks that nothing merges yet, without the sink. */
function tailOf({ blocks, chain, sink, genesis }: NodeDag): string[] {
  const merged = chain.flatMap(({ hash }) => {
    const data = blocks.get(hash)?.verboseData;
    return [...(data?.mergeSetBluesHashes ?? []), ...(data?.mergeSetRedsHashes ?? [])];
  });
  const known = new Set([genesis, sink.hash, ...merged]);
  return [...blocks.keys()].filter((hash) => !known.has(hash));
}

async function compareOne(
  node: NodeClient,
  api: ApiClient,
  dag: NodeDag,
  request: Request,
): Promise<{ fault: string | undefined; hashes: string[] }> {
  const [fromNode, fromApi] = await Promise.all([
    node.call('getBlocks', request),
    api.post('/v1/rpc/getBlocks', request),
  ]);
  const name = `getBlocks ${JSON.stringify(request)}`;
  if (fromApi.status !== 200) return { fault: `${name}: status ${fromApi.status}`, hashes: fromNode.blockHashes };
  const expected: BlocksJson = {
    blockHashes: fromNode.blockHashes,
    blocks: fromNode.blocks.map(
      (block) =>
        expectedBlock(block, { withTransactions: request.includeTransactions }) as BlocksJson['blocks'][number],
    ),
  };
  const actual = fromApi.body as unknown as BlocksJson;
  noteOrders(expected, actual);
  const difference = firstDifference(inCommonOrder(expected, dag.sink.hash), inCommonOrder(actual, dag.sink.hash));
  return { fault: difference && `${name}: ${difference}`, hashes: fromNode.blockHashes };
}

/** What has no fixed order is sorted: children, and what comes after the sink. */
function inCommonOrder({ blockHashes, blocks }: BlocksJson, sink: string): BlocksJson {
  const tailBegins = blockHashes.includes(sink) ? blockHashes.lastIndexOf(sink) + 1 : blockHashes.length;
  const hashOf = (block: BlocksJson['blocks'][number]): string => block.verboseData.hash;
  for (const { verboseData } of blocks) verboseData.childrenHashes.sort();
  return {
    blockHashes: [...blockHashes.slice(0, tailBegins), ...blockHashes.slice(tailBegins).sort()],
    blocks: [
      ...blocks.slice(0, tailBegins),
      ...blocks.slice(tailBegins).sort((left, right) => (hashOf(left) < hashOf(right) ? -1 : 1)),
    ],
  };
}

function noteOrders(expected: BlocksJson, actual: BlocksJson): void {
  if (expected.blockHashes.join() !== actual.blockHashes.join()) meet('tailOrder');
  const childrenOf = ({ blocks }: BlocksJson): string =>
    blocks.map(({ verboseData }) => verboseData.childrenHashes).join();
  if (childrenOf(expected) !== childrenOf(actual)) meet('childrenOrder');
}
