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
} from '@kasgres/database';
import { AddressError, decodeAddress, getNetwork, type Network } from '@kasgres/kaspa';
import { FatalError } from '@kasgres/runtime';
import { Command, InvalidArgumentError, Option } from 'commander';
import { print, printMessage, printTable } from '../command-line.ts';
import { findTextProblem, MAX_LENGTHS } from '../tags/check-tag.ts';
import { Problems } from '../tags/tag-file.ts';
import { type Format, FORMATS, readTagFiles, type TagFiles } from '../tags/read-tag-files.ts';
import { withDatabase } from '../with-database.ts';

/** Imports of at least this many tags print their progress. */
const LONG_IMPORT = 50_000;
const MOST_LISTED = 100;

interface ImportOptions {
  source?: string;
  format?: Format;
  dryRun?: true;
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
    .action(({ address, conflicts }: { address?: string; conflicts?: true }) =>
      withDatabase('tags', (database) => {
        if (address !== undefined && conflicts) throw new FatalError('--address and --conflicts cannot be combined.');
        if (address !== undefined) return printAttributions(database, address);
        return conflicts ? printConflicts(database) : printTags(database);
      }),
    );

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
      if (count >= LONG_IMPORT) printMessage(`${step} ${counted(rows, 'tag')} …`);
    },
  });
  printTable(changes, {
    source: 'source',
    new: 'new',
    changed: 'changed',
    removed: 'removed',
    unchanged: 'unchanged',
  });
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
  printTable(rows, { name: 'name', address: 'address', labels: ({ labels }) => labels.join(', '), link: 'link' });
  if (count > BigInt(rows.length)) {
    print(`The first ${rows.length} of ${counted(count, 'tag')}. List all with: kasgres sql -c 'table tags'`);
  }
}

async function printAttributions({ pool, kysely }: Connection, address: string): Promise<void> {
  checkAddress(address);
  const said = await listAttributions(pool, address);
  const own = await findOwnTag(kysely, address);
  const ofCluster = await findClusterTag(kysely, address);
  if (own !== undefined) print(`Tag: ${own.name}`);
  else print(ofCluster === undefined ? 'No tag.' : `Tag: ${ofCluster.name}, from its cluster`);
  if (said.length === 0) return;
  printTable(said, {
    source: 'source',
    name: 'name',
    labels: ({ labels }) => labels.join(', '),
    category: 'category',
    confidence: 'confidence',
    level: 'confidenceLevel',
    'last modified': 'lastModified',
    link: 'link',
  });
}

const sources = (conflict: { sources: string[] }): string => conflict.sources.join(', ');

async function printConflicts({ pool }: Connection): Promise<void> {
  const addresses = await listConflictingAddresses(pool, MOST_LISTED);
  const clusters = await listConflictingClusters(pool, MOST_LISTED);
  if (addresses.length > 0) printTable(addresses, { address: 'address', name: 'name', sources });
  if (addresses.length > 0 && clusters.length > 0) print('');
  if (clusters.length > 0) printTable(clusters, { cluster: 'address', name: 'name', addresses: 'addresses', sources });
  if (addresses.length + clusters.length === 0) print('There are no conflicts.');
  for (const [kind, found] of Object.entries({ addresses, clusters })) {
    if (new Set(found.map(({ address }) => address)).size === MOST_LISTED) print(`The first ${MOST_LISTED} ${kind}.`);
  }
}

async function printSources({ pool }: Connection): Promise<void> {
  const sources = await listSources(pool);
  printTable(sources, { source: 'name', title: 'title', creator: 'creator', tags: 'tags', imported: 'importedAt' });
}

async function remove({ pool }: Connection, source: string): Promise<void> {
  const changes = await removeSource(pool, source);
  if (changes === undefined)
    throw new FatalError(`There is no source ${source}. Run \`kasgres tags sources\` to see all sources.`);
  print(`Removed ${source}: ${counted(changes.removed, 'tag')}.`);
}

function checkAddress(address: string): void {
  try {
    decodeAddress(address);
  } catch (error) {
    throw error instanceof AddressError ? new FatalError(`${address}: ${error.message}.`) : error;
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
