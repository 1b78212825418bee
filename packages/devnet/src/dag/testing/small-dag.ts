/**
 * DAGs for tests, made of named blocks. Mergesets and selected parents follow from the parents;
 * merged blocks are blue by default.
 */
import { COINBASE_SUBNETWORK, type Transaction, type TransactionOutput, ZERO_HASH } from '@kasgres/kaspa';
import { compareByBlueWork, Dag, type DagBlock, type DagTransaction } from '../dag.ts';

export interface SmallBlock {
  parents: string[];
  reds?: string[];
  timestamp?: bigint;
  blueScore?: bigint;
  transactions?: DagTransaction[];
}

export class SmallDag {
  readonly dag = new Dag();

  constructor() {
    this.add('genesis', { parents: [] });
    this.setVirtual(['genesis']);
  }

  add(name: string, block: SmallBlock): DagBlock {
    const parents = block.parents.map((parent) => this.get(parent));
    const selectedParent = parents.toSorted(compareByBlueWork).at(-1);
    const merged = selectedParent === undefined ? [] : mergedAbove(parents, selectedParent).sort(compareByBlueWork);
    const isRed = ({ hash }: DagBlock) => (block.reds ?? []).map(hashOf).includes(hash);
    const blues = merged.filter((candidate) => candidate !== selectedParent && !isRed(candidate));
    const blueScore = selectedParent === undefined ? 0n : selectedParent.header.blueScore + BigInt(blues.length) + 1n;
    return this.dag.add({
      hash: hashOf(name),
      header: {
        version: 2,
        parentsByLevel: parents.length === 0 ? [] : [parents.map(({ hash }) => Buffer.from(hash, 'hex'))],
        hashMerkleRoot: ZERO_HASH,
        acceptedIdMerkleRoot: ZERO_HASH,
        utxoCommitment: ZERO_HASH,
        timestamp: block.timestamp ?? 1_000_000n + blueScore * 100n,
        bits: 0x207fffff,
        nonce: 0n,
        daaScore: selectedParent === undefined ? 0n : selectedParent.header.daaScore + BigInt(merged.length),
        blueWork: blueScore * 2n,
        blueScore: block.blueScore ?? blueScore,
        pruningPoint: ZERO_HASH,
      },
      selectedParentHash: selectedParent?.hash,
      mergeSetBlues: selectedParent === undefined ? [] : [selectedParent, ...blues].map(({ hash }) => hash),
      mergeSetReds: merged.filter(isRed).map(({ hash }) => hash),
      transactions: block.transactions ?? [transactionOf(`coinbase of ${name}`, [])],
      difficulty: 1,
    });
  }

  /** Adds a chain of `length` blocks on top of a block, and returns the name of the last one. */
  addChain(prefix: string, parent: string, length: number): string {
    let last = parent;
    for (let position = 1; position <= length; position++) {
      this.add(`${prefix}${position}`, { parents: [last] });
      last = `${prefix}${position}`;
    }
    return last;
  }

  /**
   * Puts the virtual block on these parents: the heaviest is the sink, and each chain block accepts
   * all transactions of its mergeset.
   */
  setVirtual(parents: string[]): { removed: DagBlock[]; added: DagBlock[] } {
    const blocks = parents.map((name) => this.get(name)).sort(compareByBlueWork);
    const sink = blocks.at(-1);
    if (sink === undefined) throw new Error('a virtual block without parents');
    for (let block: DagBlock | undefined = sink; block !== undefined; block = block.selectedParent) {
      if (block.accepted !== undefined) break;
      this.dag.setAcceptance(
        block.hash,
        block.mergeSet.flatMap((merged) => merged.transactions.map((_, index) => ({ blockHash: merged.hash, index }))),
      );
    }
    return this.dag.setVirtual({
      sink: sink.hash,
      parents: blocks.map(({ hash }) => hash),
      blueScore: sink.header.blueScore + BigInt(blocks.length),
      daaScore: sink.header.daaScore + BigInt(blocks.length),
      pastMedianTime: sink.header.timestamp,
      difficulty: 1,
    });
  }

  get(name: string): DagBlock {
    return this.dag.get(hashOf(name));
  }
}

export function namesOf(blocks: readonly DagBlock[]): string[] {
  return blocks.map(({ hash }) => Buffer.from(hash, 'hex').toString().replaceAll('\0', ''));
}

export function hashOf(name: string): string {
  return Buffer.from(name).toString('hex').padEnd(64, '0');
}

export function transactionOf(
  name: string,
  outputs: TransactionOutput[],
  more: Partial<Transaction> = {},
): DagTransaction {
  const id = Buffer.alloc(32);
  id.write(name);
  return {
    version: 1,
    inputs: [],
    outputs,
    lockTime: 0n,
    subnetworkId: COINBASE_SUBNETWORK,
    gas: 0n,
    payload: Buffer.alloc(0),
    storageMass: 0n,
    ...more,
    transactionId: id,
    hash: id,
    computeMass: 0n,
  };
}

/** Returns the blocks in the past of the parents that are not in that of the selected parent. */
function mergedAbove(parents: readonly DagBlock[], selectedParent: DagBlock): DagBlock[] {
  const below = new Set(withPast([selectedParent]));
  return [selectedParent, ...withPast(parents).filter((block) => !below.has(block))];
}

function withPast(blocks: readonly DagBlock[]): DagBlock[] {
  const seen = new Set(blocks);
  for (const block of seen) for (const parent of block.parents) seen.add(parent);
  return [...seen];
}
