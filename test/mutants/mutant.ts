/** A planted bug: one replacement in one file, and the test files that should fail with it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Mutant {
  /** The fault in lower-case words, joined by hyphens. */
  name: string;
  /** From the repository's root, as all paths here. */
  file: string;
  /** Occurs exactly once in the file. */
  find: string;
  replace: string;
  /** The cheapest test files that should see it. */
  tests: readonly string[];
  /** Why no test needs to see it. Absent for bugs that must be found. */
  harmless?: string;
}

export const REPOSITORY = join(import.meta.dirname, '../..');

/**
 * Returns the content of the mutant's file with the bug.
 * @throws if the text to replace does not occur exactly once
 */
export function plant({ name, file, find, replace }: Mutant, root: string): string {
  const before = readFileSync(join(root, file), 'utf8');
  const occurrences = before.split(find).length - 1;
  if (occurrences !== 1) {
    throw new Error(
      `mutant ${name} no longer applies: ${file} contains its text ${occurrences} times. Update it in test/mutants.`,
    );
  }
  return before.replace(find, () => replace);
}
