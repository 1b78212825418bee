/**
 * Divides `MEMORY_LIMIT_MB` among the parts of the indexer that hold chain data.
 * docs/architecture.md, "Bounds", derives the figures.
 */
import type { SourceLimits } from './source/source.ts';

export const DEFAULT_MEMORY_LIMIT_MB = 4_096;
/** Less would leave no room for lookups in memory beside the largest page. */
export const MIN_MEMORY_LIMIT_MB = 2_560;
export const MAX_MEMORY_LIMIT_MB = 65_536;

/**
 * The program, the largest page while it is received and decoded, and the accepted ids of the chain
 * blocks ahead.
 */
const FIXED_MB = 2_190;
/** The largest amount of fetched pages that speeds up a catch-up. */
const MAX_BYTES_AHEAD = 1024 * 1024 * 1024;
/**
 * A Map of V8 has at most 2^24 entries, and memory/hash-index.ts spreads half of this limit well.
 * It is reached at 13 GB.
 */
const MAX_TRANSACTIONS = 2 ** 24;

export interface MemoryBounds extends SourceLimits {
  /** Cached transactions: about 340 bytes each during a first catch-up, with room to grow. */
  memoryTransactions: number;
}

/**
 * At the default limit these are 384 MiB of pages ahead, each byte of which costs another 1.5 in
 * batches, and 2,950,000 cached transactions.
 */
export function memoryBounds(limitMb: number): MemoryBounds {
  const share = (limitMb - FIXED_MB) / (DEFAULT_MEMORY_LIMIT_MB - FIXED_MB);
  return {
    pageStreams: 3,
    maxBytesAhead: Math.min(MAX_BYTES_AHEAD, Math.floor(share * 384 * 1024 * 1024)),
    batchTransactions: 4_000,
    memoryTransactions: Math.min(MAX_TRANSACTIONS, Math.floor(share * 2_950_000)),
  };
}
