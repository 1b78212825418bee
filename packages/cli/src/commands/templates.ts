/**
 * `kasgres templates` manages names of templates of programs, which are imported from files
 * (docs/programs.md).
 */
import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { type Connection, replaceTemplateSource } from '@kasgres/database';
import { toHex } from '@kasgres/kaspa';
import { encodeTemplateEntry, readTemplateNames, SHIPPED_TEMPLATE_SOURCE } from '@kasgres/programs';
import { FatalError } from '@kasgres/runtime';
import { Command, InvalidArgumentError } from 'commander';
import { print, printTable } from '../command-line.ts';
import { findTextProblem, MAX_LENGTHS } from '../tags/check-tag.ts';
import { readText } from '../tags/read-tag-files.ts';
import { Problems } from '../tags/tag-file.ts';
import { withDatabase } from '../with-database.ts';

const MAX_FILE_BYTES = 16_000_000;
const MOST_LISTED = 1_000;

export function templatesCommand(): Command {
  const templates = new Command('templates').description('import names of templates of programs from files, list them');

  templates
    .command('import')
    .description('replace the names of a source by those in a file; a file without templates removes them')
    .argument('<file>', 'YAML file, as docs/programs.md describes it')
    .option('--source <name>', 'name of the source (default: the name of the file)', sourceName)
    .action((file: string, { source }: { source?: string }) =>
      withDatabase('templates', (database) => importFile(database, file, source)),
    );

  templates
    .command('list')
    .description('list names of templates')
    .action(() => withDatabase('templates', printNames));

  return templates;
}

async function importFile({ pool }: Connection, file: string, givenSource: string | undefined): Promise<void> {
  const source = givenSource ?? basename(file);
  const sourceProblem = findSourceProblem(source);
  if (sourceProblem !== undefined) throw new FatalError(`The source ${sourceProblem}: give another one with --source.`);
  const contents = await readNames(file);
  const problems = new Problems();
  problems.file = file;
  const text = readText(contents, problems);
  const names = text === undefined ? undefined : readTemplateNames(text);
  for (const { line, field, problem } of names?.problems ?? []) problems.add(line, field, problem);
  if (names === undefined || problems.count > 0) throw new FatalError(problems.report());
  const entries = names.templates.map((named) => ({ template: named.template, entry: encodeTemplateEntry(named) }));
  const checksum = createHash('sha256').update(contents).digest('hex');
  const changes = await replaceTemplateSource(pool, { name: source, checksum, entries });
  printTable([{ source, ...changes }], {
    source: 'source',
    new: 'new',
    removed: 'removed',
    unchanged: 'unchanged',
  });
}

async function readNames(file: string): Promise<Buffer> {
  try {
    const { size } = await stat(file);
    if (size > MAX_FILE_BYTES) throw new Error(`it has more than ${MAX_FILE_BYTES} bytes`);
    return await readFile(file);
  } catch (error) {
    throw new FatalError(`${file} cannot be read: ${(error as Error).message}`);
  }
}

interface ListedName {
  template: Uint8Array;
  name: string;
  pushes: number;
  required: number;
  source: string;
}

async function printNames({ pool }: Connection): Promise<void> {
  const { rows } = await pool.query<ListedName>(
    `select n.template, n.entry ->> 'name' as name, jsonb_array_length(n.entry -> 'pushes') as pushes,
            jsonb_array_length(n.entry -> 'required') as required, s.name as source
       from template_names n join template_sources s on s.id = n.source_id
      order by n.entry ->> 'name' collate "C", n.template, s.name collate "C" limit $1`,
    [MOST_LISTED + 1],
  );
  printTable(rows.slice(0, MOST_LISTED), {
    template: ({ template }) => toHex(template),
    name: 'name',
    'named pushes': 'pushes',
    'required constants': 'required',
    source: 'source',
  });
  if (rows.length > MOST_LISTED) {
    print(`The first ${MOST_LISTED} names. List all with: kasgres sql -c 'table template_names'`);
  }
}

function sourceName(text: string): string {
  const problem = findSourceProblem(text.trim());
  if (problem !== undefined) throw new InvalidArgumentError(`It ${problem}.`);
  return text.trim();
}

function findSourceProblem(name: string): string | undefined {
  if (name === '') return 'must not be empty';
  if (name === SHIPPED_TEMPLATE_SOURCE) return `must not be ${name}, which has the names that are part of Kasgres`;
  return findTextProblem(name, MAX_LENGTHS.source);
}
