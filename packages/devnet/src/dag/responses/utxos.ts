/** The UTXO behind an input of an accepted transaction. */
import { isCoinbase, type Outpoint, toHex, type Utxo } from '@kasgres/kaspa';
import type { Dag } from '../dag.ts';

/** As the UTXO set had it before it was spent. Throws when no transaction made it: nothing accepted spends such a UTXO. */
export function spentUtxo(dag: Dag, outpoint: Outpoint): Utxo {
  const id = toHex(outpoint.transactionId);
  const transaction = dag.findTransaction(id);
  const output = transaction?.outputs[outpoint.index];
  const acceptingBlock = dag.findAcceptingBlock(id);
  if (transaction === undefined || output === undefined || acceptingBlock === undefined) {
    throw new Error(`no accepted transaction made the UTXO ${id}:${outpoint.index}`);
  }
  return {
    outpoint,
    amount: output.amount,
    scriptPublicKey: output.scriptPublicKey,
    blockDaaScore: acceptingBlock.header.daaScore,
    isCoinbase: isCoinbase(transaction),
    covenantId: output.covenant?.covenantId,
  };
}
