/** A transaction output as its owner sees it. */
import type { Outpoint, TransactionOutput } from '@kasgres/kaspa';
import type { Owner } from './owner.ts';

export interface Coin {
  outpoint: Outpoint;
  output: TransactionOutput;
  owner: Owner;
}
