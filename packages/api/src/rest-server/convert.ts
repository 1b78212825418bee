/**
 * Converts transactions and blocks one by one, in slices: JSON.parse and JSON.stringify of the
 * megabytes that a page may have would block the event loop for half a second (EventLoopTurns of
 * packages/reads).
 */
import { FairQueue, type Slices, unavailable } from '@kasgres/reads';
import { stringifyExact } from '../http/exact-integers.ts';
import { MAX_LIMIT } from '../pages/page-query.ts';

/** The text that each item has once, and how many characters of the item are before it. */
interface Mark {
  text: string;
  at: number;
}

/**
 * Only the transaction itself, and neither its inputs nor its outputs, has a version after its id.
 * No text in the JSON has a quote.
 */
export const TRANSACTIONS: Mark = { text: '","version":', at: '{"transactionId":"'.length + 64 };
export const BLOCKS: Mark = { text: '{"header":', at: 0 };

const BRACE = 0x7d;

/**
 * Yields the JSON of each item of the array that is the last field of an object, as Postgres makes
 * it.
 */
export function* itemsOf(json: Buffer, { text, at }: Mark): Generator<string> {
  for (let found = json.indexOf(text); found !== -1; ) {
    const next = json.indexOf(text, found + text.length);
    // The last item ends before the brace of the object.
    const end = next === -1 ? json.length - 1 : next - at;
    yield json.toString('utf8', found - at, json.lastIndexOf(BRACE, end - 1) + 1);
    found = next;
  }
}

/** Returns the JSON of the object with an empty array. */
export function withoutItems(json: Buffer, { text, at }: Mark): string {
  const first = json.indexOf(text);
  return first === -1 ? String(json) : `${json.toString('utf8', 0, first - at)}]}`;
}

/** Usual pages are smaller. */
const LARGE_BYTES = 2 ** 20;

/**
 * Slices of one page wait for those of others, and the database makes pages faster than they are
 * converted. Each takes up to three times 64 MiB.
 */
const largePages = new FairQueue({
  slots: 2,
  maxWaiting: 6,
  // As long as any response may take (server.ts).
  maxWaitMs: 15_000,
  busy: () => unavailable('Too many large pages are being made', 2),
});

/**
 * Pages that may be long: the database needs up to seconds for one, and a caller gets one after the
 * other.
 */
const longPages = new FairQueue({
  slots: 2,
  maxWaiting: 100,
  maxWaitMs: 15_000,
  busy: () => unavailable('Too many long pages are being read', 2),
});

/**
 * Reads a page of up to so many items when it is the turn of the caller.
 * @throws HttpError 503 if too many long pages wait
 */
export const readInTurn = <T>(caller: string, limit: number, read: () => Promise<T>): Promise<T> =>
  limit <= MAX_LIMIT ? read() : longPages.run(caller, read);

/**
 * Runs the conversion of a page when it is the turn of the caller.
 * @throws HttpError 503 if too many large pages wait
 */
export const inTurn = <T>(caller: string, json: Buffer, convert: () => Promise<T>): Promise<T> =>
  json.length <= LARGE_BYTES ? convert() : largePages.run(caller, convert);

export const jsonOf = (value: unknown): Buffer => Buffer.from(stringifyExact(value));

/**
 * Parses the items of such an object one by one. Returns the rest of the object, with an empty
 * array.
 */
export async function forEachItem(
  json: Buffer,
  mark: Mark,
  slices: Slices,
  handle: (item: unknown) => void,
): Promise<unknown> {
  await slices.forEach(itemsOf(json, mark), (item) => handle(JSON.parse(item)));
  return JSON.parse(withoutItems(json, mark));
}
