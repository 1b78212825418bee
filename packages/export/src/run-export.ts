/** Exports what a request names into a directory, which one export at a time may use. */
import { join, resolve } from 'node:path';
import { getNetwork } from '@kasgres/kaspa';
import { FatalError, makeFolder, takeLock } from '@kasgres/runtime';
import { findBootstrap } from '@kasgres/state';
import type { Pool, PoolClient } from 'pg';
import { CatchingUpError, Exporter } from './exporter.ts';
import { findDatabase } from './find-database.ts';
import { emptyManifest, findManifest, LOCK, type Manifest } from './manifest.ts';
import { ExportProgress } from './progress.ts';
import { type Fact, listNames, REFERRED_TO, type Relation, TABLES, VIEWS } from './relations.ts';

/** The pool of `runExport` needs these options. */
export const EXPORT_CONNECTION = {
  // A busy server may take long.
  connectTimeoutMs: 60_000,
  // One reads in a long transaction. The other checks the current bootstrap block.
  max: 2,
  // The server waits while a file is written, and a disk may be slow.
  askAfterSilenceMs: 60_000,
  // Pieces must be read by index, but the planner misjudges `unnest`.
  settings: { enable_seqscan: 'off', random_page_cost: '1.1' },
};

export interface ExportRequest {
  directory: string;
  /** Views, or tables if `raw`. None: all facts. */
  names: readonly string[];
  raw?: boolean;
  /** Blue score below the sink at which a chain block is final. By default the finality depth. */
  depth?: bigint;
  /** The first and the last day. */
  from?: string;
  until?: string;
}

/** A request whose names were looked up. */
export interface ExportPlan extends ExportRequest {
  facts: Readonly<Record<string, Fact>>;
  states: readonly string[];
}

/** @throws {FatalError} if a view or table cannot be exported */
export function planExport(request: ExportRequest): ExportPlan {
  const known: Readonly<Record<string, Relation>> = request.raw === true ? TABLES : VIEWS;
  const facts: Record<string, Fact> = {};
  const states: string[] = [];
  const isDefault = (name: string): boolean => known[name]?.kind === 'fact' || known[name] === REFERRED_TO;
  const wanted = request.names.length > 0 ? request.names : Object.keys(known).filter(isDefault);
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
  const { from = '', until = from } = request;
  if (from > until) throw new FatalError(`--from ${from} is after --until ${until}: exchange them.`);
  return { ...request, directory: resolve(request.directory), facts, states };
}

/**
 * @param print receives the progress, a line at a time
 * @throws {CatchingUpError} during the first catch-up; the exported files are complete
 */
export async function runExport(pool: Pool, plan: ExportPlan, print: (line: string) => void): Promise<void> {
  const { directory } = plan;
  await makeFolder(directory);
  const lock = await takeLock(
    join(directory, LOCK),
    (processId) =>
      `Another export (process ${processId}) is writing into ${directory}. Wait until it has finished, or name another directory.`,
  );
  try {
    await exportFrom(pool, plan, print);
  } finally {
    await lock.release();
  }
}

async function exportFrom(
  pool: Pool,
  { directory, raw = false, depth, from, until, facts, states }: ExportPlan,
  print: (line: string) => void,
): Promise<void> {
  const client = await pool.connect();
  try {
    const manifest = await openManifest(client, directory, raw);
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
