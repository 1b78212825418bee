/** `npm run test:node`: tests with real nodes, one file after another. */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/node/**/*.test.ts'],
    fileParallelism: false,
    // Some tests take minutes.
    reporters: ['verbose'],
    globalSetup: ['packages/database/src/testing/global-setup.ts', 'test/support/kaspad.ts'],
    testTimeout: 1_800_000,
    hookTimeout: 900_000,
    expect: { poll: { timeout: 30_000 } },
  },
});
