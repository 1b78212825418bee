/** Payloads and contents of envelopes that decoders must survive. */
import { times } from './hostile-parts.ts';
import type { Random } from './random.ts';

const DEPTH = 10_000;
const MAX_JSON_BYTES = 65_536;

const nested = (open: string, close: string): string => open.repeat(DEPTH) + close.repeat(DEPTH);
const krc20 = (rest: string): string => `{"p":"krc-20","op":"mint",${rest}}`;

export const ODD_PAYLOADS: readonly Uint8Array[] = [
  krc20('"tick":"TE\\u0000T"'),
  krc20('"tick":"TE\\ud800T","to":"\\udfff"'),
  Buffer.concat([Buffer.from('ciph_msg:1:bcast:\u202Egeneral\0:'), Buffer.from('eda080c328', 'hex')]),
  krc20(`"tick":"TEST","tick":"TESTS","__proto__":{"tick":"EVIL"},"constructor":"x"`),
  krc20(`"tick":"TEST","amt":${nested('[', ']')}`),
  `{"p":"krc-20","x":${nested('{"a":', '1')}`,
  nested('[', ']'),
  krc20(`"tick":"TEST","amt":"${'9'.repeat(MAX_JSON_BYTES)}"`),
  krc20('"tick":"TEST","amt":1e999'),
  `{${times(5_000, (_, index) => `"k${index}":"v"`).join()},"p":"krc-20","op":"mint","tick":"TEST"}`,
  Buffer.concat([
    Buffer.from('{"p":"krc-20","op":"mint","tick":"'),
    Buffer.from('fffe00eda080', 'hex'),
    Buffer.from('"}'),
  ]),
  `k:1:${'x'.repeat(1_000)}`,
  `k:1:bcast:${'y'.repeat(300)}:z`,
  'kchat:1:\u0007\u001B[31m:',
  'ciph_msg:',
  '\uFEFF{"p":"krc-20","op":"mint","tick":"TEST"}',
].map((text) => (typeof text === 'string' ? Buffer.from(text) : text));

/**
 * Names whose case has another length, that look alike or cannot be seen, of unassigned and private
 * characters, pictographs, and of the greatest length. Database and decoders must agree on each.
 */
const ODD_NAMES: readonly string[] = [
  'TEST',
  'test',
  'ſtest',
  'ŉ'.repeat(255),
  'İ'.repeat(255),
  'Ⱥ'.repeat(255),
  'ﬃ'.repeat(255),
  'ᾳ'.repeat(256),
  '𐐀'.repeat(127),
  '😀'.repeat(128),
  'é',
  'e\u0301',
  'Σίσυφος',
  '\u3164',
  '☀\uFE0F',
  'x\uFE0F',
  '\uE000',
  '\uFFFF',
  '\uFFFD',
  '\u{10FFFD}',
  '\u0378',
  "'; --",
  '\\',
  '"',
  '%_',
  '\u00A0',
  'null',
  '\uD800',
];

const ODD_VALUES: readonly string[] = [
  '1e400',
  '-1E-99999',
  '1e131071',
  '0.1e-16384',
  '-0',
  '9'.repeat(400),
  'null',
  'true',
  '[]',
  '{"a":{"a":{}}}',
  '"\\u0000"',
  '"\\udc00\\ud800"',
];

/**
 * Returns one of the payloads above, or an operation with odd names and values, which the same seed
 * repeats in any protocol.
 */
export function oddPayload(random: Random): Uint8Array {
  if (random.chance(0.3)) return random.pick(ODD_PAYLOADS);
  const name = random.pick(ODD_NAMES);
  const key = JSON.stringify(name);
  const value = random.pick(ODD_VALUES);
  return Buffer.from(
    random.pick([
      `{"p":"krc-20","op":"mint","tick":${key}}`,
      `{"p":"KRC-20","op":"deploy","mod":"issue","name":${key},"x":${value}}`,
      `{"p":"krc-20","op":"transfer","tick":"TEST","amt":${value}}`,
      `{"p":"krc-721","op":"deploy","tick":${key},"max":${value}}`,
      `{"p":"krc-721","op":${key},"tick":"TEST"}`,
      `{"op":"create","p":"domain","v":${key}}`,
      `{"op":"transfer","p":"domain","id":${key},"x":${value}}`,
      `ciph_msg:1:bcast:${name}:text`,
      `kchat:1:bcast: ${name} :text`,
      `k:1:bcast:${name}:${value}`,
      `k:1:${name}`,
      `ciph_msg:1:${name.toLowerCase()}:`,
    ]),
  );
}
