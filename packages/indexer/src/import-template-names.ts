/**
 * Imports the file of names of templates that is part of this version, so that programs have names
 * without a step of the operator.
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import {
  checkSchema,
  type Connection,
  isQueryCanceled,
  isRetryableDatabaseError,
  listTemplateSources,
  replaceTemplateSource,
  type TemplateSourceChanges,
} from '@kasgres/database';
import {
  encodeTemplateEntry,
  readTemplateNames,
  SHIPPED_TEMPLATE_SOURCE,
  TEMPLATE_NAMES_FILE,
} from '@kasgres/programs';
import { type Logger, retry } from '@kasgres/runtime';

const MAX_DELAY_MS = 60_000;

interface Dependencies {
  database: Pick<Connection, 'pool'>;
  log: Logger;
}

/** Imports the file unless the database has it already. Retries after failures; never throws. */
export async function importTemplateNames({ database, log }: Dependencies, signal: AbortSignal): Promise<void> {
  const onFailure = (error: unknown, delayMs: number): void => {
    const isTransient = isRetryableDatabaseError(error) || isQueryCanceled(error);
    log[isTransient ? 'warn' : 'error']({ err: error, delayMs }, 'retrying the import of names of templates');
  };
  const run = async (): Promise<void> => {
    await checkSchema(database.pool);
    const changes = await importShippedFile(database);
    if (changes !== undefined) log.info(changes, 'imported names of templates');
  };
  await retry(run, { maxMs: MAX_DELAY_MS, signal, onFailure });
}

/** Returns undefined if the database has the names of this file. */
export async function importShippedFile(
  { pool }: Pick<Connection, 'pool'>,
  file: URL = TEMPLATE_NAMES_FILE,
): Promise<TemplateSourceChanges | undefined> {
  const contents = await readFile(file);
  const checksum = createHash('sha256').update(contents).digest('hex');
  const known = (await listTemplateSources(pool)).find(({ name }) => name === SHIPPED_TEMPLATE_SOURCE);
  if (known?.checksum === checksum) return undefined;
  const { templates, problems } = readTemplateNames(contents.toString());
  const [first] = problems;
  if (first !== undefined) throw new Error(`${file.pathname}:${first.line}: ${first.field}: ${first.problem}`);
  const entries = templates.map((named) => ({ template: named.template, entry: encodeTemplateEntry(named) }));
  return await replaceTemplateSource(pool, { name: SHIPPED_TEMPLATE_SOURCE, checksum, entries });
}
