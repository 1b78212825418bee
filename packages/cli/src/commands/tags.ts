/** `kasgres tags` manages names of addresses, which are imported from files (docs/tags.md). */
import { readFile } from 'node:fs/promises';
import {
  type Connection,
  findClusterTag,
  findOwnTag,
  listAttributions,
  listConflictingAddresses,
  listConflictingClusters,
  listSources,
  removeSource,
  replaceSources,
  type SourceChanges,
} from '@kasgres/database';
import { AddressError, addressToScript, getNetwork, type Network } from '@kasgres/kaspa';
import { FatalError } from '@kasgres/runtime';
import { Command, InvalidArgumentError, Option } from 'commander';
import { print, textTable } from '../output.ts';
import { findTextProblem, MAX_LENGTHS } from '../tags/check-tag.ts';
import { Problems } from '../tags/tag-file.ts';
import { type Format, FORMATS, readTagFiles, type TagFiles } from '../tags/read-tag-files.ts';
import { withDatabase } from '../with-database.ts';

/** Imports of at least this many tags print their progress. */
const LONG_IMPORT = 50_000;
/** Rows that a listing prints at most. */
const MOST_LISTED = 100;

interface ImportOptions {
  source?: string;
  format?: Format;
  dryRun?: true;
}

interface ListOptions {
  address?: string;
  conflicts?: true;
}

export function tagsCommand(): Command {
  const tags = new Command('tags').description('import names of addresses from files, list and remove them');

  tags
    .command('import')
    .description('replace the tags of sources by those in files, all or none')
    .argument('<file...>', 'CSV, JSON or GraphSense TagPack files')
    .option('--source <name>', 'name of the source (default: the name in the file)', sourceName)
    .addOption(new Option('--format <format>', 'format of the files (default: detected)').choices(FORMATS))
    .option('--dry-run', 'check the files and print what would change')
    .addHelpText('after', '\ndocs/tags.md describes the formats, and which of several names is used.')
    .action((files: string[], options: ImportOptions) =>
      withDatabase('tags', (database) => importFiles(database, files, options)),
    );

  tags
    .command('list')
    .description('list tags by name')
    .option('--address <address>', 'list what all sources say about an address')
    .option('--conflicts', 'list addresses and clusters with several names')
    .action((options: ListOptions) => withDatabase('tags', (database) => list(database, options)));

  tags
    .command('sources')
    .description('list the sources of tags')
    .action(() => withDatabase('tags', printSources));

  tags
    .command('remove <source>')
    .description('remove all tags of a source')
    .action((source: string) => withDatabase('tags', (database) => remove(database, source)));

  return tags;
}

async function importFiles(database: Connection, paths: readonly string[], options: ImportOptions): Promise<void> {
  const network = await getDatabaseNetwork(database);
  const files = await Promise.all(
    [...new Set(paths)].map(async (file) => ({ file, contents: await readTagFile(file) })),
  );
  const read = readTagFiles(files, { network, ...options });
  if (read instanceof Problems) throw new FatalError(read.report());
  const count = read.sources.reduce((sum, { attributions }) => sum + attributions.length, 0);
  const changes = await replaceSources(database.pool, read.sources, {
    dryRun: options.dryRun === true,
    onProgress: (step, rows) => {
      if (count >= LONG_IMPORT) process.stderr.write(`${step} ${counted(rows, 'tag')} …\n`);
    },
  });
  print(changesTable(changes));
  for (const note of notesOn(read)) print(note);
  if (options.dryRun === true) print('Nothing was written (--dry-run).');
}

/** @throws {FatalError} if no indexer has written to the database */
async function getDatabaseNetwork({ kysely }: Connection): Promise<Network> {
  const row = await kysely.selectFrom('meta').select('network').executeTakeFirst();
  if (row !== undefined) return getNetwork(row.network);
  throw new FatalError(
    'The network of this database is unknown, since no indexer has written to it. Start the indexer first.',
  );
}

async function readTagFile(file: string): Promise<Uint8Array> {
  try {
    return await readFile(file);
  } catch (error) {
    throw new FatalError(`${file} cannot be read: ${(error as Error).message}`);
  }
}

function changesTable(changes: readonly SourceChanges[]): string {
  const rows = changes.map(({ source, new: added, changed, removed, unchanged }) => [
    source,
    added,
    changed,
    removed,
    unchanged,
  ]);
  return textTable(['source', 'new', 'changed', 'removed', 'unchanged'], rows);
}

