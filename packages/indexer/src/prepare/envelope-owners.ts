import type { ScriptPublicKey, Transaction } from '@kasgres/kaspa';
import { possibleProgram, readEnvelope } from '@kasgres/programs';

const NONE: readonly ScriptPublicKey[] = [];

/**
 * Returns the scripts of those whom envelopes name as senders. They get keys with the block,
 * whether they were paid or not and whether the transaction is accepted or not, so that what
 * inscriptions refer to does not depend on when it was first seen.
 */
export function envelopeOwners({ inputs }: Pick<Transaction, 'inputs'>): readonly ScriptPublicKey[] {
  let owners: ScriptPublicKey[] | undefined;
  for (const { signatureScript } of inputs) {
    const program = possibleProgram(signatureScript);
    const envelope = program && readEnvelope(program);
    if (envelope !== undefined) (owners ??= []).push(envelope.owner);
  }
  return owners ?? NONE;
}
