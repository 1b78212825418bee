/** Packs twice before the tests: the same commit must give the same files. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { DIST, ROOT } from './installed.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Hashes of the files of a release, of two builds. */
    packed: Record<string, string>[];
  }
}

export function setup({ provide }: TestProject): void {
  provide('packed', [pack(), pack()]);
}

function pack(): Record<string, string> {
  execFileSync('npm', ['run', 'pack'], { cwd: ROOT, stdio: 'inherit' });
  return Object.fromEntries(readdirSync(DIST).map((name) => [name, hashOf(join(DIST, name))]));
}

const hashOf = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex');
