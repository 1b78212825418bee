/** `npm run test:node`: what needs a real node, one file after another, with time for it. */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/node/**/*.test.ts'],
    fileParallelism: false,
    // A line as soon as a test ends: some take minutes.
    reporters: ['verbose'],
    globalSetup: ['packages/database/src/testing/global-setup.ts', 'test/node/say-if-skipped.ts'],
    testTimeout: 1_800_000,
    hookTimeout: 900_000,
  },
});
