import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { expect, test } from 'vitest';

const REPOSITORY = new URL('../../', import.meta.url);

const read = (file: string): string => readFileSync(new URL(file, REPOSITORY), 'utf8');

/** Returns the anchors that GitHub gives the headings of a document. */
const anchorsOf = (document: string): Set<string> =>
  new Set(
    [...document.matchAll(/^#+ +(.+)$/gm)].map(([, heading = '']) =>
      heading
        .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}_\- ]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );

test('links between documents lead to files and headings that exist', () => {
  const documents = execFileSync('git', ['ls-files', '*.md'], { cwd: REPOSITORY, encoding: 'utf8' }).trim().split('\n');
  const broken = documents.flatMap((document) =>
    [...read(document).matchAll(/\]\((?!\w+:)([^)\s#]*)(?:#([^)\s]*))?\)/g)].flatMap(([link, path, anchor]) => {
      const file = path === '' ? document : posix.join(posix.dirname(document), path ?? '');
      const isFound =
        existsSync(new URL(file, REPOSITORY)) &&
        (anchor === undefined || !file.endsWith('.md') || anchorsOf(read(file)).has(anchor));
      return isFound ? [] : [`${document}: ${link}`];
    }),
  );
  expect(broken).toEqual([]);
});
