/**
 * Reads from one state of the index: every response is read in one repeatable-read, read-only transaction whose first statement reads the
 * checkpoint (invariant 9).
 */
import { type Database, isPoolExhausted, isRetryableDatabaseError } from '@kasgres/database';
import { getNetwork, type Network } from '@kasgres/kaspa';
import { sql, type Transaction } from 'kysely';
import { EventLoopTurns, Slices } from '../fairness/event-loop-turns.ts';
import type { FairQueue } from '../fairness/fair-queue.ts';
import { type HttpError, unavailable } from '../http/errors.ts';
import { type Db, hex } from './sql.ts';

/** The checkpoint and its block. Times are Unix milliseconds, amounts sompi. */
export type IndexState = NonNullable<Awaited<ReturnType<typeof findState>>>;

const RETRY_WITHIN_MS = 5000;

export interface Reading {
  db: Transaction<Database>;
  state: IndexState;
  slices: Slices;
}

type ReadIfAny<T> = (db: Transaction<Database>, state: IndexState | undefined, slices: Slices) => Promise<T>;

const PROGRAM = 'program';

export class IndexReader {
  readonly #database: Db;
  readonly #queue: FairQueue | undefined;
  readonly #turns: EventLoopTurns;
  #network: Network | undefined;

  /** @param queue has as many slots as there are connections; without it, reads start at once */
  constructor(database: Db, turns = new EventLoopTurns(), queue?: FairQueue) {
    this.#database = database;
    this.#queue = queue;
    this.#turns = turns;
  }

  /** Returns the network of this database, which never changes. @throws HttpError 503 while nothing is indexed */
  async getNetwork(): Promise<Network> {
    this.#network ??= await this.read(async ({ state }) => state.network);
    return this.#network;
  }

  /**
   * Runs all queries of one response on one state. If the database interrupts them, they are retried on the state at that time.
   * @param caller takes turns with others
   * @throws HttpError 503 while nothing is indexed
   */
  read<T>(read: (reading: Reading) => Promise<T>, caller = PROGRAM): Promise<T> {
    return this.readIfAny(async (db, state, slices) => {
      if (state === undefined) throw await nothingIndexed(db);
      return read({ db, state, slices });
    }, caller);
  }

  /** Works like `read`, but also while nothing is indexed. */
  async readIfAny<T>(read: ReadIfAny<T>, caller = PROGRAM): Promise<T> {
    const startedAt = performance.now();
    const readOnce = (): Promise<T> =>
      this.#database
        .transaction()
        .setIsolationLevel('repeatable read')
        .setAccessMode('read only')
        .execute(async (db) => read(db, await findState(db), new Slices(this.#turns, caller)));
    const run = () => (this.#queue === undefined ? readOnce() : this.#queue.run(caller, readOnce));
    try {
      return await run();
    } catch (error) {
      // A replica cancels reads that conflict with replay, or closes their connection between two statements. Nothing has been sent yet.
      const isInterrupted = isRetryableDatabaseError(error) && !isPoolExhausted(error);
      if (!isInterrupted || performance.now() - startedAt > RETRY_WITHIN_MS) throw error;
      return await run();
    }
  }
}

async function nothingIndexed(db: Db): Promise<HttpError> {
  const load = await findUtxoSetLoad(db);
  const reason =
    load && `: the UTXO set of the pruning point ${load.blockHash} is being loaded, ${load.utxos} UTXOs so far`;
  return unavailable(`Nothing is indexed yet${reason ?? ''}`, 5);
}

async function findState(db: Db) {
  const row = await db
    .selectFrom('checkpoint')
    .innerJoin('blocks', 'blocks.id', 'checkpoint.block_id')
    .innerJoin('meta', (join) => join.onTrue())
    .select((eb) => [
      'meta.network',
      'checkpoint.block_id as sinkId',
      'checkpoint.chain_index as sinkChainIndex',
      // Keys of the blocks, other than the sink, that the virtual block would merge.
      'checkpoint.virtual_merge_set as virtualMergeSet',
      'checkpoint.circulating_sompi as circulatingSompi',
      'checkpoint.first_catch_up as firstCatchUp',
      'checkpoint.target_blue_score as targetBlueScore',
      'checkpoint.seconds_left as secondsLeft',
      hex('blocks.hash').as('sinkHash'),
      'blocks.blue_score as sinkBlueScore',
      'blocks.blue_work as sinkBlueWork',
      'blocks.daa_score as sinkDaaScore',
      'blocks.timestamp as sinkTimestamp',
      eb.selectFrom('starts').select(sql<number>`count(*)::int`.as('count')).as('starts'),
      eb.selectFrom('gaps').select(sql<number>`count(*)::int`.as('count')).as('gaps'),
    ])
    .executeTakeFirst();
  return row && { ...row, network: getNetwork(row.network), starts: row.starts ?? 0, gaps: row.gaps ?? 0 };
}

/**
 * Refuses operations on data that is complete only after the first catch-up: UTXOs, balances, the supply, acceptance.
 * @throws HttpError 503 with the progress of the first catch-up
 */
export function requireCaughtUp(state: IndexState): void {
  if (!state.firstCatchUp) return;
  const left = state.secondsLeft === null ? '' : `, about ${state.secondsLeft} seconds left`;
  throw unavailable(
    `The first catch-up has not finished: it is at blue score ${state.sinkBlueScore} of ${state.targetBlueScore}${left}`,
    Math.min(Math.max(state.secondsLeft ?? 30, 1), 3600),
  );
}

/**
 * Returns the seconds by which the database is behind its primary, or null if it is no replica.
 *
 * The age of the last replayed commit is not the lag, since it grows while the primary writes nothing: a replica that streams and has replayed
 * everything it received is not behind. A replica that does not stream cannot know what it is missing, and one that has replayed nothing since it
 * was started may be missing all of that time.
 */
export async function findReplicaLag(db: Db): Promise<number | null> {
  const { rows } = await sql<{ seconds: number | null }>`
    select case
      when not pg_is_in_recovery() then null
      when pg_last_wal_replay_lsn() >= pg_last_wal_receive_lsn() and exists (select from pg_stat_wal_receiver) then 0
      else greatest(0, extract(epoch from
        clock_timestamp() - coalesce(pg_last_xact_replay_timestamp(), pg_postmaster_start_time())))
    end::float8 as seconds`.execute(db);
  return rows[0]?.seconds ?? null;
}

export interface UtxoSetLoad {
  blockHash: string;
  utxos: bigint;
}

/** Returns undefined while no set is being loaded, and always on a replica, where unlogged tables cannot be read. */
export async function findUtxoSetLoad(db: Db): Promise<UtxoSetLoad | undefined> {
  const { rows } = await sql<{ is_replica: boolean }>`select pg_is_in_recovery() as is_replica`.execute(db);
  if (rows[0]?.is_replica !== false) return undefined;
  const row = await db
    .selectFrom('utxo_set_load')
    .select([hex('block_hash').as('hash'), 'utxos'])
    .executeTakeFirst();
  return row && { blockHash: row.hash, utxos: row.utxos };
}
