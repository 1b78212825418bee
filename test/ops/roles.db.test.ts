/**
 * ops/roles.sql on a real database: the programs, each with a separate login, do all their work
 * with the rights that it gives, and nobody can do what is not theirs.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createKey, migrate } from '@kasgres/database';
import { createTestDatabase, type TestDatabase } from '@kasgres/database/testing';
import { NodeClient } from '@kasgres/node';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SHALLOW_MERGES } from '../simulation/bootstraps-harness.ts';
import { ApiClient } from '../support/api-client.ts';
import { untilAtRest } from '../support/harness.ts';
import { type Program, startApi, startIndexer, startProgram } from '../support/programs.ts';
import { SimulatedDag } from '../support/simulated-dag.ts';
import { WebhookReceiver } from '../support/webhook-receiver.ts';

const ROLES_SQL = readFileSync(new URL('../../ops/roles.sql', import.meta.url), 'utf8');
const ROLES = ['kasgres_indexer', 'kasgres_api', 'kasgres_webhooks', 'kasgres_analyst'] as const;
type Role = (typeof ROLES)[number];

const suffix = randomBytes(6).toString('hex');
const loginOf = (role: Role): string => `${role}_${suffix}`;
const INSUFFICIENT_PRIVILEGE = '42501';

let database: TestDatabase;
/** Indexes right after the migrations. */
let indexesOfSchema: string[];

beforeAll(async () => {
  database = await createTestDatabase();
  indexesOfSchema = await listIndexes();
  await database.pool.query(ROLES_SQL);
  for (const role of ROLES) {
    await database.pool.query(`create role ${loginOf(role)} login password '${suffix}' in role ${role}`);
  }
});
afterAll(async () => {
  for (const role of ROLES) await database.pool.query(`drop role if exists ${loginOf(role)}`);
  await database.drop();
});

/**
 * The indexer stops at a merge that is deeper than FINALITY_DEPTH. The simulation has made one 65
 * blue scores deep.
 */
const DEPTHS = { FINALITY_DEPTH: '110', PRUNING_DEPTH: '120', RETENTION: '150', CLUSTER_DEPTH: '10' };

async function listIndexes(): Promise<string[]> {
  const { rows } = await database.pool.query<{ indexdef: string }>(
    `select indexdef from pg_indexes where schemaname = 'public' order by 1`,
  );
  return rows.map(({ indexdef }) => indexdef);
}

/** Returns the owners of partitions, and the first generation. */
async function ownersOfPartitions(): Promise<{ first: number; owner: string }[]> {
  const { rows } = await database.pool.query<{ first: number; owner: string }>(
    `select distinct (select min(generation) from generations) as first, tableowner as owner
       from pg_tables where schemaname = 'public' and tablename ~ '_[0-9]+$'`,
  );
  return rows;
}

function urlOf(role: Role): string {
  const url = new URL(database.url);
  url.username = loginOf(role);
  url.password = suffix;
  return url.toString();
}

/** Runs it as a login of the role. @returns 'done', or the SQLSTATE of what Postgres said to it */
async function attempt(role: Role, statement: string): Promise<string> {
  const client = new Client({ connectionString: urlOf(role) });
  await client.connect();
  try {
    await client.query(`begin; ${statement}; rollback`);
    return 'done';
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  } finally {
    await client.end();
  }
}

