/**
 * Writes the types of the client, src/generated/api.ts, from openapi.json. It runs after `npm ci`
 * and `npm install`, and before types are checked, linted or packed. Production installs have no
 * generator: there it does nothing, since programs do not need types.
 */
import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const FOLDER = import.meta.dirname;
const DOCUMENT = join(FOLDER, '../../openapi.json');
const TYPES = join(FOLDER, 'src/generated/api.ts');

/** Returns undefined if the generator is not installed. */
const findGenerator = () => import('openapi-typescript').catch(() => undefined);

const document = await readFile(DOCUMENT, 'utf8');
const manifest = await readFile(join(FOLDER, 'package.json'), 'utf8');
// Types from the same document and generator are not written again: that takes seconds.
const origin = `/** From openapi.json by prepare.js: ${createHash('sha256').update(document).update(manifest).digest('hex')} */\n`;
const existing = await readFile(TYPES, 'utf8').catch(() => '');
if (!existing.startsWith(origin)) {
  const generator = await findGenerator();
  if (generator === undefined) {
    console.log('The types of packages/client were not written, since openapi-typescript is not installed.');
  } else {
    const { astToString, default: generate } = generator;
    const types = await generate(document, { defaultNonNullable: false });
    await mkdir(join(FOLDER, 'src/generated'), { recursive: true });
    await writeFile(TYPES, origin + astToString(types));
  }
}
