/**
 * Exports facts up to one chain block, and states as they are now (docs/export.md). Each file is read in one transaction that first
 * checks that the chain is still the one that was exported; where it is not, files are dropped down to the fork and written anew.
 */
import { join } from 'node:path';
import { inTransaction } from '@kasgres/database';
import { FatalError } from '@kasgres/runtime';
import type { Pool, PoolClient } from 'pg';
import {
  type ChainBlock,
  dayOfTime,
  endOfDay,
  findBootstrap,
  findChainBlock,
  findChainEnds,
  findLastBelow,
  isBeforeGap,
  isOnChain,
  type Position,
  startOfDay,
} from './chain.ts';
import { type Column, describeColumns, listColumns, selectRows, type Source } from './columns.ts';
import { type FactFiles, giveName, type Manifest, type Part, settle, writeManifest } from './manifest.ts';
import { PartFile } from './part-file.ts';
import type { ExportProgress } from './progress.ts';
import type { Fact } from './relations.ts';

/** A file ends with the day, or with the piece of the chain that reaches either of these. */
const FILE_ROWS = 2_000_000;
/** How many rows one query should bring: small enough for the plan of look-ups by index, and for what a kill costs. */
const PIECE_ROWS = 100_000;
/** Chain blocks of the first piece; a piece is at most so many times the one before. */
const FIRST_PIECE = 1_000;
const GROWTH = 8;

/** What one export is about. */
export interface ExportOptions {
  directory: string;
  schema: Source['schema'];
  facts: Readonly<Record<string, Fact>>;
  states: readonly string[];
  /** Blue score below the sink from which on a chain block is final. */
  depth: bigint;
  /** First and last day, YYYY-MM-DD. */
  from?: string | undefined;
  until?: string | undefined;
  createdBy: string;
}

/** The chain changed below what this export took for final. */
class ChainChanged extends Error {}

/** The index counts from another bootstrap block than when the export of its states began. */
class BootstrapChanged extends Error {}

/** The index is in its first catch-up: states and rollups are incomplete, and so are fees. */
export class CatchingUpError extends Error {}

/** What is final in this export: all facts are exported up to `end`; intervals that were over at `final`. */
interface Target {
  first: ChainBlock;
  final: ChainBlock;
  end: ChainBlock;
}

export class Exporter {
  readonly #pool: Pool;
  readonly #client: PoolClient;
  readonly #options: ExportOptions;
  readonly #manifest: Manifest;
  readonly #progress: ExportProgress;
  #target: Target | undefined;

  /** @param pool has a connection left beside that of `client` */
  constructor(
    { pool, client }: { pool: Pool; client: PoolClient },
    options: ExportOptions,
    manifest: Manifest,
    progress: ExportProgress,
  ) {
    this.#pool = pool;
    this.#client = client;
    this.#options = options;
    this.#manifest = manifest;
    this.#progress = progress;
  }

