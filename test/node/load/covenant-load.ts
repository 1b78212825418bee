/**
 * Covenants on a real simnet node, whose only miner this is: births of one and of two, moves,
 * splits, merges, burns, a new covenant from the UTXO of another one, as bare scripts and as
 * programs, and rival spends in sibling blocks. What is true in the end is computed from the
 * transactions alone.
 */
import {
  createdEntries,
  type DagTransaction,
  p2shOf,
  push,
  Random,
  requiredStorageMass,
  type UtxoEntry,
  withDerived,
} from '@kasgres/devnet';
import { blake2b256, covenantId, NATIVE_SUBNETWORK, type ScriptPublicKey, toHex } from '@kasgres/kaspa';
import type { NodeClient } from '@kasgres/node';
import { getTemplate, mine, submit } from './miner.ts';

/**
 * Blocks until the first coinbases are mature, with a reserve: births in 250 rounds spend about 140
 * coinbases.
 */
const WARM_UP_BLOCKS = 1_180;
const FEE = 20_000n;
const LEAST_SPLIT = 400_000_000n;
/** Enough for the largest program here. */
const COMPUTE_BUDGET = 12;
const DROP = 0x75;
const TRUE = 0x51;

/** A script that anybody may spend, with what spends it. */
interface Lock {
  scriptPublicKey: ScriptPublicKey;
  signatureScript: Uint8Array;
  program: Uint8Array | undefined;
}

interface Spendable {
  entry: UtxoEntry;
  lock: Lock;
}

interface PlannedOutput {
  amount: bigint;
  lock: Lock;
  covenant?: { authorizingInput: number; covenantId: Uint8Array };
}

interface Made {
  transaction: DagTransaction;
  spent: Spendable[];
  created: Spendable[];
}

/** Ids and hashes are hex. */
export interface CovenantFacts {
  /** The events of each covenant, in the order of acceptance. */
  events: Map<string, { transactionId: string; kind: string }[]>;
  /** The covenant and the amount of each UTXO, by outpoint. */
  utxos: Map<string, { covenantId: string; amount: bigint }>;
  /** Hashes of programs that spends revealed. */
  programs: Set<string>;
}

function programLock(program: Uint8Array): Lock {
  return { scriptPublicKey: p2shOf(program), signatureScript: push(program), program };
}

/** The lock that pays the miner. */
const MINER = programLock(Uint8Array.of(TRUE));

export class CovenantLoad {
  readonly #node: NodeClient;
  readonly #random: Random;
  readonly #made = new Map<string, Made>();
  readonly #live = new Map<string, Spendable[]>();
  readonly #money: Spendable[] = [];
  #nonce = 0n;
  #first: string | undefined;

  constructor(node: NodeClient, seed: string) {
    this.#node = node;
    this.#random = new Random(seed, 'covenants');
  }

  async warmUp(): Promise<void> {
    const coinbases: DagTransaction[] = [];
    for (let block = 0; block < WARM_UP_BLOCKS; block += 1) coinbases.push(await this.#mine([]));
    const coinbase = coinbases.slice(2, WARM_UP_BLOCKS - 1_000 + 20);
    this.#money.push(
      ...coinbase.flatMap((transaction) =>
        spendables(
          transaction,
          transaction.outputs.map(() => MINER),
        ),
      ),
    );
  }

