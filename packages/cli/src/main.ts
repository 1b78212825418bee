// The `kasgres` command: says what there is to say, runs it, and ends with its exit code.

import { EnvError, FatalError } from '@kasgres/runtime';
import { CommanderError } from 'commander';
import { createCommand } from './command.ts';

try {
  await createCommand().parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode;
  } else if (error instanceof FatalError || error instanceof EnvError) {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  } else {
    throw error;
  }
}
