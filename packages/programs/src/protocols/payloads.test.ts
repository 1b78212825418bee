import { describe, expect, test } from 'vitest';
import { decodePayload } from './decode.ts';
import { MAX_JSON_BYTES, MAX_JSON_DEPTH, parseJson } from './json.ts';
import { readKnsEnvelope } from './kns.ts';
import { readKrc20Envelope } from './krc-20.ts';
import { readKrc721Envelope } from './krc-721.ts';
import { poolOf } from './pools.ts';

const bytes = (text: string) => Uint8Array.from(Buffer.from(text));
const json = (value: unknown) => bytes(JSON.stringify(value));
const TOKEN_ID = 'ab'.repeat(32);

describe('JSON', () => {
  test('is bounded in depth and size', () => {
    const nested = (depth: number) => bytes(`${'['.repeat(depth)}${']'.repeat(depth)}`);
    expect(parseJson(nested(MAX_JSON_DEPTH))).toBeDefined();
    expect(parseJson(nested(MAX_JSON_DEPTH + 1))).toBeUndefined();
    expect(parseJson(bytes(`"${'['.repeat(1_000)}\\"["`))).toBe(`${'['.repeat(1_000)}"[`);
    expect(parseJson(bytes(`"${'a'.repeat(MAX_JSON_BYTES - 2)}"`))).toBeDefined();
    expect(parseJson(bytes(`"${'a'.repeat(MAX_JSON_BYTES - 1)}"`))).toBeUndefined();
  });

  test('takes the last of equal keys, and no prototype', () => {
    expect(parseJson(bytes('{"a":1,"a":2}'))).toEqual({ a: 2 });
    const value = parseJson(bytes('{"__proto__":{"p":"krc-20"}}')) as Record<string, unknown>;
    expect(value['p']).toBeUndefined();
    expect(Object.keys(value)).toEqual(['__proto__']);
  });

  test.each(['', '{', '{"a":1,}', "{'a':1}", '{"a":NaN}', '\uFEFF{}', '{"a":"\0"}', '{} x'])('%j is none', (text) => {
    expect(parseJson(bytes(text))).toBeUndefined();
  });
});

describe('KRC-20', () => {
  test.each([
    ['a mint', { p: 'krc-20', op: 'mint', tick: 'test' }, 'mint', 'TEST'],
    ['texts of any case', { p: 'KRC-20', op: 'MinT', tick: 'TeSt' }, 'mint', 'TEST'],
    ['keys of any case', { P: 'krc-20', Op: 'mint', TICK: 'test' }, 'mint', 'TEST'],
    ['an exact key beside another case', { p: 'krc-20', P: 'x', op: 'burn', tick: 'test' }, 'burn', 'TEST'],
    ['a token by its id', { p: 'krc-20', op: 'transfer', ca: TOKEN_ID.toUpperCase() }, 'transfer', TOKEN_ID],
    ['an id as ticker', { p: 'krc-20', op: 'issue', tick: TOKEN_ID }, 'issue', TOKEN_ID],
    ['a deployment by id', { p: 'krc-20', op: 'deploy', mod: 'issue', name: 'test', max: '0' }, 'deploy', 'TEST'],
    ['null as an empty text', { p: 'krc-20', op: 'chown', tick: 'test', to: null }, 'chown', 'TEST'],
  ])('%s', (_, operation, name, tick) => {
    const expected = { protocol: 'krc-20', isDecodable: true, operation: name, tick };
    expect(decodePayload(json(operation))).toMatchObject(expected);
    // Null is a wrong type in an envelope.
    if (Object.values(operation).every((value) => value !== null))
      expect(readKrc20Envelope(json(operation), 0)).toMatchObject(expected);
  });

  test.each([
    ['an unknown operation', { p: 'krc-20', op: 'steal', tick: 'test' }],
    ['no operation', { p: 'krc-20', tick: 'test' }],
    ['no ticker', { p: 'krc-20', op: 'mint' }],
    ['a ticker of three letters', { p: 'krc-20', op: 'mint', tick: 'abc' }],
    ['a ticker of seven letters', { p: 'krc-20', op: 'mint', tick: 'abcdefg' }],
    ['digits in a ticker', { p: 'krc-20', op: 'mint', tick: 'abc1' }],
    ['a ticker beyond ASCII', { p: 'krc-20', op: 'mint', tick: 'teſt' }],
    ['a recipient beyond ASCII', { p: 'krc-20', op: 'mint', tick: 'test', to: 'kaspa:é' }],
    ['a number', { p: 'krc-20', op: 'mint', tick: 'test', amt: 5 }],
    ['an object', { p: 'krc-20', op: 'mint', tick: 'test', to: {} }],
  ])('%s is undecodable', (_, operation) => {
    const expected = { protocol: 'krc-20', isDecodable: false, operation: undefined, tick: undefined };
    expect(decodePayload(json(operation))).toEqual({ ...expected, body: json(operation) });
    expect(readKrc20Envelope(json(operation), 0)).toEqual({ ...expected, body: json(operation) });
  });

  test.each([
    '{"p":"krc-20","op":"mint"',
    '{"P" : "KRC-20", "op":"mint",}',
    `{"p":"krc-20","op":"mint","tick":"test","x":${'['.repeat(40)}${']'.repeat(40)}}`,
    `{"p":"krc-20","op":"mint","tick":"test","x":"${'a'.repeat(MAX_JSON_BYTES)}"}`,
  ])('%.60j is undecodable', (text) => {
    expect(decodePayload(bytes(text))).toMatchObject({ protocol: 'krc-20', isDecodable: false });
  });

  test('in an envelope ignores other values of another type', () => {
    const operation = json({ p: 'krc-20', op: 'mint', tick: 'test', memo: 5, more: [{}] });
    expect(readKrc20Envelope(operation, 0)).toMatchObject({ isDecodable: true, operation: 'mint' });
    expect(decodePayload(operation)).toMatchObject({ isDecodable: false });
  });

  test('in a payload cannot send', () => {
    const send = json({ p: 'krc-20', op: 'send', tick: 'test' });
    expect(decodePayload(send)).toMatchObject({ isDecodable: false });
    expect(readKrc20Envelope(send, 0)).toMatchObject({ operation: 'send' });
  });

  test.each([
    '{"p":"krc-721","op":"mint","tick":"a"}',
    '{"x":{"p":"krc-20"}}',
    '["krc-20"]',
    '"p":"krc-20"',
    '{"p":"\u212Arc-20"}',
  ])('%s is no KRC-20', (text) => {
    expect(decodePayload(bytes(text))).toBeUndefined();
  });
});

