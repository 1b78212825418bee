import { createTestDatabase } from '@kasgres/database/testing';
import { describeProgram } from '@kasgres/programs';
import { expect, onTestFinished, test } from 'vitest';
import type { SeenProgram } from './program-changes.ts';
import { writeTemplates } from './programs.ts';

const FIRST_KEY = 2n ** 31n;

const seen = (hex: string, chainTime: bigint): SeenProgram => ({
  ...describeProgram(Buffer.from(hex, 'hex')),
  first: { chainBlock: { index: 1, chainTime }, position: 0, transaction: 1, index: 0 },
  isBare: false,
  script: undefined,
  kccTemplate: undefined,
});

test('a template that is known uses up no key, and may turn out to be older', async () => {
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  const client = await database.pool.connect();
  onTestFinished(() => client.release());
  // Anybody can write programs with more templates than an integer counts.
  await client.query(`select setval('program_templates_id_seq', ${FIRST_KEY - 1n})`);
  await writeTemplates(client, [seen('b951', 20n)]);
  await writeTemplates(client, [seen('b951', 30n)]);
  await writeTemplates(client, [seen('b951', 10n), seen('b952', 10n), seen('b95175', 40n)]);
  const { rows } = await client.query<{ id: bigint; firstSeen: bigint }>(
    'select id, first_seen as "firstSeen" from program_templates order by id',
  );
  expect(rows).toEqual([
    { id: FIRST_KEY, firstSeen: 10n },
    { id: FIRST_KEY + 1n, firstSeen: 40n },
  ]);
});
