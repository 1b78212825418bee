/** `kasgres migrate` brings the schema up to date. */
import {
  type BlockingSession,
  describeBlocking,
  type EndableSessions,
  migrate,
  planMigration,
} from '@kasgres/database';
import { VERSION } from '@kasgres/runtime';
import { Command, Option } from 'commander';
import { getDatabase } from '../addresses.ts';
import { describeDatabaseProblem, isDatabaseProblem } from '../error-message.ts';
import { readCliEnv } from '../env.ts';
import { print } from '../command-line.ts';

const UP_TO_DATE = 'The schema is up to date.';
const EXIT_PENDING = 2;

const HELP = `
Exit code of --check 0: the schema is up to date; ${EXIT_PENDING}: migrate would bring it up to date; 1: it cannot, and the message says why.
`;

interface MigrateOptions {
  check?: boolean;
  endBlockingSessions?: EndableSessions;
}

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
    .option('--check', 'only print whether and how the schema can be migrated')
    .addHelpText('after', HELP)
    .action(async ({ check = false, endBlockingSessions: endSessions = 'none' }: MigrateOptions) => {
      const { url } = await getDatabase(readCliEnv());
      await (check ? printPlan(url) : runMigrations(url, endSessions)).catch((error: unknown) => {
        // A failed migration has the error of the database as its cause.
        const problem = [error, (error as Error).cause].find(
          (each) => each instanceof Error && isDatabaseProblem(each),
        );
        throw problem === undefined ? error : describeDatabaseProblem(url, problem);
      });
    });
}

async function runMigrations(url: string, endSessions: EndableSessions): Promise<void> {
  const applied = await migrate(url, { endSessions, onBlocked: printBlocking });
  print(applied.length === 0 ? UP_TO_DATE : `Applied ${applied.join(', ')}.`);
}

async function printPlan(url: string): Promise<void> {
  const pending = await planMigration(url);
  if (pending.length === 0) {
    print(UP_TO_DATE);
    return;
  }
  print(
    `Version ${VERSION} would apply ${pending.join(', ')}. Back up the database first (docs/operations.md#upgrades).`,
  );
  process.exitCode = EXIT_PENDING;
}

export function printBlocking(blocking: readonly BlockingSession[], terminated: readonly BlockingSession[]): void {
  print(
    `A table is in use by ${describeBlocking(blocking)}. ${terminated.length > 0 ? 'Terminated' : 'Not terminated'}; retrying.`,
  );
}
