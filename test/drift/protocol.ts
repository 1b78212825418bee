/** The code that reads and writes the node's messages follows from our description of them. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { generatedFiles } from './generated-files.ts';

const REPOSITORY = join(import.meta.dirname, '../..');
const BINARIES = join(REPOSITORY, 'node_modules/.bin');
const GENERATED = 'src/generated/kaspad_pb.ts';

export const protocolDrift = generatedFiles("messages of the node's gRPC from kaspad.proto", async () => {
  const output = await mkdtemp(join(tmpdir(), 'kasgres-protocol-'));
  try {
    // What to generate, and how, is in packages/node/buf.gen.yaml.
    await promisify(execFile)(join(BINARIES, 'buf'), ['generate', '--output', output], {
      cwd: join(REPOSITORY, 'packages/node'),
      env: { ...process.env, PATH: `${BINARIES}${delimiter}${process.env['PATH'] ?? ''}` },
    });
    return { [`packages/node/${GENERATED}`]: await readFile(join(output, GENERATED), 'utf8') };
  } finally {
    await rm(output, { recursive: true, force: true });
  }
});
