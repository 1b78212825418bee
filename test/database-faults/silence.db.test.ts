/** The way to the database is lost without a word: invariants 1 and 5. What is silent is not taken for dead while it works. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { HttpClient } from '../api/http-client.ts';
import { atRest } from '../simulation/stage.ts';
import { AT_COMMIT, holdEveryBatch, untilHeld, WITH_ROWS_WRITTEN } from './held-batches.ts';
import { answer, expectRecovery, follow, growChain, openStage, type Stage, untilItAnswers } from './stage.ts';

let stage: Stage;
let api: HttpClient;
let stopApi: () => Promise<void>;

beforeAll(async () => {
  stage = await openStage('silence');
  stage.world.mine(40);
  ({ api, stop: stopApi } = await answer(stage));
});
afterAll(async () => {
  await stopApi();
  await stage.close();
});

test('connections are lost in the middle of a batch: it is noticed, and their sessions are ended at the server', async () => {
  const indexer = follow(stage);
  await atRest(stage.database, stage.node, indexer);
  await holdEveryBatch(stage, WITH_ROWS_WRITTEN, 3);
  growChain(stage);
  await untilHeld(stage);
  stage.proxy.lose();
  await untilItAnswers(stage.database, 'drop function hold cascade');
  await expectRecovery(stage, indexer, api);
});

test('connections are lost at commit: it has come to pass, and the indexer goes on behind it', async () => {
  const indexer = follow(stage);
  await atRest(stage.database, stage.node, indexer);
  const before = await checkpoint(stage);
  await holdEveryBatch(stage, AT_COMMIT, 3);
  growChain(stage);
  await untilHeld(stage);
  stage.proxy.lose();
  await expect.poll(() => checkpoint(stage), { timeout: 10_000 }).not.toEqual(before);
  await untilItAnswers(stage.database, 'drop function hold cascade');
  await expectRecovery(stage, indexer, api);
});

async function checkpoint({ database }: Stage): Promise<bigint | undefined> {
  const { rows } = await database.pool.query<{ block_id: bigint }>('select block_id from checkpoint');
  return rows[0]?.block_id;
}
