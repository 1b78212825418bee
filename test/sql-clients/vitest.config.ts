/**
 * `npm run test:sql-clients`. It is not part of `npm test`, since it needs the clients: what is
 * missing is skipped, with the reason.
 */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: ['test/sql-clients/**/*.test.ts'],
    globalSetup: 'packages/database/src/testing/global-setup.ts',
    reporters: ['verbose'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
