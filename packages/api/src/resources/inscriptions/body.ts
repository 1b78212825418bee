/**
 * Decodes the content of an inscription, which is any bytes that somebody wrote into a transaction.
 */
import { decodePayload, decodeProgram, type JsonValue, MAX_JSON_BYTES, parseJson, shapeOf } from '@kasgres/programs';
import { parseExactNumbers } from '../../http/exact-integers.ts';

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
/** Control characters other than line breaks and tabs. */
const BINARY = /[^\P{Cc}\t\n\r]/u;

/** Returns the JSON that the bytes are, whose numbers keep their digits; undefined if none. */
export const toJson = (bytes: Uint8Array): JsonValue | undefined => parseJson(bytes, parseExactNumbers);

/**
 * Returns the JSON array or object that the bytes are, else their text; null if they are neither.
 */
export function toBody(bytes: Uint8Array): JsonValue {
  if (bytes.length > MAX_JSON_BYTES) return null;
  const json = toJson(bytes);
  if (typeof json === 'object' && json !== null) return json;
  try {
    const text = strict.decode(bytes);
    return text === '' || BINARY.test(text) ? null : text;
  } catch {
    return null;
  }
}

/**
 * Returns the content of the operation that a source states.
 * @param input its signature script is the source; undefined: a payload is
 */
export function bodyOf(source: Uint8Array, input: number | undefined): JsonValue {
  const operation = input === undefined ? decodePayload(source) : inEnvelope(source, input);
  return operation === undefined ? null : toBody(operation.body);
}

function inEnvelope(signatureScript: Uint8Array, input: number) {
  const { lastPush } = shapeOf(signatureScript);
  return lastPush && decodeProgram(lastPush, input);
}
