/**
 * The check of mergesets and colours by GHOSTDAG finds every manual change, on the chain and off
 * it, also if all dependent rows are changed consistently. A small k makes red blocks.
 */
import type { PoolClient } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { checkGhostdag } from '@kasgres/verification';
import { PARAMS } from '../support/simulated-dag.ts';
import { openHarness, type Harness } from './harness.ts';

const ROUNDS = 250;

let harness: Harness;
let client: PoolClient;

beforeAll(async () => {
  harness = await openHarness('ghostdag', ROUNDS, { params: { ...PARAMS, ghostdagK: 3 } });
  client = harness.client;
});
afterAll(() => harness?.close());

beforeEach(() => client.query('begin'));
afterEach(() => client.query('rollback'));

const CHAIN = 'select max(id) from blocks where is_chain_block';
const BESIDE = 'select max(id) from blocks where not is_chain_block';
const OTHER_PARENT = `(select parent_id from block_parents
  where block_id = blocks.id and parent_id <> selected_parent_id order by index limit 1)`;

describe('invariant 7, of mergesets and colours', () => {
  test('holds', async () => {
    expect(await checkGhostdag(client)).toEqual([]);
  });

  test.each([
    [
      'the selected parent of a chain block',
      `update blocks set selected_parent_id = ${OTHER_PARENT}
        where id = (${CHAIN} and cardinality(merge_set_blues) > 1)`,
    ],
    [
      'the selected parent of a block off the chain',
      `update blocks set selected_parent_id = ${OTHER_PARENT}
      where id = (${BESIDE} and cardinality(merge_set_blues) > 1)`,
    ],
    [
      'the selected parent with the first blue',
      `update blocks set selected_parent_id = ${OTHER_PARENT},
      merge_set_blues = array[${OTHER_PARENT},
        selected_parent_id] || array_remove(merge_set_blues[2:], ${OTHER_PARENT})
          where id = (${BESIDE} and cardinality(merge_set_blues) > 1)`,
    ],
    [
      'a selected parent that is no parent',
      `update blocks set selected_parent_id = (select min(id) + 1 from blocks) where id = (${BESIDE})`,
    ],
    [
      'a blue that is left out',
      `update blocks set merge_set_blues = trim_array(merge_set_blues, 1)
        where id = (${BESIDE} and cardinality(merge_set_blues) > 1)`,
    ],
    [
      'a red that is left out',
      `update blocks set merge_set_reds = trim_array(merge_set_reds, 1)
        where id = (${CHAIN} and merge_set_reds <> '{}')`,
    ],
    [
      'a red that was merged before',
      `update blocks set merge_set_reds = merge_set_reds || (select min(id) + 3 from blocks) where id = (${CHAIN})`,
    ],
    [
      'a red of the future',
      `update blocks set merge_set_reds = merge_set_reds || (select max(id) from blocks)
        where id = (select min(id) + 50 from blocks)`,
    ],
    [
      'a block that is blue and red',
      `update blocks set merge_set_reds = merge_set_reds || merge_set_blues[2]
        where id = (${BESIDE} and cardinality(merge_set_blues) > 1)`,
    ],
    [
      'blues out of order',
      `update blocks set merge_set_blues = merge_set_blues[1:1] || merge_set_blues[3] || merge_set_blues[2] || merge_set_blues[4:]
      where id = (select max(id) from blocks where cardinality(merge_set_blues) > 2)`,
    ],
    [
      'reds out of order',
      `update blocks set merge_set_reds = array[merge_set_reds[2], merge_set_reds[1]] || merge_set_reds[3:]
      where id = (select max(id) from blocks where cardinality(merge_set_reds) > 1)`,
    ],
    [
      'a red that is blue',
      `update blocks set merge_set_blues = merge_set_blues || merge_set_reds[1], merge_set_reds = merge_set_reds[2:]
      where id = (${CHAIN} and merge_set_reds <> '{}')`,
    ],
    [
      'a red and a blue in place of each other',
      `with swapped as (
        select id, blue, red from blocks, unnest(merge_set_blues[2:]) blue,
          unnest(merge_set_reds) red where is_chain_block order by id desc limit 1),
      changed as (
        select swapped.id,
          array(select b.id from unnest(array_replace(merge_set_blues, blue, red)) m (id)
            join blocks b on b.id = m.id
                order by b.id <> blocks.selected_parent_id, b.blue_work, b.hash) as blues,
          array(select b.id from unnest(array_replace(merge_set_reds, red, blue)) m (id)
            join blocks b on b.id = m.id order by b.blue_work, b.hash) as reds
        from swapped join blocks using (id))
      update blocks set merge_set_blues = blues, merge_set_reds = reds from changed
        where changed.id = blocks.id`,
    ],
    ['blue score', `update blocks set blue_score = blue_score + 1 where id = (${BESIDE})`],
    ['blue work', `update blocks set blue_work = blue_work + 1 where id = (${BESIDE})`],
  ])('is violated by a change of %s', async (_, statement) => {
    expect((await client.query(statement)).rowCount).toBe(1);
    expect(await checkGhostdag(client)).not.toEqual([]);
  });
});

test('GHOSTDAG uses the k of each side of the Crescendo activation', async () => {
  const before = { daaScore: 150, k: 2 };
  const changed = await openHarness('ghostdag across Crescendo', ROUNDS, {
    params: { ...PARAMS, ghostdagK: 30, ghostdagKBefore: before },
  });
  try {
    expect(await checkGhostdag(changed.client, undefined, BigInt(before.daaScore))).toEqual([]);
    expect(await checkGhostdag(changed.client)).not.toEqual([]);
    expect(await checkGhostdag(changed.client, undefined, BigInt(before.daaScore) + 100n)).not.toEqual([]);
  } finally {
    await changed.close();
  }
});
