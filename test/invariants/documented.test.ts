/**
 * docs/invariants.md and the tests name each other: each linked test names its invariant, and each
 * test that names one is linked.
 */
import { existsSync } from 'node:fs';
import { glob, readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const DOCUMENT = join(ROOT, 'docs/invariants.md');
const SELF = relative(ROOT, import.meta.filename);

/** Returns `invariant 5 in <file>` for each link of the table. */
async function linked(): Promise<string[]> {
  const text = await readFile(DOCUMENT, 'utf8');
  return [...text.matchAll(/^\| (\d+) \|.*$/gm)].flatMap(([row, number]) =>
    [...row.matchAll(/\]\(([^)]+)\)/g)].map(([, link]) => {
      const path = join(dirname(DOCUMENT), link ?? '');
      expect(existsSync(path), `docs/invariants.md links to ${link}`).toBe(true);
      return `invariant ${number} in ${relative(ROOT, path)}`;
    }),
  );
}

/** Returns the same for each mention in a test. */
async function mentioned(): Promise<string[]> {
  const found: string[] = [];
  for await (const file of glob(['test/**/*.test.ts', 'packages/*/src/**/*.test.ts'], { cwd: ROOT })) {
    // A comment may be wrapped between the word and the numbers.
    const text = (await readFile(join(ROOT, file), 'utf8')).replaceAll(/\n\s*(?:\*|\/\/) /g, ' ');
    const numbers = [...text.matchAll(/\binvariants? (\d+(?:(?:, | and )\d+)*)/gi)].flatMap(
      ([, list]) => list?.match(/\d+/g) ?? [],
    );
    if (file !== SELF) found.push(...new Set(numbers.map((number) => `invariant ${number} in ${file}`)));
  }
  return found;
}

test('docs/invariants.md links exactly the tests that name each invariant', async () => {
  expect((await linked()).sort()).toEqual((await mentioned()).sort());
});

test('every invariant of docs/invariants.md has a test', async () => {
  const links = await linked();
  for (let number = 1; number <= 11; number += 1) {
    expect(
      links.some((link) => link.startsWith(`invariant ${number} in `)),
      `invariant ${number}`,
    ).toBe(true);
  }
});
