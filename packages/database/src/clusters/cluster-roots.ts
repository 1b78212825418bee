/** The query of the roots above members of clusters. */

/**
 * Builds a query that finds the clusters of scripts like the SQL function cluster_of, but for many scripts at once: calling the function takes
 * longer than its look-ups. Returns `root_id`, which is `clusters.id`, and the columns; no row for a script without a cluster.
 * @param members the tables and conditions that select the members, as `m` of `cluster_members`
 * @param columns expressions of these tables, by name
 */
export function clusterRoots(members: string, columns: Readonly<Record<string, string>> = {}): string {
  const names = Object.keys(columns);
  const selected = names.map((name) => `, ${columns[name]} as ${name}`).join('');
  const carried = names.map((name) => `, up.${name}`).join('');
  return `
    with recursive up as (
      select m.script_id as root_id, m.parent_id${selected} from ${members}
      union all
      select m.script_id, m.parent_id${carried} from up join cluster_members m on m.script_id = up.parent_id
    )
    select up.root_id${carried} from up where up.parent_id is null`;
}
