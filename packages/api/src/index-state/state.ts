/**
 * Where the index is, and answers from one state of it: every answer from the database is read in one repeatable-read, read-only
 * transaction whose first statement reads the checkpoint (invariant 9).
 */
import { type Database, isPoolExhausted, isRetryableDatabaseError } from '@kasgres/database';
import { getNetwork, type Network } from '@kasgres/kaspa';
import { type Kysely, sql, type Transaction } from 'kysely';
import { EventLoopTurns, Slices } from '../fairness/event-loop-turns.ts';
import type { FairQueue } from '../fairness/fair-queue.ts';
import { type HttpError, unavailable } from '../http/errors.ts';
import { hex } from './sql.ts';
import { findUtxoSetLoad } from './utxo-set-load.ts';

/** The checkpoint and its block. Times are Unix milliseconds, amounts sompi. */
export interface IndexState {
  network: Network;
  sinkId: bigint;
  sinkHash: string;
  sinkChainIndex: bigint;
  sinkBlueScore: bigint;
  /** Decimal digits. */
  sinkBlueWork: string;
  sinkDaaScore: bigint;
  sinkTimestamp: bigint;
  /** Ids of the blocks, other than the sink, that the virtual block would merge. */
  virtualMergeSet: readonly bigint[];
  circulatingSompi: bigint;
  firstCatchUp: boolean;
  /** How many blocks the index was started from: more than one where it had to start anew. */
  starts: number;
  /** How many stretches of the chain are missing. */
  gaps: number;
  targetBlueScore: bigint;
  secondsLeft: number | null;
}

/** A read that failed later than this is not tried again: its client has waited long enough, and its answer may fail as late. */
const RETRY_WITHIN_MS = 5000;

/** What a query of one answer runs on. */
export interface Reading {
  db: Transaction<Database>;
  state: IndexState;
  /** For what is computed from many rows. */
  slices: Slices;
}

export interface IndexReaderOptions {
  /** Has as many places as there are connections. Without one a read starts at once. */
  queue?: FairQueue;
  turns?: EventLoopTurns;
}

type WorkIfAny<T> = (db: Transaction<Database>, state: IndexState | undefined, slices: Slices) => Promise<T>;

/** Whoever reads for the program itself. */
const PROGRAM = 'program';

export class IndexReader {
  readonly #database: Kysely<Database>;
  readonly #queue: FairQueue | undefined;
  readonly #turns: EventLoopTurns;
  #network: Network | undefined;

  constructor(database: Kysely<Database>, { queue, turns = new EventLoopTurns() }: IndexReaderOptions = {}) {
    this.#database = database;
    this.#queue = queue;
    this.#turns = turns;
  }

  /**
   * The network of this database, which never changes.
   * @throws HttpError 503 while nothing is indexed yet
   */
  async getNetwork(): Promise<Network> {
    this.#network ??= await this.read(async ({ state }) => state.network);
    return this.#network;
  }

  /**
   * Runs all queries of one answer on one state of the chain; on a later one, from the start, if the database interrupts them.
   * @param caller who takes turns with others
   * @throws HttpError 503 while nothing is indexed yet
   */
  read<T>(work: (reading: Reading) => Promise<T>, caller = PROGRAM): Promise<T> {
    return this.readIfAny(async (db, state, slices) => {
      if (state === undefined) throw await nothingIndexed(db);
      return work({ db, state, slices });
    }, caller);
  }

  /** The same for an answer that there is before anything is indexed. */
  async readIfAny<T>(work: WorkIfAny<T>, caller = PROGRAM): Promise<T> {
    const startedAt = performance.now();
    try {
      return await this.#readOnce(work, caller);
    } catch (error) {
      if (!mayPassAtOnce(error) || performance.now() - startedAt > RETRY_WITHIN_MS) throw error;
      return await this.#readOnce(work, caller);
    }
  }

  #readOnce<T>(work: WorkIfAny<T>, caller: string): Promise<T> {
    const read = (): Promise<T> =>
      this.#database
        .transaction()
        .setIsolationLevel('repeatable read')
        .setAccessMode('read only')
        .execute(async (db) => work(db, await findState(db), new Slices(this.#turns, caller)));
    return this.#queue === undefined ? read() : this.#queue.run(caller, read);
  }
}

/**
 * A replica cancels a read that stands in the way of what it replays, or, between two statements, closes its connection. A read of the
 * state that it has now is in nobody's way, and nothing of the first one has left yet.
 */
const mayPassAtOnce = (error: unknown): boolean => isRetryableDatabaseError(error) && !isPoolExhausted(error);

async function nothingIndexed(db: Kysely<Database>): Promise<HttpError> {
  const load = await findUtxoSetLoad(db);
  const why =
    load && `: the UTXO set of the pruning point ${load.blockHash} is being loaded, ${load.utxos} UTXOs so far`;
  return unavailable(`Nothing is indexed yet${why ?? ''}`, 5);
}

async function findState(db: Transaction<Database>): Promise<IndexState | undefined> {
  const row = await db
    .selectFrom('checkpoint')
    .innerJoin('blocks', 'blocks.id', 'checkpoint.block_id')
    .innerJoin('meta', (join) => join.onTrue())
    .select((eb) => [
      'meta.network',
      'checkpoint.block_id',
      'checkpoint.chain_index',
      'checkpoint.virtual_merge_set',
      'checkpoint.circulating_sompi',
      'checkpoint.first_catch_up',
      'checkpoint.target_blue_score',
      'checkpoint.seconds_left',
      hex('blocks.hash').as('hash'),
      'blocks.blue_score',
      'blocks.blue_work',
      'blocks.daa_score',
      'blocks.timestamp',
      eb.selectFrom('starts').select(sql<number>`count(*)::int`.as('count')).as('starts'),
      eb.selectFrom('gaps').select(sql<number>`count(*)::int`.as('count')).as('gaps'),
    ])
    .executeTakeFirst();
  if (row === undefined) return undefined;
  return {
    network: getNetwork(row.network),
    sinkId: row.block_id,
    sinkHash: row.hash,
    sinkChainIndex: row.chain_index,
    sinkBlueScore: row.blue_score,
    sinkBlueWork: row.blue_work,
    sinkDaaScore: row.daa_score,
    sinkTimestamp: row.timestamp,
    virtualMergeSet: row.virtual_merge_set,
    circulatingSompi: row.circulating_sompi,
    firstCatchUp: row.first_catch_up,
    starts: row.starts ?? 0,
    gaps: row.gaps ?? 0,
    targetBlueScore: row.target_blue_score,
    secondsLeft: row.seconds_left,
  };
}

/**
 * For what is complete only after the first catch-up from a start: UTXOs, balances, the supply, whether a transaction is accepted.
 * @throws HttpError 503 that says how far the catch-up is
 */
export function requireCaughtUp(state: IndexState): void {
  if (!state.firstCatchUp) return;
  const left = state.secondsLeft === null ? '' : `, about ${state.secondsLeft} seconds left`;
  throw unavailable(
    `The index is catching up from its start, at blue score ${state.sinkBlueScore} of ${state.targetBlueScore}${left}`,
    Math.min(Math.max(state.secondsLeft ?? 30, 1), 3600),
  );
}
