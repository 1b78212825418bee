/** `kasgres migrate` brings the schema up to date. */
import { type BlockingSession, describeBlocking, type EndableSessions, migrate } from '@kasgres/database';
import { Command, Option } from 'commander';
import { getDatabase } from '../addresses.ts';
import { describeDatabaseProblem, isDatabaseProblem } from '../error-message.ts';
import { readCliEnv } from '../env.ts';
import { print } from '../command-line.ts';

export function migrateCommand(): Command {
  return new Command('migrate')
    .description('migrate the schema of the database to this version')
    .addOption(
      new Option(
        '--end-blocking-sessions [whose]',
        'terminate sessions that block a migration: those of "analysts" (default) or "all"',
      )
        .choices(['analysts', 'all'])
        .preset('analysts'),
    )
    .action(async ({ endBlockingSessions: endSessions = 'none' }: { endBlockingSessions?: EndableSessions }) => {
      const { url } = await getDatabase(readCliEnv());
      const applied = await migrate(url, { endSessions, onBlocked: printBlocking }).catch((error: unknown) => {
        // A failed migration has the error of the database as its cause.
        const problem = [error, (error as Error).cause].find(
          (each) => each instanceof Error && isDatabaseProblem(each),
        );
        throw problem === undefined ? error : describeDatabaseProblem(url, problem);
      });
      print(applied.length === 0 ? 'The schema is up to date.' : `Applied ${applied.join(', ')}.`);
    });
}

export function printBlocking(blocking: readonly BlockingSession[], terminated: readonly BlockingSession[]): void {
  print(
    `A table is in use by ${describeBlocking(blocking)}. ${terminated.length > 0 ? 'Terminated' : 'Not terminated'}; retrying.`,
  );
}
