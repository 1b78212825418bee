/** Kinds of derived state that tests rebuild or verify one at a time. No program loads this. */
export { rebuildPreviousChanges } from '../balances/hourly-changes/previous-changes.ts';
export { loadActivityAtFork } from '../balances/script-activity/look-up.ts';
export { contestedOutputs } from '../contested-outputs/contested-outputs.ts';
export { covenants } from '../covenants/covenants.ts';
export { verifyCovenants } from '../covenants/verify.ts';
export { inscriptions } from '../inscriptions/inscriptions.ts';
export { lanes } from '../lanes/lanes.ts';
export { programs } from '../programs/programs.ts';
export { verifyPrograms } from '../programs/verify.ts';
export { repeatedTransactions } from '../repeated-transactions/repeated-transactions.ts';
