/**
 * The chain that the requests of the cookbook are timed on (bench/requests.ts) is one that the indexer could have met: what it makes of it
 * holds every invariant of `kasgres verify`, so that the times are those of right data. A generator that spends a UTXO twice, or hands on
 * a block that does not hash to its name, fails here.
 */
import { checkInvariant12, checkInvariant4, checkInvariant7, checkInvariant8 } from '@kasgres/cli';
import { createTestDatabase, type TestDatabase } from '@kasgres/database';
import { toHex } from '@kasgres/kaspa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RequestChain } from '../../bench/request-chain/chain.ts';
import { clusterChain } from '../../bench/request-chain/cluster-chain.ts';
import { indexChain } from '../../bench/request-chain/index-chain.ts';
import { findFault } from '../../packages/indexer/src/source/check-block.ts';

const OPTIONS = { seed: 'test', transactions: 5_000 };

describe('the chain for requests', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
    await indexChain(database, new RequestChain(OPTIONS), () => undefined);
    expect((await clusterChain(database.url)).merges).toBeGreaterThan(0);
  });
  afterAll(async () => await database.drop());

  test('holds the invariants of balances, completeness, hashes and clusters', async () => {
    expect(await checkInvariant4(database.pool)).toEqual([]);
    expect(await checkInvariant7(database.pool)).toEqual([]);
    expect(await checkInvariant8(database.pool)).toEqual([]);
    expect(await checkInvariant12(database.pool)).toEqual([]);
  });

  test('has of everything that requests are asked about', async () => {
    const { rows } = await database.pool.query<Record<string, boolean>>(
      `select (select count(*) >= $1 from transactions where accepting_block_id is not null) as enough,
              exists (select from transactions where accepting_block_id is null and subnetwork_id <> 1) as refused,
              exists (select from blocks where not is_blue) as red,
              exists (select from block_transactions group by transaction_id having count(*) > 1) as in_several_blocks,
              exists (select from transaction_inputs where index >= 9) as sweeps,
              exists (select from scripts where type = 'scripthash') as script_hashes`,
      [OPTIONS.transactions],
    );
    expect(rows[0]).toEqual({
      enough: true,
      refused: true,
      red: true,
      in_several_blocks: true,
      sweeps: true,
      script_hashes: true,
    });
  });
});

test('blocks are whole, and the same in every run', () => {
  expect(hashesOfWholeBlocks()).not.toContain('not whole');
  expect(hashesOfWholeBlocks()).toEqual(hashesOfWholeBlocks());
});

function hashesOfWholeBlocks(): string[] {
  const blocks = new RequestChain(OPTIONS).chainBlocks().take(200);
  return blocks.map(({ block }) => (findFault(block) === undefined ? toHex(block.hash) : 'not whole')).toArray();
}
