/** /v1/status: how far the index is, and whether the node is there. Needs no key. */
import type { Database } from '@kasgres/database';
import type { Kysely } from 'kysely';
import { z } from 'zod';
import packageJson from '../../package.json' with { type: 'json' };
import { findReplicaLag } from '../index-state/replica-lag.ts';
import { hex, text, textOrNull } from '../index-state/sql.ts';
import type { IndexState } from '../index-state/state.ts';
import { findUtxoSetLoad, type UtxoSetLoad } from '../index-state/utxo-set-load.ts';
import type { NodeState } from '../node-status.ts';
import { answers } from '../schemas/responses.ts';
import { count, decimal, hash, timestamp } from '../schemas/values.ts';
import type { ApiPlugin } from '../services.ts';
import { findFirstBlockHash } from './chain/parts.ts';

/** An index this close behind counts as synced. */
const SYNCED_WITHIN_SECONDS = 10;

const start = z.object({
  hash,
  blueScore: decimal,
  daaScore: decimal,
  timestamp,
  utxoCount: count.meta({ description: 'UTXOs that the index began with there; 0 at genesis' }),
});

const gap = z.object({
  afterBlock: hash.meta({ description: 'Last chain block before it' }),
  beforeBlock: hash.meta({ description: 'First chain block after it: a start' }),
  reason: z.string(),
  afterBlueScore: decimal.nullable(),
  beforeBlueScore: decimal.nullable(),
  afterTimestamp: timestamp.nullable(),
  beforeTimestamp: timestamp.nullable(),
  recordedAt: timestamp,
});

const utxoSetLoad = z.object({
  pruningPoint: hash,
  utxoCount: count.meta({ description: 'UTXOs loaded so far' }),
});

const status = z
  .object({
    network: z.string().nullable().meta({ description: 'Null until the indexer has started once' }),
    synced: z.boolean().meta({
      description:
        'Catch-up from the start over, every index built, at the sink of the node or less than 10 seconds behind',
    }),
    sink: hash.nullable(),
    sinkBlueScore: decimal.nullable(),
    nodeSinkBlueScore: decimal.nullable().meta({ description: 'Null while the node is away' }),
    lagSeconds: count.nullable().meta({ description: 'Age of the sink; 0 when it is as high as that of the node' }),
    replicaLagSeconds: count.nullable().meta({
      description:
        'How far the replica that answers are read from is behind its primary; null when they are read from the primary',
    }),
    firstBlock: hash.nullable().meta({ description: 'Where the index begins' }),
    starts: z.array(start).meta({
      description:
        'The blocks from which the index counts, each with its UTXO set, as they follow on the chain. What is before the first is not indexed but for the UTXOs that were left of it; state is exact since the last',
    }),
    gaps: z.array(gap).meta({ description: 'Stretches of the chain that are missing' }),
    utxoSetLoad: utxoSetLoad.nullable().meta({
      description:
        'While the UTXO set of a coming start is being loaded, how far that is; else, and on a replica, null',
    }),
    nodeConnected: z.boolean(),
    nodeSynced: z.boolean().nullable().meta({ description: 'What the node says of itself; null while it is away' }),
    version: z.string(),
  })
  .meta({ id: 'Status' });

export type StatusJson = z.infer<typeof status>;

interface IndexStatus {
  state: IndexState | undefined;
  replicaLag: number | null;
  firstBlock: string | undefined;
  starts: z.infer<typeof start>[];
  gaps: z.infer<typeof gap>[];
  utxoSetLoad: UtxoSetLoad | undefined;
  allIndexesBuilt: boolean;
}

async function getIndexStatus(db: Kysely<Database>, state: IndexState | undefined): Promise<IndexStatus> {
  const deferred = await db.selectFrom('deferred_indexes').select('name').limit(1).execute();
  return {
    state,
    replicaLag: await findReplicaLag(db),
    firstBlock: await findFirstBlockHash(db),
    starts: await listStarts(db),
    gaps: await listGaps(db),
    utxoSetLoad: await findUtxoSetLoad(db),
    allIndexesBuilt: deferred.length === 0,
  };
}

