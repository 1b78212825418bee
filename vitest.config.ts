import { defineConfig } from 'vitest/config';

/** They hold response times to bounds, which means nothing while other tests use the same cores. */
const ALONE = ['test/api/floods.db.test.ts', 'test/api/slow-readers.db.test.ts'];

export default defineConfig({
  test: {
    // In CI, .ci/run reads the counts from the JSON report.
    reporters:
      process.env['CI'] === undefined ? ['default'] : ['default', ['json', { outputFile: 'test-results.json' }]],
    // Two cores run the suite, a Postgres and, at times, several of our programs.
    maxWorkers: 2,
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['packages/*/src/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: ['**/node_modules/**', 'test/node/**', 'test/fuzz/**', '**/*.db.test.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'database',
          include: ['packages/*/src/**/*.db.test.ts', 'test/**/*.db.test.ts'],
          exclude: ['**/node_modules/**', 'test/node/**', ...ALONE],
          // One Postgres for the run, started only when a test of this project is to run.
          globalSetup: 'packages/database/src/testing/global-setup.ts',
        },
      },
      {
        extends: true,
        test: {
          name: 'alone',
          include: ALONE,
          maxWorkers: 1,
          // After all others.
          sequence: { groupOrder: 1 },
          globalSetup: 'packages/database/src/testing/global-setup.ts',
        },
      },
    ],
    // To end what hangs, not to measure: a busy machine takes several times as long as a quiet one.
    testTimeout: 180_000,
    hookTimeout: 240_000,
  },
});
