/**
 * Reads the names and labels of addresses: tags of the address itself, or of the cluster of its
 * script.
 */
import { type Kysely, sql } from 'kysely';
import type { Database } from '../connection/connect.ts';

export interface OwnerTag {
  name: string;
  /** URL with further information, or empty. */
  link: string;
  labels: string[];
}

export interface Tag extends OwnerTag {
  address: string;
}

/** Returns the tag of the address itself. */
export async function findOwnTag(db: Kysely<Database>, address: string): Promise<Tag | undefined> {
  return await db
    .selectFrom('tags')
    .select(['address', 'name', 'link', 'labels'])
    .where('address', '=', address)
    .executeTakeFirst();
}

/** Returns the tag of the cluster of an address. A cluster without a known owner has none. */
export async function findClusterTag(db: Kysely<Database>, address: string): Promise<OwnerTag | undefined> {
  const row = await db
    .selectFrom('scripts')
    .innerJoin('clusters', (join) => join.on('clusters.id', '=', sql<bigint>`cluster_of(scripts.id)`))
    .select(['clusters.name', 'clusters.link', 'clusters.labels'])
    .where('scripts.address', '=', address)
    .executeTakeFirst();
  return row === undefined || row.name === null ? undefined : { ...row, name: row.name };
}
