/**
 * The database suite on the image of Postgres, and that no command of the documents was left out.
 */
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { allCommands } from './documents.ts';
import { commandsRun, compose, engine, shell } from './operator.ts';
import { tryToRun } from './run.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const SUITE = 'packages/database/src';

describe.skipIf(engine.missing !== undefined)('afterwards', () => {
  test('every command of the documents was run as it is there', () => {
    const left = new Set(allCommands());
    for (const command of commandsRun()) left.delete(command);
    expect([...left]).toEqual([]);
  });

  test('the database suite passes on the image of the composition', async () => {
    await compose(`--profile '*' down --volumes --remove-orphans`);
    const since = Math.floor(Date.now() / 1_000);
    const script = `npx vitest run --project database ${SUITE}`;
    const { code, output } = await tryToRun(script, { cwd: ROOT, env: { TEST_DATABASE: 'container' } });
    expect(code, output.slice(-5_000)).toBe(0);
    // Not on the embedded Postgres, which would pass as well.
    const events = `docker events --since ${since} --until ${Math.ceil(Date.now() / 1_000)} --filter event=start --format '{{.From}}'`;
    expect((await shell(events)).split('\n')).toContain('postgres:17-bookworm');
  });
});
