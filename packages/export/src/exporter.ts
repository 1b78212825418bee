/**
 * Exports facts up to one chain block, and states as they are now (docs/export.md). Each file is
 * read in one transaction, which first checks that the exported chain blocks are still on the
 * chain. If not, files above the fork are deleted and written again, unless RETENTION removed their
 * rows.
 */
import { join } from 'node:path';
import { inTransaction } from '@kasgres/database';
import { FatalError } from '@kasgres/runtime';
import { findBootstrap } from '@kasgres/state';
import type { Pool, PoolClient } from 'pg';
import {
  type ChainBlock,
  dayOfTime,
  endOfDay,
  findChainBlock,
  findChainEnds,
  findLastBelow,
  isBeforeGap,
  isOnChain,
  type Position,
  startOfDay,
} from './chain.ts';
import { type Column, describeColumns, listColumns, selectRows, type Source } from './columns.ts';
import { findUndone } from './find-undone.ts';
import { type FactFiles, giveName, type Manifest, type Part, settle, writeManifest } from './manifest.ts';
import { PartFile } from './part-file.ts';
import type { ExportProgress } from './progress.ts';
import type { Fact } from './relations.ts';

/** A file ends with the day, or after the segment of the chain that reaches this many rows. */
const FILE_ROWS = 2_000_000;
/**
 * Rows that a query should return: few enough for a plan that uses indexes, and for the loss by a
 * kill.
 */
const QUERY_ROWS = 100_000;
/** Chain blocks of the first query, and the growth from one query to the next at most. */
const FIRST_QUERY_BLOCKS = 1_000;
const GROWTH = 8;

export interface ExportOptions {
  /** Has a free connection besides `client`. */
  pool: Pool;
  client: PoolClient;
  directory: string;
  schema: Source['schema'];
  facts: Readonly<Record<string, Fact>>;
  states: readonly string[];
  /** Blue score below the sink at which a chain block is final. */
  depth: bigint;
  from?: string | undefined;
  until?: string | undefined;
  manifest: Manifest;
  progress: ExportProgress;
}

/**
 * A reorg removed a chain block that this export treated as final, or RETENTION removed one that it
 * needs.
 */
class ChainChanged extends Error {}

/** The index was bootstrapped again during the export of states. */
class BootstrapChanged extends Error {}

/** The index is in its first catch-up: states, network intervals and fees are incomplete. */
export class CatchingUpError extends Error {}

/** All facts are exported up to `end`, and the intervals that were over at `final`. */
interface Target {
  first: ChainBlock;
  final: ChainBlock;
  end: ChainBlock;
}

/** The files of one view that an export writes. */
interface FactExport {
  name: string;
  fact: Fact;
  columns: readonly Column[];
  files: FactFiles;
  target: Target;
}

export class Exporter {
  readonly #options: ExportOptions;
  readonly #client: PoolClient;
  readonly #manifest: Manifest;
  readonly #progress: ExportProgress;
  #target: Target | undefined;

  constructor(options: ExportOptions) {
    this.#options = options;
    this.#client = options.client;
    this.#manifest = options.manifest;
    this.#progress = options.progress;
  }

