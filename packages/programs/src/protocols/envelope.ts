/**
 * The envelope of inscriptions in a program (Kasplex, "Data Insertion Mechanism", docs.kasplex.org,
 * and `parseScriptInput` of kasplex/go-krc20d, explorer/script.go; KNS and KRC-721 use the same
 * with other markers): an owner's key or keys with the opcode that checks signatures, and a branch
 * that is never executed, with a marker and one or two pairs of a tag and data.
 */
import { blake2b256, type ScriptPublicKey } from '@kasgres/kaspa';
import {
  OP_BLAKE2B,
  OP_CHECK_MULTI_SIG,
  OP_CHECK_MULTI_SIG_ECDSA,
  OP_CHECK_SIG,
  OP_CHECK_SIG_ECDSA,
  OP_END_IF,
  OP_EQUAL,
  OP_FALSE,
  OP_IF,
  OP_PUSH_DATA_4,
  OP_TRUE,
} from '../opcodes.ts';
import { ScriptReader } from '../script-reader.ts';

export interface Envelope {
  /** The bytes that name the protocol. */
  marker: Uint8Array;
  /** The script of the key, or the P2SH script of the keys. */
  owner: ScriptPublicKey;
  /**
   * The data of tag 0; undefined if there is none, or what follows the marker does not have the
   * form.
   */
  content: Uint8Array | undefined;
  /** The opcode that pushed the content. */
  contentOpcode: number;
}

const KEY_BYTES = 32;
const ECDSA_KEY_BYTES = 33;
const MAX_KEYS = 15;
const MAX_PAIRS = 2;
/**
 * Known markers are shorter. A longer one belongs to a program of another kind that has such a
 * branch.
 */
const MAX_MARKER_BYTES = 16;

/** Returns the envelope that a program is; undefined if it is none. */
export function readEnvelope(program: Uint8Array): Envelope | undefined {
  const reader = new ScriptReader(program);
  const owner = readOwner(reader);
  if (owner === undefined || !readOpcode(reader, OP_FALSE) || !readOpcode(reader, OP_IF)) return undefined;
  const marker = readData(reader);
  if (marker === undefined || marker.length === 0 || marker.length > MAX_MARKER_BYTES) return undefined;
  return { marker, owner, ...readContent(reader) };
}

/**
 * Reads up to two pairs, in any order. Anything after them is not looked at, as in the reference
 * indexer.
 */
function readContent(reader: ScriptReader): Pick<Envelope, 'content' | 'contentOpcode'> {
  const none = { content: undefined, contentOpcode: 0 };
  let found: Pick<Envelope, 'content' | 'contentOpcode'> = none;
  for (let pair = 0; pair < MAX_PAIRS; pair++) {
    if (!reader.next()) return none;
    const tag = reader.opcode;
    if (tag === OP_END_IF) break;
    const data = isTag(tag) ? readData(reader) : undefined;
    if (data === undefined) return none;
    if (tag === OP_FALSE) found = { content: data, contentOpcode: reader.opcode };
  }
  return found;
}

/** Tags are 0 and the odd numbers from 1 to 15. */
function isTag(opcode: number): boolean {
  const number = opcode - OP_TRUE + 1;
  return opcode === OP_FALSE || (number >= 1 && number <= 15 && number % 2 === 1);
}

/** Reads the next instruction. Returns whether it is this opcode. */
function readOpcode(reader: ScriptReader, opcode: number): boolean {
  return reader.next() && reader.opcode === opcode;
}

/** Returns the data of the next instruction if it is a data push. */
function readData(reader: ScriptReader): Uint8Array | undefined {
  return reader.next() && reader.opcode <= OP_PUSH_DATA_4 ? reader.pushed() : undefined;
}

function readOwner(reader: ScriptReader): ScriptPublicKey | undefined {
  if (!reader.next()) return undefined;
  const required = reader.opcode - OP_TRUE + 1;
  if (required >= 1 && required <= MAX_KEYS) return readKeys(reader);
  const key = reader.opcode <= OP_PUSH_DATA_4 ? reader.pushed() : undefined;
  if (key === undefined || !reader.next()) return undefined;
  const isSchnorr = key.length === KEY_BYTES && reader.opcode === OP_CHECK_SIG;
  const isEcdsa = key.length === ECDSA_KEY_BYTES && reader.opcode === OP_CHECK_SIG_ECDSA;
  if (!isSchnorr && !isEcdsa) return undefined;
  return { version: 0, script: Uint8Array.of(key.length, ...key, reader.opcode) };
}

/** Returns the P2SH script of `m keys n OpCheckMultiSig`, or of the same with ECDSA. */
function readKeys(reader: ScriptReader): ScriptPublicKey | undefined {
  const start = reader.offset;
  let keys = 0;
  while (keys <= MAX_KEYS && reader.next() && reader.opcode <= OP_PUSH_DATA_4) {
    const { length } = reader.pushed() ?? [];
    if (length !== KEY_BYTES && length !== ECDSA_KEY_BYTES) return undefined;
    keys++;
  }
  if (keys === 0 || keys > MAX_KEYS || reader.opcode - OP_TRUE + 1 !== keys || !reader.next()) return undefined;
  if (reader.opcode !== OP_CHECK_MULTI_SIG && reader.opcode !== OP_CHECK_MULTI_SIG_ECDSA) return undefined;
  const hash = blake2b256(reader.script.subarray(start, reader.end));
  return { version: 0, script: Uint8Array.of(OP_BLAKE2B, hash.length, ...hash, OP_EQUAL) };
}
