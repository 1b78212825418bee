/** GET /v1/status: the progress of the index and the state of the node. Needs no key. */
import {
  type Db,
  findLowestBlock,
  findReplicaLag,
  findUtxoSetLoad,
  hex,
  type IndexState,
  text,
  textOrNull,
} from '@kasgres/reads';
import { VERSION } from '@kasgres/runtime';
import { sql } from 'kysely';
import { findNodeState, type NodeState } from '../node/node-calls.ts';
import { route } from '../openapi/route.ts';
import type { Services } from '../services.ts';
import { type StatusJson, status } from './status-schema.ts';

const SYNCED_WITHIN_SECONDS = 10;
/** The status is read once per second (services.ts). */
const CACHE_CONTROL = 'public, max-age=1';

const number = (column: string) => sql<number>`${sql.ref(column)}::float8`;

async function readIndexStatus(db: Db, state: IndexState | undefined) {
  const load = await findUtxoSetLoad(db);
  const replicaLag = await findReplicaLag(db);
  const deferred = await db.selectFrom('deferred_indexes').select('name').limit(1).execute();
  return {
    state,
    isCaughtUp: state !== undefined && !state.firstCatchUp && deferred.length === 0,
    replicaLagSeconds: replicaLag === null ? null : Math.round(replicaLag),
    firstBlock: (await findLowestBlock(db))?.hash ?? null,
    starts: await listBootstraps(db),
    gaps: await listGaps(db),
    utxoSetLoad: load === undefined ? null : { pruningPoint: load.blockHash, utxoCount: Number(load.utxos) },
  };
}

function listBootstraps(db: Db) {
  return db
    .selectFrom('bootstrap_blocks')
    .innerJoin('blocks', 'blocks.id', 'bootstrap_blocks.block_id')
    .select([
      hex('blocks.hash').as('hash'),
      text('blocks.blue_score').as('blueScore'),
      text('blocks.daa_score').as('daaScore'),
      number('blocks.timestamp').as('timestamp'),
      number('bootstrap_blocks.utxo_count').as('utxoCount'),
    ])
    .orderBy('bootstrap_blocks.chain_index')
    .execute();
}

async function listGaps(db: Db) {
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
      number('after.timestamp').as('afterTimestamp'),
      number('before.timestamp').as('beforeTimestamp'),
      'recorded_at as recordedAt',
    ])
    .orderBy('gaps.id')
    .execute();
  return rows.map((row) => ({ ...row, recordedAt: row.recordedAt.getTime() }));
}

/**
 * The age of the sink is no lag if the node has no higher one, as in a network without new blocks.
 */
function lagOf(state: IndexState, node: NodeState): number {
  if (node.sinkBlueScore !== undefined && state.sinkBlueScore >= node.sinkBlueScore) return 0;
  return Math.max(0, Math.round((Date.now() - Number(state.sinkTimestamp)) / 1000));
}

export const getStatus = route(
  {
    method: 'GET',
    url: '/v1/status',
    operationId: 'getStatus',
    summary: 'Progress of the index, and state of the node',
    tag: 'Status',
    response: status,
  },
  async ({ services, reply }) => {
    const json = await services.status.get(() => readStatus(services));
    reply.header('cache-control', CACHE_CONTROL);
    return json;
  },
);

async function readStatus({ statusIndex, node: pool }: Services): Promise<StatusJson> {
  const { state, isCaughtUp, ...index } = await statusIndex.readIfAny(readIndexStatus);
  const node = await findNodeState(pool);
  const lagSeconds = state === undefined ? null : lagOf(state, node);
  return {
    network: state?.network.id ?? null,
    synced: isCaughtUp && lagSeconds !== null && lagSeconds < SYNCED_WITHIN_SECONDS,
    sink: state?.sinkHash ?? null,
    sinkBlueScore: state?.sinkBlueScore.toString() ?? null,
    nodeSinkBlueScore: node.sinkBlueScore?.toString() ?? null,
    lagSeconds,
    ...index,
    nodeConnected: node.connected,
    nodeSynced: node.synced ?? null,
    version: VERSION,
  };
}
