import { EnvError, readEnv } from '@kasgres/runtime';
import { expect, test } from 'vitest';
import { envSchema, indexerOptions, REPLACED_VARIABLES } from './env.ts';
import { DEFAULT_MEMORY_LIMIT_MB, MAX_MEMORY_LIMIT_MB, memoryBounds, MIN_MEMORY_LIMIT_MB } from './memory-bounds.ts';

const MIB = 1024 * 1024;
const REQUIRED = { NODE_URL: 'grpc://127.0.0.1:16110', DATABASE_URL: 'postgres://a@b/c' };

test('the default limit gives 384 MiB ahead and 2,950,000 transactions', () => {
  expect(indexerOptions(readEnv(envSchema, REQUIRED))).toMatchObject({
    pageStreams: 3,
    maxBytesAhead: 384 * MIB,
    batchTransactions: 4_000,
    memoryTransactions: 2_950_000,
  });
});

test('the bounds stay within the limit and grow with it', () => {
  let before = { maxBytesAhead: 0, memoryTransactions: 0 };
  for (let limit = MIN_MEMORY_LIMIT_MB; limit <= MAX_MEMORY_LIMIT_MB; limit += 512) {
    const bounds = memoryBounds(limit);
    const usedMb = 2_190 + (2.5 * bounds.maxBytesAhead + 335.5 * bounds.memoryTransactions) / MIB;
    expect(usedMb).toBeLessThanOrEqual(limit + 1);
    expect(bounds.maxBytesAhead).toBeGreaterThanOrEqual(before.maxBytesAhead);
    expect(bounds.memoryTransactions).toBeGreaterThanOrEqual(before.memoryTransactions);
    before = bounds;
  }
  expect(memoryBounds(MIN_MEMORY_LIMIT_MB).maxBytesAhead).toBeGreaterThan(64 * MIB);
  expect(memoryBounds(DEFAULT_MEMORY_LIMIT_MB).memoryTransactions).toBe(2_950_000);
  expect(memoryBounds(MAX_MEMORY_LIMIT_MB).memoryTransactions).toBe(2 ** 24);
});

test('a limit below the minimum and each former variable is a problem that names MEMORY_LIMIT_MB', () => {
  const variables = {
    ...REQUIRED,
    MEMORY_LIMIT_MB: '1024',
    PAGE_STREAMS: '1',
    MAX_BYTES_AHEAD: '1',
    BATCH_TRANSACTIONS: '1',
  };
  let problems: readonly string[] = [];
  try {
    readEnv(envSchema, { ...variables, MEMORY_TRANSACTIONS: '1' }, REPLACED_VARIABLES);
  } catch (error) {
    problems = (error as EnvError).problems;
  }
  expect(problems).toHaveLength(5);
  expect(problems[0]).toContain('MEMORY_LIMIT_MB: must be a whole number from 2560 to 65536');
  expect(problems.slice(1)).toEqual(
    ['PAGE_STREAMS', 'MAX_BYTES_AHEAD', 'BATCH_TRANSACTIONS', 'MEMORY_TRANSACTIONS'].map(
      (name) => `${name}: no longer exists, set MEMORY_LIMIT_MB instead`,
    ),
  );
});
