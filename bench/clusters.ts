/**
 * The time of the step that merges two clusters of a million addresses, and of the statements that look up a member's tag. SQL makes their rows,
 * with trees of the greatest depth; the merge is the indexer's own step.
 *
 *   node bench/clusters.ts [addresses in a cluster, as a power of two: 20]
 *
 * On an embedded Postgres. bench/README.md has figures.
 */
import { readFile } from 'node:fs/promises';
import { performance } from 'node:perf_hooks';
import { type Connection, findClusterTag, migrate } from '@kasgres/database';
import { openClusteringDatabase } from '@kasgres/indexer';
import { clusterStep } from '@kasgres/state';
import type { PoolClient } from 'pg';
import { startDurablePostgres } from './durable-postgres.ts';

const SIZE = 2 ** Number(process.argv[2] ?? 20);
/** Chain blocks, each with one transaction that has an input of each cluster, or of one cluster and a script that is new. */
const ROUNDS = 20;
/** Each but the last is undone, which walks a million members. */
const MERGES = 4;
const OPTIONS = { depth: 0n, sizeLimit: 100_000_000n, change: false };

const postgres = await startDurablePostgres();
try {
  await migrate(postgres.url);
  const database = openClusteringDatabase(postgres.url);
  await measure(database);
  await database.close();
} finally {
  await postgres.stop();
}

async function measure({ pool, kysely }: Connection): Promise<void> {
  await makeClusters(pool);
  const client = await pool.connect();
  const server = await processOf(client);
  try {
    say('a step that has nothing to do', [await timeOf(server, () => step(client, 0))]);
    const grown: Time[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      await addBlock(client, [member(0, SIZE - 1 - round), 1 + 2 * SIZE + round]);
      grown.push(await timeOf(server, () => step(client, 1)));
    }
    say('a single address joins one of the two', grown);
    const merged: Time[] = [];
    const undone: Time[] = [];
    for (let round = 0; round < MERGES; round += 1) {
      const block = await addBlock(client, [member(0, SIZE - 1 - round), member(1, SIZE - 1 - round)]);
      merged.push(await timeOf(server, () => step(client, 1)));
      if (round === MERGES - 1) break;
      await removeBlock(client, block);
      undone.push(await timeOf(server, () => step(client, 0, 1)));
    }
    say('the two merge', merged);
    say('that is undone: the smaller is walked', undone);
    const { rows } = await client.query<{ size: bigint; depth: number }>(
      `with recursive up as (
         select parent_id, 0 as depth from cluster_members where script_id = $1
         union all select m.parent_id, depth + 1 from up join cluster_members m on m.script_id = up.parent_id)
       select (select size from clusters), max(depth) as depth from up`,
      [member(1, SIZE - 1)],
    );
    console.log(
      `one cluster of ${rows[0]?.size} addresses; its deepest member is ${rows[0]?.depth} steps below the root`,
    );
  } finally {
    client.release();
  }
  const asked: Time[] = [];
  // The pool has one connection.
  const asking = await processOf(pool);
  for (let round = 0; round < ROUNDS; round += 1) {
    const script = { version: 0, script: scriptOf(member(1, SIZE - 1 - round)) };
    asked.push(await timeOf(asking, () => findClusterTag(kysely, script)));
  }
  say("a member's tag", asked);
  const { rows: plan } = await pool.query<{ 'QUERY PLAN': string }>(
    `explain (analyze, timing off) select c.name, c.link, c.labels from scripts s join clusters c on c.id = cluster_of(s.id)
      where s.script = $1 and s.version = 0`,
    [scriptOf(member(1, SIZE - 1))],
  );
  console.log(plan.map((row) => row['QUERY PLAN']).join('\n'));
}

async function processOf(db: Pick<Connection['pool'], 'query'>): Promise<number> {
  const { rows } = await db.query<{ id: number }>('select pg_backend_pid() as id');
  return rows[0]?.id ?? 0;
}

/** Keys of scripts: those of the second cluster come after those of the first. */
function member(cluster: 0 | 1, place: number): number {
  return 1 + cluster * SIZE + place;
}

function scriptOf(id: number): Buffer {
  return Buffer.from(`20${id.toString(16).padStart(64, '0')}ac`, 'hex');
}

