import { expect, it } from 'vitest';
import type { OutputRow } from '../queries.ts';
import {
  type ContainingBlockRow,
  type RelatedRows,
  type RestTransactionRow,
  type SpendingInputRow,
  toRestTransaction,
} from './load-rest-transactions.ts';

const ID = '05'.repeat(32);
const SINK_BLUE_SCORE = 120n;
const START_BLUE_SCORE = 90n;

const accepted: RestTransactionRow = {
  id: 5n,
  transaction_id: ID,
  hash: '06'.repeat(32),
  version: 0,
  lock_time: '18446744073709551615',
  subnetwork_id: '00'.repeat(20),
  gas: '0',
  storage_mass: '10000',
  compute_mass: '2036',
  body: 0,
  fee: '700',
  accepting_block_id: 9n,
  accepting_block_hash: '09'.repeat(32),
  accepting_block_blue_score: 100n,
  acceptance_blue_score: 100n,
  is_accepted: true,
};
const refused: RestTransactionRow = {
  ...accepted,
  accepting_block_id: null,
  accepting_block_hash: null,
  accepting_block_blue_score: null,
  acceptance_blue_score: START_BLUE_SCORE,
  is_accepted: false,
};
const block = (id: number, timestamp: bigint, mergedBy: bigint | null): ContainingBlockRow => ({
  transaction_id: 5n,
  hash: String(id).repeat(64),
  timestamp,
  merging_block_id: mergedBy,
});
const input: SpendingInputRow = {
  transaction_id: 5n,
  previous_transaction_id: '04'.repeat(32),
  previous_index: 4_294_967_295n,
  signature_script: '41',
  sequence: '18446744073709551615',
  sig_op_count: 1,
  compute_budget: 12,
  is_previous_accepted: true,
  amount: '2900000000000000000',
  script: '51',
  type: 'pubkey',
  address: 'kaspa:from',
};
const output: OutputRow = {
  transaction_id: 5n,
  amount: '10000000000',
  version: 0,
  script: '52',
  type: 'nonstandard',
  address: null,
  covenant_authorizing_input: null,
  covenant_id: null,
};

const show = (row: RestTransactionRow, parts: Partial<RelatedRows> = {}) =>
  toRestTransaction(
    row,
    { blocks: [block(1, 1000n, 9n)], inputs: [], outputs: [], spenders: [], ...parts },
    SINK_BLUE_SCORE,
  );

it('converts an accepted transaction', () => {
  const spenders = [{ transaction_id: 5n, index: 1n, spent_by: '0a'.repeat(32) }];
  expect(show(accepted, { inputs: [input], outputs: [output, output], spenders })).toEqual({
    transactionId: ID,
    version: 0,
    blockTime: 1000,
    subnetworkId: '00'.repeat(20),
    hash: '06'.repeat(32),
    mass: '10000',
    computeMass: '2036',
    fee: '700',
    lockTime: '18446744073709551615',
    gas: '0',
    blockHashes: ['1'.repeat(64)],
    isAccepted: true,
    acceptingBlockHash: '09'.repeat(32),
    acceptingBlockBlueScore: '100',
    confirmations: 20,
    inputs: [
      {
        transactionId: ID,
        index: 0,
        signatureScript: '41',
        sequence: '18446744073709551615',
        sigOpCount: 1,
        previousOutput: {
          transactionId: '04'.repeat(32),
          index: 4_294_967_295,
          amount: '2900000000000000000',
          scriptPublicKey: '51',
          scriptPublicKeyAddress: 'kaspa:from',
          scriptPublicKeyType: 'pubkey',
        },
      },
    ],
    outputs: [null, '0a'.repeat(32)].map((spentBy, index) => ({
      transactionId: ID,
      index,
      amount: '10000000000',
      scriptPublicKey: '52',
      scriptPublicKeyAddress: null,
      scriptPublicKeyType: 'nonstandard',
      spentBy,
    })),
  });
});

it('has no accepting block and no confirmations if not accepted', () => {
  expect(show(refused)).toMatchObject({
    isAccepted: false,
    acceptingBlockHash: null,
    acceptingBlockBlueScore: null,
    confirmations: 0,
  });
});

it('has no accepting block, and confirmations since the bootstrap block, if pre-bootstrap', () => {
  const unseen = { ...input, is_previous_accepted: false, amount: null, script: null, type: null, address: null };
  const blocks = [block(1, 1000n, null), block(2, 2000n, 8n)];
  expect(show({ ...refused, is_accepted: true }, { blocks, inputs: [unseen] })).toMatchObject({
    isAccepted: true,
    acceptingBlockHash: null,
    acceptingBlockBlueScore: null,
    confirmations: 30,
    blockTime: 1000,
    fee: null,
    inputs: [{ previousOutput: { amount: null } }],
  });
});

it('has the time of the earliest block from which it could be accepted', () => {
  const blocks = [block(1, 1000n, null), block(2, 2000n, 8n), block(3, 3000n, 9n), block(4, 4000n, 9n)];
  expect(show(accepted, { blocks }).blockTime).toBe(3000);
  expect(show(refused, { blocks }).blockTime).toBe(1000);
});

it('has no amount and no fee if the transaction of a UTXO is not accepted', () => {
  const inputs = [input, { ...input, is_previous_accepted: false }];
  const shown = show(refused, { inputs });
  expect(shown.inputs.map(({ previousOutput }) => previousOutput.amount)).toEqual(['2900000000000000000', null]);
  expect(shown.inputs[1]?.previousOutput).toEqual({
    transactionId: '04'.repeat(32),
    index: 4_294_967_295,
    amount: null,
    scriptPublicKey: null,
    scriptPublicKeyAddress: null,
    scriptPublicKeyType: null,
  });
  expect(shown.fee).toBeNull();
});

it('has no amount for a UTXO that was never seen', () => {
  const unseen = { ...input, amount: null, script: null, type: null, address: null };
  expect(show({ ...refused, fee: null }, { inputs: [unseen] })).toMatchObject({
    fee: null,
    inputs: [{ previousOutput: { amount: null, scriptPublicKey: null, scriptPublicKeyType: null } }],
  });
});

it('has a fee if not accepted, but its UTXOs exist', () => {
  expect(show(refused, { inputs: [input] }).fee).toBe('700');
});

it('has the payload only if it was read', () => {
  expect(show(accepted)).not.toHaveProperty('payload');
  expect(show({ ...accepted, payload: '' }).payload).toBe('');
  expect(show({ ...accepted, payload: '00ff' }).payload).toBe('0x00ff');
});

it('has compute budgets since version 1, and covenants', () => {
  const covenant = { covenant_authorizing_input: 0, covenant_id: '0c'.repeat(32) };
  const { inputs, outputs } = show(
    { ...accepted, version: 1 },
    { inputs: [input], outputs: [{ ...output, ...covenant }] },
  );
  expect(inputs[0]?.computeBudget).toBe(12);
  expect(outputs[0]?.covenant).toEqual({ authorizingInput: 0, covenantId: '0c'.repeat(32) });
  const before = show(accepted, { inputs: [input], outputs: [output] });
  expect(before.inputs[0]).not.toHaveProperty('computeBudget');
  expect(before.outputs[0]).not.toHaveProperty('covenant');
});
