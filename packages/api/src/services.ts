/** The services that routes use. */
import type { Connection } from '@kasgres/database';
import type { NodeClient } from '@kasgres/node';
import {
  EventLoopTurns,
  FairQueue,
  IndexReader,
  MAX_WAIT_MS,
  MAX_WAITING_PER_CONNECTION,
  SharedRead,
} from '@kasgres/reads';
import type { Logger } from '@kasgres/runtime';
import { type AllowedRange, type SecretBox, WebhookStore } from '@kasgres/webhooks';
import type { ExplorerFiles } from './explorer/files.ts';
import type { Admission } from './limits/admission.ts';
import { divideRate, Pacer, Pacers } from './limits/pacer.ts';
import { MempoolSamples } from './node/mempool-samples.ts';
import { NodeCalls } from './node/node-calls.ts';
import type { StatusJson } from './resources/status-schema.ts';
import { Streams } from './stream/streams.ts';

export interface ServiceOptions {
  admission: Admission;
  /** The primary or a replica, for responses. */
  readDatabase: Pick<Connection, 'pool' | 'kysely'>;
  readConnections: number;
  /** Separate connections to the same database, for the status. */
  statusDatabase: Pick<Connection, 'pool' | 'kysely'>;
  node: Pick<NodeClient, 'call' | 'connected' | 'list'>;
  /** URL of the primary, which notifies of commits. */
  databaseUrl: string;
  logger: Logger;
  /** Largest number of streams of all processes together. */
  streamConnections?: number | undefined;
  /** Whether clients without a key are served; default false. */
  isAnonymousAllowed?: boolean;
  /** The web explorer; none by default. */
  explorer?: ExplorerFiles | undefined;
  /** Processes that divide the limits among them; default 1. */
  workers?: number;
  /** Unset: their operations fail. */
  webhooks?: WebhookOptions | undefined;
}

export interface WebhookOptions {
  /** The primary, for webhooks. */
  database: Pick<Connection, 'kysely'>;
  openSecrets: () => Promise<SecretBox>;
  allowed: readonly AllowedRange[];
}

/** One takes a tenth of a millisecond of this process, and half a one while it is busy. */
const ANONYMOUS = { perSecond: 500, burst: 100 };

/** A client that heeds `retry-after` gets few. */
const REFUSALS = { perSecond: 100, burst: 100 };

const STATUS = { lifeMs: 1000, burst: 10 };

export type Services = ReturnType<typeof createServices>;

/** `admission` must be closed by the caller. */
export function createServices(options: ServiceOptions) {
  const { admission, readConnections, node, workers = 1, isAnonymousAllowed = false } = options;
  const { databaseUrl, logger, streamConnections = 5000 } = options;
  const turns = new EventLoopTurns();
  const nodeCalls = new NodeCalls(node, workers);
  const readQueue = new FairQueue({
    slots: readConnections,
    maxWaiting: readConnections * MAX_WAITING_PER_CONNECTION,
    maxWaitMs: MAX_WAIT_MS,
  });
  const index = new IndexReader(options.readDatabase, turns, readQueue);
  const mempool = new MempoolSamples(nodeCalls, turns);
  const { webhooks } = options;
  const maxStreams = Math.ceil(streamConnections / workers);
  return {
    index,
    readQueue,
    turns,
    /**
     * Reads for requests without a key, over separate connections: they neither wait for requests
     * of keys nor delay them.
     */
    statusIndex: new IndexReader(options.statusDatabase, turns),
    /** Shares the status among requests: in the long run it is read once per second. */
    status: new SharedRead<StatusJson>(STATUS),
    node,
    /** The node for requests of clients. */
    nodeCalls,
    mempool,
    streams: new Streams({ index, turns, mempool, admission, databaseUrl, logger, maxStreams, workers }),
    webhooks: webhooks && {
      store: new WebhookStore(webhooks.database.kysely),
      openSecrets: webhooks.openSecrets,
      allowed: webhooks.allowed,
    },
    isAnonymousAllowed,
    explorer: options.explorer,
    admission,
    /** Limits the rate of all requests without a valid key together. */
    anonymousPacer: new Pacer(divideRate(ANONYMOUS, workers)),
    /** Limits the rate of refusals of each key. */
    refusalPacers: new Pacers(divideRate(REFUSALS, workers)),
  };
}
