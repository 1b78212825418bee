/**
 * Nodes check outputs in isolation, and UTXOs on the chain alone, so a miner can have transactions
 * merged that spend what does not exist, as much as they like. No sum over them fits 64 bits, and
 * none is a fee.
 */
import type { DagTransaction } from '@kasgres/devnet';
import { MAX_SOMPI, type Outpoint, scriptToAddress, toHex } from '@kasgres/kaspa';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { scriptOf } from '@kasgres/devnet/testing';
import { exportTo, freshFolder } from '../export/harness.ts';
import { expectRight } from '../support/harness.ts';
import { mergeBesideChain, spending } from '../support/unaccepted.ts';
import { type Harness, openHarness } from './harness.ts';

const RICH = scriptOf(77);
const PAID = 10_000_000_000n;

const nowhere = (byte: number): Outpoint => ({ transactionId: Buffer.alloc(32, byte), index: 0 });
const outputOf = ({ transactionId }: DagTransaction): Outpoint => ({ transactionId, index: 0 });

/**
 * Four transactions of the maximum supply each, and one that spends them all, with a fee of almost
 * three times or four times as much.
 */
function poison(byte: number, paid: bigint): { parents: DagTransaction[]; spender: DagTransaction } {
  const all = { amount: MAX_SOMPI, scriptPublicKey: RICH };
  const parents = [0, 1, 2, 3].map((n) => spending([nowhere(byte + n)], [all]));
  return { parents, spender: spending(parents.map(outputOf), [{ amount: paid, scriptPublicKey: RICH }]) };
}

let harness: Harness;
let address: string;
/** Inputs of UTXOs that do not exist, whose amounts are known. */
let spenders: string[];
/** Spends an accepted output, and pays less or more than that. */
let affordable: DagTransaction;
let excessive: DagTransaction;
let spent: bigint;

beforeAll(async () => {
  harness = await openHarness({ rounds: 60 });
  const { node } = harness.simulatedDag;
  address = scriptToAddress(RICH, node.network.addressPrefix) ?? '';
  const cases = [PAID, MAX_SOMPI].flatMap((paid, n) =>
    [true, false].map((parentsFirst, m) => ({ ...poison(100 + 8 * (2 * n + m), paid), parentsFirst })),
  );
  for (const { parents, spender, parentsFirst } of cases) {
    const contents = [parents, [spender]];
    for (const transactions of parentsFirst ? contents : contents.toReversed()) {
      mergeBesideChain(node, transactions);
      await harness.atRest();
    }
  }
  spenders = cases.map(({ spender }) => toHex(spender.transactionId));
  // It exists, and nobody may spend it yet.
  const utxo = [...node.consensus.utxos.values()].findLast(({ isCoinbase }) => isCoinbase);
  if (utxo === undefined) throw new Error('no coinbase');
  spent = utxo.amount;
  affordable = spending([utxo.outpoint], [{ amount: spent - 7n, scriptPublicKey: RICH }]);
  excessive = spending([utxo.outpoint], [{ amount: MAX_SOMPI, scriptPublicKey: RICH }]);
  mergeBesideChain(node, [affordable]);
  mergeBesideChain(node, [excessive]);
  await harness.atRest();
});
afterAll(() => harness.close());

test('they are indexed as not accepted, a fresh index shows the same, and the checks of the database hold', async () => {
  const { rows } = await harness.database.pool.query(
    `select count(*)::integer as transactions, count(accepting_index)::integer as accepted, count(fee)::integer as fees
       from transactions where encode(transaction_id, 'hex') = any($1)`,
    [spenders],
  );
  expect(rows).toEqual([{ transactions: 4, accepted: 0, fees: 0 }]);
  await expectRight(harness);
});

const idOf = ({ transactionId }: DagTransaction): string => toHex(transactionId);

test('the API shows them without a fee, and one of existing UTXOs with the fee that it would pay', async () => {
  const transactionIds = [...spenders, idOf(affordable), idOf(excessive)];
  const { json } = await harness.api.postChecked('/v1/transactions', { transactionIds });
  const shown = (json['transactions'] as Record<string, unknown>[]).map(({ fee, isAccepted }) => ({ fee, isAccepted }));
  expect(shown.map(({ fee }) => fee)).toEqual([null, null, null, null, '7', null]);
  expect(shown.some(({ isAccepted }) => isAccepted)).toBe(false);
});

test('the views have no fee of them, and exact sums beyond 64 bits', async () => {
  const { pool } = harness.database;
  const fees = await pool.query(`select fee_sompi, fee_kas from kaspa.transactions where transaction_id = any($1)`, [
    [...spenders, toHex(affordable.transactionId), toHex(excessive.transactionId)],
  ]);
  expect(fees.rows.filter(({ fee_sompi }) => fee_sompi !== null)).toEqual([{ fee_sompi: 7n, fee_kas: '0.00000007' }]);
  const whole = await pool.query<{ spent: string }>(
    `select max(sent_sompi)::text as spent, sum(received_sompi), sum(change_sompi), sum(change_kas)
      from kaspa.address_transactions`,
  );
  expect(BigInt(whole.rows[0]?.spent ?? 0)).toBe(4n * MAX_SOMPI);
  const one = await pool.query(
    `select sent_sompi::text as sent, change_sompi::text as change, change_kas::text as kas,
      is_accepted from kaspa.address_transactions
      where transaction_id = $1`,
    [spenders[0]],
  );
  expect(one.rows).toEqual([
    {
      sent: String(4n * MAX_SOMPI),
      change: String(PAID - 4n * MAX_SOMPI),
      kas: `-${(4n * MAX_SOMPI - PAID) / 100_000_000n}.00000000`,
      is_accepted: false,
    },
  ]);
});

test('they are exported', async () => {
  const { manifest } = await exportTo(await freshFolder(), harness.database, {
    names: ['transactions', 'address_transactions', 'inputs', 'outputs', 'addresses'],
    depth: 0n,
  });
  expect(manifest.facts['address_transactions']?.columns['sent_sompi']).toBe('DECIMAL(38,0)');
});

test('the history of an address has exact amounts beyond 64 bits, and its CSV counts none of them', async () => {
  // As if the spender had spent old outputs of accepted transactions: together they may be more
  // than there ever was at one time.
  await harness.database.pool.query(
    `update transaction_inputs i set previous_transaction_hash = '',
            previous_transaction_id = (select min(id) from transactions
              where accepting_index is not null)
       from transactions t where t.id = i.transaction_id and encode(t.transaction_id, 'hex') = $1`,
    [spenders[0]],
  );
  const template = '/v1/addresses/{address}/transactions';
  const { json } = await harness.api.getChecked(template, { address }, { limit: 100 });
  const item = (json['transactions'] as Record<string, unknown>[]).find(
    (each) => each['transactionId'] === spenders[0],
  );
  expect(item).toMatchObject({
    amountSent: String(4n * MAX_SOMPI),
    amountReceived: String(PAID),
    balanceChange: String(PAID - 4n * MAX_SOMPI),
  });
  const { text } = await harness.api.request(`/v1/addresses/${address}/transactions`, {
    headers: { accept: 'text/csv' },
  });
  const line = text.split('\n').find((each) => each.startsWith(spenders[0] ?? ''));
  // A sum of the column is the change of the balance.
  expect(line).toContain(',false,false,0,0,0,');
});
