/**
 * How much a block or transaction may hold. Consensus limits the transactions of a block to 1,000,000 of transient mass, 4 for each byte of
 * their plain serialisation (packages/kaspa/src/mass.ts), so to 250,000 bytes together. Whatever is larger than these limits is refused
 * by every node; here it is refused before it costs anything. The figures are those of kaspad 2.1.0 (consensus/core/src/config/params.rs),
 * the same on all networks.
 */
const MAX_TRANSIENT_MASS = 1_000_000;
const TRANSIENT_MASS_PER_BYTE = 4;
const MAX_BYTES = MAX_TRANSIENT_MASS / TRANSIENT_MASS_PER_BYTE;

/** Version 2, counts of inputs and outputs 8 + 8, lock time 8, subnetwork 20, gas 8, hash of the payload 32 and its length 8. */
const LEAST_TRANSACTION_BYTES = 94;
/** Outpoint 36, length of the signature script 8, sequence 8. Only a coinbase has no input. */
const LEAST_INPUT_BYTES = 52;

/** The coinbase, which has no mass, and as many transactions of one input and no output as fit: 1,713. */
export const MAX_BLOCK_TRANSACTIONS = 1 + Math.floor(MAX_BYTES / (LEAST_TRANSACTION_BYTES + LEAST_INPUT_BYTES));

/** By mass alone 4,805 would fit, but consensus sets a lower limit (`max_tx_inputs`). */
export const MAX_TRANSACTION_INPUTS = 1000;
/** An output takes at least 18 bytes, so that 13,883 would fit; consensus sets a lower limit (`max_tx_outputs`). */
export const MAX_TRANSACTION_OUTPUTS = 1000;

/** Scripts and payloads: none is larger than all that a block may hold. */
export const MAX_FIELD_BYTES = MAX_BYTES;

/** Levels are numbered by one byte. */
export const MAX_PARENT_LEVELS = 256;
/**
 * Direct parents are at most 16, on simnet 64. For higher levels consensus has no figure; parents of one level are no ancestors of each
 * other, and so of a merge set like direct ones, which has 248 blocks at most.
 */
export const MAX_PARENTS_PER_LEVEL = 256;

/** Names of fields in `verboseData`, which nothing is read of: the responses of the API have up to 10. */
export const MAX_IGNORED_FIELDS = 32;
