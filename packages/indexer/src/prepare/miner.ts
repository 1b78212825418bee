import { CoinbasePayloadError, decodeCoinbasePayload, type ScriptPublicKey } from '@kasgres/kaspa';
import type { RpcBlock } from '@kasgres/node';

const MAX_BIGINT = 2n ** 63n - 1n;

export interface Miner {
  scriptPublicKey: ScriptPublicKey;
  /** Sompi, without fees. */
  subsidy: bigint;
}

/**
 * Returns who mined a block, from the payload of its coinbase. Undefined for genesis, which nobody
 * mined, and for what consensus would not accept.
 */
export function findMiner({ header, transactions: [coinbase] }: RpcBlock): Miner | undefined {
  if (coinbase === undefined || (header.parentsByLevel[0] ?? []).length === 0) return undefined;
  try {
    const { scriptPublicKey, subsidy } = decodeCoinbasePayload(coinbase.payload);
    return subsidy > MAX_BIGINT ? undefined : { scriptPublicKey, subsidy };
  } catch (error) {
    if (error instanceof CoinbasePayloadError) return undefined;
    throw error;
  }
}
