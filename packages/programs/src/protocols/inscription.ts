/**
 * An operation of a protocol above the chain, as the bytes of a transaction state it. Whether it
 * has an effect, only the protocol's indexer knows.
 */
import type { ScriptPublicKey } from '@kasgres/kaspa';
import { isSafeText } from '../safe-text.ts';

export type Protocol =
  | 'krc-20'
  | 'krc-721'
  | 'kspr'
  | 'kns'
  | 'kasplex-l2'
  | 'igra'
  | 'kasia'
  | 'kachat'
  | 'k'
  | 'kaspatalk'
  | 'kaspa-file';

/** An operation without its place and its sender. */
export interface Operation {
  protocol: Protocol;
  /** False if the protocol's marker is there and what follows is not one of its operations. */
  isDecodable: boolean;
  /**
   * The protocol's own name of it, of at most 32 characters of `a-z`, digits, `_` and `-`;
   * undefined if it has none or is undecodable.
   */
  operation: string | undefined;
  /**
   * A ticker, a token id, a name or a channel: printable text of at most 255 characters, without
   * control, bidirectional and invisible characters.
   */
  tick: string | undefined;
  /** The protocol's content, which may be any bytes. A view of the payload or the program. */
  body: Uint8Array;
}

export interface Inscription extends Operation {
  /** Where it is: the payload, or the program that an input reveals. */
  source: 'payload' | { input: number };
  /** The script that the protocol takes as the sender's; undefined if it is unknown. */
  owner: ScriptPublicKey | undefined;
}

const OPERATION_NAME = /^[a-z0-9_-]{1,32}$/;
const MAX_TICK_CHARACTERS = 255;
export function undecodable(protocol: Protocol, body: Uint8Array): Operation {
  return { protocol, isDecodable: false, operation: undefined, tick: undefined, body };
}

/**
 * Makes an operation, which is undecodable if its name is not one. A tick that cannot be shown is
 * left out.
 */
export function toOperation(
  protocol: Protocol,
  body: Uint8Array,
  { operation, tick }: { operation?: string | undefined; tick?: string | undefined },
): Operation {
  if (operation !== undefined && !OPERATION_NAME.test(operation)) return undecodable(protocol, body);
  return {
    protocol,
    isDecodable: true,
    operation,
    tick: tick !== undefined && isSafeTick(tick) ? tick : undefined,
    body,
  };
}

function isSafeTick(tick: string): boolean {
  return tick.length > 0 && tick.length <= MAX_TICK_CHARACTERS && isSafeText(tick);
}
