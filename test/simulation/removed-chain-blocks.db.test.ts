/**
 * The transactions that a chain block had accepted are known after a reorganisation has removed it,
 * down to finality.
 */
import { createTestDatabase } from '@kasgres/database/testing';
import { keepRemoved } from '@kasgres/indexer/testing';
import { NodeClient } from '@kasgres/node';
import { expect, test } from 'vitest';
import { atRest, onTestEnd, SEED } from '../support/harness.ts';
import { PARAMS, SimulatedDag, startIndexing } from '../support/simulated-dag.ts';

const CHAIN = 'select block_id, accepted_transactions from chain_blocks order by index';
const REMOVED = 'select block_id, accepted_transactions from removed_chain_blocks order by block_id';

const FINALITY_DEPTH = 40;

interface Row {
  block_id: bigint;
  accepted_transactions: bigint[];
}

test('it keeps what removed chain blocks accepted for twice the finality depth', async () => {
  const simulatedDag = await SimulatedDag.start(`${SEED} removed`, undefined, {
    params: { ...PARAMS, finalityDepth: FINALITY_DEPTH },
  });
  onTestEnd(async () => simulatedDag.stop());
  const node = new NodeClient({ url: simulatedDag.server.url });
  onTestEnd(() => node.close());
  const database = await createTestDatabase();
  onTestEnd(() => database.drop());
  const indexer = startIndexing(simulatedDag, database.url, { FINALITY_DEPTH: String(FINALITY_DEPTH) });
  // At the full depth, the heavier branch may be longer than finality is deep, with first blocks
  // that are final at once.
  const reorganise = (): void => simulatedDag.reorganise(simulatedDag.node.consensus.changeableDepth >> 1);
  const read = async (query: string): Promise<Row[]> => (await database.pool.query<Row>(query)).rows;

  const seen = new Map<bigint, bigint[]>();
  simulatedDag.mine(60);
  for (let round = 0; round < 4; round += 1) {
    await atRest(database, node, indexer);
    for (const { block_id, accepted_transactions } of await read(CHAIN)) {
      // A block accepts the same whenever it is on the chain.
      expect(accepted_transactions).toEqual(seen.get(block_id) ?? accepted_transactions);
      seen.set(block_id, accepted_transactions);
    }
    reorganise();
  }
  await atRest(database, node, indexer);
  const chain = new Set((await read(CHAIN)).map(({ block_id }) => block_id));
  const left = [...seen].filter(([block]) => !chain.has(block));
  expect(left.length).toBeGreaterThan(4);
  const kept = new Map((await read(REMOVED)).map((row) => [row.block_id, row.accepted_transactions]));
  expect(left.map(([block]) => [block, kept.get(block)])).toEqual(left);

  simulatedDag.mine(2 * FINALITY_DEPTH);
  await atRest(database, node, indexer);
  reorganise();
  await atRest(database, node, indexer);
  // The API relies on twice the finality depth of the network, also where FINALITY_DEPTH is less.
  const later = await read(REMOVED);
  expect(later.filter(({ block_id }) => kept.has(block_id))).toHaveLength(kept.size);
  expect(later.length).toBeGreaterThan(kept.size);
  await indexer.stop();

  const { rows } = await database.pool.query<{ index: bigint; block_id: bigint }>(
    'select index, block_id from chain_blocks where block_id > $1 order by block_id limit 1',
    [Math.max(...[...kept.keys()].map(Number))],
  );
  const [oldest] = rows;
  const client = await database.pool.connect();
  await keepRemoved(client, { oldestRemoved: Number(oldest?.index) }, []);
  client.release();
  const young = later.filter(({ block_id }) => oldest !== undefined && block_id > oldest.block_id);
  expect(young.length).toBeGreaterThan(0);
  expect(await read(REMOVED)).toEqual(young);
});
