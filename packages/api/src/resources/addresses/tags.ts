/** Tags of addresses within statements. */
import { type RawBuilder, sql } from 'kysely';
import type { AddressTagJson } from '../../schemas/address.ts';

/** Selects the tag that names an address itself; null without one. */
export const ownTag = (address: RawBuilder<unknown>): RawBuilder<AddressTagJson | null> => sql`(
  select to_json(tag) from (select address, name, link, labels from tags where tags.address = ${address}) tag)`;

/** Selects the tag of the cluster of a script. A cluster without a known owner has none. */
export const clusterTag = (
  address: RawBuilder<unknown>,
  scriptId: RawBuilder<unknown>,
): RawBuilder<AddressTagJson | null> => sql`(
  select to_json(tag) from (
    select ${address} as address, name, link, labels from clusters
    where id = cluster_of(${scriptId}) and name is not null
  ) tag)`;

/** Selects the tag of an address, else that of its cluster. */
export const tagOfScript = (
  address: RawBuilder<unknown>,
  scriptId: RawBuilder<unknown>,
): RawBuilder<AddressTagJson | null> => sql`coalesce(${ownTag(address)}, ${clusterTag(address, scriptId)})`;
