import { expect, test } from 'vitest';
import { findSince } from './since.ts';

test.each(['2026-02-30', '2026-02-30T12:00:00Z', '2026-13-01', 'soon'])(
  '%s is no point of the chain',
  async (point) => {
    await expect(findSince({ query: () => Promise.resolve({ rows: [] }) } as never, point)).rejects.toThrow(
      'is none of',
    );
  },
);
