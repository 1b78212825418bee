/** The economy of the simulated network with real signatures, and payments of chosen UTXOs. */
import {
  DEFAULT_OPTIONS,
  type Draft,
  type EconomyOptions,
  outpointKey,
  Payments,
  type Random,
  type UtxoEntry,
} from '@kasgres/devnet';
import type { Hash } from '@kasgres/kaspa';
import type { LoadKeys } from './keys.ts';
import { fitting, type Payment, sign } from './payment.ts';
import type { Wallet } from './wallet.ts';

const MEMPOOL_FEE_SOMPI = 2_000_000;
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
  readonly #random: Random;
  readonly #keys: LoadKeys;
  readonly #wallet: Wallet;
  readonly #payments: Payments;

  constructor(random: Random, keys: LoadKeys, wallet: Wallet, options: EconomyOptions) {
    this.#random = random;
    this.#keys = keys;
    this.#wallet = wallet;
    const { nonStandard: nonStandardScripts } = keys;
    this.#payments = new Payments({ options, keyring: keys, wallet: wallet.economy, nonStandardScripts });
  }

  /** Returns the next payment, `undefined` while there is no UTXO to spend. */
  next(): Payment | undefined {
    for (;;) {
      const isLong = this.#random.chance(LONG_SCRIPT_RATE);
      const draft = isLong ? this.#toLongScript() : this.#payments.make(this.#random)?.draft;
      if (draft === undefined) return undefined;
      const entries = draft.utxos.map(({ entry }) => entry);
      this.#wallet.spend(entries);
      const payment = sign(this.#keys, draft);
      if (fitting([payment]).length === 1) return payment;
      for (const entry of entries) this.#wallet.giveBack(entry);
    }
  }

  /**
   * Another payment of the UTXO that `payment` spends first: only one of the two can be accepted.
   */
  conflictOf({ draft }: Payment): Payment {
    const [utxo] = draft.utxos;
    if (utxo === undefined) throw new Error('a payment without inputs has no conflict');
    return this.spend(utxo.entry);
  }

  /** Pays this UTXO to one address. */
  spend(entry: UtxoEntry): Payment {
    return sign(this.#keys, this.#payments.conflict(0, entry, this.#random));
  }

  /**
   * Splits a UTXO in a way that a mempool accepts: between standard scripts, with a fee of more
   * than 100 sompi a gram.
   */
  split(entry: UtxoEntry, payload: Uint8Array = new Uint8Array()): Payment {
    const spendable = Number(entry.amount) - MEMPOOL_FEE_SOMPI;
    const half = Math.floor(spendable / 2);
    const outputs = [half, spendable - half].map((amount) => ({
      amount,
      scriptPublicKey: this.#keys.recipient(this.#random).scriptPublicKey,
    }));
    return sign(this.#keys, draftOf(entry, outputs, { payload }));
  }

  /** A payment of a UTXO that never existed. */
  stranger(): Payment {
    return this.spendMissing(this.#random.bytes(32), this.#random.below(3));
  }

  /** A payment of an output that does not exist. */
  spendMissing(transactionId: Hash, index: number): Payment {
    const { scriptPublicKey } = this.#keys.recipient(this.#random);
    const outpoint = { transactionId, index };
    return this.spend({
      key: outpointKey(outpoint),
      outpoint,
      amount: STRANGER_SOMPI,
      scriptPublicKey,
      blockDaaScore: 0n,
      isCoinbase: false,
      covenantId: undefined,
    });
  }

  #toLongScript(): Draft | undefined {
    const entry = this.#wallet.take();
    if (entry === undefined) return undefined;
    const draft = this.#payments.conflict(1, entry, this.#random);
    if (entry.amount < LARGE_SOMPI) return draft;
    return draftOf(
      entry,
      [{ amount: Number(entry.amount) - MEMPOOL_FEE_SOMPI, scriptPublicKey: this.#keys.longScript }],
      { version: 1 },
    );
  }
}

/** @param others override the defaults: version 0 without a payload */
export function draftOf(entry: UtxoEntry, outputs: Draft['outputs'], others: Partial<Draft> = {}): Draft {
  const utxos = [{ entry, redeemScript: undefined }];
  return { version: 0, utxos, outputs, payload: new Uint8Array(0), ...others };
}
