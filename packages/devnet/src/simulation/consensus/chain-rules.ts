/**
 * The rules for blocks of the selected chain. Source: rusty-kaspa,
 * consensus/src/pipeline/virtual_processor/utxo_validation.rs.
 */
import { type Hash, merkleRoot, MuHash, transactionHash } from '@kasgres/kaspa';
import { type Acceptance, type Block, getGhostdag } from './block.ts';
import { coinbaseTransaction, getCoinbasePayload } from './coinbase.ts';
import { checkMinedTransaction, type TransactionRules } from './transaction-rules.ts';
import type { UtxoView } from '../../economy/utxo.ts';

export interface Commitments {
  acceptedIdMerkleRoot: Hash;
  utxoCommitment: Hash;
}

export interface ChainRules extends TransactionRules {
  subsidy: bigint;
  commitsToUtxos: boolean;
  /**
   * False for recorded blocks of a real node: their commitments, and the storage masses that the
   * recording omits, cannot be checked here.
   */
  checksCommitments: boolean;
}

/** @param view of the UTXOs after the acceptance */
export function isValidOnChain(block: Block, acceptance: Acceptance, view: UtxoView, rules: ChainRules): boolean {
  const { transactions, header, nonDaa, daaScore } = block;
  const ghostdag = getGhostdag(block);
  const merged = { ghostdag, nonDaa, fees: acceptance.fees };
  const coinbase = coinbaseTransaction(merged, getCoinbasePayload(block), rules.subsidy);
  if (!areEqual(transactionHash(coinbase), transactions[0]?.hash)) return false;
  if (rules.checksCommitments) {
    const expected = commitmentsAfter(ghostdag.selectedParent, acceptance, rules);
    if (!areEqual(expected.acceptedIdMerkleRoot, header.acceptedIdMerkleRoot)) return false;
    if (!areEqual(expected.utxoCommitment, header.utxoCommitment)) return false;
  }
  if (block.parents[0] !== ghostdag.selectedParent) return false;
  return transactions
    .slice(1)
    .every((payment) => checkMinedTransaction(payment, view, daaScore, rules).kind === 'valid');
}

/** kaspad's commitment to accepted ids is another hash of the same past. */
export function commitmentsAfter(
  selectedParent: Block,
  acceptance: Acceptance,
  { commitsToUtxos }: ChainRules,
): Commitments {
  const { header } = selectedParent;
  const ids = acceptance.accepted.flatMap(({ block, index }) => block.transactions[index]?.transactionId ?? []);
  const acceptedIdMerkleRoot = merkleRoot([header.acceptedIdMerkleRoot, ...ids]);
  const utxoCommitment = commitsToUtxos
    ? new MuHash(utxoProductAfter(selectedParent, acceptance)).commitment()
    : merkleRoot([header.utxoCommitment, acceptedIdMerkleRoot]);
  return { acceptedIdMerkleRoot, utxoCommitment };
}

/** MuHash products of the UTXO sets after acceptances. */
const utxoProducts = new WeakMap<Acceptance, bigint>();

function utxoProductAfter(selectedParent: Block, acceptance: Acceptance): bigint {
  const known = utxoProducts.get(acceptance);
  if (known !== undefined) return known;
  const muhash = new MuHash(utxoProductAt(selectedParent));
  for (const utxo of acceptance.diff.added) muhash.add(utxo);
  for (const utxo of acceptance.diff.removed) muhash.remove(utxo);
  const { product } = muhash;
  utxoProducts.set(acceptance, product);
  return product;
}

function utxoProductAt({ height, id, state }: Block): bigint {
  if (height === 0) return new MuHash().product;
  const product = state.kind === 'qualified' ? utxoProducts.get(state.acceptance) : undefined;
  if (product === undefined) throw new Error(`the UTXO commitment at block ${id} is unknown`);
  return product;
}

function areEqual(expected: Hash, actual: Hash | undefined): boolean {
  return actual !== undefined && Buffer.compare(expected, actual) === 0;
}
