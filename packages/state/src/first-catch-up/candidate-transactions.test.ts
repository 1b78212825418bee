import type { BatchRow } from '@kasgres/database';
import { blake2b256, type Transaction } from '@kasgres/kaspa';
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

/** Returns what was seen of transactions with the keys 1, 2, …, in their order. */
function see(
  contents: readonly (Content | { content: Content; variant: number | null })[],
  startsWithUtxos = false,
): { flags: boolean[]; unsettled: number[]; stating: number[]; reveals: BatchRow<'possible_reveals'>[] } {
  const candidates = new CandidateTransactions(startsWithUtxos);
  const reveals: BatchRow<'possible_reveals'>[] = [];
  const rows = { possible_reveals: { write: (row: BatchRow<'possible_reveals'>) => void reveals.push(row) } };
  for (const [index, given] of contents.entries()) {
    const { content, variant } = 'content' in given ? given : { content: given, variant: 0 };
    candidates.see(index + 1, content, variant, rows as never);
  }
  const { hasCovenants, hasBarePrograms, unsettled, stating } = candidates;
  const [unsettledKeys = [], statingKeys = []] = [unsettled, stating].map((keys) => [...keys.pages(100)].flat());
  return { flags: [hasCovenants, hasBarePrograms], unsettled: unsettledKeys, stating: statingKeys, reveals };
}

const keysOf = (reveals: readonly BatchRow<'possible_reveals'>[]): number[] =>
  reveals.map(({ transaction_id: key }) => key);

test('a chain of payments has no candidates', () => {
  const seen = see([
    transaction({}),
    transaction({ signatureScript: reveal(PLAIN) }),
    transaction({ payload: bytes('00ff') }),
  ]);
  expect(seen).toEqual({ flags: [false, false], unsettled: [], stating: [], reveals: [] });
});

test('finds notable programs, payloads that state an operation, and variants that are not known', () => {
  const { unsettled, stating, reveals } = see([
    { content: transaction({ signatureScript: reveal(NOTABLE) }), variant: 3 },
    transaction({ payload: MESSAGE }),
    { content: transaction({ signatureScript: reveal(NOTABLE) }), variant: null },
    { ...transaction({ payload: MESSAGE }), inputs: [] },
    transaction({ signatureScript: reveal(ENVELOPE) }),
  ]);
  expect([unsettled, stating]).toEqual([[3], [2, 3, 5]]);
  expect(reveals).toMatchObject([
    {
      transaction_id: 1,
      index: 0,
      variant: 3,
      length: 3,
      uses: 1,
      hash: blake2b256(bytes(NOTABLE)),
      template: blake2b256(bytes('b30087')),
      kcc_template: null,
    },
  ]);
});

test('every program counts once there are covenants', () => {
  const { reveals } = see([
    transaction({ signatureScript: reveal(PLAIN) }),
    transaction({ covenantId: new Uint8Array(32) }),
    transaction({ signatureScript: reveal(PLAIN) }),
    transaction({}),
  ]);
  expect(keysOf(reveals)).toEqual([3]);
});

test('there may be bare programs, and anything in a UTXO set', () => {
  const bare = see([transaction({ script: bytes(NOTABLE) })]);
  expect([bare.flags, keysOf(bare.reveals)]).toEqual([[false, true], []]);
  const started = see([transaction({ signatureScript: reveal(PLAIN) })], true);
  expect([started.flags, keysOf(started.reveals)]).toEqual([[true, true], [1]]);
});
