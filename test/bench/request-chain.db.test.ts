/**
 * The chain that the queries of the cookbook are timed on (bench/requests.ts) is a possible one:
 * its index satisfies the invariants of `kasgres verify`. A generator that spends a UTXO twice, or
 * makes a block that does not hash to its name, fails here.
 */
import { createTestDatabase, type TestDatabase } from '@kasgres/database/testing';
import { findFault } from '@kasgres/indexer/testing';
import { toHex } from '@kasgres/kaspa';
import { checkInvariant12, checkInvariant4, checkInvariant7, checkInvariant8 } from '@kasgres/verification';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RequestChain } from '../../bench/request-chain/chain.ts';
import { indexChain } from '../../bench/request-chain/index-chain.ts';
import { cluster } from '../support/cluster.ts';

const OPTIONS = { seed: 'test', transactions: 5_000 };

describe('the chain for the cookbook', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
    const chain = new RequestChain(OPTIONS);
    await indexChain(database, chain, () => undefined);
    const { merges } = await cluster(database, { depth: chain.network.settledDepth }, 2_000);
    expect(merges).toBeGreaterThan(0);
  });
  afterAll(async () => await database.drop());

  test('it satisfies the invariants of balances, completeness, hashes and clusters', async () => {
    expect(await checkInvariant4(database.pool)).toEqual([]);
    expect(await checkInvariant7(database.pool)).toEqual([]);
    expect(await checkInvariant8(database.pool)).toEqual([]);
    expect(await checkInvariant12(database.pool)).toEqual([]);
  });

  test('it has everything that the queries of the cookbook ask for', async () => {
    const { rows } = await database.pool.query<Record<string, boolean>>(
      `select (select count(*) >= $1 from transactions where accepting_index is not null) as enough,
              exists (select from transactions
                where accepting_index is null and subnetwork_id <> 1) as refused,
              exists (select from blocks where not is_blue) as red,
              exists (select from block_transactions group by transaction_id
                having count(*) > 1) as in_several_blocks,
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

test('it makes complete blocks, the same in every run', () => {
  expect(hashesOfCompleteBlocks()).not.toContain('incomplete');
  expect(hashesOfCompleteBlocks()).toEqual(hashesOfCompleteBlocks());
});

function hashesOfCompleteBlocks(): string[] {
  const blocks = new RequestChain(OPTIONS).chainBlocks().take(200);
  return blocks.map(({ block }) => (findFault(block) === undefined ? toHex(block.hash) : 'incomplete')).toArray();
}
