/**
 * Committed files that are generated must come out the same: `npm run check:drift` compares, `npm
 * run generate` writes them again.
 */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { envSchema as apiEnvSchema, generateDocument, webhooksEnvSchema } from '@kasgres/api';
import { cliEnvSchema } from '@kasgres/cli';
import { connect } from '@kasgres/database';
import { createMigratedDatabase, startTestServer } from '@kasgres/database/testing';
import { envSchema as indexerEnvSchema } from '@kasgres/indexer';
import { documentEnv } from '@kasgres/runtime';
import { generate, type GenerateOptions, PostgresDialect } from 'kysely-codegen';
import { generateCookbook } from './drift/cookbook.ts';
import { describeSchema } from './drift/schema-document.ts';

const REPOSITORY = join(import.meta.dirname, '..');
const run = promisify(execFile);

/** Text by path in the repository. */
type Files = Record<string, string>;

const GENERATORS: Record<string, () => Promise<Files>> = {
  "messages of the node's gRPC from packages/node/protocol": generateProtocol,
  'row types and docs/schema.md from the migrations': generateDatabase,
  'openapi.json from the routes of the API': async () => ({
    'openapi.json': `${JSON.stringify(await generateDocument(), undefined, 2)}\n`,
  }),
  'docs/configuration.md from the environment schemas': async () => ({
    'docs/configuration.md': describeConfiguration(),
  }),
  'docs/cookbook.md from cookbook/': async () => ({ 'docs/cookbook.md': await generateCookbook() }),
};

const isFixing = process.argv.includes('--fix');
for (const [name, generateFiles] of Object.entries(GENERATORS)) {
  const stale: string[] = [];
  for (const [path, text] of Object.entries(await generateFiles())) {
    const file = join(REPOSITORY, path);
    if (isFixing) {
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, text);
    } else if (text !== (await readFile(file, 'utf8').catch(() => undefined))) stale.push(path);
  }
  if (stale.length > 0) process.exitCode = 1;
  console.log(
    stale.length > 0 ? `STALE: ${name}: ${stale.join(', ')}` : `${isFixing ? 'generated' : 'up to date'}: ${name}`,
  );
}
// They are not committed, and follow from openapi.json.
if (isFixing) await run(process.execPath, ['packages/client/prepare.js'], { cwd: REPOSITORY });
if (process.exitCode === 1) console.error('Run `npm run generate` and commit what it writes.');

async function generateProtocol(): Promise<Files> {
  const binaries = join(REPOSITORY, 'node_modules/.bin');
  const output = await mkdtemp(join(tmpdir(), 'kasgres-protocol-'));
  try {
    // packages/node/buf.gen.yaml says what to generate, and how.
    await run(join(binaries, 'buf'), ['generate', '--output', output], {
      cwd: join(REPOSITORY, 'packages/node'),
      env: { ...process.env, PATH: `${binaries}${delimiter}${process.env['PATH'] ?? ''}` },
    });
    const files: Record<string, string> = {};
    for (const name of await readdir(join(output, 'src/generated'))) {
      files[`packages/node/src/generated/${name}`] = await readFile(join(output, 'src/generated', name), 'utf8');
    }
    return files;
  } finally {
    await rm(output, { recursive: true, force: true });
  }
}

async function generateDatabase(): Promise<Files> {
  const server = await startTestServer();
  try {
    const database = await createMigratedDatabase(server, 'drift');
    const { kysely, pool, close } = connect({ url: database.url, applicationName: 'kasgres drift' });
    try {
      return {
        'packages/database/src/generated/database.ts': await generate({
          // TypeScript regards Kysely's types for `import` and for `require`, which kysely-codegen
          // uses, as different.
          db: kysely as unknown as GenerateOptions['db'],
          // As the pool's own parsers give them: see packages/database/src/connection/connect.ts.
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
}

function describeConfiguration(): string {
  return `# Configuration

All configuration is read once at startup from environment variables. A program with an invalid configuration reports all
problems at once and exits with code 1. An empty variable counts as unset. This page is generated from the schemas (\`npm run generate\`).

## \`kasgres\` and \`npm start\`

${documentEnv(cliEnvSchema)}
## The indexer

\`kasgres start\` passes its environment on, so you can also set these variables there.

${documentEnv(indexerEnvSchema)}
## The API

${documentEnv(apiEnvSchema)}

## Webhooks

\`kasgres webhooks\` delivers events ([webhooks.md](webhooks.md)).

${documentEnv(webhooksEnvSchema)}`;
}
