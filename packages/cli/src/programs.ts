// Where the programs are that this command starts. They are processes, started by their path: nothing here imports them.

import { fileURLToPath } from 'node:url';

function pathOf(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url));
}

export const programPaths = {
  indexer: pathOf('../../indexer/src/main.ts'),
  api: pathOf('../../api/src/main.ts'),
  simulatedNode: pathOf('../../devnet/src/main.ts'),
};
