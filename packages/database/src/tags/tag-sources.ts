/**
 * Who says what of an address (`attributions`, by source), and what follows from it: the tag of each address, the names of
 * clusters, the marks of scripts. All of it changes in one transaction. Tags are written before it takes the lock of the checkpoint,
 * under which the indexer writes scripts, balances and clusters; what depends on both, after it. So each sees what the other has
 * done, whoever comes first, and the indexer waits for the second part only.
 */
import type { Pool } from 'pg';
import { inTransaction } from '../connection/in-transaction.ts';
import type { OwnerTag, Tag } from './tags.ts';
import { copySaid, findChanges, writeAttributions } from './write-attributions.ts';
import { followTags, PRECEDENCE, writeTags } from './write-tags.ts';

/** What a source says of an address. */
export interface Attribution extends Tag {
  category: string | undefined;
  /** How the source knows, in its words. */
  confidence: string | undefined;
  /** The same from 0 to 100. */
  confidenceLevel: number;
  /** `2026-01-31` */
  lastModified: string | undefined;
}

/** All that a source says; no two of one address and name. */
export interface TagSource {
  name: string;
  title: string;
  creator: string;
  attributions: readonly Attribution[];
}

/** What became of a source's attributions. */
export interface SourceChanges {
  source: string;
  new: number;
  changed: number;
  removed: number;
  unchanged: number;
}

interface ReplaceOptions {
  /** Finds out what would change, and changes nothing. */
  dryRun?: boolean;
  /** Hears what is being done, with how many rows, as it begins. */
  onProgress?: (step: string, rows: number) => void;
}

/** Confidence of who does not say how sure they are. */
export const DEFAULT_CONFIDENCE_LEVEL = 50;
/** The source of tags that were written one by one. */
const MANUAL_SOURCE = 'manual';
/** For the joins and sorts of many tags. */
const WORK_MEMORY = '64MB';

/**
 * Puts what these sources say now in place of what they said before; a source that says nothing is gone. All of it, or nothing.
 * @throws AddressError
 */
export async function replaceSources(
  pool: Pool,
  sources: readonly TagSource[],
  options: ReplaceOptions = {},
): Promise<SourceChanges[]> {
  return await writeSources(pool, sources, 'everything they said before', options);
}

/**
 * Writes tags over what was said of their addresses in this way before, as the source `manual`; of two for one address the last one
 * holds. All of them, or none.
 * @throws AddressError
 */
export async function upsertTags(pool: Pool, tags: readonly Tag[]): Promise<void> {
  const attributions = [...new Map(tags.map((tag) => [tag.address, tag])).values()].map(toAttribution);
  const source = { name: MANUAL_SOURCE, title: 'Written one by one', creator: '', attributions };
  await writeSources(pool, [source], 'what they said of these addresses', {});
}

/** A tag of which nothing more is known. */
export function toAttribution(tag: Tag): Attribution {
  return {
    ...tag,
    category: undefined,
    confidence: undefined,
    confidenceLevel: DEFAULT_CONFIDENCE_LEVEL,
    lastModified: undefined,
  };
}

/** Undefined for a source that is not there. */
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
  /** How much it says. */
  tags: bigint;
  importedAt: Date;
}

export async function listSources(pool: Pool): Promise<ListedSource[]> {
  const { rows } = await pool.query<ListedSource>(
    `select name, title, creator, (select count(*) from attributions where source_id = s.id) as tags, imported_at as "importedAt"
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

/** What is said of an address, what holds first. */
export async function listAttributions(pool: Pool, address: string): Promise<ListedAttribution[]> {
  const { rows } = await pool.query<ListedAttribution>(
    `select s.name as source, a.name, a.link, a.labels, a.category, a.confidence, a.confidence_level as "confidenceLevel",
       a.last_modified as "lastModified"
       from attributions a join tag_sources s on s.id = a.source_id
      where a.address = $1
      order by ${PRECEDENCE}`,
    [address],
  );
  return rows;
}

type Replaced = 'everything they said before' | 'what they said of these addresses';

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
    await copySaid(client, sources);
    // One import at a time: what one finds to change, no other changes meanwhile.
    await client.query('lock table tag_sources in exclusive mode');
    const changes = await findChanges(client, sources, replaced === 'everything they said before');
    if (dryRun) return changes;
    await writeAttributions(client, sources);
    onProgress('writing', await writeTags(client));
    await followTags(client);
    return changes;
  };
  try {
    return await inTransaction(client, write);
  } finally {
    client.release();
  }
}
