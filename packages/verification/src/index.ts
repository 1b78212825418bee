/**
 * The checks of `kasgres verify` (docs/invariants.md), all of them or one at a time. They read what
 * the indexer wrote and compute it again.
 */
export { checkAcceptance } from './acceptance.ts';
export { checkInvariant7 } from './completeness.ts';
export { checkGhostdag } from './ghostdag.ts';
export { checkBlocks, checkInvariant8, checkTransactions } from './hashes.ts';
export { findFirstBlockOfRetention, findNetworkName } from './queries.ts';
export { describeSince, findSince } from './since.ts';
export { storedVariants } from './stored-transactions.ts';
export { checkUtxoCommitment } from './utxo-commitment.ts';
export { checkInvariant12, checkInvariant4, VERIFICATION_CONNECTION, verify } from './verify.ts';
