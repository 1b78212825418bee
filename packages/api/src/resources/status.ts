/** GET /v1/status: the progress of the index and the state of the node. Needs no key. */
import { z } from 'zod';
import packageJson from '../../package.json' with { type: 'json' };
import { type Db, hex, text, textOrNull } from '../index-state/sql.ts';
import { findReplicaLag, findUtxoSetLoad, type IndexState, type UtxoSetLoad } from '../index-state/state.ts';
import { findNodeState, type NodeState } from '../node-calls.ts';
import { route } from '../route.ts';
import { count, decimal, hash, timestamp } from '../schemas/values.ts';
import { findFirstBlockHash } from './chain/segments.ts';

const SYNCED_WITHIN_SECONDS = 10;

const start = z.object({
  hash,
  blueScore: decimal,
  daaScore: decimal,
  timestamp,
  utxoCount: count.meta({ description: 'Size of its UTXO set; 0 at genesis' }),
});

const gap = z.object({
  afterBlock: hash.meta({ description: 'Last chain block before the gap' }),
  beforeBlock: hash.meta({ description: 'First chain block after the gap, which is in `starts`' }),
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
    starts: z.array(start).meta({
      description:
        'The bootstrap blocks of the index, each with its UTXO set, in the order of the chain. Of blocks before the first one, only their UTXOs are indexed; UTXOs and balances count from the last one',
    }),
    gaps: z.array(gap).meta({ description: 'Stretches of the chain that are not indexed' }),
    utxoSetLoad: utxoSetLoad.nullable().meta({
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

interface IndexStatus {
  state: IndexState | undefined;
  replicaLag: number | null;
  firstBlock: string | undefined;
  starts: z.infer<typeof start>[];
  gaps: z.infer<typeof gap>[];
  utxoSetLoad: UtxoSetLoad | undefined;
  allIndexesBuilt: boolean;
}

async function getIndexStatus(db: Db, state: IndexState | undefined): Promise<IndexStatus> {
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

async function listStarts(db: Db): Promise<IndexStatus['starts']> {
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

async function listGaps(db: Db): Promise<IndexStatus['gaps']> {
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
  ({ services: { status, statusIndex, node } }) =>
    status.get(async () => toStatus(await statusIndex.readIfAny(getIndexStatus), await findNodeState(node))),
);
