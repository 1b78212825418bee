/**
 * Transactions of a hostile miner: everything that a node's rules in isolation allow. A block with
 * one of them can rarely be on the selected chain, but it is merged like any other. None of them
 * needs a key, so real nodes take them too.
 */
import {
  MAX_SOMPI,
  NATIVE_SUBNETWORK,
  type Outpoint,
  type ScriptPublicKey,
  toHex,
  type Transaction,
} from '@kasgres/kaspa';
import type { DagTransaction } from '../dag/dag.ts';
import {
  FINAL_SEQUENCE,
  LOCK_TIME_THRESHOLD,
  MAX_GAS_PER_LANE,
  MAX_LANES,
} from '../simulation/consensus/isolation-rules.ts';
import { MassBudget, withDerived } from './build-transaction.ts';
import { HOSTILE_APPLICATIONS, type HostileSource } from './hostile-applications.ts';
import {
  ANYONES_SCRIPT,
  bare,
  firstOutput,
  type HostileSize,
  isDefined,
  laneOf,
  nowhere,
  type Plan,
  plain,
  someAmounts,
  times,
  withInput,
} from './hostile-parts.ts';
import type { Random } from './random.ts';
import { createdEntries, outpointKey, spentKeysOf, type UtxoEntry } from './utxo.ts';

/** The miner's view of the chain. */
export interface HostileView {
  /** The DAA score of the next block. */
  readonly daaScore: number;
  /** Returns an output that is unspent now. */
  find(key: string): UtxoEntry | undefined;
  isMature(entry: UtxoEntry): boolean;
  /** Returns whether an empty signature script spends it. */
  isAnyones(entry: UtxoEntry): boolean;
}

const REMEMBERED_PAYMENTS = 200;
const REMEMBERED_OUTPUTS = 200;
const MAX_UINT32 = 2 ** 32 - 1;
const MAX_UINT64 = 2n ** 64n - 1n;
/** A signature of zeros, and its hash type. No script takes it. */
const BROKEN_SIGNATURE = Buffer.concat([Uint8Array.of(0x41), Buffer.alloc(64), Uint8Array.of(1)]);

/**
 * Text that no client should have to show: NUL, invalid UTF-8, bidirectional overrides, zero-width
 * and control characters, half a surrogate.
 */
const ODD_TEXTS: readonly Uint8Array[] = [
  Buffer.from('1.0/\0pool'),
  Buffer.from('312ffffe', 'hex'),
  Buffer.from('\u202Eloop/\u200B\u0007\u001B[31m'),
  Buffer.from('eda080', 'hex'),
  Buffer.from('{"a":"\\u0000"}'),
  Buffer.from(`'"<script>\\`),
];

export class HostileTransactions implements HostileSource {
  /** The latest accepted payments of others. */
  private readonly payments: DagTransaction[] = [];
  private readonly outputs: UtxoEntry[] = [];
  private readonly rewards: UtxoEntry[] = [];
  /** Ids of which there is another variant in every plan of variants. */
  private repeated: DagTransaction[] = [];
  /**
   * Outputs that every plan of claims spends, by key: some were spent long ago, and others do not
   * exist.
   */
  private readonly claimed = new Map<string, Outpoint>();
  private variants = 0;
  private readonly view: HostileView;

  constructor(view: HostileView) {
    this.view = view;
  }

  /** Remembers an accepted transaction. */
  learn(transaction: DagTransaction, daaScore: number, isCoinbase: boolean): void {
    const created = createdEntries(transaction, daaScore, isCoinbase);
    if (isCoinbase) remember(this.rewards, created, REMEMBERED_OUTPUTS);
    else remember(this.payments, [transaction], REMEMBERED_PAYMENTS);
    remember(this.outputs, created, REMEMBERED_OUTPUTS);
  }

  plan(kind: HostileKind, random: Random, size: HostileSize): Plan {
    return PLANS[kind](this, random, size).map(fitting);
  }

