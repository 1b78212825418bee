/**
 * `npm test` runs the projects `unit` and `database`; `npm run test:full` runs `full` and `alone`,
 * which are all other tests that need neither kaspad nor schemathesis; `npm run test:all` runs all
 * four. `npx vitest run FILE` runs any test file in its project.
 */
import { globSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * They compare response times with bounds, which is meaningless while other tests use the same
 * cores.
 */
const ALONE = ['test/api/floods.db.test.ts'];

/**
 * The slowest files begin first, so that none of them is left at the end, when the other workers
 * have nothing to do.
 */
const FIRST = [
  'test/start/start.test.ts',
  'test/simulation/gaps.db.test.ts',
  'test/recording/index-and-api.db.test.ts',
  'test/plans/plans.db.test.ts',
  'test/browser/explorer.db.test.ts',
  'test/simulation/clusters.db.test.ts',
  'test/simulation/bootstraps.db.test.ts',
  'test/database-faults/first-catch-up.db.test.ts',
  'test/ops/analysts.db.test.ts',
  'test/simulation/retention.db.test.ts',
  'test/database-faults/bootstrap.db.test.ts',
  'test/api/hostile-bodies.db.test.ts',
  'test/api/outages.db.test.ts',
  'test/export/resume.db.test.ts',
  'test/invariants/tampering.db.test.ts',
  'test/plans/one-partition.db.test.ts',
];

/**
 * Tests of `npm run test:full`: those that take about 15 seconds or more, or need the readers of
 * exported files. `npm test` must take at most six minutes on two quiet cores, and keeps
 * representative scenarios of each layer.
 */
const FULL = [
  // `npm test` keeps full disks and restarts of the tests with database faults.
  'test/database-faults/*.db.test.ts',
  '!test/database-faults/{disk-full,wal-disk-full,restarts}.db.test.ts',
  // `npm test` keeps reorgs with restarts, tags, lanes and bootstraps of the simulation.
  'test/simulation/*.db.test.ts',
  '!test/simulation/{fresh-index-comparison,reorgs-above-bootstrap,tags,lanes,atomic-batches}.db.test.ts',
  'test/api/{outages,hostile-bodies,walks,walks-while-writing,tls,quotas,rate-limits,nodes,shared-limits-under-load,rest-history,explorer-pages,slow-readers}.db.test.ts',
  'test/ops/{analysts,monitoring,migrate-behind-readers,sql-command,network-dashboard,compose}.db.test.ts',
  'test/replica/read-replica.db.test.ts',
  'test/recording/index-and-api.db.test.ts',
  'test/invariants/{bootstraps-and-gaps,tampering}.db.test.ts',
  'test/plans/*.db.test.ts',
  'test/bench/{sync,tip,growth}.db.test.ts',
  'test/browser/*.test.ts',
  'test/export/*.test.ts',
  'test/start/*.test.ts',
  'test/docker/*.test.ts',
  'test/client/package.test.ts',
  'packages/cli/src/commands/{keys,tags}.db.test.ts',
  'packages/database/src/embedded/embedded-postgres.test.ts',
  'packages/devnet/src/main.test.ts',
];

class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => rankOf(a) - rankOf(b));
  }
}

/** Files of a project stay together, since a worker keeps its modules from file to file. */
const PROJECTS = ['full', 'database', 'unit', 'alone'];

function rankOf({ project, moduleId }: TestSpecification): number {
  const place = first.findIndex((file) => moduleId.endsWith(`/${file}`));
  return PROJECTS.indexOf(project.name) * 1000 + (place === -1 ? first.length : place);
}

const first = expand(FIRST);
const full = expand(FULL);
const alone = expand(ALONE);
// They need kaspad, schemathesis, clients of Postgres or Docker, and have a configuration each.
const other = [
  '**/node_modules/**',
  'test/node/**',
  'test/fuzz/**',
  'test/sql-clients/**',
  'test/kascov/**',
  'test/containers/**',
  'test/release/**',
];
// It starts one Postgres for the run, only if a test of the project is to run.
const globalSetup = 'packages/database/src/testing/global-setup.ts';

/**
 * The priority of the API (packages/api/src/workers/priority.ts): at a higher one, tests that use
 * the processor beside it would keep it from responding. Workers, programs and Postgres inherit it.
 */
const NICE = 5;
if (getPriority() < NICE) setPriority(NICE);

// .ci/run reads the counts from the JSON report.
const { CI, TEST_RESULTS: outputFile = CI === undefined ? undefined : 'test-results.json' } = process.env;

export default defineConfig({
  test: {
    reporters: outputFile === undefined ? ['default'] : ['default', ['json', { outputFile }]],
    // More than two cores, since many tests wait for programs, and for their timeouts. One group of
    // workers runs all projects but `alone`, so that it is busy to the end.
    maxWorkers: 3,
    // Loading the modules again for each file would take longer than most of the tests, which
    // restore what they change.
    isolate: false,
    sequence: { sequencer: SlowestFirst },
    // The cache of the `kasgres` command, for the threads and programs that tests start: half of
    // their start is stripping types and compiling.
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules/.cache/kasgres') },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['packages/*/src/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: [...other, '**/*.db.test.ts', ...full],
        },
      },
      {
        extends: true,
        test: {
          name: 'database',
          include: ['packages/*/src/**/*.db.test.ts', 'test/**/*.db.test.ts'],
          exclude: [...other, ...full, ...alone],
          globalSetup,
        },
      },
      { extends: true, test: { name: 'full', include: full, globalSetup } },
      {
        extends: true,
        // After all others.
        test: { name: 'alone', include: alone, maxWorkers: 1, sequence: { groupOrder: 1 }, globalSetup },
      },
    ],
    // They stop a test that hangs. A busy machine takes several times as long as a quiet one.
    testTimeout: 180_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: 30_000 } },
  },
});

/**
 * Returns the files of the patterns without those of the patterns that begin with `!`.
 * @throws if a pattern matches no file, as after a rename
 */
function expand(patterns: readonly string[]): string[] {
  const files = new Set<string>();
  for (const pattern of patterns) {
    const isNegated = pattern.startsWith('!');
    for (const alternative of alternativesOf(isNegated ? pattern.slice(1) : pattern)) {
      const matches = globSync(alternative, { cwd: import.meta.dirname });
      if (matches.length === 0) throw new Error(`vitest.config.ts: ${alternative} matches no test file`);
      for (const file of matches) {
        if (isNegated) files.delete(file);
        else files.add(file);
      }
    }
  }
  return [...files];
}

/** Expands the braces of a pattern, so that each name in them is looked for. */
function alternativesOf(pattern: string): string[] {
  const [, before = '', names, after = ''] = /^(.*)\{(.*)\}(.*)$/.exec(pattern) ?? [];
  return names === undefined ? [pattern] : names.split(',').map((name) => `${before}${name}${after}`);
}
