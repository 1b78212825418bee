/** The environment of the indexer. */
import { parseNodeUrl, parseNodeUrls } from '@kasgres/node';
import { LOG_LEVELS, parsed, postgresUrl } from '@kasgres/runtime';
import { z } from 'zod';
import type { KeepClusteringParts } from './clustering/keep-clustering.ts';
import type { IndexerOptions } from './indexer.ts';

const count = z.coerce.number().int().min(1);
const depth = z.coerce.bigint().min(1n);

export const envSchema = z.object({
  NODE_URL: parsed(parseNodeUrls).describe(
    'kaspad to follow: grpc://host:port. Several, separated by commas: one is followed until it fails, then the next.',
  ),
  NODE_P2P_URL: parsed(parseNodeUrl)
    .optional()
    .describe(
      "Where a start at a pruning point gets its UTXO set: the p2p address, grpc://host:port, of any node of the network. Unset: the host of the node that is followed, at the network's p2p port.",
    ),
  ON_GAP: z
    .enum(['stop', 'record'])
    .default('stop')
    .describe(
      'What to do when no node has any more what comes after the last indexed block, or all follow another chain below finality. stop: end with words. record: begin again at the pruning point of the node, with its UTXO set; what is missing is recorded in `gaps`. An index in the first catch-up from a pruning point is bootstrapped again instead.',
    ),
  DATABASE_URL: postgresUrl().describe('Postgres to write: postgres://user:password@host:port/database.'),
  METRICS_PORT: z.coerce
    .number()
    .int()
    .min(0)
    .max(65_535)
    .default(9101)
    .describe('Port of /metrics, /healthz and /readyz.'),
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
      "In blue score. Only for a private network whose nodes run with overridden parameters, which no call tells. Unset: the network's, 432,000.",
    ),
  PRUNING_DEPTH: depth
    .optional()
    .describe(
      "The same for the pruning depth: a bootstrap waits for a pruning point that is about to move. Unset: the network's, 1,080,000.",
    ),
  PAGE_STREAMS: count.default(3).describe('Pages of blocks fetched from the node at once while catching up.'),
  MAX_BYTES_AHEAD: count
    .default(384 * 1024 * 1024)
    .describe(
      'Bound on the bytes of pages that wait or are under way while catching up. A page of unknown size counts 192 MiB, so this also bounds how many are fetched at once; a batch takes a quarter. docs/architecture.md, "Bounds".',
    ),
  BATCH_TRANSACTIONS: count.default(20_000).describe('Transactions in one database transaction while catching up.'),
  MEMORY_TRANSACTIONS: count
    .default(4_000_000)
    .describe('Transactions whose keys and UTXOs are kept in memory, about 150 bytes each; older ones are looked up.'),
  CLUSTER_DEPTH: z.coerce
    .bigint()
    .min(0n)
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
      'Whether to note, in a table of its own, which output of a transaction is probably change. It never makes clusters.',
    ),
});

export type Env = z.infer<typeof envSchema>;

export function indexerOptions(env: Env): IndexerOptions {
  return {
    pageStreams: env.PAGE_STREAMS,
    maxBytesAhead: env.MAX_BYTES_AHEAD,
    batchTransactions: env.BATCH_TRANSACTIONS,
    memoryTransactions: env.MEMORY_TRANSACTIONS,
    p2pUrl: env.NODE_P2P_URL,
    onGap: env.ON_GAP,
    finalityDepth: env.FINALITY_DEPTH,
    pruningDepth: env.PRUNING_DEPTH,
  };
}

export function clusteringOptions(env: Env): KeepClusteringParts['options'] {
  return {
    depth: env.CLUSTER_DEPTH,
    sizeLimit: BigInt(env.CLUSTER_SIZE_LIMIT),
    change: env.CLUSTER_CHANGE,
  };
}
