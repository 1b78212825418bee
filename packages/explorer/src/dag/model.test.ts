import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { DagBlock } from '../stream/messages.ts';
import { DagModel } from './model.ts';
import { neighbourOf } from './neighbours.ts';

function block(hash: string, parentHashes: string[], change: Partial<DagBlock> = {}): DagBlock {
  return {
    hash,
    parentHashes,
    selectedParentHash: parentHashes[0] ?? null,
    blueScore: '0',
    daaScore: '0',
    timestamp: 0,
    isChainBlock: false,
    color: null,
    mergingBlockHash: null,
    transactionCount: 1,
    minerAddress: null,
    ...change,
  };
}

const added = (hash: string, blueScore: string, blues: string[] = [], reds: string[] = []) => ({
  hash,
  selectedParentHash: '',
  blueScore,
  daaScore: '0',
  timestamp: 0,
  mergeSetBluesHashes: blues,
  mergeSetRedsHashes: reds,
});

const place = (model: DagModel, hash: string): [x: number | undefined, lane: number | undefined] => [
  model.vertices.get(hash)?.x,
  model.vertices.get(hash)?.lane,
];

/** Genesis g, then a and b beside each other, then c on both. */
function diamond(): DagModel {
  const model = new DagModel();
  model.add([
    block('g', [], { isChainBlock: true, blueScore: '0' }),
    block('a', ['g'], { isChainBlock: true, blueScore: '1' }),
    block('b', ['g']),
    block('c', ['a', 'b'], { isChainBlock: true, blueScore: '3' }),
  ]);
  return model;
}

describe('the position of a block', () => {
  test('it is one right of the rightmost known parent', () => {
    const model = diamond();
    expect(['g', 'a', 'b', 'c'].map((hash) => model.vertices.get(hash)?.x)).toEqual([0, 1, 1, 2]);
    model.add([block('d', ['g', 'c', 'unknown'])]);
    expect(model.vertices.get('d')?.x).toBe(3);
  });

  test('it does not depend on the order of a window', () => {
    const model = new DagModel();
    model.add([block('c', ['a']), block('a', ['g']), block('g', ['unknown'])]);
    expect(['g', 'a', 'c'].map((hash) => model.vertices.get(hash)?.x)).toEqual([0, 1, 2]);
  });

  test('it is at the left edge if no parent is known', () => {
    const model = diamond();
    model.prune(2);
    model.add([block('late', ['g'])]);
    expect(model.vertices.get('late')?.x).toBe(1);
  });

  test('it stays when a parent arrives later', () => {
    const model = diamond();
    model.add([block('child', ['parent', 'g'])]);
    model.add([block('parent', ['c'])]);
    expect(model.vertices.get('child')?.x).toBe(1);
    expect(model.vertices.get('parent')?.x).toBe(3);
  });
});

describe('lanes', () => {
  test('chain blocks are on the centre line, and others alternate around it', () => {
    const model = diamond();
    model.add(['d', 'e', 'f'].map((hash) => block(hash, ['g'])));
    expect(place(model, 'a')).toEqual([1, 0]);
    const others = ['b', 'd', 'e', 'f'].map((hash) => model.vertices.get(hash)?.lane);
    expect(new Set(others)).toEqual(new Set([-1, -2, 1, 2]));
    expect(Math.sign(others[0] ?? 0)).toBe(-Math.sign(others[1] ?? 0));
  });

  test('a reorganisation exchanges them, and nothing moves along x', () => {
    const model = diamond();
    const laneOfB = model.vertices.get('b')?.lane;
    model.add([block('d', ['b', 'a'])]);
    const before = new Map([...model.vertices].map(([hash, { x }]) => [hash, x]));
    const isComplete = model.applyChain({
      removed: ['c', 'a'],
      added: [added('b', '1', ['g']), added('d', '4', ['b', 'a'], [])],
      isCaughtUp: true,
    });
    expect(isComplete).toBe(true);
    expect(place(model, 'b')).toEqual([1, 0]);
    expect(place(model, 'a')).toEqual([1, laneOfB]);
    expect(place(model, 'd')).toEqual([2, 0]);
    expect(model.vertices.get('c')?.lane).not.toBe(0);
    expect(new Map([...model.vertices].map(([hash, { x }]) => [hash, x]))).toEqual(before);
    expect(model.removedCount).toBe(2);
    expect(model.sink?.block.hash).toBe('d');
  });
});

