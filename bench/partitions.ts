/**
 * What a look-up by hash costs with several partitions: requests per second of pgbench, with 64 connections and prepared statements, for one
 * generation and for several with the same transactions.
 *
 *   npm run bench:partitions [-- --json] [--generations 8] [--transactions 1000000] [--seconds 10] [--runs 3]
 *
 * pgbench must be on the path. DATABASE_URL names a server, on which two databases are created and dropped; without it, an embedded Postgres
 * is started for each.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { connect } from '@kasgres/database';
import { describeMachine, markdownTable, median, readOptions, round } from './options.ts';
import { createRunDatabase, type RunDatabase } from './run-database.ts';

const CONNECTIONS = 64;
const THREADS = 2;

const LOOK_UPS = {
  'key of a transaction id': `select id from transactions where encode(transaction_id, 'hex') = encode(sha256(:n::text::bytea), 'hex')`,
  'transaction with its outputs':
    `select t.id, o.amount from transactions t join transaction_outputs o on o.transaction_id = t.id` +
    ` where encode(t.transaction_id, 'hex') = encode(sha256(:n::text::bytea), 'hex')`,
};
type LookUp = keyof typeof LOOK_UPS;

const { json, numbers } = readOptions({ generations: 8, transactions: 1_000_000, seconds: 10, runs: 3 });
const { generations, transactions, seconds, runs } = numbers;
const directory = await mkdtemp(join(tmpdir(), 'kasgres-partitions-'));
const databases: RunDatabase[] = [];
try {
  const one = await createFilled(1);
  const several = await createFilled(generations);
  const rates = Object.fromEntries(
    Object.keys(LOOK_UPS).map((name) => [name, { one: [], several: [] }]),
  ) as unknown as Record<LookUp, { one: number[]; several: number[] }>;
  // In turns, so that other load on the machine meets both.
  for (let run = 0; run < runs; run += 1) {
    for (const name of Object.keys(LOOK_UPS) as LookUp[]) {
      rates[name].one.push(await measure(one, name));
      rates[name].several.push(await measure(several, name));
    }
  }
  report(rates);
} finally {
  await rm(directory, { recursive: true });
  for (const database of databases) await database.end();
}

async function createFilled(count: number): Promise<string> {
  const database = await createRunDatabase();
  databases.push(database);
  const { pool, close } = connect({ url: database.url, applicationName: 'kasgres bench', max: 1 });
  const key = `(n * ${count} / ${transactions}) * (2::numeric ^ 36)::bigint + n`;
  for (let generation = 1; generation < count; generation += 1) {
    await pool.query('select make_generation($1, $2, $3)', [
      generation,
      100_000_000 + generation,
      100_000_001 + generation,
    ]);
  }
  await pool.query(
    `insert into transactions (id, fee, subnetwork_id, version, storage_mass, compute_mass, lock_time, gas, transaction_id, hash, payload)
     select ${key}, 1000, 0, 0, 1000, 1000, 0, 0, sha256(n::text::bytea), sha256(n::text::bytea), ''
       from generate_series(0::bigint, ${transactions - 1}) n`,
  );
  await pool.query(
    `insert into transaction_outputs (transaction_id, amount, script_id, index)
     select ${key}, 1, n, index from generate_series(0::bigint, ${transactions - 1}) n, generate_series(0, 1) index`,
  );
  await pool.query('vacuum analyze transactions, transaction_outputs');
  await close();
  return database.url;
}

/** Returns requests per second. */
async function measure(url: string, name: LookUp): Promise<number> {
  const script = join(directory, 'look-up.sql');
  await writeFile(script, `\\set n random(0, ${transactions - 1})\n${LOOK_UPS[name]};\n`);
  const options = ['-n', '-M', 'prepared', '-c', CONNECTIONS, '-j', THREADS, '-T', seconds, '-f', script, url];
  const env = { ...process.env, PGOPTIONS: '-c plan_cache_mode=force_generic_plan' };
  const { stdout } = await promisify(execFile)('pgbench', options.map(String), { env });
  const rate = Number(/^tps = ([\d.]+) \(without initial/m.exec(stdout)?.[1]);
  if (!(rate > 0)) throw new Error(`pgbench printed no rate:\n${stdout}`);
  return rate;
}

function report(rates: Record<LookUp, { one: number[]; several: number[] }>): void {
  const rows = Object.entries(rates).map(([name, { one, several }]) => ({
    name,
    one: Math.round(median(one)),
    several: Math.round(median(several)),
    ratio: round(median(several) / median(one), 2),
  }));
  if (json) {
    console.log(JSON.stringify({ machine: describeMachine(), transactions, generations, rows }));
    return;
  }
  console.log(`${describeMachine()}; ${transactions} transactions, ${CONNECTIONS} connections\n`);
  console.log(
    markdownTable(
      ['look-up', 'one generation, requests/s', `${generations} generations`, 'ratio'],
      rows.map(({ name, one, several, ratio }) => [name, one, several, ratio]),
    ),
  );
}
