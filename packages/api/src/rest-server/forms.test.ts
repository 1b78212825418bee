import { type BlockJson } from '@kasgres/reads';
import { expect, test } from 'vitest';
import { toBlock } from './forms.ts';

test('numbers beyond 2^53 have all digits', () => {
  const transaction = {
    inputs: [{ sequence: '18446744073709551615' }],
    outputs: [{ value: '2900000000000000001', scriptPublicKey: '000020ab', verboseData: undefined }],
    lockTime: '18446744073709551614',
    gas: '0',
    mass: '1000',
    payload: '0x',
    verboseData: { computeMass: '1', blockTime: '2' },
  };
  const block = {
    header: { blueWork: '255', parentsByLevel: [] },
    transactions: [transaction],
    verboseData: { blueScore: 1 },
  };
  const text = JSON.stringify(toBlock(block as unknown as BlockJson));
  expect(text).toContain('"sequence":18446744073709551615');
  expect(text).toContain('"amount":2900000000000000001');
  expect(text).toContain('"lockTime":18446744073709551614');
  expect(text).toContain('"mass":1000');
});
