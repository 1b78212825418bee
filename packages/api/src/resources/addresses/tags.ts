/** Tags of addresses within statements. */
import { type RawBuilder, sql } from 'kysely';
import type { AddressTagJson } from '../../schemas/address.ts';

/** Selects the tag that names an address itself; null without one. */
export const ownTag = (address: RawBuilder<unknown>): RawBuilder<AddressTagJson | null> => sql`(
  select to_json(tag) from (select address, name, link, labels from tags where tags.address = ${address}) tag)`;

/**
 * Selects the tag of the cluster of a script. A cluster without a known owner has none. `offset 0` keeps the index of names out of the plan: while
 * few clusters seem to have a name, Postgres would rather read all of those.
 */
export const clusterTag = (
  address: RawBuilder<unknown>,
  scriptId: RawBuilder<unknown>,
): RawBuilder<AddressTagJson | null> => sql`(
  select to_json(tag) from (
    select ${address} as address, name, link, labels from clusters
    where id = (select cluster_of(${scriptId})) offset 0
  ) tag where name is not null)`;

/** Selects the tag of an address, else that of its cluster. */
export const tagOfScript = (
  address: RawBuilder<unknown>,
  scriptId: RawBuilder<unknown>,
): RawBuilder<AddressTagJson | null> => sql`coalesce(${ownTag(address)}, ${clusterTag(address, scriptId)})`;
