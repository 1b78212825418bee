/** Bodies of `submitBlock` and `submitTransaction` that pass validation and that a node refuses. */

/** A hash or transaction id that does not exist. */
export const UNKNOWN_ID = 'ab'.repeat(32);

/** A transaction that spends `inputs` unknown outputs and creates `outputs`. */
export function submittedTransaction(inputs: number, outputs: number) {
  return {
    version: 0,
    inputs: Array.from({ length: inputs }, (_, index) => ({
      previousOutpoint: { transactionId: UNKNOWN_ID, index },
      sequence: 0,
      sigOpCount: 1,
      signatureScript: '',
    })),
    outputs: Array.from({ length: outputs }, (_, index) => ({
      value: index + 1,
      scriptPublicKey: { version: 0, script: '51' },
    })),
    lockTime: 0,
    subnetworkId: '00'.repeat(20),
    gas: 0,
    payload: '',
  };
}

export function submittedBlock(transactions: object[], parentsByLevel: string[][] = [[UNKNOWN_ID]]) {
  return {
    block: {
      header: {
        version: 1,
        parentsByLevel,
        hashMerkleRoot: UNKNOWN_ID,
        acceptedIdMerkleRoot: UNKNOWN_ID,
        utxoCommitment: UNKNOWN_ID,
        pruningPoint: UNKNOWN_ID,
        timestamp: 1_750_000_000_000,
        bits: 545_259_519,
        nonce: 0,
        daaScore: 5,
        blueWork: '15',
        blueScore: 4,
      },
      transactions,
    },
  };
}

/**
 * Sets every `sequence` to 2^64 - 1, as in block templates, which exceeds the safe integers of
 * JavaScript.
 */
export const withLargestSequences = (body: object): string =>
  JSON.stringify(body).replaceAll('"sequence":0', '"sequence":18446744073709551615');
