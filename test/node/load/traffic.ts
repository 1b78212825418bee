/**
 * Payments as they come on a busy network: a few receivers get most, an exchange sweeps many small UTXOs into one, miners pay many,
 * and now and then there is a payload, a lock time, a lane of another subnetwork, a covenant, a script without an address.
 */
import { COINBASE_SUBNETWORK, type Hash } from '@kasgres/kaspa';
import type { Utxo } from './utxo.ts';
import { ecdsaOwner, longScriptOwner, nonStandardOwners, type Owner, schnorrOwner, scriptHashOwner } from './owner.ts';
import { covenantId, fitting, type Payment, type Payout, type Plan, sign } from './payment.ts';
import type { Random } from './random.ts';
import type { Wallet } from './wallet.ts';

/** 0.4 KAS: a smaller output costs more storage mass than a block has to give to one payment. */
const LEAST_SOMPI = 40_000_000n;
const MEMPOOL_FEE_SOMPI = 2_000_000n;
/** 40 KAS: enough to go to the long script. */
const LARGE_SOMPI = 4_000_000_000n;
const EXCHANGES = 3;
const MINERS = 6;
/** All-one bits switch the relative lock of an input off. */
const NO_SEQUENCE_LOCK = 2n ** 64n - 1n;

export class Traffic {
  readonly miners: Owner[];
  readonly #random: Random;
  readonly #wallet: Wallet;
  readonly #exchanges: Owner[];
  readonly #users: (Owner | undefined)[];
  readonly #nonStandard: Owner[];
  readonly #longScript: Owner;

