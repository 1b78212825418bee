/** The services that routes use. */
import { addUsage, type Connection, findKeys } from '@kasgres/database';
import type { NodeClient } from '@kasgres/node';
import type { Logger } from '@kasgres/runtime';
import { MAX_WAIT_MS, MAX_WAITING_PER_CONNECTION } from './database.ts';
import { EventLoopTurns } from './fairness/event-loop-turns.ts';
import { FairQueue } from './fairness/fair-queue.ts';
import { KeyCache } from './http/key-cache.ts';
import type { Db } from './index-state/sql.ts';
import { IndexReader } from './index-state/state.ts';
import { Limits } from './limits/limits.ts';
import { Pacer } from './limits/pacer.ts';
import { UsageMeter } from './limits/usage-meter.ts';
import type { Windows } from './limits/windows.ts';
import { NodeCalls } from './node-calls.ts';
import type { StatusJson } from './resources/status.ts';
import { SharedRead } from './shared-read.ts';

export interface ServiceOptions {
  /** The primary, for keys and usage. */
  database: Db;
  /** Separate connections to the primary, for keys that are not cached. */
  unknownKeysDatabase: Db;
  /** The primary or a replica, for responses. */
  readDatabase: Pick<Connection, 'pool' | 'kysely'>;
  readConnections: number;
  /** Separate connections to the same database, for the status. */
  statusDatabase: Pick<Connection, 'pool' | 'kysely'>;
  node: Pick<NodeClient, 'call' | 'connected'>;
  windows: Windows;
  logger: Logger;
}

/** One takes a tenth to a fifth of a millisecond of this process. */
const ANONYMOUS = { perSecond: 500, burst: 100 };

const STATUS = { lifeMs: 1000, burst: 10 };

export type Services = ReturnType<typeof createServices>;

/** `keys` and `limits` must be closed by the caller. */
export function createServices(options: ServiceOptions) {
  const { database, readConnections, node, logger } = options;
  const warn = (message: string) => (error: unknown) => logger.warn({ reason: String(error) }, message);
  const usage = new UsageMeter((batch) => addUsage(database, batch), warn('could not write usage'));
  const turns = new EventLoopTurns();
  const readQueue = new FairQueue({
    slots: readConnections,
    maxWaiting: readConnections * MAX_WAITING_PER_CONNECTION,
    maxWaitMs: MAX_WAIT_MS,
  });
  return {
    index: new IndexReader(options.readDatabase, turns, readQueue),
    readQueue,
    turns,
    /** Reads for requests without a key, over separate connections: they neither wait for requests of keys nor delay them. */
    statusIndex: new IndexReader(options.statusDatabase, turns),
    /** Shares the status among requests: in the long run it is read once per second. */
    status: new SharedRead<StatusJson>(STATUS),
    node,
    /** The node for requests of clients. */
    nodeCalls: new NodeCalls(node),
    keys: new KeyCache({
      readKnown: (keyHashes) => findKeys(database, keyHashes),
      readUnknown: (keyHashes) => findKeys(options.unknownKeysDatabase, keyHashes),
      isUsageUncertain: (since) => usage.mayHaveWrittenSince(since),
      onError: warn('could not refresh keys'),
    }),
    limits: new Limits(options.windows, usage),
    /** Limits the rate of all requests without a valid key together. */
    anonymousPacer: new Pacer(ANONYMOUS),
  };
}
