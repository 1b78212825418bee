/**
 * `npm run test:release`: packs a release, installs it into empty folders, and uses it as a person
 * would.
 */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/release/**/*.test.ts'],
    fileParallelism: false,
    reporters: ['verbose'],
    globalSetup: ['test/release/pack.ts'],
    testTimeout: 600_000,
    hookTimeout: 600_000,
  },
});
