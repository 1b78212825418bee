/** No program loads test helpers, and only the `kasgres` command loads the embedded Postgres. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';

const REPOSITORY = join(import.meta.dirname, '../..');
const COMMAND = 'packages/cli/src/main.ts';
const PROGRAMS = [
  'packages/indexer/src/main.ts',
  'packages/api/src/main.ts',
  'packages/webhooks/src/main.ts',
  'packages/devnet/src/main.ts',
];
/** `import … from '…'`, `export … from '…'`, `import '…'` and `import('…')`, but for types only. */
const IMPORT = /^(?:import|export) (?!type )[^;]*?from '([^']+)';|^import '([^']+)';|import\('([^']+)'\)/gm;

test.each([...PROGRAMS, COMMAND])('it loads no test helper: %s', (program) => {
  const loaded = modulesOf(program);
  expect(loaded).toContain('packages/runtime/src/index.ts');
  expect(loaded.filter((file) => /\/testing\/|\.test\.ts$/.test(file))).toEqual([]);
});

test.each(PROGRAMS)('it loads no embedded Postgres: %s', (program) => {
  expect(modulesOf(program).filter((file) => file.includes('/embedded/'))).toEqual([]);
});

test('it finds the embedded Postgres in the command', () => {
  expect(modulesOf(COMMAND)).toContain('packages/database/src/embedded/embedded-postgres.ts');
});

/** Returns the files of ours that a program loads, at its start or later. */
function modulesOf(program: string): string[] {
  const found = new Set([program]);
  for (const file of found) {
    for (const specifier of importsOf(file)) {
      const target = resolve(file, specifier);
      if (target !== undefined) found.add(target);
    }
  }
  return [...found];
}

function importsOf(file: string): string[] {
  const text = readFileSync(join(REPOSITORY, file), 'utf8');
  return [...text.matchAll(IMPORT)].flatMap(([, from, alone, later]) => from ?? alone ?? later ?? []);
}

/** Returns undefined for packages of others. @throws if a file of ours is missing */
function resolve(file: string, specifier: string): string | undefined {
  const path = specifier.startsWith('.') ? join(dirname(file), specifier) : entryOf(specifier);
  if (path !== undefined && !existsSync(join(REPOSITORY, path))) throw new Error(`${file}: ${specifier} was not found`);
  return path;
}

function entryOf(specifier: string): string | undefined {
  const [, name, subpath = ''] = /^@kasgres\/([^/]+)(\/.+)?$/.exec(specifier) ?? [];
  if (name === undefined) return undefined;
  const folder = join(REPOSITORY, 'packages', name);
  const { exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    exports: string | Record<string, string>;
  };
  const entry = typeof exports === 'string' ? exports : exports[`.${subpath}`];
  if (entry === undefined) throw new Error(`packages/${name} does not export ${specifier}`);
  return relative(REPOSITORY, join(folder, entry));
}
