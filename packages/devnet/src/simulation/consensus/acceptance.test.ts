/** Acceptance and rewards on DAGs of a few blocks made by hand. */
import { toHex } from '@kasgres/kaspa';
import { describe, expect, test } from 'vitest';
import type { DagTransaction } from '../../dag/dag.ts';
import type { SimulatedNode } from '../node/simulated-node.ts';
import { withOtherSignatures } from '../../economy/signatures.ts';
import { blockOn, FEE, nodeWithUtxos, payment, scriptOf, siblings } from '../testing/hand-made.ts';
import { SMALL_PARAMS } from '../testing/small-simulated-dag.ts';
import { withDerived } from '../../economy/build-transaction.ts';
import type { BlockBody } from './consensus.ts';

const alice = scriptOf(10);
const bob = scriptOf(11);
const SUBSIDY = SMALL_PARAMS.subsidy;

describe('of a transaction in two parallel blocks', () => {
  test('the variant in the selected parent is accepted if both are valid', () => {
    const { node, utxos } = nodeWithUtxos();
    const paid = payment(utxos[0], alice);
    const [low, high] = receiveAll(node, siblings(node, [[paid], [paid]]));
    expect(accepted(node)).toEqual([`${high} coinbase`, `${high} ${id(paid)}`]);
    expect(node.consensus.sink.id).toBe(high);
    expect(low).not.toBe(high);
  });

  test('the valid variant is accepted although an invalid one precedes it', () => {
    const { node, utxos } = nodeWithUtxos();
    const good = payment(utxos[0], alice);
    const broken = withDerived(withOtherSignatures(good, { broken: true }));
    expect([id(broken), toHex(broken.hash) === toHex(good.hash)]).toEqual([id(good), false]);
    const [, second, top] = receiveAll(node, siblings(node, [[broken], [good], []]));
    expect(accepted(node)).toEqual([`${top} coinbase`, `${second} ${id(good)}`]);
  });

  test('the first of two valid variants is accepted', () => {
    const { node, utxos } = nodeWithUtxos();
    const one = payment(utxos[0], alice);
    const other = withDerived(withOtherSignatures(one, { broken: false }));
    const [first, , top] = receiveAll(node, siblings(node, [[other], [one], []]));
    expect(accepted(node)).toEqual([`${top} coinbase`, `${first} ${id(other)}`]);
  });
});

test('of two transactions that spend one UTXO, the one in the selected parent is accepted, else the one in the block with the lower hash', () => {
  const { node, utxos } = nodeWithUtxos();
  const [toAlice, toBob] = [payment(utxos[0], alice), payment(utxos[0], bob)];
  const [elsewhereToAlice, elsewhereToBob] = [payment(utxos[1], alice), payment(utxos[1], bob)];
  const blocks = siblings(node, [[elsewhereToBob], [toAlice, elsewhereToAlice], [toBob]]);
  const [first, , top] = receiveAll(node, blocks);
  expect(accepted(node)).toEqual([`${top} coinbase`, `${top} ${id(toBob)}`, `${first} ${id(elsewhereToBob)}`]);
  expect(node.balance(alice)).toBe(0n);
});

test('a block with a broken signature is not on the chain, but its other transactions are accepted', () => {
  const { node, utxos } = nodeWithUtxos();
  const broken = withDerived(withOtherSignatures(payment(utxos[0], alice), { broken: true }));
  const good = payment(utxos[1], bob);
  const [other, disqualified] = receiveAll(node, siblings(node, [[], [broken, good]]));
  expect(node.consensus.sink.id).toBe(other);
  node.receive(blockOn(node));
  node.receive(blockOn(node));
  expect(node.dag.get(disqualified ?? '').mergingBlock).toBeDefined();
  expect([node.balance(alice), node.balance(bob)]).toEqual([0n, (utxos[1]?.amount ?? 0n) - BigInt(FEE)]);
});

test('a reward cannot be spent before it is mature', () => {
  const { node } = nodeWithUtxos();
  const { utxos, virtual } = node.consensus;
  const young = utxos
    .values()
    .find((utxo) => Number(utxo.blockDaaScore) + SMALL_PARAMS.coinbaseMaturity === virtual.daaScore + 1);
  const early = payment(young, alice);
  const [, disqualified] = receiveAll(node, siblings(node, [[], [early]]));
  expect(node.consensus.get(Buffer.from(disqualified ?? '', 'hex')).state.kind).toBe('disqualified');
  // The next block merges it, at a score at which the reward is mature.
  node.receive(blockOn(node));
  expect(accepted(node)).toContain(`${disqualified} ${id(early)}`);
});

test('a coinbase pays each merged blue block its subsidy and fees, in mergeset order', () => {
  const { node, utxos } = nodeWithUtxos();
  const paid = payment(utxos[0], alice, FEE + 5);
  const same = payment(utxos[0], alice, FEE + 5);
  const bodies = siblings(node, [[same], [], [paid]]);
  receiveAll(node, bodies);
  const coinbase = blockOn(node).transactions[0];
  expect(coinbase?.outputs.map(({ amount }) => amount)).toEqual([SUBSIDY + BigInt(FEE + 5), SUBSIDY, SUBSIDY]);
});

test('the reward of a red block goes to the miner who merges it', () => {
  const { node, utxos } = nodeWithUtxos();
  const [withheld] = siblings(node, [[payment(utxos[0], alice)]]);
  for (let made = 0; made <= SMALL_PARAMS.ghostdagK; made += 1) node.receive(blockOn(node));
  if (withheld !== undefined) node.receive(withheld);
  const { ghostdag } = node.consensus.virtual;
  expect(ghostdag.mergeSetReds.map(({ hash }) => hash)).toEqual([withheld?.hash]);
  const coinbase = blockOn(node, { miner: bob }).transactions[0];
  expect(coinbase?.outputs).toEqual([
    { amount: SUBSIDY, scriptPublicKey: scriptOf(1), covenant: undefined },
    { amount: SUBSIDY + BigInt(FEE), scriptPublicKey: bob, covenant: undefined },
  ]);
  expect(node.balance(alice)).toBe((utxos[0]?.amount ?? 0n) - BigInt(FEE));
});

/** Their hashes. */
function receiveAll(node: SimulatedNode, bodies: readonly BlockBody[]): string[] {
  return bodies.map((body) => node.receive(body).id);
}

/** The transactions that the virtual block accepts: merged block and transaction. */
function accepted(node: SimulatedNode): string[] {
  return node.consensus.virtual.acceptance.accepted.map(({ block, index }) => {
    const transaction = block.transactions[index];
    return `${block.id} ${index === 0 || transaction === undefined ? 'coinbase' : id(transaction)}`;
  });
}

function id({ transactionId }: DagTransaction): string {
  return toHex(transactionId);
}
