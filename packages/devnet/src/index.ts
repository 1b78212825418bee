/**
 * A simulated node: a DAG in memory with the responses of a Kaspa node (`dag`), its gRPC and p2p
 * (`rpc`, `p2p`), people who pay (`economy`), and a network of miners that makes such a DAG
 * (`simulation`).
 */
export { acceptedBy } from './dag/responses/chain.ts';
export { sinkAnticone } from './dag/responses/get-blocks.ts';
export {
  type AcceptedTransaction,
  type ChainChange,
  compareByBlueWork,
  Dag,
  type DagBlock,
  type DagTransaction,
  type NewBlock,
  type NewVirtual,
  type Virtual,
} from './dag/dag.ts';
export {
  type BlockTemplate,
  type MempoolEntry,
  type MempoolFilter,
  NodeResponseError,
  type NodeEvent,
  type NodeState,
  type SubmitBlockResult,
} from './dag/node-state.ts';
export {
  type PruningPointSet,
  type UtxoSetFault,
  type UtxoSetFaultPlan,
  UtxoSetServer,
  type UtxoSetServerOptions,
} from './p2p/server.ts';
export { utxoSetItem } from './p2p/server.ts';
export { type EconomyOptions } from './economy/options.ts';
export { type Key, Keyring, type Landmark, landmarks } from './economy/keyring.ts';
export {
  type Draft,
  buildTransaction,
  foundedBy,
  leastFee,
  MassBudget,
  requiredStorageMass,
  withDerived,
} from './economy/build-transaction.ts';
export { ANYONES_SCRIPT, type HostileSize, plain, unsigned, withInput } from './economy/hostile-parts.ts';
export { HOSTILE_KINDS, type HostileKind, HostileTransactions } from './economy/hostile-transactions.ts';
export { Applications } from './economy/applications.ts';
export { Payments } from './economy/payments.ts';
export { digest, Random } from './economy/random.ts';
export { p2shOf, payToKey, push } from './economy/scripts.ts';
export { withOtherSignatures } from './economy/signatures.ts';
export { createdEntries, outpointKey, scriptKey, spentKeysOf, type UtxoEntry } from './economy/utxo.ts';
export { type Ledger, Wallet } from './economy/wallet.ts';
export type { Fault, FaultPlan } from './rpc/server.ts';
export { readHeader, readTransaction } from './rpc/from-messages.ts';
export { NodeServer, type NodeServerOptions } from './rpc/server.ts';
export * from './simulation/index.ts';
