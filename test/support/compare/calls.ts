/**
 * Calls under /v1/rpc that a node responds to as well: the expected response of the API is the
 * node's in the API's JSON.
 */
import { NodeRpcError, type RequestOf, type ResponseOf } from '@kasgres/node';
import {
  chunks,
  type Comparison,
  type DagComparison,
  firstDifference,
  inParallel,
  type Json,
  show,
  tolerate,
} from './comparison.ts';
import {
  expectedBlock,
  expectedDagInfo,
  expectedFees,
  expectedInfo,
  expectedMempoolEntry,
  expectedServerInfo,
  expectedTemplate,
} from './expected.ts';
import {
  type BlockJson,
  type BlocksJson,
  byTransactionId,
  entryGroups,
  sortChildren,
  sortPage,
  timeOf,
} from './call-forms.ts';

/** The API refuses other windows. The node has other bounds. */
const WINDOW = { min: 1000, max: 10_000 };
const VIRTUAL_BLOCK = 'ff'.repeat(32);

interface Rule<Op extends ComparedOp> {
  /** Path of a GET request. By default the node's request is posted. */
  path?: (request: RequestOf<Op>) => string;
  body?: (request: RequestOf<Op>) => Json;
  /** Tells what the API refuses with 400 and the node does not. */
  isRefused?: (request: RequestOf<Op>, comparison: DagComparison) => boolean;
  expected: (response: ResponseOf<Op>, request: RequestOf<Op>, comparison: DagComparison) => Json;
  /** Sorts the items without a fixed order, in place. */
  sort?: (json: Json, call: { request: RequestOf<Op>; response: ResponseOf<Op>; comparison: DagComparison }) => void;
  tolerates?: Parameters<typeof tolerate>[0];
}

const PARAMETERLESS = [
  'getBlockCount',
  'getBlockDagInfo',
  'getCurrentNetwork',
  'getFeeEstimate',
  'getInfo',
  'getServerInfo',
  'getSink',
  'getSinkBlueScore',
] as const;

export type ComparedOp =
  | (typeof PARAMETERLESS)[number]
  | 'estimateNetworkHashesPerSecond'
  | 'getBlock'
  | 'getBlocks'
  | 'getBlockTemplate'
  | 'getDaaScoreTimestampEstimate'
  | 'getMempoolEntries'
  | 'getMempoolEntriesByAddresses'
  | 'getMempoolEntry'
  | 'getVirtualChainFromBlock';

