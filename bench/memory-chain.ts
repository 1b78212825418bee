/**
 * A node with a chain of the largest blocks that the protocol allows, for measurements of memory. Payloads are views of one pool of random bytes,
 * so that thousands of blocks fit.
 */
import { randomBytes } from 'node:crypto';
import { type DagTransaction, type NodeState, withDerived } from '@kasgres/devnet';
import {
  COINBASE_SUBNETWORK,
  computeMass,
  type Hash,
  merkleRoot,
  NATIVE_SUBNETWORK,
  type Transaction,
  transientMass,
  ZERO_HASH,
} from '@kasgres/kaspa';
import { network, StaticNode } from './static-node.ts';

/** The content of the blocks: one payload, as many transactions as fit, or one transaction with as many outputs as fit. */
export const FILLINGS = ['payload', 'transactions', 'outputs'] as const;
export type Filling = (typeof FILLINGS)[number];

/** Mass limits of a block. */
const MAX_COMPUTE_MASS = 500_000n;
const MAX_TRANSIENT_MASS = 1_000_000n;
const BLOCK_MS = 100n;
/** The number of levels in a mainnet header. */
const LEVELS = 54;
const HASH_BYTES = 32;
const SOMPI_PER_LANE = 10n ** 12n;
/** OP_TRUE, the shortest script, so that most outputs fit. */
const SCRIPT = { version: 0, script: Uint8Array.of(0x51) };

/** @param parentsPerLevel made-up parents on each of 54 levels, no two the same; 0: the direct parent alone */
export function openLargeChain(blocks: number, filling: Filling, parentsPerLevel = 0): NodeState {
  /** As many random bytes as a block holds, and one more for each block. */
  const pool = randomBytes(Number(MAX_TRANSIENT_MASS / 4n) + blocks);
  const lanes = filling === 'transactions' ? mostThatFit((count) => Array.from({ length: count }, () => spend())) : 1;
  const outputs = mostThatFit((count) => [spend({ amounts: Array.from({ length: count }, () => 1n) })]);
  const payloadBytes = mostThatFit((bytes) => [spend({ payload: new Uint8Array(bytes) })]);
  const node = new StaticNode();

  /** Returns views of the pool, at a different offset for each block. */
  const parentsAbove = (height: number): Hash[][] =>
    Array.from({ length: parentsPerLevel === 0 ? 0 : LEVELS - 1 }, (_level, level) =>
      Array.from({ length: parentsPerLevel }, (_parent, parent) => {
        const start = height + (level * parentsPerLevel + parent) * HASH_BYTES;
        return pool.subarray(start, start + HASH_BYTES);
      }),
    );

  /** Each payment spends the first output of its lane in the block below; the coinbase of the first block opens the lanes. */
  const pay = (height: number, lane: number): DagTransaction => {
    const [coinbase, ...payments] = node.tip.transactions;
    const transactionId = (height === 2 ? coinbase : payments[lane])?.transactionId ?? ZERO_HASH;
    const previousOutpoint = { transactionId, index: height === 2 ? lane : 0 };
    if (filling === 'transactions') return withDerived(spend({ previousOutpoint }));
    if (filling === 'payload') {
      return withDerived(spend({ previousOutpoint, payload: pool.subarray(height, height + payloadBytes) }));
    }
    const rest = SOMPI_PER_LANE - BigInt(2 * outputs * height);
    const amounts = Array.from({ length: outputs }, (_, output) => (output === 0 ? rest : 1n));
    return withDerived(spend({ previousOutpoint, amounts, payload: pool.subarray(height, height + 8) }));
  };

  for (let height = 1; height <= blocks; height += 1) {
    const payments = Array.from({ length: height === 1 ? 0 : lanes }, (_, lane) => pay(height, lane));
    const transactions = [withDerived(coinbase(height, height === 1 ? lanes : 0)), ...payments];
    const header = {
      ...node.genesis,
      version: 2,
      parentsByLevel: [[Buffer.from(node.tip.hash, 'hex')], ...parentsAbove(height)],
      hashMerkleRoot: merkleRoot(transactions.map(({ hash }) => hash)),
      timestamp: node.genesis.timestamp + BigInt(height) * BLOCK_MS,
      nonce: BigInt(height),
      daaScore: node.genesis.daaScore + BigInt(height),
      blueWork: BigInt(height),
      blueScore: BigInt(height),
      pruningPoint: network.genesisHash,
    };
    node.add(header, transactions);
  }
  return node.state(node.dag.genesis.hash);
}

function coinbase(height: number, lanes: number): Transaction {
  const payload = Buffer.alloc(8);
  payload.writeBigUInt64LE(BigInt(height));
  const amounts = Array.from({ length: lanes }, () => SOMPI_PER_LANE);
  return { ...spend({ amounts, payload }), inputs: [], subnetworkId: COINBASE_SUBNETWORK };
}

function spend({
  previousOutpoint = { transactionId: ZERO_HASH, index: 0 },
  amounts = [SOMPI_PER_LANE],
  payload = new Uint8Array(),
} = {}): Transaction {
  const input = { signatureScript: new Uint8Array(), sequence: 0n, sigOpCount: 0, computeBudget: 0 };
  return {
    version: 0,
    inputs: [{ previousOutpoint, ...input }],
    outputs: amounts.map((amount) => ({ amount, scriptPublicKey: SCRIPT, covenant: undefined })),
    lockTime: 0n,
    subnetworkId: NATIVE_SUBNETWORK,
    gas: 0n,
    payload,
    storageMass: 0n,
  };
}

/** Returns how many items a block can hold. */
function mostThatFit(make: (count: number) => Transaction[]): number {
  const [few, many] = [make(1), make(2)];
  const most = ([mass, limit]: [(transaction: Transaction) => bigint, bigint]): number => {
    const [base, more] = [few, many].map((all) => all.reduce((sum, one) => sum + mass(one), 0n)) as [bigint, bigint];
    return 1 + Number((limit - base) / (more - base));
  };
  return Math.min(most([computeMass, MAX_COMPUTE_MASS]), most([transientMass, MAX_TRANSIENT_MASS]));
}
