/**
 * The coinbase transaction that a block must start with (rusty-kaspa, consensus/src/processes/coinbase.rs): one output for each merged
 * blue, subsidy and fees, to the script in that block's own coinbase payload; one output to this block's miner for what the reds
 * earned; a payload that names blue score, subsidy and this block's miner. Blocks too old to count for DAA earn fees only.
 */
import {
  COINBASE_SUBNETWORK,
  type CoinbasePayload,
  decodeCoinbasePayload,
  encodeCoinbasePayload,
  type ScriptPublicKey,
  type Transaction,
  type TransactionOutput,
} from '@kasgres/kaspa';
import type { Block, Ghostdag } from './block.ts';

/** The miner of a block, as in its coinbase payload. */
export interface Miner {
  scriptPublicKey: ScriptPublicKey;
  extraData: Uint8Array;
}

/** The mergeset of a block with its fees. */
export interface Merged {
  ghostdag: Ghostdag;
  nonDaa: ReadonlySet<Block>;
  /** The fees of each merged block, in the order of the mergeset. */
  fees: readonly bigint[];
}

const COINBASE_VERSION = 1;

export function coinbaseTransaction({ ghostdag, nonDaa, fees }: Merged, miner: Miner, subsidy: bigint): Transaction {
  const reds = new Set(ghostdag.mergeSetReds);
  const outputs: TransactionOutput[] = [];
  let redReward = 0n;
  for (const [position, block] of ghostdag.mergeSet.entries()) {
    const payload = getCoinbasePayload(block);
    const fee = fees[position] ?? 0n;
    const reward = nonDaa.has(block) ? fee : payload.subsidy + fee;
    if (reds.has(block)) redReward += reward;
    else if (!nonDaa.has(block) && reward > 0n) outputs.push(output(reward, payload.scriptPublicKey));
  }
  if (redReward > 0n) outputs.push(output(redReward, miner.scriptPublicKey));
  return {
    version: COINBASE_VERSION,
    inputs: [],
    outputs,
    lockTime: 0n,
    subnetworkId: COINBASE_SUBNETWORK,
    gas: 0n,
    payload: encodeCoinbasePayload({ blueScore: BigInt(ghostdag.blueScore), subsidy, ...miner }),
    storageMass: 0n,
  };
}

/** Throws on a block that does not start with a coinbase. */
export function getCoinbasePayload(block: Block): CoinbasePayload {
  const coinbase = block.transactions[0];
  if (coinbase === undefined) throw new Error(`block ${block.id} has no coinbase`);
  return decodeCoinbasePayload(coinbase.payload);
}

function output(amount: bigint, scriptPublicKey: ScriptPublicKey): TransactionOutput {
  return { amount, scriptPublicKey, covenant: undefined };
}
