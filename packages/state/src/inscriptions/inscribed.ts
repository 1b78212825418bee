/** An operation of a protocol as a row has it: without its body, which is decoded on read. */
import type { ScriptKey, TransactionKey } from '@kasgres/database';
import type { ScriptPublicKey } from '@kasgres/kaspa';
import { claimedProgram, decodePayload, decodeProgram, type Operation } from '@kasgres/programs';

/** In place of the index of an input. */
export const PAYLOAD = -1;
/**
 * In place of the name of an operation. A protocol whose operation has this name cannot be told
 * apart.
 */
const UNDECODABLE = 'undecodable';

/** Empty texts stand for none. */
export interface Kind {
  protocol: string;
  operation: string;
  tick: string;
}

export interface Inscribed extends Kind {
  transaction: TransactionKey;
  owner: ScriptKey;
  /** The input whose program states it, or `PAYLOAD`. */
  input: number;
}

/** An operation in a program, whose owner is a script without a key yet. */
export interface Enveloped extends Omit<Inscribed, 'owner'> {
  owner: ScriptPublicKey;
}

function kindOf({ protocol, isDecodable, operation, tick }: Operation): Kind {
  return { protocol, operation: isDecodable ? (operation ?? '') : UNDECODABLE, tick: tick ?? '' };
}

/** Returns the operation in a payload. @param owner the script that input 0 spends */
export function inscribedInPayload(
  payload: Uint8Array,
  transaction: TransactionKey,
  owner: ScriptKey | undefined,
): Inscribed | undefined {
  const operation = owner === undefined ? undefined : decodePayload(payload);
  return operation && owner !== undefined ? { transaction, owner, input: PAYLOAD, ...kindOf(operation) } : undefined;
}

export function inscribedInProgram(
  program: Uint8Array,
  transaction: TransactionKey,
  input: number,
): Enveloped | undefined {
  const found = decodeProgram(program, input);
  return found?.owner && { transaction, owner: found.owner, input, ...kindOf(found) };
}

/** An accepted input, as rows have it. */
export interface AcceptedInput {
  transaction: number;
  input: number;
  signatureScript: Uint8Array;
  /** The P2SH script that it spends. */
  script: Uint8Array;
}

export function inscribedInInput({
  transaction,
  input,
  signatureScript,
  script,
}: AcceptedInput): Enveloped | undefined {
  const program = claimedProgram({ version: 0, script }, signatureScript);
  return program && inscribedInProgram(program, transaction, input);
}