async function listStarts(db: Kysely<Database>): Promise<IndexStatus['starts']> {
  const rows = await db
    .selectFrom('starts')
    .innerJoin('blocks', 'blocks.id', 'starts.block_id')
    .select([
      hex('blocks.hash').as('hash'),
      text('blocks.blue_score').as('blueScore'),
      text('blocks.daa_score').as('daaScore'),
      'blocks.timestamp',
      'starts.utxo_count as utxoCount',
    ])
    .orderBy('starts.chain_index')
    .execute();
  return rows.map((row) => ({ ...row, timestamp: Number(row.timestamp), utxoCount: Number(row.utxoCount) }));
}

async function listGaps(db: Kysely<Database>): Promise<IndexStatus['gaps']> {
  const rows = await db
    .selectFrom('gaps')
    .leftJoin('blocks as after', 'after.hash', 'gaps.after_block_hash')
    .leftJoin('blocks as before', 'before.hash', 'gaps.before_block_hash')
    .select([
      hex('after_block_hash').as('afterBlock'),
      hex('before_block_hash').as('beforeBlock'),
      'reason',
      textOrNull('after.blue_score').as('afterBlueScore'),
      textOrNull('before.blue_score').as('beforeBlueScore'),
      'after.timestamp as afterTimestamp',
      'before.timestamp as beforeTimestamp',
      'recorded_at as recordedAt',
    ])
    .orderBy('gaps.id')
    .execute();
  return rows.map((row) => ({
    ...row,
    afterTimestamp: numberOrNull(row.afterTimestamp),
    beforeTimestamp: numberOrNull(row.beforeTimestamp),
    recordedAt: row.recordedAt.getTime(),
  }));
}

const numberOrNull = (value: bigint | null): number | null => (value === null ? null : Number(value));

function toStatus(index: IndexStatus, node: NodeState): StatusJson {
  const { state, replicaLag, firstBlock, starts, gaps, utxoSetLoad, allIndexesBuilt } = index;
  const lagSeconds = state === undefined ? null : lagOf(state, node);
  const caughtUp = state !== undefined && !state.firstCatchUp && allIndexesBuilt;
  return {
    network: state?.network.id ?? null,
    synced: caughtUp && lagSeconds !== null && lagSeconds < SYNCED_WITHIN_SECONDS,
    sink: state?.sinkHash ?? null,
    sinkBlueScore: state?.sinkBlueScore.toString() ?? null,
    nodeSinkBlueScore: node.sinkBlueScore?.toString() ?? null,
    lagSeconds,
    replicaLagSeconds: replicaLag === null ? null : Math.round(replicaLag),
    firstBlock: firstBlock ?? null,
    starts,
    gaps,
    utxoSetLoad:
      utxoSetLoad === undefined ? null : { pruningPoint: utxoSetLoad.blockHash, utxoCount: Number(utxoSetLoad.utxos) },
    nodeConnected: node.connected,
    nodeSynced: node.synced ?? null,
    version: packageJson.version,
  };
}

/** A quiet network makes no blocks: who has the node's sink is not behind, however old it is. */
function lagOf(state: IndexState, node: NodeState): number {
  if (node.sinkBlueScore !== undefined && state.sinkBlueScore >= node.sinkBlueScore) return 0;
  return Math.max(0, Math.round((Date.now() - Number(state.sinkTimestamp)) / 1000));
}

export const statusRoutes: ApiPlugin = async (app, { statusIndex, status: shared, nodeStatus }) => {
  app.get(
    '/v1/status',
    {
      schema: {
        operationId: 'getStatus',
        summary: 'How far the index is, and whether the node is there',
        tags: ['Status'],
        security: [],
        response: answers(status, 400, 500, 503),
      },
    },
    () => shared.get(async () => toStatus(await statusIndex.readIfAny(getIndexStatus), await nodeStatus.get())),
  );
};
