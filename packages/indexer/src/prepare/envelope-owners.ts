import type { ScriptPublicKey, Transaction } from '@kasgres/kaspa';
import { readEnvelope, shapeOf } from '@kasgres/programs';

/** The size of the spend of a key. With a signature and an envelope it is longer. */
const SIGNATURE_SCRIPT_BYTES = 66;

/**
 * Yields the scripts of those whom envelopes name as senders. They get keys with the block, whether they were paid or not and whether the
 * transaction is accepted or not, so that what inscriptions refer to does not depend on when it was first seen.
 */
export function* envelopeOwners({ inputs }: Pick<Transaction, 'inputs'>): Generator<ScriptPublicKey> {
  for (const { signatureScript } of inputs) {
    if (signatureScript.length <= SIGNATURE_SCRIPT_BYTES) continue;
    const { isPushOnly, lastPush } = shapeOf(signatureScript);
    const envelope = isPushOnly && lastPush !== undefined ? readEnvelope(lastPush) : undefined;
    if (envelope !== undefined) yield envelope.owner;
  }
}
