/** Which statements share an execution, and what becomes of each. */
import { expect, it } from 'vitest';
import { FairQueue } from '../fairness/fair-queue.ts';
import { SharedReads } from './shared-reads.ts';
import type { AnyStatement } from './statement.ts';

const statement = (name: string, itemsOf: AnyStatement['itemsOf'] = () => undefined): AnyStatement => ({
  name,
  itemsOf,
  queryOf: () => ({ name, text: '', values: [] }),
});
const page = statement('page');
const lookUp = statement('look-up', () => 1);
const smallPage = statement('small page', (request) => (request as { limit: number }).limit);

interface Execution {
  name: string;
  requests: readonly object[];
  finish: (results: string[]) => void;
  fail: (error: Error) => void;
}

/** Reads over one slot, and the executions that have begun, to be ended by the test. */
function openReads({ maxWaiting = 100, attempts = 1 } = {}) {
  const queue = new FairQueue({ slots: 1, maxWaiting, maxWaitMs: 10_000 });
  const executions: Execution[] = [];
  const reads = new SharedReads<string>({
    isFreeFor: (caller) => queue.isFreeFor(caller),
    inTurn: async (caller, read) => {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await queue.run(caller, read);
        } catch (error) {
          if (attempt >= attempts) throw error;
        }
      }
    },
    execute: ({ name }, requests) => {
      const { promise, resolve, reject } = Promise.withResolvers<string[]>();
      executions.push({ name, requests, finish: resolve, fail: reject });
      return promise;
    },
  });
  const run = (of: AnyStatement, parameters: object, caller = 'a') => reads.run({ statement: of, parameters }, caller);
  /** Finishes the latest execution with the JSON of each request, after it has begun. */
  const finish = async (number: number): Promise<void> => {
    await expect.poll(() => executions.length).toBe(number);
    const latest = executions[number - 1];
    latest?.finish(latest.requests.map((request) => JSON.stringify(request)));
  };
  return { executions, run, finish };
}

it('runs a statement alone and at once while a slot is free', async () => {
  const { executions, run, finish } = openReads();
  const read = run(lookUp, { id: 1 });
  expect(executions).toMatchObject([{ name: 'look-up', requests: [{ id: 1 }] }]);
  await finish(1);
  expect(await read).toBe('{"id":1}');
});

it('runs identical statements that wait once, but not for those that ask when it has begun', async () => {
  const { executions, run, finish } = openReads();
  const [first, ...shared] = [run(page, { limit: 1 }), run(page, { limit: 1 }), run(page, { limit: 1 })];
  await finish(1);
  await expect.poll(() => executions.length).toBe(2);
  const late = run(page, { limit: 1 });
  await finish(2);
  await finish(3);
  expect(await Promise.all([first, ...shared, late])).toEqual(Array.from({ length: 4 }, () => '{"limit":1}'));
  expect(executions.map(({ requests }) => requests.length)).toEqual([1, 1, 1]);
});

it('runs pages with different parameters one by one', async () => {
  const { executions, run, finish } = openReads();
  const reads = [1, 2, 3].map((limit) => run(page, { limit }));
  for (const number of [1, 2, 3]) await finish(number);
  expect(await Promise.all(reads)).toEqual(['{"limit":1}', '{"limit":2}', '{"limit":3}']);
  expect(executions.map(({ requests }) => requests.length)).toEqual([1, 1, 1]);
});

it('runs look-ups that wait together, each parameter once and at most 16', async () => {
  const { executions, run, finish } = openReads();
  const ids = [0, ...Array.from({ length: 20 }, (_, index) => index), 17];
  const reads = ids.map((id) => run(lookUp, { id }));
  for (const number of [1, 2, 3]) await finish(number);
  expect(await Promise.all(reads)).toEqual(ids.map((id) => `{"id":${id}}`));
  expect(executions.map(({ requests }) => requests.length)).toEqual([1, 16, 4]);
});

it('runs small pages together while they have at most 100 items', async () => {
  const { executions, run, finish } = openReads();
  const limits = [10, 20, 30, 20, 50, 51, 50, 100, 1];
  const reads = limits.map((limit) => run(smallPage, { limit }));
  for (const number of [1, 2, 3, 4, 5, 6]) await finish(number);
  expect(await Promise.all(reads)).toEqual(limits.map((limit) => `{"limit":${limit}}`));
  expect(executions.map(({ requests }) => requests.map((request) => (request as { limit: number }).limit))).toEqual([
    [10],
    [20, 30, 50],
    [51],
    [50],
    [100],
    [1],
  ]);
});

