/**
 * The payload of a coinbase transaction names the miner of *this* block, who is paid when a later
 * chain block merges it (rusty-kaspa, consensus/src/processes/coinbase.rs). The outputs of the same
 * transaction pay for the blocks that this one merges.
 */
import type { ScriptPublicKey } from './model.ts';

export interface CoinbasePayload {
  blueScore: bigint;
  /** Sompi, without the fees. */
  subsidy: bigint;
  scriptPublicKey: ScriptPublicKey;
  /** Free bytes. In a node's template: its version, a slash, the miner's data. */
  extraData: Uint8Array;
}

export class CoinbasePayloadError extends Error {
  override name = 'CoinbasePayloadError';
}

/** Blue score, subsidy, version and length of the script. */
const FIXED_BYTES = 8 + 8 + 2 + 1;
const MAX_SCRIPT_BYTES = 150;
const MAX_PAYLOAD_BYTES = 204;

/** @throws CoinbasePayloadError if script or payload are longer than consensus allows */
export function encodeCoinbasePayload(payload: CoinbasePayload): Uint8Array {
  const { version, script } = payload.scriptPublicKey;
  checkScriptLength(script.length);
  const bytes = Buffer.alloc(FIXED_BYTES + script.length + payload.extraData.length);
  checkLength(bytes.length);
  bytes.writeBigUInt64LE(payload.blueScore, 0);
  bytes.writeBigUInt64LE(payload.subsidy, 8);
  bytes.writeUInt16LE(version, 16);
  bytes.writeUInt8(script.length, 18);
  bytes.set(script, FIXED_BYTES);
  bytes.set(payload.extraData, FIXED_BYTES + script.length);
  return bytes;
}

/**
 * Decodes a payload into views of the given bytes.
 * @throws CoinbasePayloadError if consensus would not accept the payload
 */
export function decodeCoinbasePayload(bytes: Uint8Array): CoinbasePayload {
  checkLength(bytes.length);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const scriptLength = view.getUint8(18);
  checkScriptLength(scriptLength);
  const scriptEnd = FIXED_BYTES + scriptLength;
  if (bytes.length < scriptEnd) {
    throw new CoinbasePayloadError(`A payload of ${bytes.length} bytes has no room for a script of ${scriptLength}`);
  }
  return {
    blueScore: view.getBigUint64(0, true),
    subsidy: view.getBigUint64(8, true),
    scriptPublicKey: { version: view.getUint16(16, true), script: bytes.subarray(FIXED_BYTES, scriptEnd) },
    extraData: bytes.subarray(scriptEnd),
  };
}

function checkLength(length: number): void {
  if (length < FIXED_BYTES || length > MAX_PAYLOAD_BYTES) {
    throw new CoinbasePayloadError(
      `A payload has ${FIXED_BYTES} to ${MAX_PAYLOAD_BYTES} bytes, this one would have ${length}`,
    );
  }
}

function checkScriptLength(length: number): void {
  if (length > MAX_SCRIPT_BYTES) {
    throw new CoinbasePayloadError(`The script has ${length} bytes, more than the ${MAX_SCRIPT_BYTES} allowed`);
  }
}
