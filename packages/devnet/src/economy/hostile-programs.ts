/**
 * Makes transactions of a hostile miner that reveal programs in every way that the rules allow, and
 * that found and move many covenants at once.
 */
import type { ScriptPublicKey, TransactionInput, TransactionOutput } from '@kasgres/kaspa';
import type { DagTransaction } from '../dag/dag.ts';
import { foundedBy, requiredStorageMass, withDerived } from './build-transaction.ts';
import { ANYONES_SCRIPT, bare, type HostileSize, isDefined, type Plan, times, withInput } from './hostile-parts.ts';
import { oddPayload } from './hostile-payloads.ts';
import { envelopeOf } from './protocols.ts';
import type { Random } from './random.ts';
import { p2shOf, payToKey, push } from './scripts.ts';
import { createdEntries, type UtxoEntry } from './utxo.ts';

/** In sompi. */
const FEE = 10_000n;
const MAX_SHARES = 6;
/** In sompi: enough for the fees of a plan and an output of each share. */
const MIN_ORIGIN = 1_000_000n;
const OP_TRUE = 0x51;
const OP_END_IF = 0x68;
const OP_DROP = 0x75;
/** Follows a check of a signature that fails: drops its result and succeeds. */
const DROP_TRUE = Uint8Array.of(OP_DROP, OP_TRUE);
/** OpFalse OpIf. */
const BRANCH = Uint8Array.of(0x00, 0x63);
const NO_SIGNATURE = Uint8Array.of(0x00);
/**
 * Each leaves the stack as it was: OpTxInputIndex, OpInputCovenantId, Op1Negate, Op16 or
 * OpTxVersion, and OpDrop.
 */
const SNIPPETS = ['b975', 'b9cf75', '4f75', '6075', 'b275'].map((hex) => Buffer.from(hex, 'hex'));

interface Source {
  spendable(): UtxoEntry | undefined;
}

interface Program {
  bytes: Uint8Array;
  /** Pushes of what it takes from the stack. */
  arguments: Uint8Array;
}

interface Lock {
  script: ScriptPublicKey;
  /** The signature script that spends it. */
  key: Uint8Array;
}

export const HOSTILE_PROGRAMS = {
  /**
   * Several outputs that commit to one program or are it, in several script versions. The inputs of
   * one transaction reveal it.
   */
  reveals: (miner, random, { inputs, blocks }) =>
    times(Math.ceil(blocks / 2), () => {
      const origin = takeRich(miner);
      if (origin === undefined) return [];
      const program = someProgram(random);
      const locks = times(random.between(1, Math.min(inputs, MAX_SHARES)), () => {
        return lockOf(random.chance(0.6) ? program : someProgram(random), random);
      });
      const commitment = funded([origin], split(origin.amount, locks), random.pick([0, 1]));
      const reveal = unlock(commitment, locks, payOut(commitment), random);
      return [[commitment], [reveal], [random.chance(0.5) ? variantOf(reveal) : reveal]];
    }).flat(),

  /**
   * Several covenants of one input, covenants of several inputs, and all of them moved, merged,
   * burned and founded again at once.
   */
  families: (miner, random, { blocks }) =>
    times(Math.ceil(blocks / 2), () => {
      const origins = times(random.between(1, 3), () => takeRich(miner)).filter(isDefined);
      if (origins.length === 0) return [];
      const total = origins.reduce((sum, { amount }) => sum + amount, 0n);
      const locks = times(random.between(1, MAX_SHARES), () => lockOf(someProgram(random), random));
      const birth = funded(origins, bind(split(total, locks), origins, random), 1);
      const entries = createdEntries(birth, 0, false);
      const left = entries.reduce((sum, { amount }) => sum + amount, 0n);
      const nextLocks = times(random.between(1, MAX_SHARES), () => lockOf(someProgram(random), random));
      const step = unlock(birth, locks, bind(split(left, nextLocks), entries, random), random, 1);
      const end = unlock(step, nextLocks, payOut(step), random, random.pick([0, 1]));
      return [[birth], [step], [random.chance(0.5) ? variantOf(step) : step], [end], [variantOf(end)]];
    }).flat(),
} satisfies Record<string, (miner: Source, random: Random, size: HostileSize) => Plan>;

function takeRich(miner: Source): UtxoEntry | undefined {
  for (let entry = miner.spendable(); entry !== undefined; entry = miner.spendable()) {
    if (entry.amount >= MIN_ORIGIN) return entry;
  }
  return undefined;
}

/**
 * Returns a program that succeeds when it runs: random pushes that are dropped, or an envelope of a
 * random owner.
 */
