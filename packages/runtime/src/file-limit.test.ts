import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const MODULE = fileURLToPath(new URL('file-limit.ts', import.meta.url));

test.skipIf(process.platform === 'win32').each(['60', '1000'])('it reads a limit of %s open files', async (limit) => {
  const print = `import(${JSON.stringify(MODULE)}).then(({ readFileLimit }) => console.log(readFileLimit()))`;
  const { stdout } = await promisify(execFile)('sh', [
    '-c',
    'ulimit -n "$1"; exec "$2" -e "$3"',
    'sh',
    limit,
    process.execPath,
    print,
  ]);
  expect(stdout.trim()).toBe(limit);
});
