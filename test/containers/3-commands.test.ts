/**
 * The commands that docs/operations.md gives to the owner, and webhooks from the API to a receiver.
 */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { commandsOf, linesOf } from './documents.ts';
import {
  compose,
  createKey,
  engine,
  findApi,
  follow,
  query,
  request,
  set,
  tryShell,
  untilHealthy,
  write,
} from './operator.ts';
import { createHook, RECEIVER_SERVICE, untilDelivered } from './receiver.ts';

const OPERATIONS = 'docs/operations.md';
describe.skipIf(engine.missing !== undefined)('commands of the owner', () => {
  const outputs: Record<string, string> = {};
  let address: string;

  beforeAll(async () => {
    address = await query(`select address from scripts where address like 'kaspasim:%' order by id limit 1`);
    write('names.csv', `address,name\n${address},Harbour Exchange\n`);
    for (const script of commandsOf(OPERATIONS, 'Commands in containers')) {
      for (const line of linesOf(script)) outputs[line] = await follow(line);
    }
  });

  const outputOf = (part: string): string => {
    const [output] = Object.entries(outputs).flatMap(([line, text]) => (line.includes(part) ? [text] : []));
    if (output === undefined) throw new Error(`the document has no command with ${part}`);
    return output;
  };

  test('it creates keys that the API accepts', async () => {
    const [key] = /kdp_\w+/.exec(outputOf('keys create')) ?? [];
    await findApi();
    expect((await request('/v1/blocks?limit=1', key)).status).toBe(200);
  });

  test('it creates analysts with limits, who read the views only', async () => {
    expect(outputOf('analysts create')).toMatch(/postgres(?:ql)?:\/\/\w+:/);
    expect(await query(`select rolconfig::text from pg_roles where rolname = 'ann'`)).toContain('statement_timeout');
    expect(Number((await asAnalyst('select count(*) from kaspa.blocks')).split('\n').at(-1))).toBeGreaterThan(100);
    await expect(asAnalyst('select count(*) from public.blocks')).rejects.toThrow('permission denied');
  });

  test('it verifies the index', () => {
    expect(outputOf('verify')).toContain('holds ');
    expect(outputOf('verify')).not.toContain('BROKEN');
  });

  test('it imports names, which the API shows', async () => {
    expect(outputOf('tags import')).toMatch(/\b1\b/);
    const response = await request(`/v1/addresses/${address}/tag`, await createKey('tags'));
    expect(await response.json()).toMatchObject({ tag: { name: 'Harbour Exchange' } });
  });

  test('it exports files that are copied to the machine', () => {
    const copied = join(engine.folder, 'parquet');
    expect(existsSync(join(copied, 'manifest.json'))).toBe(true);
    const [snapshot = ''] = readdirSync(join(copied, 'tags'));
    expect(readdirSync(join(copied, 'tags', snapshot)).some((file) => file.endsWith('.parquet'))).toBe(true);
  });

  test('no command prints a warning', () => {
    for (const [line, output] of Object.entries(outputs)) expect(output, line).not.toMatch(/warning|deprecat/i);
  });

  test('it explains what is wrong in a message, and not in a trace', async () => {
    const { code, output } = await tryShell('docker compose run --rm migrate tags import /missing.csv');
    expect(code).toBe(1);
    expect(output).toMatch(/missing\.csv/);
    expect(output).not.toMatch(/^\s+at /m);
  });

  test('webhooks deliver signed steps to a receiver in the network `front`', async () => {
    set({ WEBHOOK_ALLOW: '10.0.0.0/8,172.16.0.0/12,192.168.0.0/16' });
    write('docker-compose.receiver.yml', RECEIVER_SERVICE);
    set({ COMPOSE_FILE: 'docker-compose.yml:docker-compose.override.yml:docker-compose.receiver.yml' });
    await compose('up -d');
    await untilHealthy();
    await findApi();
    await untilDelivered(await createHook(await createKey('hooks')));
  });
});

const asAnalyst = (sql: string): Promise<string> => query(`set session authorization "ann"; ${sql}`);
