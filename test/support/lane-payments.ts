/** Payments in user lanes, made by a miner of the test. */
import { buildTransaction, withDerived } from '@kasgres/devnet';
import { blockOn, FEE, scriptOf } from '@kasgres/devnet/testing';
import { PARAMS, type SimulatedDag } from './simulated-dag.ts';

const MINER = scriptOf(2);

/** Mines blocks until the miner can make this many payments. */
export function mineRewards({ node }: SimulatedDag, payments: number): void {
  for (let made = 0; made < PARAMS.coinbaseMaturity + payments + 1; made += 1) {
    node.receive(blockOn(node, { miner: MINER, nonce: made }));
  }
}

/** Mines a block with a payment in the lane `number`, whose namespace is that number above 257. */
export function payInLane({ node }: SimulatedDag, number: number): void {
  const { utxos: utxoSet, virtual } = node.consensus;
  const utxo = utxoSet.utxosOf(MINER).find(({ blockDaaScore }) => {
    return Number(blockDaaScore) + PARAMS.coinbaseMaturity <= virtual.daaScore;
  });
  if (utxo === undefined) throw new Error('no coinbase is mature');
  const outputs = [{ amount: Number(utxo.amount) - FEE, scriptPublicKey: scriptOf(3) }];
  const utxos = [{ entry: utxo, redeemScript: undefined }];
  const native = buildTransaction({ version: 1, utxos, outputs, payload: new Uint8Array(0) });
  const subnetworkId = Buffer.from(namespaceOf(number).padEnd(40, '0'), 'hex');
  const payment = withDerived({ ...native, subnetworkId, gas: BigInt(1000 + number) });
  node.receive(blockOn(node, { payments: [payment], miner: MINER }));
}

/** Ids of one byte and zeros are no lanes, so another byte is set, too. */
export const namespaceOf = (number: number): string => (257 + number).toString(16).padStart(8, '0');
