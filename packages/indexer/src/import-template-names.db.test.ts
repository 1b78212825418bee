import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { listTemplateSources } from '@kasgres/database';
import { createTestDatabase, type TestDatabase } from '@kasgres/database/testing';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { importShippedFile, importTemplateNames } from './import-template-names.ts';

let database: TestDatabase;
let folder: string;
beforeAll(async () => {
  database = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), 'kasgres-names-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
  await database.drop();
});

const entry = (digit: string): string =>
  `  - {template: ${digit.repeat(64)}, name: N${digit}, source: https://example.org}\n`;

test('the file is imported when its contents have changed', async () => {
  const file = pathToFileURL(join(folder, 'names.yaml'));
  await writeFile(file, `templates:\n${entry('1')}${entry('2')}`);
  expect(await importShippedFile(database, file)).toEqual({ new: 2, removed: 0, unchanged: 0 });
  expect(await importShippedFile(database, file)).toBeUndefined();
  await writeFile(file, `templates:\n${entry('2')}${entry('3')}`);
  expect(await importShippedFile(database, file)).toEqual({ new: 1, removed: 1, unchanged: 1 });
  const { rows } = await database.pool.query<{ name: string }>(
    `select entry ->> 'name' as name from template_names order by 1`,
  );
  expect(rows.map(({ name }) => name)).toEqual(['N2', 'N3']);
});

test('the shipped file is imported once, after failures too', async () => {
  const log = { info: vi.fn(), warn: vi.fn(), error: vi.fn() };
  const query = vi.spyOn(database.pool, 'query').mockImplementationOnce(() => {
    throw new Error('refused');
  });
  const { signal } = new AbortController();
  const dependencies = { database, log } as unknown as Parameters<typeof importTemplateNames>[0];
  await importTemplateNames(dependencies, signal);
  query.mockRestore();
  expect(log.error).toHaveBeenCalledOnce();
  await importTemplateNames(dependencies, signal);
  expect(log.info).toHaveBeenCalledOnce();
  const [source] = await listTemplateSources(database.pool);
  expect(source?.name).toBe('kasgres');
  expect(source?.names).toBeGreaterThan(100n);
});
