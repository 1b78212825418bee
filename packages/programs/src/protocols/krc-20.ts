/**
 * KRC-20 (Kasplex, "KRC-20 OPs" and "Data Format", docs-kasplex.gitbook.io/krc20; the reference
 * indexer kasplex/go-krc20d, explorer/script.go). Whether an operation is valid depends on every
 * earlier one since 2024 and on fees, which the protocol's indexer knows; this decoder reads which
 * operation is stated.
 */
import { type Operation, toOperation, undecodable } from './inscription.ts';
import { fieldOf, type JsonObject, looksLikeObject, parseJsonObject, textOf } from './json.ts';

const OPERATIONS = new Set(['deploy', 'mint', 'transfer', 'list', 'send', 'issue', 'burn', 'blacklist', 'chown']);
/** The only operation that counts on any input, and the only one that a payload cannot state. */
const SEND = 'send';
/** Keys whose values must be texts in an envelope; other values of another type are ignored. */
const TEXT_KEYS = ['from', 'to', 'tick', 'max', 'lim', 'pre', 'dec', 'amt', 'utxo', 'price', 'mod', 'name', 'ca'];
const TICKER = /^[A-Z]{4,6}$/;
const TOKEN_ID = /^[0-9a-f]{64}$/;
const ASCII = /^\p{ASCII}*$/u;
const CLAIM = /"p"\s*:\s*"krc-20"/i;

/**
 * Reads the content of an envelope. Returns undefined for an operation that the protocol ignores on
 * this input.
 */
export function readKrc20Envelope(content: Uint8Array, input: number): Operation | undefined {
  const json = parseJsonObject(content);
  const isRefused =
    json === undefined || TEXT_KEYS.some((key) => Object.hasOwn(json, key) && typeof json[key] !== 'string');
  const operation = isRefused ? undecodable('krc-20', content) : readOperation(json, content);
  return input > 0 && operation.operation !== SEND ? undefined : operation;
}

/** Reads a payload; undefined if it does not state to be KRC-20. Every value must be a text. */
export function readKrc20Payload(payload: Uint8Array): Operation | undefined {
  if (!looksLikeObject(payload)) return undefined;
  const json = parseJsonObject(payload);
  const claim = json === undefined ? CLAIM.test(Buffer.from(payload).toString('latin1')) : isKrc20(json);
  if (!claim) return undefined;
  // The reference indexer reads null as an empty text.
  const isText =
    json !== undefined && Object.values(json).every((value) => typeof value === 'string' || value === null);
  if (!isText) return undecodable('krc-20', payload);
  const operation = readOperation(json, payload);
  return operation.operation === SEND ? undecodable('krc-20', payload) : operation;
}

function isKrc20(json: JsonObject): boolean {
  return /^krc-20$/i.test(textOf(json, 'p') ?? '');
}

function readOperation(json: JsonObject, content: Uint8Array): Operation {
  const operation = textOf(json, 'op')?.toLowerCase() ?? '';
  const tick = readTick(json, operation);
  const isKnown = isKrc20(json) && OPERATIONS.has(operation) && ASCII.test(textOf(json, 'to') ?? '');
  return isKnown && tick !== undefined
    ? toOperation('krc-20', content, { operation, tick })
    : undecodable('krc-20', content);
}

/**
 * A token is named by its ticker in upper case, or by the id of the transaction that deployed it,
 * if its deployer issues it.
 */
function readTick(json: JsonObject, operation: string): string | undefined {
  const isDeployedById = operation === 'deploy' && fieldOf(json, 'mod') === 'issue';
  const names = isDeployedById ? ['name'] : ['ca', 'tick'];
  for (const name of names) {
    const text = textOf(json, name);
    if (text === undefined || !ASCII.test(text)) continue;
    if (TOKEN_ID.test(text.toLowerCase())) return text.toLowerCase();
    if (TICKER.test(text.toUpperCase())) return text.toUpperCase();
  }
  return undefined;
}
