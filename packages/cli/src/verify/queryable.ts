import type { Connection } from '@kasgres/database';

/** A pool, or one client with a transaction open: then all checks see the same state, whatever the indexer does meanwhile. */
export type Queryable = Pick<Connection['pool'], 'query'>;
