/** An unspent output as peers send it. */
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { Utxo } from '@kasgres/kaspa';
import type { p2pProtocol } from '@kasgres/node';

export function utxoSetItem({
  outpoint: { transactionId, index },
  amount,
  scriptPublicKey,
  blockDaaScore,
  isCoinbase,
  covenantId,
}: Utxo): MessageInitShape<typeof p2pProtocol.UtxoSetItemSchema> {
  return {
    outpoint: { transactionId: { bytes: transactionId }, index },
    entry: {
      amount,
      scriptPublicKey,
      blockDaaScore,
      isCoinbase,
      ...(covenantId === undefined ? {} : { covenantId: { bytes: covenantId } }),
    },
  };
}
