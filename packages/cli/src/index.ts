/**
 * What the rest of the workspace may use of the command: its environment, for the documentation, and the checks of `kasgres
 * verify`, which tests run too.
 */
export { cliEnvSchema } from './env.ts';
export { checkGhostdag } from './verify/ghostdag.ts';
export { checkInvariant4, checkInvariant12 } from './verify/derived-state.ts';
export { checkInvariant7 } from './verify/completeness.ts';
export { checkBlocks, checkInvariant8, checkTransactions } from './verify/hashes.ts';
export { checkUtxoCommitment } from './verify/utxo-commitment.ts';
export { checkAcceptance } from './verify/acceptance.ts';
export { findSince } from './verify/since.ts';
export { storedTransactionsOf } from './verify/stored-transactions.ts';
