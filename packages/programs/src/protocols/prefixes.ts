/**
 * Protocols that a payload begins with. Contents are not decrypted, and signatures in them are not
 * checked.
 *
 * | protocol | source |
 * |---|---|
 * | Kasplex L2 | smartgoo/kaspalytics-rs, daemon/src/ingest/pipeline.rs (which finds the word anywhere), and the list "Kaspa L1 Protocols" |
 * | Igra L2 | smartgoo/kaspalytics-rs, the same file; "Kaspa L1 Protocols" has only 0x94, with an id that begins with 97b1 |
 * | Kasia | K-Kluster/Kasia, README.md |
 * | KaChat | KaChat's document of its migration from Kasia's prefix and K's, which it continues |
 * | K | thesheepcat/K |
 * | Kaspatalk, files | "Kaspa L1 Protocols"; thesheepcat/kaspatalk-backend; RossKU/kaspa-file-storage-v2 |
 */
import { type Operation, type Protocol, toOperation, undecodable } from './inscription.ts';

type Read = (protocol: Protocol, payload: Uint8Array, rest: Uint8Array) => Operation;

interface Prefix {
  bytes: Uint8Array;
  protocol: Protocol;
  read: Read;
}

const COLON = 0x3a;
const MAX_NAME_BYTES = 64;
const MAX_CHANNEL_BYTES = 256;
const IGRA_FIRST = 0x91;
const IGRA_LAST = 0x97;

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const whole: Read = (protocol, payload) => toOperation(protocol, payload, {});
const named =
  (operation: string): Read =>
  (protocol, _, rest) =>
    toOperation(protocol, rest, { operation });

const PREFIXES: readonly Prefix[] = (
  [
    ['kasplex', 'kasplex-l2', whole],
    ['ciph_msg:', 'kasia', readMessage],
    ['kchat:', 'kachat', readMessage],
    ['k:1:', 'k', readTyped],
    ['kch:', 'kaspatalk', named('chat')],
    ['ktk:', 'kaspatalk', named('talk')],
    ['kaspa-file', 'kaspa-file', named('file')],
    ['kaspa-directory', 'kaspa-file', named('directory')],
  ] as const
).map(([text, protocol, read]) => ({ bytes: Buffer.from(text), protocol, read }));

/** Reads a payload; undefined if it begins as none of the protocols. */
export function readPrefixedPayload(payload: Uint8Array): Operation | undefined {
  const first = payload[0] ?? 0;
  if (first >= IGRA_FIRST && first <= IGRA_LAST) return toOperation('igra', payload, {});
  const found = PREFIXES.find(({ bytes }) => Buffer.compare(payload.subarray(0, bytes.length), bytes) === 0);
  return found?.read(found.protocol, payload, payload.subarray(found.bytes.length));
}

/** Reads `1:` and a typed message, or, without a version, a sealed message in hex. */
function readMessage(protocol: Protocol, payload: Uint8Array, rest: Uint8Array): Operation {
  if (rest[0] === VERSION && rest[1] === COLON) return readTyped(protocol, payload, rest.subarray(2));
  const isSealed = rest.length > 0 && rest.every(isHexDigit);
  return isSealed ? toOperation(protocol, rest, {}) : undecodable(protocol, payload);
}

const VERSION = 0x31;

/** Reads the type of a message, up to a colon or the end, and the channel of a broadcast. */
function readTyped(protocol: Protocol, payload: Uint8Array, rest: Uint8Array): Operation {
  const [type, content] = splitAtColon(rest, MAX_NAME_BYTES) ?? [rest.subarray(0, MAX_NAME_BYTES), new Uint8Array(0)];
  const operation = Buffer.from(type).toString('latin1');
  if (operation !== 'bcast') return typed(protocol, payload, content, operation, undefined);
  const [channel, text] = splitAtColon(content, MAX_CHANNEL_BYTES) ?? [undefined, content];
  return typed(protocol, payload, text, operation, channel && normalizeChannel(channel));
}

function typed(
  protocol: Protocol,
  payload: Uint8Array,
  body: Uint8Array,
  operation: string,
  tick: string | undefined,
): Operation {
  const read = toOperation(protocol, body, { operation, tick });
  return read.isDecodable ? read : undecodable(protocol, payload);
}

/** Clients compare channels without regard to case and outer spaces. */
function normalizeChannel(channel: Uint8Array): string | undefined {
  try {
    return strict.decode(channel).trim().toLowerCase();
  } catch {
    return undefined;
  }
}

function splitAtColon(bytes: Uint8Array, most: number): [Uint8Array, Uint8Array] | undefined {
  const at = bytes.subarray(0, most + 1).indexOf(COLON);
  return at === -1 ? undefined : [bytes.subarray(0, at), bytes.subarray(at + 1)];
}

function isHexDigit(byte: number): boolean {
  return (byte >= 0x30 && byte <= 0x39) || (byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66);
}
