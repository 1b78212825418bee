/** Blocks and payments for tests, made one by one. */
import type { ScriptPublicKey } from '@kasgres/kaspa';
import type { DagTransaction } from '../../dag/dag.ts';
import type { BlockBody, Virtual } from '../consensus/consensus.ts';
import type { UtxoEntry } from '../../economy/utxo.ts';
import { buildTransaction, leastFee, withDerived } from '../../economy/build-transaction.ts';
import { assembleBlock } from '../node/assemble-block.ts';
import type { SimulatedNode } from '../node/simulated-node.ts';
import { SMALL_PARAMS, smallNode, START_TIME } from './small-simulated-dag.ts';

export const FEE = leastFee({ utxos: 1, outputs: 1, payload: 0 });

/** A script that pays to a public key of this byte. */
export function scriptOf(byte: number): ScriptPublicKey {
  return { version: 0, script: Buffer.concat([Uint8Array.of(0x20), Buffer.alloc(32, byte), Uint8Array.of(0xac)]) };
}

export interface BlockOptions {
  virtual?: Virtual;
  payments?: readonly DagTransaction[];
  miner?: ScriptPublicKey;
  nonce?: number;
}

export function blockOn(node: SimulatedNode, options: BlockOptions = {}): BlockBody {
  const { virtual = node.consensus.virtual, payments = [], miner = scriptOf(1), nonce = 0 } = options;
  return assembleBlock(node.consensus, {
    virtual,
    miner: { scriptPublicKey: miner, extraData: new Uint8Array(0) },
    payments,
    timestamp: START_TIME + 100 * virtual.ghostdag.blueScore,
    nonce: BigInt(nonce),
  });
}

/**
 * Returns blocks on the virtual block with these payments. Their hashes ascend and their blue work
 * is equal, so the last one becomes the selected parent of the next block, which merges the others
 * in their order.
 */
export function siblings(node: SimulatedNode, contents: readonly (readonly DagTransaction[])[]): BlockBody[] {
  return contents.map((payments, index) => {
    for (let nonce = 0; ; nonce += 1) {
      const body = blockOn(node, { payments, nonce });
      if (Math.floor(((body.hash[0] ?? 0) / 256) * contents.length) === index) return body;
    }
  });
}

/** Makes a node on which the first rewards, all of one miner, are mature. */
export function nodeWithUtxos(): { node: SimulatedNode; utxos: UtxoEntry[] } {
  const node = smallNode();
  for (let made = 0; made < SMALL_PARAMS.coinbaseMaturity + 10; made += 1) node.receive(blockOn(node));
  const { utxos: utxoSet, virtual } = node.consensus;
  const utxos = [...utxoSet.values()].filter((utxo) => {
    return Number(utxo.blockDaaScore) + SMALL_PARAMS.coinbaseMaturity <= virtual.daaScore;
  });
  return { node, utxos };
}

/** Spends a whole UTXO, less the fee. */
export function payment(utxo: UtxoEntry | undefined, recipient: ScriptPublicKey, fee = FEE): DagTransaction {
  if (utxo === undefined) throw new Error('no UTXO to spend');
  const outputs = [{ amount: Number(utxo.amount) - fee, scriptPublicKey: recipient }];
  const utxos = [{ entry: utxo, redeemScript: undefined }];
  return withDerived(buildTransaction({ version: 0, utxos, outputs, payload: new Uint8Array(0) }));
}
