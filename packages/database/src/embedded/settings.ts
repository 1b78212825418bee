/**
 * Settings of an embedded cluster. `initdb` writes them into its postgresql.conf, where they may be changed; what must hold
 * at each start is given on the command line.
 */

/** Sized for an indexer on a small machine: much written, in large transactions, and never lost once committed. */
export const INDEXER_SETTINGS: Readonly<Record<string, string>> = {
  shared_buffers: '256MB',
  work_mem: '16MB',
  maintenance_work_mem: '256MB',
  max_wal_size: '4GB',
  checkpoint_timeout: '15min',
  // These binaries are built without lz4, and pglz costs more CPU than the WAL it saves is worth here.
  wal_compression: 'off',
  random_page_cost: '1.1',
  // Short queries by key: compiling them takes longer than running them.
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
};

/** For databases that are thrown away: nothing waits for the disk. */
export const TEMPORARY_SETTINGS: Readonly<Record<string, string>> = {
  ...INDEXER_SETTINGS,
  shared_buffers: '128MB',
  maintenance_work_mem: '64MB',
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_wal_size: '1GB',
};

/** TCP on the loopback alone. No Unix socket: its path may be at most 107 bytes long, and nothing needs it. */
export function listenSettings(port: number): string[] {
  return [`port=${port}`, 'listen_addresses=127.0.0.1', 'unix_socket_directories='].flatMap((line) => ['-c', line]);
}