  /** Returns the script of a stranger or one of any bytes, standard, odd and long ones. */
  script(random: Random): ScriptPublicKey {
    const stranger = this.payments.length > 0 && random.chance(0.4) ? random.pick(this.payments) : undefined;
    const paid = stranger?.outputs[0]?.scriptPublicKey;
    if (paid !== undefined) return paid;
    if (random.chance(0.3)) return ANYONES_SCRIPT;
    const version = random.pick([0, 0, 0, 1, 65_535]);
    return { version, script: random.bytes(random.pick([0, 1, 2, 34, 35, 60, random.chance(0.1) ? 9_999 : 25])) };
  }

  /** Returns payloads and extra data of up to that many bytes. */
  bytes(random: Random, limit: number): Uint8Array {
    const bytes = random.chance(0.5) ? random.pick(ODD_TEXTS) : random.bytes(random.below(limit + 1));
    return bytes.subarray(0, limit);
  }

  /**
   * Spends these outpoints, which need not exist. Everything else is any value that the rules
   * allow.
   */
  arbitrary(random: Random, spent: readonly Outpoint[], amounts = someAmounts(random)): DagTransaction {
    const version = random.pick([0, 0, 1]);
    const isLane = version === 1 && random.chance(0.3);
    const isLocked = random.chance(0.1);
    const lockTime = isLocked ? random.pick([1n, MAX_UINT64, LOCK_TIME_THRESHOLD]) : 0n;
    return withDerived({
      version,
      inputs: spent.map((previousOutpoint) => ({
        previousOutpoint,
        signatureScript: random.bytes(random.pick([0, 1, 5, 66, 200])),
        sequence: isLocked ? FINAL_SEQUENCE : random.pick([0n, 1n, FINAL_SEQUENCE, random.uint64()]),
        sigOpCount: version === 0 ? random.pick([0, 1, 1, 20]) : 0,
        computeBudget: version === 0 ? 0 : random.pick([0, 12, 200]),
      })),
      outputs: amounts.map((amount) => ({
        amount,
        scriptPublicKey: this.script(random),
        covenant:
          version === 1 && random.chance(0.2)
            ? { authorizingInput: random.pick([0, 1, 65_535]), covenantId: random.bytes(32) }
            : undefined,
      })),
      lockTime,
      subnetworkId: isLane ? laneOf(random) : NATIVE_SUBNETWORK,
      gas: isLane ? random.pick([0n, 1n, MAX_GAS_PER_LANE]) : 0n,
      payload: this.bytes(random, 100),
      storageMass: random.pick([0n, 0n, 1n, BigInt(random.below(20_000))]),
    });
  }

  /** Returns an accepted payment of somebody else. */
  somePayment(random: Random): DagTransaction | undefined {
    return this.payments.length === 0 ? undefined : random.pick(this.payments);
  }

  immature(random: Random): UtxoEntry | undefined {
    const found = this.rewards.filter((entry) => !this.view.isMature(this.view.find(entry.key) ?? entry));
    return found.length === 0 ? undefined : random.pick(found);
  }

  /** Returns an unspent output that anybody may spend now. */
  spendable(): UtxoEntry | undefined {
    const at = this.outputs.findLastIndex(({ key }) => {
      const entry = this.view.find(key);
      return entry !== undefined && this.view.isMature(entry) && this.view.isAnyones(entry);
    });
    const [entry] = at < 0 ? [] : this.outputs.splice(at, 1);
    return entry && this.view.find(entry.key);
  }

  someOfCovenant(random: Random): UtxoEntry | undefined {
    const found = this.outputs.filter(({ covenantId }) => covenantId !== undefined);
    return found.length === 0 ? undefined : random.pick(found);
  }

  /** Returns the same ids each time, in variants that nobody has seen. */
  freshVariants(random: Random, count: number): DagTransaction[] {
    while (this.repeated.length < count) this.repeated.push(bare([nowhere(random)], random.chance(0.1) ? [1n] : []));
    return this.repeated.slice(0, count).map((transaction) => this.variantOf(transaction));
  }

