import { createTestDatabase, type TestDatabase } from '@kasgres/database/testing';
import type { PoolClient } from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Checkpoint } from '../prepare/batch.ts';
import { firstKeyOf, Generations } from './generations.ts';

/** The first chain block of the second generation. */
const SECOND = 20;
const LENGTH = 10;

let database: TestDatabase;
let client: PoolClient;
beforeEach(async () => {
  database = await createTestDatabase();
  client = await database.pool.connect();
  await client.query('select end_generation(0, $1)', [SECOND]);
});
afterEach(async () => {
  client.release();
  await database.drop();
});

const load = (): Promise<Generations> => Generations.load(client, () => Promise.resolve(BigInt(LENGTH)));

async function listGenerations(): Promise<number[][]> {
  const { rows } = await client.query<{ row: number[] }>(
    'select array[generation, first_index, end_index]::float8[] as row from generations order by generation',
  );
  return rows.map(({ row }) => row);
}

test('a generation is made for the chain block after the last one, and not before', async () => {
  const generations = await load();
  await generations.makeFor(SECOND - 1);
  expect(await listGenerations()).toEqual([[0, 0, SECOND]]);
  await generations.makeFor(SECOND);
  expect(await listGenerations()).toEqual([
    [0, 0, SECOND],
    [1, SECOND, SECOND + LENGTH],
  ]);
  await generations.makeFor(SECOND + 2 * LENGTH);
  expect((await listGenerations()).at(-1)).toEqual([3, SECOND + 2 * LENGTH, SECOND + 3 * LENGTH]);
});

test('a generation is made ahead when a tenth of the last one is left', async () => {
  const generations = await load();
  await generations.makeAhead(SECOND - 3);
  expect(await listGenerations()).toHaveLength(1);
  await generations.makeAhead(SECOND - 2);
  expect(await listGenerations()).toHaveLength(2);
});

test('a batch takes the keys of a generation from its first chain block on', async () => {
  const generations = await load();
  await generations.makeFor(SECOND + LENGTH);
  const at = (chainIndex: number, nextBlockId = 7, nextTransactionId = 9) =>
    generations.begin({ chainIndex, nextBlockId, nextTransactionId } as Checkpoint);
  const [first, second] = [firstKeyOf(1), firstKeyOf(2)];
  // The batch begins at the chain block after the checkpoint.
  expect(at(SECOND - 2)).toBeUndefined();
  expect(at(SECOND - 1)).toMatchObject({ nextBlockId: first, nextTransactionId: first });
  expect(at(SECOND + LENGTH - 2)).toMatchObject({ nextBlockId: first, nextTransactionId: first });
  expect(at(SECOND + LENGTH - 1)).toMatchObject({ nextBlockId: second, nextTransactionId: second });
  expect(at(SECOND - 1, first, first)).toBeUndefined();
  expect(at(SECOND - 1, first + 5, 9)).toMatchObject({ nextBlockId: first + 5, nextTransactionId: first });
});
