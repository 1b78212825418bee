import { createTestDatabase, type TestDatabase } from '@kasgres/database/testing';
import type { PoolClient } from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { Forest, type Tie } from './forest.ts';
import { undoHeld, writeHeld } from './held-merges.ts';

const COUNT = 300;
const SCRIPTS = Array.from({ length: COUNT }, (_, index) => BigInt(index + 1));

let database: TestDatabase;
let client: PoolClient;
beforeAll(async () => {
  database = await createTestDatabase();
  client = await database.pool.connect();
});
beforeEach(async () => void (await client.query('truncate held_merges, held_merge_repeats')));
afterAll(async () => {
  client.release();
  await database.drop();
});

/** Ties clusters of which no two fit together. @returns the key of the next held merge */
async function step(ties: readonly Tie[], nextId: bigint): Promise<bigint> {
  const clusters = SCRIPTS.map((root) => ({
    root,
    size: 6n,
    balance: 0n,
    sizeLimit: null,
    next: root,
    previous: root,
  }));
  const forest = new Forest({ roots: new Map(), clusters, balances: new Map(), sizeLimit: 10n, nextMergeId: 1n });
  for (const tie of ties) forest.tie(tie);
  expect(forest.merges).toEqual([]);
  return await writeHeld(client, forest.held, nextId);
}

function tie(transaction: bigint, chainIndex: bigint, scripts: readonly bigint[] = SCRIPTS): Tie {
  return { chainIndex, transaction, scripts };
}

interface Summary {
  rows: number;
  counted: number;
  first: number;
}

async function summary(): Promise<Summary | undefined> {
  const { rows } = await client.query<Summary>(
    `select count(*)::integer as rows, coalesce(sum(transactions), 0)::integer as counted,
      min(transaction_id)::integer as first from held_merges`,
  );
  return rows[0];
}

async function table(): Promise<unknown[]> {
  const { rows } = await client.query<{ row: string }>(
    `select h::text as row from held_merges h union all select r::text from held_merge_repeats r order by 1`,
  );
  return rows.map(({ row }) => row);
}

test('it holds one merge fewer than a transaction ties clusters, and counts equal transactions', async () => {
  expect(await step([tie(1n, 5n)], 1n)).toBe(BigInt(COUNT));
  expect(await summary()).toEqual({ rows: COUNT - 1, counted: COUNT - 1, first: 1 });
  const next = await step([tie(2n, 6n), tie(3n, 6n), tie(4n, 7n)], BigInt(COUNT));
  expect(next).toBe(BigInt(COUNT));
  expect(await summary()).toEqual({ rows: COUNT - 1, counted: 4 * (COUNT - 1), first: 1 });
});

test('it holds the same merges in steps of any length, and undoes them exactly', async () => {
  const ties = [tie(1n, 5n, [1n, 2n, 3n]), tie(2n, 5n, [3n, 1n]), tie(3n, 6n, [2n, 3n]), tie(4n, 8n, [1n, 2n])];
  const states: unknown[][] = [];
  let next = 1n;
  for (const one of ties) {
    next = await step([one], next);
    states.push(await table());
  }
  const all = await table();
  expect(await undoHeld(client, 6n)).toEqual([]);
  expect(await table()).toEqual(states[2]);
  expect(await undoHeld(client, 5n)).toEqual([3n]);
  expect(await table()).toEqual(states[1]);
  expect(await undoHeld(client, 4n)).toHaveLength(2);
  expect(await table()).toEqual([]);
  expect(await step(ties, 1n)).toBe(next);
  expect(await table()).toEqual(all);
});

test('it holds a merge again if a transaction ties clusters after a rejection', async () => {
  await step([tie(1n, 5n, [1n, 2n])], 1n);
  await client.query(`update held_merges set state = 'rejected'`);
  expect(await step([tie(2n, 6n, [1n, 2n])], 2n)).toBe(3n);
  const { rows } = await client.query('select state, transactions from held_merges order by id');
  expect(rows).toEqual([
    { state: 'rejected', transactions: 1n },
    { state: 'held', transactions: 1n },
  ]);
});
