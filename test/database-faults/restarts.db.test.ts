/** Postgres ends, in whatever way, under the indexer and the API, and is started again: invariants 1 and 5. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { HttpClient } from '../api/http-client.ts';
import { atRest } from '../simulation/stage.ts';
import { AT_COMMIT, holdEveryBatch, letBatchesGo, untilHeld, WITH_ROWS_WRITTEN } from './held-batches.ts';
import type { OwnPostgres } from './own-postgres.ts';
import { answer, expectRecovery, follow, growChain, mineWhile, openStage, type Stage } from './stage.ts';

let stage: Stage;
let api: HttpClient;
let stopApi: () => Promise<void>;

beforeAll(async () => {
  stage = await openStage('restarts');
  stage.world.mine(40);
  ({ api, stop: stopApi } = await answer(stage));
});
afterAll(async () => {
  await stopApi();
  await stage.close();
});

const ENDS: [string, (postgres: OwnPostgres) => Promise<void>][] = [
  ['stopped fast', (postgres) => postgres.stop('fast')],
  ['stopped immediately', (postgres) => postgres.stop('immediate')],
  ['killed', (postgres) => postgres.kill()],
];

describe.each(ENDS)('Postgres is %s', (_, end) => {
  test('while the chain grows, and started again', async () => {
    const indexer = follow(stage);
    await atRest(stage.database, stage.node, indexer);
    const answered = async (): Promise<number> => (await api.request('/v1/rpc/getSink')).status;
    await mineWhile(
      stage,
      (async () => {
        await end(stage.postgres);
        await expect.poll(answered, { timeout: 10_000 }).toBe(503);
        await stage.postgres.startAgain();
      })(),
    );
    await expectRecovery(stage, indexer, api);
  });

  test.each([
    ['in the middle of a batch, with rows written', WITH_ROWS_WRITTEN],
    ['at commit', AT_COMMIT],
  ])('%s, and started again', async (_where, trigger) => {
    const indexer = follow(stage);
    await atRest(stage.database, stage.node, indexer);
    await holdEveryBatch(stage, trigger);
    growChain(stage);
    await untilHeld(stage);
    await end(stage.postgres);
    await stage.postgres.startAgain();
    await letBatchesGo(stage);
    await expectRecovery(stage, indexer, api);
  });
});