const RULES: { [Op in ComparedOp]: Rule<Op> } = {
  getBlockCount: get('getBlockCount', ({ blockCount, headerCount }) => ({
    blockCount: String(blockCount),
    headerCount: String(headerCount),
  })),
  getBlockDagInfo: {
    ...get('getBlockDagInfo', expectedDagInfo),
    sort: (json) => {
      for (const value of Object.values(json))
        if (Array.isArray(value)) value.sort((one, other) => (String(one) < String(other) ? -1 : 1));
    },
    tolerates: 'dagOrder',
  },
  getCurrentNetwork: get('getCurrentNetwork', ({ currentNetwork }) => ({ network: currentNetwork })),
  getFeeEstimate: get('getFeeEstimate', expectedFees),
  getInfo: get('getInfo', expectedInfo),
  getServerInfo: get('getServerInfo', expectedServerInfo),
  getSink: get('getSink', ({ sink }) => ({ sink })),
  getSinkBlueScore: get('getSinkBlueScore', ({ blueScore }) => ({ blueScore: String(blueScore) })),

  estimateNetworkHashesPerSecond: {
    path: ({ windowSize = 0, startHash = '' }) => {
      const start = startHash === '' || startHash === VIRTUAL_BLOCK ? '' : `&startHash=${startHash}`;
      return `/v1/rpc/estimateNetworkHashesPerSecond?windowSize=${windowSize}${start}`;
    },
    isRefused: ({ windowSize = 0 }) => windowSize < WINDOW.min || windowSize > WINDOW.max,
    expected: ({ networkHashesPerSecond }) => ({ networkHashesPerSecond: String(networkHashesPerSecond) }),
  },

  getBlock: {
    expected: ({ block }, { includeTransactions = false }) => ({
      block: block && expectedBlock(block, { withTransactions: includeTransactions }),
    }),
    sort: ({ block }, { comparison }) => sortChildren(block as BlockJson | undefined, comparison),
    tolerates: 'blockOrder',
  },

  getBlocks: {
    expected: ({ blockHashes, blocks }, { includeTransactions = false }) => ({
      blockHashes,
      blocks: blocks.map((block) => expectedBlock(block, { withTransactions: includeTransactions })),
    }),
    sort: (json, { request, comparison }) => sortPage(json as unknown as BlocksJson, request.lowHash ?? '', comparison),
    tolerates: 'blockOrder',
  },

  getBlockTemplate: {
    expected: ({ block }) => ({ block: block && expectedTemplate(block) }),
    sort: ({ block }) => {
      // compareTemplate compares the time.
      delete (block as { header?: Json } | undefined)?.header?.['timestamp'];
    },
  },

  getDaaScoreTimestampEstimate: {
    body: ({ daaScores = [] }) => ({ daaScores: daaScores.map(String) }),
    expected: ({ timestamps }, { daaScores = [] }, { dag }) => ({
      timestamps: daaScores.map((score, index) => {
        // The node is exact at genesis and at the sink, and extrapolates like the API above it.
        const isExact = score === 0n || score >= dag.sink.header.daaScore;
        const time = isExact ? timestamps[index] : timeOf(score, dag);
        if (time !== timestamps[index]) tolerate('timesBetweenSamples');
        return String(time);
      }),
    }),
  },

  getMempoolEntries: {
    expected: ({ entries }) => ({ entries: entries.map(expectedMempoolEntry) }),
    sort: (json) => (json['entries'] as Json[]).sort(byTransactionId),
    tolerates: 'mempoolOrder',
  },

  getMempoolEntriesByAddresses: {
    expected: ({ entries }, { addresses = [] }) => ({ entries: entryGroups(entries, addresses).flat() }),
    sort: (json, { request: { addresses = [] }, response }) => {
      const entries = json['entries'] as Json[];
      const groups = entryGroups(response.entries, addresses).map(({ length }) => entries.splice(0, length));
      entries.unshift(...groups.flatMap((group) => group.sort(byTransactionId)));
    },
    tolerates: 'mempoolOrder',
  },

  getMempoolEntry: {
    body: ({ txId, ...flags }) => ({ transactionId: txId, ...flags }),
    expected: ({ entry }) => ({ mempoolEntry: entry && expectedMempoolEntry(entry) }),
  },

  getVirtualChainFromBlock: {
    expected: ({ removedChainBlockHashes, addedChainBlockHashes, acceptedTransactionIds }) => ({
      removedChainBlockHashes,
      addedChainBlockHashes,
      acceptedTransactionIds: acceptedTransactionIds.map((accepted) => ({
        acceptingBlockHash: accepted.acceptingBlockHash,
        acceptedTransactionIds: accepted.acceptedTransactionIds,
      })),
    }),
  },
};

function get<Op extends (typeof PARAMETERLESS)[number]>(
  op: Op,
  expected: (response: ResponseOf<Op>) => Json,
): Rule<Op> {
  return { path: () => `/v1/rpc/${op}`, expected };
}

/**
 * Compares the responses to each of these requests. `dag` is needed for getBlocks and
 * getDaaScoreTimestampEstimate.
 */
export async function compareCalls<Op extends ComparedOp>(
  comparison: Comparison | DagComparison,
  op: Op,
  requests: readonly RequestOf<Op>[],
): Promise<string[]> {
  const faults: string[] = [];
  await inParallel(requests, async (request) => {
    const difference = await compareCall(comparison as DagComparison, op, request);
    if (difference !== undefined) faults.push(`${op} ${show(request)}: ${difference}`);
  });
  return faults;
}

