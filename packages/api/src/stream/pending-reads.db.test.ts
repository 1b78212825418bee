/**
 * Blocks that are not merged yet, with rows written by hand: reads are bounded, and follow what is
 * new.
 */
import { type Message, NO_SUBSCRIPTION } from '@kasgres/chain-steps';
import { createTestDatabase, type TestDatabase } from '@kasgres/database/testing';
import { PackedPairs } from '@kasgres/node';
import { EventLoopTurns, type IndexReader } from '@kasgres/reads';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { MempoolSample } from '../node/mempool-samples.ts';
import { PendingMoves } from './pending-moves.ts';
import type { Subscriber } from './subscriber.ts';

const ADDRESS = 'kaspasim:one';
const OUTPUTS = 500;
const MB = 2 ** 20;
const EMPTY: MempoolSample = { timestamp: 0, transactions: new Map() };

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
  await database.pool.query(
    `insert into scripts (id, version, script, type, address) values (1, 0, '', 'pubkey', '${ADDRESS}')`,
  );
  await insertBlock(1, { transactionCount: 0 });
  await database.pool.query(
    `insert into checkpoint (block_id, chain_index, next_block_id, next_transaction_id,
       next_script_id, next_subnetwork_id, circulating_sompi, virtual_merge_set, first_catch_up,
       target_blue_score, updated_at)
     values (1, 0, 1000, 1000, 2, 2, 0, '{}', false, 0, now())`,
  );
  await database.pool.query(
    `insert into chain_blocks (index, block_id, daa_score, timestamp, accepted_transactions,
      chain_time, highest_transaction, lowest_transaction, hash, blue_score)
     values (0, 1, 0, 0, '{}', 0, 0, 0, '', 0)`,
  );
});
afterAll(() => database.drop());

async function insertBlock(id: number, { transactionCount }: { transactionCount: number }): Promise<void> {
  await database.pool.query(
    `insert into blocks (id, timestamp, bits, daa_score, blue_score, version, transaction_count,
       is_chain_block, nonce, blue_work, hash, hash_merkle_root, accepted_id_merkle_root,
       utxo_commitment, pruning_point, parents_by_level, merge_set_blues, merge_set_reds)
     values ($1::bigint, 0, 0, 0, 0, 1, $2, false, 0, 0, sha256($1::bigint::text::bytea), '', '',
       '', '', '', '{}', '{}')`,
    [id, transactionCount],
  );
}

/** Inserts a transaction that pays the address 500 sompi in as many outputs. */
async function insertTransaction(id: number, blockId: number, jsonBytes = 100_000): Promise<void> {
  await database.pool.query(
    `insert into transactions (id, transaction_id, hash, version, lock_time, subnetwork_id, gas,
      payload, storage_mass, compute_mass, json_bytes)
     values ($1::bigint, sha256($1::bigint::text::bytea), '', 0, 0, 0, 0, '', 0, 0, $2)`,
    [id, jsonBytes],
  );
  await database.pool.query(
    `insert into transaction_outputs (transaction_id, index, amount, script_id)
     select $1::bigint, position, 1, 1 from generate_series(1, ${OUTPUTS}) position`,
    [id],
  );
  await database.pool.query(
    'insert into block_transactions (block_id, transaction_id, index, variant) values ($1, $2, 1, 0)',
    [blockId, id],
  );
}

const unmerge = (...blockIds: number[]) =>
  database.pool.query('update checkpoint set virtual_merge_set = $1', [blockIds]);

/**
 * Follows the address with one subscriber. Each sample returns the amounts of the messages, and the
 * number of rows that were read.
 */
function follow(onMove: (move: Record<string, string>) => void = () => {}) {
  let rows = 0;
  const index = {
    readIfAny: async (read: (db: unknown) => Promise<unknown[]>) => {
      const found = await read(database.kysely);
      rows += found.length;
      return found;
    },
  } as unknown as IndexReader;
  const moves = new PendingMoves({ index, turns: new EventLoopTurns() });
  const amounts: string[] = [];
  const send = (messages: readonly Message[]) =>
    void amounts.push(
      ...messages.map(({ data }) => {
        const move = JSON.parse(data) as Record<string, string>;
        onMove(move);
        const { status, amountReceived } = move;
        return `${status} ${amountReceived}`;
      }),
    );
  const subscription = { ...NO_SUBSCRIPTION, events: new Set(['address']), addresses: new Set([ADDRESS]) };
  const subscriber = { subscription, revision: 1, send } as unknown as Subscriber;
  return async (sample = EMPTY) => {
    rows = 0;
    await moves.send([subscriber], sample);
    return { told: amounts.splice(0), rows };
  };
}

