/**
 * Who pays whom on a generated chain: miners, exchanges with addresses of their customers, people, programs that pay themselves, and
 * those who sweep up dust. Who has much to do gets more of it, so activity is heavy-tailed, as on a real chain.
 */
import type { Random } from '../../packages/devnet/src/economy/random.ts';
import type { Addresses } from './addresses.ts';
import type { Utxos } from './utxos.ts';

/** The UTXOs of one wallet go to these addresses; the last one gets what the amounts of the others and the fee leave. */
export interface Payment {
  utxos: number[];
  to: number[];
  /** Sompi; one fewer than addresses. */
  amounts: number[];
}

interface Exchange {
  /** The wallet that pays out, with one address. */
  hot: number;
  hotAddress: number;
  /** The wallet of what customers pay in, with an address for each. */
  deposits: number;
}

interface Bot {
  wallet: number;
  addresses: number[];
}

const KAS = 1e8;
export const MINERS = 100;
const EXCHANGES = 8;
const BOTS = 24;
const SWEEPERS = 300;
const MOST_INPUTS = 10;

/** Of a hundred transactions. */
const WEIGHTS = {
  transfer: 41,
  deposit: 14,
  withdrawal: 20,
  exchangeSweep: 4,
  miner: 6,
  bot: 8,
  dust: 3,
  dustSweep: 4,
} as const;
type Kind = keyof typeof WEIGHTS;
const KINDS = Object.entries(WEIGHTS).flatMap(([kind, weight]) => Array.from({ length: weight }, () => kind as Kind));

/** A UTXO below is not worth its fee, and is left; one below the second is not divided. */
const LEAST_SPENT = 20_000;
const LEAST_DIVIDED = 0.5 * KAS;
const LEAST_DUST = 0.1 * KAS;
const BOT_UTXOS = 40;
const HOT_UTXOS = 60;
const CONSOLIDATED_FROM = 30;

const CHANCE_OF_NEW_PERSON = 0.1;
const CHANCE_OF_FRESH_ADDRESS = 0.12;
const CHANCE_OF_FRESH_CHANGE = 0.22;
const CHANCE_OF_BUSY_PAYEE = 0.5;

export class Economy {
  readonly #random: Random;
  readonly #utxos: Utxos;
  readonly #addresses: Addresses;
  #wallets = 0;
  readonly #miners: number[];
  readonly #exchanges: Exchange[];
  readonly #bots: Bot[];
  readonly #sweepers: number[];
  /** Wallets of people, sweepers among them. */
  readonly #people: number[] = [];
  readonly #isPerson: boolean[] = [];
  /** By wallet of a person: where they are paid now, and where they pay in to at their exchange. */
  readonly #receiving: number[] = [];
  readonly #depositing: (number | undefined)[] = [];
  /** UTXOs of people: one by chance belongs to whoever has many. With the place of each, by coin. */
  readonly #crowd: number[] = [];
  readonly #placeInCrowd: number[] = [];