  constructor(random: Random, wallet: Wallet, { users }: { users: number }) {
    this.#random = random;
    this.#wallet = wallet;
    this.miners = Array.from({ length: MINERS }, () => this.#newOwner());
    this.#exchanges = Array.from({ length: EXCHANGES }, () => schnorrOwner(random.bytes(32)));
    this.#users = Array.from({ length: users }, () => undefined);
    this.#nonStandard = nonStandardOwners((count) => random.bytes(count));
    this.#longScript = longScriptOwner((count) => random.bytes(count));
  }

  /** The next payment, or undefined while there is no UTXO to spend. */
  next(): Payment | undefined {
    for (;;) {
      const utxo = this.#wallet.take();
      if (utxo === undefined) return undefined;
      const payment = sign(this.#plan(utxo));
      if (fitting([payment]).length === 1) return payment;
      for (const unspent of payment.plan.utxos) this.#wallet.giveBack(unspent);
    }
  }

  /** Another payment of the UTXO that `payment` spends first: only one of the two can be accepted. */
  conflictOf({ plan }: Payment): Payment {
    const [utxo] = plan.utxos;
    if (utxo === undefined) throw new Error('a payment spends something');
    return sign({ utxos: [utxo], payouts: this.#payouts([utxo], 1) });
  }

  /** A payment that spends just this coin. */
  spend(utxo: Utxo): Payment {
    return sign({ utxos: [utxo], payouts: this.#payouts([utxo], 1) });
  }

  /** A payment that a mempool takes: to standard scripts only, and with a fee of more than 100 sompi a gram. */
  standard(utxo: Utxo, payload: Uint8Array = new Uint8Array()): Payment {
    const half = (utxo.output.amount - MEMPOOL_FEE_SOMPI) / 2n;
    const amounts = [half, utxo.output.amount - MEMPOOL_FEE_SOMPI - half];
    return sign({ utxos: [utxo], payouts: amounts.map((amount) => ({ amount, owner: this.#user() })), payload });
  }

  /** A payment of a UTXO that never existed. */
  stranger(): Payment {
    const owner = this.#user();
    const output = { amount: 3n * LEAST_SOMPI, scriptPublicKey: owner.scriptPublicKey, covenant: undefined };
    return this.spend({
      outpoint: { transactionId: this.#random.bytes(32), index: this.#random.below(3) },
      output,
      owner,
    });
  }

  /** A payment of an output that a known transaction does not have. */
  beyond(transactionId: Hash): Payment {
    const owner = this.#user();
    const output = { amount: 3n * LEAST_SOMPI, scriptPublicKey: owner.scriptPublicKey, covenant: undefined };
    return this.spend({ outpoint: { transactionId, index: 4_000_000_000 }, output, owner });
  }

  #plan(utxo: Utxo): Plan {
    const random = this.#random;
    if (utxo.output.covenant !== undefined) return this.#continueCovenant(utxo);
    if (this.#exchanges.includes(utxo.owner) && random.chance(0.5)) return this.#sweep(utxo);
    if (utxo.output.amount > LARGE_SOMPI && random.chance(0.03)) {
      return { utxos: [utxo], payouts: [{ amount: utxo.output.amount - this.#fee([utxo]), owner: this.#longScript }] };
    }
    const utxos = this.#withMore(utxo, this.miners.includes(utxo.owner) ? 1 : random.weighted([45, 35, 12, 8]) + 1);
    const payouts = this.#payouts(
      utxos,
      this.miners.includes(utxo.owner) ? 8 + random.below(7) : 1 + random.weighted([12, 58, 15, 8, 4, 3]),
    );
    switch (random.weighted([80, 5, 4, 3, 3, 5])) {
      case 1:
        return { utxos, payouts, payload: random.bytes(random.pick([1, 4, 16, 33, 64, 180, 2000])) };
      case 2:
        return this.#startCovenant(utxos, payouts);
      case 3:
        return { version: 1, utxos, payouts, subnetworkId: this.#lane(), gas: BigInt(random.below(1000)) };
      case 4:
        return { utxos, payouts, lockTime: BigInt(1 + random.below(500)), sequence: NO_SEQUENCE_LOCK };
      case 5:
        return { version: 1, utxos, payouts, sequence: BigInt(random.below(2)) };
      default:
        return { utxos, payouts };
    }
  }

  #sweep(utxo: Utxo): Plan {
    const utxos = [utxo, ...this.#wallet.takeOf(utxo.owner, this.#random.pick([3, 8, 20, 60]))];
    return { utxos, payouts: [{ amount: sum(utxos) - this.#fee(utxos), owner: utxo.owner }] };
  }

  #startCovenant(utxos: Utxo[], payouts: Payout[]): Plan {
    const carried = payouts.slice(0, this.#random.pick([1, 2])).map((payout, index) => ({ index, payout }));
    const authorizingInput = this.#random.below(utxos.length);
    const id = covenantId(utxos[authorizingInput] ?? this.#fail(), carried);
    const bound = payouts.map((payout, index) =>
      index < carried.length ? { ...payout, covenant: { authorizingInput, covenantId: id } } : payout,
    );
    return { version: 1, utxos, payouts: bound };
  }

  #continueCovenant(utxo: Utxo): Plan {
    const id = utxo.output.covenant?.covenantId ?? this.#fail();
    const [first, ...others] = this.#payouts([utxo], this.#random.pick([1, 2]));
    const carriesOn = this.#random.chance(0.7);
    return {
      version: 1,
      utxos: [utxo],
      payouts: [
        { ...(first ?? this.#fail()), ...(carriesOn && { covenant: { authorizingInput: 0, covenantId: id } }) },
        ...others,
      ],
    };
  }

  #withMore(utxo: Utxo, count: number): Utxo[] {
    const utxos = [utxo];
    while (utxos.length < count) {
      const more = this.#wallet.take();
      if (more === undefined) return utxos;
      if (more.output.covenant !== undefined) {
        this.#wallet.giveBack(more);
        return utxos;
      }
      utxos.push(more);
    }
    return utxos;
  }

  #payouts(utxos: Utxo[], wanted: number): Payout[] {
    const available = sum(utxos) - this.#fee(utxos);
    const count = Math.max(1, Math.min(wanted, Number(available / LEAST_SOMPI)));
    const spare = available - BigInt(count) * LEAST_SOMPI;
    const weights = Array.from({ length: count }, () => BigInt(1 + this.#random.below(1000)));
    const total = weights.reduce((left, right) => left + right, 0n);
    const amounts = weights.map((weight) => (count === 1 ? 0n : LEAST_SOMPI + (spare * weight) / total));
    const rest = available - amounts.reduce((left, right) => left + right, 0n);
    return amounts.map((amount, index) => ({ amount: index === 0 ? amount + rest : amount, owner: this.#receiver() }));
  }

  #fee(utxos: Utxo[]): bigint {
    const fee = BigInt(
      utxos.length * this.#random.pick([2_000, 3_000, 4_000, 10_000, 100_000]) + this.#random.below(1000),
    );
    return fee * 2n < sum(utxos) ? fee : 0n;
  }

  #receiver(): Owner {
    const choice = this.#random.weighted([70, 25, 4, 1]);
    if (choice === 0) return this.#user();
    if (choice === 1) return this.#random.pick(this.#exchanges);
    if (choice === 2) return this.#newOwner();
    return this.#random.pick(this.#nonStandard);
  }

  /** The first users are met far more often than the last. */
  #user(): Owner {
    const index = Math.floor(this.#users.length ** this.#random.fraction()) - 1;
    const user = this.#users[index] ?? this.#newOwner();
    this.#users[index] = user;
    return user;
  }

  #newOwner(): Owner {
    const makeOwner = [schnorrOwner, ecdsaOwner, scriptHashOwner][this.#random.weighted([80, 10, 10])] ?? schnorrOwner;
    return makeOwner(this.#random.bytes(32));
  }

  /** A subnetwork of four bytes; a byte and zeros would be one of the system's own. */
  #lane(): Uint8Array {
    const lane = new Uint8Array(COINBASE_SUBNETWORK.length);
    lane.set([this.#random.below(2), 1 + this.#random.below(3), 0, this.#random.below(4)]);
    return lane;
  }

  #fail(): never {
    throw new Error('a payment was planned without UTXOs');
  }
}

function sum(utxos: readonly Utxo[]): bigint {
  return utxos.reduce((total, { output }) => total + output.amount, 0n);
}
