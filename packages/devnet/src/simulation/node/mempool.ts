/**
 * The mempool, without replacement by fee and size limit. Source of the checks, their order and
 * messages: rusty-kaspa, mining/src/mempool.
 */
import {
  classifyScript,
  type ScriptPublicKey,
  toHex,
  type Transaction,
  transactionHash,
  type TransactionOutput,
  transientMass,
} from '@kasgres/kaspa';
import type { DagTransaction } from '../../dag/dag.ts';
import {
  type MempoolEntriesOfScript,
  type MempoolEntry,
  type MempoolFilter,
  NodeResponseError,
} from '../../dag/node-state.ts';
import type { Consensus } from '../consensus/consensus.ts';
import { describeOutpoint } from '../consensus/transaction-rules.ts';
import { createdEntries, outpointKey, scriptKey, spentKeysOf, type UtxoEntry } from '../../economy/utxo.ts';
import { requiredStorageMass, withDerived } from '../../economy/build-transaction.ts';

const MAX_VERSION = 1;
const MAX_MASS = 500_000n;
const MAX_TRANSIENT_MASS = 1_000_000n;
const MIN_FEE_PER_MASS = 100n;

export class Mempool {
  private readonly consensus: Consensus;
  private readonly isInBlock: (id: string) => boolean;
  /** By hex transaction id, as the other maps. */
  private readonly pool = new Map<string, MempoolEntry>();
  private readonly orphans = new Map<string, MempoolEntry>();
  /** The ids of spending transactions by outpoint. */
  private readonly spenders = new Map<string, string>();
  /** The outputs of pending transactions. */
  private readonly outputs = new Map<string, UtxoEntry>();

  /** @param isInBlock whether any block contains a transaction id (hex) */
  constructor(consensus: Consensus, isInBlock: (id: string) => boolean) {
    this.consensus = consensus;
    this.isInBlock = isInBlock;
  }

  /** Adds a transaction. Throws `NodeResponseError` with kaspad's message if it is rejected. */
  submit(bare: Transaction, allowOrphan: boolean): DagTransaction {
    const transaction = withDerived(bare);
    const id = toHex(transaction.transactionId);
    const problem = this.findProblemBeforehand(transaction, id);
    if (problem !== undefined) throw refusal(id, problem);
    const check = this.consensus.checkPayment(transaction, { find: (key) => this.findUtxo(key) });
    if (check.kind === 'refused') throw refusal(id, check.reason);
    if (check.kind === 'missing-inputs') {
      if (!allowOrphan) throw refusal(id, `transaction ${id} is an orphan where orphan is disallowed`);
      this.orphans.set(id, { fee: 0n, transaction, isOrphan: true });
      return transaction;
    }
    const weighed = withStorageMass(transaction, requiredStorageMass(transaction, check.spent));
    const relayProblem = findRelayProblem(weighed, check.fee);
    if (relayProblem !== undefined) throw refusal(id, relayProblem);
    this.insert(id, weighed, check.fee);
    this.adoptOrphans();
    return weighed;
  }

  /** Adds a transaction that is known to be valid. */
  insert(id: string, transaction: DagTransaction, fee: bigint): void {
    this.orphans.delete(id);
    this.pool.set(id, { fee, transaction, isOrphan: false });
    for (const key of spentKeysOf(transaction)) this.spenders.set(key, id);
    for (const entry of createdEntries(transaction, Number.MAX_SAFE_INTEGER, false)) this.outputs.set(entry.key, entry);
  }

  /** Removes the transactions of a new block and those that conflict with them. */
  handleBlock(transactions: readonly DagTransaction[]): void {
    if (this.pool.size === 0 && this.orphans.size === 0) return;
    for (const transaction of transactions.slice(1)) {
      const id = toHex(transaction.transactionId);
      this.orphans.delete(id);
      this.remove(id);
      for (const key of spentKeysOf(transaction)) this.removeWithDependants(this.spenders.get(key));
    }
    this.adoptOrphans();
  }

  /** Removes transactions whose inputs a reorganisation has removed. */
  revalidate(): void {
    for (const [id, { transaction }] of this.pool) if (!this.isComplete(transaction)) this.removeWithDependants(id);
  }

  spends(key: string): boolean {
    return this.spenders.has(key);
  }

  /**
   * Returns the entries that the next block could include, oldest first: they spend only UTXOs of
   * the virtual block.
   */
  *ready(): Generator<MempoolEntry> {
    for (const entry of this.pool.values()) {
      const keys = spentKeysOf(entry.transaction);
      if (keys.every((key) => this.consensus.utxos.find(key) !== undefined)) yield entry;
    }
  }

  find(id: string, filter: MempoolFilter): MempoolEntry | undefined {
    const found = filter.filterTransactionPool ? undefined : this.pool.get(id);
    return found ?? (filter.includeOrphanPool ? this.orphans.get(id) : undefined);
  }

  entries({ includeOrphanPool, filterTransactionPool }: MempoolFilter): MempoolEntry[] {
    return [...(filterTransactionPool ? [] : this.pool.values()), ...(includeOrphanPool ? this.orphans.values() : [])];
  }

