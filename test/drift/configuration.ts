/** docs/configuration.md follows from the environment schemas of the programs. */
import { envSchema as apiEnvSchema } from '@kasgres/api';
import { cliEnvSchema } from '@kasgres/cli';
import { envSchema as indexerEnvSchema } from '@kasgres/indexer';
import { documentEnv } from '@kasgres/runtime';
import { generatedFiles } from './generated-files.ts';

export const configurationDrift = generatedFiles('docs/configuration.md from the environment schemas', async () => ({
  'docs/configuration.md': `# Configuration

All configuration is read once at startup from environment variables. A program with an invalid configuration reports all
problems at once and exits with code 1. This page is generated from the schemas (\`npm run generate\`).

## \`kasgres\` and \`npm start\`

${documentEnv(cliEnvSchema)}
## The indexer

\`kasgres start\` passes its environment on, so you can also set these variables there.

${documentEnv(indexerEnvSchema)}
## The API

${documentEnv(apiEnvSchema)}`,
}));
