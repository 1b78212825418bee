/**
 * What people do with their UTXOs: miners split rewards, exchanges gather deposits and pay out to many, users pay each other. Made to
 * give an index everything to chew on, in proportions that resemble a network's.
 */
import type { Covenant, ScriptPublicKey, Transaction } from '@kasgres/kaspa';
import { digest, type Random } from './random.ts';
import { buildTransaction, type Draft, leastFee } from './build-transaction.ts';
import type { Key, Keyring } from './keyring.ts';
import { SIGHASH_SINGLE_ANYONE_CAN_PAY } from './signatures.ts';
import type { SimulationOptions } from './options.ts';
import type { Utxo, Wallet } from './wallet.ts';

export interface Payment {
  transaction: Transaction;
  /** False: no mempool would take it, a miner must put it into a block. */
  isStandard: boolean;
}

interface Plan {
  utxos: readonly Utxo[];
  outputCount: number;
  /** Where what is left goes. */
  change: Key;
}

/** Sompi; smaller outputs would weigh too much. */
const LEAST_OUTPUT = 40_000_000;
const NON_STANDARD_SCRIPTS: readonly ScriptPublicKey[] = [
  // OP_TRUE; two keys of which one signs; a script of a version that nobody knows.
  { version: 0, script: Uint8Array.of(0x51) },
  {
    version: 0,
    script: Buffer.concat([
      Uint8Array.of(0x51, 0x20),
      digest(['one']),
      Uint8Array.of(0x20),
      digest(['two']),
      Uint8Array.of(0x52, 0xae),
    ]),
  },
  { version: 3, script: digest(['version 3']) },
];

export class Payments {
  private readonly options: SimulationOptions;
  private readonly keyring: Keyring;
  private readonly wallet: Wallet;

  constructor(options: SimulationOptions, keyring: Keyring, wallet: Wallet) {
    this.options = options;
    this.keyring = keyring;
    this.wallet = wallet;
  }

  /** A payment with UTXOs that can be spent now; undefined when there are none. */
  make(random: Random): Payment | undefined {
    const { collaborativeRate, anyoneCanPayRate } = this.options;
    // Where nobody does so, nothing is left to chance: the same payments as ever are made.
    if (collaborativeRate > 0 && random.chance(collaborativeRate)) return this.collaborate(random);
    if (anyoneCanPayRate > 0 && random.chance(anyoneCanPayRate)) return this.payOpenly(random);
    const utxo = this.wallet.take(random);
    if (utxo === undefined) return undefined;
    const plan = this.plan(utxo, random);
    const isStandard = !random.chance(this.options.nonStandardRate);
    const payload = random.chance(this.options.payloadRate) ? somePayload(random) : new Uint8Array(0);
    const version = random.chance(this.options.versionOneRate) ? 1 : 0;
    const utxos = plan.utxos.map(({ entry, key }) => ({ entry, redeemScript: key.redeemScript }));
    const outputs = this.outputs(plan, payload.length, random);
    const [first] = outputs;
    if (first !== undefined && !isStandard) first.scriptPublicKey = random.pick(NON_STANDARD_SCRIPTS);
    const covenant = version === 1 ? this.covenant(utxo, random) : undefined;
    if (first !== undefined && covenant !== undefined) first.covenant = covenant;
    return { transaction: buildTransaction({ version, utxos, outputs, payload }), isStandard };
  }

  /** Another transaction that spends a UTXO which a first one spends already. */
  conflict(transaction: Transaction, utxo: Utxo['entry'], random: Random): Transaction {
    const key = this.keyring.find(utxo.scriptPublicKey);
    const amount = Number(utxo.amount) - leastFee({ utxos: 1, outputs: 1, payload: 0 });
    return buildTransaction({
      version: transaction.version,
      utxos: [{ entry: utxo, redeemScript: key?.redeemScript }],
      outputs: [{ amount, scriptPublicKey: this.keyring.recipient(random).scriptPublicKey }],
      payload: new Uint8Array(0),
    });
  }

  /** Three people or more get the same amount at new addresses, and each the rest back. */
  private collaborate(random: Random): Payment | undefined {
    const utxos = this.takeOfSeveral(random.between(3, 5), random);
    if (utxos.length < 3) return undefined;
    const fee = leastFee({ utxos: utxos.length, outputs: 2 * utxos.length, payload: 0 });
    const share = Math.ceil(fee / utxos.length);
    const amount = Math.floor((Math.min(...utxos.map(({ entry }) => Number(entry.amount))) - share) / 3);
    const outputs = utxos.flatMap(({ entry, key }) => [
      { amount, scriptPublicKey: this.keyring.next().scriptPublicKey },
      { amount: Number(entry.amount) - amount - share, scriptPublicKey: key.scriptPublicKey },
    ]);
    return { transaction: this.build(utxos, outputs), isStandard: true };
  }

