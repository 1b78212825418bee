/** Coinbase transactions. Source: rusty-kaspa, consensus/src/processes/coinbase.rs. */
import {
  COINBASE_SUBNETWORK,
  type CoinbasePayload,
  decodeCoinbasePayload,
  encodeCoinbasePayload,
  type Transaction,
} from '@kasgres/kaspa';
import type { Block, Ghostdag } from './block.ts';

export type Miner = Pick<CoinbasePayload, 'scriptPublicKey' | 'extraData'>;

export interface Merged {
  ghostdag: Ghostdag;
  nonDaa: ReadonlySet<Block>;
  /** In the order of the mergeset. */
  fees: readonly bigint[];
}

/** Pays each merged blue its subsidy and fees, and the block's own miner those of the reds. */
export function coinbaseTransaction(
  { ghostdag, nonDaa, fees }: Merged,
  { scriptPublicKey, extraData }: Miner,
  subsidy: bigint,
): Transaction {
  const reds = new Set(ghostdag.mergeSetReds);
  const outputs: Transaction['outputs'] = [];
  let redReward = 0n;
  for (const [position, block] of ghostdag.mergeSet.entries()) {
    const payload = getCoinbasePayload(block);
    const fee = fees[position] ?? 0n;
    if (reds.has(block)) redReward += nonDaa.has(block) ? fee : payload.subsidy + fee;
    else if (!nonDaa.has(block) && payload.subsidy + fee > 0n) {
      outputs.push({ amount: payload.subsidy + fee, scriptPublicKey: payload.scriptPublicKey, covenant: undefined });
    }
  }
  if (redReward > 0n) outputs.push({ amount: redReward, scriptPublicKey, covenant: undefined });
  const blueScore = BigInt(ghostdag.blueScore);
  return {
    version: 1,
    inputs: [],
    outputs,
    lockTime: 0n,
    subnetworkId: COINBASE_SUBNETWORK,
    gas: 0n,
    payload: encodeCoinbasePayload({ blueScore, subsidy, scriptPublicKey, extraData }),
    storageMass: 0n,
  };
}

export function getCoinbasePayload(block: Block): CoinbasePayload {
  const coinbase = block.transactions[0];
  if (coinbase === undefined) throw new Error(`block ${block.id} has no coinbase`);
  return decodeCoinbasePayload(coinbase.payload);
}