describe('the programs under their own logins', () => {
  let simulatedDag: SimulatedDag;
  let node: NodeClient;
  let indexer: Program;
  beforeAll(async () => {
    simulatedDag = await SimulatedDag.start('roles', undefined, { commitsToUtxos: true }, SHALLOW_MERGES);
    prune();
    node = new NodeClient({ url: simulatedDag.server.url });
    indexer = startAsIndexer();
  });
  afterAll(async () => {
    await indexer.stop();
    await node.close();
    simulatedDag.stop();
  });

  /** The chain grows, and the node keeps no more than its end. */
  function prune(): void {
    simulatedDag.mine(80);
    simulatedDag.node.prune(simulatedDag.node.dag.chainBlocks.at(-20)?.hash ?? '');
  }

  function startAsIndexer(more: Record<string, string> = {}): Program {
    const env = { nodeUrl: simulatedDag.server.url, databaseUrl: urlOf('kasgres_indexer') };
    return startIndexer(env, { NODE_P2P_URL: simulatedDag.p2p.url, ON_GAP: 'record', ...more });
  }

  test('it lets the indexer bootstrap, finish the first catch-up with every index, and follow the chain', async () => {
    await untilAtRest(database.pool, node, indexer);
    expect(await listIndexes()).toEqual(indexesOfSchema);
    simulatedDag.mine(30);
    await untilAtRest(database.pool, node, indexer);
  });

  test('it lets the indexer restart after a gap', async () => {
    await indexer.stop();
    prune();
    indexer = startAsIndexer();
    await untilAtRest(database.pool, node, indexer);
    expect(await listIndexes()).toEqual(indexesOfSchema);
    const { rows } = await database.pool.query(
      'select utxo_count > 0 as has_utxos from bootstrap_blocks order by chain_index',
    );
    expect(rows).toEqual([{ has_utxos: true }, { has_utxos: true }]);
    expect((await database.pool.query('select from gaps')).rowCount).toBe(1);
    expect(indexer.output()).not.toContain('permission denied');
  });

  test('it lets the indexer make and remove partitions, which all its logins own', async () => {
    await indexer.stop();
    indexer = startAsIndexer(DEPTHS);
    for (let first = 0; first < 2; [{ first } = { first }] = await ownersOfPartitions()) {
      simulatedDag.mine(10);
      await untilAtRest(database.pool, node, indexer);
      expect(indexer.output()).not.toContain('permission denied');
    }
    expect(await ownersOfPartitions()).toEqual([{ first: expect.any(Number) as number, owner: 'kasgres_indexer' }]);
  });

  test('it lets the API respond and count key usage and shared rate limits', async () => {
    const { key } = await createKey(database.kysely, { name: 'test' });
    const env = { nodeUrl: simulatedDag.server.url, databaseUrl: urlOf('kasgres_api') };
    const { program, url } = await startApi(env, undefined, { RATE_LIMIT_STORE: 'postgres' });
    const api = new ApiClient(url, key);
    for (const path of ['/v1/rpc/getCoinSupply', '/v1/rpc/getBlockDagInfo', '/v1/tags']) {
      expect((await api.request(path)).status, path).toBe(200);
    }
    await program.stop();
    const { rows } = await database.pool.query(
      `select (select sum(requests) from api_key_usage)::integer as requests,
        (select count(*) from rate_limits)::integer as windows`,
    );
    expect(rows).toEqual([{ requests: 3, windows: 1 }]);
    expect(program.output()).not.toContain('permission denied');
  });

  test('it lets the API register webhooks and kasgres webhooks deliver to them', async () => {
    const { key } = await createKey(database.kysely, { name: 'webhooks' });
    const nodeUrl = simulatedDag.server.url;
    const more = { WEBHOOK_SECRET_KEY: randomBytes(32).toString('base64'), WEBHOOK_ALLOW: '127.0.0.1' };
    const { program, url } = await startApi({ nodeUrl, databaseUrl: urlOf('kasgres_api') }, undefined, more);
    const deliverer = startProgram(
      '../../packages/webhooks/src/main.ts',
      { nodeUrl, databaseUrl: urlOf('kasgres_webhooks') },
      more,
    );
    const receiver = new WebhookReceiver();
    await receiver.start();
    try {
      const api = new ApiClient(url, key);
      const { json } = await api.post('/v1/webhooks', { url: receiver.url });
      receiver.secret = json['secret'] as string;
      simulatedDag.mine(3);
      await untilAtRest(database.pool, node, indexer);
      await expect.poll(() => receiver.received.length, { timeout: 20_000 }).toBeGreaterThan(0);
      const path = `/v1/webhooks/${String(json['id'])}`;
      expect((await api.request(`${path}/secret`, { method: 'POST' })).status).toBe(200);
      expect((await api.post(`${path}/replay`, { from: receiver.received[0]?.cursor })).status).toBe(200);
      const deleted = await fetch(`${url}${path}`, { method: 'DELETE', headers: { 'x-api-key': key } });
      expect(deleted.status).toBe(200);
      expect(receiver.faults).toEqual([]);
    } finally {
      await receiver.stop();
      await deliverer.stop();
      await program.stop();
    }
    for (const each of [program, deliverer]) expect(each.output()).not.toContain('permission denied');
  });
});

