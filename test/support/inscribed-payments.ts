/** Payments with payloads and envelopes, made by a miner of the test (`mineRewards`). */
import { buildTransaction, p2shOf, push, type UtxoEntry, withDerived } from '@kasgres/devnet';
import { blockOn, FEE, scriptOf } from '@kasgres/devnet/testing';
import type { ScriptPublicKey } from '@kasgres/kaspa';
import { PARAMS, type SimulatedDag } from './simulated-dag.ts';

const MINER = scriptOf(2);

interface Payment {
  payload?: Uint8Array;
  to?: ScriptPublicKey;
  /** Spends the output to this program, and not a reward. */
  program?: Uint8Array;
}

/** Mines a block with a payment. */
export function pay({ node }: SimulatedDag, { payload = new Uint8Array(0), to = scriptOf(3), program }: Payment): void {
  const { utxos, virtual } = node.consensus;
  const isMature = ({ isCoinbase, blockDaaScore }: UtxoEntry): boolean =>
    !isCoinbase || Number(blockDaaScore) + PARAMS.coinbaseMaturity <= virtual.daaScore;
  const entry = utxos.utxosOf(program === undefined ? MINER : p2shOf(program)).find(isMature);
  if (entry === undefined) throw new Error('there is nothing to spend');
  const fee = FEE + 2 * payload.length + 2 * (program?.length ?? 0);
  const unrevealed = buildTransaction({
    version: 0,
    utxos: [{ entry, redeemScript: undefined }],
    outputs: [{ amount: Number(entry.amount) - fee, scriptPublicKey: to }],
    payload,
  });
  const inputs = unrevealed.inputs.map((input) => ({
    ...input,
    signatureScript: Buffer.concat([input.signatureScript, program === undefined ? new Uint8Array(0) : push(program)]),
  }));
  const payment = withDerived({ ...unrevealed, inputs });
  node.receive(blockOn(node, { payments: [payment], miner: MINER }));
}

/**
 * Returns a program in the form of Kasplex: the key of `scriptOf(byte)`, and a branch that is never
 * executed.
 */
export function envelope(byte: number, marker: string, content: string): Uint8Array {
  const data = Buffer.from(content);
  return Buffer.concat([
    scriptOf(byte).script,
    Uint8Array.of(0x00, 0x63, marker.length),
    Buffer.from(marker),
    Uint8Array.of(0x00),
    push(data),
    Uint8Array.of(0x68),
  ]);
}
