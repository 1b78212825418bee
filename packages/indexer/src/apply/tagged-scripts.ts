/** Scripts whose address has a tag of its own, or that are in a cluster with a name: those with `balances.is_tagged`. */
export const SELECT_TAGGED_SCRIPTS = `
  select script_id from (
    select s.id as script_id from tags t join scripts s on s.address = t.address
    union all
    select m.script_id from cluster_members m join clusters c on c.id = cluster_of(m.script_id) where c.name is not null
  ) tagged`;
