/**
 * The registry of decoders: every operation of a known protocol in a transaction. Each decoder is
 * total, and linear in its bytes.
 */
import type { ScriptPublicKey } from '@kasgres/kaspa';
import { OP_PUSH_DATA_4 } from '../opcodes.ts';
import { readEnvelope } from './envelope.ts';
import type { Inscription, Operation } from './inscription.ts';
import { readKnsEnvelope } from './kns.ts';
import { readKrc20Envelope, readKrc20Payload } from './krc-20.ts';
import { readKrc721Envelope } from './krc-721.ts';
import { readPrefixedPayload } from './prefixes.ts';

/**
 * Must rise whenever a decoder is added or reads something else, so that indexers decode what they
 * have again.
 */
export const DECODERS_VERSION = 3;

export interface InscribedTransaction {
  payload: Uint8Array;
  /**
   * The program that each input reveals, if it reveals one. Empty for a coinbase, whose payload
   * names a miner instead.
   */
  programs: readonly (Uint8Array | undefined)[];
  /**
   * The script that input 0 spends; undefined if it is unknown, as before the first block of an
   * index.
   */
  sender: ScriptPublicKey | undefined;
}

/**
 * Returns the operations of a transaction: that of its payload, and then those of the programs that
 * its inputs reveal.
 */
export function decodeInscriptions({ payload, programs, sender }: InscribedTransaction): Inscription[] {
  if (programs.length === 0) return [];
  const found: Inscription[] = [];
  const inPayload = decodePayload(payload);
  if (inPayload !== undefined) found.push({ ...inPayload, source: 'payload', owner: sender });
  for (const [input, program] of programs.entries()) {
    const inscribed = program && decodeProgram(program, input);
    if (inscribed !== undefined) found.push(inscribed);
  }
  return found;
}

/**
 * Returns the operation of a payload that is not a coinbase's; undefined if it begins as no known
 * protocol does.
 */
export function decodePayload(payload: Uint8Array): Operation | undefined {
  return payload.length === 0 ? undefined : (readPrefixedPayload(payload) ?? readKrc20Payload(payload));
}

/**
 * Returns the operation in the program that an input reveals; undefined if there is none that
 * counts on this input.
 */
export function decodeProgram(program: Uint8Array, input: number): Inscription | undefined {
  const envelope = readEnvelope(program);
  if (envelope === undefined) return undefined;
  const { marker, owner, content, contentOpcode } = envelope;
  const read = readMarked(Buffer.from(marker).toString('latin1'), content, contentOpcode, input);
  return read && { ...read, source: { input }, owner };
}

const NO_BYTES = new Uint8Array(0);

function readMarked(
  marker: string,
  content: Uint8Array | undefined,
  contentOpcode: number,
  input: number,
): Operation | undefined {
  const body = content ?? NO_BYTES;
  // The reference indexer of KRC-20 does not read pushes with lengths of four bytes.
  if (/^kasplex$/i.test(marker)) return readKrc20Envelope(contentOpcode === OP_PUSH_DATA_4 ? NO_BYTES : body, input);
  if (marker === 'kspr') return input === 0 ? readKrc721Envelope(body) : undefined;
  return marker === 'kns' ? readKnsEnvelope(body) : undefined;
}
