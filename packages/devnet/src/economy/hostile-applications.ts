/**
 * Makes transactions of a hostile miner against those who index covenants, programs, lanes and
 * protocols.
 */
import { type Outpoint, type ScriptPublicKey, type Transaction, type TransactionOutput } from '@kasgres/kaspa';
import type { DagTransaction } from '../dag/dag.ts';
import { MAX_GAS_PER_LANE } from '../simulation/consensus/isolation-rules.ts';
import { foundedBy, withDerived } from './build-transaction.ts';
import { CONTRACTS, firstProgram } from './contracts.ts';
import {
  ANYONES_SCRIPT,
  bare,
  firstOutput,
  type HostileSize,
  isDefined,
  laneOf,
  nowhere,
  type Plan,
  plain,
  times,
  withInput,
} from './hostile-parts.ts';
import { ODD_PAYLOADS, oddPayload } from './hostile-payloads.ts';
import { HOSTILE_PROGRAMS } from './hostile-programs.ts';
import { envelopeOf } from './protocols.ts';
import type { Random } from './random.ts';
import { p2shOf, payToKey, push } from './scripts.ts';
import { createdEntries, type UtxoEntry } from './utxo.ts';

/** The miner's knowledge of the chain. */
export interface HostileSource {
  /** Returns an unspent output that anybody may spend now. */
  spendable(): UtxoEntry | undefined;
  /** Returns an output of a covenant, spent or not. */
  someOfCovenant(random: Random): UtxoEntry | undefined;
}

const FEE = 1_000n;
const LARGEST_PROGRAM_BYTES = 240_000;
const { script: KEY_SCRIPT } = payToKey(Buffer.alloc(32, 7));
const INTROSPECTION = Uint8Array.of(0xb9, 0x75);
const TRUE = Uint8Array.of(0x51);
/** An empty push: the check of such a signature is false, and the program continues. */
const NO_SIGNATURE = Uint8Array.of(0x00);
/** OpDrop OpTrue: after the check of a signature that fails. */
const DROP_TRUE = Uint8Array.of(0x75, 0x51);

export const HOSTILE_APPLICATIONS = {
  ...HOSTILE_PROGRAMS,

  /**
   * Programs of any size, whole and cut off, revealed by spends that are accepted, or whose
   * commitment is not.
   */
  programs: (miner, random, { blocks }) => {
    // Blocks are mined in any order, and a copy that comes after the commitment is accepted.
    const plans = times(blocks, (_, index) => {
      const program = someProgram(random, index === 0 ? random.pick([LARGEST_PROGRAM_BYTES, 100]) : 1_000);
      const origin = index === 0 || random.chance(0.5) ? miner.spendable() : undefined;
      const [commitment, entry] = commit(origin, p2shOf(program), random);
      const revealed = random.chance(0.9) ? program : someProgram(random, 100);
      const reveal = withInput(plain(entry, entry.amount - FEE), {
        signatureScript: Buffer.concat([random.chance(0.5) ? NO_SIGNATURE : push(random.bytes(3)), push(revealed)]),
        sigOpCount: 1,
      });
      return [[commitment], [reveal], [reveal], [reveal]];
    });
    return plans.flat();
  },

  /**
   * Bindings that no node accepts: forged ids, ids of other covenants, inputs that do not exist,
   * and spends of what is spent.
   */
  bindings: (miner, random, { transactions, blocks }) =>
    times(blocks, () => times(transactions, () => forgedBinding(miner, random))),

  /**
   * One covenant that is born in several blocks: by one transaction, or by two that spend one
   * outpoint for equal outputs. Only one can be accepted.
   */
  births: (miner, random, { blocks }) => {
    const origin = miner.spendable();
    if (origin === undefined) return [];
    const contract = random.pick(CONTRACTS);
    const scripts = times(random.between(1, 2), () => p2shOf(firstProgram(contract, random)));
    const share = (origin.amount - FEE) / BigInt(scripts.length);
    const unbound = scripts.map((scriptPublicKey) => ({ amount: share, scriptPublicKey }));
    const covenantId = foundedBy(
      origin,
      unbound.map((output, index) => [index, output] as const),
    );
    const outputs = unbound.map((output) => ({ ...output, covenant: { authorizingInput: 0, covenantId } }));
    const births = times(random.between(1, 3), (_, index) =>
      plain(origin, 1n, Buffer.from([index]), { version: 1, outputs }),
    );
    const continuations = births.flatMap((birth) => {
      const [entry] = createdEntries(birth, 0, false);
      if (entry === undefined) return [];
      const [output] = outputs;
      const continued = output && { ...output, amount: output.amount - FEE };
      return [plain(entry, 1n, undefined, { version: 1, outputs: continued === undefined ? [] : [continued] })];
    });
    return [...births, ...births, ...continuations].slice(0, 4 * blocks).map((transaction) => [transaction]);
  },

  /**
   * Payloads and envelopes that decoders must survive, in transactions that are accepted one after
   * the other, and in others.
   */
  payloads: (miner, random, { transactions, blocks }) => {
    const accepted = times(blocks, () => {
      const origin = miner.spendable();
      return origin === undefined ? [] : [plain(origin, origin.amount - FEE, oddPayload(random))];
    });
    const others = times(blocks, () => times(transactions, () => bare([nowhere(random)], [1n], oddPayload(random))));
    return [...accepted, ...others];
  },

  /** Lanes with namespaces of any bytes and with gas up to the limit, accepted or not. */
  lanes: (miner, random, { transactions, blocks }) => {
    const fields = (): Partial<Transaction> => ({
      version: 1,
      subnetworkId: laneOf(random),
      gas: random.pick([0n, 1n, MAX_GAS_PER_LANE]),
      payload: random.pick(ODD_PAYLOADS.slice(0, 4)),
    });
    return times(blocks, () => {
      const origin = miner.spendable();
      const accepted = origin === undefined ? [] : [plain(origin, origin.amount - FEE, undefined, fields())];
      return [
        ...accepted,
        ...times(transactions, () => withDerived({ ...bare([nowhere(random)], [1n]), ...fields() })),
      ];
    });
  },
} satisfies Record<string, (miner: HostileSource, random: Random, size: HostileSize) => Plan>;

