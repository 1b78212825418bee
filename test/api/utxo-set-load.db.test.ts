/**
 * The responses of the API while the UTXO set of a start is being loaded: where an index is there
 * already, and where there is none yet.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startAt } from '../simulation/start-at.ts';
import { openHarness, type Harness } from './harness.ts';

const PRUNING_POINT = 'ab'.repeat(32);

let harness: Harness;

beforeAll(async () => {
  harness = await openHarness({ rounds: 60 });
  await harness.indexer.stop();
  const { pool } = harness.database;
  const client = await pool.connect();
  await startAt(client, 10);
  client.release(true);
  await pool.query(`insert into utxo_set_load values (true, decode($1, 'hex'), 1234567, 5, '')`, [PRUNING_POINT]);
});
afterAll(() => harness?.close());

test('an existing index still serves requests, and its status has the load', async () => {
  expect((await harness.api.getChecked('/v1/rpc/getSink')).status).toBe(200);
  expect((await harness.api.getChecked('/v1/status')).json['utxoSetLoad']).toEqual({
    pruningPoint: PRUNING_POINT,
    utxoCount: 1_234_567,
  });
});

test('the API reports what an empty index waits for', async () => {
  const { pool } = harness.database;
  await pool.query('create table kept as select * from checkpoint');
  await pool.query('delete from checkpoint');
  const { status, json, headers } = await harness.api.request('/v1/rpc/getSink');
  expect({ status, json }).toEqual({
    status: 503,
    json: {
      statusCode: 503,
      message: `Nothing is indexed yet: the UTXO set of the pruning point ${PRUNING_POINT} is being loaded, 1234567 UTXOs so far`,
    },
  });
  expect(headers.get('retry-after')).toBe('5');
  expect((await harness.api.getChecked('/v1/status')).json).toMatchObject({
    sink: null,
    utxoSetLoad: { utxoCount: 1_234_567 },
  });
  await pool.query('delete from utxo_set_load');
  expect((await harness.api.request('/v1/rpc/getSink')).json['message']).toBe('Nothing is indexed yet');
  await pool.query('insert into checkpoint select * from kept');
  await pool.query('drop table kept');
});
