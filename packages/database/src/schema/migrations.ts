/**
 * The numbered SQL files of `migrations/`: forward only, and never changed once they were applied somewhere, which their
 * checksums hold.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { SchemaError } from '../connection/errors.ts';

interface Migration {
  /** 1, 2, 3 … without a hole. */
  number: number;
  /** File name without its ending. */
  name: string;
  sql: string;
  /** SHA-256 of the text, in hex. */
  checksum: string;
}

/** What the table `migrations` of a database says. */
export interface AppliedMigration {
  number: number;
  name: string;
  checksum: string;
}

export const MIGRATIONS_DIRECTORY: URL = new URL('../../../../migrations/', import.meta.url);

/** @throws when a file is not named `<4 digits>_<name>.sql` or a number is missing */
export async function readMigrations(directory: URL = MIGRATIONS_DIRECTORY): Promise<Migration[]> {
  const files = (await readdir(directory)).filter((file) => file.endsWith('.sql')).sort();
  return await Promise.all(
    files.map(async (file, position) => {
      const number = Number(/^(\d{4})_[a-z0-9_]+\.sql$/.exec(file)?.[1]);
      if (number !== position + 1) throw new Error(`migrations/${file}: expected number ${position + 1} and a name`);
      // A checkout may have turned the line ends; that is no other migration.
      const sql = (await readFile(new URL(file, directory), 'utf8')).replaceAll('\r\n', '\n');
      return { number, name: file.slice(0, -4), sql, checksum: createHash('sha256').update(sql).digest('hex') };
    }),
  );
}

/**
 * What is still to be applied.
 * @throws {SchemaError} when the database has what this program does not know, or another text under the same number
 */
export function findPending(known: readonly Migration[], applied: readonly AppliedMigration[]): Migration[] {
  const latest = Math.max(0, ...applied.map(({ number }) => number));
  if (latest > known.length) {
    throw new SchemaError(
      `The database's schema is newer than this program: it has migration ${latest}, this program knows ${known.length}. ` +
        'Use a Kasgres at least as new as the one that migrated it.',
    );
  }
  const appliedByNumber = new Map(applied.map((migration) => [migration.number, migration]));
  return known.filter((migration) => {
    const before = appliedByNumber.get(migration.number);
    if (before !== undefined && before.checksum !== migration.checksum) {
      throw new SchemaError(
        `Migration ${before.name} was applied to this database with another content than ${migration.name} has now. ` +
          'Migrations are never changed: restore the file, or start with a new database.',
      );
    }
    return before === undefined;
  });
}
