/**
 * `npm run test:fuzz`. It is not part of `npm test`, since it takes minutes and needs schemathesis.
 */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: ['test/fuzz/**/*.test.ts'],
    globalSetup: 'packages/database/src/testing/global-setup.ts',
    reporters: ['verbose'],
    testTimeout: 3_600_000,
    hookTimeout: 120_000,
  },
});
