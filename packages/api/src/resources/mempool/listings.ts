/** Builds listings of the mempool as JSON in slices, bounded in bytes: with the largest transactions they would take hundreds of megabytes. */
import type { protocol } from '@kasgres/node';
import type { Slices } from '../../fairness/event-loop-turns.ts';
import type { HttpError } from '../../http/errors.ts';
import { SharedRead } from '../../shared-read.ts';
import { toMempoolEntry } from './to-mempool-entry.ts';

/** Entries per response: usually about ten megabytes of JSON. A mempool may have a million entries. */
export const MAX_ENTRIES = 5_000;
export const MAX_BYTES = 32_000_000;

/** @throws the error of `tooLarge` if the text has more than MAX_BYTES */
export async function toListing(
  entries: readonly protocol.MempoolEntry[],
  slices: Slices,
  tooLarge: () => HttpError,
): Promise<Buffer> {
  const pieces = [Buffer.from('{"entries":[')];
  let bytes = 0;
  await slices.forEach(entries, (entry) => {
    const piece = Buffer.from(`${pieces.length === 1 ? '' : ','}${JSON.stringify(toMempoolEntry(entry))}`);
    bytes += piece.length;
    if (bytes > MAX_BYTES) throw tooLarge();
    pieces.push(piece);
  });
  pieces.push(Buffer.from(']}'));
  return Buffer.concat(pieces);
}

/** Under load, a listing is at most this old. */
const SHARED = { lifeMs: 1000, burst: 5 };

export interface Pools {
  includeOrphanPool: boolean;
  filterTransactionPool: boolean;
}

/** Shares listings of whole pools among clients. */
export class SharedListings {
  readonly #reads = new Map<string, { read: SharedRead<Buffer>; timer: NodeJS.Timeout | undefined }>();

  get({ includeOrphanPool, filterTransactionPool }: Pools, read: () => Promise<Buffer>): Promise<Buffer> {
    const name = `${includeOrphanPool} ${filterTransactionPool}`;
    const shared = this.#reads.get(name) ?? { read: new SharedRead<Buffer>(SHARED), timer: undefined };
    this.#reads.set(name, shared);
    // Megabytes are not kept without requests.
    clearTimeout(shared.timer);
    shared.timer = setTimeout(() => shared.read.forget(), 2 * SHARED.lifeMs).unref();
    return shared.read.get(read);
  }
}
