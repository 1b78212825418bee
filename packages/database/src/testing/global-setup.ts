/**
 * Vitest runs this before each project of database tests: it starts one server with a migrated
 * template, from which each test file clones its database.
 */
import { TEMPLATE_URL_VARIABLE } from './test-database.ts';
import { createMigratedDatabase, startTestServer } from './test-server.ts';

/** @returns the teardown function */
export async function setup(): Promise<(() => Promise<void>) | undefined> {
  // Another project of this run has started the server, and stops it.
  if (process.env[TEMPLATE_URL_VARIABLE] !== undefined) return undefined;
  const server = await startTestServer();
  const template = await createMigratedDatabase(server, 'template');
  process.env[TEMPLATE_URL_VARIABLE] = template.url;
  return async () => {
    await template.drop();
    await server.stop();
  };
}