  /** Returns the same outputs each time. */
  claimedOutputs(random: Random, count: number): readonly Outpoint[] {
    while (this.claimed.size < count) {
      const spent = this.somePayment(random)?.inputs.map(({ previousOutpoint }) => previousOutpoint) ?? [];
      for (const outpoint of [...spent, nowhere(random)]) this.claimed.set(outpointKey(outpoint), outpoint);
    }
    return [...this.claimed.values()].slice(0, count);
  }

  variantOf(transaction: Transaction): DagTransaction {
    this.variants += 1;
    const signatureScript = Buffer.alloc(5, 0x04);
    signatureScript.writeUInt32LE(this.variants, 1);
    const [first, ...others] = transaction.inputs;
    const inputs = first === undefined ? [] : [{ ...first, signatureScript }, ...others];
    return withDerived({ ...transaction, inputs });
  }
}

type MakePlan = (miner: HostileTransactions, random: Random, size: HostileSize) => Plan;

const PLANS = {
  ...HOSTILE_APPLICATIONS,

  /** They spend outpoints that do not exist. */
  phantoms: (miner, random, { transactions, inputs, blocks }) =>
    times(blocks, () =>
      times(transactions, () =>
        miner.arbitrary(
          random,
          times(random.between(1, inputs), () => nowhere(random)),
        ),
      ),
    ),

  /**
   * Outputs of up to the maximum supply each, and what spends several of them: sums beyond 64 bits,
   * fees beyond them, and negative ones.
   */
  sums: (miner, random, { transactions }) => {
    const pay = () => miner.arbitrary(random, [nowhere(random)], [MAX_SOMPI]);
    const all = random.between(2, 9);
    const groups = times(Math.ceil(transactions / 2), () => times(all, pay));
    const spenders = groups.map((group) => {
      const amounts = random.pick([[], [1n], [10_000_000_000n], [MAX_SOMPI]]);
      return miner.arbitrary(random, group.map(firstOutput), amounts);
    });
    const tiny = miner.arbitrary(random, [nowhere(random)], [1n]);
    return [groups.flat(), spenders, [tiny], [miner.arbitrary(random, [firstOutput(tiny)], [MAX_SOMPI])]];
  },

  /** Inputs of many transactions spend the outputs of a few, which may arrive later. */
  late: (_miner, random, { transactions, inputs, blocks }) => {
    const parents = times(transactions, () => {
      const amounts = times(inputs, () => BigInt(random.between(1, 1_000_000_000)));
      return bare([nowhere(random)], amounts, random.bytes(4));
    });
    const spend = ({ transactionId, outputs }: DagTransaction): DagTransaction => {
      const outpoints = outputs.map((_, index) => ({ transactionId, index }));
      return bare(outpoints, random.pick([[], [1n]]), random.bytes(4));
    };
    return [...times(blocks, () => parents.map(spend)), parents];
  },

  /** The same ids in every block, each time in another variant. */
  variants: (miner, random, { transactions, blocks }) => {
    const payment = miner.somePayment(random);
    return times(blocks, (_, index) => [
      ...miner.freshVariants(random, transactions),
      ...(payment !== undefined && index === 0 ? [miner.variantOf(payment)] : []),
    ]);
  },

  /** Payments of others that were accepted long ago. */
  copies: (miner, random, { transactions, blocks }) =>
    times(blocks, () => [...new Set(times(transactions, () => miner.somePayment(random)))].filter(isDefined)),

  /**
   * They spend again what an accepted payment has spent, or outputs that a known transaction does
   * not have.
   */
  conflicts: (miner, random, { transactions, blocks }) =>
    times(blocks, () =>
      [...new Set(times(transactions, () => miner.somePayment(random)))].filter(isDefined).map((payment) => {
        const { transactionId } = payment;
        const missing = { transactionId, index: random.pick([payment.outputs.length, 2 ** 31, MAX_UINT32]) };
        const spent = random.pick([payment.inputs.map(({ previousOutpoint }) => previousOutpoint), [missing]]);
        return miner.arbitrary(random, random.chance(0.3) ? [...spent, nowhere(random)] : spent);
      }),
    ),

  /** Every block spends the same outputs again, by transactions that nobody has seen. */
  claims: (miner, random, { transactions, inputs, blocks }) => {
    const claimed = miner.claimedOutputs(random, transactions * inputs);
    return times(blocks, () =>
      times(transactions, (_, at) => bare(claimed.slice(at * inputs, (at + 1) * inputs), [], random.bytes(8))),
    );
  },

  /**
   * They spend an existing output before it is mature, with a broken signature, a wrong mass, a
   * lock, or for more than it has.
   */
  forbidden: (miner, random) => {
    const young = miner.immature(random);
    const old = miner.spendable();
    const early = young && plain(young, young.amount - 1n);
    if (old === undefined) return early === undefined ? [] : [[early]];
    const right = plain(old, old.amount - 1n);
    const wrong = random.pick([
      withDerived({ ...right, storageMass: right.storageMass + 1n }),
      withInput(right, { signatureScript: BROKEN_SIGNATURE }),
      withInput(right, { sequence: 0xffff_ffffn }),
      plain(old, old.amount + 1n),
      plain(old, MAX_SOMPI),
    ]);
    return early === undefined ? [[wrong]] : [[early], [wrong]];
  },

  /**
   * Each spends the one before it, and all are valid if the mergeset has them in this order;
   * sometimes together with a variant that is not.
   */
  chains: (miner, random, { blocks }) => {
    const first = miner.spendable();
    if (first === undefined) return [];
    const chain: DagTransaction[] = [];
    for (let entry: UtxoEntry | undefined = first; entry !== undefined && chain.length <= blocks; ) {
      const next = plain(entry, entry.amount - 1_000n, miner.bytes(random, 50));
      chain.push(next);
      [entry] = createdEntries(next, 0, false);
    }
    const [head] = chain;
    const broken = head && random.chance(0.3) ? [[withInput(head, { signatureScript: BROKEN_SIGNATURE })]] : [];
    return [...chain.map((transaction) => [transaction]), ...broken];
  },
} satisfies Record<string, MakePlan>;

