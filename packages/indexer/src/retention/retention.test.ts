import { getNetwork } from '@kasgres/kaspa';
import { EnvError, readEnv } from '@kasgres/runtime';
import { expect, test } from 'vitest';
import { envSchema, indexerOptions } from '../env.ts';
import { generationLength, parseRetention } from './retention.ts';

const REQUIRED = { NODE_URL: 'grpc://127.0.0.1:16110', DATABASE_URL: 'postgres://a@b/c' };
const network = getNetwork('mainnet');

function problemsOf(variables: Record<string, string>): readonly string[] {
  try {
    readEnv(envSchema, { ...REQUIRED, ...variables });
    return [];
  } catch (error) {
    return (error as EnvError).problems.map((problem) => problem.replace(/ \(.*/s, ''));
  }
}

test('it is a number of days or a blue score, and by default everything is kept', () => {
  expect(indexerOptions(readEnv(envSchema, REQUIRED)).retention).toBeUndefined();
  expect(indexerOptions(readEnv(envSchema, { ...REQUIRED, RETENTION: '30d' })).retention).toEqual({
    kind: 'milliseconds',
    milliseconds: 30n * 86_400_000n,
  });
  expect(parseRetention('2000000')).toEqual({ kind: 'blue score', blueScore: 2_000_000n });
});

test.each(['30', '0d', '-3d', '30 d', '1h', 'forever', '1.5d', '1079999', '1d', '1000000d', '1000000000000'])(
  'it refuses %s',
  (RETENTION) => {
    expect(problemsOf({ RETENTION })).toHaveLength(1);
    expect(problemsOf({ RETENTION })[0]).toMatch(/^RETENTION: /);
  },
);

test.each(['1080000', '2d', '3650d'])('it accepts %s, which is at least the pruning depth', (RETENTION) => {
  expect(problemsOf({ RETENTION })).toEqual([]);
});

test('it compares with the pruning depth of a private network', () => {
  expect(problemsOf({ RETENTION: '100', PRUNING_DEPTH: '100', FINALITY_DEPTH: '60' })).toEqual([]);
  expect(problemsOf({ RETENTION: '99', PRUNING_DEPTH: '100', FINALITY_DEPTH: '60' })).toEqual([
    'RETENTION: keeps less than the pruning depth of the network',
  ]);
});

test.each(['FINALITY_DEPTH', 'PRUNING_DEPTH', 'CLUSTER_DEPTH'])('it refuses a %s beyond any chain', (name) => {
  expect(problemsOf({ [name]: '999999999999' })).toEqual([]);
  expect(problemsOf({ [name]: '99999999999999999999' })).toEqual([
    expect.stringMatching(`^${name}: must be a whole number from [01] to 999999999999$`),
  ]);
});

test('it reports too short a retention with the other problems', () => {
  expect(problemsOf({ RETENTION: '1d', METRICS_PORT: 'x', NODE_URL: '' })).toHaveLength(3);
});

test('a generation is a quarter of what is kept, by the pace of the chain', () => {
  const blueScore = parseRetention('2000000');
  expect(generationLength(blueScore, network, undefined)).toBe(500_000n);
  expect(generationLength(blueScore, network, { blueScore: 2.5, milliseconds: 250 })).toBe(200_000n);
  const days = parseRetention('8d');
  expect(generationLength(days, network, undefined)).toBe(1_728_000n);
  expect(generationLength(days, network, { blueScore: 2.5, milliseconds: 250 })).toBe(691_200n);
});

test('a generation has at least one chain block, and a standstill of the chain makes it no longer than its blocks allow', () => {
  const retention = parseRetention('3');
  expect(generationLength(retention, network, { blueScore: 50, milliseconds: 1 })).toBe(1n);
  expect(generationLength(parseRetention('8d'), network, { blueScore: 1, milliseconds: 0 })).toBe(1_728_000n);
});
