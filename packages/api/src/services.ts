/** What the routes work with. */
import { addUsage, type Database, findKeys } from '@kasgres/database';
import type { NodeClient } from '@kasgres/node';
import type { Logger } from '@kasgres/runtime';
import type { FastifyPluginAsync, FastifyTypeProvider, RawServerDefault } from 'fastify';
import type { Kysely } from 'kysely';
import type { z } from 'zod';
import { EventLoopTurns } from './fairness/event-loop-turns.ts';
import { FairQueue } from './fairness/fair-queue.ts';
import { KeyCache } from './http/key-cache.ts';
import { IndexReader } from './index-state/state.ts';
import type { Limits } from './limits/limits.ts';
import { LocalLimits } from './limits/local-limits.ts';
import { Pacer } from './limits/pacer.ts';
import { UsageMeter } from './limits/usage-meter.ts';
import type { Windows } from './limits/windows.ts';
import { NodeCalls } from './node-calls.ts';
import { NodeStatus } from './node-status.ts';
import type { StatusJson } from './resources/status.ts';
import { SharedRead } from './shared-read.ts';

export interface Services {
  index: IndexReader;
  /** Where reads of the index wait for each other. */
  readQueue: Pick<FairQueue, 'waiting'>;
  turns: EventLoopTurns;
  /** For what needs no key: it neither waits for what keys have paid for, nor delays it. */
  statusIndex: IndexReader;
  /** What is read there: however often it is asked for, it costs the database one read a second in the long run. */
  status: SharedRead<StatusJson>;
  node: Pick<NodeClient, 'call' | 'connected'>;
  /** The node for requests of clients. */
  nodeCalls: NodeCalls;
  nodeStatus: NodeStatus;
  keys: Pick<KeyCache, 'find' | 'close'>;
  limits: Limits;
  /** Of all requests without a good key together. */
  anonymousPacer: Pacer;
}

/** What zod makes of a request is what its handler gets, and what the answer's schema says is what it must give. */
interface ZodTypes extends FastifyTypeProvider {
  validator: this['schema'] extends z.ZodType ? z.output<this['schema']> : unknown;
  serializer: this['schema'] extends z.ZodType ? z.output<this['schema']> : unknown;
}

/** A resource's routes. */
export type ApiPlugin = FastifyPluginAsync<Services, RawServerDefault, ZodTypes>;

export interface ServiceParts {
  /** Keys and usage: the database that is written to. */
  database: Kysely<Database>;
  /** The same database over connections of their own, for keys that are not known yet. */
  unknownKeysDatabase: Kysely<Database>;
  /** What responses are read from: the same database, or a replica. */
  readDatabase: Kysely<Database>;
  /** How many connections that has. */
  readConnections: number;
  /** The same over connections of their own, for the status. */
  statusDatabase: Kysely<Database>;
  node: Services['node'];
  /** Where rate limits are counted. */
  windows: Windows;
  logger: Logger;
}

/** Requests a second without a good key. One costs a tenth to a fifth of a millisecond of this process. */
const ANONYMOUS = { perSecond: 500, burst: 100 };

/** The status is at most a second old. */
const STATUS = { lifeMs: 1000, burst: 10 };

/** For each connection: so many short reads end in the time that one waits. More are turned away at once. */
const MAX_WAITING_PER_CONNECTION = 50;
/** A read that waits longer for its turn fails: its client has waited long enough. */
const MAX_WAIT_MS = 3000;

const createQueue = (places: number): FairQueue =>
  new FairQueue({ places, maxWaiting: places * MAX_WAITING_PER_CONNECTION, maxWaitMs: MAX_WAIT_MS });

/** Close `keys` and `limits` at the end. */
export function createServices(parts: ServiceParts): Services {
  const { database, unknownKeysDatabase, readDatabase, readConnections, statusDatabase, node, windows, logger } = parts;
  const warn = (message: string) => (error: unknown) => logger.warn({ reason: String(error) }, message);
  const usage = new UsageMeter((batch) => addUsage(database, batch), warn('could not write usage'));
  const turns = new EventLoopTurns();
  const readQueue = createQueue(readConnections);
  return {
    index: new IndexReader(readDatabase, { queue: readQueue, turns }),
    readQueue,
    turns,
    statusIndex: new IndexReader(statusDatabase, { turns }),
    status: new SharedRead(STATUS),
    node,
    nodeCalls: new NodeCalls(node),
    nodeStatus: new NodeStatus(node),
    keys: new KeyCache({
      readKnown: (keyHashes) => findKeys(database, keyHashes),
      readUnknown: (keyHashes) => findKeys(unknownKeysDatabase, keyHashes),
      isUseUncertain: (since) => usage.mayHaveWrittenSince(since),
      onError: warn('could not refresh keys'),
    }),
    limits: new LocalLimits({ windows, usage }),
    anonymousPacer: new Pacer(ANONYMOUS),
  };
}
