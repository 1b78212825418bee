/**
 * The environment of the command, for the documentation, and the checks of `kasgres verify`, which
 * tests run too.
 */
import { type Queryable, verifyState } from '@kasgres/state';

export { cliEnvSchema } from './env.ts';
export { checkAcceptance } from './verify/acceptance.ts';
export { checkInvariant7 } from './verify/completeness.ts';
export { checkGhostdag } from './verify/ghostdag.ts';
export { checkBlocks, checkInvariant8, checkTransactions } from './verify/hashes.ts';
export { findSince } from './verify/since.ts';
export { storedVariants } from './verify/stored-transactions.ts';
export { checkUtxoCommitment } from './verify/utxo-commitment.ts';

export const checkInvariant4 = (db: Queryable): Promise<string[]> => verifyState(db, 4);
export const checkInvariant12 = (db: Queryable): Promise<string[]> => verifyState(db, 12);
