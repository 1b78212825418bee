/**
 * Pending transactions, and orphans whose inputs are unknown. It has kaspad's order of checks and its messages (rusty-kaspa, mining/src/mempool),
 * but no replacement by fee and no size limit.
 */
import { type ScriptPublicKey, toHex, type Transaction, transactionHash } from '@kasgres/kaspa';
import type { DagTransaction } from '../../dag/dag.ts';
import { type MempoolEntry, type MempoolFilter, NodeResponseError } from '../../dag/node-state.ts';
import type { Consensus } from '../consensus/consensus.ts';
import { describeOutpoint } from '../consensus/transaction-rules.ts';
import { createdEntries, outpointKey, scriptKey, type UtxoEntry } from '../../economy/utxo.ts';
import { requiredStorageMass, withDerived } from '../../economy/build-transaction.ts';
import { findFormProblem, findRelayProblem } from './mempool-rules.ts';

export class Mempool {
  private readonly consensus: Consensus;
  private readonly isInBlock: (id: string) => boolean;
  /** By hex transaction id, as the other maps. */
  private readonly pool = new Map<string, MempoolEntry>();
  private readonly orphans = new Map<string, MempoolEntry>();
  /** Which transaction of the pool spends an outpoint. */
  private readonly spenders = new Map<string, string>();
  /** The outputs of pending transactions. */
  private readonly outputs = new Map<string, UtxoEntry>();

  /** @param isInBlock whether any block holds a transaction id (hex) */
  constructor(consensus: Consensus, isInBlock: (id: string) => boolean) {
    this.consensus = consensus;
    this.isInBlock = isInBlock;
  }

  get size(): number {
    return this.pool.size;
  }

  /** Takes a transaction in. Throws `NodeResponseError` with kaspad's message if it is rejected. */
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
    for (const { previousOutpoint } of transaction.inputs) this.spenders.set(outpointKey(previousOutpoint), id);
    for (const entry of createdEntries(transaction, Number.MAX_SAFE_INTEGER, false)) this.outputs.set(entry.key, entry);
  }

  /** Removes the transactions of a new block and those that conflict with them. */
  handleBlock(transactions: readonly DagTransaction[]): void {
    if (this.pool.size === 0 && this.orphans.size === 0) return;
    for (const { transactionId, inputs } of transactions.slice(1)) {
      const id = toHex(transactionId);
      this.orphans.delete(id);
      this.remove(id);
      for (const { previousOutpoint } of inputs)
        this.removeWithDependants(this.spenders.get(outpointKey(previousOutpoint)));
    }
    this.adoptOrphans();
  }

  /** Removes transactions whose inputs a reorganisation has removed. */
  revalidate(): void {
    for (const [id, { transaction }] of this.pool) {
      const isGone = transaction.inputs.some(
        ({ previousOutpoint }) => this.findUtxo(outpointKey(previousOutpoint)) === undefined,
      );
      if (isGone) this.removeWithDependants(id);
    }
  }

  /** Whether a transaction of the pool spends an outpoint, given by its key. */
  spends(key: string): boolean {
    return this.spenders.has(key);
  }

  /** Entries that spend nothing but unspent outputs of the virtual block, oldest first: a block could hold them now. */
  *ready(): Generator<MempoolEntry> {
    for (const entry of this.pool.values()) {
      const isReady = entry.transaction.inputs.every(({ previousOutpoint }) => {
        return this.consensus.utxos.find(outpointKey(previousOutpoint)) !== undefined;
      });
      if (isReady) yield entry;
    }
  }

  find(id: string, filter: MempoolFilter): MempoolEntry | undefined {
    const found = filter.filterTransactionPool ? undefined : this.pool.get(id);
    return found ?? (filter.includeOrphanPool ? this.orphans.get(id) : undefined);
  }

  entries({ includeOrphanPool, filterTransactionPool }: MempoolFilter): MempoolEntry[] {
    return [...(filterTransactionPool ? [] : this.pool.values()), ...(includeOrphanPool ? this.orphans.values() : [])];
  }

  entriesByScript(
    script: ScriptPublicKey,
    filter: MempoolFilter,
  ): { sending: MempoolEntry[]; receiving: MempoolEntry[] } {
    const wanted = scriptKey(script);
    const entries = this.entries(filter);
    const isWanted = (of: { scriptPublicKey: ScriptPublicKey } | undefined): boolean => {
      return of !== undefined && scriptKey(of.scriptPublicKey) === wanted;
    };
    return {
      sending: entries.filter(({ transaction }) => {
        return transaction.inputs.some(({ previousOutpoint }) =>
          isWanted(this.findUtxo(outpointKey(previousOutpoint))),
        );
      }),
      receiving: entries.filter(({ transaction }) => transaction.outputs.some(isWanted)),
    };
  }

  private findUtxo(key: string): UtxoEntry | undefined {
    return this.consensus.utxos.find(key) ?? this.outputs.get(key);
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
    for (const { previousOutpoint } of entry.transaction.inputs) this.spenders.delete(outpointKey(previousOutpoint));
    for (const key of outputKeys(entry.transaction)) this.outputs.delete(key);
  }

  private removeWithDependants(id: string | undefined): void {
    const entry = id === undefined ? undefined : this.pool.get(id);
    if (id === undefined || entry === undefined) return;
    const dependants = outputKeys(entry.transaction).map((key) => this.spenders.get(key));
    this.remove(id);
    for (const dependant of dependants) this.removeWithDependants(dependant);
  }

  /** Submits again the orphans whose inputs are known by now; those refused are dropped. */
  private adoptOrphans(): void {
    for (const [id, { transaction }] of this.orphans) {
      const isComplete = transaction.inputs.every(
        ({ previousOutpoint }) => this.findUtxo(outpointKey(previousOutpoint)) !== undefined,
      );
      if (!isComplete) continue;
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
