/**
 * Sends thousands of valid and invalid requests generated from openapi.json to the real API, while
 * the chain grows and reorganises.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createKey, upsertTags } from '@kasgres/database';
import type { TestDatabase } from '@kasgres/database/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Harness, openHarness } from '../api/harness.ts';

/** Ids of the chain under test, for fuzzed requests that should find something (hooks.py). */
const SOURCES = {
  addresses: 'select address as id from scripts where address is not null order by id limit 200',
  blocks: `select encode(hash, 'hex') as id from blocks order by random() limit 200`,
  transactions: `select encode(transaction_id, 'hex') as id from transactions order by random() limit 500`,
  utxos: `select encode(t.transaction_id, 'hex') || ':' || u.index as id
    from utxos u join transactions t on t.id = u.transaction_id order by random() limit 200`,
  covenants: `select encode(covenant_id, 'hex') as id from covenants order by random() limit 100`,
  positions: `select last_seen || ':' || encode(covenant_id, 'hex') as id from covenants order by random() limit 100`,
  events: `select encode(t.transaction_id, 'hex') as id
    from covenant_events e join transactions t on t.id = e.transaction_id order by random()
      limit 100`,
  covenantUtxos: `select encode(t.transaction_id, 'hex') || ':' || o.index as id
    from transaction_outputs o join transactions t on t.id = o.transaction_id
      where o.covenant_id is not null order by random() limit 100`,
  programs: `select encode(hash, 'hex') as id from programs order by random() limit 100`,
  templates: `select encode(template, 'hex') as id from program_templates order by random() limit 100`,
  daaScores: 'select daa_score::text as id from blocks order by random() limit 50',
};

/** Tags some addresses first. */
async function listKnown({ pool }: TestDatabase): Promise<Record<string, string[]>> {
  const known: Record<string, string[]> = {};
  for (const [name, statement] of Object.entries(SOURCES)) {
    const { rows } = await pool.query<{ id: string }>(statement);
    known[name] = rows.map(({ id }) => id);
  }
  const tagged = known['addresses']?.slice(0, 30) ?? [];
  await upsertTags(
    pool,
    tagged.map((address, index) => ({ address, name: `Tag ${index % 10}`, link: '', labels: ['fuzz'] })),
  );
  return known;
}

const REPOSITORY = join(import.meta.dirname, '../..');
const program = process.env['SCHEMATHESIS_BIN'] ?? 'schemathesis';
const isInstalled = spawnSync(program, ['--version']).status === 0;
if (!isInstalled) {
  console.warn(
    'Skipped: no schemathesis on the PATH or in SCHEMATHESIS_BIN (python3 -m venv .fuzz && .fuzz/bin/pip install schemathesis).',
  );
}

const seed = process.env['FUZZ_SEED'] ?? String(Math.trunc(Math.random() * 2 ** 31));
const maxExamples = process.env['FUZZ_EXAMPLES'] ?? '100';
/** Only operations whose name matches. */
const only = process.env['FUZZ_ONLY'];

const ROUND_MS = 500;

let harness: Harness;
let folder: string;
let key: string;
let growing: NodeJS.Timeout;

beforeAll(async () => {
  if (!isInstalled) return;
  harness = await openHarness({ rounds: 1000 });
  folder = await mkdtemp(join(tmpdir(), 'kasgres-fuzz-'));
  await writeFile(join(folder, 'known.json'), JSON.stringify(await listKnown(harness.database)));
  ({ key } = await createKey(harness.database.kysely, { name: 'fuzz', rateRu: 1e9 }));
  growing = setInterval(() => harness.simulatedDag.mine(1), ROUND_MS);
});
afterAll(async () => {
  if (!isInstalled) return;
  clearInterval(growing);
  await harness.close();
  await rm(folder, { recursive: true });
});

test.skipIf(!isInstalled)(`it responds to any request as openapi.json declares (FUZZ_SEED=${seed})`, async () => {
  const settings = ['--config-file', join(import.meta.dirname, 'schemathesis.toml')];
  const amount = ['--checks', 'all', '--max-examples', maxExamples, '--seed', seed];
  const filter = only === undefined ? [] : ['--include-operation-id-regex', only];
  const document = join(REPOSITORY, 'openapi.json');
  const fuzzing = spawn(program, [...settings, 'run', document, '--url', harness.api.url, ...amount, ...filter], {
    cwd: folder,
    env: {
      ...process.env,
      KASGRES_KEY: key,
      KASGRES_KNOWN: join(folder, 'known.json'),
      SCHEMATHESIS_HOOKS: join(import.meta.dirname, 'hooks.py'),
    },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  expect(await exitCode(fuzzing)).toBe(0);
  expect(harness.program.isRunning(), harness.program.output()).toBe(true);
});

async function exitCode(child: ChildProcess): Promise<number | null> {
  const [code] = (await once(child, 'exit')) as [number | null];
  return code;
}
