import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { SupervisedProgram } from './supervised-program.ts';

let folder: string;
let said: string[];
let hopeless: string[];
let program: SupervisedProgram | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kasgres-supervised-'));
  said = [];
  hopeless = [];
});

afterEach(async () => {
  await program?.stop();
  await rm(folder, { recursive: true });
});

/** Supervises a program with this source, which can count its runs in `runs`. */
async function supervise(source: string): Promise<SupervisedProgram> {
  const path = join(folder, 'program.mjs');
  const count = `
    import { appendFileSync, readFileSync } from 'node:fs';
    appendFileSync(${JSON.stringify(join(folder, 'runs'))}, 'x');
    const runs = readFileSync(${JSON.stringify(join(folder, 'runs'))}, 'utf8').length;
    process.on('disconnect', () => process.exit());`;
  await writeFile(path, `${count}\n${source}`);
  program = new SupervisedProgram(
    { name: 'program', path },
    {
      logPath: join(folder, 'program.log'),
      say: (line) => said.push(line),
      onHopeless: (reason) => hopeless.push(reason.message),
      onProcess: () => {},
    },
  );
  return program;
}

test('a program that ends with 75 or by a signal is started again', async () => {
  await supervise(`
    if (runs === 1) process.exit(75);
    if (runs === 2) process.kill(process.pid, 'SIGKILL');
    setInterval(() => {}, 1000);`);
  await expect.poll(() => said.length, { timeout: 10_000 }).toBe(2);
  expect(said[0]).toMatch(/^program ended \(75\); starting it again in \d\.\d s$/);
  expect(said[1]).toMatch(/^program ended \(SIGKILL\); starting it again in \d\.\d s$/);
  await expect.poll(() => readFile(join(folder, 'runs'), 'utf8'), { timeout: 10_000 }).toBe('xxx');
  expect(hopeless).toEqual([]);
});

test('a program that ends with 1 is not, and its last words are told', async () => {
  await supervise(`
    console.log(JSON.stringify({ level: 'info', msg: 'started' }));
    console.log(JSON.stringify({ level: 'fatal', msg: 'stopped permanently: the node is of another network' }));
    process.exit(1);`);
  await expect.poll(() => hopeless).toEqual(['program stopped: stopped permanently: the node is of another network']);
  expect(await readFile(join(folder, 'runs'), 'utf8')).toBe('x');
});

test('plain last words are told too', async () => {
  await supervise(`
    process.stderr.write('The environment is not usable:\\n  NODE_URL: is not set\\n');
    process.exit(1);`);
  await expect
    .poll(() => hopeless)
    .toEqual(['program stopped: The environment is not usable:\n  NODE_URL: is not set']);
});

test('warnings are said once a minute, everything is in the log', async () => {
  await supervise(`
    const warn = { level: 'warn', msg: 'lost the node', err: { message: 'connection refused' } };
    for (let i = 0; i < 3; i++) console.log(JSON.stringify(warn));
    console.log(JSON.stringify({ level: 'info', msg: 'goes on' }));
    setInterval(() => {}, 1000);`);
  await expect.poll(() => readFile(join(folder, 'program.log'), 'utf8'), { timeout: 5_000 }).toContain('goes on');
  expect((await readFile(join(folder, 'program.log'), 'utf8')).split('\n')).toHaveLength(5);
  expect(said).toEqual(['program: lost the node: connection refused']);
});

test('stopping waits for the end of the program, and while it waits to be started again ends at once', async () => {
  const ending = await supervise(`
    process.on('SIGTERM', () => setTimeout(() => { console.log('ended well'); process.exit(0); }, 300));
    setInterval(() => {}, 1000);
    console.log('ready');`);
  await expect.poll(() => readFile(join(folder, 'program.log'), 'utf8'), { timeout: 5_000 }).toContain('ready');
  await ending.stop();
  expect(await readFile(join(folder, 'program.log'), 'utf8')).toContain('ended well');
  expect(said).toEqual([]);

  const waiting = await supervise('process.exit(75)');
  await expect.poll(() => said.length, { timeout: 5_000 }).toBe(1);
  await waiting.stop();
  expect(hopeless).toEqual([]);
});
