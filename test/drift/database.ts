/** What follows from the migrations: the row types that Kysely checks queries with, and the data dictionary for people. */
import { connect, createMigratedDatabase, startTestServer } from '@kasgres/database';
import { generate, type GenerateOptions, PostgresDialect } from 'kysely-codegen';
import { generatedFiles } from './generated-files.ts';
import { describeSchema } from './schema-document.ts';

export const databaseDrift = generatedFiles('row types and docs/schema.md from the migrations', async () => {
  const server = await startTestServer();
  try {
    const database = await createMigratedDatabase(server, 'drift');
    const { kysely, pool, close } = connect({ url: database.url, applicationName: 'kasgres drift' });
    try {
      return {
        'packages/database/src/generated/database.ts': await generate({
          // The same class; TypeScript tells apart its types for `import` and for `require`, which kysely-codegen uses.
          db: kysely as unknown as GenerateOptions['db'],
          // As the pool's own parsers give them: see packages/database/src/connect.ts.
          dialect: new PostgresDialect({ dateParser: 'string', numericParser: 'string' }),
          typeMapping: { int8: 'bigint' },
          // The programs read tables; views are for people.
          excludePattern: 'kaspa.*',
        }),
        'docs/schema.md': await describeSchema(pool),
      };
    } finally {
      await close();
      await database.drop();
    }
  } finally {
    await server.stop();
  }
});
