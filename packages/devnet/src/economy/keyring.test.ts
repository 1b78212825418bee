import { classifyScript } from '@kasgres/kaspa';
import { expect, test } from 'vitest';
import { Keyring } from './keyring.ts';
import { DEFAULT_OPTIONS } from './options.ts';

test('owners get addresses of every type, and large owners get more of them', () => {
  const ring = new Keyring(DEFAULT_OPTIONS);
  const keys = Array.from({ length: 500 }, () => ring.next());
  const forms = new Set(keys.map(({ scriptPublicKey }) => classifyScript(scriptPublicKey)));
  expect(forms).toEqual(new Set(['pubkey', 'pubkeyecdsa', 'scripthash']));
  expect(ring.exchanges.every((exchange) => exchange.keys.length > 5)).toBe(true);
  expect(keys.some(({ owner }) => owner.kind === 'user' && owner.keys.length > 1)).toBe(true);
});

test('the owner of each script on a chain is found, and none for foreign scripts', () => {
  const ring = new Keyring(DEFAULT_OPTIONS);
  const keys = Array.from({ length: 300 }, () => ring.next());
  const stranger = { version: 0, script: Uint8Array.of(0x51) };
  const found = [keys[7], keys[250]].flatMap((key) => key?.scriptPublicKey ?? []);

  const other = new Keyring(DEFAULT_OPTIONS);
  other.restore([stranger, ...found]);
  expect(found.map((script) => other.find(script)?.owner.kind)).toEqual(
    found.map((script) => ring.find(script)?.owner.kind),
  );
  expect(other.find(stranger)).toBeUndefined();
});
