/**
 * Decides whether a block can be on the selected chain: it must reward its mergeset and commit to it, name its selected parent first, and
 * contain no transaction that is invalid after that (rusty-kaspa, consensus/src/pipeline/virtual_processor/utxo_validation.rs).
 */
import { transactionHash } from '@kasgres/kaspa';
import type { Acceptance } from './acceptance.ts';
import type { Block, ChainState } from './block.ts';
import { coinbaseTransaction, getCoinbasePayload } from './coinbase.ts';
import type { CommitTo } from './commitments.ts';
import { getGhostdag } from './ghostdag.ts';
import { checkTransaction, type TransactionRules } from './transaction-rules.ts';
import type { UtxoView } from '../../economy/utxo.ts';

export interface ChainRules extends TransactionRules {
  subsidy: bigint;
  commitTo: CommitTo;
  /** False where the headers carry a real node's commitments, which cannot be recomputed here. */
  checksCommitments: boolean;
}

/**
 * @param acceptance of the block's mergeset
 * @param view of the state after that
 */
export function judgeChainBlock(block: Block, acceptance: Acceptance, view: UtxoView, rules: ChainRules): ChainState {
  const reason =
    coinbaseProblem(block, acceptance, rules) ??
    commitmentProblem(block, acceptance, rules) ??
    parentProblem(block) ??
    transactionProblem(block, view, rules);
  return reason === undefined ? { kind: 'qualified', acceptance } : { kind: 'disqualified', reason };
}

function coinbaseProblem(block: Block, { fees }: Acceptance, { subsidy }: ChainRules): string | undefined {
  const merged = { ghostdag: getGhostdag(block), nonDaa: block.nonDaa, fees };
  const expected = coinbaseTransaction(merged, getCoinbasePayload(block), subsidy);
  const actual = block.transactions[0]?.hash;
  const isExpected = actual !== undefined && Buffer.compare(transactionHash(expected), actual) === 0;
  return isExpected ? undefined : 'coinbase transaction is not built as expected';
}

function commitmentProblem(block: Block, acceptance: Acceptance, rules: ChainRules): string | undefined {
  if (!rules.checksCommitments) return undefined;
  const expected = rules.commitTo(getGhostdag(block).selectedParent, acceptance);
  if (Buffer.compare(expected.acceptedIdMerkleRoot, block.header.acceptedIdMerkleRoot) !== 0) {
    return 'accepted ID merkle root is invalid';
  }
  const isSame = Buffer.compare(expected.utxoCommitment, block.header.utxoCommitment) === 0;
  return isSame ? undefined : 'UTXO commitment is invalid';
}

function parentProblem(block: Block): string | undefined {
  const isFirst = block.parents[0] === getGhostdag(block).selectedParent;
  return isFirst ? undefined : 'first direct parent is not the selected parent';
}

function transactionProblem(block: Block, view: UtxoView, rules: ChainRules): string | undefined {
  const payments = block.transactions.slice(1);
  const invalid = payments.filter((transaction) => {
    return checkTransaction(transaction, view, block.daaScore, rules).kind !== 'valid';
  });
  if (invalid.length === 0) return undefined;
  return `${invalid.length} non-coinbase transactions (out of ${payments.length}) are invalid in UTXO context`;
}
