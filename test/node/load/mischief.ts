/**
 * Unusual blocks: each contains transactions that a sibling contains too, that conflict with those
 * of a sibling, or that cannot be accepted there. A block with a transaction that is invalid in its
 * own past can never be on the chain. It is merged like any other, and the transactions that are
 * valid by then are accepted from it.
 */
import type { Random } from '@kasgres/devnet';
import type { LoadKeys } from './keys.ts';
import { outputsOf, type Payment, sign } from './payment.ts';
import type { Traffic } from './traffic.ts';
import type { Wallet } from './wallet.ts';

/** The load of the node, as far as mischief needs it. */
interface Load {
  readonly random: Random;
  readonly keys: LoadKeys;
  readonly wallet: Wallet;
  readonly traffic: Traffic;
  /** The latest mined payments. */
  readonly past: readonly Payment[];
  /** Queues a payment that is to be mined once the DAA score is reached. */
  postpone: (payment: Payment, fromDaaScore: number) => void;
}

/** Returns the contents of a block whose sibling carries these payments. */
type Idea = (sibling: readonly Payment[], load: Load) => (Payment | undefined)[];

const VALID: readonly Idea[] = [
  (sibling, { random }) => sibling.filter(() => random.chance(0.5)),

  /** A double spend. */
  (sibling, { random, traffic }) => (sibling.length === 0 ? [] : [traffic.conflictOf(random.pick(sibling))]),

  /** Another valid variant. In version 1 the compute budget can differ as well. */
  (sibling, { random, keys }) => {
    const payment = sibling.find((candidate) => signatures(candidate, keys) > 0);
    return [payment && sign(keys, payment.draft, { computeBudget: random.pick([12, 13, 40]) })];
  },
];

const INVALID: readonly Idea[] = [
  /** A variant with a wrong signature. */
  (sibling, { keys }) => {
    const payment = sibling.find(({ draft }) =>
      draft.utxos.slice(0, 1).some(({ entry }) => keys.ownerOf(entry).sigOps),
    );
    return [payment && sign(keys, payment.draft, { isBroken: true })];
  },

  /** Spends an output of the sibling, so its acceptance depends on the order of the mergeset. */
  (sibling, { random, traffic, wallet }) => {
    if (sibling.length === 0) return [];
    const entry = random.pick(outputsOf(random.pick(sibling)));
    wallet.spend([entry]);
    return [traffic.spend(entry)];
  },

  (_sibling, { traffic }) => [traffic.stranger()],

  /** Spends an output that a known transaction does not have. */
  (_sibling, { random, traffic, past }) =>
    past.length === 0 ? [] : [traffic.spendMissing(random.pick(past).transaction.transactionId, 4_000_000_000)],

  /** A payment that was accepted long ago. */
  (_sibling, { random, past }) => (past.length === 0 ? [] : [random.pick(past)]),

  /** Not accepted now; mined again and accepted when the UTXO is mature. */
  (_sibling, load) => {
    const found = load.wallet.takeImmature(20);
    if (found === undefined) return [];
    const payment = load.traffic.spend(found.entry);
    load.postpone(payment, found.fromDaaScore);
    return [payment];
  },
];

function signatures({ draft }: Payment, keys: LoadKeys): number {
  return draft.utxos.reduce((sum, { entry }) => sum + keys.ownerOf(entry).sigOps, 0);
}

/** @returns `isValid` tells whether the block that carries the payments is valid by itself */
export function createMischief(sibling: readonly Payment[], load: Load): { payments: Payment[]; isValid: boolean } {
  const number = load.random.below(VALID.length + INVALID.length);
  const payments = [...VALID, ...INVALID][number]?.(sibling, load).filter((payment) => payment !== undefined) ?? [];
  return { payments, isValid: number < VALID.length || payments.length === 0 };
}
