/** The rest of a node around a small DAG, for tests of the server: UTXOs and mempool that do not follow from the DAG. */
import { getNetwork, type Hash, type ScriptPublicKey, type Utxo, ZERO_HASH } from '@kasgres/kaspa';
import type { BlockTemplate, MempoolEntry, NodeEvent, NodeState } from '../node-state.ts';
import type { SmallDag } from './small-dag.ts';

export class SmallState implements NodeState {
  readonly network = getNetwork('simnet');
  readonly serverVersion = '2.1.0';
  readonly isSynced = true;
  readonly pruningPoint: string;
  isUtxoIndexed = true;
  utxoEntries: Utxo[] = [];
  private readonly small: SmallDag;
  private readonly listeners = new Set<(event: NodeEvent) => void>();

  constructor(small: SmallDag) {
    this.small = small;
    this.pruningPoint = small.dag.genesis.hash;
  }

  get dag() {
    return this.small.dag;
  }

  /** Calls `SmallDag.setVirtual` and notifies the subscribers. */
  setVirtual(parents: string[]): void {
    const change = this.small.setVirtual(parents);
    for (const block of change.added) this.emit({ kind: 'blockAdded', block });
    this.emit({ kind: 'virtualChanged', change });
  }

  findMempoolEntry(): MempoolEntry | undefined {
    return undefined;
  }

  mempoolEntries(): MempoolEntry[] {
    return [];
  }

  mempoolEntriesByScript(): { sending: MempoolEntry[]; receiving: MempoolEntry[] } {
    return { sending: [], receiving: [] };
  }

  blockTemplate(_payScript: ScriptPublicKey, extraData: Uint8Array): BlockTemplate {
    const [coinbase] = this.dag.genesis.transactions;
    if (coinbase === undefined) throw new Error('genesis has no coinbase');
    return { header: this.dag.genesis.header, transactions: [{ ...coinbase, payload: extraData }] };
  }

  submitBlock(): 'invalid' {
    return 'invalid';
  }

  submitTransaction(): Hash {
    return ZERO_HASH;
  }

  balance(): bigint {
    return this.utxoEntries.reduce((sum, { amount }) => sum + amount, 0n);
  }

  utxos(): Utxo[] {
    return this.utxoEntries;
  }

  circulatingSompi(): bigint {
    return this.balance();
  }

  onEvent(listener: (event: NodeEvent) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private emit(event: NodeEvent): void {
    for (const listener of this.listeners) listener(event);
  }
}
