/**
 * Run by Vitest before the database tests, for each of their projects: starts a server with one migrated template, once, from which each
 * test file clones its own database.
 */
import { TEMPLATE_URL_VARIABLE } from './test-database.ts';
import { createMigratedDatabase, startTestServer } from './test-server.ts';

/** @returns what Vitest runs at the end */
export async function setup(): Promise<(() => Promise<void>) | undefined> {
  // Another project of this run has done it, and ends it.
  if (process.env[TEMPLATE_URL_VARIABLE] !== undefined) return undefined;
  const server = await startTestServer();
  const template = await createMigratedDatabase(server, 'template');
  process.env[TEMPLATE_URL_VARIABLE] = template.url;
  return async () => {
    await template.drop();
    await server.stop();
  };
}