async function compareCall<Op extends ComparedOp>(
  comparison: DagComparison,
  op: Op,
  request: RequestOf<Op>,
): Promise<string | undefined> {
  const { node, api } = comparison;
  const rule = RULES[op] as Rule<Op>;
  const [fromNode, { status, json }] = await Promise.all([
    node.call(op, request).catch((error: unknown) => {
      if (error instanceof NodeRpcError) return error;
      throw error;
    }),
    rule.path === undefined
      ? api.request(`/v1/rpc/${op}`, { body: (rule.body ?? fieldsOf)(request), exact: true })
      : api.get(rule.path(request)),
  ]);
  if (rule.isRefused?.(request, comparison) === true) return firstDifference(400, status);
  if (fromNode instanceof NodeRpcError) return firstDifference(statusOf(fromNode.message), status);
  const response = fromNode as ResponseOf<Op>;
  if (status !== 200) return `status ${status}: ${show(json)}`;
  const expected = rule.expected(response, request, comparison);
  const isSameOrder = rule.tolerates === undefined || JSON.stringify(expected) === JSON.stringify(json);
  for (const sorted of [expected, json]) rule.sort?.(sorted, { request, response, comparison });
  const difference = firstDifference(expected, json);
  if (difference === undefined && !isSameOrder && rule.tolerates !== undefined) tolerate(rule.tolerates);
  return difference;
}

/** Leaves out the fields that protobuf messages have beside their own. */
function fieldsOf(request: object): Json {
  return Object.fromEntries(Object.entries(request).filter(([name]) => !name.startsWith('$')));
}

/** Returns the status with which the API reports an error of the node. */
export function statusOf(nodeError: string): number {
  if (/cannot find header|^Transaction \w+ not found/.test(nodeError)) return 404;
  if (/difficulty error|under min allowed window size|window data has only \d+ entries/.test(nodeError)) return 409;
  return 400;
}

/** Compares the endpoints without parameters. Nothing may happen on the node meanwhile. */
export async function compareStates(comparison: Comparison): Promise<string[]> {
  return (await Promise.all(PARAMETERLESS.map((op) => compareCalls(comparison, op, [{}])))).flat();
}

const FORMS = [
  { includeBlocks: false, includeTransactions: false },
  { includeBlocks: true, includeTransactions: false },
  { includeBlocks: true, includeTransactions: true },
];

/** Compares getBlocks page by page from genesis to the sink, in every form. */
export async function compareBlockPages(comparison: DagComparison): Promise<string[]> {
  const { node, dag } = comparison;
  const faults: string[] = [];
  for (const form of FORMS) {
    const seen = new Set<string>();
    // An empty lowHash is genesis.
    for (let lowHash = ''; !seen.has(dag.sink.hash); ) {
      faults.push(...(await compareCalls(comparison, 'getBlocks', [{ lowHash, ...form }])));
      const { blockHashes } = await node.call('getBlocks', { lowHash, ...form });
      for (const hash of blockHashes) seen.add(hash);
      lowHash = blockHashes.at(-1) ?? dag.sink.hash;
    }
    if (seen.size !== dag.blocks.size) faults.push(`pages have ${seen.size} of ${dag.blocks.size} blocks`);
  }
  return faults;
}

/**
 * Compares the hashes of getBlocks from every block, and its other forms from every `every`-th
 * block and every unmerged one.
 */
export function compareBlocksFromEveryBlock(comparison: DagComparison, every: number): Promise<string[]> {
  const { blocks, mergedBy } = comparison.dag;
  const requests = [...blocks.keys()].flatMap((lowHash, index) => {
    const forms = index % every === 0 || !mergedBy.has(lowHash) ? FORMS : FORMS.slice(0, 1);
    return forms.map((form) => ({ lowHash, ...form }));
  });
  return compareCalls(comparison, 'getBlocks', requests);
}

