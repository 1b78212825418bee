/** Which accepted transactions the end of a first catch-up has to read again. */
import type { TransactionKey } from '@kasgres/database';
import type { Transaction } from '@kasgres/kaspa';
import { bareProgram, decodePayload } from '@kasgres/programs';
import { isPublicKeyScript } from '../programs/public-key-script.ts';
import { isNotable, possibleProgram } from '../reveals/candidates.ts';
import { KeySet } from './key-set.ts';

/**
 * The accepted transactions of a first catch-up that may have to do with covenants, programs or inscriptions, so that its end need not search all
 * rows for what few of them have. It has to see each acceptance, in the order of the chain; those of chain blocks that are removed may stay.
 */
export class CandidateTransactions {
  /** Those that may reveal a program that is kept, or may state an operation of a protocol, in ascending order. */
  readonly keys = new KeySet();
  #hasCovenants: boolean;
  #hasBarePrograms: boolean;

  /** @param startsWithUtxos whether the index began with a UTXO set, which may have covenants and programs */
  constructor(startsWithUtxos: boolean) {
    this.#hasCovenants = startsWithUtxos;
    this.#hasBarePrograms = startsWithUtxos;
  }

  /** Whether there can be covenants or programs. */
  get haveUses(): boolean {
    return this.#hasCovenants || this.#hasBarePrograms || !this.keys.isEmpty;
  }

  /** @param isKnown whether it is known that the chain accepted this variant of the transaction */
  see(key: TransactionKey, transaction: Pick<Transaction, 'inputs' | 'outputs' | 'payload'>, isKnown: boolean): void {
    for (const { covenant, scriptPublicKey } of transaction.outputs) {
      if (covenant !== undefined) this.#hasCovenants = true;
      if (isPublicKeyScript(scriptPublicKey.script) || this.#hasBarePrograms) continue;
      this.#hasBarePrograms = bareProgram(scriptPublicKey) !== undefined;
    }
    // A coinbase states nothing.
    if (transaction.inputs.length === 0) return;
    if (!isKnown || this.#mayReveal(transaction) || decodePayload(transaction.payload) !== undefined)
      this.keys.add(key);
  }

  /** A program that is not notable is kept if the input spends a covenant, which an output before it created. */
  #mayReveal({ inputs }: Pick<Transaction, 'inputs'>): boolean {
    return inputs.some(({ signatureScript }) => {
      const program = possibleProgram(signatureScript);
      return program !== undefined && (this.#hasCovenants || isNotable(program));
    });
  }
}
