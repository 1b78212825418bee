/**
 * Properties of whole simulated networks, for several seeds. A failing seed is in the test's name:
 * keep it in SEEDS.
 */
import { covenantId, headerHash, MAX_SOMPI, merkleRoot, toHex, transactionHash, transactionId } from '@kasgres/kaspa';
import { describe, expect, test } from 'vitest';
import type { Block } from './consensus/block.ts';
import { compareBlocks } from './consensus/block.ts';
import type { BlockBody } from './consensus/consensus.ts';
import { isDagAncestorOf } from './consensus/reachability.ts';
import { MAX_GAS_PER_LANE } from './consensus/isolation-rules.ts';
import type { DagTransaction } from '../dag/dag.ts';
import { Random } from '../economy/random.ts';
import type { SimulatedNode } from './node/simulated-node.ts';
import { hasValidSignatures } from '../economy/signatures.ts';
import { SMALL_PARAMS, smallNode, smallSimulatedDag } from './testing/small-simulated-dag.ts';

const SEEDS: [seed: string, hostileRate: number][] = [
  ['one', 0],
  ['two', 0.2],
  ['three', 0.5],
];
const BLOCKS = 300;

describe.each(SEEDS)(
  'the simulated network of seed %s with %d hostile blocks for each honest one',
  (seed, hostileRate) => {
    const { node, bodies } = smallSimulatedDag(seed, BLOCKS, {}, { hostileRate });
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
        expect(toHex(merkleRoot(transactions.map((transaction) => transaction.hash)))).toBe(
          toHex(header.hashMerkleRoot),
        );
      }
    });

    test('a node that gets the blocks in another order, all at once, has the same state', () => {
      const other = smallNode();
      other.restore(inOtherOrder(bodies, seed));
      expect(stateOf(other)).toEqual(stateOf(node));
    });

    test('equal seeds give equal blocks, other seeds give others', () => {
      const hashes = bodies.map(({ hash }) => toHex(hash));
      const again = smallSimulatedDag(seed, 60, {}, { hostileRate }).bodies.map(({ hash }) => toHex(hash));
      expect(again.slice(0, 59)).toEqual(hashes.slice(0, 59));
      expect(toHex(smallSimulatedDag(`${seed}'`, 3).bodies[0]?.hash ?? new Uint8Array())).not.toBe(hashes[0]);
    });
  },
);

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
    'several variants of an id',
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

