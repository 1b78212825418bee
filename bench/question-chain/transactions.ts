/** Transactions of a generated chain as a node hands them out, with the ids, hashes and masses that they have by the rules. */
import {
  COINBASE_SUBNETWORK,
  computeMass,
  encodeCoinbasePayload,
  NATIVE_SUBNETWORK,
  type ScriptPublicKey,
  storageMass,
  type Transaction,
  transactionHash,
  transactionId,
  type TransactionInput,
  type TransactionOutput,
} from '@kasgres/kaspa';
import type { RpcTransaction } from '@kasgres/node';
import type { Random } from '../../packages/devnet/src/simulation/generator/random.ts';
import type { Addresses } from './addresses.ts';
import type { Coins } from './coins.ts';
import type { Payment } from './economy.ts';

const EMPTY = new Uint8Array();
/** However small the payment is. */
const MOST_AS_FEE = 0.1;
const CHANCE_OF_PAYLOAD = 0.01;
const CHANCE_OF_HASTE = 0.1;

export interface Made {
  transaction: RpcTransaction;
  /** Sompi. */
  fee: number;
}

export class Payments {
  readonly #random: Random;
  readonly #coins: Coins;
  readonly #addresses: Addresses;
  #signatures = 0;

  constructor(random: Random, coins: Coins, addresses: Addresses) {
    this.#random = random;
    this.#coins = coins;
    this.#addresses = addresses;
  }

  /** The coins stay where they are. */
  make({ coins, to, amounts }: Payment): Made {
    const spent = coins.map((coin) => this.#output(this.#coins.amountOf(coin), this.#coins.addressOf(coin)));
    const outputs = to.map((address, place) => this.#output(amounts[place] ?? 0, address));
    const bare: Transaction = {
      version: 0,
      inputs: coins.map((coin) => this.#input(coin)),
      outputs,
      lockTime: 0n,
      subnetworkId: NATIVE_SUBNETWORK,
      gas: 0n,
      payload: this.#random.chance(CHANCE_OF_PAYLOAD) ? this.#random.bytes(this.#random.between(20, 120)) : EMPTY,
      storageMass: 0n,
    };
    const mass = computeMass(bare);
    const total = coins.reduce((sum, coin) => sum + this.#coins.amountOf(coin), 0);
    const rest = amounts.reduce((left, amount) => left - amount, total);
    const fee = Math.min(Math.ceil(Number(mass) * this.#feeRate()), Math.floor(rest * MOST_AS_FEE));
    const last = outputs.at(-1);
    if (last !== undefined) last.amount = BigInt(rest - fee);
    const whole = { ...bare, storageMass: storageMass(spent, outputs) };
    return { transaction: named(whole, mass), fee };
  }

  #input(coin: number): TransactionInput {
    return {
      previousOutpoint: { transactionId: this.#coins.transactionIdOf(coin), index: this.#coins.indexOf(coin) },
      signatureScript: this.#addresses.signatureScriptOf(this.#coins.addressOf(coin), this.#signatures++),
      sequence: 0n,
      sigOpCount: 1,
      computeBudget: 0,
    };
  }

  #output(amount: number, address: number): TransactionOutput {
    return { amount: BigInt(amount), scriptPublicKey: this.#addresses.scriptOf(address), covenant: undefined };
  }

  /** Sompi a gram: the least that nodes pass on, or up to fifty times that by who is in a hurry. */
  #feeRate(): number {
    return this.#random.chance(CHANCE_OF_HASTE) ? 1 + 49 * this.#random.fraction() ** 3 : 1;
  }
}

interface Reward {
  /** Sompi. */
  amount: number;
  scriptPublicKey: ScriptPublicKey;
}

export interface CoinbaseParts {
  blueScore: number;
  /** Sompi. */
  subsidy: number;
  /** Where the miner of this block is to be paid. */
  scriptPublicKey: ScriptPublicKey;
  /** What the miner writes into it. */
  words: string;
  rewards: Reward[];
}

export function makeCoinbase({ blueScore, subsidy, scriptPublicKey, words, rewards }: CoinbaseParts): RpcTransaction {
  const extraData = Buffer.from(words);
  const payload = encodeCoinbasePayload({
    blueScore: BigInt(blueScore),
    subsidy: BigInt(subsidy),
    scriptPublicKey,
    extraData,
  });
  const bare = {
    version: 0,
    inputs: [],
    outputs: rewards.map(({ amount, scriptPublicKey }) => {
      return { amount: BigInt(amount), scriptPublicKey, covenant: undefined };
    }),
    lockTime: 0n,
    subnetworkId: COINBASE_SUBNETWORK,
    gas: 0n,
    payload,
    storageMass: 0n,
  };
  return named(bare, 0n);
}

export function named(transaction: Transaction, mass: bigint): RpcTransaction {
  return {
    ...transaction,
    transactionId: transactionId(transaction),
    hash: transactionHash(transaction),
    computeMass: mass,
  };
}
