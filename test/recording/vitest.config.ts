/**
 * `RECORDING=DIR npm run test:recording`: runs the tests of this folder on a directory of recorded
 * traffic.
 */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: ['test/recording/**/*.test.ts'],
    globalSetup: 'packages/database/src/testing/global-setup.ts',
    reporters: ['verbose'],
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 120_000,
  },
});
