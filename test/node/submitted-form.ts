/** A transaction of ours in the form in which the API takes it, which is that of blocks and mempool entries (API.md, "Conventions"). */
import { toHex, type Transaction } from '@kasgres/kaspa';

export function submittedForm(transaction: Transaction) {
  return {
    version: transaction.version,
    inputs: transaction.inputs.map((input) => ({
      previousOutpoint: {
        transactionId: toHex(input.previousOutpoint.transactionId),
        index: input.previousOutpoint.index,
      },
      sequence: String(input.sequence),
      sigOpCount: input.sigOpCount,
      signatureScript: toHex(input.signatureScript),
      ...(transaction.version > 0 && { computeBudget: input.computeBudget }),
    })),
    outputs: transaction.outputs.map(({ amount, scriptPublicKey: { version, script }, covenant }) => ({
      value: String(amount),
      scriptPublicKey: version.toString(16).padStart(4, '0') + toHex(script),
      ...(covenant && {
        covenant: { authorizingInput: covenant.authorizingInput, covenantId: toHex(covenant.covenantId) },
      }),
    })),
    lockTime: String(transaction.lockTime),
    subnetworkId: toHex(transaction.subnetworkId),
    gas: String(transaction.gas),
    payload: transaction.payload.length === 0 ? '' : `0x${toHex(transaction.payload)}`,
    mass: String(transaction.storageMass),
  };
}
