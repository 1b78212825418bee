/** The database: connections, schema, keys and tags, and Postgres servers of our own. */
export { approveCluster, listClustersAtLimit, rejectHeldMerges } from './cluster-reviews.ts';
export { addTagsOfMembers, moveClusterTags, splitClusterTags } from './cluster-tags.ts';
export {
  ANALYST_NAME,
  createAnalyst,
  DEFAULT_ANALYST_CONNECTIONS,
  DEFAULT_TIMEOUT_SECONDS,
  IS_ANALYST,
  listAnalysts,
  removeAnalyst,
  TRANSACTION_TIMEOUTS,
} from './analysts.ts';
export { type Connection, type ConnectOptions, connect, type Database } from './connect.ts';
export { CopyBuffer, copyRows } from './copy.ts';
export { type EmbeddedPostgres, startEmbeddedPostgres, startTemporaryPostgres } from './embedded/embedded-postgres.ts';
export {
  type BlockingSession,
  describeBlocking,
  type EndableSessions,
  withExclusiveLocks,
} from './exclusive-locks.ts';
export {
  isDatabaseUnavailable,
  isDiskFull,
  isPoolExhausted,
  isQueryCanceled,
  isRetryableDatabaseError,
  PoolExhaustedError,
  SchemaError,
} from './errors.ts';
export { inTransaction } from './in-transaction.ts';
export { type DatabaseState, inspectDatabase } from './inspect.ts';
export {
  type ApiKey,
  createKey,
  DEFAULT_CONCURRENCY,
  DEFAULT_RATE_RU,
  findKey,
  findKeys,
  hashKey,
  type KeyInForce,
  type KeyRecord,
  listKeys,
  MAX_WINDOW_SECONDS,
  type NewKey,
  revokeKey,
} from './keys.ts';
export { UnknownCommitError } from './known-commit.ts';
export { makeReader, type Reader } from './reader.ts';
export { checkSchema, migrate } from './migrate.ts';
export { packParents, unpackParents } from './packed-parents.ts';
export { dayOf, endOf, firstDayOf, type QuotaPeriod } from './quota-period.ts';
export { listConflictingAddresses, listConflictingClusters } from './tag-conflicts.ts';
export {
  type Attribution,
  DEFAULT_CONFIDENCE_LEVEL,
  listAttributions,
  listSources,
  removeSource,
  replaceSources,
  type SourceChanges,
  type TagSource,
  toAttribution,
  upsertTags,
} from './tag-sources.ts';
export { findClusterTag, findOwnTag, listTagsOfScripts, type OwnerTag, type Tag } from './tags.ts';
export { type ReplicatedPostgres, startReplicatedPostgres } from './testing/replicated-postgres.ts';
export { insertCluster } from './testing/insert-cluster.ts';
export { createTestDatabase, type TestDatabase } from './testing/test-database.ts';
export { createMigratedDatabase, startTestServer } from './testing/test-server.ts';
export { addUsage, type KeyUsage, listUsage } from './usage.ts';
export { releaseWriterLock, takeWriterLock } from './writer-lock.ts';
