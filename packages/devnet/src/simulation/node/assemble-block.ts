/** Assembles a block from a virtual block, a miner and transactions, for templates and for simulated miners. */
import { headerHash, type Header, merkleRoot } from '@kasgres/kaspa';
import type { DagTransaction } from '../../dag/dag.ts';
import { coinbaseTransaction, type Miner } from '../consensus/coinbase.ts';
import type { BlockBody, Consensus, Virtual } from '../consensus/consensus.ts';
import { parentsByLevel } from '../consensus/parent-levels.ts';
import { withDerived } from '../../economy/build-transaction.ts';

const HEADER_VERSION = 2;

export interface BlockOptions {
  virtual: Virtual;
  miner: Miner;
  /** Without the coinbase; each valid at the virtual block. */
  payments: readonly DagTransaction[];
  /** Unix milliseconds; moved up where the past demands a later one. */
  timestamp: number;
  nonce: bigint;
}

export function assembleBlock(consensus: Consensus, parts: BlockOptions): BlockBody {
  const { virtual, miner, payments, timestamp, nonce } = parts;
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
