import { addressToScript, blake2b256, fromHex, scriptToAddress, toHex } from '@kasgres/kaspa';
import { describe, expect, test } from 'vitest';
import { push, script } from '../testing/arbitraries.ts';
import { decodeInscriptions, decodeProgram } from './decode.ts';
import { readEnvelope } from './envelope.ts';

const KEY = fromHex('5fff3c4da18f45adcdd499e44611e9fff148ba69db3c4ea2ddd955fc46a59522');
const ECDSA_KEY = fromHex(`03${toHex(KEY)}`);
const SCHNORR: Uint8Array = Uint8Array.from(script(push(KEY), 0xac));
const MINT = '{"p":"krc-20","op":"mint","tick":"test"}';
const branch = (marker: string, ...pairs: (Uint8Array | number)[]) => script(0x00, 0x63, push(marker), ...pairs, 0x68);
const inscribe = (marker: string, content: string, owner = SCHNORR) =>
  script(owner, branch(marker, 0x00, push(content)));

describe('the owner of an envelope', () => {
  test('is the address of its key', () => {
    const { owner } = readEnvelope(inscribe('kasplex', MINT)) ?? {};
    const address = 'kaspa:qp0l70zd5x85ttwd6jv7g3s3a8llzj96d8dncn4zmhv4tlzx5k2jyqh70xmfj';
    expect(owner && scriptToAddress(owner, 'kaspa')).toBe(address);
    expect(owner).toEqual(addressToScript(address));
  });

  test('is the ECDSA address of an ECDSA key', () => {
    const { owner } = readEnvelope(inscribe('kasplex', MINT, script(push(ECDSA_KEY), 0xab))) ?? {};
    expect(owner && toHex(owner.script)).toBe(`21${toHex(ECDSA_KEY)}ab`);
  });

  test.each([
    ['Schnorr', 0xae, KEY],
    ['ECDSA', 0xa9, ECDSA_KEY],
  ])('is the hash of the script of several %s keys', (_, opcode, key) => {
    const multisig = script(0x52, push(key), push(key), push(key), 0x53, opcode);
    const { owner } = readEnvelope(inscribe('kasplex', MINT, multisig)) ?? {};
    expect(owner && toHex(owner.script)).toBe(`aa20${toHex(blake2b256(multisig))}87`);
  });

  test.each([
    ['an ECDSA key and the opcode for Schnorr', script(push(ECDSA_KEY), 0xac)],
    ['a short key', script(push(KEY.subarray(1)), 0xac)],
    ['no key', script(0xac)],
    ['fewer keys than stated', script(0x51, push(KEY), 0x52, 0xae)],
    ['no keys', script(0x51, 0x51, 0xae)],
    ['16 keys', script(0x51, ...Array.from({ length: 16 }, () => push(KEY)), 0x60, 0xae)],
    ['another opcode', script(push(KEY), 0xad)],
  ])('must not be %s', (_, owner) => {
    expect(readEnvelope(inscribe('kasplex', MINT, owner))).toBeUndefined();
  });
});

describe('the content of an envelope', () => {
  const contentOf = (...pairs: (Uint8Array | number)[]) => {
    const { content } = readEnvelope(script(SCHNORR, branch('kasplex', ...pairs))) ?? {};
    return content && Buffer.from(content).toString();
  };

  test.each([
    ['alone', [0x00, push('x')], 'x'],
    ['before metadata', [0x00, push('x'), 0x51, push('meta')], 'x'],
    ['after metadata', [0x5f, push('meta'), 0x00, push('x')], 'x'],
    ['twice', [0x00, push('x'), 0x00, push('y')], 'y'],
    ['with a long push', [0x00, push('x'.repeat(300))], 'x'.repeat(300)],
    ['empty', [0x00, push('')], ''],
    ['missing', [0x53, push('meta')], undefined],
    ['after an even tag', [0x52, push('meta'), 0x00, push('x')], undefined],
    ['after tag 17', [push('\x11'), push('meta'), 0x00, push('x')], undefined],
    ['pushed by a number', [0x00, 0x51], undefined],
    ['in a third pair, which is not read', [0x51, push('a'), 0x53, push('b'), 0x00, push('x')], undefined],
  ])('%s', (_, pairs, content) => {
    expect(contentOf(...pairs)).toBe(content);
  });

  test.each([
    ['no marker', script(SCHNORR, 0x00, 0x63)],
    ['an executed branch', script(SCHNORR, 0x51, 0x63, push('kasplex'))],
    ['no branch', script(SCHNORR, 0x00, push('kasplex'))],
    ['an empty marker', script(SCHNORR, 0x00, 0x63, 0x00, 0x00, push('x'), 0x68)],
    ['a long marker', inscribe('k'.repeat(17), MINT)],
    ['a payment', SCHNORR],
  ])('does not exist with %s', (_, program) => {
    expect(readEnvelope(program)).toBeUndefined();
  });
});