export function compareVirtualChain(comparison: DagComparison): Promise<string[]> {
  const requests = [...comparison.dag.blocks.keys()].flatMap((startHash) =>
    [true, false].map((includeAcceptedTransactionIds) => ({ startHash, includeAcceptedTransactionIds })),
  );
  return compareCalls(comparison, 'getVirtualChainFromBlock', requests);
}

const MAX_SCORES = 1000;

/** Compares the time of every DAA score from genesis to the sink, and of some above. */
export function compareTimes(comparison: DagComparison): Promise<string[]> {
  const sinkScore = comparison.dag.sink.header.daaScore;
  const upToSink = Array.from({ length: Number(sinkScore) + 1 }, (_, score) => BigInt(score));
  const above = [1n, 2n, 600n, 1_000_000n].map((distance) => sinkScore + distance);
  const requests = chunks([...above, ...upToSink], MAX_SCORES).map((daaScores) => ({ daaScores }));
  return compareCalls(comparison, 'getDaaScoreTimestampEstimate', requests);
}

const WINDOWS = [1000, 1001, 1500, 10_000];

/** Compares the hash rates before the virtual block, the sink and every `every`-th block. */
export function compareHashRates(comparison: DagComparison, every: number): Promise<string[]> {
  const { blocks, sink } = comparison.dag;
  const some = [...blocks.keys()].filter((_hash, index) => index % every === 0);
  const requests = [VIRTUAL_BLOCK, sink.hash, ...some].flatMap((startHash) =>
    WINDOWS.map((windowSize) => ({ startHash, windowSize })),
  );
  return compareCalls(comparison, 'estimateNetworkHashesPerSecond', requests);
}

/** The node refuses the last combination. */
const POOLS = [
  { includeOrphanPool: false, filterTransactionPool: false },
  { includeOrphanPool: true, filterTransactionPool: false },
  { includeOrphanPool: true, filterTransactionPool: true },
  { includeOrphanPool: false, filterTransactionPool: true },
];

/**
 * Compares the mempool in every combination of flags. `filterTransactionPool` leaves out all but
 * orphans.
 */
export async function comparePools(comparison: Comparison): Promise<string[]> {
  const posted = await compareCalls(comparison, 'getMempoolEntries', POOLS);
  const path = '/v1/rpc/getMempoolEntries';
  const [byGet, byPost] = [await comparison.api.get(path), await comparison.api.post(path, {})];
  const difference = firstDifference(byPost, byGet);
  return difference === undefined ? posted : [...posted, `GET ${path}: ${difference}`];
}

export function compareMempoolEntries(comparison: Comparison, transactionIds: readonly string[]): Promise<string[]> {
  const requests = transactionIds.flatMap((txId) => POOLS.map((flags) => ({ txId, ...flags })));
  return compareCalls(comparison, 'getMempoolEntry', requests);
}

export function compareMempoolByAddresses(comparison: Comparison, addresses: readonly string[]): Promise<string[]> {
  const requests = POOLS.map((flags) => ({ addresses: [...addresses], ...flags }));
  return compareCalls(comparison, 'getMempoolEntriesByAddresses', requests);
}

/** Compares a template, whose time must be that of the request. */
export async function compareTemplate(
  comparison: Comparison,
  request: { payAddress: string; extraData: string },
): Promise<string[]> {
  const { node, api } = comparison;
  const timeFromNode = async () => (await node.call('getBlockTemplate', request)).block?.header?.timestamp ?? 0n;
  const before = await timeFromNode();
  const { json } = await api.post('/v1/rpc/getBlockTemplate', request);
  const { timestamp } = (json as { block: { header: { timestamp: string } } }).block.header;
  if (BigInt(timestamp) < before || BigInt(timestamp) > (await timeFromNode()))
    return [`block template: its time ${timestamp} is not that of the request`];
  if (BigInt(timestamp) !== before) tolerate('templateTime');
  return await compareCalls(comparison, 'getBlockTemplate', [request]);
}
