// Files that hold a secret: readable by their owner alone, and never half written.

import { renameSync, writeFileSync } from 'node:fs';

/** Replaces the file in one step; mode 0600. */
export function writePrivateFile(path: string, text: string): void {
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, text, { mode: 0o600 });
  renameSync(draft, path);
}
