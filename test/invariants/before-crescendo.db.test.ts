/**
 * Blocks from before Crescendo commit to their transactions without storage masses, which nodes have all the same. An archival node of testnet-10
 * that has everything since genesis hands such blocks out, and the checks must know them.
 */
import { checkBlocks, checkTransactions, storedTransactionsOf } from '@kasgres/cli';
import { getNetwork, transactionHash } from '@kasgres/kaspa';
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

/** Of the last block, whose coinbase has no mass as it was mined: its merkle root is one without masses. */
beforeEach(async () => {
  await client.query('begin');
  const { rows } = await client.query<{ id: bigint }>(
    'select transaction_id as id from block_transactions where block_id = (select max(id) from blocks) and index = 0',
  );
  const keys = rows.map(({ id }) => id);
  for await (const { transaction } of storedTransactionsOf(client, keys)) {
    const hash = transactionHash({ ...transaction, storageMass: 7n });
    await client.query('update transactions set storage_mass = 7, hash = $2 where id = any($1)', [keys, hash]);
  }
});
afterEach(() => client.query('rollback'));

async function checkLast(network: string, { daaScore }: { daaScore?: bigint } = {}): Promise<string[]> {
  await client.query('update meta set network = $1', [network]);
  const { rows } = await client.query<{ id: bigint }>('select max(id) as id from blocks');
  // Above every chain block, so that no earlier block counts as merged since.
  const from = { chainIndex: 2n ** 62n, transactionId: 0n, blockId: rows[0]?.id ?? 0n };
  if (daaScore !== undefined) {
    await client.query('update blocks set daa_score = $2 where id = $1', [from.blockId, daaScore]);
  }
  return checkBlocks(client, from);
}

const ANOTHER_ROOT: unknown = expect.stringContaining('another merkle root comes from its rows');

describe('a block whose transaction has a storage mass that its merkle root leaves out', () => {
  test('is right before Crescendo', async () => {
    expect(await checkLast('testnet-10')).toEqual([]);
    expect(await checkTransactions(client)).toEqual([]);
  });

  test('is wrong on a network that never was without it', async () => {
    expect(await checkLast('simnet')).toEqual([ANOTHER_ROOT]);
  });

  test('is wrong from the activation on', async () => {
    const activation = getNetwork('testnet-10').crescendo?.activationDaaScore ?? 0n;
    const wrong = await checkLast('testnet-10', { daaScore: activation });
    // The other score gives another hash of the block as well.
    expect(wrong).toContainEqual(ANOTHER_ROOT);
    expect(await checkLast('testnet-10', { daaScore: activation - 1n })).not.toContainEqual(ANOTHER_ROOT);
  });

  test('is wrong before Crescendo too when the transaction is another one', async () => {
    await client.query(
      `update transactions set payload = payload || '\\x00' where id = (
         select transaction_id from block_transactions where block_id = (select max(id) from blocks) and index = 0)`,
    );
    expect(await checkLast('testnet-10')).toEqual([ANOTHER_ROOT]);
  });
});
