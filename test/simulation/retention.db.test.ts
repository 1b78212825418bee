/**
 * Invariant 13: after retention removed the oldest part of the chain, facts, UTXOs, balances and
 * supply equal those of an index that was bootstrapped at the new first block; totals, rollups and
 * clusters equal those of an index that keeps everything.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { inTransaction } from '@kasgres/database';
import { expect, test } from 'vitest';
import { Random } from '@kasgres/devnet';
import { applicationDifferences } from '../support/applications.ts';
import { atRest, expectInvariants, freshDatabase, type Harness, SEED } from '../support/harness.ts';
import { type RunningIndexer, startIndexing } from '../support/simulated-dag.ts';
import { cluster } from './clusters-harness.ts';
import { createPruningHarness, followToTheTip, pruneAbove, SHALLOW_MERGES } from './bootstraps-harness.ts';
import { expectBootstrappedAtFirst, firstIndex } from './retention-oracle.ts';

const TIMEOUT_MS = 300_000;
const VARIABLES = { FINALITY_DEPTH: '80', PRUNING_DEPTH: '90', RETENTION: '120' };
const CLUSTER_DEPTH = 10n;
type Db = Harness['database'];

async function openHarness(name: string): Promise<Harness> {
  const harness = await createPruningHarness(name, {}, SHALLOW_MERGES);
  harness.simulatedDag.mine(60);
  return harness;
}

interface Indexed {
  harness: Harness;
  indexer: RunningIndexer;
}

/** Opens a harness and an indexer with retention, which has caught up. */
async function openIndexed(name: string): Promise<Indexed> {
  const harness = await openHarness(name);
  const { simulatedDag, database, node } = harness;
  const indexer = startIndexing(simulatedDag, database.url, VARIABLES);
  await atRest(database, node, indexer);
  return { harness, indexer };
}

async function mineAndCluster({ simulatedDag, database, node }: Harness, indexer: RunningIndexer): Promise<void> {
  simulatedDag.mine(4);
  await atRest(database, node, indexer);
  await cluster(database, { depth: CLUSTER_DEPTH });
}

/** Mines until the chain has been cut this often more. */
async function mineUntilCut(harness: Harness, indexer: RunningIndexer, cuts: number): Promise<void> {
  for (let first = await firstIndex(harness.database); cuts > 0; ) {
    await mineAndCluster(harness, indexer);
    const now = await firstIndex(harness.database);
    if (now > first) cuts -= 1;
    first = now;
  }
}

async function expectCut({ simulatedDag, node, database }: Harness): Promise<void> {
  await expectInvariants(database.pool, node);
  expect(await applicationDifferences(database.pool, simulatedDag, { isCut: true })).toEqual([]);
  const whole = await freshDatabase();
  const indexer = startIndexing(simulatedDag, whole.url);
  await atRest(whole, node, indexer);
  await indexer.stop();
  expect(await hashRates(database)).toEqual(await hashRates(whole));
  await expectBootstrappedAtFirst(database, whole);
}

/**
 * Without the first minute, of which an index with retention no longer knows when in it the chain
 * began.
 */
async function hashRates({ pool }: Db): Promise<{ start: Date; hash_rate: number }[]> {
  const { rows } = await pool.query<{ start: Date; hash_rate: number }>(
    'select start, hash_rate from kaspa.network_minutes order by start offset 1',
  );
  return rows;
}

async function partitionsOf({ pool }: Db): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    `select relname as name from pg_class
      where relnamespace = 'public'::regnamespace and relkind = 'r' and relname ~ '_[0-9]+$'
        order by 1`,
  );
  return rows.map(({ name }) => name);
}

test('an index with retention equals one that was bootstrapped at its first block', {
  timeout: TIMEOUT_MS,
}, async () => {
  const { harness, indexer } = await openIndexed('retention');
  const { database } = harness;
  for (const cuts of [1, 1, 3]) {
    await mineUntilCut(harness, indexer, cuts);
    await expectCut(harness);
  }
  await indexer.stop();
  const names = await partitionsOf(database);
  // Few chain blocks make uneven generations.
  expect(names.filter((name) => /^blocks_\d+$/.test(name)).length).toBeLessThanOrEqual(16);
  expect(names.filter((name) => /^blocks_kept_\d+$/.test(name))).toHaveLength(1);
});

/**
 * Ends the connections of the indexer in the middle of its work, as a kill of the process would.
 */
