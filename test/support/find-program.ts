/** Finds programs that some tests need. Tests say so when they skip without one. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/**
 * Returns the program that the variable names, or the first of these names on the PATH.
 * @throws Error if the variable names none
 */
export function findProgram(variable: string, ...names: readonly string[]): string | undefined {
  const given = process.env[variable];
  if (given) {
    if (!isExecutable(given)) throw new Error(`${variable}=${given} is not executable`);
    return given;
  }
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
