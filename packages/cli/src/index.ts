// What the rest of the workspace may use of the command: its environment, for the documentation, and the checks of `kasgres
// verify`, which tests run too.
export { cliEnvSchema } from './env.ts';
export { checkInvariant4 } from './verify/balances.ts';
export { checkInvariant12 } from './verify/clusters.ts';
export { checkInvariant7 } from './verify/completeness.ts';
export { checkInvariant8 } from './verify/hashes.ts';
export { checkUtxoCommitment } from './verify/utxo-commitment.ts';
