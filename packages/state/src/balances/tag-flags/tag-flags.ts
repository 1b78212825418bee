/**
 * Flags scripts whose address has a tag or that are in a named cluster. Changes of names queue
 * ranges of rings in `pending_tag_flags` (walk.ts).
 */
import type { ClientBase } from 'pg';
import { belowRoots } from '../../common-table-expressions.ts';

export async function flagTagged(client: ClientBase): Promise<void> {
  await client.query(
    `with ${belowRoots('where name is not null')}
     update balances set is_tagged = true
      where script_id in (select s.id from tags t join scripts s on s.address = t.address
        union select script_id from members)`,
  );
}

/**
 * Queues ranges of rings for setting flags.
 * @param ranges from the first member, inclusive, to `end`, exclusive
 */
export async function queueTagFlags(
  client: ClientBase,
  ranges: readonly { from: bigint; end: bigint }[],
): Promise<void> {
  if (ranges.length === 0) return;
  const ends = new Map(ranges.map(({ from, end }) => [end, from]));
  await client.query(
    `insert into pending_tag_flags (script_id, at_script_id) select * from unnest($1::bigint[], $2::bigint[])
     on conflict (script_id) do update set at_script_id = excluded.at_script_id`,
    [[...ends.keys()], [...ends.values()]],
  );
}
