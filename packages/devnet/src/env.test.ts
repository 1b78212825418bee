import { EnvError } from '@kasgres/runtime';
import { expect, test } from 'vitest';
import { readDevnetEnv } from './env.ts';
import { DEFAULT_OPTIONS } from './simulation/index.ts';

test('runs a temporary demo without any option', () => {
  expect(readDevnetEnv([], {})).toMatchObject({
    dataDir: undefined,
    host: '127.0.0.1',
    port: 0,
    pastBlocks: 3_000,
    blocksPerSecond: 2,
    options: DEFAULT_OPTIONS,
  });
});

test('an option takes precedence over a variable', () => {
  const variables = { DATA_DIR: '/data', PORT: '1', DEVNET_SEED: 'variable', DEVNET_REORG_DEPTH: '2-40' };
  const flags = ['--listen', '0.0.0.0:16510', '--seed', 'flag', '--past-blocks=5'];
  expect(readDevnetEnv(flags, variables)).toMatchObject({
    dataDir: '/data',
    host: '0.0.0.0',
    port: 16_510,
    pastBlocks: 5,
    options: { seed: 'flag', reorgDepth: [2, 40] },
  });
});

test.each([
  [['--no-such-flag', '1'], 'no-such-flag'],
  [['--width', 'wide', '--reorg-depth', '3'], /DEVNET_WIDTH[^]*DEVNET_REORG_DEPTH/],
  [['--reorg-depth', '8-2'], 'DEVNET_REORG_DEPTH'],
  [['--listen', 'nowhere'], 'DEVNET_LISTEN'],
])('%j is refused by name', (args, problem) => {
  expect(() => readDevnetEnv(args, {})).toThrow(EnvError);
  expect(() => readDevnetEnv(args, {})).toThrow(problem);
});
