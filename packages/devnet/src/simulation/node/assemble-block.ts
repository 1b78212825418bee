import { type Header, headerHash, merkleRoot } from '@kasgres/kaspa';
import type { DagTransaction } from '../../dag/dag.ts';
import { withDerived } from '../../economy/build-transaction.ts';
import { BlockRuleError } from '../consensus/block-rules.ts';
import { coinbaseTransaction, type Miner } from '../consensus/coinbase.ts';
import type { BlockBody, Consensus, Virtual } from '../consensus/consensus.ts';
import { parentsByLevel } from '../consensus/parent-levels.ts';

const HEADER_VERSION = 2;

export interface BlockOptions {
  virtual: Virtual;
  miner: Miner;
  /** Each is valid at the virtual block. */
  payments: readonly DagTransaction[];
  /** Unix milliseconds; raised if the past median time is later. */
  timestamp: number;
  nonce: bigint;
}

export function assembleBlock(consensus: Consensus, options: BlockOptions): BlockBody {
  const { virtual, miner, payments, timestamp, nonce } = options;
  const { ghostdag, nonDaa, acceptance } = virtual;
  const merged = { ghostdag, nonDaa, fees: acceptance.fees };
  const coinbase = withDerived(coinbaseTransaction(merged, miner, consensus.params.subsidy));
  const transactions = [coinbase, ...payments];
  const header: Header = {
    version: HEADER_VERSION,
    parentsByLevel: parentsByLevel(virtual.parents, consensus.params, (hash) => consensus.get(hash)),
    hashMerkleRoot: merkleRoot(transactions.map(({ hash }) => hash)),
    ...consensus.commitmentsOf(virtual),
    timestamp: BigInt(Math.max(timestamp, virtual.pastMedianTime + 1)),
    bits: virtual.bits,
    nonce,
    daaScore: BigInt(virtual.daaScore),
    blueScore: BigInt(ghostdag.blueScore),
    blueWork: ghostdag.blueWork,
    pruningPoint: consensus.pruningPoint.hash,
  };
  return { hash: headerHash(header), header, transactions };
}

/** @param now Unix milliseconds */
export function checkSubmittedHeader(header: Header, consensus: Consensus, now: number): void {
  const latest = now + consensus.params.timestampToleranceMs;
  if (header.timestamp > latest) {
    throw new BlockRuleError(
      `the block timestamp is too far into the future: block timestamp is ${header.timestamp} but maximum timestamp allowed is ${latest}`,
    );
  }
  const parents = (header.parentsByLevel[0] ?? []).map((hash) => consensus.get(hash));
  const expected = parentsByLevel(parents, consensus.params, (hash) => consensus.get(hash));
  if (flatten(expected) !== flatten(header.parentsByLevel)) throw new BlockRuleError('unexpected indirect parents');
  if (Buffer.compare(header.pruningPoint, consensus.pruningPoint.hash) !== 0) {
    throw new BlockRuleError('unexpected pruning point');
  }
}

function flatten(levels: readonly (readonly Uint8Array[])[]): string {
  return levels.map((hashes) => Buffer.concat(hashes).toString('hex')).join();
}
