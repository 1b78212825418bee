/** JSON from strangers: bounded in bytes and depth, and never an exception. */

export const MAX_JSON_BYTES = 65_536;
/**
 * Limits how deep arrays and objects are nested. Operations of the known protocols have depth 1;
 * metadata of KRC-721 has 4.
 */
export const MAX_JSON_DEPTH = 32;

export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;
export interface JsonObject {
  [key: string]: JsonValue;
}

// Invalid UTF-8 becomes U+FFFD, as in the reference indexers. A byte order mark stays, so that it
// is a syntax error as there.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/**
 * Returns the JSON value that the bytes are; undefined if they are none, or a larger or deeper one
 * than the bounds allow. Of keys that occur twice the last one counts.
 * @param parse parses a text as JSON.parse does, which has numbers as doubles
 */
export function parseJson(bytes: Uint8Array, parse = JSON.parse as (text: string) => unknown): JsonValue | undefined {
  if (bytes.length > MAX_JSON_BYTES || depthOf(bytes) > MAX_JSON_DEPTH) return undefined;
  try {
    return parse(decoder.decode(bytes)) as JsonValue;
  } catch {
    return undefined;
  }
}

export function parseJsonObject(bytes: Uint8Array): JsonObject | undefined {
  const value = parseJson(bytes);
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
}

/** Returns whether the bytes begin as a JSON object does. */
export function looksLikeObject(bytes: Uint8Array): boolean {
  return bytes[bytes.findIndex((byte) => byte !== 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d)] === BRACE;
}

const BRACE = 0x7b;
const BRACKET = 0x5b;
const CLOSING_BRACE = 0x7d;
const CLOSING_BRACKET = 0x5d;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Returns the highest number of open brackets outside of strings. It is exact for JSON, and any
 * number for other bytes.
 */
function depthOf(bytes: Uint8Array): number {
  let depth = 0;
  let deepest = 0;
  let isInString = false;
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index];
    if (isInString) {
      if (byte === BACKSLASH) index++;
      else if (byte === QUOTE) isInString = false;
    } else if (byte === QUOTE) isInString = true;
    else if (byte === BRACE || byte === BRACKET) deepest = Math.max(deepest, ++depth);
    else if (byte === CLOSING_BRACE || byte === CLOSING_BRACKET) depth--;
  }
  return deepest;
}

/**
 * Returns the value of a key; of the last key that differs in case only, if there is none in this
 * case.
 */
export function fieldOf(object: JsonObject, name: string): JsonValue | undefined {
  if (Object.hasOwn(object, name)) return object[name];
  return Object.entries(object).findLast(([key]) => key.length === name.length && key.toLowerCase() === name)?.[1];
}

/** Like `fieldOf`; undefined if the value is no text. */
export function textOf(object: JsonObject, name: string): string | undefined {
  const value = fieldOf(object, name);
  return typeof value === 'string' ? value : undefined;
}
