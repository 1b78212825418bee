/**
 * The transactions accepted since the latest bootstrap block: its UTXO set contains the effect of
 * the earlier ones.
 */
export const ACCEPTED = `
  accepted as (
    select t.id, t.subnetwork_id, c.daa_score
    from chain_blocks c
    join transactions t on t.accepting_index = c.index
    where c.index > (select coalesce(max(chain_index), -1) from bootstrap_blocks)
  )`;

/**
 * The outputs in the UTXO set of the latest bootstrap block or of `accepted`, without those that
 * `accepted` spend.
 */
export const UNSPENT = `
  created as (
    select transaction_id, index, script_id, amount, block_daa_score, is_coinbase, covenant_id
      from bootstrap_utxos
    union all
    select o.transaction_id, o.index, o.script_id, o.amount, a.daa_score,
      a.subnetwork_id = 1, o.covenant_id
    from accepted a join transaction_outputs o on o.transaction_id = a.id
  ),
  unspent as (
    select * from created
    where not exists (
      select from transaction_inputs i join accepted spending on spending.id = i.transaction_id
      where i.previous_transaction_id = created.transaction_id and i.previous_index = created.index
    )
  )`;

/** The scripts of the UTXO set of each bootstrap block. */
export const HELD = `
  held as (
    select script_id, (select max(chain_index) from bootstrap_blocks) as chain_index, amount
      from bootstrap_utxos
    union all
    select script_id, chain_index, balance from bootstrap_balances
  )`;

/** Every script that a chain block touches, by each transaction that it accepts. */
export const TOUCHES = `
  touches as (
    select c.index, c.chain_time, a.script_id, a.transaction_id, a.amount_sent as sent,
      a.amount_received as received, t.subnetwork_id = 1 as is_coinbase
    from chain_blocks c
    cross join unnest(c.accepted_transactions) as accepted (id)
    join transactions t on t.id = accepted.id
    join address_transactions a on a.transaction_id = t.id
  )`;

/**
 * The first bootstrap block at which each script held UTXOs: it counts as seen there unless the
 * chain touched it before.
 */
export const AT_BOOTSTRAP = `
  ${HELD},
  at_bootstrap as (
    select first.script_id, c.index, c.chain_time
    from (select script_id, min(chain_index) as index from held group by script_id) first
      join chain_blocks c using (index)
  )`;
/**
 * Selects what chain blocks accept, with positions. A chain block may accept 100,000 transactions,
 * so its list is walked once for all that are looked for, and not searched for each.
 * @param indexes a query of chain_blocks.index
 */
export const acceptedBy = (indexes: string): string => `
  select c.index as chain_index, c.chain_time, a.id as transaction_id,
    (a.position - 1)::integer as position
  from chain_blocks c cross join unnest(c.accepted_transactions) with ordinality a (id, position)
  where c.index in (${indexes})`;

/**
 * Each member of a cluster with its root; members whose path to the root does not end are left out.
 */
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
    select m.script_id, members.cluster_id from members
      join cluster_members m on m.parent_id = members.script_id)`;

/**
 * The first chain block if retention removed the chain before it; no row otherwise. Sums of the
 * removed part can only be checked in parts.
 */
export const CUT = `
  cut as (select index, chain_time from chain_blocks
    where index = (select min(index) from chain_blocks) and index > 0)`;

/** Scripts that may be programs by themselves. */
export const BARE_SCRIPTS = `(select id from scripts where type = 'nonstandard' and version = 0)`;

/**
 * The first of the UTXOs of each script `s` in `bootstrap_utxos`, by id and index: who created it
 * before the bootstrap block is known, but not in which order.
 * @param scripts a table with `id`
 */
export const firstBootstrapUtxos = (scripts: string): string => `
  select distinct on (s.id) s.id as script_id, u.transaction_id, u.index
    from ${scripts} s
    join bootstrap_utxos u on u.script_id = s.id
    left join pre_bootstrap_transactions e on e.id = u.transaction_id
    left join transactions t on t.id = u.transaction_id
   order by s.id, coalesce(e.transaction_id, t.transaction_id), u.index`;