describe('colours', () => {
  test('they follow the mergesets of chain blocks', () => {
    const model = diamond();
    model.applyChain({ removed: [], added: [added('c', '3', ['a'], ['b'])], isCaughtUp: true });
    expect(model.vertices.get('b')?.block).toMatchObject({ color: 'red', mergingBlockHash: 'c' });
    model.applyChain({ removed: ['c'], added: [], isCaughtUp: true });
    expect(model.vertices.get('b')?.block).toMatchObject({ color: null, mergingBlockHash: null });
    expect(model.sink?.block.hash).toBe('a');
  });

  test('a change that names an unknown block is incomplete', () => {
    expect(diamond().applyChain({ removed: [], added: [added('unknown', '9')], isCaughtUp: true })).toBe(false);
  });

  test('a repeated change changes nothing', () => {
    const [once, twice] = [diamond(), diamond()];
    const change = { removed: ['c'], added: [added('b', '2', ['g'])], isCaughtUp: true };
    once.applyChain(change);
    twice.applyChain(change);
    twice.applyChain(change);
    expect([...twice.vertices]).toEqual([...once.vertices]);
    expect(twice.removedCount).toBe(once.removedCount);
  });
});

test('pruning keeps the rightmost columns', () => {
  const model = diamond();
  model.prune(1);
  expect([...model.vertices.keys()]).toEqual(['c']);
});

test('arrow keys lead along parents, children and lanes', () => {
  const model = diamond();
  const at = (hash: string) => {
    const vertex = model.vertices.get(hash);
    if (vertex === undefined) throw new Error(`no ${hash}`);
    return vertex;
  };
  const move = (hash: string, key: string) => neighbourOf(model, at(hash), key)?.block.hash;
  expect(move('c', 'ArrowLeft')).toBe('a');
  expect(move('g', 'ArrowRight')).toBe('a');
  expect(move('g', 'ArrowLeft')).toBeUndefined();
  const toB = at('b').lane < 0 ? 'ArrowUp' : 'ArrowDown';
  expect(move('a', toB)).toBe('b');
  expect([move('g', 'End'), move('c', 'Home'), move('c', 'Enter')]).toEqual(['c', 'g', undefined]);
});

test('every DAG keeps one block per place, and x never changes', () => {
  const parents = fc.array(fc.uniqueArray(fc.nat(7), { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 60 });
  fc.assert(
    fc.property(parents, fc.array(fc.nat(59), { maxLength: 20 }), (distances, chain) => {
      const model = new DagModel();
      const xs = new Map<string, number>();
      for (const [index, back] of distances.entries()) {
        const parentHashes = [...new Set(back.map((distance) => String(Math.max(-1, index - 1 - distance))))];
        model.add([block(String(index), parentHashes, { blueScore: String(index) })]);
        const known = parentHashes.flatMap((hash) => xs.get(hash) ?? []);
        xs.set(String(index), known.length === 0 ? 0 : Math.max(...known) + 1);
        const next = chain[index];
        if (next !== undefined && next <= index) {
          const sink = model.sink?.block.hash;
          const removed = sink === undefined || sink === String(next) ? [] : [sink];
          model.applyChain({ removed, added: [added(String(next), String(next))], isCaughtUp: true });
        }
      }
      expect(new Map([...model.vertices].map(([hash, { x }]) => [hash, x]))).toEqual(xs);
      const places = [...model.vertices.values()].map(({ x, lane }) => `${x}:${lane}`);
      expect(new Set(places).size).toBe(places.length);
    }),
  );
});

const connected = (...blocks: DagBlock[]): string[] =>
  diamond()
    .connect(blocks)
    .map(({ hash }) => hash)
    .sort();

describe('blocks that arrive after a pause', () => {
  test('they connect through a known parent, or through each other', () => {
    expect(connected(block('e', ['d']), block('d', ['c']))).toEqual(['d', 'e']);
  });

  test('they do not connect if all of their parents are missing', () => {
    expect(connected(block('d', ['c', 'missing']), block('f', ['missing']))).toEqual(['d']);
  });

  test('known ones connect even if their parents are missing', () => {
    expect(connected(block('g', ['pruned']), block('old', ['pruned']))).toEqual(['g']);
  });

  test('nothing connects to an empty model', () => {
    expect(new DagModel().connect([block('g', [])])).toEqual([]);
  });
});
