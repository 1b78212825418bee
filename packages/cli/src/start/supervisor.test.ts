import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { SupervisedProgram } from './supervisor.ts';

let folder: string;
let printed: string[];
let failures: string[];
let program: SupervisedProgram | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kasgres-supervised-'));
  printed = [];
  failures = [];
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
      print: (line) => printed.push(line),
      onFailure: (reason) => failures.push(reason.message),
      onProcess: () => {},
    },
  );
  return program;
}

test('it restarts a program that exits with 75 or by a signal', async () => {
  await supervise(`
    if (runs === 1) process.exit(75);
    if (runs === 2) process.kill(process.pid, 'SIGKILL');
    setInterval(() => {}, 1000);`);
  await expect.poll(() => printed.length, { timeout: 10_000 }).toBe(2);
  expect(printed[0]).toMatch(/^program exited \(75\); restarting in \d\.\d s$/);
  expect(printed[1]).toMatch(/^program exited \(SIGKILL\); restarting in \d\.\d s$/);
  await expect.poll(() => readFile(join(folder, 'runs'), 'utf8'), { timeout: 10_000 }).toBe('xxx');
  expect(failures).toEqual([]);
});

test('it does not restart a program that exits with 1, and reports its last error', async () => {
  await supervise(`
    console.log(JSON.stringify({ level: 'info', msg: 'started' }));
    console.log(JSON.stringify({ level: 'fatal', msg: 'stopped: the node is of another network' }));
    process.exit(1);`);
  await expect.poll(() => failures).toEqual(['program stopped: stopped: the node is of another network']);
  expect(await readFile(join(folder, 'runs'), 'utf8')).toBe('x');
});

test('it reports unstructured output as the reason of a failure', async () => {
  await supervise(`
    process.stderr.write('The environment is not usable:\\n  NODE_URL: is not set\\n');
    process.exit(1);`);
  await expect
    .poll(() => failures)
    .toEqual(['program stopped: The environment is not usable:\n  NODE_URL: is not set']);
});

test('it prints each warning at most once per minute, and logs everything', async () => {
  await supervise(`
    const warn = { level: 'warn', msg: 'lost the node', err: { message: 'connection refused' } };
    for (let i = 0; i < 3; i++) console.log(JSON.stringify(warn));
    console.log(JSON.stringify({ level: 'info', msg: 'continues' }));
    setInterval(() => {}, 1000);`);
  await expect.poll(() => readFile(join(folder, 'program.log'), 'utf8'), { timeout: 5_000 }).toContain('continues');
  expect((await readFile(join(folder, 'program.log'), 'utf8')).split('\n')).toHaveLength(5);
  // Others on this machine may not read it.
  expect((await stat(join(folder, 'program.log'))).mode & 0o777).toBe(0o600);
  expect(printed).toEqual(['program: lost the node: connection refused']);
});

test('it waits for the exit when stopping, and cancels a pending restart', async () => {
  const ending = await supervise(`
    process.on('SIGTERM', () => setTimeout(() => { console.log('finished'); process.exit(0); }, 300));
    setInterval(() => {}, 1000);
    console.log('ready');`);
  await expect.poll(() => readFile(join(folder, 'program.log'), 'utf8'), { timeout: 5_000 }).toContain('ready');
  await ending.stop();
  expect(await readFile(join(folder, 'program.log'), 'utf8')).toContain('finished');
  expect(printed).toEqual([]);

  const waiting = await supervise('process.exit(75)');
  await expect.poll(() => printed.length, { timeout: 5_000 }).toBe(1);
  await waiting.stop();
  expect(failures).toEqual([]);
});
