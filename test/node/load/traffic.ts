/** The economy of the simulated network with real signatures, and payments that the load needs on purpose. */
import { DEFAULT_OPTIONS, type EconomyOptions, outpointKey, Payments, Random } from '@kasgres/devnet';
import type { Hash } from '@kasgres/kaspa';
import type { LoadKeys, Owner } from './owner.ts';
import { covenantId, fitting, type Payment, type Payout, type Plan, sign, type Utxo } from './payment.ts';
import type { Wallet } from './wallet.ts';

const MEMPOOL_FEE_SOMPI = 2_000_000n;
const FEE_SOMPI = 500_000n;
const STRANGER_SOMPI = 120_000_000n;
/** 40 KAS, enough for the storage mass of the long script. */
const LARGE_SOMPI = 4_000_000_000n;
const LONG_SCRIPT_RATE = 0.02;

export function loadOptions(seed: string): EconomyOptions {
  return {
    ...DEFAULT_OPTIONS,
    seed,
    versionOneRate: 0.25,
    covenantRate: 0.3,
    nonStandardRate: 0.02,
    specialRate: 0.2,
    sweepRate: 0.5,
    exchanges: 3,
  };
}

export class Traffic {
  readonly miners: Owner[];
  readonly #random: Random;
  readonly #keys: LoadKeys;
  readonly #wallet: Wallet;
  readonly #payments: Payments;

  constructor(random: Random, keys: LoadKeys, wallet: Wallet, options: EconomyOptions) {
    this.miners = keys.miners;
    this.#random = random;
    this.#keys = keys;
    this.#wallet = wallet;
    this.#payments = new Payments({
      options,
      keyring: keys,
      wallet: wallet.economy,
      nonStandardScripts: keys.nonStandard.map(({ scriptPublicKey }) => scriptPublicKey),
      covenantId: (origin, { amount, scriptPublicKey }) =>
        covenantId(keys.utxoOf(origin), [
          { index: 0, payout: { amount: BigInt(amount), owner: keys.ownerOf(scriptPublicKey) } },
        ]),
    });
  }

  /** Returns the next payment, `undefined` while there is no UTXO to spend. */
  next(): Payment | undefined {
    for (;;) {
      const plan = this.#random.chance(LONG_SCRIPT_RATE) ? this.#toLongScript() : this.#plan();
      if (plan === undefined) return undefined;
      const payment = sign(plan);
      if (fitting([payment]).length === 1) return payment;
      for (const utxo of plan.utxos) this.#wallet.giveBack(utxo);
    }
  }

  /** Another payment of the UTXO that `payment` spends first: only one of the two can be accepted. */
  conflictOf({ plan }: Payment): Payment {
    const [utxo] = plan.utxos;
    if (utxo === undefined) throw new Error('a payment spends something');
    return this.spend(utxo);
  }

  /** A payment that spends this UTXO alone. */
  spend(utxo: Utxo): Payment {
    return sign({ utxos: [utxo], payouts: [this.#payout(utxo.output.amount - FEE_SOMPI)] });
  }

  /** A payment that a mempool takes: to standard scripts only, and with a fee of more than 100 sompi a gram. */
  standard(utxo: Utxo, payload: Uint8Array = new Uint8Array()): Payment {
    const half = (utxo.output.amount - MEMPOOL_FEE_SOMPI) / 2n;
    const amounts = [half, utxo.output.amount - MEMPOOL_FEE_SOMPI - half];
    return sign({ utxos: [utxo], payouts: amounts.map((amount) => this.#payout(amount)), payload });
  }

  /** A payment of a UTXO that never existed. */
  stranger(): Payment {
    return this.#spendMissing(this.#random.bytes(32), this.#random.below(3));
  }

  /** A payment of an output that a known transaction does not have. */
  beyond(transactionId: Hash): Payment {
    return this.#spendMissing(transactionId, 4_000_000_000);
  }

  #plan(): Plan | undefined {
    const payment = this.#payments.make(this.#random);
    if (payment === undefined) return undefined;
    const { version, utxos, outputs, payload, lockTime, sequence, subnetworkId, gas } = payment.draft;
    const entries = utxos.map(({ entry }) => entry);
    this.#wallet.spend(entries);
    return {
      version: version === 1 || entries.some((entry) => entry.covenantId !== undefined) ? 1 : 0,
      utxos: entries.map((entry) => this.#keys.utxoOf(entry)),
      payouts: outputs.map(({ amount, scriptPublicKey, covenant }) => {
        return { amount: BigInt(amount), owner: this.#keys.ownerOf(scriptPublicKey), ...(covenant && { covenant }) };
      }),
      payload,
      ...(lockTime !== undefined && { lockTime }),
      ...(sequence !== undefined && { sequence }),
      ...(subnetworkId !== undefined && { subnetworkId }),
      ...(gas !== undefined && { gas }),
    };
  }

  #toLongScript(): Plan | undefined {
    const utxo = this.#wallet.take();
    if (utxo === undefined) return undefined;
    const amount = utxo.output.amount - FEE_SOMPI;
    const owner = amount > LARGE_SOMPI ? this.#keys.longScript : this.#payout(amount).owner;
    return { version: 1, utxos: [utxo], payouts: [{ amount, owner }] };
  }

  #spendMissing(transactionId: Hash, index: number): Payment {
    const { scriptPublicKey } = this.#keys.recipient(this.#random);
    const outpoint = { transactionId, index };
    const entry = {
      key: outpointKey(outpoint),
      outpoint,
      amount: STRANGER_SOMPI,
      scriptPublicKey,
      blockDaaScore: 0n,
      isCoinbase: false,
      covenantId: undefined,
    };
    return this.spend(this.#keys.utxoOf(entry));
  }

  #payout(amount: bigint): Payout {
    return { amount, owner: this.#keys.ownerOf(this.#keys.recipient(this.#random).scriptPublicKey) };
  }
}
