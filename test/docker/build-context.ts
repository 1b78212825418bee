/** The files of Docker's build context: those of the checkout that neither .gitignore nor .dockerignore excludes. */

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { cp, mkdir } from 'node:fs/promises';
import { dirname, join, matchesGlob } from 'node:path';

/** Paths relative to the root, with `/`. Files that git ignores exist on one machine only and must not be needed. */
export function listBuildContext(root: string): string[] {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], {
    cwd: root,
    encoding: 'utf8',
  });
  const ignored = ignorePatterns(readFileSync(join(root, '.dockerignore'), 'utf8'));
  return listed
    .split('\0')
    .filter((file) => file !== '' && existsSync(join(root, file)))
    .filter((file) => !ignored.some((pattern) => isMatch(file, pattern)));
}

function ignorePatterns(text: string): string[] {
  const lines = text.split('\n').map((line) => line.trim());
  const patterns = lines.filter((line) => line !== '' && !line.startsWith('#'));
  const exception = patterns.find((pattern) => pattern.startsWith('!'));
  if (exception !== undefined) throw new Error(`this reader of .dockerignore knows no exceptions: ${exception}`);
  return patterns;
}

/** A pattern excludes the paths that it matches, and everything below them. */
function isMatch(file: string, pattern: string): boolean {
  return matchesGlob(file, pattern) || matchesGlob(file, `${pattern}/**`);
}

/** The files that one source of a COPY names: a file, or everything in a folder. */
export function filesOf(source: string, context: readonly string[]): string[] {
  return context.filter((file) => file === source || file.startsWith(`${source.replace(/\/$/, '')}/`));
}

/** Copies the sources of `COPY` into a folder that stands for the image's root. */
export async function copyIntoImage(
  root: string,
  context: readonly string[],
  sources: readonly string[],
  target: string,
): Promise<void> {
  const intoFolder = target.endsWith('/') || sources.length > 1;
  for (const source of sources) {
    for (const file of filesOf(source, context)) {
      const isFolder = file !== source;
      const below = isFolder ? file.slice(source.length + 1) : intoFolder ? file.split('/').at(-1) : '';
      const to = join(target, below ?? '');
      await mkdir(dirname(to), { recursive: true });
      await cp(join(root, file), to);
    }
  }
}
