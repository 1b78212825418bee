/**
 * `kasgres verify` and `kasgres status` as processes, on an index that begins at a pruning point:
 * on its primary, and on a standby.
 */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Connection, connect, migrate } from '@kasgres/database';
import { type ReplicatedPostgres, startReplicatedPostgres } from '@kasgres/database/testing';
import { NodeClient } from '@kasgres/node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../support/programs.ts';
import { atRest } from '../support/harness.ts';
import { startIndexing, SimulatedDag } from '../support/simulated-dag.ts';

const COMMAND = fileURLToPath(new URL('../../packages/cli/bin/kasgres.js', import.meta.url));
/** A bound for states that pass by themselves: a busy machine may take its time. */
const SOON = { timeout: 60_000 };
const LOAD = `insert into utxo_set_load values (true, '\\xab', 1, 5, '')`;
const LOADED_UTXO = `insert into loaded_utxos values ('', 0, 5, 0, '', 'nonstandard', null, 0, false, null)`;

let postgres: ReplicatedPostgres;
let primary: Connection;
let simulatedDag: SimulatedDag;
let pruningPoint: string;

beforeAll(async () => {
  postgres = await startReplicatedPostgres();
  await migrate(postgres.primaryUrl);
  primary = connect({ url: postgres.primaryUrl, applicationName: 'kasgres test' });
  simulatedDag = await SimulatedDag.start('verify and status', undefined, { commitsToUtxos: true });
  simulatedDag.mine(80);
  pruningPoint = simulatedDag.node.dag.chainBlocks.at(-20)?.hash ?? '';
  simulatedDag.node.prune(pruningPoint);
  const node = new NodeClient({ url: simulatedDag.server.url });
  const indexer = startIndexing(simulatedDag, postgres.primaryUrl);
  await atRest(primary, node, indexer);
  await indexer.stop();
  await node.close();
});
afterAll(async () => {
  simulatedDag?.stop();
  await primary?.close();
  await postgres?.stop();
});

const CHECKS = [
  '8: the current UTXO',
  '8: the UTXO set',
  '8: ids and hashes',
  '4: balances and what',
  '7: every block of',
  '3: accepted transactions are',
  '7: selected parents, mergesets',
  '8: hashes and merkle',
  '8: every script is',
  '12: clusters are what',
];
const SINCE_OUTCOMES = CHECKS.flatMap((check) => {
  if (check === '8: the UTXO set') return [`skipped ${check}`];
  if (check === '4: balances and what') return [`skipped ${check}`, 'holds 4: balances are those'];
  return [`holds ${check}`];
});

/** By the first words of each check. */
function outcomesOf(verified: string): string[] {
  const outcomes = verified.matchAll(/^(holds|skipped|BROKEN) +(\d+: \S+ \S+ \S+)/gm);
  return [...outcomes].map(([, ...words]) => words.join(' '));
}

/** Returns the output of the command; rejects with its message if it fails. */
async function kasgres(databaseUrl: string, ...args: string[]): Promise<string> {
  const env = { PATH: process.env['PATH'], DATABASE_URL: databaseUrl, PORT: String(await freePort()) };
  return (await promisify(execFile)(process.execPath, [COMMAND, ...args], { env })).stdout;
}

describe.each(['primaryUrl', 'standbyUrl'] as const)('%s', (which) => {
  test('every invariant holds', async () => {
    const verified = expect.poll(async () => outcomesOf(await kasgres(postgres[which], 'verify')), SOON);
    await verified.toEqual(CHECKS.map((check) => `holds ${check}`));
  });

  test('omitted checks are reported as skipped, not as passed', async () => {
    const verified = await kasgres(postgres[which], 'verify', '--without-start', '--without-utxos');
    const [utxos, start, ...others] = CHECKS;
    expect(outcomesOf(verified)).toEqual([
      `skipped ${utxos}`,
      `skipped ${start}`,
      ...others.map((check) => `holds ${check}`),
    ]);
  });

  test('the status describes the bootstrap block', async () => {
    const status = await kasgres(postgres[which], 'status');
    expect(status).toMatch(
      new RegExp(`^bootstrap block +${pruningPoint} of .*, DAA score \\d+, with \\d+ UTXOs$`, 'm'),
    );
    expect(status).toMatch(/^gaps +none$/m);
    expect(status).not.toContain('pending bootstrap block');
    expect(JSON.parse(await kasgres(postgres[which], 'status', '--json'))).toMatchObject({
      starts: [{ hash: pruningPoint }],
      gaps: [],
      utxoSetLoad: null,
    });
  });
});

