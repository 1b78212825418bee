/** Listings of the mempool as JSON, made in slices and bounded in bytes: with the largest transactions they would take hundreds of megabytes. */
import type { protocol } from '@kasgres/node';
import type { Slices } from '../../fairness/event-loop-turns.ts';
import type { HttpError } from '../../http/errors.ts';
import { SharedRead } from '../../shared-read.ts';
import { toMempoolEntry } from './to-mempool-entry.ts';

/** Entries in one response: about ten megabytes of JSON, mostly. A mempool may hold a million. */
export const MAX_ENTRIES = 5_000;
export const MAX_BYTES = 32_000_000;

/** @throws what `tooLarge` makes if the text has more than MAX_BYTES */
export async function toListing(
  entries: readonly protocol.MempoolEntry[],
  slices: Slices,
  tooLarge: () => HttpError,
): Promise<Buffer> {
  const parts = [Buffer.from('{"entries":[')];
  let bytes = 0;
  await slices.map(entries, (entry) => {
    const part = Buffer.from(`${parts.length === 1 ? '' : ','}${JSON.stringify(toMempoolEntry(entry))}`);
    bytes += part.length;
    if (bytes > MAX_BYTES) throw tooLarge();
    parts.push(part);
  });
  parts.push(Buffer.from(']}'));
  return Buffer.concat(parts);
}

/** A listing is at most so old. The first few in a row are always made for the one who asks. */
const SHARED = { lifeMs: 1000, burst: 5 };

export interface Pools {
  includeOrphanPool: boolean;
  filterTransactionPool: boolean;
}

/** Listings of whole pools, which are the same for everybody. */
export class SharedListings {
  readonly #reads = new Map<string, { read: SharedRead<Buffer>; timer: NodeJS.Timeout | undefined }>();

  get({ includeOrphanPool, filterTransactionPool }: Pools, read: () => Promise<Buffer>): Promise<Buffer> {
    const name = `${includeOrphanPool} ${filterTransactionPool}`;
    const shared = this.#reads.get(name) ?? { read: new SharedRead<Buffer>(SHARED), timer: undefined };
    this.#reads.set(name, shared);
    // Megabytes are not kept while nobody asks.
    clearTimeout(shared.timer);
    shared.timer = setTimeout(() => shared.read.forget(), 2 * SHARED.lifeMs).unref();
    return shared.read.get(read);
  }
}