async function cutConnections({ pool }: Db): Promise<void> {
  await pool.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = 'kasgres indexer' and datname = current_database()`,
  );
}

test('a cut that is interrupted at any moment happens completely or not at all', { timeout: TIMEOUT_MS }, async () => {
  const harness = await openHarness('interrupted cuts');
  const { simulatedDag, database, node } = harness;
  const random = new Random(`${SEED} interrupted cuts`);
  let indexer = startIndexing(simulatedDag, database.url, VARIABLES);
  await atRest(database, node, indexer);
  for (let round = 0; round < 40; round += 1) {
    simulatedDag.mine(2);
    await cluster(database, { depth: CLUSTER_DEPTH });
    await sleep(random.between(0, 40));
    if (random.chance(0.5)) {
      await cutConnections(database);
    } else {
      await indexer.stop();
      indexer = startIndexing(simulatedDag, database.url, VARIABLES);
    }
    await atRest(database, node, indexer);
    // The first step of removal begins with a batch or a second later.
    if (round % 4 === 0) await mineUntilCut(harness, indexer, 1);
  }
  await expectCut(harness);
  await indexer.stop();
  const names = await partitionsOf(database);
  const { rows } = await database.pool.query<{ name: string }>(
    `select relname as name from pg_class
      where relnamespace = 'public'::regnamespace and relkind = 'r' and relispartition order by 1`,
  );
  expect(names).toEqual(rows.map(({ name }) => name));
});

/** Makes the exchange of partitions take a second. Returns whether it is under way. */
async function slowExchangeDown({ pool }: Db): Promise<() => Promise<boolean>> {
  await pool.query(
    `create function wait_after_detaching() returns event_trigger language plpgsql as $$
     begin if current_query() ~ 'detach partition' then perform pg_sleep(0.1); end if; end $$;
     create event trigger slow_exchange on ddl_command_end
       when tag in ('ALTER TABLE') execute function wait_after_detaching()`,
  );
  return async () => {
    const { rows } = await pool.query(
      `select from pg_stat_activity
        where query ~ 'detach partition' and state = 'active' and datname = current_database()
          and pid <> pg_backend_pid()`,
    );
    return rows.length > 0;
  };
}

/** Mines until an exchange is under way, does the work, and mines until it is done. */
async function duringExchange(harness: Harness, indexer: RunningIndexer, work: () => Promise<void>): Promise<void> {
  const isExchanging = await slowExchangeDown(harness.database);
  const done = (async () => {
    while (!(await isExchanging())) await sleep(5);
    await work();
    return true;
  })();
  while (!(await Promise.race([done, mineAndCluster(harness, indexer).then(() => false)])));
  await harness.database.pool.query('drop event trigger slow_exchange');
}

test('an indexer that stops while partitions are exchanged leaves the index whole', {
  timeout: TIMEOUT_MS,
}, async () => {
  const { harness, indexer } = await openIndexed('stopped cut');
  const { simulatedDag, database } = harness;
  await duringExchange(harness, indexer, async () => await indexer.stop());
  const again = startIndexing(simulatedDag, database.url, VARIABLES);
  await mineUntilCut(harness, again, 1);
  await expectCut(harness);
  await again.stop();
});

test('a transaction that begins while partitions are exchanged sees the index before or after that', {
  timeout: TIMEOUT_MS,
}, async () => {
  const { harness, indexer } = await openIndexed('read during a cut');
  const { database } = harness;
  const client = await database.pool.connect();
  const utxos: unknown[] = [];
  await duringExchange(harness, indexer, async () => {
    await inTransaction(
      client,
      async () => {
        await client.query('select from checkpoint');
        const { rows } = await client.query<{ known: boolean }>(
          `select distinct t.id is not null or e.id is not null as known
             from utxos u left join transactions t on t.id = u.transaction_id
               left join pre_bootstrap_transactions e on e.id = u.transaction_id`,
        );
        utxos.push(...rows);
      },
      { readsSnapshot: true },
    );
  });
  client.release();
  expect(utxos).toEqual([{ known: true }]);
  await indexer.stop();
});

/** Returns the number of gaps and the time of the latest one. */
async function gapMetrics({ metrics }: RunningIndexer): Promise<(number | undefined)[]> {
  const gauges = await Promise.all([metrics.gaps.get(), metrics.lastGap.get()]);
  return gauges.map(({ values }) => values[0]?.value);
}

test.each([1, 2])(
  'the first cut after gaps (%s) names the UTXOs that are held, and resets the metrics of gaps',
  {
    timeout: TIMEOUT_MS,
  },
  async (gaps) => {
    const harness = await openHarness(`cut after a gap${gaps > 1 ? ` and ${gaps - 1} more` : ''}`);
    const { simulatedDag, database, node } = harness;
    await followToTheTip(harness);
    for (let recorded = 0; recorded < gaps; recorded += 1) {
      pruneAbove(simulatedDag, 20, simulatedDag.node.dag.sink);
      await followToTheTip(harness, { ON_GAP: 'record' });
    }
    const indexer = startIndexing(simulatedDag, database.url, VARIABLES);
    const countGaps = async () => (await database.pool.query('select from gaps')).rowCount;
    expect(await countGaps()).toBe(gaps);
    await expect.poll(() => gapMetrics(indexer)).toEqual([gaps, expect.any(Number)]);
    while ((await countGaps()) !== 0) await mineUntilCut(harness, indexer, 1);
    await expect.poll(() => gapMetrics(indexer)).toEqual([0, 0]);
    const { rows } = await database.pool.query<{ named: number; unnamed: number }>(
      `select count(*) filter (where is_named)::int as named, count(*) filter (where not is_named)::int as unnamed from (
       select exists (select from transactions t where t.id = u.transaction_id)
           or exists (select from pre_bootstrap_transactions e
             where e.id = u.transaction_id) as is_named
         from utxos u union all
       select exists (select from pre_bootstrap_transactions e where e.id = u.transaction_id)
         from bootstrap_utxos u) held`,
    );
    expect(rows[0]?.unnamed).toBe(0);
    expect(rows[0]?.named).toBeGreaterThan(0);
    // The payments spend them.
    simulatedDag.mine(100);
    await atRest(database, node, indexer);
    await indexer.stop();
    await cluster(database, { depth: CLUSTER_DEPTH });
    await expectInvariants(database.pool, node);
  },
);