test('checks of state that the first catch-up does not keep are skipped, not passed', async () => {
  await primary.pool.query('update checkpoint set first_catch_up = true');
  const verified = await kasgres(postgres.primaryUrl, 'verify');
  await primary.pool.query('update checkpoint set first_catch_up = false');
  const skipped = outcomesOf(verified).filter((outcome) => !outcome.startsWith('holds '));
  expect(skipped).toEqual(['skipped 8: the current UTXO', 'skipped 4: balances and what']);
});

describe('--since', () => {
  /** A chain block near the middle, which is the first of its time. */
  const MIDDLE = `
    select c.daa_score, c.chain_time, encode(b.hash, 'hex') as hash
    from chain_blocks c join blocks b on b.id = c.block_id
      join chain_blocks before on before.index = c.index - 1
    where c.index >= (select max(index) / 2 from chain_blocks) and before.chain_time < c.chain_time
    order by c.index limit 1`;

  test('a DAA score, a hash and a time denote the same point, and older rows are omitted', async () => {
    const { rows } = await primary.pool.query<{ daa_score: bigint; chain_time: bigint; hash: string }>(MIDDLE);
    const [middle] = rows;
    if (middle === undefined) throw new Error('the chain is empty');
    const { daa_score: daaScore, chain_time: time, hash } = middle;
    const points = [String(daaScore), hash, new Date(Number(time)).toISOString()];
    for (const point of points) {
      const verified = await kasgres(postgres.primaryUrl, 'verify', '--since', point);
      expect(verified).toMatch(new RegExp(`^since +chain block ${hash} .*DAA score ${daaScore}, ${points[2]}`));
      expect(outcomesOf(verified)).toEqual(SINCE_OUTCOMES);
    }
    await primary.pool.query(
      'update blocks set nonce = nonce + 1 where id = (select block_id from chain_blocks where index = 1)',
    );
    expect(outcomesOf(await kasgres(postgres.primaryUrl, 'verify', '--since', hash))).toEqual(SINCE_OUTCOMES);
    await expect(kasgres(postgres.primaryUrl, 'verify')).rejects.toMatchObject({ code: 1 });
    await primary.pool.query(
      'update blocks set nonce = nonce - 1 where id = (select block_id from chain_blocks where index = 1)',
    );
  });

  test.each(['yesterday', '2100-01-01', '9'.repeat(18), '0'.repeat(64)])('%s is refused', async (point) => {
    await expect(kasgres(postgres.primaryUrl, 'verify', '--since', point)).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`--since ${point}`) as string,
    });
  });
});

test('a pending bootstrap block is reported, and its rows must match its count', async () => {
  await primary.pool.query(LOAD);
  await expect(kasgres(postgres.primaryUrl, 'verify', '--without-start')).rejects.toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/^BROKEN +7: .*\n +the load of a UTXO set has 1 UTXOs/m) as string,
  });
  await primary.pool.query(LOADED_UTXO);
  expect(await kasgres(postgres.primaryUrl, 'verify', '--without-start')).toMatch(
    /^note +pending bootstrap block ab: /m,
  );
  expect(await kasgres(postgres.primaryUrl, 'status')).toMatch(
    /^pending bootstrap block +ab, UTXOs loaded so far: 1$/m,
  );
  expect(await kasgres(postgres.standbyUrl, 'verify', '--without-start')).not.toContain('note');
});
