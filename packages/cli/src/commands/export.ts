/** `kasgres export` writes views or tables to Parquet files, for other engines (docs/export.md). */
import { isDatabaseUnavailable, isRetryableDatabaseError } from '@kasgres/database';
import {
  CatchingUpError,
  EXPORT_CONNECTION,
  type ExportRequest,
  listNames,
  planExport,
  runExport,
  VIEWS,
} from '@kasgres/export';
import { EXIT_CLEAN, EXIT_RETRYABLE, FatalError } from '@kasgres/runtime';
import { Command } from 'commander';
import { z } from 'zod';
import { argument, printMessage } from '../command-line.ts';
import { withDatabase } from '../with-database.ts';

const blueScore = argument(
  z
    .string()
    .regex(/^\d{1,15}$/)
    .transform(BigInt),
  'a blue score, such as 432000',
);
const day = argument(z.iso.date(), 'a day, such as 2025-06-01');

const HELP = `
Facts go to DIRECTORY/VIEW/day=YYYY-MM-DD/FIRST-LAST.parquet, by the day of the chain block that merges or accepts them, once
that block is final. Run the command again at any time, even after a kill: it continues where it stopped. States (addresses,
utxos, tags, clusters …) are written as they are now, to DIRECTORY/VIEW/snapshot=BLUE_SCORE/. docs/export.md has the details.

Views:
  facts    ${listNames(VIEWS, 'fact')}
  states   ${listNames(VIEWS, 'state')}

Examples:
  kasgres export parquet                                     all final facts, to ./parquet
  kasgres export parquet transactions outputs --from 2025-06-01 --until 2025-06-30
  kasgres export parquet addresses tags                      two states
  kasgres export raw --raw                                   the tables with their keys, and the tables that they refer to

Queries on the exported files:
  duckdb -c "select day, count(*) from read_parquet('parquet/transactions/*/*.parquet', hive_partitioning = true) group by 1"
  clickhouse-local -q "select toDate(accepted_at) d, sum(fee_kas) from file('parquet/transactions/*/*.parquet') group by d"

Exit code 0: everything is exported; 1: a problem must be corrected first; 75: try again later.
`;

export function exportCommand(): Command {
  return new Command('export')
    .description('write final rows of views or tables to Parquet files by day')
    .argument('<directory>', 'target directory, created if missing')
    .argument('[view...]', 'names of views (default: all facts)')
    .option('--raw', 'export tables of the database instead of views')
    .option(
      '--depth <blue-score>',
      'blue score below the sink at which a block is final (default: the finality depth)',
      blueScore,
    )
    .option('--from <day>', 'first day (UTC), such as 2025-06-01', day)
    .option('--until <day>', 'last day (UTC)', day)
    .addHelpText('after', HELP)
    .action(async (directory: string, names: string[], options: Omit<ExportRequest, 'directory' | 'names'>) => {
      process.exitCode = await exportTo({ directory, names, ...options });
    });
}

async function exportTo(request: ExportRequest): Promise<number> {
  const plan = planExport(request);
  try {
    await withDatabase('export', ({ pool }) => runExport(pool, plan, printMessage), EXPORT_CONNECTION);
    return EXIT_CLEAN;
  } catch (error) {
    if (error instanceof CatchingUpError) {
      printMessage(
        'The index is in its first catch-up. The exported files are complete. Run the command again when kasgres status reports that it is over.',
      );
      return EXIT_RETRYABLE;
    }
    // A failed connection is a FatalError that names the database, with the error itself as its
    // cause.
    const failure = error instanceof FatalError ? error.cause : error;
    if (!isDatabaseUnavailable(failure) && !isRetryableDatabaseError(failure)) throw error;
    const message =
      error instanceof FatalError ? error.message : `The database was lost (${(error as Error).message}).`;
    printMessage(`${message} The exported files are complete. Run the command again to continue.`);
    return EXIT_RETRYABLE;
  }
}
