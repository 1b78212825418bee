/** `kasgres export` writes views or tables to Parquet files, for other engines (docs/export.md). */
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { isDatabaseUnavailable, isRetryableDatabaseError } from '@kasgres/database';
import { getNetwork } from '@kasgres/kaspa';
import { EXIT_CLEAN, EXIT_RETRYABLE, FatalError } from '@kasgres/runtime';
import { Command } from 'commander';
import type { Pool, PoolClient } from 'pg';
import { z } from 'zod';
import { getDatabase } from '../addresses.ts';
import { argument, printMessage } from '../command-line.ts';
import { readCliEnv } from '../env.ts';
import { findBootstrap } from '../verify/queries.ts';
import { CatchingUpError, Exporter } from '../export/exporter.ts';
import { findDatabase } from '../export/find-database.ts';
import { emptyManifest, findManifest, LOCK, type Manifest } from '../export/manifest.ts';
import { ExportProgress } from '../export/progress.ts';
import { type Fact, REFERRED_TO, type Relation, TABLES, VIEWS } from '../export/relations.ts';
import { takeLock } from '../start/lock.ts';
import { withDatabase } from '../with-database.ts';

const CONNECTION = {
  // A busy server may take long.
  connectTimeoutMs: 60_000,
  // One reads in a long transaction. The other checks the current bootstrap block.
  max: 2,
  // Pieces must be read by index, but the planner misjudges `unnest`.
  settings: { enable_seqscan: 'off', random_page_cost: '1.1' },
};

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

interface Options {
  raw?: true;
  depth?: bigint;
  from?: string;
  until?: string;
}

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
    .action(async (directory: string, names: string[], options: Options) => {
      process.exitCode = await runExport((await getDatabase(readCliEnv())).url, { directory, names, ...options });
    });
}

export interface ExportRequest extends Options {
  directory: string;
  names: readonly string[];
}

export async function runExport(
  databaseUrl: string,
  request: ExportRequest,
  print: (line: string) => void = printMessage,
): Promise<number> {
  const directory = resolve(request.directory);
  const work = { ...request, ...choose(request), directory };
  await mkdir(directory, { recursive: true });
  const lock = await takeLock(
    join(directory, LOCK),
    (processId) =>
      `Another export (process ${processId}) is writing into ${directory}. Wait until it has finished, or name another directory.`,
  );
  try {
    const options = { ...CONNECTION, address: { url: databaseUrl } };
    return await withDatabase('export', ({ pool }) => exportFrom(pool, work, print), options);
  } catch (error) {
    if (error instanceof CatchingUpError) {
      print(
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
    print(`${message} The exported files are complete. Run the command again to continue.`);
    return EXIT_RETRYABLE;
  } finally {
    await lock.release();
  }
}

async function exportFrom(
  pool: Pool,
  { directory, raw, depth, from, until, facts, states }: ExportRequest & ReturnType<typeof choose>,
  print: (line: string) => void,
): Promise<number> {
  const client = await pool.connect();
  try {
    const manifest = await openManifest(client, directory, raw === true);
    const exporter = new Exporter({
      pool,
      client,
      directory,
      schema: raw ? 'public' : 'kaspa',
      facts,
      states,
      depth: depth ?? getNetwork(manifest.network).settledDepth,
      from,
      until,
      manifest,
      progress: new ExportProgress(print),
    });
    const hasNew = await exporter.run();
    if (!hasNew) print('Nothing new: all final rows are already exported.');
    return EXIT_CLEAN;
  } finally {
    // It may be in the middle of a response.
    client.release(true);
  }
}

/** @throws {CatchingUpError} during the first catch-up, before anything is written */
async function openManifest(client: PoolClient, directory: string, raw: boolean): Promise<Manifest> {
  const about = await findDatabase(client);
  if (about === undefined) throw new FatalError('Nothing is indexed in this database yet.');
  if ((await findBootstrap(client))?.isCatchingUp !== false) throw new CatchingUpError();
  const { network, database } = about;
  const manifest = (await findManifest(directory)) ?? emptyManifest({ network, database, raw });
  const refuse = (what: string): never => {
    throw new FatalError(`${directory} holds ${what}. Name another directory.`);
  };
  if (manifest.network !== network) refuse(`an export of ${manifest.network}, and this database is of ${network}`);
  if (manifest.raw !== raw) refuse(manifest.raw ? 'tables (--raw), not views' : 'views, not tables (--raw)');
  if (raw && manifest.database !== database) refuse('tables of another database, which have other keys');
  return manifest;
}

function choose({ names, raw }: ExportRequest): { facts: Record<string, Fact>; states: string[] } {
  const known: Readonly<Record<string, Relation>> = raw === true ? TABLES : VIEWS;
  const facts: Record<string, Fact> = {};
  const states: string[] = [];
  const isDefault = (name: string): boolean => known[name]?.kind === 'fact' || known[name] === REFERRED_TO;
  const wanted = names.length > 0 ? names : Object.keys(known).filter(isDefault);
  for (const name of new Set(wanted)) {
    const relation = known[name];
    if (relation === undefined || relation.kind === 'left out') {
      const reason = relation === undefined ? 'there is no such view or table' : relation.reason;
      throw new FatalError(
        `${name} cannot be exported (${reason}). Facts: ${listNames(known, 'fact')}. States: ${listNames(known, 'state')}.`,
      );
    }
    if (relation.kind === 'fact') facts[name] = relation;
    else states.push(name);
  }
  return { facts, states };
}

function listNames(relations: Readonly<Record<string, Relation>>, kind: Relation['kind']): string {
  return Object.keys(relations)
    .filter((name) => relations[name]?.kind === kind)
    .join(', ');
}