function someProgram(random: Random): Program {
  if (random.chance(0.25)) {
    const { script } = payToKey(random.chance(0.5) ? Buffer.alloc(32, 7) : random.bytes(32));
    const marker = Buffer.from(random.pick(['kasplex', 'KasPlex', 'kspr', 'kns', 'x']));
    const envelope = random.chance(0.2)
      ? Buffer.concat([script, BRANCH, push(marker), Uint8Array.of(OP_END_IF)])
      : envelopeOf(script, marker, oddPayload(random).subarray(0, 500));
    return { bytes: Buffer.concat([envelope, DROP_TRUE]), arguments: NO_SIGNATURE };
  }
  const parts = times(random.below(4), () => {
    const data = random.bytes(random.pick([1, 2, 20, 32, 75, 76, 255, 256]));
    return random.chance(0.5) ? random.pick(SNIPPETS) : Buffer.concat([push(data), Uint8Array.of(OP_DROP)]);
  });
  return { bytes: Buffer.concat([...parts, Uint8Array.of(OP_TRUE)]), arguments: new Uint8Array(0) };
}

function lockOf(program: Program, random: Random): Lock {
  const { bytes } = program;
  if (random.chance(0.6)) return { script: p2shOf(bytes), key: Buffer.concat([program.arguments, push(bytes)]) };
  return { script: { version: random.pick([0, 0, 1, 65_535]), script: bytes }, key: program.arguments };
}

function split(total: bigint, locks: readonly Lock[]): TransactionOutput[] {
  const amount = (total - FEE) / BigInt(locks.length);
  return locks.map(({ script: scriptPublicKey }) => ({ amount, scriptPublicKey, covenant: undefined }));
}

function payOut({ outputs }: DagTransaction): TransactionOutput[] {
  const total = outputs.reduce((sum, { amount }) => sum + amount, 0n);
  return [{ amount: total - FEE, scriptPublicKey: ANYONES_SCRIPT, covenant: undefined }];
}

/**
 * Binds outputs to covenants: each is free, continues the covenant of an input, or founds one,
 * alone or with others.
 */
function bind(outputs: readonly TransactionOutput[], spent: readonly UtxoEntry[], random: Random): TransactionOutput[] {
  /** By the input that founds a covenant, and one of three groups of its outputs. */
  const founding = new Map<string, { authorizingInput: number; indexes: number[] }>();
  const bound = outputs.map((output, index) => {
    if (random.chance(0.2)) return output;
    const authorizingInput = random.below(spent.length);
    const covenantId = spent[authorizingInput]?.covenantId;
    if (covenantId !== undefined && random.chance(0.7))
      return { ...output, covenant: { authorizingInput, covenantId } };
    const group = `${authorizingInput} ${random.below(3)}`;
    const founded = founding.get(group) ?? { authorizingInput, indexes: [] };
    founded.indexes.push(index);
    founding.set(group, founded);
    return output;
  });
  for (const { authorizingInput, indexes } of founding.values()) {
    const origin = spent[authorizingInput];
    if (origin === undefined) continue;
    const covenantId = foundedBy(
      origin,
      indexes.map((index) => [index, outputs[index] as TransactionOutput] as const),
    );
    for (const index of indexes) {
      bound[index] = { ...(outputs[index] as TransactionOutput), covenant: { authorizingInput, covenantId } };
    }
  }
  return bound;
}

function funded(spent: readonly UtxoEntry[], outputs: readonly TransactionOutput[], version: number): DagTransaction {
  const unfinished = {
    ...bare(
      spent.map(({ outpoint }) => outpoint),
      [],
    ),
    version,
    outputs: [...outputs],
  };
  return withDerived({ ...unfinished, storageMass: requiredStorageMass(unfinished, spent) });
}

/** Spends all outputs of a transaction. */
function unlock(
  spent: DagTransaction,
  locks: readonly Lock[],
  outputs: readonly TransactionOutput[],
  random: Random,
  version = random.pick([0, 1]),
): DagTransaction {
  const transaction = funded(createdEntries(spent, 0, false), outputs, version);
  const inputs = transaction.inputs.map((input, index): TransactionInput => {
    const signatureScript = locks[index]?.key ?? input.signatureScript;
    return version === 0
      ? { ...input, signatureScript, sigOpCount: 1 }
      : { ...input, signatureScript, computeBudget: 12 };
  });
  const payload = random.chance(0.3) ? oddPayload(random) : transaction.payload;
  return withDerived({ ...transaction, inputs, payload });
}

/** Returns another variant: the id does not commit to sig-op counts and compute budgets. */
function variantOf(transaction: DagTransaction): DagTransaction {
  return withInput(transaction, transaction.version === 0 ? { sigOpCount: 2 } : { computeBudget: 13 });
}
