/** Scripts whose address has a tag of its own, or that are in a cluster with a name: those with `balances.is_tagged`. */
export const SELECT_TAGGED_SCRIPTS = `
  select script_id from (
    select s.id as script_id from tags t join scripts s on s.address = t.address
    union all
    select m.script_id from clusters c join cluster_members m on m.cluster_id = c.id where c.name is not null
  ) tagged`;
