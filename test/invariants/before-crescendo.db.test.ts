/**
 * Blocks before Crescendo commit to their transactions without storage masses, which nodes add. An
 * archival node of testnet-10 with all blocks since genesis serves such blocks, and the checks must
 * accept them.
 */
import { getNetwork, transactionHash } from '@kasgres/kaspa';
import { checkBlocks, checkTransactions, storedVariants } from '@kasgres/verification';
import type { PoolClient } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openHarness, type Harness } from './harness.ts';

let harness: Harness;
let client: PoolClient;

beforeAll(async () => {
  harness = await openHarness('before Crescendo', 30);
  client = harness.client;
});
afterAll(() => harness?.close());

/** The coinbase of the last block has no mass, so its merkle root is one without masses. */
beforeEach(async () => {
  await client.query('begin');
  const { rows } = await client.query<{ id: bigint }>(
    'select transaction_id as id from block_transactions where block_id = (select max(id) from blocks) and index = 0',
  );
  const keys = rows.map(({ id }) => id);
  for await (const { transaction } of storedVariants(
    client,
    rows.map(({ id }) => ({ id, variant: 0 })),
  )) {
    const hash = transactionHash({ ...transaction, storageMass: 7n });
    await client.query('update transactions set storage_mass = 7, hash = $2 where id = any($1)', [keys, hash]);
  }
});
afterEach(() => client.query('rollback'));

async function checkLast(network: string, { daaScore }: { daaScore?: bigint } = {}): Promise<string[]> {
  await client.query('update meta set network = $1', [network]);
  const { rows } = await client.query<{ id: bigint }>('select max(id) as id from blocks');
  // This is above every chain block, so that no pre-bootstrap block counts as merged.
  const from = { chainIndex: 2n ** 62n, transactionId: 0n, blockId: rows[0]?.id ?? 0n };
  if (daaScore !== undefined) {
    await client.query('update blocks set daa_score = $2 where id = $1', [from.blockId, daaScore]);
  }
  return checkBlocks(client, from);
}

const ANOTHER_ROOT: unknown = expect.stringContaining('its rows give another merkle root');

describe('a block whose transaction has a storage mass that its merkle root leaves out', () => {
  test('has correct hashes before Crescendo', async () => {
    expect(await checkLast('testnet-10')).toEqual([]);
    expect(await checkTransactions(client)).toEqual([]);
  });

  test('has a wrong merkle root on a network that always had Crescendo', async () => {
    expect(await checkLast('simnet')).toEqual([ANOTHER_ROOT]);
  });

  test('has a wrong merkle root from the activation on', async () => {
    const activation = getNetwork('testnet-10').crescendo?.activationDaaScore ?? 0n;
    const wrong = await checkLast('testnet-10', { daaScore: activation });
    // With another score, the block also has another hash.
    expect(wrong).toContainEqual(ANOTHER_ROOT);
    expect(await checkLast('testnet-10', { daaScore: activation - 1n })).not.toContainEqual(ANOTHER_ROOT);
  });

  test('has a wrong merkle root before Crescendo, too, with another transaction', async () => {
    await client.query(
      `update transactions set payload = payload || '\\x00' where id = (
         select transaction_id from block_transactions
           where block_id = (select max(id) from blocks) and index = 0)`,
    );
    expect(await checkLast('testnet-10')).toEqual([ANOTHER_ROOT]);
  });
});
