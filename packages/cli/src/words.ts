// What a person is told of an error: words for what can be put right, a stack for a bug.

import { isDatabaseUnavailable } from '@kasgres/database';
import { EnvError, FatalError } from '@kasgres/runtime';

export function wordsOf(error: unknown): string {
  if (error instanceof FatalError || error instanceof EnvError) return error.message;
  if (isDatabaseUnavailable(error)) return `The database cannot be reached: ${reasonOf(error)}`;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** Trying several addresses of one name fails with an error that holds the others and says nothing itself. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map((part) => reasonOf(part)).join('; ');
  return error instanceof Error ? error.message : String(error);
}
