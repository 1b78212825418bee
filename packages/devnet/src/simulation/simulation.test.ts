/** Properties of whole simulated networks, for several seeds. A failing seed is in the test's name: keep it in SEEDS. */
import { headerHash, merkleRoot, toHex, transactionHash, transactionId } from '@kasgres/kaspa';
import { describe, expect, test } from 'vitest';
import type { Block } from './consensus/block.ts';
import { compareBlocks } from './consensus/block.ts';
import type { BlockBody } from './consensus/consensus.ts';
import { isDagAncestorOf } from './consensus/reachability.ts';
import { Random } from '../economy/random.ts';
import type { SimulatedNode } from './node/simulated-node.ts';
import { hasValidSignatures } from '../economy/signatures.ts';
import { SMALL_PARAMS, smallNode, smallSimulatedDag } from './testing/small-simulated-dag.ts';

const SEEDS = ['one', 'two', 'three'];
const BLOCKS = 300;

describe.each(SEEDS)('the simulated network of seed %s', (seed) => {
  const { node, bodies } = smallSimulatedDag(seed, BLOCKS);
  const blocks = bodies.map(({ hash }) => node.consensus.get(hash));
  const chain = chainOf(node);

  test('every block in the past of the sink is in one mergeset of the chain, all others in none', () => {
    const merged = chain.flatMap(({ ghostdag }) => ghostdag?.mergeSet ?? []);
    expect(new Set(merged).size).toBe(merged.length);
    const { sink, genesis } = node.consensus;
    const past = [genesis, ...blocks].filter((block) => block !== sink && isDagAncestorOf(block, sink));
    expect(new Set(merged)).toEqual(new Set(past));
  });

  test('a mergeset consists of blues and reds, the selected parent first and the rest in ascending order', () => {
    for (const { ghostdag } of blocks) {
      const { selectedParent, mergeSet = [], mergeSetBlues = [], mergeSetReds = [] } = ghostdag ?? {};
      expect([mergeSet[0], mergeSetBlues[0]]).toEqual([selectedParent, selectedParent]);
      expect(mergeSet.slice(1)).toEqual([...mergeSetBlues.slice(1), ...mergeSetReds].sort(compareBlocks));
    }
  });

  test('no blue has more than k blues of the sink’s past in its anticone', () => {
    const blues = chain.flatMap(({ ghostdag }) => ghostdag?.mergeSetBlues ?? []);
    for (const blue of blues) {
      const anticone = blues.filter((other) => !isDagAncestorOf(blue, other) && !isDagAncestorOf(other, blue));
      expect(anticone.length).toBeLessThanOrEqual(SMALL_PARAMS.ghostdagK);
    }
  });

  test('the supply is the sum of unspent outputs, and of coinbase outputs minus fees', () => {
    const { utxos, virtual } = node.consensus;
    expect(sum([...utxos.values()])).toBe(utxos.total);
    const acceptances = [...chain, undefined].map((block) =>
      block === undefined ? virtual.acceptance : acceptanceOf(block),
    );
    const coinbases = acceptances.flatMap(({ accepted }) => {
      return accepted.filter(({ index }) => index === 0).flatMap(({ block }) => block.transactions[0]?.outputs ?? []);
    });
    const fees = acceptances.reduce((total, acceptance) => total + acceptance.fees.reduce((a, b) => a + b, 0n), 0n);
    expect(utxos.total).toBe(sum(coinbases) - fees);
  });

  test('no transaction is accepted twice, and none with an invalid signature', () => {
    const accepted = chain.flatMap((block) => acceptanceOf(block).accepted);
    const transactions = accepted.flatMap(({ block, index }) => block.transactions[index] ?? []);
    const ids = transactions.map((transaction) => toHex(transaction.transactionId));
    expect(new Set(ids).size).toBe(ids.length);
    expect(transactions.filter((transaction) => !hasValidSignatures(transaction))).toEqual([]);
  });

  test('ids, hashes and merkle roots are valid', () => {
    for (const { hash, header, transactions } of bodies) {
      expect(toHex(headerHash(header))).toBe(toHex(hash));
      for (const transaction of transactions) {
        expect(toHex(transactionId(transaction))).toBe(toHex(transaction.transactionId));
        expect(toHex(transactionHash(transaction))).toBe(toHex(transaction.hash));
      }
      expect(toHex(merkleRoot(transactions.map((transaction) => transaction.hash)))).toBe(toHex(header.hashMerkleRoot));
    }
  });

  test('a node that gets the blocks in another order, all at once, has the same state', () => {
    const other = smallNode();
    other.restore(inOtherOrder(bodies, seed));
    expect(stateOf(other)).toEqual(stateOf(node));
  });

  test('equal seeds give equal blocks, other seeds give others', () => {
    const hashes = bodies.map(({ hash }) => toHex(hash));
    expect(smallSimulatedDag(seed, 60).bodies.map(({ hash }) => toHex(hash))).toEqual(hashes.slice(0, 59));
    expect(toHex(smallSimulatedDag(`${seed}'`, 3).bodies[0]?.hash ?? new Uint8Array())).not.toBe(hashes[0]);
  });
});

