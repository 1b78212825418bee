import { expect, test } from 'vitest';
import { sleep } from './sleep.ts';
import { WorkerPool } from './worker-pool.ts';

const SQUARE = new URL('./testing/square.worker.ts', import.meta.url);
const BROKEN = new URL('./testing/broken.worker.ts', import.meta.url);

test('it returns the result of each job, also of more jobs than threads', async () => {
  const pool = new WorkerPool<number, number>(SQUARE, 2);
  const values = Array.from({ length: 50 }, (_, index) => index + 1);
  expect(await Promise.all(values.map((value) => pool.run(value)))).toEqual(values.map((value) => value * value));
  await pool.close();
});

test('it rejects a job that fails, and the thread continues with the next', async () => {
  const pool = new WorkerPool<number, number>(SQUARE, 1);
  await expect(pool.run(-1)).rejects.toThrow(new RangeError('-1 is negative'));
  expect(await pool.run(3)).toBe(9);
  await pool.close();
});

test('it rejects the job of a thread that exited, and starts another thread for the next', async () => {
  const pool = new WorkerPool<number, number>(SQUARE, 1);
  const lost = pool.run(0);
  const next = pool.run(4);
  await expect(lost).rejects.toThrow('a worker thread exited with code 3');
  expect(await next).toBe(16);
  await pool.close();
});

test('it rejects the jobs of a module that cannot be loaded', async () => {
  const pool = new WorkerPool<number, number>(BROKEN, 1);
  const jobs = [pool.run(1), pool.run(2)];
  for (const job of jobs) await expect(job).rejects.toThrow('this module cannot be loaded');
  await pool.close();
});

test('it rejects a job that cannot be cloned', async () => {
  const pool = new WorkerPool<unknown, number>(SQUARE, 1);
  await expect(pool.run(() => 1)).rejects.toThrow('could not be cloned');
  expect(await pool.run(5)).toBe(25);
  await pool.close();
});

test('close finishes the job under way, rejects the others, and refuses new ones', async () => {
  const pool = new WorkerPool<number, number>(SQUARE, 1);
  const [started, queued] = [pool.run(6), pool.run(7)];
  const refusal = expect(queued).rejects.toThrow('the worker pool was closed');
  await pool.close();
  expect(await started).toBe(36);
  await refusal;
  await expect(pool.run(8)).rejects.toThrow('the worker pool is closed');
});

test('it closes at any moment of the life of its threads', async () => {
  for (let round = 0; round < 30; round += 1) {
    const pool = new WorkerPool<number, number>(SQUARE, 2);
    const jobs = Promise.allSettled([pool.run(2), pool.run(3), pool.run(4)]);
    await sleep(round * 3);
    await pool.close();
    const [first, second] = await jobs;
    expect([first, second]).toEqual([
      { status: 'fulfilled', value: 4 },
      { status: 'fulfilled', value: 9 },
    ]);
  }
});
