/**
 * The coinbase transaction that a block must start with (rusty-kaspa, consensus/src/processes/coinbase.rs): one output of subsidy and fees for each
 * merged blue, to the script in that block's coinbase payload, and one output to this block's miner for the rewards of the reds. Blocks too old for
 * the DAA score earn fees only.
 */
import {
  COINBASE_SUBNETWORK,
  type CoinbasePayload,
  decodeCoinbasePayload,
  encodeCoinbasePayload,
  type Transaction,
} from '@kasgres/kaspa';
import type { Block, Ghostdag } from './block.ts';

/** The miner of a block, as in its coinbase payload. */
export type Miner = Pick<CoinbasePayload, 'scriptPublicKey' | 'extraData'>;

/** The mergeset of a block with its fees. */
export interface Merged {
  ghostdag: Ghostdag;
  nonDaa: ReadonlySet<Block>;
  /** In the order of the mergeset. */
  fees: readonly bigint[];
}

const COINBASE_VERSION = 1;

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
    version: COINBASE_VERSION,
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
