import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ADDRESS_PREFIXES } from './address.ts';
import { fromHex, toHex } from './format.ts';
import { addressToScript, classifyScript, scriptToAddress } from './script.ts';
import { recordedBlocks, toOutput } from './testing/recorded-blocks.ts';

const recordedOutputs = recordedBlocks
  .flatMap(({ transactions }) => transactions)
  .flatMap(({ outputs }) => outputs)
  .map((output) => ({ recorded: output, scriptPublicKey: toOutput(output).scriptPublicKey }));

describe('recorded outputs', () => {
  test('are of every type', () => {
    const types = new Set(recordedOutputs.map(({ scriptPublicKey }) => classifyScript(scriptPublicKey)));
    expect([...types].sort()).toEqual(['nonstandard', 'pubkey', 'pubkeyecdsa', 'scripthash']);
  });

  test('have the type and the address of the node', () => {
    for (const { recorded, scriptPublicKey } of recordedOutputs) {
      expect(classifyScript(scriptPublicKey)).toBe(recorded.verboseData?.scriptPublicKeyType ?? 'nonstandard');
      expect(scriptToAddress(scriptPublicKey, 'kaspasim')).toBe(recorded.verboseData?.scriptPublicKeyAddress);
    }
  });
});

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
const standardScripts = fc.oneof(
  bytes(32).map((key) => Uint8Array.of(0x20, ...key, 0xac)),
  bytes(33).map((key) => Uint8Array.of(0x21, ...key, 0xab)),
  bytes(32).map((hash) => Uint8Array.of(0xaa, 0x20, ...hash, 0x87)),
);

test('it decodes the address of any standard script on every network', () => {
  fc.assert(
    fc.property(standardScripts, fc.constantFrom(...ADDRESS_PREFIXES), (script, prefix) => {
      const address = scriptToAddress({ version: 0, script }, prefix) ?? '';
      expect(address.startsWith(`${prefix}:`)).toBe(true);
      expect(addressToScript(address)).toEqual({ version: 0, script });
    }),
  );
});

test('a script of another version has no address', () => {
  fc.assert(
    fc.property(standardScripts, fc.integer({ min: 1, max: 0xffff }), (script, version) => {
      expect(classifyScript({ version, script })).toBe('nonstandard');
      expect(scriptToAddress({ version, script }, 'kaspa')).toBeUndefined();
    }),
  );
});

test.each([
  ['nothing', ''],
  ['one opcode', '51'],
  ['a key of 31 bytes', `1f${'00'.repeat(31)}ac`],
  ['a length that lies', `21${'00'.repeat(32)}ac`],
  ['a key and another opcode', `20${'00'.repeat(32)}ab`],
  ['an ECDSA key and the opcode for Schnorr', `21${'00'.repeat(33)}ac`],
  ['a script hash under another hash function', `a820${'00'.repeat(32)}87`],
  ['a byte more', `20${'00'.repeat(32)}ac00`],
])('%s is non-standard', (_, script) => {
  expect(classifyScript({ version: 0, script: fromHex(script) })).toBe('nonstandard');
});

test('it decodes an address of any network', () => {
  const { version, script } = addressToScript('kaspa:qp0l70zd5x85ttwd6jv7g3s3a8llzj96d8dncn4zmhv4tlzx5k2jyqh70xmfj');
  expect(version).toBe(0);
  expect(toHex(script)).toBe('205fff3c4da18f45adcdd499e44611e9fff148ba69db3c4ea2ddd955fc46a59522ac');
});
