/** Says before the run whether it can test anything. */
import { findKaspad } from './kaspad.ts';

export function setup(): void {
  const program = findKaspad();
  const nodeUrl = process.env['NODE_URL'];
  const words =
    nodeUrl === undefined
      ? program === undefined
        ? 'Skipped: no kaspad on the PATH or in KASPAD_BIN (cargo install kaspad --version 2.1.0 --locked).'
        : `Real node: ${program}`
      : `Real node: the one at ${nodeUrl}, which is compared as it is${program === undefined ? '; the rest is skipped, since there is no kaspad here' : ''}`;
  process.stdout.write(`${words}\n`);
}
