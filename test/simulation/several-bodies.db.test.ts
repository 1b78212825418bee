/**
 * Of an id that came with several bodies only the node knows the accepted one, and a non-standard script that the sink accepts keeps it
 * from telling about the chain block below (packages/indexer/src/source/find-sources.ts). Who asked before knows; who comes then learns it
 * with the next block.
 */
import type { Connection } from '@kasgres/database';
import { type NodeClient, NodeRpcError } from '@kasgres/node';
import { expect, test } from 'vitest';
import { atRest, expectRight, indexAfresh, setStage } from './stage.ts';
import { startIndexing } from './world.ts';

test('a body that the node cannot tell of at once is known with the next block', async () => {
  const stage = await setStage('several bodies', undefined, undefined, {
    reorgRate: 0,
    duplicateRate: 0.8,
    twoBodiesRate: 1,
    nonStandardRate: 0.15,
  });
  const { world, database, node } = stage;
  const indexer = startIndexing(world, database.url);
  let known: KnownBody | undefined;
  while (known === undefined) {
    world.mine(1);
    await atRest(database, node, indexer);
    known = await findUntellable(database, node);
  }
  const late = await indexAfresh(stage);
  expect(await findAcceptedBody(late, known)).toBeNull();
  await expectRight(stage);

  const lateIndexer = startIndexing(world, late.url);
  const sink = () => world.node.consensus.sink.header.blueScore;
  const before = sink();
  while (sink() === before) world.mine(1);
  await atRest(database, node, indexer);
  await atRest(late, node, lateIndexer);
  expect(await findAcceptedBody(late, known)).toEqual(known.hash);
  await expectRight(stage);
  await indexer.stop();
  await lateIndexer.stop();
});

interface KnownBody {
  transaction_id: Buffer;
  /** Of the body: its number may be another in each index. */
  hash: Buffer;
  /** Hex. */
  parent: string;
}

/** Of a transaction `t`; null while nobody knows. */
const ACCEPTED_HASH = `
  case when t.accepted_body = 0 then t.hash
       else (select b.hash from transaction_bodies b where b.transaction_id = t.id and b.body = t.accepted_body) end`;

type Queryable = Pick<Connection, 'pool'>;

/** A body that this index knows, while the node would not tell any more. */
async function findUntellable({ pool }: Queryable, node: NodeClient): Promise<KnownBody | undefined> {
  const { rows } = await pool.query<KnownBody>(
    `select t.transaction_id, ${ACCEPTED_HASH} as hash, encode(parent.hash, 'hex') as parent
       from checkpoint
       join blocks sink on sink.id = checkpoint.block_id
       join blocks below on below.id = sink.selected_parent_id and below.blue_score = sink.blue_score - 1
       join blocks parent on parent.id = below.selected_parent_id
       join transactions t on t.accepting_block_id = below.id
      where t.accepted_body is not null
        and (select count(distinct bt.body) from block_transactions bt join blocks merged on merged.id = bt.block_id
              where bt.transaction_id = t.id and merged.merging_block_id = below.id) > 1`,
  );
  const [row] = rows;
  if (row === undefined) return undefined;
  try {
    await node.call('getVirtualChainFromBlockV2', { startHash: row.parent });
    return undefined;
  } catch (error) {
    if (error instanceof NodeRpcError) return row;
    throw error;
  }
}

async function findAcceptedBody({ pool }: Queryable, { transaction_id: id }: KnownBody): Promise<Buffer | null> {
  const { rows } = await pool.query<{ hash: Buffer | null }>(
    `select ${ACCEPTED_HASH} as hash from transactions t where t.transaction_id = $1`,
    [id],
  );
  if (rows[0] === undefined) throw new Error('the transaction is missing');
  return rows[0].hash;
}
