/** Finds exported files whose chain blocks a reorg removed. */
import { FatalError } from '@kasgres/runtime';
import type { ClientBase } from 'pg';
import { findChainEnds, isOnChain } from './chain.ts';
import { findDatabase } from './find-database.ts';
import type { FactFiles, Part } from './manifest.ts';

/**
 * Returns the position of the first file that is not valid any longer; undefined if everything
 * exported is on the chain.
 * @param database of the manifest
 * @throws {FatalError} if the database no longer has the rows of such a file, or the rows after the
 * last one
 */
export async function findUndone(
  client: ClientBase,
  name: string,
  files: FactFiles,
  database: string,
): Promise<{ from: number; keepsFirst: boolean } | undefined> {
  const { index, hash } = files.last ?? files.first;
  if (await isOnChain(client, { index, hash })) return undefined;
  if ((await findDatabase(client))?.database !== database) {
    throw new FatalError(
      `${name} was exported up to chain block ${index}, ${hash}, which is not at that index in this database: it has another chain, or ` +
        'another bootstrap block. Export into another directory, or set DATABASE_URL to the database of this export.',
    );
  }
  let from = files.files.length;
  for (; from > 0; from -= 1) {
    const { last, lastHash } = files.files[from - 1] as Part;
    if (await isOnChain(client, { index: last, hash: lastHash })) break;
  }
  const firstIndex = (await findChainEnds(client))?.first.index ?? 0;
  if ((files.files[from]?.first ?? firstIndex) < firstIndex) {
    const reason =
      index < firstIndex
        ? `RETENTION removed chain blocks after ${index} that were not exported yet`
        : `a reorg removed chain block ${index}, and RETENTION removed rows that would have to be exported again`;
    throw new FatalError(
      `${name} was exported up to chain block ${index}: ${reason}. The files stay. Export into another directory.`,
    );
  }
  return { from, keepsFirst: await isOnChain(client, files.first) };
}
