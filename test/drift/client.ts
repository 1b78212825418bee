/** The types of the client follow from openapi.json, by openapi-typescript, which packages/client has with the TypeScript that it needs. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { generatedFiles } from './generated-files.ts';

const REPOSITORY = join(import.meta.dirname, '../..');

export const clientDrift = generatedFiles('types of the client from openapi.json', async () => {
  const { stdout } = await promisify(execFile)(
    join(REPOSITORY, 'packages/client/node_modules/.bin/openapi-typescript'),
    ['openapi.json', '--default-non-nullable=false'],
    { cwd: REPOSITORY, maxBuffer: 2 ** 26 },
  );
  return { 'packages/client/src/generated/api.ts': stdout };
});