  constructor(random: Random, utxos: Utxos, addresses: Addresses) {
    this.#random = random;
    this.#utxos = utxos;
    this.#addresses = addresses;
    this.#miners = Array.from({ length: MINERS }, () => addresses.add(this.#newWallet()));
    this.#exchanges = Array.from({ length: EXCHANGES }, () => {
      const hot = this.#newWallet();
      return { hot, hotAddress: addresses.add(hot), deposits: this.#newWallet() };
    });
    this.#bots = Array.from({ length: BOTS }, () => {
      const wallet = this.#newWallet();
      return { wallet, addresses: Array.from({ length: random.between(2, 4) }, () => addresses.add(wallet)) };
    });
    this.#sweepers = Array.from({ length: SWEEPERS }, () => this.#newPerson());
  }

  /** An address of each whose owner is known to everybody, of a chain that has not begun. */
  get known(): Record<'miners' | 'exchanges' | 'bots' | 'people', readonly number[]> {
    return {
      miners: this.#miners,
      exchanges: this.#exchanges.map(({ hotAddress }) => hotAddress),
      bots: this.#bots.map(({ addresses }) => addresses[0] as number),
      people: this.#people.map((person) => this.#addressOf(person)),
    };
  }

  /** Who finds the next block: the share of each is that of their rank. @returns the number of a miner */
  findMiner(): number {
    return this.#random.skewed(MINERS);
  }

  minerAddress(miner: number): number {
    return this.#miners[miner] as number;
  }

  /** A UTXO that may be spent from now on. */
  receive(utxo: number): void {
    if (this.#isPerson[this.#utxos.walletOf(utxo)] !== true) return;
    this.#placeInCrowd[utxo] = this.#crowd.push(utxo) - 1;
  }

  /** To be called before the UTXO is forgotten. */
  spend(utxo: number): void {
    if (this.#isPerson[this.#utxos.walletOf(utxo)] !== true) return;
    const place = this.#placeInCrowd[utxo] as number;
    const last = this.#crowd.pop() as number;
    if (last === utxo) return;
    this.#crowd[place] = last;
    this.#placeInCrowd[last] = place;
  }

  /** Undefined when nobody has UTXOs for what was tried. */
  next(): Payment | undefined {
    const payment = this.#pay(this.#random.pick(KINDS)) ?? this.#pay('transfer') ?? this.#pay('miner');
    return payment !== undefined && this.#total(payment.utxos) >= LEAST_SPENT ? payment : undefined;
  }

  #pay(kind: Kind): Payment | undefined {
    const ways: Record<Kind, () => Payment | undefined> = {
      transfer: () => this.#transfer(),
      deposit: () => this.#deposit(),
      withdrawal: () => this.#withdraw(),
      exchangeSweep: () => this.#sweepDeposits(),
      miner: () => this.#spendReward(),
      bot: () => this.#payOneself(),
      dust: () => this.#scatterDust(),
      dustSweep: () => this.#sweepDust(),
    };
    return ways[kind]();
  }

  #transfer(): Payment | undefined {
    const utxos = this.#utxosOfSomebody();
    if (utxos === undefined) return undefined;
    if (this.#random.chance(0.07)) {
      return this.#divide(utxos, [this.#payee(), this.#payee()], this.#changeAddress(utxos));
    }
    return this.#divide(utxos, [this.#payee()], this.#changeAddress(utxos));
  }

  #deposit(): Payment | undefined {
    const utxos = this.#utxosOfSomebody();
    if (utxos === undefined) return undefined;
    const person = this.#utxos.walletOf(utxos[0] as number);
    return this.#divide(utxos, [this.#depositAddress(person)], this.#changeAddress(utxos));
  }

  #withdraw(): Payment | undefined {
    const { hot, hotAddress } = this.#exchange();
    const utxos = this.#utxos.listOf(hot, this.#random.chance(0.2) ? 3 : 1);
    if (utxos.length === 0) return undefined;
    // More UTXOs to pay with at once, as long as there are few.
    if (this.#utxos.countOf(hot) < HOT_UTXOS) return this.#divide(utxos, [this.#customer(), hotAddress], hotAddress);
    const to = this.#random.chance(0.3) ? [this.#customer(), this.#customer()] : [this.#customer()];
    const total = this.#total(utxos);
    const amounts = to.map(() => Math.min(this.#usualAmount(), Math.floor(total * 0.3)));
    return { utxos, to: [...to, hotAddress], amounts };
  }

  #sweepDeposits(): Payment | undefined {
    const { deposits, hotAddress } = this.#exchange();
    const utxos = this.#utxos.listOf(deposits, this.#random.between(2, MOST_INPUTS));
    return utxos.length < 2 ? undefined : { utxos, to: [hotAddress], amounts: [] };
  }

  /** Pools pay their members; who has collected many rewards takes them to an exchange. */
  #spendReward(): Payment | undefined {
    const address = this.minerAddress(this.findMiner());
    const wallet = this.#addresses.walletOf(address);
    if (this.#utxos.countOf(wallet) >= CONSOLIDATED_FROM) {
      const utxos = this.#utxos.listOf(wallet, MOST_INPUTS);
      return { utxos, to: [this.#depositAddress(wallet)], amounts: [] };
    }
    const utxos = this.#utxos.listOf(wallet, this.#random.between(1, 3));
    return utxos.length === 0 ? undefined : this.#divide(utxos, [this.#payee(), this.#payee()], address);
  }

  #payOneself(): Payment | undefined {
    const { wallet, addresses } = this.#bots[this.#random.skewed(BOTS)] as Bot;
    const utxos = this.#utxos.listOf(wallet, 1);
    return utxos.length === 0 ? undefined : { utxos, to: [this.#random.pick(addresses)], amounts: [] };
  }

  #scatterDust(): Payment | undefined {
    const { wallet, addresses } = this.#random.pick(this.#bots);
    const utxos = this.#utxos.listOf(wallet, 1);
    if (utxos.length === 0 || this.#total(utxos) < LEAST_DIVIDED * 2) return undefined;
    const receivers = [0, 1].map(() =>
      this.#random.chance(0.7) ? this.#addressOf(this.#random.pick(this.#sweepers)) : this.#payee(),
    );
    const amounts = receivers.map(() => LEAST_DUST + this.#random.below(LEAST_DUST));
    return { utxos, to: [...receivers, addresses[0] as number], amounts };
  }

  #sweepDust(): Payment | undefined {
    const wallet = this.#random.pick(this.#sweepers);
    const utxos = this.#utxos.listOf(wallet, MOST_INPUTS);
    return utxos.length < MOST_INPUTS ? undefined : { utxos, to: [this.#addressOf(wallet)], amounts: [] };
  }

  /** Between some percent and nearly all of it, more often little; UTXOs that are too small go on whole. */
  #divide(utxos: number[], to: number[], change: number): Payment {
    const total = this.#total(utxos);
    if (total < LEAST_DIVIDED) return { utxos, to: to.slice(0, 1), amounts: [] };
    const amounts = to.map(() => Math.floor((total * (0.05 + 0.8 * this.#random.fraction() ** 2)) / to.length));
    return { utxos, to: [...to, change], amounts };
  }

  /** As many as a payment takes: one mostly, ten at most. */
  #utxosOfSomebody(): number[] | undefined {
    if (this.#crowd.length === 0) return undefined;
    const utxo = this.#random.pick(this.#crowd);
    if (this.#random.chance(0.45)) return [utxo];
    const count = this.#random.chance(0.6) ? 2 : this.#random.between(3, MOST_INPUTS);
    const others = this.#utxos.listOf(this.#utxos.walletOf(utxo), count).filter((other) => other !== utxo);
    return [utxo, ...others.slice(0, count - 1)];
  }

  #payee(): number {
    const random = this.#random;
    if (random.chance(CHANCE_OF_NEW_PERSON)) return this.#addressOf(this.#newPerson());
    const person =
      this.#crowd.length > 0 && random.chance(CHANCE_OF_BUSY_PAYEE)
        ? this.#utxos.walletOf(random.pick(this.#crowd))
        : random.pick(this.#people);
    if (random.chance(CHANCE_OF_FRESH_ADDRESS)) this.#receiving[person] = this.#addresses.add(person);
    return this.#addressOf(person);
  }

  /** Who is paid by an exchange: programs buy what they work with there. */
  #customer(): number {
    if (this.#random.chance(0.02)) {
      const { wallet, addresses } = this.#bots[this.#random.skewed(BOTS)] as Bot;
      if (this.#utxos.countOf(wallet) < BOT_UTXOS) return addresses[0] as number;
    }
    return this.#payee();
  }

  #changeAddress(utxos: readonly number[]): number {
    const [utxo] = utxos as [number];
    if (!this.#random.chance(CHANCE_OF_FRESH_CHANGE)) return this.#utxos.addressOf(utxo);
    return this.#addresses.add(this.#utxos.walletOf(utxo));
  }

  #depositAddress(wallet: number): number {
    const known = this.#depositing[wallet];
    // A new one now and then, as exchanges hand them out.
    if (known !== undefined && !this.#random.chance(0.1)) return known;
    const made = this.#addresses.add(this.#exchange().deposits);
    this.#depositing[wallet] = made;
    return made;
  }

  #exchange(): Exchange {
    return this.#exchanges[this.#random.skewed(EXCHANGES)] as Exchange;
  }

  /** Around 300 KAS, seldom a hundred times that. */
  #usualAmount(): number {
    const exponent = this.#random.fraction() + this.#random.fraction() + this.#random.fraction() - 1.5;
    return Math.floor(300 * KAS * 10 ** (exponent * 1.6));
  }

  #addressOf(person: number): number {
    return this.#receiving[person] as number;
  }

  #newPerson(): number {
    const wallet = this.#newWallet();
    this.#people.push(wallet);
    this.#isPerson[wallet] = true;
    this.#receiving[wallet] = this.#addresses.add(wallet);
    return wallet;
  }

  #newWallet(): number {
    return this.#wallets++;
  }

  #total(utxos: readonly number[]): number {
    return utxos.reduce((sum, utxo) => sum + this.#utxos.amountOf(utxo), 0);
  }
}
