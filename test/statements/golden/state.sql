-- The statements of this area as Postgres gets them, by operation. `npm run generate:statements` writes this file, and test/statements compares it
-- and lets Postgres describe each statement. A statement is shown where it is sent first.
--
-- Filters, cursors, directions and `include` choose the pieces of a statement. Each value of each parameter is tried with the example of its operation,
-- never two parameters together, and SQL that this leaves out by further requests. So every piece is here, and not every combination. A statement that is
-- like an earlier one of its operation is shown as the lines that differ, if these are fewer.

-- every request ---------------------------------------------------------------------------------------

-- “state unless known”
select
  case when (checkpoint.version, meta.created_at) is distinct from ($1::bigint, $2::timestamptz) then index_state ()::text
  end as state
from
checkpoint
cross join meta;

-- findState of packages/reads/src/index-state/state.ts
select index_state ()::text as state;

-- isStandby -------------------------------------------------------------------------------------------

-- isStandby of packages/reads/src/index-state/state.ts: in status.sql, getStatus

-- findReplicaLag --------------------------------------------------------------------------------------

-- findReplicaLag of packages/reads/src/index-state/state.ts: in status.sql, getStatus

-- findExampleRequests ---------------------------------------------------------------------------------

-- packages/api/src/docs/live-examples.ts
with
  accepted as materialized (
    select
      t.id,
      t.transaction_id,
      c.block_id,
      row_number() over (
        order by
          t.subnetwork_id = 1,
          c.index desc,
          t.id
      ) as rank
    from
      chain_blocks c
      cross join lateral unnest(c.accepted_transactions[1:20]) as accepted (id)
      join transactions t on t.id = accepted.id
    where c.index between $1 and $2
  ),
  recipient as (
    select s.address
    from
      accepted
      cross join lateral (
        select script_id
        from transaction_outputs
        where transaction_id = accepted.id
        order by index
        limit 4
      ) o
      join balances p on p.script_id = o.script_id
      join scripts s on s.id = o.script_id
    where
      rank <= $3
      and p.balance > 0
      and p.utxo_count between 1 and $4
      and s.address is not null
    order by
      p.transaction_count > 2 desc,
      accepted.id desc
    limit 1
  ),
  rich as (
    select s.address
    from
      (
        select
          script_id,
          utxo_count
        from balances
        where balance > 0
        order by
          balance desc,
          script_id desc
        limit 100
      ) p
      join scripts s on s.id = p.script_id
    where s.address is not null
    order by p.utxo_count
    limit 1
  ),
  members as (
    select
      last.address as member,
      root.address as other
    from
      (
        select id
        from clusters
        where size between 2 and 1000
        limit 1
      ) c
      join cluster_members m on m.script_id = c.id
      join scripts root on root.id = c.id
      join scripts last on last.id = m.previous_id
    where
      root.address is not null
      and last.address is not null
  ),
  covenant as (
    select covenant_id
    from
      (
        select
          covenant_id,
          utxo_count,
          last_seen
        from covenants
        order by
          last_seen desc,
          covenant_id desc
        limit $5
      ) latest
    order by
      utxo_count > 0 desc,
      last_seen desc,
      covenant_id desc
    limit 1
  )
select
  encode(accepted.transaction_id, 'hex') as "transactionId",
  encode(b.hash, 'hex') as "blockHash",
  b.daa_score as "daaScore",
  coalesce(
    (
      select address
      from recipient
    ),
    (
      select address
      from rich
    )
  ) as address,
  (
    select address
    from tags
    order by address
    limit 1
  ) as "taggedAddress",
  members.member,
  members.other as "otherMember",
  encode(covenant.covenant_id, 'hex') as "covenantId",
  (
    select s.address
    from
      (
        select script_id
        from utxos
        where covenant_id = covenant.covenant_id
        limit $6
      ) u
      join scripts s on s.id = u.script_id
    where s.address is not null
    limit 1
  ) as "covenantAddress",
  (
    select encode(hash, 'hex')
    from programs
    order by hash
    limit 1
  ) as "programHash",
  (
    select encode(template, 'hex')
    from program_templates
    order by
      spend_count desc,
      template desc
    limit 1
  ) as template,
  (
    select lane_namespace (s.subnetwork_id)
    from
      lanes l
      join subnetworks s on s.id = l.subnetwork_id
    order by
      l.last_seen desc,
      l.subnetwork_id desc
    limit 1
  ) as namespace
from
  accepted
  join blocks b on b.id = accepted.block_id
  left join members on true
  left join covenant on true
where rank = 1;

-- isPreBootstrap --------------------------------------------------------------------------------------

-- isPreBootstrap of packages/reads/src/selects/segments.ts: by hash
select
from pre_bootstrap_blocks
where hash = $1
limit 1;

-- isPreBootstrap of packages/reads/src/selects/segments.ts: in node-rpc-proxy.sql, estimateNetworkHashesPerSecond