  /** One offers a UTXO for an amount, whoever else takes part; the other signs for everything. */
  private payOpenly(random: Random): Payment | undefined {
    const utxos = this.takeOfSeveral(2, random);
    const [offered, added] = utxos;
    if (offered === undefined || added === undefined) return undefined;
    const asked = Number(offered.entry.amount) + Math.floor(Number(added.entry.amount) / 2);
    const total = Number(offered.entry.amount) + Number(added.entry.amount);
    const fee = leastFee({ utxos: 2, outputs: 2, payload: 0 });
    const outputs = [
      { amount: asked, scriptPublicKey: offered.key.scriptPublicKey },
      { amount: total - asked - fee, scriptPublicKey: added.key.scriptPublicKey },
    ];
    const transaction = this.build(utxos, outputs, SIGHASH_SINGLE_ANYONE_CAN_PAY);
    return { transaction, isStandard: true };
  }

  /** A UTXO each of so many owners, as far as they are found; all large enough to be split. */
  private takeOfSeveral(owners: number, random: Random): Utxo[] {
    const found = new Map<Utxo['key']['owner'], Utxo>();
    for (let tries = 0; tries < 4 * owners && found.size < owners; tries += 1) {
      const utxo = this.wallet.take(random);
      if (utxo !== undefined && utxo.entry.amount > 4 * LEAST_OUTPUT) found.set(utxo.key.owner, utxo);
    }
    return [...found.values()];
  }

  /** @param hashType of the first UTXO's signature */
  private build(utxos: readonly Utxo[], outputs: Draft['outputs'], hashType?: number): Transaction {
    return buildTransaction({
      version: 0,
      utxos: utxos.map(({ entry, key }, index) => ({
        entry,
        redeemScript: key.redeemScript,
        ...(index === 0 && hashType !== undefined && { hashType }),
      })),
      outputs,
      payload: new Uint8Array(0),
    });
  }

  private plan(utxo: Utxo, random: Random): Plan {
    const { owner } = utxo.key;
    const hot = owner.keys[0] ?? utxo.key;
    if (owner.kind === 'miner') {
      const utxos = this.wallet.takeMore(utxo, random.pick([0, 0, 1, 3]));
      return { utxos, outputCount: random.pick([6, 6, 10, 14]), change: hot };
    }
    if (owner.kind === 'exchange') {
      const isSweep = random.chance(this.options.sweepRate);
      const utxos = this.wallet.takeMore(utxo, isSweep ? random.pick([3, 5, 8, 12, 20, 40]) : random.between(0, 2));
      return { utxos, outputCount: isSweep ? 1 : random.between(2, 5), change: hot };
    }
    const utxos = this.wallet.takeMore(utxo, random.pick([0, 0, 0, 1, 1, 2, 3]));
    return { utxos, outputCount: random.pick([1, 2, 2, 2, 2, 3, 4, 6]), change: utxo.key };
  }

  /** Shares of random size; the last one is the change, or all there is. */
  private outputs(
    { utxos, outputCount, change }: Plan,
    payloadBytes: number,
    random: Random,
  ): Writable<Draft['outputs'][number]>[] {
    const total = utxos.reduce((sum, { entry }) => sum + Number(entry.amount), 0);
    const count = Math.max(1, Math.min(outputCount, Math.floor(total / LEAST_OUTPUT)));
    const fee =
      leastFee({ utxos: utxos.length, outputs: count, payload: payloadBytes }) * random.pick([1, 1, 1, 2, 5]) +
      random.below(1_000);
    const spendable = total - fee;
    const spare = spendable - (count * LEAST_OUTPUT) / 2;
    const weights = Array.from({ length: count }, () => random.fraction() + 0.15);
    const sum = weights.reduce((a, b) => a + b, 0);
    const amounts = weights.slice(1).map((weight) => LEAST_OUTPUT / 2 + Math.floor((spare * weight) / sum));
    amounts.push(spendable - amounts.reduce((a, b) => a + b, 0));
    return amounts.map((amount, index) => {
      const isChange = index === count - 1 && (count > 1 || change.owner.kind === 'exchange');
      return { amount, scriptPublicKey: (isChange ? change : this.keyring.recipient(random)).scriptPublicKey };
    });
  }

  /** Goes on with the UTXO's covenant, or founds one now and then. Its id is not derived as a node would. */
  private covenant({ entry }: Utxo, random: Random): Covenant | undefined {
    if (entry.covenantId === undefined && !random.chance(this.options.covenantRate)) return undefined;
    return { authorizingInput: 0, covenantId: entry.covenantId ?? digest(['covenant', entry.key]) };
  }
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

function somePayload(random: Random): Uint8Array {
  if (random.chance(0.3)) return Buffer.from(JSON.stringify({ op: 'note', n: random.below(1_000_000) }));
  return random.bytes(random.pick([1, 4, 16, 33, 64, 120, 180]));
}
