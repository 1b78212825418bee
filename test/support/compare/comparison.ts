/**
 * Comparisons of the API with a node at rest: a real one, a simulated one, or the replay of a
 * recording. Each comparer returns the faults that it found, one sentence each.
 */
import type { NodeClient } from '@kasgres/node';
import type { ApiClient } from '../api-client.ts';
import type { NodeDag } from './node-dag.ts';

export type Json = Record<string, unknown>;

export interface Comparison {
  node: NodeClient;
  api: ApiClient;
}

export interface DagComparison extends Comparison {
  dag: NodeDag;
  /**
   * Hashes of the indexed blocks. It is set for a node that also knows blocks which its virtual
   * block does not merge: an index lacks them, so they are ignored as children and beyond the sink.
   */
  indexed?: ReadonlySet<string>;
}

/** The only differences that the comparisons tolerate, and where each is decided. */
const differences = {
  blockOrder: 'getBlock(s): childrenHashes, and blocks beyond the sink, have no fixed order',
  timesBetweenSamples:
    'getDaaScoreTimestampEstimate: the node interpolates between samples, the API is exact (docs/api.md)',
  virtualAndSink:
    'balances, UTXOs and supply: the node responds for its virtual block, the API for the sink (docs/api.md)',
  supplyMaximum: 'getCoinSupply: the node reports its largest supply since it started, also of blocks reorganised away',
  mempoolOrder: 'mempool entries come in the order of a hash map or set',
  utxoOrder: 'getUtxosByAddresses: the node has no fixed order, the API the requested one, oldest first',
  utxoBound: 'getUtxosByAddresses: the API responds 400 beyond 10,000 UTXOs (openapi.json)',
  dagOrder: 'getBlockDagInfo: tips and virtual parents have no fixed order',
  templateTime: 'getBlockTemplate: the time of the block is that of the request',
};

const tolerated = new Map<string, number>();

/** Counts that a comparison needed this difference. */
export function tolerate(name: keyof typeof differences): void {
  tolerated.set(name, (tolerated.get(name) ?? 0) + 1);
}

/** Returns each difference and in how many responses it was tolerated. */
export function reportOfDifferences(): string {
  return Object.entries(differences)
    .map(([name, description]) => `tolerated ${tolerated.get(name) ?? 0} times: ${description}`)
    .join('\n');
}

/** Node and API are both kept busy by this many requests at once. */
const CONCURRENCY = 4;

export async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = items.values();
  await Promise.all(
    Array.from({ length: CONCURRENCY }, async () => {
      for (const item of left) await work(item);
    }),
  );
}

export function chunks<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}

/** Returns the cursor of an item of the rich list. */
export const holderCursor = ({ balance, address }: Json): string => `${String(balance)}:${String(address)}`;

const PAGE_LIMIT = 100;

/** Reads a listing of the API from its first page to its last. */
export async function readListing(
  api: ApiClient,
  path: string,
  field: string,
  cursorOf: (item: Json) => string,
): Promise<Json[]> {
  const items: Json[] = [];
  for (;;) {
    const last = items.at(-1);
    const cursor = last === undefined ? '' : `&starting_after=${cursorOf(last)}`;
    const { status, json } = await api.get(`${path}${path.includes('?') ? '&' : '?'}limit=${PAGE_LIMIT}${cursor}`);
    if (status !== 200) throw new Error(`${path} after '${cursor}': ${JSON.stringify(json)}`);
    const page = json[field] as Json[];
    const { hasMore, count } = json['metadata'] as { hasMore: boolean; count: number };
    if (count !== page.length) throw new Error(`${path} has ${page.length} items and reports ${count}`);
    items.push(...page);
    if (!hasMore) return items;
  }
}

/** Describes the first difference of two values; undefined if all fields and orders are equal. */
export function firstDifference(node: unknown, api: unknown, path = ''): string | undefined {
  if (Object.is(node, api)) return undefined;
  if (!isTree(node) || !isTree(api) || Array.isArray(node) !== Array.isArray(api)) {
    return `${path === '' ? 'the response' : path}: node ${show(node)}, API ${show(api)}`;
  }
  for (const key of keysOf(node, api)) {
    // Most values are equal strings: no path is built for those.
    if (Object.is(node[key], api[key])) continue;
    const found = firstDifference(node[key], api[key], path === '' ? key : `${path}.${key}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isTree(value: unknown): value is Json {
  return typeof value === 'object' && value !== null;
}

function keysOf(node: Json, api: Json): string[] {
  const keys = Object.keys(node);
  const isSame = Object.keys(api).length === keys.length && keys.every((key) => key in api);
  return isSame ? keys : [...new Set([...keys, ...Object.keys(api)])];
}

const MAX_SHOWN_CHARACTERS = 200;

export function show(value: unknown): string {
  if (value === undefined) return 'nothing';
  const text = JSON.stringify(value, (_key, item: unknown) => (typeof item === 'bigint' ? `${item}` : item));
  return text.length > MAX_SHOWN_CHARACTERS ? `${text.slice(0, MAX_SHOWN_CHARACTERS)}…` : text;
}