describe('KRC-721', () => {
  test.each([
    [
      { p: 'krc-721', op: 'deploy', tick: 'kasparty', max: '1000', metadata: { name: 'a', attributes: [{}] } },
      'deploy',
      'KASPARTY',
    ],
    [{ p: 'krc-721', op: 'transfer', tick: 'A', tokenId: '1' }, 'transfer', 'A'],
    [{ p: 'krc-721', op: 'discount', tick: '1234567890' }, 'discount', '1234567890'],
  ])('%j', (operation, name, tick) => {
    expect(readKrc721Envelope(json(operation))).toMatchObject({ protocol: 'krc-721', operation: name, tick });
  });

  test.each([
    { p: 'krc-721', op: 'Mint', tick: 'A' },
    { p: 'krc-721', op: 'burn', tick: 'A' },
    { p: 'krc-721', op: 'mint' },
    { p: 'krc-721', op: 'mint', tick: 'a b' },
    { p: 'krc-721', op: 'mint', tick: '12345678901' },
    { p: 'krc-721', op: 'mint', tick: 'ééééé1' },
    { p: 'krc-721', op: 'mint', tick: 5 },
  ])('%j is undecodable', (operation) => {
    expect(readKrc721Envelope(json(operation))).toMatchObject({ protocol: 'krc-721', isDecodable: false });
  });

  test.each(['{}', 'text', '[]', 'null', '{"p":"KRC-721","op":"mint","tick":"A"}'])(
    '%s is of another protocol',
    (text) => {
      expect(readKrc721Envelope(bytes(text))).toMatchObject({ protocol: 'kspr', isDecodable: false });
    },
  );
});

describe('KNS', () => {
  test.each([
    ['{"op":"create","p":"domain","v":"🏳️‍🌈"}', true, 'create', undefined],
    ['{"op":"create","p":"domain","v":"kaspa","s":"kas"}', true, 'create', 'kaspa'],
    [`{"op":"transfer","p":"domain","id":"${TOKEN_ID}i0","to":"kaspa:x"}`, true, 'transfer', `${TOKEN_ID}i0`],
    ['{"op":"list","id":"x"}', true, 'list', 'x'],
    ['{"op":"create","p":"domain"}', false, undefined, undefined],
    ['{"op":"transfer","id":5}', false, undefined, undefined],
    ['{"op":"other"}', true, undefined, undefined],
    ['{"op":', true, undefined, undefined],
    ['', false, undefined, undefined],
  ])('%s', (text, isDecodable, operation, tick) => {
    expect(readKnsEnvelope(bytes(text))).toMatchObject({ protocol: 'kns', isDecodable, operation, tick });
  });
});

