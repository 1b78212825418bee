import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findOwnTag } from '@kasgres/database';
import { createTestDatabase, insertCluster, type TestDatabase } from '@kasgres/database/testing';
import { scriptToAddress } from '@kasgres/kaspa';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

const COMMAND = fileURLToPath(new URL('../../bin/kasgres.js', import.meta.url));

let database: TestDatabase;
let folder: string;
beforeAll(async () => {
  database = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), 'kasgres-tags-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
  await database.drop();
});
beforeEach(async () => {
  await database.pool.query(
    'truncate meta, scripts, balances, tags, tag_labels, tag_sources, attributions, clusters, cluster_members, cluster_names',
  );
  await database.pool.query(`insert into meta (network) values ('simnet')`);
});

interface Said {
  code: number;
  stdout: string;
  stderr: string;
}

async function tags(...args: string[]): Promise<Said> {
  const env = { PATH: process.env['PATH'], DATABASE_URL: database.url };
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [COMMAND, 'tags', ...args], {
      env,
      cwd: folder,
    });
    return { code: 0, stdout, stderr };
  } catch (error) {
    return error as Said;
  }
}

function scriptOf(number: number): Buffer {
  const script = Buffer.alloc(34, number);
  script[0] = 0x20;
  script[33] = 0xac;
  return script;
}

function addressOf(number: number): string {
  return scriptToAddress({ version: 0, script: scriptOf(number) }, 'kaspasim') as string;
}

const [ONE, TWO, THREE] = [addressOf(1), addressOf(2), addressOf(3)] as const;

async function write(file: string, text: string): Promise<string> {
  await writeFile(join(folder, file), text);
  return file;
}

/** A row of a table as it is printed. */
function row(...cells: (string | number)[]): RegExp {
  return new RegExp(`^${cells.join(' +').replaceAll(/[()]/g, String.raw`\$&`)}$`, 'm');
}

describe('import', () => {
  test('it imports files of every format at once, and prints the changes of each source', async () => {
    const csv = await write('desk.csv', `address,name\n${ONE},Harbour\n${TWO},Pier\n`);
    const json = await write(
      'list.json',
      JSON.stringify({ source: 'list', tags: [{ address: ONE, name: 'Harbour' }] }),
    );
    const pack = await write(
      'pack.yaml',
      `title: Pack\ncreator: Team\nlabel: Harbour\ncurrency: KAS\ntags:\n- address: ${ONE}\n- address: 1Archive\n  currency: BTC\n`,
    );
    const first = await tags('import', csv, json, pack);
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(first.stdout).toMatch(row('desk.csv', 2, 0, 0, 0));
    expect(first.stdout).toMatch(row('list', 1, 0, 0, 0));
    expect(first.stdout).toMatch(row('Pack (Team)', 1, 0, 0, 0));
    expect(first.stdout).toMatch(/^1 tag of BTC skipped\.$/m);
    await write('desk.csv', `address,name,labels\n${ONE},Harbour,exchange\n${THREE},Quay,\n`);
    expect((await tags('import', csv)).stdout).toMatch(row('desk.csv', 1, 1, 1, 0));
    expect((await tags('import', csv)).stdout).toMatch(row('desk.csv', 0, 0, 0, 2));
    expect(await findOwnTag(database.kysely, TWO)).toBeUndefined();
    expect(await findOwnTag(database.kysely, ONE)).toMatchObject({ labels: ['exchange'] });
  });

  test('it prints all problems of files, exits with 1 and writes nothing', async () => {
    const good = await write('good.csv', `address,name\n${ONE},A\n`);
    const bad = await write(
      'bad.yaml',
      `title: T\ncreator: C\nconfidence: sure\ntags:\n- address: ${ONE.slice(0, -1)}\n`,
    );
    const { code, stdout, stderr } = await tags('import', good, bad);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr.split('\n')).toEqual([
      expect.stringContaining('bad.yaml:5: address: is not an address of simnet'),
      expect.stringContaining('bad.yaml:5: label: is missing'),
      expect.stringContaining('bad.yaml:3: confidence: must be'),
      '3 problems. Nothing was written.',
      '',
    ]);
    expect((await tags('sources')).stdout).not.toContain('good.csv');
  });

  test('in a dry run it prints the changes and writes nothing', async () => {
    const csv = await write('dry.csv', `address,name\n${ONE},A\n`);
    const { code, stdout } = await tags('import', '--dry-run', '--source', 'mine', csv);
    expect(code).toBe(0);
    expect(stdout).toMatch(row('mine', 1, 0, 0, 0));
    expect(stdout).toContain('Nothing was written');
    expect(await findOwnTag(database.kysely, ONE)).toBeUndefined();
  });

  test('it prints the progress of a large import', async () => {
    const text = `address,name\n${Array.from({ length: 50_000 }, (_, n) => `${ONE},${n}\n`).join('')}`;
    const { stderr, stdout } = await tags('import', await write('large.csv', text));
    expect(stderr).toBe('reading 50,000 tags …\nwriting 1 tag …\n');
    expect(stdout).toMatch(row('large.csv', 50000, 0, 0, 0));
  });

  test.each([
    [['nowhere.csv'], 'nowhere.csv cannot be read'],
    [['--format', 'xml', 'a.csv'], 'Allowed choices are csv, json, tagpack'],
    [['--source', ' ', 'a.csv'], 'must not be empty'],
    [[], `missing required argument 'file'`],
  ])('it rejects %j with an explanation', async (args, words) => {
    const { code, stderr } = await tags('import', ...args);
    expect(code).toBe(1);
    expect(stderr).toContain(words);
  });

  test('it rejects an import into a database without a network, with an explanation', async () => {
    await database.pool.query('truncate meta');
    const { code, stderr } = await tags('import', await write('a.csv', `address,name\n${ONE},A\n`));
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('Start the indexer first') as string });
  });
});