/** Binomial trees: what comes of merging clusters of one size over and over. Member n is below n without its lowest bit. */
async function makeClusters(pool: Connection['pool']): Promise<void> {
  const run = (text: string): Promise<unknown> => pool.query(text);
  await run(`
    drop index scripts_script, balances_balance, balances_tagged;
    insert into meta (network) values ('simnet');
    insert into scripts (id, version, script, type, address)
      select id, 0, decode('20' || lpad(to_hex(id), 64, '0') || 'ac', 'hex'), 'pubkey', 'kasgres:' || id
        from generate_series(1, ${2 * SIZE + ROUNDS}) id;
    insert into balances (script_id, balance, utxo_count) select id, 1, 1 from scripts;
    insert into cluster_members (script_id, parent_id, merge_id, next_id, previous_id)
      select 1 + base + n, case when n > 0 then 1 + base + (n & (n - 1)) end, case when n > 0 then base + n end,
             1 + base + (n + 1) % ${SIZE}, 1 + base + (n + ${SIZE} - 1) % ${SIZE}
        from (values (0), (${SIZE})) bases (base), generate_series(0, ${SIZE} - 1) n;
    insert into clusters (id, size, balance) values (1, ${SIZE}, ${SIZE}), (1 + ${SIZE}, ${SIZE}, ${SIZE});
    insert into tags (address, name) values ('kasgres:1', 'the exchange');
    insert into cluster_names values (1, 'the exchange', 1);
    update clusters set name = 'the exchange' where id = 1;
    insert into cluster_merges (id, chain_index, transaction_id, cluster_id, merged_cluster_id, script_id, merged_script_id)
      select merge_id, 0, 0, parent_id, script_id, parent_id, script_id from cluster_members where merge_id is not null;
    insert into blocks (id, hash, version, parents_by_level, hash_merkle_root, accepted_id_merkle_root, utxo_commitment, timestamp, bits,
      nonce, daa_score, blue_work, blue_score, pruning_point, merge_set_blues, merge_set_reds, is_chain_block)
      values (1, '\\x01', 0, '', '', '', '', 0, 0, 0, 0, 0, 0, '', '{}', '{}', true);
    insert into chain_blocks (index, block_id, daa_score, timestamp, chain_time, accepted_transactions) values (0, 1, 0, 0, 0, '{}');
    insert into clustering values (true, 0, 1, ${2 * SIZE}, 1, now());
    insert into checkpoint (block_id, chain_index, next_block_id, next_transaction_id, next_script_id, next_subnetwork_id,
      circulating_sompi, virtual_merge_set, first_catch_up, target_blue_score, updated_at) values (1, 0, 2, 1, 1, 2, 0, '{}', false, 0, now());
  `);
  await run(`
    create index scripts_script on scripts using hash (script);
    create index balances_balance on balances (balance desc, script_id desc) where balance > 0;
    create index balances_tagged on balances (balance desc, script_id desc) where balance > 0 and is_tagged;
  `);
  await run('vacuum analyze');
}

/** A chain block with one transaction that spends UTXOs of two scripts. @returns its key */
async function addBlock(client: PoolClient, [one, other]: readonly [number, number]): Promise<bigint> {
  const { rows } = await client.query<{ id: bigint; index: bigint; parent: bigint }>(
    'select max(id) + 1 as id, (select max(index) + 1 from chain_blocks) as index, (select block_id from checkpoint) as parent from blocks',
  );
  const { id, index, parent } = rows[0] as { id: bigint; index: bigint; parent: bigint };
  const signature = Buffer.concat([Uint8Array.of(65), Buffer.alloc(64, 7), Uint8Array.of(1)]);
  await client.query(
    `insert into blocks select $1, int8send($1), version, parents_by_level, hash_merkle_root, accepted_id_merkle_root, utxo_commitment, timestamp,
       bits, nonce, daa_score, blue_work, $1, pruning_point, $2, merge_set_blues, merge_set_reds, true from blocks where id = 1`,
    [id, parent],
  );
  await client.query(
    `insert into transactions (id, transaction_id, hash, version, lock_time, subnetwork_id, gas, payload, storage_mass, compute_mass, fee,
       accepting_block_id, accepted_body)
     values ($1, int8send($1), '', 0, 0, 0, 0, '', 0, 0, 0, $1, 0), (-$1, int8send(-$1), '', 0, 0, 0, 0, '', 0, 0, 0, null, null)`,
    [id],
  );
  await client.query(
    `insert into transaction_outputs (transaction_id, index, amount, script_id) values ($1, 0, 1, $2), ($1, 1, 1, $3)`,
    [-id, one, other],
  );
  await client.query(
    `insert into transaction_inputs (transaction_id, index, previous_transaction_id, previous_index, signature_script, sequence, sig_op_count,
       compute_budget, amount, script_id)
     values ($1, 0, $2, 0, $5, 0, 1, 0, 1, $3), ($1, 1, $2, 1, $5, 0, 1, 0, 1, $4)`,
    [id, -id, one, other, signature],
  );
  await client.query(
    'insert into chain_blocks (index, block_id, daa_score, timestamp, chain_time, accepted_transactions) values ($1, $2, 0, 0, 0, $3)',
    [index, id, [id]],
  );
  await client.query('update checkpoint set block_id = $1, chain_index = $2', [id, index]);
  return id;
}

async function removeBlock(client: PoolClient, id: bigint): Promise<void> {
  await client.query(
    `update checkpoint set block_id = (select selected_parent_id from blocks where id = $1), chain_index = chain_index - 1`,
    [id],
  );
  await client.query('delete from chain_blocks where block_id = $1', [id]);
}

async function step(client: PoolClient, merges: number, undoneMerges = 0): Promise<void> {
  const done = await clusterStep(client, OPTIONS, 1_000);
  if (done.merges !== merges || done.undoneMerges !== undoneMerges) {
    throw new Error(`the step made ${done.merges} merges and undid ${done.undoneMerges}`);
  }
}

interface Time {
  /** Milliseconds from the first statement to the last response. */
  wall: number;
  /** Milliseconds of CPU time of the database's process. */
  database: number;
}

/** @param server process id of the session that does it, on this machine */
async function timeOf(server: number, work: () => Promise<unknown>): Promise<Time> {
  const worked = await workedOf(server);
  const begun = performance.now();
  await work();
  return { wall: performance.now() - begun, database: (await workedOf(server)) - worked };
}

/** Linux knows it to the nanosecond. */
async function workedOf(processId: number): Promise<number> {
  const [nanoseconds] = (await readFile(`/proc/${processId}/schedstat`, 'utf8')).split(' ');
  return Number(nanoseconds) / 1e6;
}

function describe(values: readonly number[]): string {
  const sorted = values.toSorted((a, b) => a - b);
  return `${sorted[Math.floor(sorted.length / 2)]?.toFixed(1)} ms (at most ${sorted.at(-1)?.toFixed(1)})`;
}

function say(what: string, times: readonly Time[]): void {
  const [database, wall] = [times.map((time) => time.database), times.map((time) => time.wall)];
  console.log(`${what}, median of ${times.length}: database ${describe(database)}, in all ${describe(wall)}`);
}
