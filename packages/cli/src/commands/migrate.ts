/** `kasgres migrate` brings the schema up to date. */
import { type BlockingSession, describeBlocking, type EndableSessions, migrate } from '@kasgres/database';
import { Command, InvalidArgumentError } from 'commander';
import { getDatabaseUrl } from '../addresses.ts';
import { describeDatabaseProblem, isDatabaseProblem } from '../error-message.ts';
import { readCliEnv } from '../env.ts';
import { print } from '../output.ts';

interface Options {
  endBlockingSessions?: EndableSessions | true;
}

export function migrateCommand(): Command {
  return new Command('migrate')
    .description('migrate the schema of the database to this version')
    .option(
      '--end-blocking-sessions [whose]',
      'terminate sessions that block a migration: those of "analysts" (default) or "all"',
      whose,
    )
    .action(async ({ endBlockingSessions }: Options) => {
      const endSessions = endBlockingSessions === true ? 'analysts' : (endBlockingSessions ?? 'none');
      const url = await getDatabaseUrl(readCliEnv());
      const applied = await migrate(url, { endSessions, onBlocked: printBlocking }).catch((error: unknown) => {
        throw isDatabaseProblem(error) ? describeDatabaseProblem(url, error) : error;
      });
      print(applied.length === 0 ? 'The schema is up to date.' : `Applied ${applied.join(', ')}.`);
    });
}

/** Prints the sessions that block a migration. */
export function printBlocking(blocking: readonly BlockingSession[], ended: readonly BlockingSession[]): void {
  print(
    `A table is in use by ${describeBlocking(blocking)}. ${ended.length > 0 ? 'Terminated' : 'Not terminated'}; retrying.`,
  );
}

function whose(text: string): EndableSessions {
  if (text === 'analysts' || text === 'all') return text;
  throw new InvalidArgumentError('Expected "analysts" or "all".');
}