function notesOn({ otherCurrencies, transactionTags, merged }: TagFiles): string[] {
  const others = [...otherCurrencies].sort(([, one], [, other]) => other - one);
  return [
    ...others.map(([currency, count]) => `${counted(count, 'tag')} of ${currency} skipped.`),
    ...(transactionTags > 0 ? [`${counted(transactionTags, 'tag')} of transactions skipped.`] : []),
    ...(merged > 0
      ? [`${counted(merged, 'tag')} merged with another of the same address and name. All labels are kept.`]
      : []),
  ];
}

async function list(database: Connection, { address, conflicts }: ListOptions): Promise<void> {
  if (address !== undefined && conflicts === true)
    throw new FatalError('--address and --conflicts cannot be combined.');
  if (address !== undefined) await printAttributions(database, address);
  else if (conflicts === true) await printConflicts(database);
  else await printTags(database);
}

async function printTags({ kysely }: Connection): Promise<void> {
  const rows = await kysely
    .selectFrom('tags')
    .select(['name', 'address', 'labels', 'link'])
    .orderBy('name')
    .orderBy('address')
    .limit(MOST_LISTED)
    .execute();
  const { count } = await kysely
    .selectFrom('tags')
    .select((eb) => eb.fn.countAll<bigint>().as('count'))
    .executeTakeFirstOrThrow();
  print(
    textTable(
      ['name', 'address', 'labels', 'link'],
      rows.map(({ name, address, labels, link }) => [name, address, labels.join(', '), link]),
    ),
  );
  if (count > BigInt(rows.length)) {
    print(`The first ${rows.length} of ${counted(count, 'tag')}. List all with: kasgres sql -c 'table tags'`);
  }
}

async function printAttributions({ pool, kysely }: Connection, address: string): Promise<void> {
  const script = scriptOf(address);
  const said = await listAttributions(pool, address);
  const own = await findOwnTag(kysely, address);
  const ofCluster = await findClusterTag(kysely, script);
  if (own !== undefined) print(`Tag: ${own.name}`);
  else print(ofCluster === undefined ? 'No tag.' : `Tag: ${ofCluster.name}, from its cluster`);
  if (said.length === 0) return;
  print(
    textTable(
      ['source', 'name', 'labels', 'category', 'confidence', 'level', 'last modified', 'link'],
      said.map((row) => [
        row.source,
        row.name,
        row.labels.join(', '),
        row.category,
        row.confidence,
        row.confidenceLevel,
        row.lastModified,
        row.link,
      ]),
    ),
  );
}

async function printConflicts({ pool }: Connection): Promise<void> {
  const addresses = await listConflictingAddresses(pool, MOST_LISTED);
  const clusters = await listConflictingClusters(pool, MOST_LISTED);
  if (addresses.length > 0) {
    const rows = addresses.map(({ address, name, sources }) => [address, name, sources.join(', ')]);
    print(textTable(['address', 'name', 'sources'], rows));
  }
  if (clusters.length > 0) {
    const rows = clusters.map(({ address, name, addresses, sources }) => [
      address,
      name,
      addresses,
      sources.join(', '),
    ]);
    print(`${addresses.length > 0 ? '\n' : ''}${textTable(['cluster', 'name', 'addresses', 'sources'], rows)}`);
  }
  if (addresses.length + clusters.length === 0) print('There are no conflicts.');
  for (const [kind, found] of [
    ['addresses', addresses],
    ['clusters', clusters],
  ] as const) {
    if (new Set(found.map(({ address }) => address)).size === MOST_LISTED) print(`The first ${MOST_LISTED} ${kind}.`);
  }
}

async function printSources({ pool }: Connection): Promise<void> {
  const rows = (await listSources(pool)).map(({ name, title, creator, tags, importedAt }) => [
    name,
    title,
    creator,
    tags,
    importedAt,
  ]);
  print(textTable(['source', 'title', 'creator', 'tags', 'imported'], rows));
}

async function remove({ pool }: Connection, source: string): Promise<void> {
  const changes = await removeSource(pool, source);
  if (changes === undefined)
    throw new FatalError(`There is no source ${source}. Run \`kasgres tags sources\` to see all sources.`);
  print(`Removed ${source}: ${counted(changes.removed, 'tag')}.`);
}

function scriptOf(address: string): ReturnType<typeof addressToScript> {
  try {
    return addressToScript(address);
  } catch (error) {
    if (error instanceof AddressError) throw new FatalError(`${address}: ${error.message}.`);
    throw error;
  }
}

function sourceName(text: string): string {
  const problem = text.trim() === '' ? 'must not be empty' : findTextProblem(text.trim(), MAX_LENGTHS.source);
  if (problem !== undefined) throw new InvalidArgumentError(`It ${problem}.`);
  return text.trim();
}

function counted(count: number | bigint, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${BigInt(count) === 1n ? '' : 's'}`;
}
