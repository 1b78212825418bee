/**
 * Unusual blocks: every case puts transactions into a block that a sibling contains too, that conflict with those of a sibling, or that cannot
 * be accepted there. A block with a transaction that is invalid in its own past can never be on the chain. It is merged like any other, and
 * the transactions that are valid by then are accepted from it.
 */
import type { Random } from '@kasgres/devnet';
import { type Payment, sign } from './payment.ts';
import type { Traffic } from './traffic.ts';
import type { Wallet } from './wallet.ts';

export interface MischiefContext {
  random: Random;
  traffic: Traffic;
  wallet: Wallet;
  /** Payments of previous rounds. */
  past: readonly Payment[];
  /** Queues a payment that is to be mined once the DAA score is reached. */
  later: (payment: Payment, fromDaaScore: bigint) => void;
}

export interface Mischief {
  payments: Payment[];
  /** Whether the block that carries them is still valid by itself. */
  isValid: boolean;
}

/** Returns the contents of a block whose sibling carries these payments, `undefined` if it lacks a UTXO or payment. */
type Idea = (sibling: readonly Payment[], context: MischiefContext) => Mischief | undefined;

const ideas: Record<string, Idea> = {
  duplicates(sibling, { random }) {
    return { payments: sibling.filter(() => random.chance(0.5)), isValid: true };
  },

  doubleSpend(sibling, { random, traffic }) {
    return sibling.length === 0 ? undefined : { payments: [traffic.conflictOf(random.pick(sibling))], isValid: true };
  },

  /** The same transaction signed again: two valid variants of one id. In version 1 the compute budget can differ as well. */
  otherVariant(sibling, { random }) {
    const payment = sibling.find(({ plan }) => plan.utxos.some(({ owner }) => owner.sigOps > 0));
    if (payment === undefined) return undefined;
    return { payments: [sign({ ...payment.plan, computeBudget: random.pick([12, 13, 40]) })], isValid: true };
  },

  /** A variant with a wrong signature. */
  brokenVariant(sibling) {
    const payment = sibling.find(({ plan }) => (plan.utxos[0]?.owner.sigOps ?? 0) > 0);
    return payment && { payments: [sign({ ...payment.plan, broken: true })], isValid: false };
  },

  /** Spends an output of the sibling, so its acceptance depends on the order of the mergeset. */
  childOfSibling(sibling, { random, traffic, wallet }) {
    if (sibling.length === 0) return undefined;
    const utxo = random.pick(random.pick(sibling).makes);
    wallet.spend([utxo.entry]);
    return { payments: [traffic.spend(utxo)], isValid: false };
  },

  stranger(_sibling, { traffic }) {
    return { payments: [traffic.stranger()], isValid: false };
  },

  beyondOutputs(_sibling, { random, traffic, past }) {
    return past.length === 0 ? undefined : { payments: [traffic.beyond(random.pick(past).id)], isValid: false };
  },

  /** A payment that was accepted long ago. */
  again(_sibling, { random, past }) {
    return past.length === 0 ? undefined : { payments: [random.pick(past)], isValid: false };
  },

  /** Not accepted now; mined and accepted when the UTXO is mature. */
  immature(_sibling, { traffic, wallet, later }) {
    const found = wallet.takeImmature(20);
    if (found === undefined) return undefined;
    const payment = traffic.spend(found.utxo);
    later(payment, found.fromDaaScore);
    return { payments: [payment], isValid: false };
  },
};

const NONE: Mischief = { payments: [], isValid: true };

export const mischiefNames: readonly string[] = Object.keys(ideas);

export function doMischief(name: string, sibling: readonly Payment[], context: MischiefContext): Mischief {
  return ideas[name]?.(sibling, context) ?? NONE;
}
