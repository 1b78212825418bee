/** What a real node said of a chain, against what this consensus says of the same blocks. `recorded/` holds the chain. */
import { readFileSync } from 'node:fs';
import { brotliDecompressSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Block } from './block.ts';
import { Consensus } from './consensus.ts';
import { SIMNET_PARAMS } from './params.ts';
import { at, type RecordedChain, recordedBodies, type RecordedVirtual } from './testing/recorded-chain.ts';

const file = new URL('recorded/recorded-chain.json.br', import.meta.url);
const recorded = JSON.parse(brotliDecompressSync(readFileSync(file)).toString()) as RecordedChain;
const bodies = recordedBodies(recorded);

/** A node that was given the first blocks of the recording, and finds the virtual block after each of them. */
function nodeWith(count: number): { consensus: Consensus; blocks: Block[]; deepestReorg: number } {
  const [genesis, ...others] = bodies.slice(0, count);
  if (genesis === undefined) throw new Error('the recording is empty');
  const consensus = new Consensus({
    params: { ...SIMNET_PARAMS, coinbaseMaturity: recorded.coinbaseMaturity },
    genesis,
    // The recording has no body with a broken signature.
    hasValidSignatures: () => true,
    checksCommitments: false,
  });
  const blocks = [consensus.genesis];
  let deepestReorg = 0;
  for (const body of others) {
    // Refuses a block whose DAA score, blue score, blue work or bits are not what it expects.
    blocks.push(consensus.add(body));
    deepestReorg = Math.max(deepestReorg, consensus.resolveVirtual().removed.length);
  }
  return { consensus, blocks, deepestReorg };
}

describe('a recorded chain', () => {
  let node: ReturnType<typeof nodeWith>;

  beforeAll(() => {
    node = nodeWith(bodies.length);
  });

  test('contains the difficult cases', () => {
    expect(node.blocks.length).toBeGreaterThan(1_000);
    expect(node.deepestReorg).toBeGreaterThanOrEqual(32);
    expect(recorded.blocks.filter(({ mergeSetReds }) => mergeSetReds.length > 0)).not.toHaveLength(0);
  });

  test('every block has the selected parent, blues and reds that kaspad computed', () => {
    for (const [number, expected] of recorded.blocks.entries()) {
      const { ghostdag } = at(node.blocks, number);
      expect({
        selectedParent: ghostdag?.selectedParent.index,
        mergeSetBlues: indexes(ghostdag?.mergeSetBlues),
        mergeSetReds: indexes(ghostdag?.mergeSetReds),
      }).toEqual({
        selectedParent: expected.selectedParent,
        mergeSetBlues: expected.mergeSetBlues,
        mergeSetReds: expected.mergeSetReds,
      });
    }
  });

  test('every chain block accepts the transactions that kaspad accepted, in the same order', () => {
    const numbers = new Map(
      bodies.flatMap(({ transactions }, block) => {
        return transactions.map(({ transactionId }, index) => [
          Buffer.from(transactionId).toString('hex'),
          at(at(recorded.blocks, block).transactions, index),
        ]);
      }),
    );
    for (const { block, accepted } of recorded.chain) {
      const { state } = at(node.blocks, block);
      if (state.kind !== 'qualified') throw new Error(`block ${block} is ${state.kind}`);
      const ids = state.acceptance.accepted.map((place) => {
        return Buffer.from(at(place.block.transactions, place.index).transactionId).toString('hex');
      });
      expect(ids.map((id) => numbers.get(id))).toEqual(accepted);
    }
  });

  test('the supply equals that of kaspad, and the sum of all unspent outputs', () => {
    expect(node.consensus.utxos.total).toBe(BigInt(recorded.supply));
    expect([...node.consensus.utxos.values()].reduce((sum, { amount }) => sum + amount, 0n)).toBe(
      BigInt(recorded.supply),
    );
  });
});

test.each(recorded.checkpoints)('the virtual block equals that of kaspad at $name', (expected: RecordedVirtual) => {
  const { virtual, sink } = nodeWith(expected.blocks).consensus;
  expect({
    sink: sink.index,
    parents: indexes(virtual.parents).sort((a, b) => a - b),
    daaScore: virtual.daaScore,
    pastMedianTime: virtual.pastMedianTime,
  }).toEqual({
    sink: expected.sink,
    parents: expected.parents.toSorted((a, b) => a - b),
    daaScore: expected.daaScore,
    pastMedianTime: expected.pastMedianTime,
  });
});

function indexes(blocks: readonly Block[] = []): number[] {
  return blocks.map(({ index }) => index);
}
