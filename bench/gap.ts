/**
 * The time until the tip after a gap, by the length of the history before it: indexes of two chains, one with four times as many transactions
 * as the other and the same number of UTXOs and scripts, then a node that has pruned all of that. The real indexer, a separate process, restarts
 * at the node's pruning point, with a different UTXO set.
 *
 *   node bench/gap.ts [transactions before the gap] [UTXOs]
 *
 * It runs on an embedded Postgres. All programs share the cores, so the ratio counts, not the seconds. bench/README.md has figures.
 */
import { connect, migrate } from '@kasgres/database';
import { startIndexer } from '../test/support/programs.ts';
import { startDurablePostgres } from './durable-postgres.ts';
import { startPruningPoint } from './generated-set.ts';
import { indexChain } from './request-chain/index-chain.ts';
import { RollingChain } from './rolling-chain.ts';

const TIMES = [1, 4];
/** Runs of each length, alternating: the first one has cold caches. */
const ROUNDS = 3;
/** The scores of a pruning point above every chain. */
const FAR = 1_000_000_000n;

const [transactions = 200_000, utxos = 100_000] = process.argv.slice(2).map(Number);
const medians: number[] = [];
const seconds = TIMES.map((): number[] => []);
for (let round = 0; round < ROUNDS; round += 1) {
  for (const [i, times] of TIMES.entries()) {
    const taken = await measure(transactions * times, utxos);
    console.log(`${transactions * times} transactions before the gap: at the tip after ${taken.toFixed(1)} s`);
    seconds[i]?.push(taken);
  }
}
for (const taken of seconds) medians.push(taken.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0);
const [short = 0, long = 0] = medians;
console.log(`medians: ${short.toFixed(1)} and ${long.toFixed(1)} s; ratio ${(long / short).toFixed(2)}`);
process.exit();

/** Returns the seconds from the start of the indexer until it follows the chain with its whole state. */
async function measure(history: number, count: number): Promise<number> {
  const postgres = await startDurablePostgres();
  try {
    await migrate(postgres.url);
    const database = connect({ url: postgres.url, applicationName: 'kasgres bench', max: 3 });
    await indexChain(database, new RollingChain(history, count), () => undefined);
    await database.pool.query('vacuum analyze');
    await database.pool.query('checkpoint');
    const timestamp = BigInt(Date.now());
    const point = await startPruningPoint(count, { blueScore: FAR, blueWork: FAR, daaScore: FAR, timestamp });
    const startedAt = performance.now();
    const indexer = startIndexer(
      { nodeUrl: point.nodeUrl, databaseUrl: postgres.url },
      { NODE_P2P_URL: point.p2pUrl, ON_GAP: 'record' },
    );
    const isFollowing = 'select from checkpoint where not first_catch_up and exists (select from gaps)';
    while ((await database.pool.query(isFollowing)).rowCount === 0) {
      if (!indexer.isRunning()) throw new Error(`the indexer stopped:\n${indexer.output()}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    const taken = (performance.now() - startedAt) / 1_000;
    await indexer.stop();
    point.close();
    await database.close();
    return taken;
  } finally {
    await postgres.stop();
  }
}
