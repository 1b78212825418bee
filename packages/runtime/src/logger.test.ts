import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { createLogger } from './logger.ts';

function collect(): { lines: Record<string, unknown>[]; write: (line: string) => void } {
  const lines: Record<string, unknown>[] = [];
  return { lines, write: (line) => lines.push(JSON.parse(line) as Record<string, unknown>) };
}

test('secrets are redacted, at the top and one level down', () => {
  const output = collect();
  const log = createLogger({ name: 'test', destination: output });
  log.info(
    { password: 'p', env: { DATABASE_URL: 'postgres://a:b@c/d' }, req: { headers: { 'x-api-key': 'kdp_1' } } },
    'started',
  );
  expect(output.lines[0]).toMatchObject({
    level: 'info',
    name: 'test',
    msg: 'started',
    password: '[redacted]',
    env: { DATABASE_URL: '[redacted]' },
    req: { headers: { 'x-api-key': '[redacted]' } },
  });
});

test('a bigint is logged as its decimal digits', () => {
  const output = collect();
  createLogger({ name: 'test', destination: output }).info({ blueScore: 2n ** 63n, rows: 3 }, 'applied batch');
  expect(output.lines[0]).toMatchObject({ blueScore: '9223372036854775808', rows: 3 });
});

test('the logger respects the level', () => {
  const output = collect();
  const log = createLogger({ name: 'test', level: 'warn', destination: output });
  log.info('unheard');
  log.warn('heard');
  expect(output.lines.map((line) => line['msg'])).toEqual(['heard']);
});

test('all lines are written before the process ends, as far as a pipe has room', async () => {
  const source = `
    import { createLogger } from ${JSON.stringify(new URL('logger.ts', import.meta.url).pathname)};
    const log = createLogger({ name: 'test' });
    for (let line = 0; line < 100; line += 1) log.info({ line, text: 'x'.repeat(200) }, 'line');
    setImmediate(() => {
      log.info({ line: 100 }, 'line');
      process.exit(1);
    });`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', source], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const written = (await text(child.stdout)).trimEnd().split('\n');
  const numbers = written.map((line) => (JSON.parse(line) as { line: number }).line);
  expect(numbers).toEqual(Array.from({ length: 101 }, (_, line) => line));
});