test('a hostile miner sends everything that the rules in isolation allow', () => {
  const { node, bodies } = smallSimulatedDag('hostile', 900, {}, { hostileRate: 0.6 });
  const merged = chainOf(node).flatMap(({ ghostdag }) => ghostdag?.mergeSet ?? []);
  const disqualified = merged.filter(({ state, height }) => state.kind === 'disqualified' && height > 0);
  expect(disqualified.length).toBeGreaterThan(100);
  const accepted = new Set(
    chainOf(node).flatMap((block) => acceptanceOf(block).accepted.map(({ block, index }) => block.transactions[index])),
  );
  const acceptedIds = new Set([...accepted].map((transaction) => transaction && toHex(transaction.transactionId)));
  const all = bodies.flatMap(({ transactions }) => transactions);
  const payments = bodies.flatMap(({ transactions }) => transactions.slice(1));
  const byId = Map.groupBy(all, ({ transactionId }) => toHex(transactionId));
  const isAccepted = ({ transactionId }: DagTransaction): boolean => acceptedIds.has(toHex(transactionId));
  const rejected = payments.filter((transaction) => !isAccepted(transaction));
  const outputOf = ({ previousOutpoint: { transactionId, index } }: DagTransaction['inputs'][number]) =>
    byId.get(toHex(transactionId))?.[0]?.outputs[index];
  const totalSpent = ({ inputs }: DagTransaction): bigint =>
    inputs.reduce((total, input) => total + (outputOf(input)?.amount ?? 0n), 0n);
  const fee = (transaction: DagTransaction): bigint => totalSpent(transaction) - sum(transaction.outputs);
  const isResolved = ({ inputs }: DagTransaction): boolean => inputs.every((input) => outputOf(input) !== undefined);
  const firstAt = new Map<string, number>();
  for (const [at, { transactions }] of bodies.entries()) {
    for (const { transactionId } of transactions) {
      if (!firstAt.has(toHex(transactionId))) firstAt.set(toHex(transactionId), at);
    }
  }
  const spendsLater = ({ transactionId, inputs }: DagTransaction): boolean =>
    inputs.some(({ previousOutpoint }) => {
      return (firstAt.get(toHex(previousOutpoint.transactionId)) ?? -1) > (firstAt.get(toHex(transactionId)) ?? -1);
    });
  /** Ids of transactions by the covenant that they found, with the right id. */
  const bornBy = new Map<string, Set<string>>();
  for (const { inputs, outputs, transactionId } of payments) {
    for (const [input, { previousOutpoint }] of inputs.entries()) {
      const group = outputs.flatMap((output, index) => {
        return output.covenant?.authorizingInput === input ? [[index, output] as const] : [];
      });
      const [first] = group;
      const id = first?.[1].covenant && toHex(first[1].covenant.covenantId);
      if (id === undefined || id !== toHex(covenantId(previousOutpoint, group))) continue;
      bornBy.set(id, (bornBy.get(id) ?? new Set()).add(toHex(transactionId)));
    }
  }
  const found = {
    'outpoints that do not exist': rejected.some((transaction) => !isResolved(transaction)),
    'output indexes above 31 bits': rejected.some(({ inputs }) =>
      inputs.some(({ previousOutpoint }) => previousOutpoint.index >= 2 ** 31),
    ),
    'sums of inputs above 64 bits': rejected.some((transaction) => totalSpent(transaction) > 2n ** 64n),
    'fees above 63 bits': rejected.some((transaction) => isResolved(transaction) && fee(transaction) >= 2n ** 63n),
    'fees that just fit': rejected.some(
      (transaction) => isResolved(transaction) && fee(transaction) > MAX_SOMPI && fee(transaction) < 2n ** 63n,
    ),
    'negative fees': rejected.some(
      (transaction) => isResolved(transaction) && transaction.inputs.length > 0 && fee(transaction) < -MAX_SOMPI / 2n,
    ),
    'inputs before their outputs': rejected.some(spendsLater),
    'several variants of a rejected id': [...byId.values()].some(
      ([first, ...others]) => first && !isAccepted(first) && others.length > 3,
    ),
    'copies of accepted payments': [...byId.values()].some(
      (same) => same[0] !== undefined && same[0].inputs.length > 0 && isAccepted(same[0]) && same.length > 2,
    ),
    'accepted transactions of disqualified blocks': disqualified.some(({ transactions }) =>
      transactions.some((transaction) => accepted.has(transaction)),
    ),
    'an amount above 2^53 in a coinbase': all.some(
      ({ inputs, outputs }) => inputs.length === 0 && outputs.some(({ amount }) => amount === MAX_SOMPI),
    ),
    'empty scripts': payments.some(({ outputs }) =>
      outputs.some(({ scriptPublicKey }) => scriptPublicKey.script.length === 0),
    ),
    'long scripts': payments.some(({ outputs }) =>
      outputs.some(({ scriptPublicKey }) => scriptPublicKey.script.length > 9_000),
    ),
    'gas at the limit': payments.some(({ gas }) => gas === MAX_GAS_PER_LANE),
    'the greatest lock time': payments.some(({ lockTime }) => lockTime === 2n ** 64n - 1n),
    'extra data with NUL': bodies.some(({ transactions: [coinbase] }) => coinbase?.payload.subarray(19).includes(0)),
    'programs of 240 kB': payments.some(({ inputs }) =>
      inputs.some(({ signatureScript }) => signatureScript.length > 240_000),
    ),
    'covenants of rejected transactions that an accepted one has': rejected.some(({ outputs }) =>
      outputs.some(({ covenant }) => covenant && bornBy.has(toHex(covenant.covenantId))),
    ),
    'one covenant born by two transactions': [...bornBy.values()].some(
      (ids) => ids.size > 1 && [...ids].some((id) => acceptedIds.has(id)),
    ),
    'payloads of depth 10,000 that are accepted': payments.some(
      (transaction) => isAccepted(transaction) && Buffer.from(transaction.payload).includes('['.repeat(10_000)),
    ),
    'lanes of odd namespaces': payments.some(({ subnetworkId }) => toHex(subnetworkId).startsWith('f'.repeat(8))),
    'times ahead of the clock': bodies.some(({ header }, at) => {
      const before = bodies[at - 1]?.header.timestamp ?? header.timestamp;
      return header.timestamp > before + 100_000n;
    }),
  };
  expect(Object.entries(found).filter(([, isFound]) => !isFound)).toEqual([]);
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