describe('list', () => {
  beforeEach(async () => {
    await tags(
      'import',
      '--source',
      'desk',
      await write('d.csv', `address,name,confidence\n${ONE},Harbour,90\n${TWO},Pier,90\n`),
    );
    await tags(
      'import',
      await write(
        'w.json',
        JSON.stringify({ source: 'web', tags: [{ address: ONE, name: 'Pier', confidence: 'web_crawl' }] }),
      ),
    );
  });

  test('it lists tags', async () => {
    const { stdout } = await tags('list');
    expect(stdout).toMatch(row('Harbour', ONE));
    expect(stdout).toMatch(row('Pier', TWO));
  });

  test('it lists all attributions of an address, the one in force first', async () => {
    const { stdout } = await tags('list', '--address', ONE);
    expect(stdout).toMatch(/^Tag: Harbour\n/);
    expect(stdout).toMatch(/\ndesk +Harbour +90 +90\nweb +Pier +web_crawl +20\n$/);
    expect((await tags('list', '--address', THREE)).stdout).toBe('No tag.\n');
    expect(await tags('list', '--address', 'kaspasim:x')).toMatchObject({ code: 1 });
  });

  test('it lists conflicts of addresses and clusters, with the sources of each name', async () => {
    await database.pool.query(
      `insert into scripts select n, 0, s, 'pubkey', a from unnest($1::int[], $2::bytea[], $3::text[]) given (n, s, a)`,
      [[1, 2, 3], [1, 2, 3].map(scriptOf), [ONE, TWO, THREE]],
    );
    await insertCluster(database.pool, [3n, 1n, 2n]);
    const { stdout } = await tags('list', '--conflicts');
    expect(stdout).toMatch(row(ONE, 'Harbour', 'desk'));
    expect(stdout).toMatch(row(ONE, 'Pier', 'web'));
    expect(stdout).toMatch(row(THREE, 'Harbour', 1, 'desk'));
    expect(stdout).toMatch(row(THREE, 'Pier', 1, 'desk'));
    await tags('remove', 'desk');
    expect((await tags('list', '--conflicts')).stdout).toBe('There are no conflicts.\n');
    expect((await tags('list', '--address', THREE)).stdout).toBe('Tag: Pier, from its cluster\n');
  });
});

test('sources are listed, and removed with all their names', async () => {
  const csv = await write('s.csv', `address,name,creator\n${ONE},A,Ann\n${TWO},B,Ann\n`);
  await tags('import', '--source', 'one', csv);
  await tags('import', '--source', 'two', csv);
  expect((await tags('sources')).stdout).toMatch(/one +Ann +2 +\d{4}-.*Z\ntwo +Ann +2 +\d{4}-.*Z\n$/);
  expect(await tags('remove', 'one')).toMatchObject({ code: 0, stdout: 'Removed one: 2 tags.\n' });
  expect((await tags('sources')).stdout).not.toContain('one');
  expect(await findOwnTag(database.kysely, ONE)).toMatchObject({ name: 'A' });
  expect(await tags('remove', 'one')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('no source one') as string,
  });
});
