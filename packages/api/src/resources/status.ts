/** /v1/status: how far the index is, and whether the node is there. Needs no key. */
import type { Database } from '@kasgres/database';
import type { Kysely } from 'kysely';
import { z } from 'zod';
import packageJson from '../../package.json' with { type: 'json' };
import { findReplicaLag } from '../index-state/replica-lag.ts';
import { hex } from '../index-state/sql.ts';
import type { IndexState } from '../index-state/state.ts';
import type { NodeState } from '../node-status.ts';
import { answers } from '../schemas/responses.ts';
import { count, decimal, hash } from '../schemas/values.ts';
import type { ApiPlugin } from '../services.ts';
import { findFirstBlockHash } from './chain/path-to-chain.ts';

/** An index this close behind counts as synced. */
const SYNCED_WITHIN_SECONDS = 10;

const gap = z.object({ afterBlock: hash, beforeBlock: hash, reason: z.string() });

const status = z
  .object({
    network: z.string().nullable().meta({ description: 'Null until the indexer has started once' }),
    synced: z.boolean().meta({
      description: 'First catch-up over, every index built, at the sink of the node or less than 10 seconds behind',
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
    gaps: z.array(gap).meta({ description: 'Stretches of the chain that are missing' }),
    nodeConnected: z.boolean(),
    nodeSynced: z.boolean().nullable().meta({ description: 'What the node says of itself; null while it is away' }),
    version: z.string(),
  })
  .meta({ id: 'Status' });

type StatusJson = z.infer<typeof status>;

interface IndexStatus {
  state: IndexState | undefined;
  replicaLag: number | null;
  firstBlock: string | undefined;
  gaps: z.infer<typeof gap>[];
  allIndexesBuilt: boolean;
}

async function getIndexStatus(db: Kysely<Database>, state: IndexState | undefined): Promise<IndexStatus> {
  const deferred = await db.selectFrom('deferred_indexes').select('name').limit(1).execute();
  return {
    state,
    replicaLag: await findReplicaLag(db),
    firstBlock: await findFirstBlockHash(db),
    gaps: await listGaps(db),
    allIndexesBuilt: deferred.length === 0,
  };
}

function listGaps(db: Kysely<Database>): Promise<IndexStatus['gaps']> {
  return db
    .selectFrom('gaps')
    .select([hex('after_block_hash').as('afterBlock'), hex('before_block_hash').as('beforeBlock'), 'reason'])
    .orderBy('id')
    .execute();
}

function toStatus({ state, replicaLag, firstBlock, gaps, allIndexesBuilt }: IndexStatus, node: NodeState): StatusJson {
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
    gaps,
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

export const statusRoutes: ApiPlugin = async (app, { index, nodeStatus }) => {
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
    async () => toStatus(await index.readIfAny(getIndexStatus), await nodeStatus.get()),
  );
};