  /** Mines a block with some changes, sometimes with a rival beside it. */
  async round(): Promise<void> {
    const block: Made[] = [];
    const rivals: Made[] = [];
    if (this.#random.chance(0.35)) block.push(...this.#birth());
    if (this.#random.chance(0.1)) block.push(...this.#twoBirths());
    for (const utxos of this.#someLive()) {
      const [first] = utxos;
      if (first === undefined) continue;
      const made = this.#step(utxos);
      if (this.#random.chance(0.06))
        rivals.push(this.#make(made.spent, [{ amount: sumOf(made.spent) - FEE / 2n, lock: MINER }]));
      block.push(made);
    }
    const template = await getTemplate(this.#node, MINER.scriptPublicKey);
    await this.#mine(block, template);
    if (rivals.length > 0) {
      await this.#mine(rivals, template);
      await this.#mine([]);
      await this.#mine([]);
    }
    const accepted = rivals.length > 0 ? new Set(await this.#acceptedIds()) : undefined;
    for (const made of block) if (accepted?.has(idOf(made)) !== false) this.#take(made);
  }

  /** Mines until everything is accepted that will be. */
  async settle(): Promise<void> {
    for (let block = 0; block < 4; block += 1) await this.#mine([]);
  }

  async facts(): Promise<CovenantFacts> {
    const facts: CovenantFacts = { events: new Map(), utxos: new Map(), programs: new Set() };
    for (const id of await this.#acceptedIds()) {
      const made = this.#made.get(id);
      if (made === undefined) continue;
      const spent = new Set<string>();
      for (const { entry, lock } of made.spent) {
        const covenant = facts.utxos.get(nameOf(entry))?.covenantId;
        facts.utxos.delete(nameOf(entry));
        if (covenant === undefined) continue;
        spent.add(covenant);
        if (lock.program !== undefined) facts.programs.add(toHex(blake2b256(lock.program)));
      }
      const created = new Set<string>();
      for (const { entry } of made.created) {
        if (entry.covenantId === undefined) continue;
        const covenant = toHex(entry.covenantId);
        created.add(covenant);
        facts.utxos.set(nameOf(entry), { covenantId: covenant, amount: entry.amount });
      }
      for (const covenant of spent.union(created)) {
        const kind = !spent.has(covenant) ? 'genesis' : created.has(covenant) ? 'transition' : 'burn';
        facts.events.set(covenant, [...(facts.events.get(covenant) ?? []), { transactionId: id, kind }]);
      }
    }
    return facts;
  }

  #birth(): Made[] {
    const fund = this.#money.shift();
    if (fund === undefined) return [];
    const count = 1 + this.#random.below(3);
    const amount = fund.entry.amount / BigInt(count + 2);
    const outputs: PlannedOutput[] = Array.from({ length: count }, (_, index) => ({
      amount: amount - BigInt(index),
      lock: this.#lock(),
    }));
    return [
      this.#make(
        [fund],
        [
          ...bind(
            fund,
            0,
            outputs.map((output, index) => [index, output] as const),
          ),
          { amount, lock: MINER },
        ],
      ),
    ];
  }

  #twoBirths(): Made[] {
    const [first, second] = [this.#money.shift(), this.#money.shift()];
    if (first === undefined || second === undefined) return [];
    const output = (amount: bigint): PlannedOutput => ({ amount, lock: this.#lock() });
    const [a, b, c] = [
      output(first.entry.amount / 3n),
      output(second.entry.amount / 3n),
      output(first.entry.amount / 3n),
    ];
    bind(first, 0, [
      [0, a],
      [2, c],
    ]);
    bind(second, 1, [[1, b]]);
    return [this.#make([first, second], [a, b, c, { amount: second.entry.amount / 3n, lock: MINER }])];
  }

  #step(utxos: Spendable[]): Made {
    const [first, second] = utxos as [Spendable, Spendable | undefined];
    const kind = this.#random.pick(['move', 'move', 'move', 'split', 'merge', 'burn', 'reborn'] as const);
    const covenant = first.entry.covenantId as Uint8Array;
    const { amount } = first.entry;
    const move = (moved: bigint, authorizingInput = 0): PlannedOutput => {
      return { amount: moved, lock: this.#lock(), covenant: { authorizingInput, covenantId: covenant } };
    };
    if (kind === 'merge' && second !== undefined) {
      return this.#make([first, second], [move(amount + second.entry.amount - FEE, this.#random.below(2))]);
    }
    if (kind === 'split' && amount > LEAST_SPLIT)
      return this.#make([first], [move(amount / 2n - FEE), move(amount / 2n - FEE - 1n)]);
    if (kind === 'burn') return this.#make([first], [{ amount: amount - FEE, lock: MINER }]);
    if (kind === 'reborn')
      return this.#make([first], bind(first, 0, [[0, { amount: amount - FEE, lock: this.#lock() }]]));
    return this.#make([first], [move(amount - FEE)]);
  }

  /** A state as a bare script, or as programs of four templates. */
  #lock(): Lock {
    const state = this.#random.bytes(this.#random.pick([8, 32, 40]));
    const pushed = push(state);
    const introspective = (opcodes: readonly number[]): Lock =>
      programLock(Buffer.concat([pushed, Buffer.of(DROP, ...opcodes, DROP, TRUE)]));
    const locks = [
      (): Lock => ({
        scriptPublicKey: { version: 0, script: Buffer.concat([pushed, Buffer.of(DROP, TRUE)]) },
        signatureScript: new Uint8Array(0),
        program: undefined,
      }),
      (): Lock => ({
        scriptPublicKey: { version: 0, script: Buffer.concat([pushed, Buffer.of(DROP, 0xb3, DROP, TRUE)]) },
        signatureScript: new Uint8Array(0),
        program: undefined,
      }),
      (): Lock => programLock(Buffer.concat([pushed, Buffer.of(DROP, TRUE)])),
      (): Lock => introspective([0xb9]),
      (): Lock => introspective([0xb9, 0xcf]),
    ];
    return this.#random.pick(locks)();
  }

  #make(spent: Spendable[], outputs: PlannedOutput[]): Made {
    const unsigned = {
      version: 1,
      inputs: spent.map(({ entry, lock }) => ({
        previousOutpoint: entry.outpoint,
        signatureScript: lock.signatureScript,
        sequence: 0n,
        sigOpCount: 0,
        computeBudget: COMPUTE_BUDGET,
      })),
      outputs: outputs.map(({ amount, lock, covenant }) => ({
        amount,
        scriptPublicKey: lock.scriptPublicKey,
        covenant,
      })),
      lockTime: 0n,
      subnetworkId: NATIVE_SUBNETWORK,
      gas: 0n,
      payload: new Uint8Array(0),
      storageMass: 0n,
    };
    const entries = spent.map(({ entry }) => entry);
    const transaction = withDerived({ ...unsigned, storageMass: requiredStorageMass(unsigned, entries) });
    const created = spendables(
      transaction,
      outputs.map(({ lock }) => lock),
    );
    const made = { transaction, spent, created };
    this.#made.set(idOf(made), made);
    return made;
  }

  #someLive(): Spendable[][] {
    const live = [...this.#live.values()].filter((utxos) => utxos.length > 0);
    const count = Math.min(live.length, 1 + this.#random.below(6));
    const start = this.#random.below(Math.max(1, live.length));
    return Array.from({ length: count }, (_, index) => live[(start + index) % live.length] ?? []);
  }

  #take({ spent, created }: Made): void {
    for (const { entry } of spent) {
      if (entry.covenantId === undefined) continue;
      const utxos = this.#live.get(toHex(entry.covenantId)) ?? [];
      this.#live.set(
        toHex(entry.covenantId),
        utxos.filter((other) => other.entry.key !== entry.key),
      );
    }
    for (const utxo of created) {
      const { covenantId: id } = utxo.entry;
      if (id === undefined) continue;
      this.#live.set(toHex(id), [...(this.#live.get(toHex(id)) ?? []), utxo]);
    }
  }

  /** A response has a page of the chain. */
  async #acceptedIds(): Promise<string[]> {
    const ids: string[] = [];
    for (let startHash = this.#first; startHash !== undefined; ) {
      const chain = { startHash, includeAcceptedTransactionIds: true };
      const { addedChainBlockHashes, acceptedTransactionIds } = await this.#node.call(
        'getVirtualChainFromBlock',
        chain,
      );
      for (const block of acceptedTransactionIds) ids.push(...block.acceptedTransactionIds);
      startHash = addedChainBlockHashes.at(-1);
    }
    return ids;
  }

  /** Returns the coinbase. */
  async #mine(made: readonly Made[], template?: Awaited<ReturnType<typeof getTemplate>>): Promise<DagTransaction> {
    const block = mine(
      template ?? (await getTemplate(this.#node, MINER.scriptPublicKey)),
      [...made],
      (this.#nonce += 1n),
    );
    await submit(this.#node, block);
    this.#first ??= toHex(block.hash);
    return block.coinbase;
  }
}

function idOf({ transaction }: Made): string {
  return toHex(transaction.transactionId);
}

function nameOf({ outpoint }: UtxoEntry): string {
  return `${toHex(outpoint.transactionId)}:${outpoint.index}`;
}

function sumOf(spent: readonly Spendable[]): bigint {
  return spent.reduce((sum, { entry }) => sum + entry.amount, 0n);
}

/** Binds outputs to the covenant that they found by spending a UTXO. */
function bind(
  { entry }: Spendable,
  authorizingInput: number,
  outputs: readonly (readonly [number, PlannedOutput])[],
): PlannedOutput[] {
  const founding = outputs.map(
    ([index, { amount, lock }]) => [index, { amount, scriptPublicKey: lock.scriptPublicKey }] as const,
  );
  const id = covenantId(entry.outpoint, founding);
  for (const [, output] of outputs) output.covenant = { authorizingInput, covenantId: id };
  return outputs.map(([, output]) => output);
}

function spendables(transaction: DagTransaction, locks: readonly Lock[]): Spendable[] {
  return createdEntries(transaction, 0, false).map((entry, index) => ({ entry, lock: locks[index] as Lock }));
}
