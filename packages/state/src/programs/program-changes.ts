/**
 * Nets what a batch does to programs: who revealed or created each first, how often it was spent,
 * and the fees by family of opcodes.
 */
import type { ScriptKey, TransactionKey } from '@kasgres/database';
import { type Hash, type Sompi, toHex } from '@kasgres/kaspa';
import { bareProgram, describeProgram, type ProgramDescription, USES } from '@kasgres/programs';
import { type AcceptedTransaction, type ChainBlock, getOrInsert } from '../state-changes.ts';
import { hourOf } from '../balances/hourly-changes/hourly-deltas.ts';
import type { Reveals } from '../reveals/reveals.ts';
import type { BareProgram, MarkedSpend, MarkedSpends } from '../utxos/marked-spends.ts';
import { knownKccTemplate } from './kcc-template.ts';
import { isPublicKeyScript } from './public-key-script.ts';
import { type ProgramSpend, isOfProgram, spendOf } from './program-spend.ts';

/** Where a program was seen. Inputs come before the outputs of their transaction. */
export interface Occurrence {
  chainBlock: Pick<ChainBlock, 'index' | 'chainTime'>;
  position: number;
  transaction: TransactionKey;
  index: number;
}

interface BareOutput extends Occurrence {
  script: ScriptKey;
  program: Uint8Array;
  description: ProgramDescription;
}

/** A program that the batch reveals, or creates as a bare script. */
export interface SeenProgram extends ProgramDescription {
  first: Occurrence;
  isBare: boolean;
  script: ScriptKey | undefined;
  kccTemplate: Hash | undefined;
}

export interface HourDelta {
  hour: number;
  use: number;
  spends: number;
  fees: Sompi;
}

export class ProgramChanges {
  readonly #bareOutputs: BareOutput[] = [];
  /** Spends of bare scripts by removed chain blocks. */
  removedBareSpends: readonly ProgramSpend[] = [];
  /** Hashes of programs that removed chain blocks revealed or created first. */
  removedFirst: readonly Hash[] = [];
  /** The writing of programs and templates, which the covenants of the batch refer to. */
  applied: Promise<unknown> | undefined;

  /** Marks the UTXOs that are bare programs. */
  addOutputs({ created, content, ...accepted }: AcceptedTransaction, marked: MarkedSpends): void {
    const { chainBlock, position, key: transaction } = accepted;
    for (const [index, { scriptPublicKey }] of content.outputs.entries()) {
      if (isPublicKeyScript(scriptPublicKey.script)) continue;
      const program = bareProgram(scriptPublicKey);
      const utxo = created[index];
      if (program === undefined || utxo === undefined) continue;
      const description = describeProgram(program);
      this.#bareOutputs.push({ chainBlock, position, transaction, index, script: utxo.script, program, description });
      marked.mark(utxo, description);
    }
  }

  /**
   * Returns the programs of the batch, and the spends of all: also of programs that were known
   * before.
   */
  seen(reveals: Reveals, marked: readonly MarkedSpend[]): { programs: SeenProgram[]; spends: ProgramSpend[] } {
    const programs = new Map<string, SeenProgram>();
    const spends: ProgramSpend[] = [];
    const see = (program: Uint8Array, description: ProgramDescription, first: Occurrence, script?: ScriptKey): void => {
      const isBare = script !== undefined;
      const name = toHex(description.hash);
      const known = programs.get(name);
      if (known === undefined) {
        const kccTemplate = knownKccTemplate(program, description.template);
        programs.set(name, { ...description, first, isBare, script, kccTemplate });
        return;
      }
      known.script ??= script;
      if (isBefore(first, known.first)) Object.assign(known, { first, isBare });
    };
    for (const reveal of reveals.found) {
      const description = reveals.describe(reveal);
      if (!isOfProgram(reveal, description)) continue;
      see(reveal.program, description, { ...reveal, index: reveal.input });
      spends.push(spendOf(reveal, description));
    }
    for (const { script, program, description, ...first } of this.#bareOutputs)
      see(program, description, first, script);
    for (const { spender, utxo } of marked) {
      if (utxo.bareProgram !== undefined) spends.push(bareSpendOf(spender, utxo.bareProgram));
    }
    return { programs: [...programs.values()], spends };
  }
}

export function isBefore(a: Occurrence, b: Occurrence): boolean {
  if (a.chainBlock.index !== b.chainBlock.index) return a.chainBlock.index < b.chainBlock.index;
  return a.position < b.position;
}

function bareSpendOf({ key, fee, chainBlock }: MarkedSpend['spender'], { hash, uses }: BareProgram): ProgramSpend {
  return { hash, uses, transaction: key, fee, chainTime: chainBlock.chainTime };
}

/** Returns the changes by hour and family. The fee of a transaction counts once for each family. */
export function hourDeltas(added: readonly ProgramSpend[], removed: readonly ProgramSpend[]): HourDelta[] {
  const deltas = new Map<string, HourDelta>();
  const add = (spends: readonly ProgramSpend[], sign: 1 | -1): void => {
    const counted = new Set<string>();
    for (const { uses, transaction, chainTime, fee } of spends) {
      const hour = hourOf(chainTime);
      for (const use of Object.values(USES)) {
        if ((uses & use) === 0) continue;
        const delta = getOrInsert(deltas, `${hour}:${use}`, () => ({ hour, use, spends: 0, fees: 0n }));
        delta.spends += sign;
        const payment = `${transaction}:${use}`;
        if (!counted.has(payment)) delta.fees += BigInt(sign) * fee;
        counted.add(payment);
      }
    }
  };
  add(added, 1);
  add(removed, -1);
  return [...deltas.values()].filter(({ spends, fees }) => spends !== 0 || fees !== 0n);
}

/** Returns how often each program was spent, by hash. */
export function countSpends(added: readonly ProgramSpend[], removed: readonly ProgramSpend[]): Map<string, number> {
  const counts = new Map<string, number>();
  const add = ({ hash }: ProgramSpend, by: number): void => {
    const name = toHex(hash);
    counts.set(name, (counts.get(name) ?? 0) + by);
  };
  for (const spend of added) add(spend, 1);
  for (const spend of removed) add(spend, -1);
  return counts;
}
