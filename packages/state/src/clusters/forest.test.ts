/** Keeps the rows of steps in memory and compares them with a model without trees and rings. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Cluster, Forest, type HeldMerge, type Merge, type Tie, undoMerges } from './forest.ts';

interface Member {
  parent: bigint | undefined;
  next: bigint;
  previous: bigint;
}

/** The tables. */
class Tables {
  members = new Map<bigint, Member>();
  clusters = new Map<bigint, Cluster>();
  merges: Merge[] = [];
  held: HeldMerge[] = [];

  /** A step, as step.ts takes it. */
  unite(ties: readonly Tie[], sizeLimit = 1_000n): void {
    const scripts = ties.flatMap((tie) => tie.scripts);
    const roots = new Map(
      scripts.flatMap((script) => (this.members.has(script) ? [[script, this.rootOf(script)]] : [])),
    );
    const clusters = [...new Set(roots.values())].map((root) => this.#cluster(root));
    const balances = new Map(scripts.map((script) => [script, script]));
    const nextMergeId = BigInt(this.merges.length);
    const forest = new Forest({ roots, clusters, balances, sizeLimit, nextMergeId });
    for (const tie of ties) forest.tie(tie);
    for (const { script, ...row } of forest.memberRows()) {
      this.members.set(script, { parent: row.parent, next: row.next, previous: row.previous });
    }
    for (const [script, previous] of forest.previousOfOthers()) this.#member(script).previous = previous;
    for (const root of forest.gone()) this.clusters.delete(root);
    for (const cluster of forest.grown()) this.clusters.set(cluster.root, cluster);
    this.merges.push(...forest.merges);
    this.held.push(...forest.held);
  }

  /** As undo.ts does it. */
  undo(count: number): void {
    const last = this.merges.splice(this.merges.length - count).reverse();
    const next = new Map([...this.members].map(([script, member]) => [script, member.next]));
    const { roots, previous, splitFrom } = undoMerges(last, next, new Map());
    for (const { root, next: nextMember } of roots) {
      Object.assign(this.#member(root), { parent: undefined, next: nextMember });
    }
    for (const [script, before] of previous) this.#member(script).previous = before;
    for (const [part, whole] of splitFrom) {
      const ring = this.ringOf(part);
      const size = BigInt(ring.length);
      const balance = ring.reduce((sum, script) => sum + script, 0n);
      const rest = this.#cluster(whole);
      this.clusters.set(whole, { ...rest, size: rest.size - size, balance: rest.balance - balance });
      if (size > 1n) {
        this.clusters.set(part, { root: part, size, balance, sizeLimit: null, next: 0n, previous: 0n });
      }
    }
    for (const { root, next: nextMember } of roots) {
      if (root !== nextMember) continue;
      this.members.delete(root);
      this.clusters.delete(root);
    }
  }

  rootOf(script: bigint): bigint {
    const parent = this.members.get(script)?.parent;
    return parent === undefined ? script : this.rootOf(parent);
  }

  ringOf(script: bigint): bigint[] {
    const ring = [script];
    for (let at = this.#member(script).next; at !== script; at = this.#member(at).next) {
      ring.push(at);
      if (ring.length > this.members.size) throw new Error('the ring does not close');
    }
    return ring;
  }

  /** The state in a comparable form. */
  state(): unknown {
    return {
      members: [...this.members].sort(byKey),
      clusters: [...this.clusters.values()]
        .map(({ root, size, balance }) => [root, { size, balance }] as const)
        .sort(byKey),
      merges: this.merges,
    };
  }

  #cluster(root: bigint): Cluster {
    const cluster = this.clusters.get(root);
    if (cluster === undefined) throw new Error(`there is no cluster ${root}`);
    const { next, previous } = this.#member(root);
    return { ...cluster, next, previous };
  }

  #member(script: bigint): Member {
    const member = this.members.get(script);
    if (member === undefined) throw new Error(`script ${script} is no member`);
    return member;
  }
}

function byKey([one]: readonly [bigint, unknown], [other]: readonly [bigint, unknown]): number {
  return Number(one - other);
}

const ties = fc
  .array(fc.uniqueArray(fc.bigInt(1n, 30n), { minLength: 2, maxLength: 5 }), { maxLength: 40 })
  .map((all) => all.map((scripts, index): Tie => ({ chainIndex: BigInt(index), transaction: BigInt(index), scripts })));

/** Applies ties in steps of any length. */
const steps = fc.tuple(ties, fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1 })).map(([all, lengths]) => {
  const made: Tie[][] = [];
  for (let start = 0, step = 0; start < all.length; step += 1) {
    const length = lengths[step % lengths.length] ?? 1;
    made.push(all.slice(start, start + length));
    start += length;
  }
  return made;
});

/** Returns the connected sets of two or more scripts, sorted. */
function naive(all: readonly Tie[]): bigint[][] {
  let groups: Set<bigint>[] = [];
  for (const { scripts } of all) {
    const touched = groups.filter((group) => scripts.some((script) => group.has(script)));
    groups = groups.filter((group) => !touched.includes(group));
    groups.push(new Set([...scripts, ...touched.flatMap((group) => [...group])]));
  }
  return groups
    .map((group) => [...group].sort((a, b) => Number(a - b)))
    .sort((a, b) => Number((a[0] ?? 0n) - (b[0] ?? 0n)));
}

