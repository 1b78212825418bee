/** Each member of a cluster with its root; members whose path to the root does not end are left out. */
export const TREE = `
  recursive tree as (
    select script_id, script_id as root from cluster_members where parent_id is null
    union all
    select m.script_id, tree.root from tree join cluster_members m on m.parent_id = tree.script_id
  )`;

/** Members of the clusters that a condition selects, level by level from the roots down. */
export const belowRoots = (condition: string): string => `
  recursive members as (
    select id as script_id, id as cluster_id from clusters ${condition}
    union all
    select m.script_id, members.cluster_id from members join cluster_members m on m.parent_id = members.script_id)`;
