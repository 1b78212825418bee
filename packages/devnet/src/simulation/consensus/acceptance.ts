/**
 * Decides which transactions of a mergeset are accepted (rusty-kaspa, consensus/src/pipeline/virtual_processor/utxo_validation.rs): the selected
 * parent's coinbase, then, in the order of the mergeset, every transaction that is valid after those before it. The first valid instance of a
 * transaction wins; other coinbases are never accepted.
 */
import type { Block } from './block.ts';
import { checkTransaction, type TransactionRules } from './transaction-rules.ts';
import { createdEntries, type UtxoDiff, UtxoDiffBuilder, type UtxoView } from '../../economy/utxo.ts';

export interface Acceptance {
  /** `index` is the position of the transaction in its merged block. */
  accepted: readonly { block: Block; index: number }[];
  /** The changes to the state at the selected parent. */
  diff: UtxoDiff;
  /** Sompi that the accepted transactions of each merged block pay, in the order of the mergeset. */
  fees: readonly bigint[];
}

/**
 * @param daaScore of the merging block
 * @param view of the state at the selected parent
 */
export function acceptMergeSet(
  mergeSet: readonly Block[],
  daaScore: number,
  view: UtxoView,
  rules: TransactionRules,
): Acceptance {
  const diff = new UtxoDiffBuilder(view);
  const accepted: { block: Block; index: number }[] = [];
  const fees = mergeSet.map((block, position) => {
    let blockFees = 0n;
    for (const [index, transaction] of block.transactions.entries()) {
      const isCoinbase = index === 0;
      if (isCoinbase && position > 0) continue;
      if (!isCoinbase) {
        const check = checkTransaction(transaction, diff, daaScore, rules);
        if (check.kind !== 'valid') continue;
        for (const entry of check.spent) diff.spend(entry);
        blockFees += check.fee;
      }
      for (const entry of createdEntries(transaction, daaScore, isCoinbase)) diff.add(entry);
      accepted.push({ block, index });
    }
    return blockFees;
  });
  return { accepted, diff: diff.build(), fees };
}
