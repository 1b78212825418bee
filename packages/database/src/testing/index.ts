/** Databases and servers for tests and benchmarks. No program loads this entry. */
export { collidingBytes } from './colliding-bytes.ts';
export { insertChain } from './insert-chain.ts';
export { insertCluster } from './insert-cluster.ts';
export { type ReplicatedPostgres, startReplicatedPostgres } from './replicated-postgres.ts';
export { TcpProxy } from './tcp-proxy.ts';
export { createTestDatabase, type TestDatabase } from './test-database.ts';
export { createMigratedDatabase, startTestServer } from './test-server.ts';
