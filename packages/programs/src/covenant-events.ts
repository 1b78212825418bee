/**
 * Derives the events of covenants from an accepted transaction. `checkCovenants` of
 * `@kasgres/kaspa` checks its bindings.
 */
import { type Covenant, type Hash, toHex } from '@kasgres/kaspa';

/** A burn spends UTXOs of a covenant and creates none. A covenant may have UTXOs left after it. */
export type CovenantEventKind = 'genesis' | 'transition' | 'burn';

export interface CovenantEvent {
  covenantId: Hash;
  kind: CovenantEventKind;
  /** The inputs that spend its UTXOs, and the outputs that are bound to it, in ascending order. */
  inputs: number[];
  outputs: number[];
}

/**
 * Returns one event for each covenant that a valid transaction spends from or creates an output of,
 * in the order of their first inputs and then of their first outputs.
 * @param spentCovenantIds the covenant id of the UTXO that each input spends
 * @param outputs of the transaction
 */
export function covenantEvents(
  spentCovenantIds: readonly (Hash | undefined)[],
  outputs: readonly { covenant: Covenant | undefined }[],
): CovenantEvent[] {
  const events = new Map<string, CovenantEvent>();
  const eventOf = (covenantId: Hash): CovenantEvent => {
    const key = toHex(covenantId);
    let event = events.get(key);
    if (event === undefined) {
      event = { covenantId, kind: 'genesis', inputs: [], outputs: [] };
      events.set(key, event);
    }
    return event;
  };
  for (const [index, covenantId] of spentCovenantIds.entries()) {
    if (covenantId !== undefined) eventOf(covenantId).inputs.push(index);
  }
  for (const [index, { covenant }] of outputs.entries()) {
    if (covenant !== undefined) eventOf(covenant.covenantId).outputs.push(index);
  }
  for (const event of events.values()) {
    // A valid genesis spends no UTXO of its covenant: the id commits to an outpoint that was
    // unspent before.
    if (event.inputs.length > 0) event.kind = event.outputs.length > 0 ? 'transition' : 'burn';
  }
  return [...events.values()];
}
