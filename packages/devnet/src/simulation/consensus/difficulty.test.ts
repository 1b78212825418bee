import { targetFromBits } from '@kasgres/kaspa';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { assembleBlock } from '../node/assemble-block.ts';
import { smallNode, START_TIME } from '../testing/small-simulated-dag.ts';
import { SimulatedNode } from '../node/simulated-node.ts';
import { bitsFromTarget } from './difficulty.ts';
import { SIMNET_PARAMS } from './params.ts';

const miner = { scriptPublicKey: { version: 0, script: Uint8Array.of(0x51) }, extraData: new Uint8Array(0) };

test('compact bits keep the first 23 bits of a target', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 2n ** 255n - 1n }), (target) => {
      const back = targetFromBits(bitsFromTarget(target));
      const lost = BigInt(Math.max(target.toString(2).length - 15, 0));
      expect(back).toBeLessThanOrEqual(target);
      expect(target - back).toBeLessThan(1n << lost);
    }),
  );
});

test('compact bits survive a round trip through a target', () => {
  for (const bits of [0x207fffff, 0x1e7fffff, 0x1d02ca33, 0x1e21bc1c])
    expect(bitsFromTarget(targetFromBits(bits))).toBe(bits);
});

describe('with a difficulty window of 20 blocks', () => {
  const params = { ...SIMNET_PARAMS, difficulty: { windowSize: 20, sampleRate: 1, minWindowSize: 10 } };

  function bitsAfter(blocks: number, intervalMs: number): number {
    const node = new SimulatedNode({ params, now: () => START_TIME });
    for (let made = 0; made < blocks; made += 1) mineOn(node, START_TIME + made * intervalMs);
    return node.consensus.virtual.bits;
  }

  test('blocks at twice the target rate increase the difficulty', () => {
    const target = targetFromBits(bitsAfter(12, 50));
    expect(Number(target) / Number(targetFromBits(0x207fffff))).toBeCloseTo(0.5, 1);
  });

  test('slow blocks keep the minimum difficulty', () => {
    expect(bitsAfter(12, 500)).toBe(0x207fffff);
  });

  test('blocks older than the window have no DAA score', () => {
    const node = new SimulatedNode({ params, now: () => START_TIME });
    const first = mineOn(node, START_TIME);
    const late = { virtual: node.consensus.virtual, miner, payments: [], timestamp: START_TIME + 1, nonce: 7n };
    const lateBody = assembleBlock(node.consensus, late);
    for (let made = 1; made < 40; made += 1) mineOn(node, START_TIME + made * 100);
    const before = node.consensus.virtual;
    node.receive(lateBody);
    const { virtual } = node.consensus;
    expect(first.blueScore).toBe(1);
    expect([...virtual.nonDaa].map(({ hash }) => hash)).toEqual([lateBody.hash]);
    expect(virtual.daaScore).toBe(before.daaScore);
    expect(virtual.ghostdag.blueScore).toBe(before.ghostdag.blueScore + 1);
    // It earns no subsidy: there is an output for each blue but it.
    mineOn(node, START_TIME + 5_000);
    expect(node.consensus.sink.transactions[0]?.outputs).toHaveLength(1);
  });
});

test('a timestamp must be later than the median of the past', () => {
  const node = smallNode();
  const block = mineOn(node, 0);
  expect(Number(block.header.timestamp)).toBe(block.pastMedianTime + 1);
});

function mineOn(node: SimulatedNode, timestamp: number) {
  const { virtual } = node.consensus;
  return node.receive(
    assembleBlock(node.consensus, { virtual, miner, payments: [], timestamp, nonce: BigInt(timestamp) }),
  );
}
