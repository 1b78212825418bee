/**
 * KRC-721 (doc/KRC-721.md, nexus/src/analyzer.rs and core/src/model/krc721 of
 * Nacho-the-Kat/krc721-protocol): an envelope on input 0 with the marker `kspr`, which other
 * operations of that name may use, too.
 */
import { type Operation, toOperation, undecodable } from './inscription.ts';
import { parseJsonObject } from './json.ts';

const OPERATIONS = new Set(['deploy', 'mint', 'transfer', 'discount', 'list', 'send']);
/** 1 to 10 letters or digits of any script, and at most 10 bytes. */
const TICKER = /^[\p{Alphabetic}\p{Nd}\p{Nl}\p{No}]{1,10}$/u;
const MAX_TICKER_BYTES = 10;

/** Reads the content of an envelope. */
export function readKrc721Envelope(content: Uint8Array): Operation {
  const json = parseJsonObject(content);
  if (json?.['p'] !== 'krc-721') return undecodable('kspr', content);
  const { op, tick } = json;
  const ticker = typeof tick === 'string' ? tick.toUpperCase() : '';
  const isKnown = typeof op === 'string' && OPERATIONS.has(op) && isTicker(ticker);
  return isKnown ? toOperation('krc-721', content, { operation: op, tick: ticker }) : undecodable('krc-721', content);
}

function isTicker(text: string): boolean {
  return TICKER.test(text) && Buffer.byteLength(text) <= MAX_TICKER_BYTES;
}
