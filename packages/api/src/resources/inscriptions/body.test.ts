import { expect, test } from 'vitest';
import { stringifyExact } from '../../http/exact-integers.ts';
import { bodyOf, toBody } from './body.ts';

const bytes = (text: string): Uint8Array => Buffer.from(text);

test.each([
  ['an object', '{"p":"krc-20","n":{"a":[1,null]}}', { p: 'krc-20', n: { a: [1, null] } }],
  ['an array', '[1,"2"]', [1, '2']],
  ['a number, which is text', '12', '12'],
  ['text with line breaks', 'Grüße\nand\ttabs', 'Grüße\nand\ttabs'],
  ['NUL', 'a\0b', null],
  ['an escape character', '\u001b[31m', null],
  ['nothing', '', null],
  ['depth 10,000', '['.repeat(10_000) + ']'.repeat(10_000), '['.repeat(10_000) + ']'.repeat(10_000)],
  ['65 kB', 'x'.repeat(65_537), null],
])('the body of %s', (_name, text, body) => {
  expect(toBody(bytes(text))).toEqual(body);
});

test('bytes that are no UTF-8 have no body', () => {
  expect(toBody(Uint8Array.of(0xff, 0xfe))).toBeNull();
  // A lone surrogate.
  expect(toBody(Uint8Array.of(0x61, 0xed, 0xa0, 0x80))).toBeNull();
});

test('NUL and lone surrogates in JSON are escaped in a response', () => {
  const body = toBody(bytes(String.raw`{"a":"\u0000","b":"\ud800"}`));
  expect(JSON.stringify(body)).toBe(String.raw`{"a":"\u0000","b":"\ud800"}`);
});

test('numbers in JSON keep their digits in a response', () => {
  const text = '{"a":1e400,"b":[12345678901234567890,-0.1]}';
  expect(stringifyExact(toBody(bytes(text)))).toBe(text);
});

test('the content of a payload is what follows its prefix, and that of an envelope its data', () => {
  expect(bodyOf(bytes('ciph_msg:1:bcast:kaspa:hello'), undefined)).toBe('hello');
  const content = bytes('{"p":"krc-20","op":"mint","tick":"KASP"}');
  const program = Buffer.concat([
    Uint8Array.of(32, ...new Uint8Array(32), 0xac, 0x00, 0x63, 7),
    bytes('kasplex'),
    Uint8Array.of(0x00, content.length),
    content,
    Uint8Array.of(0x68),
  ]);
  const signatureScript = Buffer.concat([Uint8Array.of(65, ...new Uint8Array(65), 0x4c, program.length), program]);
  expect(bodyOf(signatureScript, 0)).toEqual({ p: 'krc-20', op: 'mint', tick: 'KASP' });
  // Other operations than `send` count on input 0 only.
  expect(bodyOf(signatureScript, 1)).toBeNull();
});
