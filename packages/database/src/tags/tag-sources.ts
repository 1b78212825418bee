/**
 * The sources of tags: `attributions` (by source) and everything that follows from them in one
 * transaction, namely the tag of each address, the names of clusters and the flags of scripts. Tags
 * are written before the lock of the checkpoint is taken, under which the indexer writes scripts,
 * balances and clusters; names and flags, which depend on both, after it. So an import and a batch
 * see each other's changes in either order, and the indexer waits only for the second half.
 */
import type { Pool } from 'pg';
import { inTransaction } from '../connection/in-transaction.ts';
import type { OwnerTag, Tag } from './tags.ts';
import { copyAttributions, findChanges, writeAttributions } from './write-attributions.ts';
import { updateClustersAndFlags, PRECEDENCE, writeTags } from './write-tags.ts';
import type { Attribution, SourceChanges, TagSource } from './attribution.ts';

interface ReplaceOptions {
  /** Counts the changes without writing them. */
  dryRun?: boolean;
  /** Called when a step begins, with its number of rows. */
  onProgress?: (step: string, rows: number) => void;
}

/** Confidence of a source that does not state one. */
export const DEFAULT_CONFIDENCE_LEVEL = 50;
/** The source of tags that `upsertTags` writes. */
const MANUAL_SOURCE = 'manual';
const WORK_MEMORY = '64MB';

/**
 * Replaces all attributions of these sources in one transaction. A source without attributions is
 * deleted.
 * @throws AddressError
 */
export async function replaceSources(
  pool: Pool,
  sources: readonly TagSource[],
  options: ReplaceOptions = {},
): Promise<SourceChanges[]> {
  return await writeSources(pool, sources, 'all', options);
}

/**
 * Replaces the tags of these addresses in the source `manual`, in one transaction. Of several tags
 * for one address the last one counts.
 * @throws AddressError
 */
export async function upsertTags(pool: Pool, tags: readonly Tag[]): Promise<void> {
  const attributions = [...new Map(tags.map((tag) => [tag.address, tag])).values()].map(toAttribution);
  const source = { name: MANUAL_SOURCE, title: 'Written one by one', creator: '', attributions };
  await writeSources(pool, [source], 'these addresses', {});
}

/** Returns an attribution without further details. */
export function toAttribution(tag: Tag): Attribution {
  return {
    ...tag,
    category: undefined,
    confidence: undefined,
    confidenceLevel: DEFAULT_CONFIDENCE_LEVEL,
    lastModified: undefined,
  };
}

/** Returns undefined if there is no such source. */
export async function removeSource(pool: Pool, name: string): Promise<SourceChanges | undefined> {
  const { rowCount } = await pool.query('select from tag_sources where name = $1', [name]);
  if (rowCount === 0) return undefined;
  const [changes] = await replaceSources(pool, [{ name, title: '', creator: '', attributions: [] }]);
  return changes;
}

interface ListedSource {
  name: string;
  title: string;
  creator: string;
  /** Number of attributions. */
  tags: bigint;
  importedAt: Date;
}

export async function listSources(pool: Pool): Promise<ListedSource[]> {
  const { rows } = await pool.query<ListedSource>(
    `select name, title, creator,
      (select count(*) from attributions where source_id = s.id) as tags,
        imported_at as "importedAt"
       from tag_sources s order by name collate "C"`,
  );
  return rows;
}

interface ListedAttribution extends OwnerTag {
  source: string;
  category: string | null;
  confidence: string | null;
  confidenceLevel: number;
  /** `2026-01-31` */
  lastModified: string | null;
}

/** Returns the attributions of an address, the one in use first. */
export async function listAttributions(pool: Pool, address: string): Promise<ListedAttribution[]> {
  const { rows } = await pool.query<ListedAttribution>(
    `select s.name as source, a.name, a.link, a.labels, a.category, a.confidence,
       a.confidence_level as "confidenceLevel", a.last_modified as "lastModified"
       from attributions a join tag_sources s on s.id = a.source_id
      where a.address = $1
      order by ${PRECEDENCE}`,
    [address],
  );
  return rows;
}

type Replaced = 'all' | 'these addresses';

async function writeSources(
  pool: Pool,
  sources: readonly TagSource[],
  replaced: Replaced,
  { dryRun = false, onProgress = () => {} }: ReplaceOptions,
): Promise<SourceChanges[]> {
  const client = await pool.connect();
  const write = async (): Promise<SourceChanges[]> => {
    await client.query(`set local work_mem = '${WORK_MEMORY}'`);
    onProgress(
      'reading',
      sources.reduce((sum, { attributions }) => sum + attributions.length, 0),
    );
    await copyAttributions(client, sources);
    // Only one import at a time may compute and write its changes.
    await client.query('lock table tag_sources in exclusive mode');
    const changes = await findChanges(client, sources, replaced === 'all');
    if (dryRun) return changes;
    await writeAttributions(client, sources);
    onProgress('writing', await writeTags(client));
    await updateClustersAndFlags(client);
    return changes;
  };
  try {
    return await inTransaction(client, write);
  } finally {
    client.release();
  }
}
