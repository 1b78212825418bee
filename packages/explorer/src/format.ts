/** Numbers, amounts and times as text. */

const SOMPI_PER_KAS = 100_000_000n;

const whole = new Intl.NumberFormat('en');

/** Returns the text with separators of thousands. */
export const formatCount = (value: number | string | bigint): string =>
  whole.format(typeof value === 'string' ? BigInt(value) : value);

/**
 * Returns the parts of an amount before and after the decimal point, always with eight decimals.
 */
export function splitAmount(sompi: string | bigint): { sign: string; kas: string; fraction: string } {
  const value = BigInt(sompi);
  const absolute = value < 0n ? -value : value;
  return {
    sign: value < 0n ? '−' : '',
    kas: whole.format(absolute / SOMPI_PER_KAS),
    fraction: (absolute % SOMPI_PER_KAS).toString().padStart(8, '0'),
  };
}

/** Returns the amount without trailing zeros, such as `12.5 KAS`. */
export function formatKas(sompi: string | bigint): string {
  const { sign, kas, fraction } = splitAmount(sompi);
  const decimals = fraction.replace(/0+$/, '');
  return `${sign}${kas}${decimals === '' ? '' : `.${decimals}`} KAS`;
}

/** Returns an amount in KAS as a number, for charts. */
export const toKas = (sompi: string): number => Number(sompi) / Number(SOMPI_PER_KAS);

/** An amount as pages show it. */
const WITH_SEPARATORS = /^[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?$/;

/**
 * Parses an amount in KAS to sompi; undefined if it is no such amount. A comma is a decimal point
 * where it cannot separate thousands.
 */
export function parseKas(text: string): string | undefined {
  const trimmed = text.trim();
  const plain = WITH_SEPARATORS.test(trimmed) ? trimmed.replaceAll(',', '') : trimmed;
  const [, kas, fraction = ''] = /^(\d{1,11})(?:[.,](\d{1,8}))?$/.exec(plain) ?? [];
  return kas === undefined ? undefined : String(BigInt(kas) * SOMPI_PER_KAS + BigInt(fraction.padEnd(8, '0')));
}

const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 2 });
export const formatCompact = (value: number): string => compact.format(value);

const HASH_UNITS = ['H/s', 'kH/s', 'MH/s', 'GH/s', 'TH/s', 'PH/s', 'EH/s', 'ZH/s'];

export function formatHashRate(hashesPerSecond: number): string {
  const step = Math.min(Math.floor(Math.log10(Math.max(hashesPerSecond, 1)) / 3), HASH_UNITS.length - 1);
  const scaled = hashesPerSecond / 1000 ** step;
  return `${scaled.toLocaleString('en', { maximumFractionDigits: scaled < 100 ? 2 : 0 })} ${HASH_UNITS[step]}`;
}

export const formatRate = (value: number): string =>
  value.toLocaleString('en', { minimumFractionDigits: 1, maximumFractionDigits: value < 10 ? 2 : 1 });

export const formatPercent = (share: number): string =>
  share.toLocaleString('en', { style: 'percent', minimumFractionDigits: 2, maximumFractionDigits: 2 });

/** Returns the first and last characters of a hash. */
export const shortHash = (hash: string): string => (hash.length <= 18 ? hash : `${hash.slice(0, 8)}…${hash.slice(-6)}`);

/** Returns the address with its prefix and the characters that people compare. */
export function shortAddress(address: string): string {
  const [prefix = '', payload = ''] = address.split(':');
  return `${prefix}:${payload.slice(0, 6)}…${payload.slice(-6)}`;
}

const absolute = new Intl.DateTimeFormat('en', {
  year: 'numeric',
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
  timeZoneName: 'short',
});
export const formatTime = (ms: number): string => absolute.format(ms);

const AGES: readonly (readonly [unit: string, seconds: number])[] = [
  ['y', 31_557_600],
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
  ['s', 1],
];

/** Returns a time such as `3 min ago`. Clocks differ, so the near future is now. */
export function formatAge(ms: number, now: number): string {
  const seconds = Math.round((now - ms) / 1000);
  if (Math.abs(seconds) < 2) return 'just now';
  const text = formatDuration(Math.abs(seconds));
  return seconds < 0 ? `in ${text}` : `${text} ago`;
}

export function formatDuration(seconds: number): string {
  for (const [unit, length] of AGES) if (seconds >= length) return `${Math.floor(seconds / length)} ${unit}`;
  return '0 s';
}

/** Control, bidirectional and invisible characters, and those that are none. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}]/u;
const UNSEEN_OR_HALF = new RegExp(`${UNSEEN.source}|\\p{Cs}`, 'gu');

/**
 * Returns a text of the chain with those characters, and halves of characters, as escape sequences,
 * so that it cannot look like another one.
 */
export const escapeUnseen = (text: string): string =>
  text.replaceAll(UNSEEN_OR_HALF, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);

/** Returns bytes of hex digits, with or without `0x`. */
export const bytesOfHex = (hex: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(hex.replace(/^0x/, '').match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));

/**
 * Returns bytes in hex as text; undefined if they are not UTF-8, or have characters that a reader
 * cannot see.
 */
export function textOfHex(hex: string): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytesOfHex(hex));
    return UNSEEN.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}