/**
 * Pays to a script, from an output that exists or from nowhere. Returns the transaction and its
 * output.
 */
function commit(
  origin: UtxoEntry | undefined,
  scriptPublicKey: ScriptPublicKey,
  random: Random,
): [DagTransaction, UtxoEntry] {
  const amount = origin === undefined ? 5_000_000_000n : origin.amount - FEE;
  const outputs = [{ amount, scriptPublicKey, covenant: undefined }];
  const commitment =
    origin === undefined
      ? withDerived({ ...bare([nowhere(random)], []), outputs })
      : plain(origin, 1n, undefined, { outputs });
  const [entry] = createdEntries(commitment, 0, false);
  if (entry === undefined) throw new Error('a transaction without an output');
  return [commitment, entry];
}

/**
 * Returns a program of about this length: one long push, many opcodes, an envelope, or any of them
 * cut off.
 */
function someProgram(random: Random, length: number): Uint8Array {
  const filling = Buffer.alloc(length, random.below(256));
  const owner = random.chance(0.3) ? KEY_SCRIPT : payToKey(random.bytes(32)).script;
  const program = Buffer.concat(
    random.pick([
      [INTROSPECTION, push(filling), TRUE],
      [Buffer.alloc(length, 0xb9), TRUE],
      [Buffer.alloc(length, 0x51), INTROSPECTION],
      [envelopeOf(owner, Buffer.from('kasplex'), filling)],
      [envelopeOf(owner, Buffer.from('kns'), oddPayload(random))],
      [envelopeOf(owner, Buffer.from('kspr'), oddPayload(random)), INTROSPECTION],
      [envelopeOf(owner, Buffer.from('kasplex'), filling), DROP_TRUE],
      [owner, Uint8Array.of(0x00, 0x63), push(Buffer.from('kspr')), Uint8Array.of(0x68), DROP_TRUE],
    ]),
  );
  return random.chance(0.3) ? program.subarray(0, random.below(Math.min(program.length, 300))) : program;
}

function spend(spent: Outpoint, covenant: TransactionOutput['covenant'], amount = 1_000_000_000n): DagTransaction {
  const outputs = [{ amount, scriptPublicKey: ANYONES_SCRIPT, covenant }];
  return withDerived({ ...bare([spent], []), version: 1, outputs });
}

function forgedBinding(miner: HostileSource, random: Random): DagTransaction {
  const known = miner.someOfCovenant(random);
  const origin = random.chance(0.3) ? miner.spendable() : undefined;
  const someId = known?.covenantId ?? random.bytes(32);
  const absent = nowhere(random);
  const founding = { amount: 1_000_000_000n, scriptPublicKey: ANYONES_SCRIPT };
  const choices = [
    // It claims to continue a covenant, whose UTXO it does not spend.
    spend(absent, { authorizingInput: 0, covenantId: someId }),
    // The id is right, and the outpoint does not exist.
    spend(absent, { authorizingInput: 0, covenantId: foundedBy({ outpoint: absent }, [[0, founding]]) }),
    spend(absent, { authorizingInput: random.pick([1, 65_535]), covenantId: random.bytes(32) }),
    // It continues from a UTXO that may be spent already, by a signature script that reveals
    // nothing.
    known && spend(known.outpoint, { authorizingInput: 0, covenantId: someId }),
    known && spend(firstOutput(known.outpoint), { authorizingInput: 0, covenantId: random.bytes(32) }),
    // All but the id is right.
    origin &&
      plain(origin, 1n, undefined, {
        version: 1,
        outputs: [
          {
            amount: origin.amount - FEE,
            scriptPublicKey: ANYONES_SCRIPT,
            covenant: { authorizingInput: 0, covenantId: someId },
          },
        ],
      }),
  ];
  return random.pick(choices.filter(isDefined));
}
