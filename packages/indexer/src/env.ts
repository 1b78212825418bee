import { getNetwork, type NetworkId } from '@kasgres/kaspa';
import { parseNodeUrl, parseNodeUrls } from '@kasgres/node';
import { LOG_LEVELS, parsed, postgresUrl } from '@kasgres/runtime';
import { z } from 'zod';
import type { KeepClusteringOptions } from './clustering/keep-clustering.ts';
import type { IndexerOptions } from './dependencies.ts';
import { blueScoreOf, parseRetention, type Retention } from './retention/retention.ts';
import { DEFAULT_MEMORY_LIMIT_MB, MAX_MEMORY_LIMIT_MB, memoryBounds, MIN_MEMORY_LIMIT_MB } from './memory-bounds.ts';

const count = z.coerce.number().int().min(1);
const port = z.coerce.number().int().min(0).max(65_535);
/** Far above any blue score, and far below the limit of the columns that hold them. */
const MAX_DEPTH = 999_999_999_999n;
const depth = z.coerce.bigint().min(1n).max(MAX_DEPTH);

const variables = z.object({
  NODE_URL: parsed(parseNodeUrls).describe(
    'The kaspad to follow: grpc://host:port. Several are separated by commas: one is followed until it fails, then the next.',
  ),
  NODE_P2P_URL: parsed(parseNodeUrl)
    .optional()
    .describe(
      "The source of the UTXO set for a bootstrap at a pruning point: the p2p address, grpc://host:port, of any node of the network. Unset: the host of the followed node, at the network's p2p port.",
    ),
  ON_GAP: z
    .enum(['stop', 'record'])
    .default('stop')
    .describe(
      'The reaction when every node has pruned the blocks after the last indexed one, or follows another chain below finality. stop: exit with an explanation. record: continue at the pruning point of the node with its UTXO set, and record the missing stretch in `gaps`. An index in its first catch-up from a pruning point is bootstrapped again instead.',
    ),
  DATABASE_URL: postgresUrl().describe('Postgres to write: postgres://user:password@host:port/database.'),
  METRICS_PORT: port
    .default(9101)
    .describe('Port of /metrics, /healthz and /readyz; 0 chooses a free one, which is logged.'),
  METRICS_HOST: z.string().default('127.0.0.1').describe('Address of /metrics, /healthz and /readyz.'),
  LOG_LEVEL: z
    .enum(LOG_LEVELS)
    .default('info')
    .describe(`One of ${LOG_LEVELS.join(', ')}.`),
  NETWORK: z
    .enum(['mainnet', 'testnet-10', 'simnet', 'devnet'])
    .optional()
    .describe('Refuse a node of any other network. Unset: the network of the first node is kept.'),
  FINALITY_DEPTH: depth
    .optional()
    .describe(
      "In blue score. Only for a private network whose nodes run with overridden parameters, which no RPC reports. Unset: the network's, 432,000.",
    ),
  PRUNING_DEPTH: depth
    .optional()
    .describe(
      "In blue score, as FINALITY_DEPTH. A bootstrap waits for a pruning point that is about to move. Unset: the network's, 1,080,000.",
    ),
  RETENTION: parsed(parseRetention)
    .optional()
    .describe(
      'How much of the chain to keep: a number of days such as 30d, or a blue score such as 2000000; at least PRUNING_DEPTH. What is older is removed, in steps of a quarter of this; balances, totals, rollups, tags and clusters stay. Unset: everything is kept. docs/operations.md, "Retention".',
    ),
  MEMORY_LIMIT_MB: z.coerce
    .number()
    .int()
    .min(MIN_MEMORY_LIMIT_MB)
    .max(MAX_MEMORY_LIMIT_MB)
    .default(DEFAULT_MEMORY_LIMIT_MB)
    .describe(
      'Memory of the indexer in MiB, from which all internal bounds follow. More speeds up a first catch-up: transactions that are no longer in memory are looked up in Postgres. docs/architecture.md, "Bounds".',
    ),
  CLUSTER_DEPTH: z.coerce
    .bigint()
    .min(0n)
    .max(MAX_DEPTH)
    .optional()
    .describe(
      "How far below the sink a chain block must be, in blue score, for its transactions to be clustered. Unset: the network's finality, 432,000; 100 on simnet and devnet. docs/clustering.md.",
    ),
  CLUSTER_SIZE_LIMIT: count
    .default(1_000_000)
    .describe('A merge that would make a cluster larger waits for `kasgres clusters review`.'),
  CLUSTER_CHANGE: z
    .stringbool()
    .default(false)
    .describe(
      'Whether to record in a separate table which output of a transaction is probably change. It does not affect clusters.',
    ),
});

/** Also checked if other variables are wrong, so that all problems are reported at once. */
export const envSchema = variables
  .refine(
    ({ RETENTION, FINALITY_DEPTH, PRUNING_DEPTH, NETWORK }) =>
      RETENTION === undefined || !isBelowFinality(FINALITY_DEPTH, PRUNING_DEPTH, NETWORK),
    { path: ['PRUNING_DEPTH'], error: 'is smaller than FINALITY_DEPTH, which RETENTION does not allow' },
  )
  .refine(({ RETENTION, PRUNING_DEPTH, NETWORK }) => isEnough(RETENTION, PRUNING_DEPTH, NETWORK), {
    path: ['RETENTION'],
    error: 'keeps less than the pruning depth of the network',
    when: ({ value }) => {
      const { RETENTION, PRUNING_DEPTH } = value as Partial<z.infer<typeof variables>>;
      return (
        typeof RETENTION === 'object' &&
        'kind' in RETENTION &&
        (PRUNING_DEPTH === undefined || typeof PRUNING_DEPTH === 'bigint')
      );
    },
  });

/** Otherwise RETENTION may remove what a reorganisation still needs. */
function isBelowFinality(
  finalityDepth: bigint | undefined,
  pruningDepth: bigint | undefined,
  id: NetworkId = 'mainnet',
): boolean {
  const network = getNetwork(id);
  return (pruningDepth ?? network.pruningDepth) < (finalityDepth ?? network.finalityDepth);
}

/** All networks have the same depths. */
function isEnough(
  retention: Retention | undefined,
  pruningDepth: bigint | undefined,
  id: NetworkId = 'mainnet',
): boolean {
  const network = getNetwork(id);
  return retention === undefined || blueScoreOf(retention, network) >= (pruningDepth ?? network.pruningDepth);
}

export const REPLACED_VARIABLES: Readonly<Record<string, string>> = {
  PAGE_STREAMS: 'MEMORY_LIMIT_MB',
  MAX_BYTES_AHEAD: 'MEMORY_LIMIT_MB',
  BATCH_TRANSACTIONS: 'MEMORY_LIMIT_MB',
  MEMORY_TRANSACTIONS: 'MEMORY_LIMIT_MB',
};

export type Env = z.infer<typeof envSchema>;

export function indexerOptions(env: Env): IndexerOptions {
  return {
    ...memoryBounds(env.MEMORY_LIMIT_MB),
    p2pUrl: env.NODE_P2P_URL,
    onGap: env.ON_GAP,
    finalityDepth: env.FINALITY_DEPTH,
    pruningDepth: env.PRUNING_DEPTH,
    retention: env.RETENTION,
  };
}

export function clusteringOptions(env: Env): KeepClusteringOptions['options'] {
  return {
    depth: env.CLUSTER_DEPTH,
    sizeLimit: BigInt(env.CLUSTER_SIZE_LIMIT),
    change: env.CLUSTER_CHANGE,
  };
}
