/** GET /v1/status: the progress of the index and the state of the node. Needs no key. */
import { VERSION } from '@kasgres/runtime';
import { sql } from 'kysely';
import { z } from 'zod';
import { type Db, hex, text, textOrNull } from '../index-state/sql.ts';
import type { IndexState } from '../index-state/index-state.ts';
import { findReplicaLag, findUtxoSetLoad } from '../index-state/state.ts';
import { findNodeState, type NodeState } from '../node-calls.ts';
import { route } from '../route.ts';
import { count, decimal, hash, timestamp } from '../schemas/values.ts';
import type { Services } from '../services.ts';
import { findLowestBlock } from './chain/segments.ts';

const SYNCED_WITHIN_SECONDS = 10;
/** The status is read once per second (services.ts). */
const CACHE_CONTROL = 'public, max-age=1';

const status = z
  .object({
    network: z.string().nullable().meta({ description: 'Null until the indexer has run once' }),
    synced: z.boolean().meta({
      description:
        'Whether the first catch-up has finished, every database index is built, and the sink is that of the node or less than 10 seconds old',
    }),
    sink: hash.nullable(),
    sinkBlueScore: decimal.nullable(),
    nodeSinkBlueScore: decimal.nullable().meta({ description: 'Null while the node is unavailable' }),
    lagSeconds: count.nullable().meta({ description: 'Age of the sink; 0 if its blue score is that of the node' }),
    replicaLagSeconds: count.nullable().meta({
      description: 'Lag of the replica that responses are read from; null if they are read from the primary',
    }),
    firstBlock: hash.nullable().meta({ description: 'First indexed chain block' }),
    starts: z
      .array(
        z.object({
          hash,
          blueScore: decimal,
          daaScore: decimal,
          timestamp,
          utxoCount: count.meta({ description: 'Size of its UTXO set; 0 at genesis' }),
        }),
      )
      .meta({
        description:
          'The bootstrap blocks of the index, each with its UTXO set, in the order of the chain. Of blocks before the first one, only their UTXOs are indexed; UTXOs and balances count from the last one',
      }),
    gaps: z
      .array(
        z.object({
          afterBlock: hash.meta({ description: 'Last chain block before the gap' }),
          beforeBlock: hash.meta({ description: 'First chain block after the gap, which is in `starts`' }),
          reason: z.string(),
          afterBlueScore: decimal.nullable(),
          beforeBlueScore: decimal.nullable(),
          afterTimestamp: timestamp.nullable(),
          beforeTimestamp: timestamp.nullable(),
          recordedAt: timestamp,
        }),
      )
      .meta({ description: 'Stretches of the chain that are not indexed' }),
    utxoSetLoad: z
      .object({ pruningPoint: hash, utxoCount: count.meta({ description: 'UTXOs loaded so far' }) })
      .nullable()
      .meta({
        description:
          'Progress of loading the UTXO set of the next bootstrap block; null if none is being loaded, and on a replica',
      }),
    nodeConnected: z.boolean(),
    nodeSynced: z
      .boolean()
      .nullable()
      .meta({ description: 'Whether the node reports that it is synced; null while it is unavailable' }),
    version: z.string(),
  })
  .meta({ id: 'Status' });

export type StatusJson = z.infer<typeof status>;

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
    starts: await listStarts(db),
    gaps: await listGaps(db),
    utxoSetLoad: load === undefined ? null : { pruningPoint: load.blockHash, utxoCount: Number(load.utxos) },
  };
}

function listStarts(db: Db) {
  return db
    .selectFrom('starts')
    .innerJoin('blocks', 'blocks.id', 'starts.block_id')
    .select([
      hex('blocks.hash').as('hash'),
      text('blocks.blue_score').as('blueScore'),
      text('blocks.daa_score').as('daaScore'),
      number('blocks.timestamp').as('timestamp'),
      number('starts.utxo_count').as('utxoCount'),
    ])
    .orderBy('starts.chain_index')
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

/** The age of the sink is no lag if the node has no higher one, as in a network without new blocks. */
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
