/**
 * `npm run test:containers`: one composition in a Docker engine, which the files walk through in
 * the order of their names.
 */
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

class ByName extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return await Promise.resolve(files.toSorted((a, b) => (a.moduleId < b.moduleId ? -1 : 1)));
  }
}

export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: ['test/containers/**/*.test.ts'],
    globalSetup: 'test/containers/engine/setup.ts',
    sequence: { sequencer: ByName },
    fileParallelism: false,
    // Each step needs the one before.
    bail: 1,
    reporters: ['verbose'],
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 120_000, interval: 500 } },
  },
});
