/** Invariant 12 of tags: the tag of an address is what its sources say with the most confidence, and its labels are listed. */
import type { Queryable } from './queryable.ts';

const SELECT_WRONG_TAGS = `
  with said as (
    select a.*, row_number() over (
      partition by a.address order by a.confidence_level desc, a.last_modified desc nulls last, s.name collate "C", a.name collate "C") as place
    from attributions a join tag_sources s on s.id = a.source_id
  )
  select address from tags t full join (select * from said where place = 1) e using (address)
  where (t.name, t.link, t.labels, t.confidence_level) is distinct from (e.name, e.link, e.labels, e.confidence_level)
  limit 20`;

const SELECT_WRONG_LABELS = `
  with expected as (select distinct unnest(labels) as label, name, address from tags),
  stored as (select label, name, address from tag_labels)
  select address, label from ((table expected except table stored) union (table stored except table expected)) wrong
  limit 20`;

const SELECT_WITHOUT_SOURCE = `
  select address from attributions where source_id not in (select id from tag_sources) limit 20`;

/** What is wrong, one sentence each (the first 20 of a kind); empty when it holds. */
export async function checkTags(db: Queryable): Promise<string[]> {
  const tags = await db.query<{ address: string }>(SELECT_WRONG_TAGS);
  const labels = await db.query<{ address: string; label: string }>(SELECT_WRONG_LABELS);
  const orphans = await db.query<{ address: string }>(SELECT_WITHOUT_SOURCE);
  return [
    ...tags.rows.map(({ address }) => `the tag of ${address} is not what its sources say with the most confidence`),
    ...labels.rows.map(({ address, label }) => `label ${label} of ${address} is listed wrongly`),
    ...orphans.rows.map(({ address }) => `nobody is the source of what is said of ${address}`),
  ];
}
