import { expect, it } from 'vitest';
import type { ContainedRow, InputRow, OutputRow } from './queries.ts';
import { toPayload, toScriptPublicKey, toTransaction } from './load-transactions.ts';

const row: ContainedRow = {
  block_id: 1n,
  body: 0,
  id: 5n,
  transaction_id: '05'.repeat(32),
  hash: '06'.repeat(32),
  version: 0,
  lock_time: '0',
  subnetwork_id: '00'.repeat(20),
  gas: '0',
  payload: '',
  storage_mass: '10000',
  compute_mass: '2036',
};
const input: InputRow = {
  transaction_id: 5n,
  previous_transaction_id: '04'.repeat(32),
  previous_index: 4_294_967_295n,
  signature_script: '41',
  sequence: '18446744073709551615',
  sig_op_count: 1,
  compute_budget: 12,
};
const output: OutputRow = {
  transaction_id: 5n,
  amount: '2900000000000000000',
  version: 0,
  script: '51',
  type: 'nonstandard',
  address: null,
  covenant_authorizing_input: null,
  covenant_id: null,
};
const block = { hash: '01'.repeat(32), timestamp: '1750000000000' };

it('omits the compute budget of version 0', () => {
  expect(toTransaction(row, [input], [], block).inputs).toEqual([
    {
      previousOutpoint: { transactionId: '04'.repeat(32), index: 4_294_967_295 },
      sequence: '18446744073709551615',
      sigOpCount: 1,
      signatureScript: '41',
    },
  ]);
});

it('has the compute budget of version 1, also if it is zero', () => {
  const { inputs } = toTransaction({ ...row, version: 1 }, [{ ...input, compute_budget: 0 }], [], block);
  expect(inputs[0]?.computeBudget).toBe(0);
});

it('omits address and type of a non-standard output', () => {
  expect(toTransaction(row, [], [output], block).outputs).toEqual([
    { value: '2900000000000000000', scriptPublicKey: '000051' },
  ]);
});

it('has the covenant of an output', () => {
  const covenant = { covenant_authorizing_input: 0, covenant_id: '0c'.repeat(32) };
  const { outputs } = toTransaction(row, [], [{ ...output, ...covenant }], block);
  expect(outputs[0]?.covenant).toEqual({ authorizingInput: 0, covenantId: '0c'.repeat(32) });
});

it('has the containing block', () => {
  expect(toTransaction(row, [], [], block).verboseData).toEqual({
    transactionId: '05'.repeat(32),
    hash: '06'.repeat(32),
    computeMass: '2036',
    blockHash: '01'.repeat(32),
    blockTime: '1750000000000',
  });
});

it('prefixes payloads with 0x, and scripts with their version', () => {
  expect([toPayload(''), toPayload('00ff')]).toEqual(['', '0x00ff']);
  expect([toScriptPublicKey(0, '51'), toScriptPublicKey(0x1234, '')]).toEqual(['000051', '1234']);
});
