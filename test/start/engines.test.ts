/**
 * `npm ci` prints no EBADENGINE warning on any Node and npm that package.json promises: what the
 * lock file installs, for any platform, accepts all of them.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import semver from 'semver';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { ROOT } from './started.ts';

const engines = z.object({ node: z.string(), npm: z.string() });
const manifest = z.object({ engines });
const lockFile = z.object({
  packages: z.record(z.string(), z.object({ engines: engines.partial().or(z.array(z.string())).optional() })),
});

function readJson<T>(name: string, form: z.ZodType<T>): T {
  return form.parse(JSON.parse(readFileSync(join(ROOT, name), 'utf8')));
}

const promised = readJson('package.json', manifest).engines;
const { packages } = readJson('package-lock.json', lockFile);

/** Only its script for browsers is used, by /docs. `.npmrc` hides the warnings about it. */
const FOR_BROWSERS = /^node_modules\/@scalar\//;

test('every locked package accepts every Node and npm that package.json promises', () => {
  const needing = Object.entries(packages).filter(
    ([path, { engines: needed }]) => needed !== undefined && !FOR_BROWSERS.test(path),
  );
  expect(needing.length).toBeGreaterThan(50);
  const refusing = needing.flatMap(([path, { engines: needed = {} }]) => {
    if (Array.isArray(needed)) return [];
    return (['node', 'npm'] as const)
      .filter((engine) => !semver.subset(promised[engine], needed[engine] ?? '*'))
      .map((engine) => `${path} needs ${engine} ${needed[engine]}`);
  });
  expect(refusing).toEqual([]);
});

test('the Node of Debian 13 and the Node that runs these tests are promised', () => {
  expect(semver.satisfies('20.19.2', promised.node)).toBe(true);
  expect(semver.satisfies(process.versions.node, promised.node)).toBe(true);
});
