import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';

const ENTRY = new URL('index.ts', import.meta.url).href;

/** Runs the body of a `main` as a separate process, with the exports of the package in scope. */
function start(body: string, { deadlineMs = 5000 } = {}): ChildProcess {
  const source = `
    import * as runtime from ${JSON.stringify(ENTRY)};
    const { FatalError, sleep, untilAborted, readEnv } = runtime;
    await runtime.runProgram('example', async (program) => { ${body} }, { deadlineMs: ${deadlineMs} });`;
  return spawn(process.execPath, ['--input-type=module', '--eval', source], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
}

async function finish(child: ChildProcess): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const output = Promise.all([
    text(child.stdout as NodeJS.ReadableStream),
    text(child.stderr as NodeJS.ReadableStream),
  ]);
  const [code] = (await once(child, 'exit')) as [number | null];
  const [stdout, stderr] = await output;
  return { code, stdout, stderr };
}

/** A program that waits for its signal and prints what it closes. */
const SERVER = `
  program.shutdown.add('pool', () => console.log('closed pool'));
  program.shutdown.add('server', () => console.log('closed server'));
  console.log('ready');
  await untilAborted(program.signal);`;

async function whenReady(child: ChildProcess): Promise<void> {
  await once(child.stdout as NodeJS.ReadableStream, 'data');
}

describe('exit codes', () => {
  test('0 when main returns', async () => {
    expect(await finish(start('console.log("done");'))).toEqual({ code: 0, stdout: 'done\n', stderr: '' });
  });

  test('1 and only the message for a fatal error', async () => {
    const { code, stderr } = await finish(start('throw new FatalError("wrong network");'));
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'example: wrong network\n' });
  });

  test('75 and the stack for any other error', async () => {
    const { code, stderr } = await finish(start('throw new Error("connection reset");'));
    expect(code).toBe(75);
    expect(stderr).toMatch(/^example: Error: connection reset\n +at /);
  });

  test('75 for an unhandled rejection, after closing', async () => {
    const { code, stdout } = await finish(start(`Promise.reject(new Error('lost')); ${SERVER}`));
    expect(code).toBe(75);
    expect(stdout).toContain('closed pool');
  });
});

describe('stopping', () => {
  test.each(['SIGINT', 'SIGTERM'] as const)('%s closes the resources, last first, and exits with 0', async (signal) => {
    const child = start(SERVER);
    await whenReady(child);
    child.kill(signal);
    expect(await finish(child)).toEqual({ code: 0, stdout: 'closed server\nclosed pool\n', stderr: '' });
  });

  test('a parent that exits stops the program', async () => {
    const child = start(SERVER);
    await whenReady(child);
    child.disconnect();
    expect(await finish(child)).toMatchObject({ code: 0 });
  });

  test('a reader of the log that exited with lines unread neither stops nor delays the program', async () => {
    const child = start(`
      const log = runtime.createLogger({ name: 'example' });
      program.useLogger(log);
      log.info('x'.repeat(150_000));
      process.on('message', () => {
        log.info('nobody can read this');
        setTimeout(() => process.send('continued'), 100);
      });
      process.send('ready');
      await untilAborted(program.signal);
      log.fatal('nor this');
      throw new Error('lost');`);
    await once(child, 'message');
    child.stdout?.destroy();
    child.stderr?.destroy();
    child.send('write');
    expect(await once(child, 'message')).toEqual(['continued', undefined]);
    child.disconnect();
    expect(await once(child, 'exit')).toEqual([75, null]);
  });

  test('an aborted sleep in main is a clean exit', async () => {
    const child = start(`console.log('ready'); await sleep(60_000, program.signal);`);
    await whenReady(child);
    child.kill('SIGTERM');
    expect(await finish(child)).toMatchObject({ code: 0, stderr: '' });
  });

  test('a resource that fails to close is named and the others are closed', async () => {
    const child = start(SERVER.replace("() => console.log('closed server')", "() => { throw new Error('stuck'); }"));
    await whenReady(child);
    child.kill('SIGTERM');
    const { code, stdout, stderr } = await finish(child);
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'closed pool\n' });
    expect(stderr).toContain('stuck');
  });

  test('a program that does not stop is stopped at the deadline', async () => {
    const child = start(`console.log('ready'); setInterval(() => {}, 1000); await new Promise(() => {});`, {
      deadlineMs: 100,
    });
    await whenReady(child);
    child.kill('SIGTERM');
    expect(await finish(child)).toMatchObject({
      code: 75,
      stderr: 'example: gave up closing the program after 100 ms\n',
    });
  });

  test('a second Ctrl-C does not wait', async () => {
    const child = start(`console.log('ready'); setInterval(() => {}, 1000); await new Promise(() => {});`);
    await whenReady(child);
    child.kill('SIGINT');
    await new Promise((resolve) => setTimeout(resolve, 200));
    child.kill('SIGINT');
    expect(await finish(child)).toMatchObject({ code: 130 });
  });
});
