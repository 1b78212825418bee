/** The code that reads and writes the node's messages follows from our description of them. */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { generatedFiles } from './generated-files.ts';

const REPOSITORY = join(import.meta.dirname, '../..');
const BINARIES = join(REPOSITORY, 'node_modules/.bin');
const GENERATED = 'src/generated';

export const protocolDrift = generatedFiles("messages of the node's gRPC from packages/node/protocol", async () => {
  const output = await mkdtemp(join(tmpdir(), 'kasgres-protocol-'));
  try {
    // What to generate, and how, is in packages/node/buf.gen.yaml.
    await promisify(execFile)(join(BINARIES, 'buf'), ['generate', '--output', output], {
      cwd: join(REPOSITORY, 'packages/node'),
      env: { ...process.env, PATH: `${BINARIES}${delimiter}${process.env['PATH'] ?? ''}` },
    });
    const files: Record<string, string> = {};
    for (const name of await readdir(join(output, GENERATED))) {
      files[`packages/node/${GENERATED}/${name}`] = await readFile(join(output, GENERATED, name), 'utf8');
    }
    return files;
  } finally {
    await rm(output, { recursive: true, force: true });
  }
});