test('it forms clusters of tied scripts, each with a ring, its size and the sum of its balances', () => {
  fc.assert(
    fc.property(steps, (all) => {
      const tables = new Tables();
      for (const step of all) tables.unite(step);
      const rings = [...tables.clusters.keys()].map((root) => tables.ringOf(root).sort((a, b) => Number(a - b)));
      expect(rings.sort((a, b) => Number((a[0] ?? 0n) - (b[0] ?? 0n)))).toEqual(naive(all.flat()));
      for (const { root, size, balance } of tables.clusters.values()) {
        const ring = tables.ringOf(root);
        expect([...new Set(ring.map((script) => tables.rootOf(script)))]).toEqual([root]);
        expect(size).toBe(BigInt(ring.length));
        expect(balance).toBe(ring.reduce((sum, script) => sum + script, 0n));
      }
      for (const [script, { next }] of tables.members) expect(tables.members.get(next)?.previous).toBe(script);
    }),
  );
});

test('it gives the same clusters for steps of any length', () => {
  fc.assert(
    fc.property(steps, (all) => {
      const [inSteps, atOnce] = [new Tables(), new Tables()];
      for (const step of all) inSteps.unite(step, 8n);
      atOnce.unite(all.flat(), 8n);
      expect(inSteps.state()).toEqual(atOnce.state());
    }),
  );
});

test('it restores the exact state before undone merges', () => {
  fc.assert(
    fc.property(steps, fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1 }), (all, pieces) => {
      const tables = new Tables();
      const states: { merges: number; state: unknown }[] = [{ merges: 0, state: new Tables().state() }];
      for (const step of all) {
        tables.unite(step);
        states.push({ merges: tables.merges.length, state: structuredClone(tables.state()) });
      }
      for (const { merges, state } of states.reverse()) {
        for (let piece = 0; tables.merges.length > merges; piece += 1) {
          tables.undo(Math.min(pieces[piece % pieces.length] ?? 1, tables.merges.length - merges));
        }
        expect(tables.state()).toEqual(state);
      }
    }),
  );
});

test('it keeps paths within the logarithm of the size', () => {
  const tables = new Tables();
  const all = Array.from({ length: 2_048 }, (_, index) => BigInt(index));
  for (let width = 1; width < all.length; width *= 2) {
    const step: Tie[] = [];
    for (let at = 0; at < all.length; at += 2 * width) {
      step.push({ chainIndex: 0n, transaction: 0n, scripts: [BigInt(at), BigInt(at + width)] });
    }
    tables.unite(step, 10_000n);
  }
  const depthOf = (script: bigint): number => {
    const parent = tables.members.get(script)?.parent;
    return parent === undefined ? 0 : 1 + depthOf(parent);
  };
  expect(tables.clusters.size).toBe(1);
  expect(Math.max(...all.map(depthOf))).toBe(11);
});

test('it holds a merge that would become too large, and ties the rest of the transaction', () => {
  const tables = new Tables();
  tables.unite([{ chainIndex: 1n, transaction: 1n, scripts: [1n, 2n, 3n] }], 3n);
  tables.unite([{ chainIndex: 2n, transaction: 2n, scripts: [3n, 4n, 5n] }], 3n);
  expect([...tables.clusters.values()].map(({ root, size }) => [root, size])).toEqual([
    [1n, 3n],
    [4n, 2n],
  ]);
  expect(tables.held.map(({ script, otherScript, transaction }) => [transaction, script, otherScript])).toEqual([
    [2n, 3n, 4n],
  ]);
});

test('it keeps the cluster of the earlier input if sizes are equal', () => {
  const tables = new Tables();
  tables.unite([{ chainIndex: 1n, transaction: 1n, scripts: [9n, 2n] }]);
  expect([...tables.clusters.keys()]).toEqual([9n]);
  expect(tables.merges[0]).toMatchObject({ cluster: 9n, mergedCluster: 2n, script: 9n, mergedScript: 2n });
});

test('it applies a raised limit to the merged cluster, and restores it by undoing', () => {
  const forest = new Forest({
    roots: new Map(),
    clusters: [],
    balances: new Map(),
    sizeLimit: 1n,
    nextMergeId: 1n,
  });
  forest.tie({ chainIndex: 1n, transaction: 1n, scripts: [1n, 2n] });
  expect(forest.merges).toEqual([]);
  expect(forest.held).toHaveLength(1);
  const merges = [{ id: 1n, cluster: 1n, mergedCluster: 2n, sizeLimit: null, mergedSizeLimit: 50n }];
  const next = new Map([
    [1n, 2n],
    [2n, 1n],
  ]);
  expect(undoMerges(merges, next, new Map([[1n, 50n]])).sizeLimits).toEqual(
    new Map([
      [1n, null],
      [2n, 50n],
    ]),
  );
  expect(undoMerges(merges, next, new Map([[1n, 90n]])).sizeLimits.get(1n)).toBe(90n);
});
