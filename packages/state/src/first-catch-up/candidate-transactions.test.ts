import type { Transaction } from '@kasgres/kaspa';
import { expect, test } from 'vitest';
import { CandidateTransactions } from './candidate-transactions.ts';

type Content = Pick<Transaction, 'inputs' | 'outputs' | 'payload'>;

const NONE = new Uint8Array(0);
const bytes = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, 'hex'));

/** Pushes a program as the last item of a signature script. */
const reveal = (program: string): Uint8Array =>
  bytes(`${(program.length / 2).toString(16).padStart(2, '0')}${program}`);

/** OP_TXINPUTCOUNT OP_1 OP_EQUAL: introspection. */
const NOTABLE = 'b35187';
/** A key, OP_CHECKSIG OP_FALSE OP_IF 'kasplex' OP_ENDIF */
const ENVELOPE = `20${'ef'.repeat(32)}ac0063076b6173706c657868`;
const MESSAGE = Uint8Array.from(Buffer.from('ciph_msg:1:bcast:hi'));
/** OP_1 */
const PLAIN = '51';
const SIGNATURE = bytes(`41${'ab'.repeat(64)}01`);
const KEY_SCRIPT = bytes(`20${'cd'.repeat(32)}ac`);

function transaction({
  signatureScript = SIGNATURE,
  script = KEY_SCRIPT,
  covenantId,
  payload = NONE,
}: {
  signatureScript?: Uint8Array;
  script?: Uint8Array;
  covenantId?: Uint8Array;
  payload?: Uint8Array;
}): Content {
  const covenant = covenantId && { covenantId, authorizingInput: 0 };
  return {
    inputs: [{ signatureScript }],
    outputs: [{ amount: 1n, scriptPublicKey: { version: 0, script }, covenant }],
    payload,
  } as unknown as Content;
}

const keysOf = ({ revealing, stating }: CandidateTransactions): number[][] =>
  [revealing, stating].map((keys) => [...keys.pages(100)].flat());
const flagsOf = ({ hasCovenants, hasBarePrograms }: CandidateTransactions): boolean[] => [
  hasCovenants,
  hasBarePrograms,
];

test('a chain of payments has no candidates', () => {
  const candidates = new CandidateTransactions(false);
  candidates.see(1, transaction({}), true);
  candidates.see(2, transaction({ signatureScript: reveal(PLAIN) }), true);
  candidates.see(3, transaction({ payload: bytes('00ff') }), true);
  expect(flagsOf(candidates)).toEqual([false, false]);
  expect(keysOf(candidates)).toEqual([[], []]);
});

test('finds notable programs, payloads that state an operation, and variants that are not known', () => {
  const candidates = new CandidateTransactions(false);
  candidates.see(1, transaction({ signatureScript: reveal(NOTABLE) }), true);
  candidates.see(2, transaction({ payload: MESSAGE }), true);
  candidates.see(3, transaction({}), false);
  candidates.see(4, { ...transaction({ payload: MESSAGE }), inputs: [] }, true);
  candidates.see(5, transaction({ signatureScript: reveal(ENVELOPE) }), true);
  expect(keysOf(candidates)).toEqual([
    [1, 3, 5],
    [2, 3, 5],
  ]);
});

test('every program counts once there are covenants', () => {
  const candidates = new CandidateTransactions(false);
  candidates.see(1, transaction({ signatureScript: reveal(PLAIN) }), true);
  candidates.see(2, transaction({ covenantId: new Uint8Array(32) }), true);
  candidates.see(3, transaction({ signatureScript: reveal(PLAIN) }), true);
  candidates.see(4, transaction({}), true);
  expect(keysOf(candidates)).toEqual([[3], []]);
});

test('there may be bare programs, and anything in a UTXO set', () => {
  const bare = new CandidateTransactions(false);
  bare.see(1, transaction({ script: bytes(NOTABLE) }), true);
  expect([flagsOf(bare), keysOf(bare)]).toEqual([
    [false, true],
    [[], []],
  ]);
  const started = new CandidateTransactions(true);
  started.see(1, transaction({ signatureScript: reveal(PLAIN) }), true);
  expect([flagsOf(started), keysOf(started)]).toEqual([
    [true, true],
    [[1], []],
  ]);
});
