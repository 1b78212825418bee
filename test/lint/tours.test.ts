/**
 * The tours of docs/architecture.md can be walked: each file is imported by one before it, or
 * begins a program.
 */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';

const REPOSITORY = join(import.meta.dirname, '../..');
const DOCS = join(REPOSITORY, 'docs');
const MAX_FILES = 25;

/** The files of each tour, relative to the repository. */
function readTours(): Map<string, string[]> {
  const text = readFileSync(join(DOCS, 'architecture.md'), 'utf8');
  const [, section = ''] = /^## Tours\n(.*?)^## /ms.exec(text) ?? [];
  const tours = section.split(/^### /m).slice(1);
  return new Map(
    tours.map((tour) => {
      const [name = ''] = tour.split('\n', 1);
      return [name, [...tour.matchAll(/^\d+\. .*?\]\(([^)]+)\)/gm)].map(([, path = '']) => join('docs', path))];
    }),
  );
}

/**
 * The modules that a file imports. An import of a package is also one of all that its entry
 * exports.
 */
function importsOf(path: string): string[] {
  const file = join(REPOSITORY, path);
  const { resolve } = createRequire(file);
  const specifiers = [...readFileSync(file, 'utf8').matchAll(/^(?:import|export|\}) .*?from '([^']+)';$/gm)];
  return specifiers.flatMap(([, specifier = '']) => {
    if (specifier.startsWith('.')) return [relative(REPOSITORY, join(dirname(file), specifier))];
    if (!specifier.startsWith('@kasgres/')) return [];
    const entry = relative(REPOSITORY, resolve(specifier));
    return [entry, ...importsOf(entry)];
  });
}

const tours = readTours();

test('there are three tours', () => {
  expect([...tours.keys()]).toEqual([
    'A block becomes rows',
    'A request becomes JSON',
    'A reorganisation becomes an event and a webhook',
  ]);
});

test(`a tour has at most ${MAX_FILES} files, and no file is visited twice`, () => {
  const all = [...tours.values()];
  for (const files of all) expect(files.length).toBeLessThanOrEqual(MAX_FILES);
  expect(new Set(all.flat()).size).toBe(all.flat().length);
});

test('each file is imported by one before it, or is the main file of a program', () => {
  const seen = new Set<string>();
  for (const path of [...tours.values()].flat()) {
    expect(existsSync(join(REPOSITORY, path)), path).toBe(true);
    expect(path.endsWith('/main.ts') || seen.has(path), `${path} is imported by a file before it`).toBe(true);
    for (const imported of importsOf(path)) seen.add(imported);
  }
});
