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
import type { Random } from '../../packages/devnet/src/economy/random.ts';
import type { Addresses } from './addresses.ts';
import type { Utxos } from './utxos.ts';
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
  readonly #utxos: Utxos;
  readonly #addresses: Addresses;
  #signatures = 0;

  constructor(random: Random, utxos: Utxos, addresses: Addresses) {
    this.#random = random;
    this.#utxos = utxos;
    this.#addresses = addresses;
  }

  /** The UTXOs stay where they are. */
  make({ utxos, to, amounts }: Payment): Made {
    const spent = utxos.map((utxo) => this.#output(this.#utxos.amountOf(utxo), this.#utxos.addressOf(utxo)));
    const outputs = to.map((address, place) => this.#output(amounts[place] ?? 0, address));
    const bare: Transaction = {
      version: 0,
      inputs: utxos.map((utxo) => this.#input(utxo)),
      outputs,
      lockTime: 0n,
      subnetworkId: NATIVE_SUBNETWORK,
      gas: 0n,
      payload: this.#random.chance(CHANCE_OF_PAYLOAD) ? this.#random.bytes(this.#random.between(20, 120)) : EMPTY,
      storageMass: 0n,
    };
    const mass = computeMass(bare);
    const total = utxos.reduce((sum, utxo) => sum + this.#utxos.amountOf(utxo), 0);
    const rest = amounts.reduce((left, amount) => left - amount, total);
    const fee = Math.min(Math.ceil(Number(mass) * this.#feeRate()), Math.floor(rest * MOST_AS_FEE));
    const last = outputs.at(-1);
    if (last !== undefined) last.amount = BigInt(rest - fee);
    const whole = { ...bare, storageMass: storageMass(spent, outputs) };
    return { transaction: named(whole, mass), fee };
  }

  #input(utxo: number): TransactionInput {
    return {
      previousOutpoint: { transactionId: this.#utxos.transactionIdOf(utxo), index: this.#utxos.indexOf(utxo) },
      signatureScript: this.#addresses.signatureScriptOf(this.#utxos.addressOf(utxo), this.#signatures++),
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
