/** Reads of the index, for the API and `kasgres webhooks`. */
export { type Awaitable, whenKnown } from './common/awaitable.ts';
export { type Deadline, Deadlines } from './common/deadlines.ts';
export { type Item, LinkedList } from './common/linked-list.ts';
export { RecentlyUsed } from './common/recently-used.ts';
export { SharedRead } from './common/shared-read.ts';
export { EventLoopTurns, Slices } from './fairness/event-loop-turns.ts';
export { FairQueue } from './fairness/fair-queue.ts';
export { LeastServed } from './fairness/least-served.ts';
export { TurnShare } from './fairness/turn-share.ts';
export {
  badRequest,
  conflict,
  type ErrorDetail,
  HttpError,
  MAX_DETAILS,
  notFound,
  unavailable,
} from './http/errors.ts';
export { afterOtherLargeBodies, LARGE_CHARACTERS, pause } from './http/large-bodies.ts';
export {
  type DatabaseOptions,
  MAX_WAIT_MS,
  MAX_WAITING_PER_CONNECTION,
  openDatabase,
  PLANNER_SETTINGS,
} from './index-state/database.ts';
export { type IndexState } from './index-state/index-state.ts';
export { jsonArray, type JsonFields, jsonObject, optional } from './index-state/json.ts';
export {
  anyOf,
  type Db,
  findScriptId,
  hasTransactionId,
  hex,
  hexOrNull,
  text,
  textOrNull,
  transactionIdOf,
} from './index-state/sql.ts';
export {
  catchingUp,
  findReplicaLag,
  findUtxoSetLoad,
  IndexReader,
  isStandby,
  type Reading,
  requireCaughtUp,
  runForJson,
  runWithin,
} from './index-state/state.ts';
export {
  type BoundStatement,
  commonTable,
  type ParameterOf,
  readJson,
  sinkBlueScore,
  Statement,
  statementsBy,
} from './index-state/statement.ts';
export {
  type AddressParameters,
  addressTag,
  type AddressTagJson,
  automaticLabels,
  requireNetwork,
  requireNetworkOfAll,
  requireNetworkOfCursor,
  scriptIdOf,
} from './schemas/address.ts';
export { block, type BlockJson, headerFields } from './schemas/block.ts';
export { list } from './schemas/list.ts';
export { type ErrorEnvelope, errorEnvelope } from './schemas/error-envelope.ts';
export { pendingTransaction, type PendingTransactionJson } from './schemas/pending-transaction.ts';
export { restBlock } from './schemas/rest-block.ts';
export {
  computeBudget,
  covenant,
  outpoint,
  scriptPublicKeyType,
  transaction,
  type TransactionInputJson,
  type TransactionJson,
  type TransactionOutputJson,
} from './schemas/transaction.ts';
export {
  address,
  addressesInput,
  addressInput,
  count,
  decimal,
  flag,
  hash,
  hashInput,
  hashOrEmptyInput,
  hexBytes,
  hexHashInput,
  includeInput,
  milliseconds,
  payload,
  sompi,
  sompiDelta,
  timestamp,
  uint64Input,
} from './schemas/values.ts';
export {
  cannotCross,
  findFirstBlock,
  findLowestBlock,
  findSegmentStart,
  type Gap,
  gapAbove,
  getPathToChain,
  isPreBootstrap,
  joinedGaps,
  listGaps,
  notConnected,
  pathToChain,
  type SegmentEnd,
  unknownItem,
} from './selects/segments.ts';
export {
  blockFields,
  difficultyOf,
  joinMerging,
  restBlockFields,
  restBlocks,
  wholeBlocks,
} from './selects/select-blocks.ts';
export { dagBlock, dagBlockFields, type DagBlockJson } from './selects/select-dag-blocks.ts';
export {
  hasComputeBudgets,
  inputFields,
  isAccepted,
  joinPrevious,
  outputCovenant,
  toPayload,
  toScriptPublicKey,
  transactionFields,
  transactionId,
  transactionPayload,
} from './selects/transaction-fields.ts';
