/** Notes what the end of a first catch-up would otherwise search in all rows. */
import type { BatchRows, TransactionKey } from '@kasgres/database';
import type { Transaction } from '@kasgres/kaspa';
import { bareProgram, decodePayload, describeProgram, possibleProgram, readEnvelope, usesOf } from '@kasgres/programs';
import { knownKccTemplate } from '../programs/kcc-template.ts';
import { isPublicKeyScript } from '../programs/public-key-script.ts';
import { KeySet } from './key-set.ts';

/**
 * The accepted transactions of a first catch-up that may have to do with covenants, programs or
 * inscriptions, so that its end need not search all rows for what few of them have. It has to see
 * each acceptance, in the order of the chain; those of chain blocks that are removed may stay.
 */
export class CandidateTransactions {
  /** Those whose accepted variant is not known: what they reveal is read at the end. */
  readonly unsettled = new KeySet();
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

  /**
   * @param variant the accepted one; null if it is not known
   * @param rows gets what the transaction may reveal
   */
  see(
    key: TransactionKey,
    transaction: Pick<Transaction, 'inputs' | 'outputs' | 'payload'>,
    variant: number | null,
    rows: Pick<BatchRows, 'possible_reveals'>,
  ): void {
    for (const { covenant, scriptPublicKey } of transaction.outputs) {
      if (covenant !== undefined) this.hasCovenants = true;
      if (isPublicKeyScript(scriptPublicKey.script) || this.hasBarePrograms) continue;
      this.hasBarePrograms = bareProgram(scriptPublicKey) !== undefined;
    }
    // A coinbase reveals and states nothing.
    if (transaction.inputs.length === 0) return;
    if (variant === null) this.unsettled.add(key);
    if (variant === null || decodePayload(transaction.payload) !== undefined) this.stating.add(key);
    for (const [index, { signatureScript }] of transaction.inputs.entries()) {
      const program = possibleProgram(signatureScript);
      if (program === undefined) continue;
      if (readEnvelope(program) !== undefined) this.stating.add(key);
      // Other programs are kept if the input spends a covenant, which an output before it created.
      if (variant === null || !(this.hasCovenants || usesOf(program) !== 0)) continue;
      const { hash, template, length, uses } = describeProgram(program);
      rows.possible_reveals.write({
        transaction_id: key,
        index,
        variant,
        length,
        uses,
        hash,
        template: template ?? null,
        kcc_template: knownKccTemplate(program, template) ?? null,
      });
    }
  }
}
