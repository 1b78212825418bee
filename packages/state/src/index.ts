/**
 * Derived state: everything that is computed from facts, one folder per kind (docs/architecture.md,
 * "Derived state").
 */
export { BalanceDeltas } from './balances/balance-deltas.ts';
export { findBootstrap } from './bootstrap.ts';
export { countTouched } from './balances/write.ts';
export { type ClusteringOptions, clusterStep, flagStep, type Step } from './clusters/step.ts';
export { findContested } from './contested-outputs/contested-outputs.ts';
export {
  type AcceptedTransaction,
  type ChainBlock,
  getOrInsert,
  type Outpoint,
  type ScriptDelta,
  StateChanges,
  type Utxo,
  type SpentOutput,
} from './state-changes.ts';
export { CandidateTransactions } from './first-catch-up/candidate-transactions.ts';
export { backfillInscriptions, holdBackfill } from './inscriptions/rebuild.ts';
export { columnsOf, isStandby, pagesByKey, type Queryable } from './queryable.ts';
export {
  applyState,
  collectState,
  EMPTIED_TABLES,
  FILLED_TABLES,
  rebuildLockedState,
  rebuildSteps,
  revertState,
  STATE_INDEXES,
  verifyCurrentState,
  verifyState,
} from './registry.ts';
export { replaceUtxoSet } from './replace-state.ts';
export { UtxoChanges } from './utxos/utxos.ts';
