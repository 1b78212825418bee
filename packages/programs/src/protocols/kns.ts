/**
 * KNS, names such as `kaspa.kas` (KNS Docs, "Inscriptions" and its operations,
 * kns-2.gitbook.io/kns-docs-1): an envelope with the marker `kns` whose content is the JSON of an
 * operation, or any text, which is then the inscription.
 */
import { type Operation, toOperation, undecodable } from './inscription.ts';
import { type JsonObject, parseJsonObject } from './json.ts';

const OPERATIONS = new Set(['create', 'transfer', 'list', 'send']);

/**
 * Reads the content of an envelope. The tick is the name of a new domain, and the id of an
 * inscription otherwise.
 */
export function readKnsEnvelope(content: Uint8Array): Operation {
  if (content.length === 0) return undecodable('kns', content);
  const json: JsonObject = parseJsonObject(content) ?? {};
  const { op, v: value, id } = json;
  if (typeof op !== 'string' || !OPERATIONS.has(op)) return toOperation('kns', content, {});
  const tick = op === 'create' ? value : id;
  return typeof tick === 'string' && tick !== ''
    ? toOperation('kns', content, { operation: op, tick })
    : undecodable('kns', content);
}
