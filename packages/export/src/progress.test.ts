import { expect, test } from 'vitest';
import { ExportProgress } from './progress.ts';

test('it prints progress every few seconds, and totals at the end', () => {
  const lines: string[] = [];
  let now = 0;
  const progress = new ExportProgress(
    (line) => lines.push(line),
    () => now,
  );
  progress.begin('blocks', Date.UTC(2025, 5, 20, 13));
  now = 1_000;
  progress.add(500, '2025-06-17');
  now = 5_000;
  progress.add(9_500, '2025-06-18');
  now = 10_000;
  progress.add(10_000, '2025-06-20');
  progress.wrote(1_250_000);
  progress.end();
  expect(lines).toEqual([
    'blocks, 2025-06-18, 2 days left, 10,000 rows, 2,000 rows/s',
    'blocks, 2025-06-20, the last day, 20,000 rows, 2,000 rows/s',
    'blocks: 20,000 rows, 2,000 rows/s, 1.3 MB',
  ]);
});

test('it reports an export without new rows', () => {
  const lines: string[] = [];
  const progress = new ExportProgress((line) => lines.push(line));
  progress.begin('tags');
  progress.end();
  expect(lines).toEqual(['tags: nothing new']);
});