export type HostileKind = keyof typeof PLANS;
export const HOSTILE_KINDS = Object.keys(PLANS) as readonly HostileKind[];

/** Drops what a block may not contain together with what is before it. */
function fitting(block: readonly DagTransaction[]): DagTransaction[] {
  const budget = new MassBudget();
  const gasByLane = new Map<string, bigint>();
  const ids = new Set<string>();
  const spentIds = new Set<string>();
  const spentKeys = new Set<string>();
  return block.filter((transaction) => {
    const id = toHex(transaction.transactionId);
    const inputs = transaction.inputs.map(({ previousOutpoint }) => toHex(previousOutpoint.transactionId));
    const keys = spentKeysOf(transaction);
    if (ids.has(id) || spentIds.has(id) || inputs.some((spent) => ids.has(spent))) return false;
    if (keys.some((key) => spentKeys.has(key)) || !budget.hasRoomFor(transaction)) return false;
    const lane = toHex(transaction.subnetworkId);
    const gas = (gasByLane.get(lane) ?? 0n) + transaction.gas;
    if (gas > MAX_GAS_PER_LANE || (!gasByLane.has(lane) && gasByLane.size === MAX_LANES)) return false;
    gasByLane.set(lane, gas);
    budget.take(transaction);
    ids.add(id);
    for (const spent of inputs) spentIds.add(spent);
    for (const key of keys) spentKeys.add(key);
    return true;
  });
}

function remember<T>(list: T[], items: readonly T[], limit: number): void {
  list.push(...items);
  if (list.length > 2 * limit) list.splice(0, list.length - limit);
}
