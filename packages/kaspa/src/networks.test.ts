import { expect, test } from 'vitest';
import { findNetwork, getNetwork, networks } from './networks.ts';

test("it finds a network by the node's id", () => {
  expect(networks.map(({ id }) => getNetwork(id))).toEqual(networks);
});

test('it finds no network for an unknown id', () => {
  expect(findNetwork('testnet')).toBeUndefined();
  expect(() => getNetwork('testnet-11')).toThrow(
    'Unknown network "testnet-11": known are mainnet, testnet-10, simnet, devnet',
  );
});

test("mainnet's known points ascend and end at its genesis", () => {
  const { daaTimestamps, genesisDaaScore, genesisTimestamp } = getNetwork('mainnet');
  const ascending = daaTimestamps.toSorted((a, b) => Number(a.daaScore - b.daaScore));
  expect(daaTimestamps).toEqual(ascending);
  expect(daaTimestamps.map(({ timestamp }) => timestamp)).toEqual(ascending.map(({ timestamp }) => timestamp));
  expect(daaTimestamps[0]?.daaScore).toBe(0n);
  expect(daaTimestamps.at(-1)).toEqual({ daaScore: genesisDaaScore, timestamp: genesisTimestamp });
});
