/** Compares this consensus with a real node on the same blocks. */
import { toHex } from '@kasgres/kaspa';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Block } from './block.ts';
import { Consensus } from './consensus.ts';
import { SIMNET_PARAMS } from './params.ts';
import { readRecordedBlock, readRecordedChain } from './testing/recorded-chain.ts';

const recorded = readRecordedChain();
const recordedBlocks = recorded.checkpoints.flatMap(({ blocks }) => blocks).map(readRecordedBlock);

/** Adds the first blocks of the recording, and resolves the virtual block after each of them. */
function nodeWith(count: number): { consensus: Consensus; deepestReorg: number } {
  const [genesis, ...others] = recordedBlocks.slice(0, count);
  if (genesis === undefined) throw new Error('the recording is empty');
  const consensus = new Consensus({
    params: { ...SIMNET_PARAMS, coinbaseMaturity: 100 },
    genesis: genesis.body,
    hasValidScripts: () => true,
    checksCommitments: false,
  });
  let deepestReorg = 0;
  for (const { body } of others) {
    // Throws if the DAA score, blue score, blue work or bits of the block differ from the computed
    // ones.
    consensus.add(body);
    deepestReorg = Math.max(deepestReorg, consensus.resolveVirtual().removed.length);
  }
  return { consensus, deepestReorg };
}

describe('a recorded chain', () => {
  let node: ReturnType<typeof nodeWith>;

  beforeAll(() => {
    node = nodeWith(recordedBlocks.length);
  });

  test('it contains deep reorganisations and reds', () => {
    expect(recordedBlocks.length).toBeGreaterThan(1_000);
    expect(node.deepestReorg).toBeGreaterThanOrEqual(32);
    expect(recordedBlocks.some(({ ghostdag }) => ghostdag.mergeSetRedsHashes.length > 0)).toBe(true);
  });

  test('it gives every block the selected parent, blues and reds that the node reported', () => {
    for (const { body, ghostdag: expected } of recordedBlocks.slice(1)) {
      const { ghostdag } = node.consensus.get(body.hash);
      expect({
        selectedParentHash: ghostdag?.selectedParent.id,
        mergeSetBluesHashes: idsOf(ghostdag?.mergeSetBlues),
        mergeSetRedsHashes: idsOf(ghostdag?.mergeSetReds),
      }).toEqual({
        selectedParentHash: expected.selectedParentHash,
        mergeSetBluesHashes: expected.mergeSetBluesHashes,
        mergeSetRedsHashes: expected.mergeSetRedsHashes,
      });
    }
  });

  test('it accepts what the node accepted, in the same order', () => {
    for (const [hash, expected] of recorded.accepted) {
      const { state } = node.consensus.get(Buffer.from(hash, 'hex'));
      if (state.kind !== 'qualified') throw new Error(`block ${hash} is ${state.kind}`);
      const ids = state.acceptance.accepted.map(({ block, index }) => block.transactions[index]?.transactionId);
      expect(ids.map((id) => id && toHex(id))).toEqual(expected);
    }
  });

  test('it has the supply of the node, in all unspent outputs', () => {
    const { utxos } = node.consensus;
    expect(utxos.total).toBe(BigInt(recorded.supply));
    expect([...utxos.values()].reduce((sum, { amount }) => sum + amount, 0n)).toBe(BigInt(recorded.supply));
  });
});

test.each(recorded.checkpoints.entries().toArray())('the virtual block is the node’s at checkpoint %i', (index) => {
  const known = recorded.checkpoints.slice(0, index + 1);
  const { virtual, sink } = nodeWith(known.flatMap(({ blocks }) => blocks).length).consensus;
  const expected = known.at(-1);
  expect({
    sink: sink.id,
    parents: idsOf(virtual.parents).sort(),
    daaScore: String(virtual.daaScore),
    pastMedianTime: String(virtual.pastMedianTime),
  }).toEqual({
    sink: expected?.sink,
    parents: expected?.virtualParentHashes.toSorted(),
    daaScore: expected?.virtualDaaScore,
    pastMedianTime: expected?.pastMedianTime,
  });
});

function idsOf(blocks: readonly Block[] = []): string[] {
  return blocks.map(({ id }) => id);
}