  entriesByScript(script: ScriptPublicKey, filter: MempoolFilter): MempoolEntriesOfScript {
    const wanted = scriptKey(script);
    const entries = this.entries(filter);
    const isWanted = (of: Pick<TransactionOutput, 'scriptPublicKey'> | undefined): boolean =>
      of !== undefined && scriptKey(of.scriptPublicKey) === wanted;
    return {
      sending: entries.filter(({ transaction }) =>
        spentKeysOf(transaction).some((key) => isWanted(this.findUtxo(key))),
      ),
      receiving: entries.filter(({ transaction }) => transaction.outputs.some(isWanted)),
    };
  }

  private findUtxo(key: string): UtxoEntry | undefined {
    return this.consensus.utxos.find(key) ?? this.outputs.get(key);
  }

  private isComplete(transaction: DagTransaction): boolean {
    return spentKeysOf(transaction).every((key) => this.findUtxo(key) !== undefined);
  }

  private findProblemBeforehand(transaction: DagTransaction, id: string): string | undefined {
    if (this.isInBlock(id)) return `transaction ${id} was already accepted by the consensus`;
    if (this.pool.has(id)) return `transaction ${id} is already in the mempool`;
    const formProblem = findFormProblem(transaction);
    if (formProblem !== undefined) return formProblem;
    for (const { previousOutpoint } of transaction.inputs) {
      const spender = this.spenders.get(outpointKey(previousOutpoint));
      if (spender === undefined) continue;
      return `output ${describeOutpoint(previousOutpoint)} already spent by transaction ${spender} in the mempool`;
    }
    return undefined;
  }

  private remove(id: string): void {
    const entry = this.pool.get(id);
    if (entry === undefined) return;
    this.pool.delete(id);
    for (const key of spentKeysOf(entry.transaction)) this.spenders.delete(key);
    for (const key of outputKeys(entry.transaction)) this.outputs.delete(key);
  }

  private removeWithDependants(id: string | undefined): void {
    const entry = id === undefined ? undefined : this.pool.get(id);
    if (id === undefined || entry === undefined) return;
    const dependants = outputKeys(entry.transaction).map((key) => this.spenders.get(key));
    this.remove(id);
    for (const dependant of dependants) this.removeWithDependants(dependant);
  }

  /** Submits orphans whose inputs have become known; rejected ones are dropped. */
  private adoptOrphans(): void {
    for (const [id, { transaction }] of this.orphans) {
      if (!this.isComplete(transaction)) continue;
      this.orphans.delete(id);
      try {
        this.submit(transaction, true);
      } catch (error) {
        if (!(error instanceof NodeResponseError)) throw error;
      }
    }
  }
}

function outputKeys({ transactionId, outputs }: DagTransaction): string[] {
  return outputs.map((_, index) => outpointKey({ transactionId, index }));
}

function withStorageMass(transaction: DagTransaction, storageMass: bigint): DagTransaction {
  if (transaction.storageMass === storageMass) return transaction;
  const weighed = { ...transaction, storageMass };
  return { ...weighed, hash: transactionHash(weighed) };
}

function refusal(id: string, reason: string): NodeResponseError {
  return new NodeResponseError(`Rejected transaction ${id}: ${reason}`);
}

/**
 * Returns why a transaction is rejected regardless of the UTXOs that it spends, `undefined` if it
 * is not.
 */
function findFormProblem(transaction: DagTransaction): string | undefined {
  const { version, inputs, outputs, computeMass } = transaction;
  if (version > MAX_VERSION)
    return notStandard(transaction, `transaction version ${version} is not in the valid range of 0-1`);
  if (inputs.length === 0) return 'transaction has no inputs';
  if (new Set(spentKeysOf(transaction)).size < inputs.length) return 'transaction has duplicate inputs';
  if (computeMass > MAX_MASS) return tooHeavy('compute', computeMass, MAX_MASS);
  const transient = transientMass(transaction);
  if (transient > MAX_TRANSIENT_MASS) return tooHeavy('transient (storage)', transient, MAX_TRANSIENT_MASS);
  const worthless = outputs.findIndex(({ amount }) => amount === 0n);
  if (worthless >= 0) return `transaction output ${worthless} has zero value`;
  const odd = outputs.findIndex(({ scriptPublicKey }) => classifyScript(scriptPublicKey) === 'nonstandard');
  if (odd >= 0) return notStandard(transaction, `transaction output #${odd}: non-standard script form`);
  return undefined;
}

/**
 * Returns why a valid transaction is not relayed, `undefined` if it is. Expects the storage mass to
 * be set.
 */
function findRelayProblem(transaction: DagTransaction, fee: bigint): string | undefined {
  if (transaction.storageMass > MAX_MASS) return tooHeavy('storage', transaction.storageMass, MAX_MASS);
  const halfTransient = transientMass(transaction) / 2n;
  const mass = transaction.computeMass > halfTransient ? transaction.computeMass : halfTransient;
  const required = mass * MIN_FEE_PER_MASS;
  if (fee >= required) return undefined;
  const problem = `transaction has ${fee} fees which is under the required amount of ${required} for compute mass ${mass}`;
  return notStandard(transaction, problem);
}

function tooHeavy(kind: string, mass: bigint, limit: bigint): string {
  return `transaction ${kind} mass of ${mass} is larger than max allowed size of ${limit}`;
}

function notStandard({ transactionId }: DagTransaction, problem: string): string {
  return `transaction ${toHex(transactionId)} is not standard: ${problem}`;
}
