/** What the `kasgres` command offers, and what its --help teaches. Commands live in commands/ and start/. */
import { Command } from 'commander';
import { findUrlVariables, getDatabaseUrl, getStatusAddresses } from './addresses.ts';
import { exportCommand } from './commands/export.ts';
import { clustersCommand } from './commands/clusters.ts';
import { analystsCommand } from './commands/analysts.ts';
import { keysCommand } from './commands/keys.ts';
import { migrateCommand } from './commands/migrate.ts';
import { runSql } from './commands/sql.ts';
import { printStatus } from './commands/status.ts';
import { tagsCommand } from './commands/tags.ts';
import { verifyCommand } from './commands/verify.ts';
import { readCliEnv } from './env.ts';
import { programPaths, runInForeground } from './programs.ts';
import { start } from './start/start.ts';

const HELP = `
Environment:
  NODE_URL       the node, such as grpc://127.0.0.1:16110    (start: unset brings a simulated node)
  DATABASE_URL   Postgres 15 or newer, postgres://…          (start: unset brings an embedded one)
  HOST, PORT     where the API listens                       (127.0.0.1:3000)
  METRICS_PORT   metrics and probes
  DATA_DIR       what start keeps                            (./data)
Where neither NODE_URL nor DATABASE_URL is set, the other commands take both from what start has written into DATA_DIR.
All variables: docs/configuration.md

Examples:
  kasgres start                                      a demo on a simulated chain, from nothing
  kasgres keys create explorer --rate 200            a key for the API
  kasgres analysts create alice                      a login for people with SQL
  kasgres tags import names.csv                      whose addresses they are, from a file
  kasgres sql -c 'select count(*) from transactions' a request in SQL
`;

/** Errors of usage throw a CommanderError, others what they are. */
export function createCommand(): Command {
  const command = new Command('kasgres')
    .description('The Kaspa blockDAG in Postgres, with an HTTP API.')
    .addHelpText('after', HELP)
    .showHelpAfterError('(kasgres --help shows what there is)')
    .exitOverride();

  command
    .command('start')
    .description('bring up everything: what NODE_URL and DATABASE_URL do not name is supplied')
    .action(async () => exitWith(await start(readCliEnv())));

  command.addCommand(migrateCommand());

  command
    .command('indexer')
    .description('follow the node and write to the database, in the foreground, with JSON logs')
    .action(async () => exitWith(await runInForeground(programPaths.indexer, await findUrlVariables(readCliEnv()))));

  command
    .command('api')
    .description('answer /v1 over HTTP, in the foreground, with JSON logs')
    .action(async () => exitWith(await runInForeground(programPaths.api, await findUrlVariables(readCliEnv()))));

  command.addCommand(keysCommand());
  command.addCommand(analystsCommand());

  command.addCommand(clustersCommand());

  command.addCommand(tagsCommand());

  command.addCommand(exportCommand());

  command.addCommand(verifyCommand());

  command
    .command('status')
    .description(
      'how far the index is: from the API of a running start or of HOST and PORT, or from the database of DATABASE_URL',
    )
    .option('--json', 'as JSON')
    .action(async ({ json }: { json?: true }) =>
      exitWith(await printStatus(await getStatusAddresses(readCliEnv()), json === true)),
    );

  command
    .command('sql')
    .description('ask the database in SQL, read-only: with psql where it is installed')
    .option('-c, --command <sql>', 'run this and end')
    .action(async ({ command: sql }: { command?: string }) =>
      exitWith(await runSql(await getDatabaseUrl(readCliEnv()), sql)),
    );

  return command;
}

function exitWith(code: number): void {
  process.exitCode = code;
}
