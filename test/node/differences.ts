/**
 * Everything in which an answer of the API is meant to differ from the node's: nothing else may. The comparisons take exactly these
 * liberties, by name, and the run says how often each was needed.
 */
interface Difference {
  endpoint: string;
  node: string;
  api: string;
  /** Where it is decided. */
  source: string;
}

/** What an answer says. */
export const differences = {
  childrenOrder: {
    endpoint: 'getBlocks, getBlock',
    node: 'childrenHashes of a block in the order of a hash set',
    api: 'the same hashes in an order of its own',
    source: 'API.md, "Where each answer comes from", getBlocks',
  },
  tailOrder: {
    endpoint: 'getBlocks',
    node: 'after the sink, what is not merged yet in the order of a walk',
    api: 'the same blocks in an order of its own',
    source: 'API.md, getBlocks',
  },
  timesBetweenSamples: {
    endpoint: 'getDaaScoreTimestampEstimate',
    node: 'below the sink interpolated between a handful of samples',
    api: 'the time of the chain block with that score, or interpolated between the two beside it',
    source: 'API.md, getDaaScoreTimestampEstimate',
  },
  virtualAndSink: {
    endpoint: 'getBalanceByAddress, getBalancesByAddresses, getUtxosByAddresses, getCoinSupply',
    node: 'the UTXOs of the virtual block',
    api: 'the UTXOs at the sink: what the node said before it got the block that is the sink now',
    source: 'DESIGN.md §6',
  },
  supplyMaximum: {
    endpoint: 'getCoinSupply',
    node: 'the largest supply since the node started, which may have been taken back by a reorganisation',
    api: 'the sum of all unspent outputs',
    source: 'DESIGN.md §6',
  },
  mempoolOrder: {
    endpoint: 'getMempoolEntriesByAddresses',
    node: 'the entries of an address in the order of a hash set',
    api: 'in the order of the answer that it got itself',
    source: 'API.md, getMempoolEntriesByAddresses',
  },
  poolOrder: {
    endpoint: 'getMempoolEntries',
    node: 'the entries in the order of a hash map',
    api: 'in the order of the answer that it got itself',
    source: 'live from the node',
  },
  utxoOrder: {
    endpoint: 'getUtxosByAddresses',
    node: 'the addresses, and the UTXOs of each, in the order of a hash map',
    api: 'the addresses in the order asked, the oldest UTXOs of each first',
    source: 'node-facts.md: no fixed order',
  },
  utxoBound: {
    endpoint: 'getUtxosByAddresses',
    node: 'however many there are',
    api: 'a 400 beyond 10,000, which leads to the pages of the listing',
    source: 'openapi.json, getUtxosByAddresses',
  },
  dagOrder: {
    endpoint: 'getBlockDagInfo',
    node: 'tips and virtual parents in the order of a hash set',
    api: 'in the order of the answer that it got itself',
    source: 'live from the node',
  },
  templateTime: {
    endpoint: 'getBlockTemplate',
    node: 'the moment of asking as the time of the block',
    api: 'the moment at which it asked',
    source: 'live from the node',
  },
} satisfies Record<string, Difference>;

/** How it says it: expected.ts brings the node's messages into these forms before anything is compared. */
export const forms = {
  decimals: '64-bit numbers, amounts and times are decimal strings, blue work among them (the node: hex)',
  payload: 'a payload is empty, or 0x and hex (the node: hex)',
  scriptPublicKey: 'one hex text with the version before the script (the node: two fields); in a template an object',
  leftOut:
    'transactions that were not asked for, covenants that are not there, compute budgets before version 1 are left out',
  mempoolByAddresses: 'one list: for each address what it sends, then what it receives, each transaction once',
  template: 'sequence and lock time are numbers with all their digits; no hash, no mass, no verbose data',
  errors:
    "a node's refusal is a status: unknown block 404, fewer than 1,000 blocks in a window 409, unknown mempool entry 404, any other 400",
} satisfies Record<string, string>;

const met = new Map<keyof typeof differences, number>();

/** Notes that a comparison has needed a difference. */
export function meet(name: keyof typeof differences): void {
  met.set(name, (met.get(name) ?? 0) + 1);
}

/** For the end of the run: each difference, and in how many answers it was met. */
export function reportOfDifferences(): string {
  return Object.entries(differences)
    .map(([name, { endpoint, node, api }]) => {
      const count = met.get(name as keyof typeof differences) ?? 0;
      return `${name} (${endpoint}): met ${count} times\n  node: ${node}\n  API:  ${api}`;
    })
    .join('\n');
}
