/** `kasgres verify` and `kasgres status` as processes, on an index that begins at a pruning point: on its primary, and on a standby. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Connection, connect, migrate, type ReplicatedPostgres, startReplicatedPostgres } from '@kasgres/database';
import { NodeClient } from '@kasgres/node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../node/kaspad.ts';
import { atRest } from '../simulation/stage.ts';
import { startIndexing, World } from '../simulation/world.ts';

const COMMAND = fileURLToPath(new URL('../../packages/cli/bin/kasgres.js', import.meta.url));
/** What passes by itself: a busy machine may take its time. */
const SOON = { timeout: 60_000 };
const LOAD = `insert into utxo_set_load values (true, '\\xab', 1, 5, '')`;
const LOADED_COIN = `insert into loaded_utxos values ('', 0, 5, 0, '', 'nonstandard', null, 0, false, null)`;

let postgres: ReplicatedPostgres;
let primary: Connection;
let world: World;
let pruningPoint: string;

beforeAll(async () => {
  postgres = await startReplicatedPostgres();
  await migrate(postgres.primaryUrl);
  primary = connect({ url: postgres.primaryUrl, applicationName: 'kasgres test' });
  world = await World.start('verify and status', undefined, { commitsToUtxos: true });
  world.mine(80);
  pruningPoint = world.node.dag.chainBlocks.at(-20)?.hash ?? '';
  world.node.prune(pruningPoint);
  const node = new NodeClient({ url: world.server.url });
  const indexer = startIndexing(world, postgres.primaryUrl);
  await atRest(primary, node, indexer);
  await indexer.stop();
  await node.close();
});
afterAll(async () => {
  world?.stop();
  await primary?.close();
  await postgres?.stop();
});

/** What the command prints; rejects with what it says when it fails. */
async function kasgres(databaseUrl: string, ...args: string[]): Promise<string> {
  const env = { PATH: process.env['PATH'], DATABASE_URL: databaseUrl, PORT: String(await freePort()) };
  return (await promisify(execFile)(process.execPath, [COMMAND, ...args], { env })).stdout;
}

describe.each(['primaryUrl', 'standbyUrl'] as const)('%s', (which) => {
  test('every invariant holds', async () => {
    const verify = async (): Promise<string> => kasgres(postgres[which], 'verify');
    await expect.poll(verify, SOON).toMatch(/^(holds +(?:4|7|8|12): .*\n){5}$/);
    expect(await kasgres(postgres[which], 'verify', '--without-start')).toMatch(/^(holds +(?:4|7|8|12): .*\n){4}$/);
  });

  test('the status tells of the start', async () => {
    const status = await kasgres(postgres[which], 'status');
    expect(status).toMatch(new RegExp(`^start +block ${pruningPoint} of .*, DAA score \\d+, with \\d+ coins$`, 'm'));
    expect(status).toMatch(/^gaps +none$/m);
    expect(status).not.toContain('coming start');
    expect(JSON.parse(await kasgres(postgres[which], 'status', '--json'))).toMatchObject({
      starts: [{ hash: pruningPoint }],
      gaps: [],
      utxoSetLoad: null,
    });
  });
});

test('a coming start is told of, and its rows must be what it says', async () => {
  await primary.pool.query(LOAD);
  await expect(kasgres(postgres.primaryUrl, 'verify', '--without-start')).rejects.toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/^BROKEN +7: .*\n +the load of a coming start has 1 UTXOs/m) as string,
  });
  await primary.pool.query(LOADED_COIN);
  expect(await kasgres(postgres.primaryUrl, 'verify', '--without-start')).toMatch(
    /^note +a coming start at block ab /m,
  );
  expect(await kasgres(postgres.primaryUrl, 'status')).toMatch(/^coming start +block ab, coins loaded so far: 1$/m);
  expect(await kasgres(postgres.standbyUrl, 'verify', '--without-start')).not.toContain('note');
});
