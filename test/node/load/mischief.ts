/**
 * What honest and dishonest miners do to a DAG: every case puts transactions into a block that stand in a sibling too, contradict it,
 * or cannot be accepted there. A block with a transaction that is invalid in its own past can never be on the chain, but is merged
 * like any other, and what is valid by then is accepted from it.
 */
import type { Payment } from './payment.ts';
import { sign } from './payment.ts';
import type { Random } from './random.ts';
import type { Traffic } from './traffic.ts';
import type { Wallet } from './wallet.ts';

export interface SimulatedDag {
  random: Random;
  traffic: Traffic;
  wallet: Wallet;
  daaScore: bigint;
  /** Payments of earlier rounds. */
  past: readonly Payment[];
  /** Hands in a payment that is to be mined once the DAA score is reached. */
  later: (payment: Payment, fromDaaScore: bigint) => void;
}

export interface Mischief {
  payments: Payment[];
  /** Whether the block that carries them is still valid by itself. */
  isValid: boolean;
}

/** What to put into a block whose sibling carries these payments; undefined when there is nothing to do it with. */
type Idea = (sibling: readonly Payment[], simulatedDag: SimulatedDag) => Mischief | undefined;

const ideas: Record<string, Idea> = {
  duplicates(sibling, { random }) {
    return { payments: sibling.filter(() => random.chance(0.5)), isValid: true };
  },

  doubleSpend(sibling, { random, traffic }) {
    return sibling.length === 0 ? undefined : { payments: [traffic.conflictOf(random.pick(sibling))], isValid: true };
  },

  /** The same transaction signed again: two valid bodies of one id. In version 1 the compute budget can differ as well. */
  otherBody(sibling, { random }) {
    const payment = sibling.find(({ plan }) => plan.utxos.some(({ owner }) => owner.sigOps > 0));
    if (payment === undefined) return undefined;
    return { payments: [sign({ ...payment.plan, computeBudget: random.pick([12, 13, 40]) })], isValid: true };
  },

  /** One id again, but this body's signature is wrong. */
  brokenBody(sibling) {
    const payment = sibling.find(({ plan }) => (plan.utxos[0]?.owner.sigOps ?? 0) > 0);
    return payment && { payments: [sign({ ...payment.plan, broken: true })], isValid: false };
  },

  /** Spends what the sibling makes, so it depends on the order in the mergeset whether it is accepted. */
  childOfSibling(sibling, { random, traffic, wallet }) {
    if (sibling.length === 0) return undefined;
    const utxo = random.pick(random.pick(sibling).makes);
    wallet.reserve(utxo);
    return { payments: [traffic.spend(utxo)], isValid: false };
  },

  stranger(_sibling, { traffic }) {
    return { payments: [traffic.stranger()], isValid: false };
  },

  beyondOutputs(_sibling, { random, traffic, past }) {
    return past.length === 0 ? undefined : { payments: [traffic.beyond(random.pick(past).id)], isValid: false };
  },

  /** Accepted long ago. */
  again(_sibling, { random, past }) {
    return past.length === 0 ? undefined : { payments: [random.pick(past)], isValid: false };
  },

  /** Not accepted now; mined again, and accepted, when the UTXO is mature. */
  immature(_sibling, { traffic, wallet, daaScore, later }) {
    const found = wallet.takeImmature(daaScore, 20n);
    if (found === undefined) return undefined;
    const payment = traffic.spend(found.utxo);
    later(payment, found.fromDaaScore);
    return { payments: [payment], isValid: false };
  },
};

const NONE: Mischief = { payments: [], isValid: true };

export const mischiefNames: readonly string[] = Object.keys(ideas);

export function doMischief(name: string, sibling: readonly Payment[], simulatedDag: SimulatedDag): Mischief {
  return ideas[name]?.(sibling, simulatedDag) ?? NONE;
}
