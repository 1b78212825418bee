/**
 * The database: connections, schema, COPY, keys, tags, clusters and logins. Embedded Postgres and
 * test helpers have separate entries.
 */
export { approveCluster, listClustersAtLimit, rejectHeldMerges } from './clusters/cluster-reviews.ts';
export { clusterRoots } from './clusters/cluster-roots.ts';
export { addTagsOfMembers, moveClusterTags, splitClusterTags } from './clusters/cluster-tags.ts';
export {
  ANALYST_NAME,
  createAnalyst,
  DEFAULT_ANALYST_CONNECTIONS,
  DEFAULT_TIMEOUT_SECONDS,
  IS_ANALYST,
  listAnalysts,
  removeAnalyst,
  TRANSACTION_TIMEOUTS,
} from './logins/analysts.ts';
export {
  ASK_AFTER_SILENCE_MS,
  type Connection,
  type ConnectOptions,
  connect,
  type Database,
} from './connection/connect.ts';
export { socketOf } from './connection/lost-connections.ts';
export { type CopyBuffer, copyRows } from './copy/copy-buffer.ts';
export {
  COVENANT_EVENTS,
  BATCH_TABLES,
  type BatchRow,
  type BatchRows,
  type BlockKey,
  type ChainTime,
  createBatchRows,
  LOADED_UTXOS,
  type ScriptKey,
  type TransactionKey,
  UTXOS,
} from './copy/tables.ts';
export { checkLogin } from './connection/check-login.ts';
export {
  type BlockingSession,
  describeBlocking,
  type EndableSessions,
  withExclusiveLocks,
} from './connection/exclusive-locks.ts';
export {
  isDatabaseUnavailable,
  isDataError,
  isDiskFull,
  isPoolExhausted,
  isQueryCanceled,
  isRetryableDatabaseError,
  PoolExhaustedError,
  SchemaError,
} from './connection/errors.ts';
export { explainDatabaseError } from './connection/explain-error.ts';
export { holdSession, type SessionOptions } from './connection/hold-session.ts';
export { inPipeline } from './connection/in-pipeline.ts';
export { BEGIN_SNAPSHOT, inTransaction, LIMIT_IDLE_TIME } from './connection/in-transaction.ts';
export { type DatabaseState, inspectDatabase } from './schema/inspect.ts';
export {
  type ApiKey,
  createKey,
  DEFAULT_CONCURRENCY,
  DEFAULT_RATE_RU,
  findKey,
  findKeyHashes,
  findKeys,
  hashKey,
  type KeyInForce,
  type KeyRecord,
  LEAST_COST_RU,
  listKeys,
  MAX_LIMIT_RU,
  MAX_WINDOW_SECONDS,
  type NewKey,
  revokeKey,
} from './keys/keys.ts';
export { UnknownCommitError } from './connection/commit.ts';
export { makeReader, type Reader } from './logins/read-only-login.ts';
export { checkSchema, migrate, planMigration } from './schema/migrate.ts';
export { INDEXED_ID_BYTES, transactionIdIs } from './schema/transaction-ids.ts';
export { packParents, unpackParents } from './copy/packed-parents.ts';
export { listConflictingAddresses, listConflictingClusters } from './tags/tag-conflicts.ts';
export {
  DEFAULT_CONFIDENCE_LEVEL,
  listAttributions,
  listSources,
  removeSource,
  replaceSources,
  toAttribution,
  upsertTags,
} from './tags/tag-sources.ts';
export { type Attribution, type SourceChanges, type TagSource } from './tags/attribution.ts';
export { findClusterTag, findOwnTag, type OwnerTag, type Tag } from './tags/tags.ts';
export {
  type ListedTemplateSource,
  listTemplateSources,
  replaceTemplateSource,
  type TemplateSource,
  type TemplateSourceChanges,
} from './template-names/template-sources.ts';
export { addUsage, dayOf, endOf, firstDayOf, type KeyUsage, listUsage, type QuotaPeriod } from './keys/usage.ts';
export { releaseWriterLock, takeWriterLock, type WriterLockOptions } from './connection/writer-lock.ts';
export { clientConfig, SERVER_KEEP_ALIVE } from './connection/client-config.ts';
export { listenTo, notifyStatement } from './connection/channels.ts';
