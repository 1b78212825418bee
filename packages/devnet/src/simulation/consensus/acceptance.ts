/**
 * Decides which transactions of a mergeset are accepted (rusty-kaspa, consensus/src/pipeline/virtual_processor/utxo_validation.rs): the selected
 * parent's coinbase, then block by block in the order of the mergeset every transaction that is valid after those before it. Of
 * several instances of one transaction the first valid one wins; other coinbases are never accepted.
 */
import type { Block } from './block.ts';
import { checkTransaction, type TransactionRules } from './transaction-rules.ts';
import { createdEntries, type UtxoDiff, UtxoDiffBuilder, type UtxoView } from '../../economy/utxo.ts';

/** An accepted transaction: the `index`th of a merged block. */
export interface AcceptedPosition {
  block: Block;
  index: number;
}

export interface Acceptance {
  accepted: readonly AcceptedPosition[];
  /** The changes to the state at the selected parent. */
  diff: UtxoDiff;
  /** Sompi that the accepted transactions of each merged block pay, in the order of the mergeset. */
  fees: readonly bigint[];
}

/**
 * Accepts a mergeset, in its order, over the state at its first block, the selected parent.
 * @param daaScore of the block that merges
 */
export function acceptMergeSet(
  mergeSet: readonly Block[],
  daaScore: number,
  view: UtxoView,
  rules: TransactionRules,
): Acceptance {
  const diff = new UtxoDiffBuilder(view);
  const accepted: AcceptedPosition[] = [];
  const fees = mergeSet.map((block, position) => {
    let blockFees = 0n;
    for (const [index, transaction] of block.transactions.entries()) {
      if (index === 0) {
        if (position > 0) continue;
        for (const entry of createdEntries(transaction, daaScore, true)) diff.add(entry);
      } else {
        const check = checkTransaction(transaction, diff, daaScore, rules);
        if (check.kind !== 'valid') continue;
        for (const entry of check.spent) diff.spend(entry);
        for (const entry of createdEntries(transaction, daaScore, false)) diff.add(entry);
        blockFees += check.fee;
      }
      accepted.push({ block, index });
    }
    return blockFees;
  });
  return { accepted, diff: diff.build(), fees };
}
