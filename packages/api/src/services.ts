/** What the routes work with. */
import { addUsage, type Database, findKey, type KeyUsage } from '@kasgres/database';
import type { NodeClient } from '@kasgres/node';
import type { Logger } from '@kasgres/runtime';
import type { FastifyPluginAsync, FastifyTypeProvider, RawServerDefault } from 'fastify';
import type { Kysely } from 'kysely';
import type { RateLimiterAbstract } from 'rate-limiter-flexible';
import type { z } from 'zod';
import { KeyCache } from './http/key-cache.ts';
import { RateLimits } from './http/rate-limits.ts';
import { UsageMeter } from './http/usage-meter.ts';
import { IndexReader } from './index-state/state.ts';
import { NodeStatus } from './node-status.ts';

export interface Services {
  index: IndexReader;
  node: Pick<NodeClient, 'call' | 'connected'>;
  nodeStatus: NodeStatus;
  keys: KeyCache;
  rates: RateLimits;
  usage: UsageMeter;
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
  /** What answers are read from: the same, or a replica. */
  readDatabase: Kysely<Database>;
  node: Services['node'];
  /** Counts what keys spend of their rate limits. */
  rateCounter: RateLimiterAbstract;
  logger: Logger;
}

/** Close `usage` at the end: it holds what is not written yet. */
export function createServices({ database, readDatabase, node, rateCounter, logger }: ServiceParts): Services {
  const keys = new KeyCache((keyHash) => findKey(database, keyHash));
  const writeUsage = async (usage: readonly KeyUsage[]): Promise<void> => {
    await addUsage(database, usage);
    // What is written now is missing in what was looked up of the keys' use before.
    keys.clear();
  };
  return {
    index: new IndexReader(readDatabase),
    node,
    nodeStatus: new NodeStatus(node),
    keys,
    rates: new RateLimits(rateCounter),
    usage: new UsageMeter(writeUsage, (error) => logger.warn({ reason: String(error) }, 'could not write usage')),
  };
}
