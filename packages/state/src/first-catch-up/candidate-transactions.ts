/** Which accepted transactions the end of a first catch-up has to read again. */
import type { TransactionKey } from '@kasgres/database';
import type { Transaction } from '@kasgres/kaspa';
import { bareProgram, decodePayload, possibleProgram, readEnvelope, usesOf } from '@kasgres/programs';
import { isPublicKeyScript } from '../programs/public-key-script.ts';
import { KeySet } from './key-set.ts';

/**
 * The accepted transactions of a first catch-up that may have to do with covenants, programs or
 * inscriptions, so that its end need not search all rows for what few of them have. It has to see
 * each acceptance, in the order of the chain; those of chain blocks that are removed may stay.
 */
export class CandidateTransactions {
  /** Those that may reveal a program that is kept. */
  readonly revealing = new KeySet();
  /** Those that may state an operation of a protocol. */
  readonly stating = new KeySet();
  /** Whether there may be covenants. */
  hasCovenants: boolean;
  /** Whether there may be scripts that are programs by themselves. */
  hasBarePrograms: boolean;

  /** @param startsWithUtxos whether the index began with a UTXO set, which may have both */
  constructor(startsWithUtxos: boolean) {
    this.hasCovenants = startsWithUtxos;
    this.hasBarePrograms = startsWithUtxos;
  }

  /** @param isKnown whether it is known that the chain accepted this variant of the transaction */
  see(key: TransactionKey, transaction: Pick<Transaction, 'inputs' | 'outputs' | 'payload'>, isKnown: boolean): void {
    for (const { covenant, scriptPublicKey } of transaction.outputs) {
      if (covenant !== undefined) this.hasCovenants = true;
      if (isPublicKeyScript(scriptPublicKey.script) || this.hasBarePrograms) continue;
      this.hasBarePrograms = bareProgram(scriptPublicKey) !== undefined;
    }
    // A coinbase reveals and states nothing.
    if (transaction.inputs.length === 0) return;
    if (!isKnown) this.revealing.add(key);
    if (!isKnown || decodePayload(transaction.payload) !== undefined) this.stating.add(key);
    for (const { signatureScript } of transaction.inputs) {
      const program = possibleProgram(signatureScript);
      if (program === undefined) continue;
      const hasEnvelope = readEnvelope(program) !== undefined;
      if (hasEnvelope) this.stating.add(key);
      // Other programs are kept if the input spends a covenant, which an output before it created.
      if (hasEnvelope || this.hasCovenants || usesOf(program) !== 0) this.revealing.add(key);
    }
  }
}