describe('the protocol of an envelope', () => {
  test.each([
    ['kasplex', MINT, 'krc-20', 'mint', 'TEST'],
    ['KasPlex', MINT, 'krc-20', 'mint', 'TEST'],
    ['kspr', '{"p":"krc-721","op":"mint","tick":"Kaspunks"}', 'krc-721', 'mint', 'KASPUNKS'],
    ['kspr', '{"p":"krc-20","op":"mint","tick":"test"}', 'kspr', undefined, undefined],
    ['kns', '{"op":"create","p":"domain","v":"kns"}', 'kns', 'create', 'kns'],
    ['kns', 'any text', 'kns', undefined, undefined],
  ])('%s with %s', (marker, content, protocol, operation, tick) => {
    const found = decodeProgram(inscribe(marker, content), 0);
    expect(found).toMatchObject({ protocol, operation, tick, source: { input: 0 } });
    expect(found?.isDecodable).toBe(protocol !== 'kspr');
    expect(Buffer.from(found?.body ?? []).toString()).toBe(content);
  });

  test.each(['KSPR', 'KNS', 'ord', 'kasplex2'])('%s is unknown', (marker) => {
    expect(decodeProgram(inscribe(marker, MINT), 0)).toBeUndefined();
  });

  test('counts on other inputs only where the protocol says so', () => {
    const send = '{"p":"krc-20","op":"send","tick":"TEST"}';
    expect(decodeProgram(inscribe('kasplex', MINT), 1)).toBeUndefined();
    expect(decodeProgram(inscribe('kasplex', send), 1)).toMatchObject({ operation: 'send', source: { input: 1 } });
    expect(decodeProgram(inscribe('kspr', '{"p":"krc-721","op":"send","tick":"a"}'), 1)).toBeUndefined();
    expect(decodeProgram(inscribe('kns', '{"op":"send","id":"ab"}'), 1)).toMatchObject({
      operation: 'send',
      tick: 'ab',
    });
  });

  test('is KRC-20 without an operation if a length has four bytes or nothing follows the marker', () => {
    const long = `${MINT}${' '.repeat(65_536 - MINT.length)}`;
    for (const program of [inscribe('kasplex', long), script(SCHNORR, branch('kasplex'))]) {
      expect(decodeProgram(program, 0)).toMatchObject({ protocol: 'krc-20', isDecodable: false, operation: undefined });
    }
  });
});

describe('a transaction', () => {
  const program = inscribe('kasplex', MINT);
  const sender = addressToScript('kaspa:qp0l70zd5x85ttwd6jv7g3s3a8llzj96d8dncn4zmhv4tlzx5k2jyqh70xmfj');

  test('has what its payload and its inputs state', () => {
    const payload = Buffer.from('{"p":"krc-20","op":"transfer","tick":"abcd"}');
    const found = decodeInscriptions({ payload, programs: [program, undefined, program], sender });
    expect(found).toMatchObject([
      { source: 'payload', operation: 'transfer', tick: 'ABCD' },
      { source: { input: 0 }, operation: 'mint', tick: 'TEST' },
    ]);
    expect(found.map(({ owner }) => owner && toHex(owner.script))).toEqual([toHex(sender.script), toHex(SCHNORR)]);
  });

  test('may have a sender that is unknown', () => {
    const found = decodeInscriptions({ payload: Buffer.from('k:1:post:x'), programs: [undefined], sender: undefined });
    expect(found).toMatchObject([{ protocol: 'k', owner: undefined }]);
  });

  test('has no inscription if it is a coinbase', () => {
    expect(decodeInscriptions({ payload: Buffer.from('k:1:post:x'), programs: [], sender: undefined })).toEqual([]);
  });
});
