/**
 * Builds a query that finds the clusters of scripts like the SQL function cluster_of, but for many
 * scripts at once: calling the function takes longer than its look-ups. Each row has `root_id`,
 * which is `clusters.id`, and the given columns. A script without a cluster has no row.
 * @param members the tables and conditions that select the members, as `m` of `cluster_members`
 * @param columns of these tables, each after a comma: `, s.address, s.name`
 * @param carried the same columns of `up`: `, up.address, up.name`
 */
export const clusterRoots = (members: string, columns: string, carried: string): string => `
    with recursive up as (
      select m.script_id as root_id, m.parent_id${columns} from ${members}
      union all
      select m.script_id, m.parent_id${carried} from up
        join cluster_members m on m.script_id = up.parent_id
    )
    select up.root_id${carried} from up where up.parent_id is null`;
