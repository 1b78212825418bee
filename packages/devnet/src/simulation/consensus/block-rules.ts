/**
 * The rules for every block, on the chain or off it. Source of the messages: rusty-kaspa,
 * consensus/core/src/errors/block.rs.
 */
import {
  type CoinbasePayload,
  CoinbasePayloadError,
  decodeCoinbasePayload,
  type Header,
  isCoinbase,
  merkleRoot,
  toHex,
} from '@kasgres/kaspa';
import type { DagTransaction } from '../../dag/dag.ts';
import type { ConsensusParams } from './params.ts';
import type { Pov } from './block.ts';
import { findIsolationProblem, isFinalized } from './isolation-rules.ts';
import { isDagAncestorOf } from './reachability.ts';
import { describeOutpoint } from './transaction-rules.ts';
import { outpointKey } from '../../economy/utxo.ts';

export class BlockRuleError extends Error {
  override name = 'BlockRuleError';
}

/** Throws `BlockRuleError` unless the header matches its parents. */
export function checkHeader(header: Header, pov: Pov, params: ConsensusParams): void {
  const { parents, ghostdag } = pov;
  if (parents.length > params.maxBlockParents) {
    throw refuse(`block has too many parents: got ${parents.length} when the limit is ${params.maxBlockParents}`);
  }
  for (const parent of parents) {
    const descendant = parents.find((other) => other !== parent && isDagAncestorOf(parent, other));
    if (descendant !== undefined) throw refuse(`parent ${parent.id} is an ancestor of parent ${descendant.id}`);
  }
  if (ghostdag.mergeSet.length > params.mergesetSizeLimit) {
    throw refuse(`block merges ${ghostdag.mergeSet.length} blocks > ${params.mergesetSizeLimit} merge set size limit`);
  }
  if (header.timestamp <= pov.pastMedianTime) {
    throw refuse(`block timestamp of ${header.timestamp} is not after expected ${pov.pastMedianTime}`);
  }
  expectEqual('daa score', BigInt(pov.daaScore), header.daaScore);
  expectEqual('blue score', BigInt(ghostdag.blueScore), header.blueScore);
  expectEqual('blue work', ghostdag.blueWork, header.blueWork);
  expectEqual('difficulty', BigInt(pov.bits), BigInt(header.bits));
}

/**
 * Throws `BlockRuleError` unless the transactions match the header and are independent of each
 * other.
 */
export function checkBody(header: Header, transactions: readonly DagTransaction[], params: ConsensusParams): void {
  const [coinbase, ...payments] = transactions;
  if (coinbase === undefined) throw refuse('block has no transactions');
  if (!isCoinbase(coinbase)) throw refuse('block first transaction is not coinbase');
  const second = payments.findIndex(isCoinbase);
  if (second >= 0) throw refuse(`block has second coinbase transaction as index ${second + 1}`);
  const root = merkleRoot(transactions.map(({ hash }) => hash));
  if (Buffer.compare(root, header.hashMerkleRoot) !== 0) {
    throw refuse(
      `invalid merkle root: header indicates ${toHex(header.hashMerkleRoot)} but calculated value is ${toHex(root)}`,
    );
  }
  const problem = findIsolationProblem(transactions, params);
  if (problem !== undefined) throw refuse(problem);
  const payload = readCoinbasePayload(coinbase);
  if (payload.blueScore !== header.blueScore) {
    throw refuse(`coinbase blue score of ${payload.blueScore} is not the expected value of ${header.blueScore}`);
  }
  if (payload.subsidy !== params.subsidy) {
    throw refuse(`wrong coinbase subsidy: expected ${params.subsidy} but got ${payload.subsidy}`);
  }
  checkIndependence(payments);
}

/** Throws `BlockRuleError` unless the lock time of each transaction has passed. */
export function checkLockTimes(
  transactions: readonly DagTransaction[],
  { daaScore, pastMedianTime }: Pick<Pov, 'daaScore' | 'pastMedianTime'>,
): void {
  const locked = transactions.find((transaction) => !isFinalized(transaction, daaScore, pastMedianTime));
  if (locked !== undefined) throw refuse(`transaction ${toHex(locked.transactionId)} is not finalized`);
}

function readCoinbasePayload({ payload }: DagTransaction): CoinbasePayload {
  try {
    return decodeCoinbasePayload(payload);
  } catch (error) {
    if (error instanceof CoinbasePayloadError) throw refuse(`bad coinbase payload: ${error.message}`);
    throw error;
  }
}

function checkIndependence(payments: readonly DagTransaction[]): void {
  const ids = new Set<string>();
  for (const id of payments.map(({ transactionId }) => toHex(transactionId))) {
    if (ids.has(id)) throw refuse(`transaction ${id} is found more than once in the block`);
    ids.add(id);
  }
  const spent = new Set<string>();
  for (const { previousOutpoint } of payments.flatMap(({ inputs }) => inputs)) {
    const key = outpointKey(previousOutpoint);
    const isCreated = ids.has(toHex(previousOutpoint.transactionId));
    if (isCreated || spent.has(key)) {
      const problem = spent.has(key) ? 'spent more than once' : 'created and spent';
      throw refuse(`outpoint ${describeOutpoint(previousOutpoint)} is ${problem} on the same block`);
    }
    spent.add(key);
  }
}

function expectEqual(field: string, expected: bigint, actual: bigint): void {
  if (expected !== actual) throw refuse(`expected header ${field} ${expected} but got ${actual}`);
}

function refuse(message: string): BlockRuleError {
  return new BlockRuleError(message);
}
