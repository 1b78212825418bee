import { COINBASE_SUBNETWORK, type Covenant, type ScriptPublicKey } from '@kasgres/kaspa';
import { type Draft, foundedBy, leastFee } from './build-transaction.ts';
import type { Key, Keyring } from './keyring.ts';
import type { EconomyOptions } from './options.ts';
import { digest, type Random } from './random.ts';
import { SIGHASH_SINGLE_ANYONE_CAN_PAY } from './signatures.ts';
import type { UtxoEntry } from './utxo.ts';
import type { Utxo, Wallet } from './wallet.ts';

export interface Payment {
  draft: Draft;
  /** False if no mempool takes it. */
  isStandard: boolean;
}

export interface PaymentsOptions {
  options: EconomyOptions;
  keyring: Pick<Keyring, 'find' | 'next' | 'recipient'>;
  wallet: Pick<Wallet, 'take' | 'takeMore'>;
  /** Default: OP_TRUE, a 1-of-2 multisig and a script of an unknown version. */
  nonStandardScripts?: readonly ScriptPublicKey[];
}

interface Plan {
  utxos: readonly Utxo[];
  outputCount: number;
  change: Key;
}

/** Sompi. Half of it is the smallest output, so that storage mass stays bounded. */
const LEAST_OUTPUT = 40_000_000;
/** All bits set disable the relative lock of an input. */
const NO_SEQUENCE_LOCK = 2n ** 64n - 1n;
const NON_STANDARD_SCRIPTS: readonly ScriptPublicKey[] = [
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

/**
 * Makes random payments: miners split rewards, exchanges sweep deposits and pay many, users pay
 * each other.
 */
export class Payments {
  private readonly options: EconomyOptions;
  private readonly keyring: PaymentsOptions['keyring'];
  private readonly wallet: PaymentsOptions['wallet'];
  private readonly nonStandardScripts: readonly ScriptPublicKey[];

  constructor({ options, keyring, wallet, nonStandardScripts = NON_STANDARD_SCRIPTS }: PaymentsOptions) {
    this.options = options;
    this.keyring = keyring;
    this.wallet = wallet;
    this.nonStandardScripts = nonStandardScripts;
  }

  /** Returns `undefined` if no UTXO can be spent now. */
  make(random: Random): Payment | undefined {
    const { collaborativeRate, anyoneCanPayRate, specialRate } = this.options;
    // A rate of 0 draws no number, so that new kinds of payments leave existing seeds as they are.
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
    if (first !== undefined && !isStandard) first.scriptPublicKey = random.pick(this.nonStandardScripts);
    const covenant = version === 1 && first !== undefined ? this.covenant(utxo, first, random) : undefined;
    if (first !== undefined && covenant !== undefined) first.covenant = covenant;
    const special = specialRate > 0 && random.chance(specialRate) ? specialFields(version, random) : {};
    return { draft: { version, utxos, outputs, payload, ...special }, isStandard };
  }

  /** Returns a transaction that spends a UTXO in another way. */
  conflict(version: number, utxo: UtxoEntry, random: Random): Draft {
    const key = this.keyring.find(utxo.scriptPublicKey);
    const amount = Number(utxo.amount) - leastFee({ utxos: 1, outputs: 1, payload: 0 });
    return {
      version,
      utxos: [{ entry: utxo, redeemScript: key?.redeemScript }],
      outputs: [{ amount, scriptPublicKey: this.keyring.recipient(random).scriptPublicKey }],
      payload: new Uint8Array(0),
    };
  }

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
    return { draft: plainDraft(utxos, outputs), isStandard: true };
  }

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
    return { draft: plainDraft(utxos, outputs, SIGHASH_SINGLE_ANYONE_CAN_PAY), isStandard: true };
  }

  /** Takes a UTXO of each of up to that number of owners, all large enough to be split. */
  private takeOfSeveral(owners: number, random: Random): Utxo[] {
    const found = new Map<Utxo['key']['owner'], Utxo>();
    for (let tries = 0; tries < 4 * owners && found.size < owners; tries += 1) {
      const utxo = this.wallet.take(random);
      if (utxo !== undefined && utxo.entry.amount > 4 * LEAST_OUTPUT) found.set(utxo.key.owner, utxo);
    }
    return [...found.values()];
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

  /** Outputs of random amounts; the last one is the change, or everything. */
  private outputs({ utxos, outputCount, change }: Plan, payloadBytes: number, random: Random): Draft['outputs'] {
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

  /** Continues the covenant of the UTXO, or founds one. */
  private covenant({ entry }: Utxo, output: Draft['outputs'][number], random: Random): Covenant | undefined {
    if (entry.covenantId === undefined && !random.chance(this.options.covenantRate)) return undefined;
    return { authorizingInput: 0, covenantId: entry.covenantId ?? foundedBy(entry, [[0, output]]) };
  }
}

/** @param hashType of the first signature */
function plainDraft(utxos: readonly Utxo[], outputs: Draft['outputs'], hashType?: number): Draft {
  return {
    version: 0,
    utxos: utxos.map(({ entry, key }, index) => ({
      entry,
      redeemScript: key.redeemScript,
      ...(index === 0 && hashType !== undefined && { hashType }),
    })),
    outputs,
    payload: new Uint8Array(0),
  };
}

function specialFields(version: number, random: Random): Partial<Draft> {
  if (version === 0) return { lockTime: BigInt(1 + random.below(500)), sequence: NO_SEQUENCE_LOCK };
  if (random.chance(0.5)) return { sequence: BigInt(random.below(2)) };
  // Four bytes name a lane; one byte and zeros would be a subnetwork of the protocol.
  const subnetworkId = new Uint8Array(COINBASE_SUBNETWORK.length);
  subnetworkId.set([random.below(2), 1 + random.below(3), 0, random.below(4)]);
  return { subnetworkId, gas: BigInt(random.below(1_000)) };
}

function somePayload(random: Random): Uint8Array {
  if (random.chance(0.3)) return Buffer.from(JSON.stringify({ op: 'note', n: random.below(1_000_000) }));
  return random.bytes(random.pick([1, 4, 16, 33, 64, 120, 180]));
}
