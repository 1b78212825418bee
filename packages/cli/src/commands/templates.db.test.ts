import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { listTemplateSources } from '@kasgres/database';
import { createTestDatabase, type TestDatabase } from '@kasgres/database/testing';
import { fromHex, toHex } from '@kasgres/kaspa';
import { decodeTemplateEntry, readTemplateNames, type TemplateEntry, TEMPLATE_NAMES_FILE } from '@kasgres/programs';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';

const COMMAND = fileURLToPath(new URL('../../bin/kasgres.js', import.meta.url));
const [ONE, TWO, THREE] = ['1', '2', '3'].map((digit) => digit.repeat(64)) as [string, string, string];

let database: TestDatabase;
let folder: string;
beforeAll(async () => {
  database = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), 'kasgres-templates-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
  await database.drop();
});
beforeEach(async () => {
  await database.pool.query('truncate template_names, template_sources');
});

interface Output {
  code: number;
  stdout: string;
  stderr: string;
}

async function templates(...args: string[]): Promise<Output> {
  const env = { PATH: process.env['PATH'], DATABASE_URL: database.url };
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [COMMAND, 'templates', ...args], {
      env,
      cwd: folder,
    });
    return { code: 0, stdout, stderr };
  } catch (error) {
    return error as Output;
  }
}

async function write(file: string, contents: string | Uint8Array): Promise<string> {
  await writeFile(join(folder, file), contents);
  return file;
}

const entry = (template: string, name: string, more = ''): string =>
  `  - {template: ${template}, name: ${name}, source: https://example.org/${more}}\n`;

/** A row of a table as it is printed. */
const row = (...cells: (string | number)[]): RegExp => new RegExp(`^${cells.join(' +')}$`, 'm');

async function storedNames(): Promise<Map<string, TemplateEntry>> {
  const { rows } = await database.pool.query<{ template: Buffer; entry: TemplateEntry }>(
    'select template, entry from template_names',
  );
  return new Map(rows.map(({ template, entry: stored }) => [toHex(template), stored]));
}

test('an import replaces what the same source gave before, and no other source', async () => {
  const file = await write('mine.yaml', `templates:\n${entry(ONE, 'Vault')}${entry(TWO, 'Will')}`);
  const other = await write('other.yaml', `templates:\n${entry(ONE, 'Safe')}`);
  const first = await templates('import', file);
  expect(first).toMatchObject({ code: 0, stderr: '' });
  expect(first.stdout).toMatch(row('mine.yaml', 2, 0, 0));
  expect((await templates('import', '--source', 'desk', other)).stdout).toMatch(row('desk', 1, 0, 0));

  await write(
    'mine.yaml',
    `templates:\n${entry(ONE, 'Vault', ', pushes: [{push: 3, name: a, type: int}]')}${entry(TWO, 'Will')}`,
  );
  expect((await templates('import', file)).stdout).toMatch(row('mine.yaml', 1, 1, 1));
  expect((await templates('import', file)).stdout).toMatch(row('mine.yaml', 0, 0, 2));
  await write('mine.yaml', `templates:\n${entry(THREE, 'Vote')}`);
  expect((await templates('import', file)).stdout).toMatch(row('mine.yaml', 1, 2, 0));

  const { stdout } = await templates('list');
  expect(stdout).toMatch(row(ONE, 'Safe', 0, 0, 'desk'));
  expect(stdout).toMatch(row(THREE, 'Vote', 0, 0, 'mine.yaml'));
  expect(stdout).not.toContain(TWO);
});

test('a file without templates removes the source', async () => {
  const file = await write('gone.yaml', `templates:\n${entry(ONE, 'Vault')}`);
  await templates('import', file);
  expect((await listTemplateSources(database.pool)).map(({ name, names }) => [name, names])).toEqual([
    ['gone.yaml', 1n],
  ]);
  await write('gone.yaml', 'templates: []');
  expect((await templates('import', file)).stdout).toMatch(row('gone.yaml', 0, 1, 0));
  expect(await listTemplateSources(database.pool)).toEqual([]);
  expect(await storedNames()).toEqual(new Map());
});

test('what is stored is what the file says', async () => {
  expect(await templates('import', fileURLToPath(TEMPLATE_NAMES_FILE))).toMatchObject({ code: 0 });
  const stored = await storedNames();
  const template = '8fbb9ea47a7de3fe6e74737041b11b4e7a929c01c433b9dd73df3ef755d1f6ee';
  const kcc20 = stored.get(template);
  expect(kcc20).toMatchObject({ name: 'KCC-20 token', state: { first: 0, last: 3 } });
  const { templates: named } = readTemplateNames(await readFile(TEMPLATE_NAMES_FILE, 'utf8'));
  expect(kcc20 && decodeTemplateEntry(fromHex(template), kcc20)).toEqual(
    named.find((each) => toHex(each.template) === template),
  );
});

test('it prints all problems of a file with their lines, exits with 1 and writes nothing', async () => {
  const file = await write(
    'bad.yaml',
    `templates:\n${entry('12', 'Vault')}${entry(TWO, '"a\\nb"')}${entry(TWO, 'C', ', x: 1')}`,
  );
  const { code, stdout, stderr } = await templates('import', file);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr.split('\n')).toEqual([
    'bad.yaml:2: templates.0.template: must have 64 hex digits in lower case',
    'bad.yaml:3: templates.1.name: must not contain control characters (U+000A)',
    'bad.yaml:4: templates.2.x: is not a field',
    '3 problems. Nothing was written.',
    '',
  ]);
  expect(await storedNames()).toEqual(new Map());
});

test('it rejects a file that is not UTF-8', async () => {
  const file = await write('latin.yaml', Buffer.from(`templates:\n${entry(ONE, 'Caf\u00e9')}`, 'latin1'));
  const { code, stderr } = await templates('import', file);
  expect(code).toBe(1);
  expect(stderr).toBe('latin.yaml:1: file: must be UTF-8 text\n1 problem. Nothing was written.\n');
});

test.each([
  [['import', 'nowhere.yaml'], 'nowhere.yaml cannot be read'],
  [['import', '--source', 'kasgres', 'a.yaml'], 'must not be kasgres'],
  [['import', '--source', ' ', 'a.yaml'], 'must not be empty'],
  [['import', '--source', 'a\u2060b', 'a.yaml'], 'must not contain invisible characters (U+2060)'],
  [['import'], `missing required argument 'file'`],
])('it rejects %j with an explanation', async (args, words) => {
  const { code, stderr } = await templates(...args);
  expect(code).toBe(1);
  expect(stderr).toContain(words);
});
