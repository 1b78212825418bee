/**
 * `npm run test:kascov`. It is not part of `npm test`, since it needs cargo and crates.io: without
 * them it says why it skips.
 */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: ['test/kascov/**/*.test.ts'],
    reporters: ['verbose'],
    testTimeout: 300_000,
    hookTimeout: 900_000,
  },
});