it('tells apart parameters that differ only in their kind, name or bytes', async () => {
  const { executions, run, finish } = openReads();
  const different = [
    { id: Buffer.from('01', 'hex') },
    { id: Buffer.from('02', 'hex') },
    { id: null },
    { other: 1, id: 2 },
    { id: 1, other: 2 },
    { id: ['a', 'b'] },
    { id: ['a,b'] },
  ];
  const reads = [run(page, {}), ...different.flatMap((parameters) => [run(page, parameters), run(page, parameters)])];
  for (let number = 1; number <= 1 + different.length; number += 1) await finish(number);
  await Promise.all(reads);
  expect(executions.slice(1).map(({ requests }) => requests)).toEqual(different.map((parameters) => [parameters]));
});

it('runs what several callers wait for once, and only that together', async () => {
  const { executions, run, finish } = openReads();
  const reads = [run(page, { limit: 0 }, 'a'), ...['a', 'b', 'c'].map((caller) => run(page, { limit: 1 }, caller))];
  const more = [run(lookUp, { id: 1 }, 'a'), run(lookUp, { id: 2 }, 'b'), run(lookUp, { id: 1 }, 'c')];
  for (const number of [1, 2, 3, 4]) await finish(number);
  expect(await Promise.all(reads)).toEqual(['{"limit":0}', ...Array.from({ length: 3 }, () => '{"limit":1}')]);
  expect(await Promise.all(more)).toEqual(['{"id":1}', '{"id":2}', '{"id":1}']);
  // The turns of those who have their results pass without an execution.
  const next = run(page, { limit: 2 });
  await finish(5);
  expect(await next).toBe('{"limit":2}');
  expect(executions.map(({ requests }) => requests.length)).toEqual([1, 1, 1, 1, 1]);
});

it('serves a caller who asks again after others ran what it waited for', async () => {
  const { executions, run, finish } = openReads();
  const reads = [run(page, { limit: 0 }, 'a'), run(page, { limit: 1 }, 'a'), run(page, { limit: 1 }, 'b')];
  await finish(1);
  await expect.poll(() => executions.length).toBe(2);
  const again = run(page, { limit: 1 }, 'b');
  await finish(2);
  await finish(3);
  expect(await Promise.all([...reads, again])).toEqual([
    '{"limit":0}',
    ...Array.from({ length: 3 }, () => '{"limit":1}'),
  ]);
});

it('fails all who share an execution, and no one else', async () => {
  const { executions, run, finish } = openReads();
  const first = run(page, { limit: 0 });
  const shared = [run(page, { limit: 1 }, 'a'), run(page, { limit: 1 }, 'b')];
  const other = run(page, { limit: 2 });
  await finish(1);
  await expect.poll(() => executions.length).toBe(2);
  executions[1]?.fail(new Error('interrupted'));
  for (const read of shared) await expect(read).rejects.toThrow('interrupted');
  await finish(3);
  expect(await Promise.all([first, other])).toEqual(['{"limit":0}', '{"limit":2}']);
});

it('repeats an interrupted execution for all who share it', async () => {
  const { executions, run, finish } = openReads({ attempts: 2 });
  const reads = [run(page, { limit: 0 }), run(lookUp, { id: 1 }), run(lookUp, { id: 2 })];
  await finish(1);
  await expect.poll(() => executions.length).toBe(2);
  executions[1]?.fail(new Error('interrupted'));
  await finish(3);
  expect(await Promise.all(reads)).toEqual(['{"limit":0}', '{"id":1}', '{"id":2}']);
  expect(executions[2]?.requests).toEqual([{ id: 1 }, { id: 2 }]);
});

it('refuses only the caller who has too many statements waiting', async () => {
  const { run, finish } = openReads({ maxWaiting: 2 });
  const first = run(page, { limit: 0 }, 'a');
  const waiting = [run(page, { limit: 1 }, 'a'), run(page, { limit: 5 }, 'b')];
  const refused = run(page, { limit: 2 }, 'a');
  await expect(refused).rejects.toThrow();
  for (const number of [1, 2, 3]) await finish(number);
  expect(await Promise.all([first, ...waiting])).toEqual(['{"limit":0}', '{"limit":1}', '{"limit":5}']);
});
