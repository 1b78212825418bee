/**
 * The Postgres for tests: TEST_DATABASE_URL, else an embedded one, else a Docker container if no
 * embedded binary works or with TEST_DATABASE=container.
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

/** docker-compose.yml has the same image. */
const IMAGE = 'postgres:17-bookworm';

export async function startTestServer(): Promise<TestServer> {
  const url = process.env['TEST_DATABASE_URL'];
  if (url !== undefined && url !== '') return { url, stop: async () => {} };
  if (process.env['TEST_DATABASE'] === 'container')
    return await startContainer('TEST_DATABASE=container asks for one.');
  try {
    return await startTemporaryPostgres();
  } catch (error) {
    if (!(error instanceof EmbeddedPostgresUnavailableError)) throw error;
    return await startContainer(error.message);
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

async function startContainer(why: string): Promise<TestServer> {
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
      `No Postgres for the tests in a container, because of the cause below. ${why}\nOr set TEST_DATABASE_URL.`,
      { cause: error },
    );
  }
}
