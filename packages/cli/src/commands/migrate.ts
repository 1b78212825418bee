// `kasgres migrate`: the explicit step that brings a schema up to date.

import { migrate } from '@kasgres/database';
import { print } from '../print.ts';

export async function migrateDatabase(databaseUrl: string): Promise<void> {
  const applied = await migrate(databaseUrl);
  print(applied.length === 0 ? 'The schema is up to date.' : `Applied ${applied.join(', ')}.`);
}
