import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { genesisBlock } from './genesis.ts';
import { fromHex, toHex } from './format.ts';
import type { Utxo } from './model.ts';
import { MuHash } from './muhash.ts';
import { getNetwork } from './networks.ts';

/**
 * The coinbases that the first blocks of a simnet node (kaspad 2.1.0) accepted, one a block, from
 * DAA score 2 on.
 */
const COINBASES = [
  '0874f93a4ca7fa13d91c58ad71652f99a19bfffe492492a856da456a77661521',
  'db1a737e4ce67be1f1b686b7f789d3ee3223fa427699324210c482e258260a4b',
  'ca123bcaeae3abab51f29de65cb82a692b05ba1185c8362d2b928d46eae47436',
  '19b12be2bc76c4c5015375a78880676105ef705b7d7e0b89dc01aa7be4cf14d7',
  '906ec793e33e1323144c668cb53c1740bab7a29bc94a46e862323aafcb7a9c8b',
  '7d6af5562a994632b985e46f720f8cb72074e63959ffaa93a501e206b045f09a',
];
const MINER_SCRIPT = '20989c0b76cb563971fdc9bef31ec06c3560f3249d6ee9e5d83c57625596e05f6fac';
const SUBSIDY = 5_000_000_000n;
/**
 * In the header of the block that accepted the first of them, and in that of the block that
 * accepted the last.
 */
const FIRST_COMMITMENT = 'f7728a2ec1fa8b54e8c2a0243254486991407ff9504209c5f2ad649e84a47813';
const LAST_COMMITMENT = 'd982092ef3d72fd512deba7670a0416a0aaa09484c30bc3fdd545f58e16ef60c';

const utxosOfNode: Utxo[] = COINBASES.map((id, index) => ({
  outpoint: { transactionId: fromHex(id), index: 0 },
  amount: SUBSIDY,
  scriptPublicKey: { version: 0, script: fromHex(MINER_SCRIPT) },
  blockDaaScore: BigInt(2 + index),
  isCoinbase: true,
  covenantId: undefined,
}));

const uint64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const hash = fc.uint8Array({ minLength: 32, maxLength: 32 });
const utxo: fc.Arbitrary<Utxo> = fc.record({
  outpoint: fc.record({ transactionId: hash, index: fc.nat() }),
  amount: uint64,
  scriptPublicKey: fc.record({ version: fc.nat(65_535), script: fc.uint8Array({ maxLength: 100 }) }),
  blockDaaScore: uint64,
  isCoinbase: fc.boolean(),
  covenantId: fc.option(hash, { nil: undefined }),
});
const utxos = fc.array(utxo, { minLength: 1, maxLength: 12 });

function hashOf(utxos: readonly Utxo[]): MuHash {
  const muhash = new MuHash();
  for (const utxo of utxos) muhash.add(utxo);
  return muhash;
}

function commitmentTo(utxos: readonly Utxo[]): string {
  return toHex(hashOf(utxos).commitment());
}

describe('equals the commitment in the headers of a node', () => {
  test('of no UTXOs', () => {
    expect(commitmentTo([])).toBe(toHex(genesisBlock(getNetwork('simnet')).header.utxoCommitment));
  });

  test('of one UTXO', () => {
    expect(commitmentTo(utxosOfNode.slice(0, 1))).toBe(FIRST_COMMITMENT);
  });

  test('of several UTXOs', () => {
    expect(commitmentTo(utxosOfNode)).toBe(LAST_COMMITMENT);
  });
});

test('the hash does not depend on the order of UTXOs', () => {
  const shuffled = utxos.chain((utxos) => {
    return fc.tuple(
      fc.constant(utxos),
      fc.shuffledSubarray(utxos, { minLength: utxos.length, maxLength: utxos.length }),
    );
  });
  fc.assert(
    fc.property(shuffled, ([utxos, others]) => {
      expect(commitmentTo(others)).toBe(commitmentTo(utxos));
    }),
  );
});

test('hashes of subsets combine to the hash of the whole set, also when continued', () => {
  fc.assert(
    fc.property(utxos, fc.nat(12), (utxos, at) => {
      const whole = commitmentTo(utxos);
      const first = hashOf(utxos.slice(0, at));
      const second = hashOf(utxos.slice(at));
      const begunWith = new MuHash(first.product);
      for (const utxo of utxos.slice(at)) begunWith.add(utxo);
      expect(toHex(begunWith.commitment())).toBe(whole);
      first.combine(second);
      expect(toHex(first.commitment())).toBe(whole);
    }),
  );
});

test('adding and removing a UTXO leaves the hash unchanged, regardless of the order', () => {
  fc.assert(
    fc.property(utxos, utxos, (kept, gone) => {
      const muhash = hashOf(gone);
      for (const utxo of kept) muhash.add(utxo);
      for (const utxo of gone.slice(1)) muhash.remove(utxo);
      const product = muhash.product;
      for (const utxo of gone.slice(0, 1)) muhash.remove(utxo);
      expect(toHex(muhash.commitment())).toBe(commitmentTo(kept));
      const begunWith = new MuHash(product);
      for (const utxo of gone.slice(0, 1)) begunWith.remove(utxo);
      begunWith.combine(hashOf(kept));
      expect(toHex(begunWith.commitment())).toBe(commitmentTo([...kept, ...kept]));
    }),
  );
});

test('every field of every UTXO changes the hash', () => {
  const alterations: ((utxo: Utxo) => Utxo)[] = [
    (utxo) => ({ ...utxo, amount: utxo.amount ^ 1n }),
    (utxo) => ({ ...utxo, blockDaaScore: utxo.blockDaaScore ^ 1n }),
    (utxo) => ({ ...utxo, isCoinbase: !utxo.isCoinbase }),
    (utxo) => ({ ...utxo, covenantId: utxo.covenantId === undefined ? new Uint8Array(32) : undefined }),
    (utxo) => ({ ...utxo, outpoint: { ...utxo.outpoint, index: utxo.outpoint.index ^ 1 } }),
    (utxo) => ({ ...utxo, outpoint: { ...utxo.outpoint, transactionId: flipped(utxo.outpoint.transactionId) } }),
    (utxo) => ({ ...utxo, scriptPublicKey: { ...utxo.scriptPublicKey, version: utxo.scriptPublicKey.version ^ 1 } }),
    (utxo) => ({
      ...utxo,
      scriptPublicKey: { ...utxo.scriptPublicKey, script: Buffer.concat([utxo.scriptPublicKey.script, Buffer.of(0)]) },
    }),
  ];
  fc.assert(
    fc.property(utxos, fc.nat(), fc.constantFrom(...alterations), (utxos, at, alter) => {
      const altered = utxos.map((utxo, index) => (index === at % utxos.length ? alter(utxo) : utxo));
      expect(commitmentTo(altered)).not.toBe(commitmentTo(utxos));
    }),
  );
});

test('it rejects a product of zero, which would match every set', () => {
  expect(() => new MuHash(0n)).toThrow(RangeError);
});

function flipped(bytes: Uint8Array): Uint8Array {
  return bytes.map((byte, index) => (index === 0 ? byte ^ 1 : byte));
}
