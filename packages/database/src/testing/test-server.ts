/**
 * The Postgres for tests: TEST_DATABASE_URL, else an embedded one, else a Docker container if no embedded binary works.
 */
import { randomBytes } from 'node:crypto';
import { EmbeddedPostgresUnavailableError } from '../embedded/account.ts';
import { startTemporaryPostgres } from '../embedded/embedded-postgres.ts';
import { migrate } from '../schema/migrate.ts';
import { onServer, withDatabase } from './server-url.ts';

interface TestServer {
  /** URL of a user that may create databases. */
  url: string;
  stop: () => Promise<void>;
}

const IMAGE = 'postgres:18-alpine';

export async function startTestServer(): Promise<TestServer> {
  const url = process.env['TEST_DATABASE_URL'];
  if (url !== undefined && url !== '') return { url, stop: async () => {} };
  try {
    return await startTemporaryPostgres();
  } catch (error) {
    if (!(error instanceof EmbeddedPostgresUnavailableError)) throw error;
    return await startContainer(error);
  }
}

/** Creates a migrated database with a random name, since several runs may share the server. */
export async function createMigratedDatabase(
  server: TestServer,
  prefix: string,
): Promise<{ url: string; drop: () => Promise<void> }> {
  const name = `${prefix}_${randomBytes(6).toString('hex')}`;
  await onServer(server.url, `create database ${name} template template0`);
  const url = withDatabase(server.url, name);
  await migrate(url);
  return { url, drop: async () => await onServer(server.url, `drop database ${name}`) };
}

async function startContainer(whyNotEmbedded: EmbeddedPostgresUnavailableError): Promise<TestServer> {
  const { PostgreSqlContainer } = await import('@testcontainers/postgresql');
  try {
    const container = await new PostgreSqlContainer(IMAGE)
      .withCommand(['postgres', '-c', 'fsync=off', '-c', 'full_page_writes=off', '-c', 'synchronous_commit=off'])
      .start();
    return {
      url: container.getConnectionUri(),
      stop: async () => {
        await container.stop();
      },
    };
  } catch (error) {
    throw new Error(
      `No Postgres for the tests: no Docker engine responds, and ${whyNotEmbedded.message}\nOr set TEST_DATABASE_URL.`,
      { cause: error },
    );
  }
}
