/** Decodes tens of millions of UTXOs by hand. Field numbers are those of protocol/p2p.proto. */
import type { Hash, Outpoint, ScriptPublicKey, Utxo } from '@kasgres/kaspa';
import { NodeProtocolError } from '../errors.ts';
import { bytesTag, varintTag, WireReader } from '../wire-reader.ts';

const CHUNK_ITEMS = bytesTag(1);

const ITEM_OUTPOINT = bytesTag(1);
const ITEM_ENTRY = bytesTag(2);

const OUTPOINT_TRANSACTION_ID = bytesTag(1);
const OUTPOINT_INDEX = varintTag(2);

const ENTRY_AMOUNT = varintTag(1);
const ENTRY_SCRIPT_PUBLIC_KEY = bytesTag(2);
const ENTRY_BLOCK_DAA_SCORE = varintTag(3);
const ENTRY_IS_COINBASE = varintTag(4);
const ENTRY_COVENANT_ID = bytesTag(5);

const SCRIPT_BYTES = bytesTag(1);
const SCRIPT_VERSION = varintTag(2);

const HASH_BYTES = bytesTag(1);

const NO_BYTES = new Uint8Array(0);
/** Nodes send a thousand. */
const MAX_UTXOS = 10_000;

type Entry = Omit<Utxo, 'outpoint'>;

/** The byte arrays in the result are views of `chunk`. Throws NodeProtocolError. */
export function decodeUtxoChunk(chunk: Uint8Array): Utxo[] {
  const reader = new WireReader(chunk);
  const utxos: Utxo[] = [];
  while (reader.more) {
    const tag = reader.tag();
    if (tag !== CHUNK_ITEMS) reader.skip(tag);
    else if (utxos.length < MAX_UTXOS) utxos.push(decodeItem(reader));
    else throw new NodeProtocolError(`a chunk of a UTXO set has more than ${MAX_UTXOS} UTXOs`);
  }
  reader.leave(chunk.length);
  return utxos;
}

function decodeItem(reader: WireReader): Utxo {
  const outerEnd = reader.enter();
  let outpoint: Outpoint | undefined;
  let entry: Entry | undefined;
  while (reader.more) {
    const tag = reader.tag();
    if (tag === ITEM_OUTPOINT) outpoint = decodeOutpoint(reader);
    else if (tag === ITEM_ENTRY) entry = decodeEntry(reader);
    else reader.skip(tag);
  }
  reader.leave(outerEnd);
  if (outpoint === undefined || entry === undefined) throw new NodeProtocolError('a UTXO lacks its outpoint or entry');
  const { amount, scriptPublicKey, blockDaaScore, isCoinbase, covenantId } = entry;
  return { outpoint, amount, scriptPublicKey, blockDaaScore, isCoinbase, covenantId };
}

function decodeOutpoint(reader: WireReader): Outpoint {
  const outerEnd = reader.enter();
  let transactionId: Hash | undefined;
  let index = 0;
  while (reader.more) {
    const tag = reader.tag();
    if (tag === OUTPOINT_TRANSACTION_ID) transactionId = decodeHash(reader);
    else if (tag === OUTPOINT_INDEX) index = reader.uint32();
    else reader.skip(tag);
  }
  reader.leave(outerEnd);
  if (transactionId === undefined) throw new NodeProtocolError('an outpoint has no transaction id');
  return { transactionId, index };
}

function decodeEntry(reader: WireReader): Entry {
  const outerEnd = reader.enter();
  let amount = 0n;
  let scriptPublicKey: ScriptPublicKey | undefined;
  let blockDaaScore = 0n;
  let isCoinbase = false;
  let covenantId: Hash | undefined;
  while (reader.more) {
    const tag = reader.tag();
    if (tag === ENTRY_AMOUNT) amount = reader.uint64();
    else if (tag === ENTRY_SCRIPT_PUBLIC_KEY) scriptPublicKey = decodeScriptPublicKey(reader);
    else if (tag === ENTRY_BLOCK_DAA_SCORE) blockDaaScore = reader.uint64();
    else if (tag === ENTRY_IS_COINBASE) isCoinbase = reader.bool();
    else if (tag === ENTRY_COVENANT_ID) covenantId = decodeHash(reader);
    else reader.skip(tag);
  }
  reader.leave(outerEnd);
  if (scriptPublicKey === undefined) throw new NodeProtocolError('a UTXO has no script public key');
  return { amount, scriptPublicKey, blockDaaScore, isCoinbase, covenantId };
}

function decodeScriptPublicKey(reader: WireReader): ScriptPublicKey {
  const outerEnd = reader.enter();
  let version = 0;
  let script: Uint8Array = NO_BYTES;
  while (reader.more) {
    const tag = reader.tag();
    if (tag === SCRIPT_BYTES) script = reader.view();
    else if (tag === SCRIPT_VERSION) version = reader.uint16();
    else reader.skip(tag);
  }
  reader.leave(outerEnd);
  return { version, script };
}

function decodeHash(reader: WireReader): Hash {
  const outerEnd = reader.enter();
  let hash: Uint8Array = NO_BYTES;
  while (reader.more) {
    const tag = reader.tag();
    if (tag === HASH_BYTES) hash = reader.view();
    else reader.skip(tag);
  }
  reader.leave(outerEnd);
  if (hash.length !== 32) throw new NodeProtocolError(`a hash has ${hash.length} bytes instead of 32`);
  return hash;
}
