/** Reads the built explorer, which is small, into memory. */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface ExplorerFile {
  contentType: string;
  etag: string;
  /** Content by encoding, the preferred one first. `identity` is always present. */
  contents: ReadonlyMap<string, Buffer>;
}

/** Files by their path in the folder, such as `assets/index-1a2b3c4d.js`. */
export type ExplorerFiles = ReadonlyMap<string, ExplorerFile>;

const FOLDER = fileURLToPath(new URL('../../../explorer/dist', import.meta.url));

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.txt': 'text/plain; charset=utf-8',
};

const EXTENSIONS: readonly (readonly [encoding: string, extension: string])[] = [
  ['br', '.br'],
  ['gzip', '.gz'],
  ['identity', ''],
];

/** Returns undefined if the explorer has not been built. */
export async function readExplorerFiles(folder = FOLDER): Promise<ExplorerFiles | undefined> {
  const names = new Set(await readdir(folder, { recursive: true }).catch(() => []));
  if (!names.has('index.html')) return undefined;
  const files = new Map<string, ExplorerFile>();
  for (const name of names) {
    const contentType = CONTENT_TYPES[extname(name)];
    if (contentType === undefined) continue;
    const contents = new Map<string, Buffer>();
    for (const [encoding, extension] of EXTENSIONS) {
      if (names.has(name + extension)) contents.set(encoding, await readFile(join(folder, name + extension)));
    }
    const plain = contents.get('identity') ?? Buffer.alloc(0);
    const etag = createHash('sha256').update(plain).digest('base64url').slice(0, 22);
    files.set(name.replaceAll(sep, '/'), { contentType, etag, contents });
  }
  return files;
}
