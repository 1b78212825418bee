/** Items are found in the JSON of Postgres without parsing all of it. */
import { EventLoopTurns, Slices } from '@kasgres/reads';
import { expect, test } from 'vitest';
import { toJsonArray } from '../http/json-array.ts';
import { BLOCKS, forEachItem, inTurn, itemsOf, jsonOf, readInTurn, TRANSACTIONS, withoutItems } from './convert.ts';

const ID = 'ab'.repeat(32);

const transaction = (payload: string) => ({
  transactionId: ID,
  version: 1,
  payload,
  inputs: [{ transactionId: ID, index: 0, previousOutput: { transactionId: ID, index: 1, amount: null } }],
  outputs: [
    { transactionId: ID, index: 0, amount: '5' },
    { transactionId: ID, index: 1, amount: '6' },
  ],
});

/** As json_agg and json_build_object separate values. */
const asPostgres = (rest: string, name: string, items: readonly unknown[]): Buffer =>
  Buffer.from(`{${rest}"${name}" : [${items.map((item) => JSON.stringify(item)).join(', \n ')}]}`);

test.each([0, 1, 2, 5])('it finds %i transactions, but not their inputs and outputs', async (count) => {
  const items = Array.from({ length: count }, (_, n) => transaction(`0x${'7d7b'.repeat(n)}`));
  const json = asPostgres('"newest" : 7, ', 'transactions', items);
  const found: unknown[] = [];
  const slices = new Slices(new EventLoopTurns(), 'test');
  const rest = await forEachItem(json, TRANSACTIONS, slices, (item) => void found.push(item));
  expect(found).toEqual(items);
  expect(rest).toEqual({ newest: 7, transactions: [] });
});

test('the event loop runs meanwhile', async () => {
  const json = asPostgres('', 'transactions', Array(2000).fill(transaction('ab'.repeat(5000))));
  let turns = 0;
  const count = (): void => {
    turns += 1;
    pending = setImmediate(count);
  };
  let pending = setImmediate(count);
  await forEachItem(json, TRANSACTIONS, new Slices(new EventLoopTurns(), 'test'), () => undefined);
  clearImmediate(pending);
  expect(turns).toBeGreaterThan(1);
});

test('few large pages are converted or wait at once, and others do not wait for them', async () => {
  const large = Buffer.alloc(2 ** 21);
  const { promise: release, resolve } = Promise.withResolvers<void>();
  let running = 0;
  const convert = async (): Promise<string> => {
    running += 1;
    await release;
    return 'done';
  };
  const pages = Array.from({ length: 10 }, () => inTurn('busy', large, convert));
  const other = inTurn('other', large, convert);
  const settled = Promise.allSettled(pages);
  expect(running).toBe(2);
  expect(await inTurn('busy', Buffer.from('{}'), async () => 'small')).toBe('small');
  resolve();
  expect(await other).toBe('done');
  const refused = (await settled).filter(({ status }) => status === 'rejected');
  expect(refused).toHaveLength(3);
  expect(refused[0]).toMatchObject({ reason: { statusCode: 503 } });
});

test('long pages of a caller are read one after the other, and others wait for none', async () => {
  const releases: (() => void)[] = [];
  const read = () => new Promise<string>((resolve) => releases.push(() => resolve('done')));
  const busy = Array.from({ length: 3 }, () => readInTurn('busy', 500, read));
  const others = [readInTurn('other', 101, read), readInTurn('busy', 100, read)];
  expect(releases).toHaveLength(3);
  for (const release of releases) release();
  expect(await Promise.all(others)).toEqual(['done', 'done']);
  await busy[0];
  await expect.poll(() => releases.length).toBe(4);
  releases[3]?.();
  await expect.poll(() => releases.length).toBe(5);
  releases[4]?.();
  expect(await Promise.all(busy)).toEqual(['done', 'done', 'done']);
});

test('it finds blocks with their transactions', () => {
  const block = { header: { hash: ID, version: 1 }, transactions: [transaction('')], verboseData: { hash: ID } };
  const json = asPostgres('"blockHashes" : ["a", "b"], ', 'blocks', [block, block]);
  expect([...itemsOf(json, BLOCKS)].map((item) => JSON.parse(item) as unknown)).toEqual([block, block]);
  expect(JSON.parse(withoutItems(json, BLOCKS))).toEqual({ blockHashes: ['a', 'b'], blocks: [] });
});

test.each([[[]], [['a']], [['a', { b: 1 }, [null]]]])('it joins the JSON of %j', (values: unknown[]) => {
  expect(JSON.parse(String(toJsonArray(values.map(jsonOf))))).toEqual(values);
});