  /**
   * Everything that is asked for; false when there was nothing new.
   * @throws {CatchingUpError} when the index began to catch up meanwhile; what was exported before is complete
   */
  async run(): Promise<boolean> {
    const { directory, facts, states } = this.#options;
    // Before anything else: what lies in a directory without a manifest is taken for somebody else's.
    await writeManifest(directory, this.#manifest);
    const gone = await settle(directory, this.#manifest);
    if (gone.length > 0) this.#progress.say(`removed what an export left that did not end: ${gone.join(', ')}`);
    let hasNew = false;
    for (const [name, fact] of Object.entries(facts)) {
      for (;;) {
        try {
          this.#target ??= await this.#inOneState(() => this.#findTarget());
          if (this.#target === undefined) break;
          if (await this.#exportFact(name, fact, this.#target)) hasNew = true;
          break;
        } catch (error) {
          if (!(error instanceof ChainChanged)) throw error;
          this.#target = undefined;
        }
      }
    }
    if (states.length > 0) {
      await this.#exportStates(states);
      hasNew = true;
    }
    return hasNew;
  }

  /** Undefined while no chain block is deep enough. */
  async #findTarget(): Promise<Target | undefined> {
    const ends = await findChainEnds(this.#client);
    const { depth, until } = this.#options;
    if (ends === undefined) return undefined;
    const { first, sink } = ends;
    const chain = { first: first.index, last: sink.index };
    const final = await findLastBelow(this.#client, chain, 'blue_score', sink.blueScore - Number(depth) + 1);
    if (final === undefined) {
      this.#progress.say(`no chain block is ${depth} deep yet`);
      return undefined;
    }
    if (until === undefined) return { first, final, end: final };
    const end = await findLastBelow(this.#client, { ...chain, last: final.index }, 'chain_time', endOfDay(until));
    if (end === undefined) throw new FatalError(`The index begins on ${dayOfTime(first.chainTime)}, after ${until}.`);
    return { first, final, end };
  }

  /** Writes the files of one view, and true when there were any. */
  async #exportFact(name: string, fact: Fact, target: Target): Promise<boolean> {
    const { schema } = this.#options;
    const columns = await listColumns(this.#client, { schema, name }, fact.without);
    this.#checkColumns(name, columns, this.#manifest.facts[name]?.columns);
    await this.#dropUndone(name);
    const files = (this.#manifest.facts[name] ??= {
      columns: describeColumns(columns),
      first: await this.#inOneState(() => this.#findFirst(target)),
      last: null,
      files: [],
    });
    this.#checkFrom(name, files, target);
    let hasNew = false;
    this.#progress.begin(name, target.end.chainTime);
    for (;;) {
      const written = await this.#inOneState(() => this.#writePart({ name, fact, columns, files, target }));
      if (written === undefined) break;
      hasNew ||= written.part !== undefined;
      files.last = written.last;
      if (written.part !== undefined) files.files.push(written.part);
      await writeManifest(this.#options.directory, this.#manifest);
      if (written.part !== undefined) await giveName(join(this.#options.directory, written.part.path));
    }
    this.#progress.end();
    return hasNew;
  }

  async #findFirst({ first, end }: Target): Promise<Position> {
    const { from } = this.#options;
    if (from === undefined) return { index: first.index, hash: first.hash };
    const chain = { first: first.index, last: end.index };
    const before = await findLastBelow(this.#client, chain, 'chain_time', startOfDay(from));
    const found = before === undefined ? first : await findChainBlock(this.#client, before.index + 1);
    if (found === undefined || found.index > end.index)
      throw new FatalError(`Nothing is final yet of ${from} and later.`);
    return { index: found.index, hash: found.hash };
  }

  /** An export has no holes: what was begun is gone on with, whatever `--from` says, unless that would leave something out. */
  #checkFrom(name: string, files: FactFiles, target: Target): void {
    const { from } = this.#options;
    const begun = files.files[0]?.day;
    if (from === undefined || begun === undefined || target.first.index >= files.first.index) return;
    if (from < begun) {
      throw new FatalError(
        `${name} begins with ${begun} in this directory, and --from ${from} is before that. Export the days before into another ` +
          'directory, or leave --from out to go on.',
      );
    }
  }

  #checkColumns(name: string, columns: readonly Column[], exported: Record<string, string> | undefined): void {
    if (columns.length === 0) throw new FatalError(`The database has no ${this.#options.schema}.${name}.`);
    if (exported === undefined || JSON.stringify(exported) === JSON.stringify(describeColumns(columns))) return;
    throw new FatalError(
      `The columns of ${name} are not those that were exported: another version of Kasgres made this directory. Export ${name} into a new one.`,
    );
  }

  /** One file more, or none where its chain blocks have no rows; undefined when all is exported. */
  async #writePart(work: {
    name: string;
    fact: Fact;
    columns: readonly Column[];
    files: FactFiles;
    target: Target;
  }): Promise<{ last: Position; part?: Part } | undefined> {
    const { name, fact, columns, files, target } = work;
    await this.#checkChain(files.last, target);
    const end = await this.#endOf(fact, target);
    const from = files.last === null ? files.first.index : files.last.index + 1;
    if (end === undefined || from > end.index) return undefined;
    const beginning = await this.#getChainBlock(from);
    const day = dayOfTime(beginning.chainTime);
    const endsDay = await findLastBelow(this.#client, { first: from, last: end.index }, 'chain_time', endOfDay(day));
    const lastOfDay = (endsDay ?? beginning).index;

    const { directory, createdBy } = this.#options;
    const begun = `${name}/day=${day}/${padded(from)}`;
    const file = await PartFile.create(join(directory, `${begun}.parquet`), columns, createdBy);
    try {
      const last = await this.#writePieces(file, work, { first: from, last: lastOfDay }, day);
      if (file.rows === 0) {
        file.discard();
        return { last };
      }
      const path = `${begun}-${padded(last.index)}.parquet`;
      const bytes = file.finish(join(directory, path));
      this.#progress.wrote(bytes);
      const part = { path, day, first: from, last: last.index, lastHash: last.hash, rows: file.rows, bytes };
      return { last, part };
    } catch (error) {
      file.discard();
      throw error;
    }
  }

  /** Piece by piece along the chain, until the day ends or the file is large enough. Returns where that is. */
  async #writePieces(
    file: PartFile,
    { name, fact, columns }: { name: string; fact: Fact; columns: readonly Column[] },
    range: { first: number; last: number },
    day: string,
  ): Promise<Position> {
    const { schema } = this.#options;
    const mayRepeat = await isBeforeGap(this.#client, range.first);
    let at = range.first;
    let size = fact.intervalMs === undefined ? FIRST_PIECE : Number.POSITIVE_INFINITY;
    for (;;) {
      const last = Math.min(at + size - 1, range.last);
      const rows = await file.addRows(
        this.#client,
        selectRows({ schema, name }, columns, fact.where({ first: at, last, isBeforeGap: mayRepeat })),
        (rows) => this.#progress.add(rows, day),
      );
      if (last === range.last || file.rows >= FILE_ROWS) {
        const { index, hash } = await this.#getChainBlock(last);
        return { index, hash };
      }
      at = last + 1;
      size = Math.max(1, Math.min(size * GROWTH, Math.floor((size * PIECE_ROWS) / Math.max(rows, 1))));
    }
  }

  /** Where this view can be exported to: for intervals of time, to the end of the last one that is over for good. */
  async #endOf({ intervalMs }: Fact, { first, final, end }: Target): Promise<ChainBlock | undefined> {
    if (intervalMs === undefined) return end;
    const over = Math.floor(final.chainTime / intervalMs) * intervalMs;
    return findLastBelow(this.#client, { first: first.index, last: end.index }, 'chain_time', over);
  }

  /** In the transaction of each file. */
  async #checkChain(last: Position | null, { end }: Target): Promise<void> {
    if (!(await isOnChain(this.#client, end))) throw new ChainChanged();
    if (last !== null && !(await isOnChain(this.#client, last))) throw new ChainChanged();
  }

  async #getChainBlock(index: number): Promise<ChainBlock> {
    const block = await findChainBlock(this.#client, index);
    if (block === undefined) throw new Error(`There is no chain block ${index}`);
    return block;
  }

  /** Forgets, and then removes, the files of a view that hold chain blocks which are none any more. */
  async #dropUndone(name: string): Promise<void> {
    const files = this.#manifest.facts[name];
    if (files === undefined || (await isOnChain(this.#client, files.last ?? files.first))) return;
    if (!(await this.#isSameDatabase())) throw new FatalError(this.#otherChain(name, files));
    while (files.files.length > 0) {
      const { last: index, lastHash: hash } = files.files.at(-1) as Part;
      if (await isOnChain(this.#client, { index, hash })) break;
      files.files.pop();
    }
    const kept = files.files.at(-1);
    if (kept !== undefined) files.last = { index: kept.last, hash: kept.lastHash };
    else if (await isOnChain(this.#client, files.first)) files.last = null;
    else delete this.#manifest.facts[name];
    await writeManifest(this.#options.directory, this.#manifest);
    const gone = await settle(this.#options.directory, this.#manifest);
    this.#progress.say(
      `${name}: the chain was reorganised below what was exported; written anew from ${kept === undefined ? 'the beginning' : `chain block ${kept.last + 1}`} on (removed: ${gone.join(', ') || 'no file'})`,
    );
  }

  async #isSameDatabase(): Promise<boolean> {
    return (await findDatabase(this.#client))?.database === this.#manifest.database;
  }

  #otherChain(name: string, files: FactFiles): string {
    const { index, hash } = files.last ?? files.first;
    return (
      `${name} was exported up to chain block ${index}, ${hash}, which this database does not have at that place: it has another chain, or ` +
      'begins elsewhere. Export into another directory, or name the database that this one came from in DATABASE_URL.'
    );
  }

  /** All of them from one state of the database, a file each. */
  async #exportStates(names: readonly string[]): Promise<void> {
    for (;;) {
      try {
        await this.#inOneState(async (bootstrap) => {
          const ends = await findChainEnds(this.#client);
          if (ends === undefined) throw new FatalError('Nothing is indexed yet.');
          for (const name of names) {
            this.#progress.begin(name);
            await this.#exportState(name, ends.sink, bootstrap);
            this.#progress.end();
          }
        });
        return;
      } catch (error) {
        if (!(error instanceof BootstrapChanged)) throw error;
        this.#progress.say('the index began again after a gap: exports the states from the new bootstrap block');
      }
    }
  }

  /** A new file each time; an earlier one of the same blue score goes. */
  async #exportState(name: string, { hash, blueScore }: ChainBlock, bootstrap: string): Promise<void> {
    const { directory, schema, createdBy } = this.#options;
    const columns = await listColumns(this.#client, { schema, name });
    this.#checkColumns(name, columns, this.#manifest.states[name]?.columns);
    const takenAt = new Date();
    const folder = `${name}/snapshot=${blueScore}/`;
    const path = `${folder}${takenAt.getTime()}.parquet`;
    const file = await PartFile.create(join(directory, `${folder}draft.parquet`), columns, createdBy);
    try {
      await file.addRows(this.#client, selectRows({ schema, name }, columns), (rows) => this.#progress.add(rows));
      await this.#checkBootstrap(bootstrap);
      const bytes = file.finish(join(directory, path));
      this.#progress.wrote(bytes);
      const state = (this.#manifest.states[name] ??= { columns: describeColumns(columns), snapshots: [] });
      state.snapshots = [
        ...state.snapshots.filter((other) => !other.path.startsWith(folder)),
        { path, sink: hash, blueScore, takenAt: takenAt.toISOString(), rows: file.rows, bytes },
      ];
    } catch (error) {
      file.discard();
      throw error;
    }
    await writeManifest(directory, this.#manifest);
    await settle(directory, this.#manifest);
  }

  /**
   * The end of a catch-up truncates the tables of states, and a truncated table is empty in every transaction, also in one that still sees
   * the checkpoint of before. So the rows that were read count only if the index has not begun again by now, which a transaction of its own
   * tells.
   */
  async #checkBootstrap(bootstrap: string): Promise<void> {
    if ((await findBootstrap(this.#pool))?.name !== bootstrap) throw new BootstrapChanged();
  }

  /** @param read gets the bootstrap that its transaction sees */
  async #inOneState<T>(read: (bootstrap: string) => Promise<T>): Promise<T> {
    const readComplete = async (): Promise<T> => {
      const bootstrap = await findBootstrap(this.#client);
      if (bootstrap?.isCatchingUp !== false) throw new CatchingUpError();
      return await read(bootstrap.name);
    };
    return await inTransaction(this.#client, readComplete, { readsOneState: true });
  }
}

/** What tells databases apart; undefined before the first start of an indexer. */
export async function findDatabase(
  client: Pick<PoolClient, 'query'>,
): Promise<{ network: string; database: string } | undefined> {
  const { rows } = await client.query<{ network: string; created_at: Date }>('select network, created_at from meta');
  return rows[0] && { network: rows[0].network, database: rows[0].created_at.toISOString() };
}

/** So that the order of names is that of the chain. */
function padded(index: number): string {
  return String(index).padStart(12, '0');
}
