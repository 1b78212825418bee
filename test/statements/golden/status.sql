-- The statements of this area as Postgres gets them, by operation. `npm run generate:statements` writes this file, and test/statements compares it
-- and lets Postgres describe each statement. A statement is shown where it is sent first.
--
-- Filters, cursors, directions and `include` choose the pieces of a statement. Each value of each parameter is tried with the example of its operation,
-- never two parameters together, and SQL that this leaves out by further requests. So every piece is here, and not every combination. A statement that is
-- like an earlier one of its operation is shown as the lines that differ, if these are fewer.

-- getStatus -------------------------------------------------------------------------------------------

-- isStandby of packages/reads/src/index-state/state.ts
select pg_is_in_recovery() as is_standby;

-- findUtxoSetLoad of packages/reads/src/index-state/state.ts
select
  encode("block_hash", 'hex') as "hash",
  "utxos"
from "utxo_set_load";

-- findReplicaLag of packages/reads/src/index-state/state.ts
select
  case
    when not pg_is_in_recovery() then null
    when pg_last_wal_replay_lsn() >= pg_last_wal_receive_lsn()
    and exists (
      select
      from pg_stat_wal_receiver
    ) then 0
    else greatest(
      0,
      extract(
        epoch
        from clock_timestamp() - coalesce(pg_last_xact_replay_timestamp(), pg_postmaster_start_time())
      )
    )
  end::float8 as seconds;

-- readIndexStatus of packages/api/src/resources/status.ts
select "name"
from "deferred_indexes"
limit $1;

-- findLowestBlock of packages/reads/src/selects/segments.ts
select
  c.index,
  encode(b.hash, 'hex') as hash,
  b.blue_work as "blueWork",
  b.daa_score as "daaScore",
  b.timestamp,
  c.chain_time as "chainTime"
from
  chain_blocks c
  join blocks b on b.id = c.block_id
order by c.index
limit 1;

-- listBootstraps of packages/api/src/resources/status.ts
select
  encode("blocks"."hash", 'hex') as "hash",
  "blocks"."blue_score"::text as "blueScore",
  "blocks"."daa_score"::text as "daaScore",
  "blocks"."timestamp"::float8 as "timestamp",
  "bootstrap_blocks"."utxo_count"::float8 as "utxoCount"
from
  "bootstrap_blocks"
  inner join "blocks" on "blocks"."id" = "bootstrap_blocks"."block_id"
order by "bootstrap_blocks"."chain_index";

-- listGaps of packages/api/src/resources/status.ts
select
  encode("after_block_hash", 'hex') as "afterBlock",
  encode("before_block_hash", 'hex') as "beforeBlock",
  "reason",
  "after"."blue_score"::text as "afterBlueScore",
  "before"."blue_score"::text as "beforeBlueScore",
  "after"."timestamp"::float8 as "afterTimestamp",
  "before"."timestamp"::float8 as "beforeTimestamp",
  "recorded_at" as "recordedAt"
from
  "gaps"
  left join "blocks" as "after" on "after"."hash" = "gaps"."after_block_hash"
  left join "blocks" as "before" on "before"."hash" = "gaps"."before_block_hash"
order by "gaps"."id";
