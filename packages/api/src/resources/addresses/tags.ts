/** Tags and automatic labels of addresses within statements. */
import { clusterRoots } from '@kasgres/database';
import { type AddressTagJson } from '@kasgres/reads';
import { type RawBuilder, sql } from 'kysely';

const ROOTS_OF_GIVEN = sql.raw(clusterRoots('cluster_members m where m.script_id = given.script_id', '', ''));

/** Selects the tag that names an address itself; null without one. */
const ownTag = (address: RawBuilder<unknown>): RawBuilder<AddressTagJson | null> => sql`(
  select to_json(tag) from (select address, name, link, labels from tags
    where tags.address = ${address}) tag)`;

/**
 * Selects `clusters.id` of the cluster of a script; null without one. Faster than the SQL function
 * cluster_of in the rows of a statement.
 */
export const clusterOf = (scriptId: RawBuilder<unknown>): RawBuilder<bigint | null> => sql`(
  select above.root_id from (select ${scriptId} as script_id) given
    cross join lateral (${ROOTS_OF_GIVEN}) above)`;

const GUESSED = sql`, true as "isGuessed"`;

/**
 * Selects the tag of the cluster of a script, and says that it is one. A cluster without a known
 * owner has none. `offset 0` keeps the index of names out of the plan: while few clusters seem to
 * have a name, Postgres would rather read all of those.
 */
const clusterTag = (
  address: RawBuilder<unknown>,
  scriptId: RawBuilder<unknown>,
  guessed: RawBuilder<unknown>,
): RawBuilder<AddressTagJson | null> => sql`(
  select to_json(tag) from (
    select ${address} as address, name, link, labels${guessed} from clusters
    where id = ${clusterOf(scriptId)} offset 0
  ) tag where name is not null)`;

/** Selects the tag of an address, else that of its cluster. */
export const tagOfScript = (
  address: RawBuilder<unknown>,
  scriptId: RawBuilder<unknown>,
  guessed: RawBuilder<unknown> = GUESSED,
): RawBuilder<AddressTagJson | null> => sql`coalesce(${ownTag(address)}, ${clusterTag(address, scriptId, guessed)})`;

/** Like `tagOfScript`, with the fields that the specified operation has. */
export const specifiedTagOf = (
  address: RawBuilder<unknown>,
  scriptId: RawBuilder<unknown>,
): RawBuilder<AddressTagJson | null> => tagOfScript(address, scriptId, sql``);

/** Selects the automatic labels of a script; none for a script that was never seen. */
export const automaticLabelsOf = (scriptId: RawBuilder<unknown>): RawBuilder<string[]> => sql`
  coalesce((select labels from script_labels where script_id = ${scriptId}), '{}')`;
