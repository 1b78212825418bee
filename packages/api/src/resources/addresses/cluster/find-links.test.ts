/**
 * Ways between members of clusters that grew at random, against a search of the graph of all
 * merges.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findLinks, type Link, type Member } from './find-links.ts';

const ROOT = { parentId: null, mergeId: null, transactionId: null, stayedScriptId: null, mergedScriptId: null };

/**
 * Union-find as the indexer keeps it: the smaller below the larger, without shortening of paths.
 */
class Forest {
  readonly members = new Map<bigint, Member>();
  /** One for each merge: the scripts of its two inputs. */
  readonly merges: { transactionId: bigint; stayedScriptId: bigint; mergedScriptId: bigint }[] = [];
  readonly #sizes = new Map<bigint, number>();
  loads = 0;

  constructor(size: number) {
    for (let id = 0n; id < size; id += 1n) {
      this.members.set(id, { scriptId: id, ...ROOT });
      this.#sizes.set(id, 1);
    }
  }

  rootOf(scriptId: bigint): bigint {
    let at = scriptId;
    for (let parent = this.#get(at).parentId; parent !== null; parent = this.#get(at).parentId) at = parent;
    return at;
  }

  /** A transaction has inputs of both. */
  join(a: bigint, b: bigint): void {
    const [rootOfA, rootOfB] = [this.rootOf(a), this.rootOf(b)];
    if (rootOfA === rootOfB) return;
    const [sizeOfA, sizeOfB] = [this.#sizes.get(rootOfA) ?? 0, this.#sizes.get(rootOfB) ?? 0];
    const stays = sizeOfA >= sizeOfB;
    const mergeId = BigInt(this.merges.length);
    const [stayedScriptId, mergedScriptId] = stays ? [a, b] : [b, a];
    const [root, merged] = stays ? [rootOfA, rootOfB] : [rootOfB, rootOfA];
    const merge = { transactionId: 1000n + mergeId, stayedScriptId, mergedScriptId };
    this.merges.push(merge);
    this.members.set(merged, { scriptId: merged, parentId: root, mergeId, ...merge });
    this.#sizes.set(root, sizeOfA + sizeOfB);
  }

  /** @param more how many others come along, as the API's own statement brings them */
  find(from: bigint, to: bigint, maxLinks = 1000, more = 0): ReturnType<typeof findLinks> {
    const load = async (asked: bigint[]): Promise<Member[]> => {
      this.loads += 1;
      const met = new Set(asked);
      for (const id of met) {
        const { parentId, stayedScriptId, mergedScriptId } = this.#get(id);
        for (const next of [parentId, stayedScriptId, mergedScriptId]) {
          if (next !== null && met.size < asked.length + more) met.add(next);
        }
      }
      return [...met].map((id) => this.#get(id));
    };
    return findLinks({ from, to }, load, maxLinks);
  }

  /** The only way there is, by a search through all merges. */
  search(from: bigint, to: bigint): Link[] | undefined {
    const ways = new Map<bigint, Link[]>([[from, []]]);
    for (const [at, way] of ways) {
      for (const { transactionId, stayedScriptId, mergedScriptId } of this.merges) {
        if (at !== stayedScriptId && at !== mergedScriptId) continue;
        const next = at === stayedScriptId ? mergedScriptId : stayedScriptId;
        if (!ways.has(next)) ways.set(next, [...way, { transactionId, scriptIds: [at, next] }]);
      }
    }
    return ways.get(to);
  }

  #get(scriptId: bigint): Member {
    const member = this.members.get(scriptId);
    if (member === undefined) throw new Error(`no member ${scriptId}`);
    return member;
  }
}

const SIZE = 24;
const script = fc.bigInt({ min: 0n, max: BigInt(SIZE - 1) });
const pairs = fc.array(fc.tuple(script, script), { maxLength: 80 });

it('finds the path through the graph of merges, with any order of loading', async () => {
  await fc.assert(
    fc.asyncProperty(pairs, fc.integer({ min: 0, max: 30 }), async (joins, more) => {
      const forest = new Forest(SIZE);
      for (const [a, b] of joins) forest.join(a, b);
      for (let from = 0n; from < SIZE; from += 1n) {
        for (let to = 0n; to < SIZE; to += 1n) {
          const links = forest.search(from, to);
          if (links === undefined) continue;
          expect(await forest.find(from, to, 1000, more)).toEqual({ links, isTruncated: false });
        }
      }
    }),
    { numRuns: 30 },
  );
});

describe('a path of ten thousand transactions, each with the last new address of the one before', () => {
  const LENGTH = 10_000;
  const forest = new Forest(LENGTH);
  for (let id = 1n; id < LENGTH; id += 1n) forest.join(id - 1n, id);

  it('is complete within the limit', async () => {
    const { links, isTruncated } = await forest.find(4000n, 5000n, 1000, 500);
    expect(isTruncated).toBe(false);
    expect(links.map(({ scriptIds }) => scriptIds)).toEqual(
      Array.from({ length: 1000 }, (_, place) => [4000n + BigInt(place), 4001n + BigInt(place)]),
    );
  });

  it('is truncated beyond the limit, in a bounded number of steps', async () => {
    forest.loads = 0;
    const { links, isTruncated } = await forest.find(0n, 9999n, 1000, 500);
    expect(isTruncated).toBe(true);
    expect(links).toHaveLength(1000);
    // In the order of the way, which has others between them.
    const starts = links.map(({ scriptIds: [start] }) => start);
    expect(starts).toEqual(starts.toSorted((a, b) => Number(a - b)));
    expect(forest.loads).toBeLessThan(10);
  });
});

it('finds no links in a cluster without merges', async () => {
  const forest = new Forest(2);
  forest.members.set(1n, { scriptId: 1n, ...ROOT, parentId: 0n });
  expect(await forest.find(0n, 1n)).toEqual({ links: [], isTruncated: true });
});
