/**
 * Payments as they come on a busy network: a few receivers get most, an exchange sweeps many small coins into one, miners pay many,
 * and now and then there is a payload, a lock time, a lane of another subnetwork, a covenant, a script without an address.
 */
import { COINBASE_SUBNETWORK, type Hash } from '@kasgres/kaspa';
import type { Coin } from './coin.ts';
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

  /** The next payment, or undefined while there is no coin to spend. */
  next(): Payment | undefined {
    for (;;) {
      const coin = this.#wallet.take();
      if (coin === undefined) return undefined;
      const payment = sign(this.#plan(coin));
      if (fitting([payment]).length === 1) return payment;
      for (const unspent of payment.plan.coins) this.#wallet.giveBack(unspent);
    }
  }

  /** Another payment of the coin that `payment` spends first: only one of the two can be accepted. */
  conflictOf({ plan }: Payment): Payment {
    const [coin] = plan.coins;
    if (coin === undefined) throw new Error('a payment spends something');
    return sign({ coins: [coin], payouts: this.#payouts([coin], 1) });
  }

  /** A payment that spends just this coin. */
  spend(coin: Coin): Payment {
    return sign({ coins: [coin], payouts: this.#payouts([coin], 1) });
  }

  /** A payment that a mempool takes: to standard scripts only, and with a fee of more than 100 sompi a gram. */
  standard(coin: Coin, payload: Uint8Array = new Uint8Array()): Payment {
    const half = (coin.output.amount - MEMPOOL_FEE_SOMPI) / 2n;
    const amounts = [half, coin.output.amount - MEMPOOL_FEE_SOMPI - half];
    return sign({ coins: [coin], payouts: amounts.map((amount) => ({ amount, owner: this.#user() })), payload });
  }

  /** A payment of a coin that never existed. */
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

  #plan(coin: Coin): Plan {
    const random = this.#random;
    if (coin.output.covenant !== undefined) return this.#continueCovenant(coin);
    if (this.#exchanges.includes(coin.owner) && random.chance(0.5)) return this.#sweep(coin);
    if (coin.output.amount > LARGE_SOMPI && random.chance(0.03)) {
      return { coins: [coin], payouts: [{ amount: coin.output.amount - this.#fee([coin]), owner: this.#longScript }] };
    }
    const coins = this.#withMore(coin, this.miners.includes(coin.owner) ? 1 : random.weighted([45, 35, 12, 8]) + 1);
    const payouts = this.#payouts(
      coins,
      this.miners.includes(coin.owner) ? 8 + random.below(7) : 1 + random.weighted([12, 58, 15, 8, 4, 3]),
    );
    switch (random.weighted([80, 5, 4, 3, 3, 5])) {
      case 1:
        return { coins, payouts, payload: random.bytes(random.pick([1, 4, 16, 33, 64, 180, 2000])) };
      case 2:
        return this.#startCovenant(coins, payouts);
      case 3:
        return { version: 1, coins, payouts, subnetworkId: this.#lane(), gas: BigInt(random.below(1000)) };
      case 4:
        return { coins, payouts, lockTime: BigInt(1 + random.below(500)), sequence: NO_SEQUENCE_LOCK };
      case 5:
        return { version: 1, coins, payouts, sequence: BigInt(random.below(2)) };
      default:
        return { coins, payouts };
    }
  }

  #sweep(coin: Coin): Plan {
    const coins = [coin, ...this.#wallet.takeOf(coin.owner, this.#random.pick([3, 8, 20, 60]))];
    return { coins, payouts: [{ amount: sum(coins) - this.#fee(coins), owner: coin.owner }] };
  }

  #startCovenant(coins: Coin[], payouts: Payout[]): Plan {
    const carried = payouts.slice(0, this.#random.pick([1, 2])).map((payout, index) => ({ index, payout }));
    const authorizingInput = this.#random.below(coins.length);
    const id = covenantId(coins[authorizingInput] ?? this.#fail(), carried);
    const bound = payouts.map((payout, index) =>
      index < carried.length ? { ...payout, covenant: { authorizingInput, covenantId: id } } : payout,
    );
    return { version: 1, coins, payouts: bound };
  }

  #continueCovenant(coin: Coin): Plan {
    const id = coin.output.covenant?.covenantId ?? this.#fail();
    const [first, ...others] = this.#payouts([coin], this.#random.pick([1, 2]));
    const carriesOn = this.#random.chance(0.7);
    return {
      version: 1,
      coins: [coin],
      payouts: [
        { ...(first ?? this.#fail()), ...(carriesOn && { covenant: { authorizingInput: 0, covenantId: id } }) },
        ...others,
      ],
    };
  }

  #withMore(coin: Coin, count: number): Coin[] {
    const coins = [coin];
    while (coins.length < count) {
      const more = this.#wallet.take();
      if (more === undefined) return coins;
      if (more.output.covenant !== undefined) {
        this.#wallet.giveBack(more);
        return coins;
      }
      coins.push(more);
    }
    return coins;
  }

  #payouts(coins: Coin[], wanted: number): Payout[] {
    const available = sum(coins) - this.#fee(coins);
    const count = Math.max(1, Math.min(wanted, Number(available / LEAST_SOMPI)));
    const spare = available - BigInt(count) * LEAST_SOMPI;
    const weights = Array.from({ length: count }, () => BigInt(1 + this.#random.below(1000)));
    const total = weights.reduce((left, right) => left + right, 0n);
    const amounts = weights.map((weight) => (count === 1 ? 0n : LEAST_SOMPI + (spare * weight) / total));
    const rest = available - amounts.reduce((left, right) => left + right, 0n);
    return amounts.map((amount, index) => ({ amount: index === 0 ? amount + rest : amount, owner: this.#receiver() }));
  }

  #fee(coins: Coin[]): bigint {
    const fee = BigInt(
      coins.length * this.#random.pick([2_000, 3_000, 4_000, 10_000, 100_000]) + this.#random.below(1000),
    );
    return fee * 2n < sum(coins) ? fee : 0n;
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
    throw new Error('a payment was planned without coins');
  }
}

function sum(coins: readonly Coin[]): bigint {
  return coins.reduce((total, { output }) => total + output.amount, 0n);
}
