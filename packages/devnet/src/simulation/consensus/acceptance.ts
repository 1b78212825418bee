/** Acceptance. Source: rusty-kaspa, consensus/src/pipeline/virtual_processor/utxo_validation.rs. */
import type { Acceptance, Block } from './block.ts';
import { checkMinedTransaction, type TransactionRules } from './transaction-rules.ts';
import { createdEntries, UtxoView } from '../../economy/utxo.ts';

/**
 * Accepts the selected parent's coinbase and, in the order of the mergeset, every payment that is
 * valid after those before it.
 * @param daaScore of the merging block
 * @param utxosBefore at the selected parent
 */
export function acceptMergeSet(
  mergeSet: readonly Block[],
  daaScore: number,
  utxosBefore: UtxoView,
  rules: TransactionRules,
): Acceptance {
  const utxos = new UtxoView(utxosBefore);
  const accepted: { block: Block; index: number }[] = [];
  const fees = mergeSet.map((block, position) => {
    let blockFees = 0n;
    for (const [index, transaction] of block.transactions.entries()) {
      const isCoinbase = index === 0;
      if (isCoinbase && position > 0) continue;
      if (!isCoinbase) {
        const check = checkMinedTransaction(transaction, utxos, daaScore, rules);
        if (check.kind !== 'valid') continue;
        utxos.apply({ added: [], removed: check.spent });
        blockFees += check.fee;
      }
      utxos.apply({ added: createdEntries(transaction, daaScore, isCoinbase), removed: [] });
      accepted.push({ block, index });
    }
    return blockFees;
  });
  return { accepted, diff: utxos.diff(), fees };
}