test('it reads once what a block contains', async () => {
  await insertBlock(2, { transactionCount: 2 });
  await insertTransaction(2, 2);
  await unmerge(2);
  const sample = follow();
  expect(await sample()).toEqual({ told: [`pending ${OUTPUTS}`], rows: 1 + OUTPUTS });
  expect(await sample()).toEqual({ told: [], rows: 1 });
  await insertBlock(3, { transactionCount: 2 });
  await insertTransaction(3, 3);
  await unmerge(2, 3);
  expect(await sample()).toEqual({ told: [`pending ${OUTPUTS}`], rows: 2 + OUTPUTS });
  await database.pool.query('update transactions set accepting_index = 0 where id = 2');
  expect(await sample()).toEqual({ told: [], rows: 1 });
});

test('it reads blocks with few transactions first, and of all no more than 20,000', async () => {
  await insertBlock(4, { transactionCount: 19_999 });
  await insertBlock(5, { transactionCount: 2 });
  await insertTransaction(4, 4);
  await insertTransaction(5, 5);
  await unmerge(4, 5);
  expect(await follow()()).toEqual({ told: [`pending ${OUTPUTS}`], rows: 1 + OUTPUTS });
  await unmerge(4);
  expect(await follow()()).toEqual({ told: [`pending ${OUTPUTS}`], rows: 1 + OUTPUTS });
});

test('it reads large transactions one after the other', async () => {
  await insertBlock(6, { transactionCount: 4 });
  for (const [id, bytes] of [
    [6, 5 * MB],
    [7, 3 * MB],
    [8, 3 * MB],
  ] as const)
    await insertTransaction(id, 6, bytes);
  await unmerge(6);
  const sample = follow();
  for (const _ of [1, 2, 3]) expect(await sample()).toEqual({ told: [`pending ${OUTPUTS}`], rows: 3 + OUTPUTS });
  expect(await sample()).toEqual({ told: [], rows: 3 });
});

test('what a block spends of a transaction that nobody has accepted is sent', async () => {
  await insertBlock(10, { transactionCount: 2 });
  await insertTransaction(10, 2);
  await insertTransaction(11, 10);
  await database.pool.query(
    `insert into transaction_inputs (transaction_id, previous_transaction_id, previous_index, amount,
       script_id, index, sig_op_count, compute_budget, sequence, signature_script)
     select 11, 10, position, 1, 1, position, 0, 0, 0, '' from generate_series(1, 20) position`,
  );
  await unmerge(10);
  const moves: string[] = [];
  await follow(({ amountSent, balanceChange }) => moves.push(`${amountSent} ${balanceChange}`))();
  expect(moves).toEqual([`20 ${OUTPUTS - 20}`]);
});

test('it tells of a transaction of an old sample only if the chain has not accepted it since', async () => {
  await insertTransaction(9, 2);
  await unmerge();
  const { rows } = await database.pool.query<{ id: string }>(
    `select encode(transaction_id, 'hex') as id from transactions where id = 9`,
  );
  const id = rows[0]?.id ?? '';
  const none = PackedPairs.none;
  const entry = { id, seenAt: 1, fee: 1n, mass: 1n, outputSum: 5n, spent: none, bound: none };
  const paid = PackedPairs.of([[ADDRESS, 5n]]);
  const sample: MempoolSample = { timestamp: 0, transactions: new Map([[id, { ...entry, paid }]]) };
  await database.pool.query('update transactions set accepting_index = 0 where id = 9');
  expect(await follow()(sample)).toEqual({ told: [], rows: 1 });
  await database.pool.query('update transactions set accepting_index = null where id = 9');
  expect(await follow()(sample)).toEqual({ told: ['pending 5'], rows: 0 });
});
