/** The state of a node around a small DAG, for tests of the server. */
import { getNetwork, type Utxo, ZERO_HASH } from '@kasgres/kaspa';
import type { NodeEvent, NodeState } from '../node-state.ts';
import type { SmallDag } from './small-dag.ts';

export type SmallState = NodeState & {
  isUtxoIndexed: boolean;
  utxoEntries: Utxo[];
  /** Calls `SmallDag.setVirtual` and notifies the subscribers. */
  setVirtual: (parents: string[]) => void;
};

export function smallState(small: SmallDag): SmallState {
  const { dag } = small;
  const listeners = new Set<(event: NodeEvent) => void>();
  const balance = () => state.utxoEntries.reduce((sum, { amount }) => sum + amount, 0n);
  const state: SmallState = {
    network: getNetwork('simnet'),
    dag,
    serverVersion: '2.1.0',
    isSynced: true,
    pruningPoint: dag.genesis.hash,
    isUtxoIndexed: true,
    utxoEntries: [],
    setVirtual(parents) {
      const change = small.setVirtual(parents);
      const added = change.added.map((block): NodeEvent => ({ kind: 'blockAdded', block }));
      for (const event of [...added, { kind: 'virtualChanged', change } as const]) {
        for (const listener of listeners) listener(event);
      }
    },
    findMempoolEntry: () => undefined,
    mempoolEntries: () => [],
    mempoolEntriesByScript: () => ({ sending: [], receiving: [] }),
    blockTemplate: (_, payload) => ({
      header: dag.genesis.header,
      transactions: dag.genesis.transactions.map((coinbase) => ({ ...coinbase, payload })),
    }),
    submitBlock: () => 'invalid',
    submitTransaction: () => ZERO_HASH,
    balance,
    utxos: () => state.utxoEntries,
    circulatingSompi: balance,
    onEvent(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  return state;
}
