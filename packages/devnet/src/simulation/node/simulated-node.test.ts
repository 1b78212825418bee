/** Blocks from outside, and what the node tells of blocks. */
import { type Header, headerHash, toHex } from '@kasgres/kaspa';
import { describe, expect, test } from 'vitest';
import type { NodeEvent } from '../../dag/node-state.ts';
import type { BlockBody } from '../consensus/consensus.ts';
import { blockOn, nodeWithUtxos, payment, scriptOf, siblings } from '../testing/hand-made.ts';
import { SMALL_PARAMS, smallNode, START_TIME } from '../testing/small-simulated-dag.ts';
import { SimulatedNode } from './simulated-node.ts';

const alice = scriptOf(10);

describe('a submitted block', () => {
  test('is accepted when it is the template, even twice', () => {
    const node = smallNode();
    const { header, transactions } = node.blockTemplate(alice, new Uint8Array(0));
    expect(node.submitBlock(header, transactions)).toBe('accepted');
    expect(node.submitBlock(header, transactions)).toBe('accepted');
    expect(node.dag.sink.hash).toBe(toHex(headerHash(header)));
    expect(node.dag.size).toBe(2);
  });

  test('is accepted when it is the template, however far ahead of the clock its past is', () => {
    const node = smallNode();
    for (let made = 0; made < 5; made += 1) {
      const { header, transactions } = node.blockTemplate(alice, new Uint8Array(0));
      const timestamp = BigInt(node.now() + SMALL_PARAMS.timestampToleranceMs);
      expect(node.submitBlock({ ...header, timestamp }, transactions)).toBe('accepted');
      const next = node.blockTemplate(alice, new Uint8Array(0));
      expect(node.submitBlock(next.header, next.transactions)).toBe('accepted');
    }
  });

  test.each<[string, (header: Header, node: SimulatedNode) => Partial<Header>]>([
    ['a wrong merkle root', () => ({ hashMerkleRoot: Buffer.alloc(32) })],
    ['a wrong DAA score', () => ({ daaScore: 77n })],
    ['a wrong blue score', () => ({ blueScore: 77n })],
    ['wrong blue work', () => ({ blueWork: 77n })],
    ['wrong bits', () => ({ bits: 0x1d02ca33 })],
    ['an unknown parent', () => ({ parentsByLevel: [[Buffer.alloc(32, 1)]] })],
    ['no parent', () => ({ parentsByLevel: [] })],
    [
      'a parent on a separate level',
      ({ parentsByLevel }) => ({ parentsByLevel: [...parentsByLevel, [Buffer.alloc(32)]] }),
    ],
    ['a time before the median', () => ({ timestamp: 1n })],
    ['a time in the future', (_, node) => ({ timestamp: BigInt(node.now() + SMALL_PARAMS.timestampToleranceMs + 1) })],
    ['a wrong pruning point', () => ({ pruningPoint: Buffer.alloc(32) })],
  ])('is refused with %s', (_, change) => {
    const { node } = nodeWithUtxos();
    const { header, transactions } = node.blockTemplate(alice, new Uint8Array(0));
    const { size } = node.dag;
    expect(node.submitBlock({ ...header, ...change(header, node) }, transactions)).toBe('invalid');
    expect(node.dag.size).toBe(size);
  });

  test('is accepted, but not on the chain, if its commitment is wrong', () => {
    const { node } = nodeWithUtxos();
    const { sink } = node.dag;
    const { header, transactions } = node.blockTemplate(alice, new Uint8Array(0));
    expect(node.submitBlock({ ...header, utxoCommitment: Buffer.alloc(32) }, transactions)).toBe('accepted');
    expect(node.dag.sink).toBe(sink);
  });

  test('is refused when it contains a double spend or a transaction twice', () => {
    const { node, utxos } = nodeWithUtxos();
    for (const second of [payment(utxos[0], alice), payment(utxos[0], scriptOf(11))]) {
      const { header, transactions } = blockOn(node, { payments: [payment(utxos[0], alice), second] });
      expect(node.submitBlock(header, [...transactions])).toBe('invalid');
    }
  });
});

test('announces a block, then the removed and added chain blocks', () => {
  const node = smallNode();
  const [low, high] = siblings(node, [[], []]);
  if (low === undefined || high === undefined) throw new Error('no siblings');
  const events: NodeEvent[] = [];
  const stop = node.onEvent((event) => events.push(event));
  node.receive(low);
  node.receive(high);
  stop();
  node.receive(blockOn(node));
  expect(
    events.map((event) => {
      if (event.kind === 'blockAdded') return `block ${event.block.hash}`;
      if (event.kind !== 'virtualChanged') return event.kind;
      const { removed, added } = event.change;
      return `removed ${removed.map(({ hash }) => hash).join()} added ${added.map(({ hash }) => hash).join()}`;
    }),
  ).toEqual([
    `block ${toHex(low.hash)}`,
    `removed  added ${toHex(low.hash)}`,
    'newBlockTemplate',
    `block ${toHex(high.hash)}`,
    `removed ${toHex(low.hash)} added ${toHex(high.hash)}`,
    'newBlockTemplate',
  ]);
});

test('it persists a block before it announces it', () => {
  const order: string[] = [];
  const keep = (body: BlockBody): BlockBody => {
    order.push('kept');
    return body;
  };
  const node = new SimulatedNode({ params: SMALL_PARAMS, now: () => START_TIME, keep });
  node.onEvent(({ kind }) => order.push(kind));
  node.receive(blockOn(node));
  expect(order).toEqual(['kept', 'blockAdded', 'virtualChanged', 'newBlockTemplate']);
});

test('is synced while its sink is recent', () => {
  let now = START_TIME;
  const node = new SimulatedNode({ params: SMALL_PARAMS, now: () => now });
  expect(node.isSynced).toBe(false);
  node.receive(blockOn(node));
  expect(node.isSynced).toBe(true);
  now += 700_000;
  expect(node.isSynced).toBe(false);
});
