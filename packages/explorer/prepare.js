/**
 * Builds the explorer after `npm ci` and `npm install`, and writes compressed copies of its files.
 * Production installs have no bundler: there it does nothing, and the files come from elsewhere, as
 * in the Dockerfile.
 */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';

const FOLDER = import.meta.dirname;
const COMPRESSED = /\.(?:js|css|html|svg|webmanifest)$/;

const compress = { br: promisify(brotliCompress), gz: promisify(gzip) };

/** Returns undefined if the bundler, or its native part for this machine, is not installed. */
const findBundler = () => import('vite').catch(() => undefined);

const vite = await findBundler();
if (vite === undefined) {
  console.log('The explorer was not built, since vite is not installed. Without it, / redirects to /docs.');
} else {
  await vite.build({ configFile: join(FOLDER, 'vite.config.ts'), logLevel: 'warn' });
  const dist = join(FOLDER, 'dist');
  for (const file of await readdir(dist, { recursive: true })) {
    if (!COMPRESSED.test(file)) continue;
    const content = await readFile(join(dist, file));
    for (const [extension, toCompressed] of Object.entries(compress)) {
      await writeFile(join(dist, `${file}.${extension}`), await toCompressed(content));
    }
  }
}
