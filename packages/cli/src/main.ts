import { CommanderError } from 'commander';
import { createCommand } from './command.ts';
import { describeError } from './error-message.ts';

try {
  await createCommand().parseAsync();
} catch (error) {
  // Commander has already printed what is wrong with the command line.
  if (!(error instanceof CommanderError)) process.stderr.write(`${describeError(error)}\n`);
  process.exitCode = error instanceof CommanderError ? error.exitCode : 1;
}
