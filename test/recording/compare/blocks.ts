/**
 * getBlocks from every recorded low hash, and getBlock as the first block of a page and as a look-up. Not fixed are the order of children and of
 * what stands behind the sink. Blocks that the virtual block does not merge are unknown to an index: as children they are left
 * out. From a low hash that is not merged yet the node repeats blocks of its past behind the sink, the API need not.
 */
import type { Dag, DagBlock } from '@kasgres/devnet';
import { expectedBlock } from '../../node/expected.ts';
import type { protocol } from '@kasgres/node';
import { Findings, requests, type Harness, statusOf } from './harness.ts';

interface BlockJson {
  header: { hash: string };
  verboseData: { childrenHashes: string[] };
}

interface Page {
  blockHashes: string[];
  blocks: BlockJson[];
}

export async function compareBlockPages(harness: Harness): Promise<Findings> {
  const known = await knownBlocks(harness);
  const findings = new Findings();
  for (const { request, response } of requests(harness, 'getBlocks')) {
    const { lowHash, includeBlocks, includeTransactions } = request;
    const answer = await harness.api.post('/v1/rpc/getBlocks', { lowHash, includeBlocks, includeTransactions });
    const recorded: Page = {
      blockHashes: response.blockHashes,
      blocks: response.blocks.map((block) => apiBlock(block, includeTransactions)),
    };
    if (answer.status === 200)
      answer.body = { ...comparablePage(answer.body as unknown as Page, harness, lowHash, known) };
    const wanted =
      response.error === undefined
        ? { body: comparablePage(recorded, harness, lowHash, known) }
        : { status: statusOf(response.error.message) };
    findings.compare(`blocks from ${lowHash === '' ? 'the start' : lowHash}`, answer, wanted);
  }
  return findings;
}

/** As the first block of a page, and in the look-up, which has more: what the chain made of the block. */
export async function compareSingleBlocks(harness: Harness): Promise<Findings> {
  const known = await knownBlocks(harness);
  const findings = new Findings();
  for (const { request, response } of requests(harness, 'getBlock')) {
    const { hash, includeTransactions } = request;
    // No path: the node was asked for a block without a name.
    if (hash === '') continue;
    const lookedUp = await harness.api.get(`/v1/blocks/${hash}?include_transactions=${includeTransactions}`);
    if (response.block === undefined) {
      findings.compare(`look-up of block ${hash}`, lookedUp, { status: statusOf(response.error?.message ?? '') });
      continue;
    }
    const recorded = comparableBlock(apiBlock(response.block, includeTransactions), known);
    const wanted = { block: { ...recorded, ...restFields(harness.node.dag, hash) } };
    const { block } = lookedUp.body as { block?: BlockJson };
    if (block !== undefined) lookedUp.body = { block: comparableBlock(block, known) };
    findings.compare(`look-up of block ${hash}`, lookedUp, { body: wanted });

    const answer = await harness.api.post('/v1/rpc/getBlocks', {
      lowHash: hash,
      includeBlocks: true,
      includeTransactions,
    });
    const [first] = (answer.body as { blocks?: BlockJson[] }).blocks ?? [];
    if (first !== undefined) answer.body = { ...comparableBlock(first, known) };
    findings.compare(`block ${hash}`, answer, { body: recorded });
  }
  return findings;
}

/** What the look-up has beside the block that the node shows, as it follows from the recorded DAG. */
function restFields(dag: Dag, hash: string): object {
  const block = dag.get(hash);
  const { mergingBlock, header } = block;
  const color = mergingBlock?.mergeSetReds.includes(block) === true ? 'red' : 'blue';
  const counted = block.chainIndex === undefined ? mergingBlock : block;
  return {
    hash,
    blueScore: String(header.blueScore),
    daaScore: String(header.daaScore),
    timestamp: Number(header.timestamp),
    isChainBlock: block.chainIndex !== undefined,
    color: mergingBlock === undefined ? null : color,
    mergingBlockHash: mergingBlock?.hash ?? null,
    transactionCount: block.transactions.length,
    confirmations: counted === undefined ? 0 : Number(dag.sink.header.blueScore - counted.header.blueScore),
  };
}

/** Every block that the virtual block has in its past must be there. */
export async function compareKnownBlocks(harness: Harness): Promise<Findings> {
  const known = await knownBlocks(harness);
  const { chainBlocks, sink } = harness.node.dag;
  const wanted = [...chainBlocks.flatMap(({ mergeSet }) => mergeSet), sink, ...harness.node.tail()];
  const missing = wanted.filter(({ hash }) => !known.has(hash));
  const findings = new Findings();
  findings.add(
    missing.map(({ hash }) => `block ${hash} is missing`),
    wanted.length,
  );
  return findings;
}

async function knownBlocks({ pool }: Harness): Promise<Set<string>> {
  const { rows } = await pool.query<{ hash: string }>(`select encode(hash, 'hex') as hash from blocks`);
  return new Set(rows.map(({ hash }) => hash));
}

function apiBlock(block: protocol.Block, withTransactions: boolean): BlockJson {
  return expectedBlock(block, { withTransactions }) as unknown as BlockJson;
}

function comparablePage({ blockHashes, blocks }: Page, { node }: Harness, lowHash: string, known: Set<string>): Page {
  const sinkPlace = blockHashes.indexOf(node.dag.sink.hash);
  const ordered = sinkPlace === -1 ? blockHashes : blockHashes.slice(0, sinkPlace + 1);
  const lowPast = pastOffChain(node.dag.find(lowHash));
  const tail = blockHashes.slice(ordered.length).filter((hash) => !lowPast.has(hash));
  const hashes = [...ordered, ...tail.sort()];
  const byHash = new Map(blocks.map((block) => [block.header.hash, block]));
  return {
    blockHashes: hashes,
    blocks: hashes.flatMap((hash) => byHash.get(hash) ?? []).map((block) => comparableBlock(block, known)),
  };
}

function comparableBlock(block: BlockJson, known: Set<string>): BlockJson {
  const childrenHashes = block.verboseData.childrenHashes.filter((hash) => known.has(hash)).sort();
  return { ...block, verboseData: { ...block.verboseData, childrenHashes } };
}

/** What a block off the chain has in its past above the chain. */
function pastOffChain(low: DagBlock | undefined): Set<string> {
  const past = new Set<string>();
  for (let block = low; block !== undefined && block.chainIndex === undefined; block = block.selectedParent) {
    for (const { hash } of block.mergeSet) past.add(hash);
  }
  return past;
}
