/**
 * The numbered SQL files of `migrations/`: forward only, and never changed after they were applied,
 * as their checksums ensure.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import type { ClientBase, Pool } from 'pg';
import { SchemaError } from '../connection/errors.ts';

/** A row of the table `migrations`. */
export interface AppliedMigration {
  /** 1, 2, 3 … without gaps. */
  number: number;
  /** File name without its extension. */
  name: string;
  /** SHA-256 of the text, in hex. */
  checksum: string;
}

interface Migration extends AppliedMigration {
  sql: string;
}

export const MIGRATIONS_DIRECTORY: URL = new URL('../../../../migrations/', import.meta.url);

/** @throws if a file is not named `<4 digits>_<name>.sql` or a number is missing */
export async function readMigrations(directory: URL = MIGRATIONS_DIRECTORY): Promise<Migration[]> {
  const files = (await readdir(directory)).filter((file) => file.endsWith('.sql')).sort();
  return await Promise.all(
    files.map(async (file, position) => {
      const number = Number(/^(\d{4})_[a-z0-9_]+\.sql$/.exec(file)?.[1]);
      if (number !== position + 1) throw new Error(`migrations/${file}: expected number ${position + 1} and a name`);
      // Line ends that a checkout has converted do not count as a change.
      const sql = (await readFile(new URL(file, directory), 'utf8')).replaceAll('\r\n', '\n');
      return { number, name: file.slice(0, -4), sql, checksum: createHash('sha256').update(sql).digest('hex') };
    }),
  );
}

/**
 * Returns the migrations that are not applied yet.
 * @throws {SchemaError} if the database has a migration that this program does not know, or that
 * was changed
 */
export function findPending(known: readonly Migration[], applied: readonly AppliedMigration[]): Migration[] {
  const other = applied.find(({ number, name }) => known[number - 1] !== undefined && known[number - 1]?.name !== name);
  if (other !== undefined) {
    throw new SchemaError(
      `The database has the schema of an earlier version (${other.name}), which cannot be migrated. Index again into an ` +
        'empty database: set DATABASE_URL, or DATA_DIR of `kasgres start`. docs/operations.md#upgrades says how to keep API keys.',
    );
  }
  const latest = Math.max(0, ...applied.map(({ number }) => number));
  if (latest > known.length) {
    throw new SchemaError(
      `The database's schema is newer than this program: it has migration ${latest}, this program knows ${known.length}. ` +
        'Use a version of Kasgres at least as new as the one that migrated it.',
    );
  }
  const appliedByNumber = new Map(applied.map((migration) => [migration.number, migration]));
  return known.filter((migration) => {
    const before = appliedByNumber.get(migration.number);
    if (before !== undefined && before.checksum !== migration.checksum) {
      throw new SchemaError(
        `Migration ${before.name} was applied to this database with a different content than ${migration.name} has now. ` +
          'Migrations are never changed: restore the file, or start with a new database.',
      );
    }
    return before === undefined;
  });
}

export async function selectApplied(client: Pool | ClientBase): Promise<AppliedMigration[]> {
  const { rows } = await client.query<AppliedMigration>(
    'select number, name, checksum from migrations order by number',
  );
  return rows;
}
