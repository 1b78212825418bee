import type { TransactionKey } from '@kasgres/database';
import type { Hash, Sompi } from '@kasgres/kaspa';
import type { ChainBlock } from '../state-changes.ts';

/** A program that an accepted input reveals. */
export interface Reveal {
  transaction: TransactionKey;
  input: number;
  chainBlock: Pick<ChainBlock, 'index' | 'chainTime'>;
  /** Position of the transaction among those that the chain block accepts, from 0. */
  position: number;
  fee: Sompi;
  program: Uint8Array;
  hash: Hash;
  /** The covenant of the UTXO that the input spends. */
  covenantId: Hash | undefined;
}
