import { FatalError } from '@kasgres/runtime';

/**
 * Files of Node.js (about 25), six connections to the database, those to the node (at most eight)
 * and its p2p, and the probes with their clients.
 */
const NEEDED_FILES = 64;

/**
 * @throws FatalError if the limit of open files is too low to index; otherwise a connection would
 * fail at some moment
 */
export function checkFileLimit(fileLimit: number): void {
  if (fileLimit >= NEEDED_FILES) return;
  throw new FatalError(
    `The limit of ${fileLimit} open files is below the ${NEEDED_FILES} that the indexer needs. Raise it, such as with \`ulimit -n 1024\`.`,
  );
}