test('the simulation contains every difficult case for an indexer', () => {
  const depths: number[] = [];
  const { node, bodies } = smallSimulatedDag('all of it', 600);
  const replay = smallNode();
  replay.onEvent((event) => event.kind === 'virtualChanged' && depths.push(event.change.removed.length));
  for (const body of bodies) replay.receive(body);
  const transactions = bodies.flatMap((body) => body.transactions);
  const chain = chainOf(node);
  const accepted = new Set(
    chain.flatMap((block) => acceptanceOf(block).accepted.map(({ block, index }) => block.transactions[index])),
  );

  expect(Math.max(...depths), 'deepest reorganisation').toBeGreaterThan(3);
  expect(
    chain.some(({ ghostdag }) => ghostdag !== undefined && ghostdag.mergeSetReds.length > 0),
    'reds',
  ).toBe(true);
  const isDisqualified = ({ hash }: BlockBody): boolean => node.consensus.get(hash).state.kind === 'disqualified';
  expect(bodies.some(isDisqualified), 'blocks that cannot be on the chain').toBe(true);
  expect(
    transactions.some(({ version, inputs }) => version === 1 && inputs.length > 0),
    'version 1',
  ).toBe(true);
  expect(
    transactions.some(({ outputs }) => outputs.some(({ covenant }) => covenant)),
    'covenants',
  ).toBe(true);
  expect(
    transactions.some(({ inputs }) => inputs.length > 8),
    'sweeps',
  ).toBe(true);
  expect(
    node.consensus.utxos.values().some(({ scriptPublicKey }) => scriptPublicKey.version === 3),
    'odd scripts',
  ).toBe(true);

  const bodiesOf = Map.groupBy(transactions, ({ transactionId }) => toHex(transactionId));
  const several = [...bodiesOf.values()].filter((same) => same.length > 1);
  expect(
    several.some(([first]) => first?.inputs.length === 0),
    'one coinbase id in several blocks',
  ).toBe(true);
  expect(
    several.some((same) => new Set(same.map(({ hash }) => toHex(hash))).size > 1),
    'several bodies of an id',
  ).toBe(true);
  expect(
    several.some(([first]) => first && !accepted.has(first)),
    'another than the first body accepted',
  ).toBe(true);
  const spenders = Map.groupBy(
    [...bodiesOf.values()].flatMap(([first]) => first ?? []),
    ({ inputs }) =>
      inputs[0] === undefined
        ? ''
        : `${toHex(inputs[0].previousOutpoint.transactionId)} ${inputs[0].previousOutpoint.index}`,
  );
  expect(
    [...spenders].some(([outpoint, by]) => outpoint !== '' && by.length > 1),
    'double spends',
  ).toBe(true);
});

/** From the first block above genesis to the sink. */
function chainOf(node: SimulatedNode): Block[] {
  return node.dag.chainBlocks.slice(1).map(({ hash }) => node.consensus.get(Buffer.from(hash, 'hex')));
}

function acceptanceOf({ state }: Block): Extract<Block['state'], { kind: 'qualified' }>['acceptance'] {
  if (state.kind !== 'qualified') throw new Error(`the block is ${state.kind}`);
  return state.acceptance;
}

function sum(of: readonly { amount: bigint }[]): bigint {
  return of.reduce((total, { amount }) => total + amount, 0n);
}

/** Parents first, but otherwise at random. */
function inOtherOrder(bodies: readonly BlockBody[], seed: string): BlockBody[] {
  const random = new Random('order', seed);
  const order: BlockBody[] = [];
  const known = new Set(['411f8cd26f3d41aea39e78573927da24d23995705b579f30959b9127e96b79e3']);
  const waiting = new Set(bodies);
  while (waiting.size > 0) {
    const ready = [...waiting].filter(({ header }) =>
      (header.parentsByLevel[0] ?? []).every((hash) => known.has(toHex(hash))),
    );
    const next = random.pick(ready);
    waiting.delete(next);
    known.add(toHex(next.hash));
    order.push(next);
  }
  return order;
}

/** All that can be seen of a node's state, without the order of arrival. */
function stateOf(node: SimulatedNode): unknown {
  const { virtual, utxos } = node.consensus;
  return {
    parents: virtual.parents.map(({ id }) => id),
    daaScore: virtual.daaScore,
    pastMedianTime: virtual.pastMedianTime,
    chain: node.dag.chainBlocks.map(({ hash, accepted = [], mergeSet }) => ({
      hash,
      mergeSet: mergeSet.map((block) => block.hash),
      accepted: accepted.map(({ block, transaction }) => `${block.hash} ${toHex(transaction.hash)}`),
    })),
    utxos: [...utxos.values()]
      .map(
        (utxo) =>
          `${toHex(utxo.outpoint.transactionId)} ${utxo.outpoint.index} ${utxo.amount} ${utxo.blockDaaScore} ${utxo.isCoinbase}`,
      )
      .sort(),
  };
}
