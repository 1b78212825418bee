/**
 * Stores the times of earlier DAA scores, from which the API estimates times. Nodes keep the
 * headers of pruning points, so it is requested once.
 */
import type { Connection } from '@kasgres/database';
import { type DaaTimestamp, type Network, spreadDaaScores } from '@kasgres/kaspa';
import { type NodeClient, NodeProtocolError } from '@kasgres/node';
import { type Logger, retry } from '@kasgres/runtime';
import { columnsOf } from '@kasgres/state';

const SCORES = 1_000;
const DEADLINE_MS = 30_000;
const RETRY = { firstMs: 2_000, maxMs: 600_000 };

interface TimesDependencies {
  node: Pick<NodeClient, 'call'>;
  database: Connection;
  network: Network;
  log: Logger;
}

export class PreBootstrapTimes {
  /** The first indexed DAA score for which times are stored. A discarded index gets another one. */
  #knownUntil: bigint | undefined;

  /** Retries until the times are stored, or until the signal. Never throws. */
  async learn(dependencies: TimesDependencies, signal: AbortSignal): Promise<void> {
    const { database, log } = dependencies;
    const onFailure = (error: unknown, pauseMs: number): void =>
      log.warn({ err: error, pauseMs }, 'could not learn times from before the index; retrying');
    const run = async (): Promise<void> => {
      const first = await getFirstIndexed(database);
      if (first.daaScore === this.#knownUntil) return;
      const times = await requestTimes(dependencies, first, signal);
      await writeTimes(database, times);
      this.#knownUntil = first.daaScore;
      if (times.length > 0) log.info({ times: times.length }, 'stored times from before the index');
    };
    await retry(run, { ...RETRY, signal, onFailure });
  }
}

async function requestTimes(
  { node, network }: TimesDependencies,
  first: DaaTimestamp,
  signal: AbortSignal,
): Promise<DaaTimestamp[]> {
  const genesis = { daaScore: network.genesisDaaScore, timestamp: network.genesisTimestamp };
  const daaScores = spreadDaaScores(genesis.daaScore, first.daaScore, SCORES, network);
  if (daaScores.length === 0) return [];
  const response = await node.call('getDaaScoreTimestampEstimate', { daaScores }, { signal, deadlineMs: DEADLINE_MS });
  if (response.timestamps.length !== daaScores.length) {
    throw new NodeProtocolError(
      `the node responded to ${daaScores.length} DAA scores with ${response.timestamps.length} timestamps`,
    );
  }
  // The node's estimates may go back slightly.
  let latest = genesis.timestamp;
  return daaScores.flatMap((daaScore, index) => {
    const timestamp = response.timestamps[index] as bigint;
    if (timestamp < latest || timestamp > first.timestamp) return [];
    latest = timestamp;
    return [{ daaScore, timestamp }];
  });
}

async function getFirstIndexed({ pool }: Connection): Promise<DaaTimestamp> {
  const { rows } = await pool.query<DaaTimestamp>(
    'select daa_score as "daaScore", timestamp from chain_blocks order by index limit 1',
  );
  if (rows[0] === undefined) throw new Error('no block is indexed yet');
  return rows[0];
}

async function writeTimes({ pool }: Connection, times: readonly DaaTimestamp[]): Promise<void> {
  await pool.query(
    `with written as (
       insert into pre_bootstrap_times (daa_score, timestamp) select *
         from unnest($1::bigint[], $2::bigint[])
       on conflict (daa_score) do update set timestamp = excluded.timestamp)
     delete from pre_bootstrap_times where daa_score <> all($1::bigint[])`,
    columnsOf(times, 'daaScore', 'timestamp'),
  );
}
