/**
 * The address of the database leads to another server: the indexer continues from the data there,
 * never from memory (invariant 5). Keys of blocks and transactions differ there, so that any memory
 * of the first server would be wrong.
 */
import { afterEach, beforeEach, test } from 'vitest';
import { connect } from '@kasgres/database';
import { sleep } from '@kasgres/runtime';
import type { ApiClient } from '../support/api-client.ts';
import { atRest } from '../support/harness.ts';
import { startIndexing } from '../support/simulated-dag.ts';
import { OwnPostgres } from './own-postgres.ts';
import { openApi, expectRecovery, follow, mineWhile, openHarness, type Harness } from './harness.ts';

let first: Harness;
/** Returns the harness with the other server as its database. */
let second: Harness;
let other: OwnPostgres;
let otherUrl: string;
let api: ApiClient;
let stopApi: () => Promise<void>;

beforeEach(async () => {
  first = await openHarness('failover');
  other = await OwnPostgres.start();
  otherUrl = await withPasswordOf(first.url, other.url);
  second = { ...first, postgres: other, database: connect({ url: otherUrl, applicationName: 'kasgres test' }) };
  ({ api, stop: stopApi } = await openApi(first));
  await copyKey(first, second);
});
afterEach(async () => {
  await stopApi();
  await second.database.close();
  await other.remove();
  await first.close();
});

test('the indexer continues on a server with the same data', async () => {
  first.simulatedDag.mine(40);
  await indexOther();
  const indexer = follow(first);
  await atRest(first.database, first.node, indexer);
  await mineWhile(first, switchOver());
  await expectRecovery(second, indexer, api);
});

test('the indexer continues on a server that is behind', async () => {
  first.simulatedDag.mine(40);
  await indexOther();
  const indexer = follow(first);
  first.simulatedDag.mine(60);
  await atRest(first.database, first.node, indexer);
  await switchOver();
  await expectRecovery(second, indexer, api);
});

test('the indexer waits for a read-only server to be promoted', async () => {
  first.simulatedDag.mine(40);
  await indexOther();
  const indexer = follow(first);
  await atRest(first.database, first.node, indexer);
  await second.database.pool.query('alter database kasgres set default_transaction_read_only = on');
  await switchOver();
  first.simulatedDag.mine(5);
  // The indexer gives up unexplained failures sooner.
  await sleep(4_000);
  await second.database.pool.query(
    'begin; set transaction read write; alter database kasgres reset default_transaction_read_only; commit',
  );
  await expectRecovery(second, indexer, api);
});

async function switchOver(): Promise<void> {
  first.proxy.switchTo(other.url);
}

/** Fills the other server with another indexer, whose batches begin at other blocks. */
async function indexOther(): Promise<void> {
  const indexer = startIndexing(first.simulatedDag, otherUrl, { batchTransactions: '7' });
  await atRest(second.database, first.node, indexer);
  await indexer.stop();
}

async function withPasswordOf(url: string, changed: string): Promise<string> {
  const { username, password } = new URL(url);
  const { pool, close } = connect({ url: changed, applicationName: 'kasgres test', max: 1 });
  await pool.query(`alter role ${username} password '${password}'`);
  await close();
  return Object.assign(new URL(changed), { password }).toString();
}

async function copyKey(from: Harness, to: Harness): Promise<void> {
  const { rows } = await from.database.pool.query<{ key: object }>('select to_json(k) as key from api_keys k');
  await to.database.pool.query(
    'insert into api_keys overriding system value select r.* from json_populate_record(null::api_keys, $1) r',
    [JSON.stringify(rows[0]?.key)],
  );
}
