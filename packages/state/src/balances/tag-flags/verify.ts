import { TREE } from '../../common-table-expressions.ts';
import { faultsOf } from '../../queryable.ts';

/** Exact except in clusters with ranges in pending_tag_flags. */
const SELECT_WRONGLY_TAGGED = `
  with ${TREE},
  expected as (
    select id as script_id from scripts where address in (select address from tags)
    union
    select tree.script_id from tree join clusters c on c.id = tree.root where c.name is not null
  ),
  pending as (select tree.root from pending_tag_flags join tree using (script_id))
  select format('script %s is flagged as %s', script_id, case when b.is_tagged then 'tagged'
    else 'not tagged' end) as fault
  from balances b left join expected e using (script_id) left join tree using (script_id)
  where b.is_tagged <> (e.script_id is not null)
    and (tree.root is null or tree.root not in (select root from pending))
  limit 20`;

export const verifyTagFlags = faultsOf(SELECT_WRONGLY_TAGGED);

const SELECT_WRONG_TAGS = `
  with attributed as (
    select a.*, row_number() over (
      partition by a.address order by a.confidence_level desc, a.last_modified desc nulls last,
        s.name collate "C", a.name collate "C") as rank
    from attributions a join tag_sources s on s.id = a.source_id
  )
  select format('the tag of %s is not its most confident attribution', address) as fault
  from tags t full join (select * from attributed where rank = 1) e using (address)
  where (t.name, t.link, t.labels, t.confidence_level, t.actor, t.names_cluster)
    is distinct from (e.name, e.link, e.labels, e.confidence_level, e.actor, e.names_cluster)
  limit 20`;

const SELECT_WRONG_LABELS = `
  with expected as (select distinct unnest(labels) as label, name, address from tags),
  stored as (select label, name, address from tag_labels)
  select format('label %s of %s is listed wrongly', label, address) as fault
  from ((table expected except table stored) union (table stored except table expected)) wrong
  limit 20`;

const SELECT_WITHOUT_SOURCE = `
  select format('an attribution of %s has no source', address) as fault
  from attributions where source_id not in (select id from tag_sources) limit 20`;

export const verifyTags = faultsOf(SELECT_WRONG_TAGS, SELECT_WRONG_LABELS, SELECT_WITHOUT_SOURCE);
