/** Reads the possible meanings of the text of a search. */
import { ADDRESS_PREFIXES, AddressError, decodeAddress, fromHex, type Network } from '@kasgres/kaspa';
import { toStoredScore } from '../shared.ts';

export const MIN_PREFIX_DIGITS = 8;
export const MIN_TAG_LENGTH = 2;
export const MIN_ADDRESS_START = 4;
/** Without the prefix, a shorter text is rather a name. */
export const MIN_BARE_ADDRESS_START = 8;
const HASH_DIGITS = 64;
/** No tick is longer (packages/programs). */
const MAX_TICK_LENGTH = 255;
const NAMESPACE_BYTES = 4;
const SUBNETWORK_ID_BYTES = 20;
/** Beyond every character of a text in byte order. */
const LAST_CHARACTER = '\u{10FFFF}';

/** The possible meanings of a text; undefined where it cannot have one. */
export interface Meanings {
  hash?: Uint8Array | undefined;
  score?: bigint | undefined;
  prefix?: Uint8Array | undefined;
  prefixEnd?: Uint8Array | undefined;
  address?: string | undefined;
  addressStart?: string | undefined;
  addressEnd?: string | undefined;
  tag?: string | undefined;
  tagEnd?: string | undefined;
  tick?: string | undefined;
  subnetworkId?: Uint8Array | undefined;
}

/** Returns the address that a text is, of the network; it may lack the prefix. */
function toAddress({ addressPrefix }: Network, q: string): string | undefined {
  const lower = q.toLowerCase();
  const candidate = ADDRESS_PREFIXES.some((prefix) => lower.startsWith(`${prefix}:`))
    ? lower
    : `${addressPrefix}:${lower}`;
  try {
    return decodeAddress(candidate).prefix === addressPrefix ? candidate : undefined;
  } catch (error) {
    if (error instanceof AddressError) return undefined;
    throw error;
  }
}

/** Returns the beginning of addresses of the network that a text is; it may lack the prefix. */
function toAddressStart({ addressPrefix }: Network, q: string): string | undefined {
  const [, prefix, start = ''] = /^(?:([a-z]+):)?([qp][02-9ac-hj-np-z]*)$/.exec(q.toLowerCase()) ?? [];
  const least = prefix === undefined ? MIN_BARE_ADDRESS_START : MIN_ADDRESS_START;
  return start.length >= least && (prefix ?? addressPrefix) === addressPrefix ? `${addressPrefix}:${start}` : undefined;
}

/**
 * Pages of explorers name a block, transaction or address in the last part of their path, or in the
 * one before a view of it. A name may have a slash, too, such as the channel `dev/ops`. The page of
 * protocols has a tick as a parameter.
 */
function fromUrl(q: string): string {
  const [, host = '', path, query = ''] =
    /^((?:https?:\/\/)?[\w.-]+(?::\d+)?)(\/[^?#\s]*)(?:\?([^#\s]*))?/i.exec(q) ?? [];
  if (path === undefined) return q;
  const parts = path
    .split('/')
    .map(decodePart)
    .filter((part) => part !== '');
  const tick = new URLSearchParams(query).get('tick')?.replaceAll('\0', '');
  const named = /[.:]|^localhost$/i.test(host) ? tick || parts.at(-1) : undefined;
  return parts.findLast((part) => isIdentifier(part)) ?? named ?? q;
}

const isIdentifier = (part: string): boolean =>
  /^(?:0x)?[0-9a-f]{64}$/i.test(part) || /^(?:[a-z]+:)?[02-9ac-hj-np-z]{61,63}$/i.test(part);

function decodePart(part: string): string {
  try {
    const decoded = decodeURIComponent(part);
    // Postgres has no texts with this character.
    return decoded.includes('\0') ? part : decoded;
  } catch {
    return part;
  }
}

/** Pages show scores with separators of thousands. */
const withoutSeparators = (q: string): string =>
  /^\d{1,3}(?:([,.'’_ \u00a0\u202f])\d{3})(?:\1\d{3})*$/.test(q) ? q.replaceAll(/\D/g, '') : q;

/** An output is found by its transaction. */
const withoutIndex = (q: string): string => q.replace(/^((?:0x)?[0-9a-f]{64}):\d+$/i, '$1');

export function meaningsOf(network: Network, text: string): Meanings {
  const q = withoutIndex(withoutSeparators(fromUrl(text)));
  const digits = q.replace(/^0x/i, '').toLowerCase();
  const isHex = /^[0-9a-f]*$/.test(digits);
  const isPrefix = isHex && digits.length >= MIN_PREFIX_DIGITS && digits.length < HASH_DIGITS;
  const tag = q.toLowerCase();
  const isTag = tag.length >= MIN_TAG_LENGTH;
  const address = toAddress(network, q);
  const addressStart = address === undefined ? toAddressStart(network, q) : undefined;
  return {
    hash: isHex && digits.length === HASH_DIGITS ? fromHex(digits) : undefined,
    score: /^\d{1,20}$/.test(q) ? toStoredScore(BigInt(q)) : undefined,
    prefix: isPrefix ? fromHex(digits.padEnd(HASH_DIGITS, '0')) : undefined,
    prefixEnd: isPrefix ? fromHex(digits.padEnd(HASH_DIGITS, 'f')) : undefined,
    address,
    addressStart,
    addressEnd: addressStart === undefined ? undefined : `${addressStart}${LAST_CHARACTER}`,
    tag: isTag ? tag : undefined,
    tagEnd: isTag ? `${tag}${LAST_CHARACTER}` : undefined,
    tick: q.length <= MAX_TICK_LENGTH ? q : undefined,
    subnetworkId: subnetworkIdOf(q),
  };
}

/** A namespace of a lane is four bytes, in hex or as text. */
function subnetworkIdOf(q: string): Uint8Array | undefined {
  const digits = q.replace(/^0x/i, '');
  const namespace = /^[0-9a-f]{8}$/i.test(digits) ? fromHex(digits.toLowerCase()) : Buffer.from(q);
  if (namespace.length !== NAMESPACE_BYTES) return undefined;
  const id = new Uint8Array(SUBNETWORK_ID_BYTES);
  id.set(namespace);
  return id;
}
