/**
 * A database for one test file, cloned from the migrated template of `global-setup.ts` within some
 * tens of milliseconds, and dropped at the end.
 */
import { randomBytes } from 'node:crypto';
import { type Connection, connect } from '../connection/connect.ts';
import { onServer, withDatabase } from './server-url.ts';

/** `global-setup.ts` passes the URL of the template to the test processes in this variable. */
export const TEMPLATE_URL_VARIABLE = 'KASGRES_TEST_TEMPLATE_URL';

export interface TestDatabase extends Connection {
  url: string;
  /** Closes the connection and drops the database. */
  drop: () => Promise<void>;
}

interface TestDatabaseOptions {
  /** Without the schema, for tests of the migrations themselves. */
  empty?: boolean;
}

/** @throws if Vitest does not run with this repository's configuration */
export async function createTestDatabase({ empty = false }: TestDatabaseOptions = {}): Promise<TestDatabase> {
  const templateUrl = process.env[TEMPLATE_URL_VARIABLE];
  if (templateUrl === undefined) {
    throw new Error('There is no test server: name the file *.db.test.ts, so that Vitest starts one for it.');
  }
  const template = databaseOf(templateUrl);
  const name = `test_${randomBytes(6).toString('hex')}`;
  // Takes less processor time than to log the pages.
  const from = empty ? 'template0' : template;
  await onServer(templateUrl, `create database ${name} template ${from} strategy file_copy`);
  const url = withDatabase(templateUrl, name);
  const connection = connect({ url, applicationName: 'kasgres test' });
  return {
    ...connection,
    url,
    drop: async () => {
      await connection.close();
      await onServer(templateUrl, `drop database if exists ${name} with (force)`);
    },
  };
}

function databaseOf(url: string): string {
  return new URL(url).pathname.slice(1);
}
