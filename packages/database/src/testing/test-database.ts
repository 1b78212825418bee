/**
 * A database for one test file: cloned from a template that holds the migrated schema, on the server that `global-setup.ts`
 * started (or found), and dropped at the end. The clone takes some tens of milliseconds.
 */
import { randomBytes } from 'node:crypto';
import { type Connection, connect } from '../connection/connect.ts';
import { onServer, withDatabase } from './server-url.ts';

/** Where `global-setup.ts` leaves the URL of the template for the processes that run tests. */
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

/** @throws when the tests are not run by Vitest with this repository's configuration */
export async function createTestDatabase({ empty = false }: TestDatabaseOptions = {}): Promise<TestDatabase> {
  const templateUrl = process.env[TEMPLATE_URL_VARIABLE];
  if (templateUrl === undefined) {
    throw new Error('There is no test server: name the file *.db.test.ts, so that Vitest starts one for it.');
  }
  const template = databaseOf(templateUrl);
  const name = `test_${randomBytes(6).toString('hex')}`;
  await onServer(templateUrl, `create database ${name} template ${empty ? 'template0' : template}`);
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
