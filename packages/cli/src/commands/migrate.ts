// `kasgres migrate`: the explicit step that brings a schema up to date.

import { migrate } from '@kasgres/database';

export async function migrateDatabase(databaseUrl: string): Promise<void> {
  const applied = await migrate(databaseUrl);
  process.stdout.write(applied.length === 0 ? 'The schema is up to date.\n' : `Applied ${applied.join(', ')}.\n`);
}
