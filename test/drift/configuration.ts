/** docs/configuration.md follows from the environment schemas of the programs. */
import { envSchema as apiEnvSchema } from '@kasgres/api';
import { cliEnvSchema } from '@kasgres/cli';
import { envSchema as indexerEnvSchema } from '@kasgres/indexer';
import { documentEnv } from '@kasgres/runtime';
import { generatedFiles } from './generated-files.ts';

export const configurationDrift = generatedFiles('docs/configuration.md from the environment schemas', async () => ({
  'docs/configuration.md': `# Configuration

Everything is set by environment variables, read once at the start. What is wrong is reported all at once, with exit code 1. This page
is generated from the schemas that check them (\`npm run generate\`).

## \`kasgres\`, and \`npm start\`

${documentEnv(cliEnvSchema)}
## The indexer

\`kasgres start\` hands its own environment on, so these can be set there too.

${documentEnv(indexerEnvSchema)}
## The API

${documentEnv(apiEnvSchema)}`,
}));
