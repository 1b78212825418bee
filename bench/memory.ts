/**
 * Measures the memory of the indexer during a catch-up with a chain of the largest blocks that the protocol allows. Indexer, node and
 * Postgres are separate processes. Linux only.
 *
 *   node bench/memory.ts [BLOCKS] [payload | transactions | outputs] [SECONDS OF DELAY PER BATCH] [PARENTS PER LEVEL]
 *
 * Headers have PARENTS PER LEVEL random parents on each of 54 levels; on mainnet at most 16 are allowed.
 *
 * The indexer inherits the environment variables. bench/README.md has figures.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Connection, migrate } from '@kasgres/database';
import { sleep } from '@kasgres/runtime';
import { startDurablePostgres } from './durable-postgres.ts';
import { FILLINGS } from './memory-chain.ts';
import { median } from './options.ts';
import { readMemory } from './process-memory.ts';

const INDEXER = new URL('../packages/indexer/src/main.ts', import.meta.url);
const [blocks = '1000', filling = 'payload', slowSeconds = '0', parentsPerLevel = '0'] = process.argv.slice(2);
if (!FILLINGS.some((known) => known === filling)) throw new Error(`blocks are filled with ${FILLINGS.join(', ')}`);

const postgres = await startDurablePostgres();
const children: ChildProcess[] = [];
try {
  await migrate(postgres.url);
  const database = connect({ url: postgres.url, applicationName: 'kasgres bench', max: 1 });
  if (Number(slowSeconds) > 0) await slowDown(database, Number(slowSeconds));
  const node = start(new URL('memory-node.ts', import.meta.url), [blocks, filling, parentsPerLevel], {});
  const [nodeUrl] = (await once(node, 'message')) as [string];
  const started = performance.now();
  const indexer = start(INDEXER, [], { NODE_URL: nodeUrl, DATABASE_URL: postgres.url, METRICS_PORT: '0' });
  const peaks = await measure(indexer, database);
  const seconds = (performance.now() - started) / 1_000;
  const { rows } = await database.pool.query<{ blocks: bigint; transactions: bigint; bytes: bigint }>(
    `select (select count(*) from chain_blocks) as blocks, (select count(*) from transactions) as transactions,
            (select sum(length(payload)) from transactions)::bigint as bytes`,
  );
  const [counted] = rows;
  console.log(
    `${counted?.blocks} blocks filled with ${filling}, ${counted?.transactions} transactions, ` +
      `${Math.round(Number(counted?.bytes) / 1e6)} MB of payload, each batch delayed by ${slowSeconds} s, ${parentsPerLevel} parents per level: ${seconds.toFixed(1)} s`,
  );
  for (const [name, megabytes] of Object.entries(peaks)) console.log(`  ${name}: ${megabytes} MB`);
  await database.close();
} finally {
  for (const child of children) child.kill();
  await postgres.stop();
}

function start(program: URL, args: string[], variables: Record<string, string>): ChildProcess {
  const child = fork(program, args, {
    env: { LOG_LEVEL: 'warn', ...process.env, ...variables },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  children.push(child);
  return child;
}

/** Delays each batch, which inserts its block rows in one statement. */
async function slowDown(database: Connection, seconds: number): Promise<void> {
  await database.pool.query(
    `create function delay_batch() returns trigger language plpgsql as
       $$ begin perform pg_sleep(${seconds}); return null; end $$`,
  );
  await database.pool.query(
    'create trigger slow after insert on blocks for each statement execute function delay_batch()',
  );
}

/** Samples the memory until the first catch-up is finished. */
async function measure(indexer: ChildProcess, database: Connection): Promise<Record<string, number>> {
  const resident: number[] = [];
  for (;;) {
    if (indexer.exitCode !== null) throw new Error(`the indexer exited with code ${indexer.exitCode}`);
    resident.push(await megabytesOf(indexer, 'VmRSS'));
    const { rows } = await database.pool.query<{ first_catch_up: boolean }>('select first_catch_up from checkpoint');
    if (rows[0]?.first_catch_up === false) break;
    await sleep(100);
  }
  return { 'resident, most': await megabytesOf(indexer, 'VmHWM'), 'resident, median': median(resident) };
}

async function megabytesOf({ pid = 0 }: ChildProcess, field: 'VmRSS' | 'VmHWM'): Promise<number> {
  return Math.round(((await readMemory(pid, field)) ?? Number.NaN) / 1e6);
}
