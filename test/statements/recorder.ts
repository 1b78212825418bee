/**
 * Records the statements that `pg` sends, by section, and which pieces of SQL in the sources were
 * evaluated meanwhile.
 */
import { globSync, readFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import pg, { type QueryConfig } from 'pg';

export interface RecordedStatement {
  text: string;
  /** Names of the types of the values, as read-statements.ts gives them. */
  values: string[];
  /** The name of a prepared statement. */
  name?: string | undefined;
  /** The function that sends it, which is unknown for a prepared statement. */
  sender?: { name: string; location: string } | undefined;
  /** How the request that sent it first differs from the example of its operation. */
  request: string;
}

const ROOT = join(import.meta.dirname, '../..');
/** The packages that use Kysely. */
const SOURCES = ['api', 'reads', 'chain-steps', 'webhooks', 'database'].map((name) => `packages/${name}/src`);
const FRAME = new RegExp(`at (?:async )?(?:(\\S+) )?\\(?file://${ROOT}/((?:${SOURCES.join('|')})/[^:]+):(\\d+)`, 'g');
/** They run what others send. */
const RUNNERS =
  /^packages\/(?:reads\/src\/(?:fairness|common)\/|api\/src\/limits\/batches|database\/src\/connection\/(?!commit))|shared-reads/;
/** The section of statements that are sent or not, depending on the age of the state in memory. */
export const EVERY_REQUEST = 'state/every request';
const OF_ALL = new Set(['state unless known', 'findState']);
const OF_KEYS = /^packages\/database\/src\/(?:keys|connection)\//;
/** Beginnings and ends of transactions, and of connections, which a pool opens at any time. */
const CONTROL =
  /^\s*(?:(?:begin|start transaction|commit|rollback|set) *(?:;|$|isolation|transaction|local)|select set_config\('transaction_timeout')/i;

export class Recorder {
  /** By `area/operation`. */
  readonly sections = new Map<string, RecordedStatement[]>();
  #current: { section: string; request: string } | undefined;

  /** Intercepts every connection that is opened from here on. */
  constructor() {
    Error.stackTraceLimit = 60;
    const prototype = pg.Client.prototype as unknown as Record<'query', (...given: unknown[]) => unknown>;
    const send = prototype.query;
    const note = (first: unknown, second: unknown): void => this.#note(first, second);
    prototype.query = function query(this: unknown, first: unknown, second: unknown, ...rest: unknown[]) {
      note(first, second);
      return send.call(this, first, second, ...rest);
    };
  }

  /**
   * Runs a function, and records what it sends.
   * @param request how a variant of the statements of the section arises
   */
  async record<T>(section: string, request: string, run: () => Promise<T>): Promise<T> {
    if (!this.sections.has(section)) this.sections.set(section, []);
    // Not the asynchronous context, which a task that starts the next one of a queue passes on.
    this.#current = { section, request };
    return await run();
  }

  pause(): void {
    this.#current = undefined;
  }

  #note(first: unknown, second: unknown): void {
    const current = this.#current;
    const { text, name, values = [] } = (typeof first === 'string' ? { text: first } : first) as QueryConfig<unknown[]>;
    if (current === undefined || typeof text !== 'string' || CONTROL.test(text)) return;
    const given = Array.isArray(second) ? second : values;
    const sender = name === undefined ? senderOf(new Error('sent').stack) : undefined;
    // Usage is written, and keys are read again, at any time.
    if (OF_KEYS.test(sender?.location ?? '') && !current.section.startsWith('key/')) return;
    const isOfAll = OF_ALL.has(name ?? sender?.name ?? '');
    const statements = this.sections.get(isOfAll ? EVERY_REQUEST : current.section) ?? [];
    if (statements.some((known) => known.text === text)) return;
    statements.push({ text, name, values: given.map(typeOf), sender, request: current.request });
  }
}

function senderOf(stack = ''): RecordedStatement['sender'] {
  const frames = [...stack.matchAll(FRAME)].filter(([, , path = '']) => !RUNNERS.test(path));
  const [, , path = '', line = ''] = frames[0] ?? [];
  // The innermost frame is often a callback without a name.
  const named = frames.find(([, name, of]) => name !== undefined && of === path);
  return path === '' ? undefined : { name: named?.[1]?.split('.').at(-1) ?? '', location: `${path}:${line}` };
}

function typeOf(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return value.length === 0 ? 'null' : `${typeOf(value[0])}[]`;
  if (value instanceof Uint8Array) return 'Buffer';
  return value instanceof Date ? 'Date' : typeof value;
}

/** Templates of SQL, and beginnings of queries of the builder. */
const SQL = /(?<![\w.`])sql(?:<[^`;]*?>)?`|\.(?:selectFrom|insertInto|updateTable|deleteFrom)\(/g;

/**
 * Begins to count what runs, in modules that are loaded later. Node strips types without moving
 * what remains, so that positions are those of the sources. Returns a function that returns the
 * `packages/api/src/…:82` of SQL that never ran.
 */
export async function startCoverage(): Promise<() => Promise<string[]>> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  return async () => {
    const { result } = await session.post('Profiler.takePreciseCoverage');
    session.disconnect();
    const ranges = new Map(result.map(({ url, functions }) => [url, functions.flatMap((each) => each.ranges)]));
    const paths = SOURCES.flatMap((folder) => globSync(`${folder}/**/*.ts`, { cwd: ROOT })).toSorted();
    return paths
      .filter((path) => !/\.test\.ts$|\/testing\/|\/generated\//.test(path))
      .flatMap((path) => {
        const source = readFileSync(join(ROOT, path), 'utf8');
        const ofFile = ranges.get(pathToFileURL(join(ROOT, path)).href) ?? [];
        return [...source.matchAll(SQL)]
          .filter(({ index }) => !hasRun(ofFile, index))
          .map(({ index }) => `${path}:${source.slice(0, index).split('\n').length}`);
      });
  };
}

/** The smallest range around a position has its count. */
function hasRun(ranges: readonly { startOffset: number; endOffset: number; count: number }[], at: number): boolean {
  const around = ranges.filter(({ startOffset, endOffset }) => startOffset <= at && at < endOffset);
  const sizes = around.toSorted((a, b) => a.endOffset - a.startOffset - (b.endOffset - b.startOffset));
  return (sizes[0]?.count ?? 0) > 0;
}
