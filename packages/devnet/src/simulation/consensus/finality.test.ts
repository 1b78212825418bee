import { expect, test } from 'vitest';
import { SimulatedNode } from '../node/simulated-node.ts';
import { blockOn, scriptOf } from '../testing/hand-made.ts';
import { SMALL_PARAMS, smallNode, START_TIME } from '../testing/small-simulated-dag.ts';
import type { BlockBody } from './consensus.ts';

/** A chain from genesis, of one miner. */
function branch(length: number, miner: number): BlockBody[] {
  const node = smallNode();
  return Array.from({ length }, () => {
    const body = blockOn(node, { miner: scriptOf(miner) });
    node.receive(body);
    return body;
  });
}

function receiveAll(finalityDepth: number, bodies: readonly BlockBody[]): SimulatedNode {
  const node = new SimulatedNode({ params: { ...SMALL_PARAMS, finalityDepth }, now: () => START_TIME });
  for (const body of bodies) node.receive(body);
  return node;
}

const short = branch(12, 1);
const long = branch(15, 2);

test('a heavier branch from far below replaces the chain while nothing of it is final', () => {
  const node = receiveAll(100, [...short, ...long]);
  expect(node.consensus.sink.hash).toEqual(long.at(-1)?.hash);
});

test('a branch from below the finality point is neither followed nor merged, regardless of its work', () => {
  const node = receiveAll(5, [...short, ...long]);
  expect(node.consensus.sink.hash).toEqual(short.at(-1)?.hash);
  expect(node.consensus.virtual.parents).toEqual([node.consensus.sink]);
  expect(node.dag.size).toBe(1 + short.length + long.length);
  node.receive(blockOn(node));
  expect(node.consensus.virtual.daaScore).toBe(short.length + 1);
});

test('the acceptance data of final blocks is dropped, and unspent outputs are kept', () => {
  const node = receiveAll(5, short);
  const kinds = short.map(({ hash }) => node.consensus.get(hash).state.kind);
  expect(kinds).toEqual([...Array.from({ length: 6 }, () => 'final'), ...Array.from({ length: 6 }, () => 'qualified')]);
  // Each coinbase pays for the block before it, and nobody is paid for genesis.
  expect(node.consensus.utxos.total).toBe(SMALL_PARAMS.subsidy * BigInt(short.length - 1));
});
