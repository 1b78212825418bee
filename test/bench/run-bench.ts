import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const BENCH = join(import.meta.dirname, '../../bench');

/** Runs a benchmark as its npm script does, without variables of a node, and returns its JSON. */
export async function runBench(
  file: string,
  args: readonly string[],
  variables: Readonly<Record<string, string>>,
): Promise<unknown> {
  const { stdout } = await promisify(execFile)(process.execPath, [join(BENCH, file), '--json', ...args], {
    env: { PATH: process.env['PATH'], ...variables },
  });
  return JSON.parse(stdout);
}