describe('privileges that the logins lack', () => {
  const INSERT_KEY = `insert into api_keys (name, key_hash, rate_ru, window_seconds) values ('x', '\\x00', 1, 1)`;

  test.each<[Role, string]>([
    ['kasgres_api', 'delete from blocks'],
    ['kasgres_api', 'update balances set balance = 0'],
    ['kasgres_api', 'truncate utxos'],
    ['kasgres_api', 'update checkpoint set chain_index = 0'],
    ['kasgres_api', 'delete from bootstrap_blocks'],
    ['kasgres_api', 'truncate bootstrap_utxos'],
    ['kasgres_api', 'delete from loaded_utxos'],
    ['kasgres_api', 'delete from gaps'],
    ['kasgres_api', `insert into tags (address, name) values ('x', 'x')`],
    ['kasgres_api', INSERT_KEY],
    ['kasgres_api', 'update api_keys set revoked_at = null'],
    ['kasgres_api', 'delete from api_key_usage'],
    ['kasgres_api', 'create table mine (id integer)'],
    ['kasgres_api', 'create temporary table mine (id integer)'],
    ['kasgres_indexer', 'select from api_keys'],
    ['kasgres_indexer', INSERT_KEY],
    ['kasgres_indexer', 'select from api_key_usage'],
    ['kasgres_indexer', 'select from rate_limits'],
    ['kasgres_indexer', `insert into tags (address, name) values ('x', 'x')`],
    ['kasgres_indexer', 'delete from migrations'],
    ['kasgres_indexer', 'update analysts set timeout_seconds = 1'],
    ['kasgres_api', 'select from analysts'],
    ['kasgres_webhooks', 'select key_hash from api_keys'],
    ['kasgres_webhooks', 'select from api_key_usage'],
    ['kasgres_webhooks', 'delete from webhooks'],
    ['kasgres_webhooks', 'update checkpoint set chain_index = 0'],
    ['kasgres_indexer', 'select from webhooks'],
    ['kasgres_indexer', 'select from webhook_deliveries'],
    ['kasgres_analyst', 'select from public.blocks'],
    ['kasgres_analyst', 'delete from kaspa.blocks'],
  ])('%s may not: %s', async (role, statement) => {
    expect(await attempt(role, statement)).toBe(INSUFFICIENT_PRIVILEGE);
  });

  test('it lets kasgres_api read the chain and tags', async () => {
    const { rows } = await database.pool.query<{ tablename: string }>(
      `select tablename from pg_tables
        where schemaname = 'public' and tablename !~ '_[0-9]+$'
          and tablename not in ('api_keys', 'api_key_usage', 'rate_limits', 'webhooks',
            'webhook_deliveries', 'analysts')`,
    );
    const names = rows.map(({ tablename }) => tablename);
    expect(names).toEqual(
      expect.arrayContaining(['bootstrap_blocks', 'bootstrap_utxos', 'utxo_set_load', 'loaded_utxos']),
    );
    for (const name of names) expect(await attempt('kasgres_api', `select from ${name} limit 1`), name).toBe('done');
  });

  test('it lets kasgres_analyst read the views, and the indexer end its sessions after ops/roles.sql ran again', async () => {
    expect(await attempt('kasgres_analyst', 'select from kaspa.blocks limit 1')).toBe('done');
    const mayEnd = async (): Promise<unknown> => {
      const { rows } = await database.pool.query<{ may: boolean }>(`select pg_has_role($1, $2, 'usage') as may`, [
        loginOf('kasgres_indexer'),
        loginOf('kasgres_analyst'),
      ]);
      return rows[0]?.may;
    };
    expect(await mayEnd()).toBe(false);
    await database.pool.query(ROLES_SQL);
    expect(await mayEnd()).toBe(true);
  });
});

test('it grants each role its privileges on a new table when ops/roles.sql runs after a migration', async () => {
  await database.pool.query('create table new_facts (id integer)');
  expect(await attempt('kasgres_indexer', 'insert into new_facts values (1)')).toBe(INSUFFICIENT_PRIVILEGE);
  await database.pool.query(ROLES_SQL);
  expect(await attempt('kasgres_indexer', 'insert into new_facts values (1)')).toBe('done');
  expect(await attempt('kasgres_api', 'select from new_facts')).toBe('done');
  expect(await attempt('kasgres_api', 'insert into new_facts values (1)')).toBe(INSUFFICIENT_PRIVILEGE);
  expect(await migrate(database.url)).toEqual([]);
});
