/** Outputs of applications before their amounts, programs and covenant ids are known. */
import type { ScriptPublicKey } from '@kasgres/kaspa';
import { type Draft, type DraftInput, foundedBy } from './build-transaction.ts';
import type { Contract } from './contracts.ts';
import type { Random } from './random.ts';
import { p2shOf } from './scripts.ts';
import type { UtxoEntry } from './utxo.ts';
import type { Utxo } from './wallet.ts';

/** An unspent output whose program is known. */
export interface Held {
  entry: UtxoEntry;
  program: Uint8Array;
  /** Undefined for an envelope. */
  contract: Contract | undefined;
}

export interface PlannedOutput {
  /**
   * A contract or an envelope means a program of it, in its next state if the authorising input
   * reveals one.
   */
  to: ScriptPublicKey | Contract | 'envelope';
  /** The amount relative to those of the other outputs. */
  share: number;
  /** The input that authorises the output, which belongs to a covenant then. */
  authorizedBy?: number;
  /** Begins a covenant although the input has one. */
  isBorn?: boolean;
}

/** Binds the outputs to their covenants. */
export function bind(planned: readonly PlannedOutput[], utxos: readonly DraftInput[], outputs: Draft['outputs']): void {
  for (const [input, { entry }] of utxos.entries()) {
    const authorized = planned.flatMap(({ authorizedBy, isBorn = false }, index) => {
      return authorizedBy === input ? [{ index, isBorn: isBorn || entry.covenantId === undefined }] : [];
    });
    const born = authorized
      .filter(({ isBorn }) => isBorn)
      .flatMap(({ index }) => {
        const output = outputs[index];
        return output === undefined ? [] : [[index, output] as const];
      });
    const bornId = foundedBy(entry, born);
    for (const { index, isBorn } of authorized) {
      const output = outputs[index];
      const covenantId = isBorn ? bornId : entry.covenantId;
      if (output !== undefined && covenantId !== undefined) output.covenant = { authorizingInput: input, covenantId };
    }
  }
}

export function toDraftInput(input: Held | Utxo, random: Random): DraftInput {
  const { entry } = input;
  if ('key' in input) return { entry, redeemScript: input.key.redeemScript };
  const { contract, program } = input;
  if (contract?.isBare === true) return { entry, redeemScript: undefined };
  const bytes = contract?.argumentBytes ?? 0;
  return { entry, redeemScript: program, ...(bytes > 0 && { arguments: [random.bytes(bytes)] }) };
}

export function scriptOf(of: Contract | 'envelope', program: Uint8Array | undefined): ScriptPublicKey {
  if (program === undefined) throw new Error('a program is missing');
  return of !== 'envelope' && of.isBare ? { version: 0, script: program } : p2shOf(program);
}

export function isScript(to: PlannedOutput['to']): to is ScriptPublicKey {
  return typeof to !== 'string' && 'script' in to;
}
