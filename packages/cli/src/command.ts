/**
 * The subcommands of `kasgres` and the text of --help. The commands are in commands/ and start/.
 */
import { VERSION } from '@kasgres/runtime';
import { Command } from 'commander';
import { findUrlVariables, getDatabase, getStatusAddresses } from './addresses.ts';
import { exportCommand } from './commands/export.ts';
import { clustersCommand } from './commands/clusters.ts';
import { analystsCommand } from './commands/analysts.ts';
import { keysCommand } from './commands/keys.ts';
import { migrateCommand } from './commands/migrate.ts';
import { runSql } from './commands/sql.ts';
import { printStatus } from './commands/status.ts';
import { tagsCommand } from './commands/tags.ts';
import { templatesCommand } from './commands/templates.ts';
import { verifyCommand } from './commands/verify.ts';
import { readCliEnv } from './env.ts';
import { programPaths, runInForeground } from './programs.ts';
import { readStartEnv } from './start/start-env.ts';
import { start } from './start/start.ts';

const HELP = `
Environment:
  NODE_URL       the node, such as grpc://127.0.0.1:16110    (unset: start runs a simulated node)
  DATABASE_URL   Postgres 15 or newer, postgres://…          (unset: start runs an embedded one)
  HOST, PORT     address of the API                          (127.0.0.1:3000)
  METRICS_PORT   port of metrics and probes
  API_WORKERS    processes of the API                        (1; start runs one)
  DATA_DIR       data of start                               (./data)
Without DATABASE_URL, commands use the database that start wrote into DATA_DIR. indexer, api and webhooks do so only if
NODE_URL is unset, too.
All variables: docs/configuration.md

Examples:
  kasgres start                                       a demo on a simulated chain
  NODE_URL=grpc://127.0.0.1:16110 kasgres start       an index of your node, in an embedded Postgres
  kasgres keys create explorer --rate 200             a key for the API
  kasgres analysts create alice                       a login for an analyst who uses SQL
  kasgres tags import names.csv                       names of addresses, from a file
  kasgres templates import names.yaml                 names of templates of programs, from a file
  kasgres sql -c 'select count(*) from transactions'  a query
  kasgres export parquet                              Parquet files for other engines
`;

/** Parsing throws a CommanderError if the usage is wrong. */
export function createCommand(): Command {
  const command = new Command('kasgres')
    .description('The Kaspa blockDAG in Postgres, with an HTTP API.')
    .version(VERSION, '--version', 'print the version')
    .addHelpText('after', HELP)
    .showHelpAfterError('(run kasgres --help for the commands and their options)')
    .exitOverride();
  command
    .command('start')
    .description('start everything: indexer, API, and unless they are set, a simulated node and an embedded Postgres')
    .action(async () => exitWith(await start(await readStartEnv())));
  command.addCommand(migrateCommand());
  command
    .command('indexer')
    .description('run the indexer in the foreground, with JSON logs on stdout')
    .action(() => runProgram('indexer'));
  command
    .command('api')
    .description('run the HTTP API in the foreground, with JSON logs on stdout')
    .option('--workers <number>', 'processes that serve the port together, such as one per core (API_WORKERS, else 1)')
    .action(({ workers }: { workers?: string }) =>
      runProgram('api', workers === undefined ? {} : { API_WORKERS: workers }),
    );
  command
    .command('webhooks')
    .description('deliver events to the webhooks of /v1/webhooks, in the foreground, with JSON logs on stdout')
    .action(() => runProgram('webhooks'));
  command.addCommand(keysCommand());
  command.addCommand(analystsCommand());
  command.addCommand(clustersCommand());
  command.addCommand(tagsCommand());
  command.addCommand(templatesCommand());
  command.addCommand(exportCommand());
  command.addCommand(verifyCommand());
  command
    .command('status')
    .description('print how far the index is, from the API or from the database of DATABASE_URL')
    .option('--json', 'print JSON')
    .action(async ({ json }: { json?: true }) => printStatus(await getStatusAddresses(readCliEnv()), json === true));
  command
    .command('sql')
    .description('open a read-only SQL session, with psql if it is installed')
    .option('-c, --command <sql>', 'run one statement and exit')
    .action(async ({ command: sql }: { command?: string }) =>
      exitWith(await runSql((await getDatabase(readCliEnv())).url, sql)),
    );
  return command;
}

async function runProgram(name: 'indexer' | 'api' | 'webhooks', variables: Record<string, string> = {}): Promise<void> {
  exitWith(await runInForeground(programPaths[name], { ...(await findUrlVariables()), ...variables }));
}

function exitWith(code: number): void {
  process.exitCode = code;
}