  /**
   * Exports everything in the options. Returns false if there was nothing new.
   * @throws {CatchingUpError} if a first catch-up began meanwhile; the exported files are complete
   */
  async run(): Promise<boolean> {
    const { directory, facts, states } = this.#options;
    // The manifest comes first, since files in a directory without one are treated as foreign.
    await this.#saveManifest();
    const gone = await settle(directory, this.#manifest);
    if (gone.length > 0) this.#progress.say(`removed files of an interrupted export: ${gone.join(', ')}`);
    let hasNew = false;
    for (const [name, fact] of Object.entries(facts)) {
      for (;;) {
        try {
          this.#target ??= await this.#inSnapshot(() => this.#findTarget());
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

  /** Returns undefined if no chain block is final yet. */
  async #findTarget(): Promise<Target | undefined> {
    const ends = await findChainEnds(this.#client);
    const { depth, until } = this.#options;
    if (ends === undefined) return undefined;
    const { first, sink } = ends;
    const chain = { first: first.index, last: sink.index };
    const final = await findLastBelow(this.#client, chain, 'blue_score', sink.blueScore - Number(depth) + 1);
    if (final === undefined) {
      this.#progress.say(`no chain block is final at a depth of ${depth} yet`);
      return undefined;
    }
    if (until === undefined) return { first, final, end: final };
    const end = await findLastBelow(this.#client, { ...chain, last: final.index }, 'chain_time', endOfDay(until));
    if (end === undefined) throw new FatalError(`The index begins on ${dayOfTime(first.chainTime)}, after ${until}.`);
    return { first, final, end };
  }

  /** Writes the files of one view. Returns whether there were any. */
  async #exportFact(name: string, fact: Fact, target: Target): Promise<boolean> {
    const { schema } = this.#options;
    const columns = await listColumns(this.#client, { schema, name }, fact.without);
    this.#checkColumns(name, columns, this.#manifest.facts[name]?.columns);
    await this.#dropUndone(name);
    const files = (this.#manifest.facts[name] ??= {
      columns: describeColumns(columns),
      first: await this.#inSnapshot(() => this.#findFirst(target)),
      last: null,
      files: [],
    });
    this.#checkFrom(name, files, target);
    let hasNew = false;
    this.#progress.begin(name, target.end.chainTime);
    for (;;) {
      const written = await this.#inSnapshot(() => this.#writePart({ name, fact, columns, files, target }));
      if (written === undefined) break;
      const { last, part } = written;
      files.last = last;
      if (part !== undefined) files.files.push(part);
      await this.#saveManifest();
      if (part === undefined) continue;
      await giveName(join(this.#options.directory, part.path));
      hasNew = true;
    }
    this.#progress.end();
    return hasNew;
  }

  async #saveManifest(): Promise<void> {
    await writeManifest(this.#options.directory, this.#manifest);
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

  /**
   * An export has no holes: it continues where it stopped and ignores `--from`, unless rows would
   * be missing.
   */
  #checkFrom(name: string, files: FactFiles, target: Target): void {
    const { from } = this.#options;
    const firstDay = files.files[0]?.day;
    if (from === undefined || firstDay === undefined || target.first.index >= files.first.index) return;
    if (from < firstDay) {
      throw new FatalError(
        `${name} begins with ${firstDay} in this directory, and --from ${from} is earlier. Export the earlier days into another ` +
          'directory, or omit --from to continue.',
      );
    }
  }

  #checkColumns(name: string, columns: readonly Column[], exported: Record<string, string> | undefined): void {
    if (columns.length === 0) throw new FatalError(`The database has no ${this.#options.schema}.${name}.`);
    if (exported === undefined || JSON.stringify(exported) === JSON.stringify(describeColumns(columns))) return;
    throw new FatalError(
      `The columns of ${name} differ from the exported ones: another version of Kasgres wrote this directory. Export ${name} into a new directory.`,
    );
  }

  /**
   * Writes the next file, or none if its chain blocks have no rows. Returns undefined when
   * everything is exported.
   */
  async #writePart(work: FactExport): Promise<{ last: Position; part?: Part } | undefined> {
    const { name, fact, columns, files, target } = work;
    for (const position of [target.end, files.last ?? files.first]) {
      if (!(await isOnChain(this.#client, position))) throw new ChainChanged();
    }
    const end = await this.#endOf(fact, target);
    const from = files.last === null ? files.first.index : files.last.index + 1;
    if (end === undefined || from > end.index) return undefined;
    const beginning = await this.#getChainBlock(from);
    const day = dayOfTime(beginning.chainTime);
    const endsDay = await findLastBelow(this.#client, { first: from, last: end.index }, 'chain_time', endOfDay(day));
    const range = { first: from, last: (endsDay ?? beginning).index };
    const prefix = `${name}/day=${day}/${padded(from)}`;
    return await this.#withFile(`${prefix}.parquet`, columns, async (file) => {
      const last = await this.#writeSegments(file, work, range, day);
      if (file.rows === 0) {
        file.discard();
        return { last };
      }
      const path = `${prefix}-${padded(last.index)}.parquet`;
      const bytes = this.#finish(file, path);
      return { last, part: { path, day, first: from, last: last.index, lastHash: last.hash, rows: file.rows, bytes } };
    });
  }

  async #withFile<T>(path: string, columns: readonly Column[], write: (file: PartFile) => Promise<T>): Promise<T> {
    const file = await PartFile.create(join(this.#options.directory, path), columns);
    try {
      return await write(file);
    } catch (error) {
      file.discard();
      throw error;
    }
  }

  #finish(file: PartFile, path: string): number {
    const bytes = file.finish(join(this.#options.directory, path));
    this.#progress.wrote(bytes);
    return bytes;
  }

  /**
   * Writes along the chain until the day ends or the file is large enough. Returns the last chain
   * block.
   */
  async #writeSegments(
    file: PartFile,
    { name, fact, columns }: FactExport,
    range: { first: number; last: number },
    day: string,
  ): Promise<Position> {
    const { schema } = this.#options;
    const mayRepeat = await isBeforeGap(this.#client, range.first);
    let at = range.first;
    let size = fact.intervalMs === undefined ? FIRST_QUERY_BLOCKS : Number.POSITIVE_INFINITY;
    for (;;) {
      const last = Math.min(at + size - 1, range.last);
      const where = fact.where({ first: at, last, isBeforeGap: mayRepeat });
      const query = selectRows({ schema, name }, columns, where);
      const rows = await file.addRows(this.#client, query, (rows) => this.#progress.add(rows, day));
      if (last === range.last || file.rows >= FILE_ROWS) {
        const { index, hash } = await this.#getChainBlock(last);
        return { index, hash };
      }
      at = last + 1;
      size = Math.max(1, Math.min(size * GROWTH, Math.floor((size * QUERY_ROWS) / Math.max(rows, 1))));
    }
  }

  /**
   * Returns the last chain block of the view that is final: for intervals, the end of the last
   * interval that is over.
   */
  async #endOf({ intervalMs }: Fact, { first, final, end }: Target): Promise<ChainBlock | undefined> {
    if (intervalMs === undefined) return end;
    const over = Math.floor(final.chainTime / intervalMs) * intervalMs;
    return findLastBelow(this.#client, { first: first.index, last: end.index }, 'chain_time', over);
  }

  async #getChainBlock(index: number): Promise<ChainBlock> {
    const block = await findChainBlock(this.#client, index);
    if (block === undefined) throw new Error(`There is no chain block ${index}`);
    return block;
  }

  /** Removes the files of a view that contain chain blocks which a reorg removed. */
  async #dropUndone(name: string): Promise<void> {
    const files = this.#manifest.facts[name];
    if (files === undefined) return;
    // In one snapshot, or a cut of RETENTION between two queries would look like a reorg.
    const undone = await this.#inSnapshot(() => findUndone(this.#client, name, files, this.#manifest.database));
    if (undone === undefined) return;
    files.files.splice(undone.from);
    const kept = files.files.at(-1);
    if (kept !== undefined) files.last = { index: kept.last, hash: kept.lastHash };
    else if (undone.keepsFirst) files.last = null;
    else delete this.#manifest.facts[name];
    await this.#saveManifest();
    const gone = await settle(this.#options.directory, this.#manifest);
    this.#progress.say(
      `${name}: a reorg removed exported chain blocks; exporting again from ${kept === undefined ? 'the beginning' : `chain block ${kept.last + 1}`} (removed: ${gone.join(', ') || 'no file'})`,
    );
  }

  /** Exports all states from one snapshot of the database, each to one file. */
  async #exportStates(names: readonly string[]): Promise<void> {
    for (;;) {
      try {
        await this.#inSnapshot(async (bootstrap) => {
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
        this.#progress.say(
          'the index was bootstrapped again after a gap; exporting the states of the new bootstrap block',
        );
      }
    }
  }

  /** Writes a new file, and drops a previous one of the same blue score. */
  async #exportState(name: string, { hash, blueScore }: ChainBlock, bootstrap: string): Promise<void> {
    const { pool, directory, schema } = this.#options;
    const columns = await listColumns(this.#client, { schema, name });
    this.#checkColumns(name, columns, this.#manifest.states[name]?.columns);
    const takenAt = new Date();
    const folder = `${name}/snapshot=${blueScore}/`;
    const path = `${folder}${takenAt.getTime()}.parquet`;
    const written = await this.#withFile(`${folder}draft.parquet`, columns, async (file) => {
      await file.addRows(this.#client, selectRows({ schema, name }, columns), (rows) => this.#progress.add(rows));
      // The end of a catch-up truncates the tables of states, which empties them even for older
      // snapshots.
      if ((await findBootstrap(pool))?.id !== bootstrap) throw new BootstrapChanged();
      return { bytes: this.#finish(file, path), rows: file.rows };
    });
    const state = (this.#manifest.states[name] ??= { columns: describeColumns(columns), snapshots: [] });
    state.snapshots = [
      ...state.snapshots.filter((other) => !other.path.startsWith(folder)),
      { path, sink: hash, blueScore, takenAt: takenAt.toISOString(), ...written },
    ];
    await this.#saveManifest();
    await settle(directory, this.#manifest);
  }

  /** @param read gets the id of the bootstrap that its transaction sees */
  async #inSnapshot<T>(read: (bootstrap: string) => Promise<T>): Promise<T> {
    const readComplete = async (): Promise<T> => {
      const bootstrap = await findBootstrap(this.#client);
      if (bootstrap?.isCatchingUp !== false) throw new CatchingUpError();
      return await read(bootstrap.id);
    };
    return await inTransaction(this.#client, readComplete, { readsSnapshot: true });
  }
}

function padded(index: number): string {
  return String(index).padStart(12, '0');
}