describe('a payload', () => {
  test.each([
    ['kasplex\x01\x02', 'kasplex-l2', undefined, undefined, 'kasplex\x01\x02'],
    ['ciph_msg:1:handshake:00ff', 'kasia', 'handshake', undefined, '00ff'],
    ['ciph_msg:1:comm:ab12:00ff', 'kasia', 'comm', undefined, 'ab12:00ff'],
    ['ciph_msg:1:bcast: Kaspa :hi: there', 'kasia', 'bcast', 'kaspa', 'hi: there'],
    ['ciph_msg:00ffAA', 'kasia', undefined, undefined, '00ffAA'],
    ['kchat:1:gcomm:a:b', 'kachat', 'gcomm', undefined, 'a:b'],
    ['kchat:1:bcast:x:hi', 'kachat', 'bcast', 'x', 'hi'],
    ['kchat:1:bcast:hi', 'kachat', 'bcast', undefined, 'hi'],
    ['kchat:1:profile', 'kachat', 'profile', undefined, ''],
    ['k:1:post:hello', 'k', 'post', undefined, 'hello'],
    ['kch:hello', 'kaspatalk', 'chat', undefined, 'hello'],
    ['ktk:hello', 'kaspatalk', 'talk', undefined, 'hello'],
    ['kaspa-file{}', 'kaspa-file', 'file', undefined, '{}'],
    ['kaspa-directory{}', 'kaspa-file', 'directory', undefined, '{}'],
  ])('%j', (text, protocol, operation, tick, body) => {
    const found = decodePayload(bytes(text));
    expect(found).toEqual({ protocol, isDecodable: true, operation, tick, body: bytes(body) });
  });

  test.each([
    ['ciph_msg:', 'kasia'],
    ['ciph_msg:xyz', 'kasia'],
    ['ciph_msg:1:', 'kasia'],
    ['ciph_msg:1:Über:x', 'kasia'],
    ['kchat:1::x', 'kachat'],
    [`kchat:1:${'a'.repeat(33)}:x`, 'kachat'],
    ['k:1:\0:x', 'k'],
  ])('%j is undecodable', (text, protocol) => {
    expect(decodePayload(bytes(text))).toEqual({
      protocol,
      isDecodable: false,
      operation: undefined,
      tick: undefined,
      body: bytes(text),
    });
  });

  test('begins with a byte of Igra', () => {
    for (let first = 0; first < 256; first++) {
      const found = decodePayload(Uint8Array.of(first, 1, 2));
      expect(found?.protocol).toBe(first >= 0x91 && first <= 0x97 ? 'igra' : undefined);
    }
  });

  test.each(['', 'hello', 'K:1:post:x', 'k:2:post:x', 'ciph_msg', ' kasplex', 'xciph_msg:1:comm:a'])(
    '%j is unknown',
    (text) => {
      expect(decodePayload(bytes(text))).toBeUndefined();
    },
  );

  test('shows no channel that would change how a page reads', () => {
    const invisible = ['a\u3164', '\u115f', 'a\u034f', 'a\u{e0101}', 'a\ufe0f'];
    for (const channel of ['a\u202Eb', '\u200B', 'a\u0007', 'x'.repeat(256), ...invisible]) {
      expect(decodePayload(bytes(`kchat:1:bcast:${channel}:hi`))).toMatchObject({
        operation: 'bcast',
        tick: undefined,
      });
    }
    expect(decodePayload(bytes('kchat:1:bcast:❤\ufe0f:hi'))).toMatchObject({ tick: '❤\ufe0f' });
    const invalid = Uint8Array.of(...bytes('kchat:1:bcast:'), 0xff, ...bytes(':hi'));
    expect(decodePayload(invalid)).toMatchObject({ operation: 'bcast', tick: undefined, body: bytes('hi') });
  });
});

describe('the pool of a coinbase', () => {
  test.each([
    ['1.1.0/f2pool.com/', 'f2pool.com'],
    ['/viabtc.com/', 'viabtc.com'],
    ['2.0.1/www.humpool.com/', 'humpool.com'],
    ['2.1.0/x/HeroMiners.com/eu/', 'herominers.com'],
    ['/2miners.com/\0\xff', '2miners.com'],
    ['\0\x80/kaspa-pool.org/', 'kaspa-pool.org'],
    ['1.0.0/miningcore/', 'miningcore'],
    ['2.0.1/', undefined],
    ['2.0.1/2.0.1/', undefined],
    ['2.0.1/foo', undefined],
    ['2.0.1/example.com', undefined],
    ['example.com/', undefined],
    ['/a b.com/', undefined],
    [`/${'a'.repeat(100)}.com/`, undefined],
    ['', undefined],
  ])('%j', (extraData, pool) => {
    expect(poolOf(Uint8Array.from(Buffer.from(extraData, 'latin1')))).toBe(pool);
  });
});
