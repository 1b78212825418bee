/** openapi.json follows from the routes of the API and their schemas. */
import { generateDocument } from '@kasgres/api';
import { generatedFiles } from './generated-files.ts';

export const openapiDrift = generatedFiles('openapi.json from the routes of the API', async () => ({
  'openapi.json': `${JSON.stringify(await generateDocument(), undefined, 2)}\n`,
}));
