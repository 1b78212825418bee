import { expect, test } from 'vitest';
import { planExport } from './run-export.ts';

const plan = (days: { from?: string; until?: string }) =>
  planExport({ directory: 'parquet', names: ['blocks'], ...days });

test('it refuses a range of days that ends before it begins', () => {
  expect(() => plan({ from: '2025-06-02', until: '2025-06-01' })).toThrow(
    '--from 2025-06-02 is after --until 2025-06-01',
  );
  expect(plan({ from: '2025-06-01', until: '2025-06-01' })).toMatchObject({ until: '2025-06-01' });
  expect(plan({ from: '2025-06-01' })).toMatchObject({ from: '2025-06-01' });
  expect(plan({ until: '2025-06-01' })).toMatchObject({ until: '2025-06-01' });
});
