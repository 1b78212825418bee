/** A transaction output as its owner sees it. */
import type { Outpoint, TransactionOutput } from '@kasgres/kaspa';
import type { Owner } from './owner.ts';

export interface Utxo {
  outpoint: Outpoint;
  output: TransactionOutput;
  owner: Owner;
}

/** It has an address, asks for a signature, and carries no covenant. */
export function isStandard({ owner, output }: Utxo): boolean {
  return owner.sigOps > 0 && output.covenant === undefined;
}
