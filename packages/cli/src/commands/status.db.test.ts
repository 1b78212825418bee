import { createTestDatabase, type TestDatabase } from '@kasgres/database/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { statusOf } from './status.ts';

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database.drop());

async function addBlock(id: number, blueScore: number): Promise<string> {
  const hash = id.toString(16).padStart(64, '0');
  await database.pool.query(
    `insert into blocks (id, hash, version, parents_by_level, hash_merkle_root,
       accepted_id_merkle_root, utxo_commitment, timestamp, bits, nonce, daa_score, blue_work,
       blue_score, pruning_point, merge_set_blues, merge_set_reds, is_chain_block,
       transaction_count)
     values ($1::bigint, decode($2, 'hex'), 1, '', '', '', '', $3::bigint * 1000, 0, 0, $3 + 7, 0,
       $3, '', '{}', '{}', true, 1)`,
    [id, hash, blueScore],
  );
  return hash;
}

test('every value of an empty database is null or empty', async () => {
  expect(await statusOf(database.pool)).toMatchObject({
    network: null,
    sink: null,
    starts: [],
    gaps: [],
    utxoSetLoad: null,
  });
});

test('it returns bootstrap blocks in chain order, gaps with their ends, and a pending load', async () => {
  const [genesis, after, before] = [await addBlock(1, 0), await addBlock(2, 100), await addBlock(3, 500)];
  await database.pool.query(
    'insert into bootstrap_blocks (chain_index, block_id, utxo_count, utxo_sompi) values (101, 3, 12599, 5), (0, 1, 0, 0)',
  );
  await database.pool.query(
    `insert into gaps (after_block_hash, before_block_hash, reason, recorded_at)
     values (decode($1, 'hex'), decode($2, 'hex'), 'pruned', to_timestamp(1000.5)),
       ('\\x00', decode($2, 'hex'), 'other', to_timestamp(0))`,
    [after, before],
  );
  await database.pool.query(`insert into utxo_set_load values (true, '\\xab', 1200000, 0, '')`);
  expect(await statusOf(database.pool)).toMatchObject({
    starts: [
      { hash: genesis, blueScore: '0', daaScore: '7', timestamp: 0, utxoCount: 0 },
      { hash: before, blueScore: '500', daaScore: '507', timestamp: 500_000, utxoCount: 12_599 },
    ],
    gaps: [
      {
        afterBlock: after,
        beforeBlock: before,
        reason: 'pruned',
        afterBlueScore: '100',
        beforeBlueScore: '500',
        afterTimestamp: 100_000,
        beforeTimestamp: 500_000,
        recordedAt: 1_000_500,
      },
      { afterBlock: '00', afterBlueScore: null, afterTimestamp: null, recordedAt: 0 },
    ],
    utxoSetLoad: { pruningPoint: 'ab', utxoCount: 1_200_000 },
  });
});
