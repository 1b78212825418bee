import { expect, test } from 'vitest';
import { requireGlibc } from './binaries.ts';

test('musl is detected, and the message names DATABASE_URL', () => {
  expect(() => requireGlibc({ platform: 'linux', glibc: undefined })).toThrow(
    /musl[^]*Set DATABASE_URL to a Postgres 15 or newer instead/,
  );
  expect(() => requireGlibc({ platform: 'linux', glibc: '2.36' })).not.toThrow();
  expect(() => requireGlibc({ platform: 'darwin', glibc: undefined })).not.toThrow();
});
