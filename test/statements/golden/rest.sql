-- The statements of this area as Postgres gets them, by operation. `npm run generate:statements` writes this file, and test/statements compares it
-- and lets Postgres describe each statement. A statement is shown where it is sent first.
--
-- Filters, cursors, directions and `include` choose the pieces of a statement. Each value of each parameter is tried with the example of its operation,
-- never two parameters together, and SQL that this leaves out by further requests. So every piece is here, and not every combination. A statement that is
-- like an earlier one of its operation is shown as the lines that differ, if these are fewer.

-- getInfoBlockdag -------------------------------------------------------------------------------------

-- None but those of every request.

-- getInfoNetwork --------------------------------------------------------------------------------------

-- None but those of every request.

-- getInfoCoinsupply -----------------------------------------------------------------------------------

-- None but those of every request.

-- getInfoCoinsupplyCirculating ------------------------------------------------------------------------

-- None but those of every request.

-- getInfoCoinsupplyTotal ------------------------------------------------------------------------------

-- None but those of every request.

-- getInfoCoinsupplyMax --------------------------------------------------------------------------------

-- None but those of every request.

-- getInfoBlockreward ----------------------------------------------------------------------------------

-- None but those of every request.

-- getInfoHalving --------------------------------------------------------------------------------------

-- None but those of every request.

-- getInfoHashrate -------------------------------------------------------------------------------------

-- None but those of every request.

-- getInfoHashrateMax ----------------------------------------------------------------------------------

-- findHighestHashRate of packages/api/src/rest-server/network-queries.ts
with
  samples as materialized (
    select
      start,
      work
    from network_intervals
    where
      length = 'hour'
      and start + 3600000 > (
        select chain_time
        from chain_blocks
        order by index
        limit 1
      )
    order by
      work desc,
      start desc
    limit 1
  ),
  ends as (
    select
      (
        select chain_time
        from chain_blocks
        where
          index = (
            select chain_index
            from
            checkpoint
          )
      ) as sink,
      (
        select
          case
            when index = 0 then chain_time
            else (
              select min(start)
              from network_intervals
              where length = 'minute'
            )
          end
        from chain_blocks
        order by index
        limit 1
      ) as first
  )
select
  (work * 1000 / greatest(least(start + 3600000, ends.sink) - greatest(start, ends.first), 1000))::float8 as "hashesPerSecond",
  encode(last.hash, 'hex') as hash,
  last.blue_score::float8 as "blueScore",
  last.daa_score::float8 as "daaScore",
  last.timestamp::float8 as timestamp
from
  samples
  cross join ends
  cross join lateral (
    select
      hash,
      blue_score,
      daa_score,
      timestamp
    from chain_blocks
    where to_timestamp(chain_time / 1000::double precision) < to_timestamp((start + 3600000) / 1000::double precision)
    order by
      to_timestamp(chain_time / 1000::double precision) desc,
      index desc
    limit 1
  ) last
order by start desc;

-- getInfoHashrateHistory ------------------------------------------------------------------------------

-- listHashRates of packages/api/src/rest-server/network-queries.ts
with
  samples as materialized (
    select
      start / 3600000 * 3600000 as start,
      sum(work) as work
    from network_intervals
    where
      length = 'hour'
      and start < $1
      and start >= greatest(
        $2::bigint,
        (
          select start / 3600000 * 3600000
          from network_intervals
          where
            length = 'hour'
            and start < $3
          order by start desc
          limit 1
        ) - 17996400000
      )
    group by 1
  ),
  ends as (
    select
      (
        select chain_time
        from chain_blocks
        where
          index = (
            select chain_index
            from
            checkpoint
          )
      ) as sink,
      (
        select
          case
            when index = 0 then chain_time
            else (
              select min(start)
              from network_intervals
              where length = 'minute'
            )
          end
        from chain_blocks
        order by index
        limit 1
      ) as first
  )
select
  (work * 1000 / greatest(least(start + 3600000, ends.sink) - greatest(start, ends.first), 1000))::float8 as "hashesPerSecond",
  encode(last.hash, 'hex') as hash,
  last.blue_score::float8 as "blueScore",
  last.daa_score::float8 as "daaScore",
  last.timestamp::float8 as timestamp
from
  samples
  cross join ends
  cross join lateral (
    select
      hash,
      blue_score,
      daa_score,
      timestamp
    from chain_blocks
    where to_timestamp(chain_time / 1000::double precision) < to_timestamp((start + 3600000) / 1000::double precision)
    order by
      to_timestamp(chain_time / 1000::double precision) desc,
      index desc
    limit 1
  ) last
order by start desc;

-- listHashRates of packages/api/src/rest-server/network-queries.ts: resolution=15m
--   like listHashRates of packages/api/src/rest-server/network-queries.ts, except:
--      samples as materialized (
--        select
--   -      start / 3600000 * 3600000 as start,
--   +      start / 900000 * 900000 as start,
--          sum(work) as work
--        from network_intervals
--        where
--   -      length = 'hour'
--   +      length = 'minute'
--          and start < $1
--          and start >= greatest(
--            $2::bigint,
--            (
--   -          select start / 3600000 * 3600000
--   +          select start / 900000 * 900000
--              from network_intervals
--              where
--   -            length = 'hour'
--   +            length = 'minute'
--                and start < $3
--              order by start desc
--              limit 1
--   -        ) - 17996400000
--   +        ) - 4499100000
--          )
--        group by 1
--   …
--      )
--    select
--   -  (work * 1000 / greatest(least(start + 3600000, ends.sink) - greatest(start, ends.first), 1000))::float8 as "hashesPerSecond",
--   +  (work * 1000 / greatest(least(start + 900000, ends.sink) - greatest(start, ends.first), 1000))::float8 as "hashesPerSecond",
--      encode(last.hash, 'hex') as hash,
--      last.blue_score::float8 as "blueScore",
--   …
--          timestamp
--        from chain_blocks
--   -    where to_timestamp(chain_time / 1000::double precision) < to_timestamp((start + 3600000) / 1000::double precision)
--   +    where to_timestamp(chain_time / 1000::double precision) < to_timestamp((start + 900000) / 1000::double precision)
--        order by
--          to_timestamp(chain_time / 1000::double precision) desc,

-- listHashRates of packages/api/src/rest-server/network-queries.ts: resolution=3h
--   like listHashRates of packages/api/src/rest-server/network-queries.ts, except:
--      samples as materialized (
--        select
--   -      start / 3600000 * 3600000 as start,
--   +      start / 10800000 * 10800000 as start,
--          sum(work) as work
--        from network_intervals
--   …
--            $2::bigint,
--            (
--   -          select start / 3600000 * 3600000
--   +          select start / 10800000 * 10800000
--              from network_intervals
--              where
--   …
--              order by start desc
--              limit 1
--   -        ) - 17996400000
--   +        ) - 53989200000
--          )
--        group by 1
--   …
--      )
--    select
--   -  (work * 1000 / greatest(least(start + 3600000, ends.sink) - greatest(start, ends.first), 1000))::float8 as "hashesPerSecond",
--   +  (work * 1000 / greatest(least(start + 10800000, ends.sink) - greatest(start, ends.first), 1000))::float8 as "hashesPerSecond",
--      encode(last.hash, 'hex') as hash,
--      last.blue_score::float8 as "blueScore",
--   …
--          timestamp
--        from chain_blocks
--   -    where to_timestamp(chain_time / 1000::double precision) < to_timestamp((start + 3600000) / 1000::double precision)
--   +    where to_timestamp(chain_time / 1000::double precision) < to_timestamp((start + 10800000) / 1000::double precision)
--        order by
--          to_timestamp(chain_time / 1000::double precision) desc,

-- listHashRates of packages/api/src/rest-server/network-queries.ts: resolution=1d
--   like listHashRates of packages/api/src/rest-server/network-queries.ts, except:
--      samples as materialized (
--        select
--   -      start / 3600000 * 3600000 as start,
--   +      start / 86400000 * 86400000 as start,
--          sum(work) as work
--        from network_intervals
--        where
--   -      length = 'hour'
--   +      length = 'day'
--          and start < $1
--          and start >= greatest(
--            $2::bigint,
--            (
--   -          select start / 3600000 * 3600000
--   +          select start / 86400000 * 86400000
--              from network_intervals
--              where
--   -            length = 'hour'
--   +            length = 'day'
--                and start < $3
--              order by start desc
--              limit 1
--   -        ) - 17996400000
--   +        ) - 431913600000
--          )
--        group by 1
--   …
--      )
--    select
--   -  (work * 1000 / greatest(least(start + 3600000, ends.sink) - greatest(start, ends.first), 1000))::float8 as "hashesPerSecond",
--   +  (work * 1000 / greatest(least(start + 86400000, ends.sink) - greatest(start, ends.first), 1000))::float8 as "hashesPerSecond",
--      encode(last.hash, 'hex') as hash,
--      last.blue_score::float8 as "blueScore",
--   …
--          timestamp
--        from chain_blocks
--   -    where to_timestamp(chain_time / 1000::double precision) < to_timestamp((start + 3600000) / 1000::double precision)
--   +    where to_timestamp(chain_time / 1000::double precision) < to_timestamp((start + 86400000) / 1000::double precision)
--        order by
--          to_timestamp(chain_time / 1000::double precision) desc,

-- listHashRates of packages/api/src/rest-server/network-queries.ts: resolution=7d
--   like listHashRates of packages/api/src/rest-server/network-queries.ts, except:
--      samples as materialized (
--        select
--   -      start / 86400000 * 86400000 as start,
--   +      start / 604800000 * 604800000 as start,
--          sum(work) as work
--        from network_intervals
--   …
--            $2::bigint,
--            (
--   -          select start / 86400000 * 86400000
--   +          select start / 604800000 * 604800000
--              from network_intervals
--              where
--   …
--              order by start desc
--              limit 1
--   -        ) - 431913600000
--   +        ) - 3023395200000
--          )
--        group by 1
--   …
--      )
--    select
--   -  (work * 1000 / greatest(least(start + 86400000, ends.sink) - greatest(start, ends.first), 1000))::float8 as "hashesPerSecond",
--   +  (work * 1000 / greatest(least(start + 604800000, ends.sink) - greatest(start, ends.first), 1000))::float8 as "hashesPerSecond",
--      encode(last.hash, 'hex') as hash,
--      last.blue_score::float8 as "blueScore",
--   …
--          timestamp
--        from chain_blocks
--   -    where to_timestamp(chain_time / 1000::double precision) < to_timestamp((start + 86400000) / 1000::double precision)
--   +    where to_timestamp(chain_time / 1000::double precision) < to_timestamp((start + 604800000) / 1000::double precision)
--        order by
--          to_timestamp(chain_time / 1000::double precision) desc,

-- getInfoHashrateHistoryDate --------------------------------------------------------------------------

-- listHashRates of packages/api/src/rest-server/network-queries.ts: in rest.sql, getInfoHashrateHistory

-- listHashRates of packages/api/src/rest-server/network-queries.ts: in rest.sql, getInfoHashrateHistory

-- getInfoVirtualChainBlueScore ------------------------------------------------------------------------

-- None but those of every request.

-- getInfoKaspad ---------------------------------------------------------------------------------------

-- None but those of every request.

-- getInfoFeeEstimate ----------------------------------------------------------------------------------

-- None but those of every request.

-- getInfoHealth ---------------------------------------------------------------------------------------

-- None but those of every request.

-- getInfoPrice ----------------------------------------------------------------------------------------

-- None but those of every request.

-- getInfoMarketData -----------------------------------------------------------------------------------

-- None but those of every request.

-- getInfoMarketcap ------------------------------------------------------------------------------------

-- None but those of every request.

-- getBlocks -------------------------------------------------------------------------------------------

-- listPath of packages/reads/src/selects/segments.ts: in node-rpc-proxy.sql, getVirtualChainFromBlock

-- mergeSetsAbove of packages/api/src/resources/blocks/get-blocks.ts: in node-rpc-proxy.sql, getBlocks

-- readJson of packages/reads/src/index-state/statement.ts: in node-rpc-proxy.sql, getBlocks

-- readJson of packages/reads/src/index-state/statement.ts: in node-rpc-proxy.sql, getBlocks

-- findMasses of packages/api/src/resources/blocks/get-blocks.ts: in node-rpc-proxy.sql, getBlocks

-- readJson of packages/reads/src/index-state/statement.ts: in node-rpc-proxy.sql, getBlocks

-- getBlocksHash ---------------------------------------------------------------------------------------

-- “block details yes no”: in block.sql, getBlockDetails

-- “block details no no”: in block.sql, getBlockDetails

-- getBlocksFromBluescore ------------------------------------------------------------------------------

-- listBlocksAt of packages/api/src/rest-server/queries.ts: blueScore
select encode(hash, 'hex') as hash
from blocks
where blue_score = $1::bigint
order by
  is_chain_block desc,
  id
limit 100;

-- findBody of packages/reads/src/index-state/state.ts: includeTransactions=true
with
  state as materialized (
    select
      checkpoint.version,
      blocks.blue_score as sink_blue_score
    from
    checkpoint
    join blocks on blocks.id = checkpoint.block_id
  )
select
  case when state.version is distinct from $1::bigint then index_state ()
  end as state,
  content.*
from
  state
  cross join lateral (
    with
      "page" as materialized (
        select contained.transaction_id as key
        from
          unnest($2::bytea[]) as requested (hash)
          join blocks on blocks.hash = requested.hash
          join block_transactions contained on contained.block_id = blocks.id
      ),
      "size" as materialized (
        select
          coalesce(
            sum(
              (
                estimate + case
                  when most > 1048576 then (
                    select coalesce(sum(2 * greatest(octet_length(script.script) - 35, 0)), 0)
                    from
                      transaction_inputs input
                      join scripts script on script.id = input.script_id
                    where input.transaction_id = key
                  )
                  else 0
                end
              )
            ),
            0
          ) > 67108864 as is_too_large
        from
          (
            select
              page.*,
              case
                when transactions.accepted_variant > 0 then (variant_of (transactions.id, transactions.accepted_variant)).json_bytes
                else transactions.json_bytes
              end + 2 * octet_length(transactions.payload) as estimate,
              sum(
                case
                  when transactions.accepted_variant > 0 then (variant_of (transactions.id, transactions.accepted_variant)).json_bytes
                  else transactions.json_bytes
                end + 2 * octet_length(transactions.payload) + 19930 * (
                  select count(*)
                  from transaction_inputs
                  where transaction_id = page.key
                )
              ) over () as most
            from
              page page
              join transactions on transactions.id = page.key
          ) estimated
      )
    select
      case
        when (
          select is_too_large
          from size
        ) then 'too large'
      end::text as problem,
      case
        when not (
          select is_too_large
          from size
        ) then 'true'::json
      end::json as body
  ) content;

-- listBlocksAt of packages/api/src/rest-server/queries.ts: blueScoreGte
select encode(hash, 'hex') as hash
from blocks
where
  blue_score = (
    select blue_score
    from blocks
    where blue_score >= $1
    order by blue_score
    limit 1
  )
order by
  is_chain_block desc,
  id
limit 100;

-- findBody of packages/reads/src/index-state/state.ts: in block.sql, getBlockDetails

-- findBody of packages/reads/src/index-state/state.ts: in block.sql, getBlockDetails

-- listBlocksAt of packages/api/src/rest-server/queries.ts: blueScoreLt
--   like listBlocksAt of packages/api/src/rest-server/queries.ts, except:
--        select blue_score
--        from blocks
--   -    where blue_score >= $1
--   -    order by blue_score
--   +    where blue_score < $1
--   +    order by blue_score desc
--        limit 1
--      )

-- getVirtualChain -------------------------------------------------------------------------------------

-- listChainBlocks of packages/api/src/rest-server/queries.ts
select
  encode(c.hash, 'hex') as hash,
  c.blue_score::float8 as "blueScore",
  c.daa_score::float8 as "daaScore",
  c.timestamp::float8 as timestamp,
  accepted.ids
from
  blocks b
  join chain_blocks c on c.block_id = b.id
  cross join lateral (
    select
      coalesce(
        array_agg(
          encode(t.transaction_id, 'hex')
          order by a.n
        ),
        '{}'
      ) as ids
    from
      unnest(c.accepted_transactions) with ordinality a (id, n)
      join transactions t on t.id = a.id
  ) accepted
where
  b.blue_score >= $1
  and b.blue_score < $2
  and b.is_chain_block
order by b.blue_score;

-- findBody of packages/reads/src/index-state/state.ts
select body::text as body
from
  (
    with
      state as materialized (
        select
          checkpoint.version,
          blocks.blue_score as sink_blue_score
        from
        checkpoint
        join blocks on blocks.id = checkpoint.block_id
      )
    select
      case when state.version is distinct from $1::bigint then index_state ()
      end as state,
      content.*
    from
      state
      cross join lateral (
        with
          "page" as materialized (
            select
              transactions.id as key,
              requested.position
            from
              unnest($2::bytea[]) with ordinality as requested (id, position)
              join transactions on substring(
                "transactions"."transaction_id"
                from 1 for 7
              ) = substring(
                requested.id
                from 1 for 7
              )
              and "transactions"."transaction_id" = requested.id
          ),
          "size" as materialized (
            select
              coalesce(
                sum(
                  (
                    estimate + case
                      when most > 1048576 then (
                        select coalesce(sum(2 * greatest(octet_length(script.script) - 35, 0)), 0)
                        from
                          transaction_inputs input
                          join scripts script on script.id = input.script_id
                        where input.transaction_id = key
                      )
                      else 0
                    end
                  )
                ),
                0
              ) > 67108864 as is_too_large
            from
              (
                select
                  page.*,
                  case
                    when transactions.accepted_variant > 0 then (variant_of (transactions.id, transactions.accepted_variant)).json_bytes
                    else transactions.json_bytes
                  end + 2 * octet_length(transactions.payload) as estimate,
                  sum(
                    case
                      when transactions.accepted_variant > 0 then (variant_of (transactions.id, transactions.accepted_variant)).json_bytes
                      else transactions.json_bytes
                    end + 2 * octet_length(transactions.payload) + 19930 * (
                      select count(*)
                      from transaction_inputs
                      where transaction_id = page.key
                    )
                  ) over () as most
                from
                  page page
                  join transactions on transactions.id = page.key
              ) estimated
          )
        select
          case
            when (
              select is_too_large
              from size
            ) then 'too large'
          end::text as problem,
          case
            when not (
              select is_too_large
              from size
            ) then json_build_object(
              'transactions',
              (
                select coalesce(json_agg(listed.item), '[]')
                from
                  (
                    select
                      (
                        select to_json(object)
                        from
                          (
                            select
                              encode("transactions"."transaction_id", 'hex') as "transactionId",
                              transactions.version as "version",
                              containing."blockTime" as "blockTime",
                              encode("subnetworks"."subnetwork_id", 'hex') as "subnetworkId",
                              encode(
                                case
                                  when transactions.accepted_variant > 0 then (variant_of (transactions.id, transactions.accepted_variant))."hash"
                                  else "transactions"."hash"
                                end,
                                'hex'
                              ) as "hash",
                              (
                                case
                                  when transactions.accepted_variant > 0 then (variant_of (transactions.id, transactions.accepted_variant))."storage_mass"
                                  else "transactions"."storage_mass"
                                end
                              )::text as "mass",
                              (
                                case
                                  when transactions.accepted_variant > 0 then (variant_of (transactions.id, transactions.accepted_variant))."compute_mass"
                                  else "transactions"."compute_mass"
                                end
                              )::text as "computeMass",
                              (
                                case
                                  when (
                                    "transactions"."accepting_index" is not null
                                    or is_pre_bootstrap ("transactions"."id")
                                  ) then coalesce(transactions.fee, inputs_minus_outputs (transactions.id))
                                  else fee_of_existing_utxos (transactions.id)
                                end
                              )::text as "fee",
                              "transactions"."lock_time"::text as "lockTime",
                              "transactions"."gas"::text as "gas",
                              case
                                when octet_length(transactions.payload) = 0 then ''
                                else '0x' || encode(transactions.payload, 'hex')
                              end as "payload",
                              containing."blockHashes" as "blockHashes",
                              containing."blockCount" as "blockCount",
                              (
                                "transactions"."accepting_index" is not null
                                or is_pre_bootstrap ("transactions"."id")
                              ) as "isAccepted",
                              encode("accepting"."hash", 'hex') as "acceptingBlockHash",
                              "accepting"."blue_score"::text as "acceptingBlockBlueScore",
                              case
                                when (
                                  "transactions"."accepting_index" is not null
                                  or is_pre_bootstrap ("transactions"."id")
                                ) then state.sink_blue_score - coalesce(accepting.blue_score, bootstrap_blue_score ())
                                else 0
                              end as "confirmations",
                              (
                                select coalesce(json_agg(listed.item), '[]')
                                from
                                  (
                                    select
                                      case
                                        when transactions.version >= 1 then (
                                          select to_json(object)
                                          from
                                            (
                                              select
                                                encode("transactions"."transaction_id", 'hex') as "transactionId",
                                                input.index as "index",
                                                encode(
                                                  case
                                                    when transactions.accepted_variant > 0 then (variant_input (input.transaction_id, transactions.accepted_variant, input.index))."signature_script"
                                                    else "input"."signature_script"
                                                  end,
                                                  'hex'
                                                ) as "signatureScript",
                                                "input"."sequence"::text as "sequence",
                                                case
                                                  when transactions.accepted_variant > 0 then (variant_input (input.transaction_id, transactions.accepted_variant, input.index))."sig_op_count"
                                                  else "input"."sig_op_count"
                                                end as "sigOpCount",
                                                case
                                                  when transactions.accepted_variant > 0 then (variant_input (input.transaction_id, transactions.accepted_variant, input.index))."compute_budget"
                                                  else "input"."compute_budget"
                                                end as "computeBudget",
                                                case
                                                  when not (
                                                    (
                                                      "transactions"."accepting_index" is not null
                                                      or is_pre_bootstrap ("transactions"."id")
                                                    )
                                                    or previous.accepting_index is not null
                                                    or is_pre_bootstrap (input.previous_transaction_id)
                                                  ) then null
                                                  when previous.id is null then (
                                                    select encode(older.covenant_id, 'hex')
                                                    from bootstrap_utxos older
                                                    where
                                                      older.transaction_id = input.previous_transaction_id
                                                      and older.index = input.previous_index
                                                  )
                                                  else (
                                                    select encode(created.covenant_id, 'hex')
                                                    from transaction_outputs created
                                                    where
                                                      created.transaction_id = input.previous_transaction_id
                                                      and created.index = input.previous_index
                                                      and created.covenant_id is not null
                                                  )
                                                end as "spentCovenantId",
                                                case
                                                  when (
                                                    (
                                                      "transactions"."accepting_index" is not null
                                                      or is_pre_bootstrap ("transactions"."id")
                                                    )
                                                    or previous.accepting_index is not null
                                                    or is_pre_bootstrap (input.previous_transaction_id)
                                                  ) then (
                                                    select to_json(object)
                                                    from
                                                      (
                                                        select
                                                          encode(
                                                            coalesce(
                                                              previous.transaction_id,
                                                              nullif(input.previous_transaction_hash, ''),
                                                              pre_bootstrap_transaction_id (input.previous_transaction_id)
                                                            ),
                                                            'hex'
                                                          ) as "transactionId",
                                                          input.previous_index as "index",
                                                          "input"."amount"::text as "amount",
                                                          encode("script"."script", 'hex') as "scriptPublicKey",
                                                          script.address as "scriptPublicKeyAddress",
                                                          script.type as "scriptPublicKeyType"
                                                      ) object
                                                  )
                                                  else (
                                                    select to_json(object)
                                                    from
                                                      (
                                                        select
                                                          encode(
                                                            coalesce(
                                                              previous.transaction_id,
                                                              nullif(input.previous_transaction_hash, ''),
                                                              pre_bootstrap_transaction_id (input.previous_transaction_id)
                                                            ),
                                                            'hex'
                                                          ) as "transactionId",
                                                          input.previous_index as "index",
                                                          null as "amount",
                                                          null as "scriptPublicKey",
                                                          null as "scriptPublicKeyAddress",
                                                          null as "scriptPublicKeyType"
                                                      ) object
                                                  )
                                                end as "previousOutput"
                                            ) object
                                        )
                                        else (
                                          select to_json(object)
                                          from
                                            (
                                              select
                                                encode("transactions"."transaction_id", 'hex') as "transactionId",
                                                input.index as "index",
                                                encode(
                                                  case
                                                    when transactions.accepted_variant > 0 then (variant_input (input.transaction_id, transactions.accepted_variant, input.index))."signature_script"
                                                    else "input"."signature_script"
                                                  end,
                                                  'hex'
                                                ) as "signatureScript",
                                                "input"."sequence"::text as "sequence",
                                                case
                                                  when transactions.accepted_variant > 0 then (variant_input (input.transaction_id, transactions.accepted_variant, input.index))."sig_op_count"
                                                  else "input"."sig_op_count"
                                                end as "sigOpCount",
                                                case
                                                  when not (
                                                    (
                                                      "transactions"."accepting_index" is not null
                                                      or is_pre_bootstrap ("transactions"."id")
                                                    )
                                                    or previous.accepting_index is not null
                                                    or is_pre_bootstrap (input.previous_transaction_id)
                                                  ) then null
                                                  when previous.id is null then (
                                                    select encode(older.covenant_id, 'hex')
                                                    from bootstrap_utxos older
                                                    where
                                                      older.transaction_id = input.previous_transaction_id
                                                      and older.index = input.previous_index
                                                  )
                                                  else (
                                                    select encode(created.covenant_id, 'hex')
                                                    from transaction_outputs created
                                                    where
                                                      created.transaction_id = input.previous_transaction_id
                                                      and created.index = input.previous_index
                                                      and created.covenant_id is not null
                                                  )
                                                end as "spentCovenantId",
                                                case
                                                  when (
                                                    (
                                                      "transactions"."accepting_index" is not null
                                                      or is_pre_bootstrap ("transactions"."id")
                                                    )
                                                    or previous.accepting_index is not null
                                                    or is_pre_bootstrap (input.previous_transaction_id)
                                                  ) then (
                                                    select to_json(object)
                                                    from
                                                      (
                                                        select
                                                          encode(
                                                            coalesce(
                                                              previous.transaction_id,
                                                              nullif(input.previous_transaction_hash, ''),
                                                              pre_bootstrap_transaction_id (input.previous_transaction_id)
                                                            ),
                                                            'hex'
                                                          ) as "transactionId",
                                                          input.previous_index as "index",
                                                          "input"."amount"::text as "amount",
                                                          encode("script"."script", 'hex') as "scriptPublicKey",
                                                          script.address as "scriptPublicKeyAddress",
                                                          script.type as "scriptPublicKeyType"
                                                      ) object
                                                  )
                                                  else (
                                                    select to_json(object)
                                                    from
                                                      (
                                                        select
                                                          encode(
                                                            coalesce(
                                                              previous.transaction_id,
                                                              nullif(input.previous_transaction_hash, ''),
                                                              pre_bootstrap_transaction_id (input.previous_transaction_id)
                                                            ),
                                                            'hex'
                                                          ) as "transactionId",
                                                          input.previous_index as "index",
                                                          null as "amount",
                                                          null as "scriptPublicKey",
                                                          null as "scriptPublicKeyAddress",
                                                          null as "scriptPublicKeyType"
                                                      ) object
                                                  )
                                                end as "previousOutput"
                                            ) object
                                        )
                                      end as item
                                    from
                                      transaction_inputs input
                                      left join transactions previous on previous.id = input.previous_transaction_id
                                      left join scripts script on script.id = input.script_id
                                    where input.transaction_id = transactions.id
                                    order by input.index
                                  ) listed
                              ) as "inputs",
                              (
                                select coalesce(json_agg(listed.item), '[]')
                                from
                                  (
                                    select
                                      case
                                        when output.covenant_id is not null then (
                                          select to_json(object)
                                          from
                                            (
                                              select
                                                encode("transactions"."transaction_id", 'hex') as "transactionId",
                                                output.index as "index",
                                                "output"."amount"::text as "amount",
                                                encode("script"."script", 'hex') as "scriptPublicKey",
                                                script.address as "scriptPublicKeyAddress",
                                                script.type as "scriptPublicKeyType",
                                                (
                                                  select to_json(object)
                                                  from
                                                    (
                                                      select
                                                        output.covenant_authorizing_input as "authorizingInput",
                                                        encode("output"."covenant_id", 'hex') as "covenantId"
                                                    ) object
                                                ) as "covenant",
                                                coalesce(spending.accepted, spending.other) as "spentBy",
                                                spending.accepted is not null as "isSpent"
                                            ) object
                                        )
                                        else (
                                          select to_json(object)
                                          from
                                            (
                                              select
                                                encode("transactions"."transaction_id", 'hex') as "transactionId",
                                                output.index as "index",
                                                "output"."amount"::text as "amount",
                                                encode("script"."script", 'hex') as "scriptPublicKey",
                                                script.address as "scriptPublicKeyAddress",
                                                script.type as "scriptPublicKeyType",
                                                coalesce(spending.accepted, spending.other) as "spentBy",
                                                spending.accepted is not null as "isSpent"
                                            ) object
                                        )
                                      end as item
                                    from
                                      transaction_outputs output
                                      join scripts script on script.id = output.script_id
                                      cross join lateral (
                                        select
                                          coalesce(
                                            min(encode(spender.transaction_id, 'hex')) filter (
                                              where
                                                (
                                                  "spender"."accepting_index" is not null
                                                  or is_pre_bootstrap ("spender"."id")
                                                )
                                            ),
                                            case when count(*) = 4 then encode(accepted_spender_id (output.transaction_id, output.index), 'hex')
                                            end
                                          ) as accepted,
                                          min(encode(spender.transaction_id, 'hex')) as other
                                        from
                                          (
                                            select input.transaction_id as id
                                            from transaction_inputs input
                                            where
                                              input.previous_transaction_id = output.transaction_id
                                              and input.previous_index = output.index
                                            limit 4
                                          ) found
                                          join transactions spender on spender.id = found.id
                                      ) spending
                                    where output.transaction_id = transactions.id
                                    order by output.index
                                  ) listed
                              ) as "outputs",
                              accepting.timestamp as "acceptingBlockTime"
                          ) object
                      ) as item
                    from
                      page
                      join transactions on transactions.id = page.key
                      join subnetworks on subnetworks.id = transactions.subnetwork_id
                      left join chain_blocks accepting on accepting.index = transactions.accepting_index
                      cross join lateral (
                        select
                          json_agg(
                            encode(hash, 'hex')
                            order by
                              timestamp,
                              hash
                          ) filter (
                            where position <= 16
                          ) as "blockHashes",
                          min(timestamp) filter (
                            where
                              transactions.accepting_index is null
                              or is_accepting
                          ) as "blockTime",
                          coalesce(
                            case when count(*) > 16 then block_count_of (transactions.id)
                            end,
                            count(*)
                          ) as "blockCount"
                        from
                          (
                            select
                              blocks.hash,
                              blocks.timestamp,
                              blocks.merging_block_id = accepting.block_id as is_accepting,
                              row_number() over (
                                order by
                                  blocks.merging_block_id = accepting.block_id desc nulls last,
                                  blocks.merging_block_id nulls last,
                                  blocks.timestamp,
                                  blocks.hash
                              ) as position
                            from
                              (
                                select
                                  array(
                                    select contained.block_id
                                    from block_transactions contained
                                    where contained.transaction_id = transactions.id
                                    order by contained.block_id
                                    limit 32
                                  ) as ids
                                offset 0
                              ) first
                              cross join lateral unnest(
                                case
                                  when cardinality(first.ids) = 32 then blocks_with_accepting (transactions.id, accepting.block_id, first.ids)
                                  else first.ids
                                end
                              ) as contained (block_id)
                              join blocks on blocks.id = contained.block_id
                          ) found
                      ) containing
                    order by page.position
                  ) listed
              )
            )
          end::json as body
      ) content
  ) content;

-- findBody of packages/reads/src/index-state/state.ts: limit=100
with
  state as materialized (
    select
      checkpoint.version,
      blocks.blue_score as sink_blue_score
    from
    checkpoint
    join blocks on blocks.id = checkpoint.block_id
  )
select
  case when state.version is distinct from $1::bigint then index_state ()
  end as state,
  content.*
from
  state
  cross join lateral (
    with
      "page" as materialized (
        select
          transactions.id as key,
          requested.position
        from
          unnest($2::bytea[]) with ordinality as requested (id, position)
          join transactions on substring(
            "transactions"."transaction_id"
            from 1 for 7
          ) = substring(
            requested.id
            from 1 for 7
          )
          and "transactions"."transaction_id" = requested.id
      ),
      "size" as materialized (
        select
          coalesce(
            sum(
              (
                estimate + case
                  when most > 1048576 then (
                    select coalesce(sum(2 * greatest(octet_length(script.script) - 35, 0)), 0)
                    from
                      transaction_inputs input
                      join scripts script on script.id = input.script_id
                    where input.transaction_id = key
                  )
                  else 0
                end
              )
            ),
            0
          ) > 67108864 as is_too_large
        from
          (
            select
              page.*,
              case
                when transactions.accepted_variant > 0 then (variant_of (transactions.id, transactions.accepted_variant)).json_bytes
                else transactions.json_bytes
              end + 2 * octet_length(transactions.payload) as estimate,
              sum(
                case
                  when transactions.accepted_variant > 0 then (variant_of (transactions.id, transactions.accepted_variant)).json_bytes
                  else transactions.json_bytes
                end + 2 * octet_length(transactions.payload) + 19930 * (
                  select count(*)
                  from transaction_inputs
                  where transaction_id = page.key
                )
              ) over () as most
            from
              page page
              join transactions on transactions.id = page.key
          ) estimated
      )
    select
      case
        when (
          select is_too_large
          from size
        ) then 'too large'
      end::text as problem,
      case
        when not (
          select is_too_large
          from size
        ) then 'true'::json
      end::json as body
  ) content;

-- getInfoGetVscpFromBlock -----------------------------------------------------------------------------

-- listPath of packages/reads/src/selects/segments.ts: in node-rpc-proxy.sql, getVirtualChainFromBlock

-- listChain of packages/api/src/resources/chain/virtual-chain.ts: in node-rpc-proxy.sql, getVirtualChainFromBlock

-- loadAccepted of packages/api/src/resources/chain/virtual-chain.ts: in node-rpc-proxy.sql, getVirtualChainFromBlock

-- getTransactionsCount --------------------------------------------------------------------------------

-- countAllTransactions of packages/api/src/rest-server/queries.ts
select
  coalesce(sum(chain_blocks), 0)::bigint as coinbase,
  coalesce(sum(transactions), 0)::bigint as regular,
  (
    select timestamp
    from chain_blocks
    where
      index = (
        select chain_index
        from
        checkpoint
      )
  ) as time
from network_intervals
where length = 'day';

-- getTransactionsCountDate ----------------------------------------------------------------------------

-- findFirstHour of packages/api/src/rest-server/queries.ts
select start
from network_intervals
where length = 'hour'
order by start
limit 1;

-- countTransactions of packages/api/src/rest-server/queries.ts
select
  start,
  chain_blocks as coinbase,
  transactions as regular
from network_intervals
where
  length = 'hour'
  and start >= $1
  and start < $2
order by start;

-- getTransactionsTransactionId ------------------------------------------------------------------------

-- “transactions of rest-server”
with
  state as materialized (
    select
      checkpoint.version,
      blocks.blue_score as sink_blue_score
    from
    checkpoint
    join blocks on blocks.id = checkpoint.block_id
  )
select
  case when state.version is distinct from $1::bigint then index_state ()
  end as state,
  content.*
from
  state
  cross join lateral (
    with
      "page" as materialized (
        select
          transactions.id as key,
          requested.position
        from
          unnest($2::bytea[]) with ordinality as requested (id, position)
          join transactions on substring(
            "transactions"."transaction_id"
            from 1 for 7
          ) = substring(
            requested.id
            from 1 for 7
          )
          and "transactions"."transaction_id" = requested.id
      ),
      "size" as materialized (
        select
          coalesce(
            sum(
              (
                estimate + case
                  when most > 1048576 then (
                    select coalesce(sum(2 * greatest(octet_length(script.script) - 35, 0)), 0)
                    from
                      transaction_inputs input
                      join scripts script on script.id = input.script_id
                    where input.transaction_id = key
                  )
                  else 0
                end
              )
            ),
            0
          ) > 67108864 as is_too_large
        from
          (
            select
              page.*,
              case
                when transactions.accepted_variant > 0 then (variant_of (transactions.id, transactions.accepted_variant)).json_bytes
                else transactions.json_bytes
              end + 2 * octet_length(transactions.payload) as estimate,
              sum(
                case
                  when transactions.accepted_variant > 0 then (variant_of (transactions.id, transactions.accepted_variant)).json_bytes
                  else transactions.json_bytes
                end + 2 * octet_length(transactions.payload) + 19930 * (
                  select count(*)
                  from transaction_inputs
                  where transaction_id = page.key
                )
              ) over () as most
            from
              page page
              join transactions on transactions.id = page.key
          ) estimated
      )
    select
      case
        when (
          select is_too_large
          from size
        ) then 'too large'
      end::text as problem,
      case
        when not (
          select is_too_large
          from size
        ) then json_build_object(
          'transactions',
          (
            select coalesce(json_agg(listed.item), '[]')
            from
              (
                select
                  (
                    select to_json(object)
                    from
                      (
                        select
                          encode("transactions"."transaction_id", 'hex') as "transactionId",
                          transactions.version as "version",
                          containing."blockTime" as "blockTime",
                          encode("subnetworks"."subnetwork_id", 'hex') as "subnetworkId",
                          encode(
                            case
                              when transactions.accepted_variant > 0 then (variant_of (transactions.id, transactions.accepted_variant))."hash"
                              else "transactions"."hash"
                            end,
                            'hex'
                          ) as "hash",
                          (
                            case
                              when transactions.accepted_variant > 0 then (variant_of (transactions.id, transactions.accepted_variant))."storage_mass"
                              else "transactions"."storage_mass"
                            end
                          )::text as "mass",
                          (
                            case
                              when transactions.accepted_variant > 0 then (variant_of (transactions.id, transactions.accepted_variant))."compute_mass"
                              else "transactions"."compute_mass"
                            end
                          )::text as "computeMass",
                          (
                            case
                              when (
                                "transactions"."accepting_index" is not null
                                or is_pre_bootstrap ("transactions"."id")
                              ) then coalesce(transactions.fee, inputs_minus_outputs (transactions.id))
                              else fee_of_existing_utxos (transactions.id)
                            end
                          )::text as "fee",
                          "transactions"."lock_time"::text as "lockTime",
                          "transactions"."gas"::text as "gas",
                          case
                            when octet_length(transactions.payload) = 0 then ''
                            else '0x' || encode(transactions.payload, 'hex')
                          end as "payload",
                          containing."blockHashes" as "blockHashes",
                          containing."blockCount" as "blockCount",
                          (
                            "transactions"."accepting_index" is not null
                            or is_pre_bootstrap ("transactions"."id")
                          ) as "isAccepted",
                          encode("accepting"."hash", 'hex') as "acceptingBlockHash",
                          "accepting"."blue_score"::text as "acceptingBlockBlueScore",
                          case
                            when (
                              "transactions"."accepting_index" is not null
                              or is_pre_bootstrap ("transactions"."id")
                            ) then state.sink_blue_score - coalesce(accepting.blue_score, bootstrap_blue_score ())
                            else 0
                          end as "confirmations",
                          (
                            select coalesce(json_agg(listed.item), '[]')
                            from
                              (
                                select
                                  case
                                    when transactions.version >= 1 then (
                                      select to_json(object)
                                      from
                                        (
                                          select
                                            encode("transactions"."transaction_id", 'hex') as "transactionId",
                                            input.index as "index",
                                            encode(
                                              case
                                                when transactions.accepted_variant > 0 then (variant_input (input.transaction_id, transactions.accepted_variant, input.index))."signature_script"
                                                else "input"."signature_script"
                                              end,
                                              'hex'
                                            ) as "signatureScript",
                                            "input"."sequence"::text as "sequence",
                                            case
                                              when transactions.accepted_variant > 0 then (variant_input (input.transaction_id, transactions.accepted_variant, input.index))."sig_op_count"
                                              else "input"."sig_op_count"
                                            end as "sigOpCount",
                                            case
                                              when transactions.accepted_variant > 0 then (variant_input (input.transaction_id, transactions.accepted_variant, input.index))."compute_budget"
                                              else "input"."compute_budget"
                                            end as "computeBudget",
                                            case
                                              when not (
                                                (
                                                  "transactions"."accepting_index" is not null
                                                  or is_pre_bootstrap ("transactions"."id")
                                                )
                                                or previous.accepting_index is not null
                                                or is_pre_bootstrap (input.previous_transaction_id)
                                              ) then null
                                              when previous.id is null then (
                                                select encode(older.covenant_id, 'hex')
                                                from bootstrap_utxos older
                                                where
                                                  older.transaction_id = input.previous_transaction_id
                                                  and older.index = input.previous_index
                                              )
                                              else (
                                                select encode(created.covenant_id, 'hex')
                                                from transaction_outputs created
                                                where
                                                  created.transaction_id = input.previous_transaction_id
                                                  and created.index = input.previous_index
                                                  and created.covenant_id is not null
                                              )
                                            end as "spentCovenantId",
                                            case
                                              when (
                                                (
                                                  "transactions"."accepting_index" is not null
                                                  or is_pre_bootstrap ("transactions"."id")
                                                )
                                                or previous.accepting_index is not null
                                                or is_pre_bootstrap (input.previous_transaction_id)
                                              ) then (
                                                select to_json(object)
                                                from
                                                  (
                                                    select
                                                      encode(
                                                        coalesce(
                                                          previous.transaction_id,
                                                          nullif(input.previous_transaction_hash, ''),
                                                          pre_bootstrap_transaction_id (input.previous_transaction_id)
                                                        ),
                                                        'hex'
                                                      ) as "transactionId",
                                                      input.previous_index as "index",
                                                      "input"."amount"::text as "amount",
                                                      encode("script"."script", 'hex') as "scriptPublicKey",
                                                      script.address as "scriptPublicKeyAddress",
                                                      script.type as "scriptPublicKeyType"
                                                  ) object
                                              )
                                              else (
                                                select to_json(object)
                                                from
                                                  (
                                                    select
                                                      encode(
                                                        coalesce(
                                                          previous.transaction_id,
                                                          nullif(input.previous_transaction_hash, ''),
                                                          pre_bootstrap_transaction_id (input.previous_transaction_id)
                                                        ),
                                                        'hex'
                                                      ) as "transactionId",
                                                      input.previous_index as "index",
                                                      null as "amount",
                                                      null as "scriptPublicKey",
                                                      null as "scriptPublicKeyAddress",
                                                      null as "scriptPublicKeyType"
                                                  ) object
                                              )
                                            end as "previousOutput"
                                        ) object
                                    )
                                    else (
                                      select to_json(object)
                                      from
                                        (
                                          select
                                            encode("transactions"."transaction_id", 'hex') as "transactionId",
                                            input.index as "index",
                                            encode(
                                              case
                                                when transactions.accepted_variant > 0 then (variant_input (input.transaction_id, transactions.accepted_variant, input.index))."signature_script"
                                                else "input"."signature_script"
                                              end,
                                              'hex'
                                            ) as "signatureScript",
                                            "input"."sequence"::text as "sequence",
                                            case
                                              when transactions.accepted_variant > 0 then (variant_input (input.transaction_id, transactions.accepted_variant, input.index))."sig_op_count"
                                              else "input"."sig_op_count"
                                            end as "sigOpCount",
                                            case
                                              when not (
                                                (
                                                  "transactions"."accepting_index" is not null
                                                  or is_pre_bootstrap ("transactions"."id")
                                                )
                                                or previous.accepting_index is not null
                                                or is_pre_bootstrap (input.previous_transaction_id)
                                              ) then null
                                              when previous.id is null then (
                                                select encode(older.covenant_id, 'hex')
                                                from bootstrap_utxos older
                                                where
                                                  older.transaction_id = input.previous_transaction_id
                                                  and older.index = input.previous_index
                                              )
                                              else (
                                                select encode(created.covenant_id, 'hex')
                                                from transaction_outputs created
                                                where
                                                  created.transaction_id = input.previous_transaction_id
                                                  and created.index = input.previous_index
                                                  and created.covenant_id is not null
                                              )
                                            end as "spentCovenantId",
                                            case
                                              when (
                                                (
                                                  "transactions"."accepting_index" is not null
                                                  or is_pre_bootstrap ("transactions"."id")
                                                )
                                                or previous.accepting_index is not null
                                                or is_pre_bootstrap (input.previous_transaction_id)
                                              ) then (
                                                select to_json(object)
                                                from
                                                  (
                                                    select
                                                      encode(
                                                        coalesce(
                                                          previous.transaction_id,
                                                          nullif(input.previous_transaction_hash, ''),
                                                          pre_bootstrap_transaction_id (input.previous_transaction_id)
                                                        ),
                                                        'hex'
                                                      ) as "transactionId",
                                                      input.previous_index as "index",
                                                      "input"."amount"::text as "amount",
                                                      encode("script"."script", 'hex') as "scriptPublicKey",
                                                      script.address as "scriptPublicKeyAddress",
                                                      script.type as "scriptPublicKeyType"
                                                  ) object
                                              )
                                              else (
                                                select to_json(object)
                                                from
                                                  (
                                                    select
                                                      encode(
                                                        coalesce(
                                                          previous.transaction_id,
                                                          nullif(input.previous_transaction_hash, ''),
                                                          pre_bootstrap_transaction_id (input.previous_transaction_id)
                                                        ),
                                                        'hex'
                                                      ) as "transactionId",
                                                      input.previous_index as "index",
                                                      null as "amount",
                                                      null as "scriptPublicKey",
                                                      null as "scriptPublicKeyAddress",
                                                      null as "scriptPublicKeyType"
                                                  ) object
                                              )
                                            end as "previousOutput"
                                        ) object
                                    )
                                  end as item
                                from
                                  transaction_inputs input
                                  left join transactions previous on previous.id = input.previous_transaction_id
                                  left join scripts script on script.id = input.script_id
                                where input.transaction_id = transactions.id
                                order by input.index
                              ) listed
                          ) as "inputs",
                          (
                            select coalesce(json_agg(listed.item), '[]')
                            from
                              (
                                select
                                  case
                                    when output.covenant_id is not null then (
                                      select to_json(object)
                                      from
                                        (
                                          select
                                            encode("transactions"."transaction_id", 'hex') as "transactionId",
                                            output.index as "index",
                                            "output"."amount"::text as "amount",
                                            encode("script"."script", 'hex') as "scriptPublicKey",
                                            script.address as "scriptPublicKeyAddress",
                                            script.type as "scriptPublicKeyType",
                                            (
                                              select to_json(object)
                                              from
                                                (
                                                  select
                                                    output.covenant_authorizing_input as "authorizingInput",
                                                    encode("output"."covenant_id", 'hex') as "covenantId"
                                                ) object
                                            ) as "covenant",
                                            coalesce(spending.accepted, spending.other) as "spentBy",
                                            spending.accepted is not null as "isSpent"
                                        ) object
                                    )
                                    else (
                                      select to_json(object)
                                      from
                                        (
                                          select
                                            encode("transactions"."transaction_id", 'hex') as "transactionId",
                                            output.index as "index",
                                            "output"."amount"::text as "amount",
                                            encode("script"."script", 'hex') as "scriptPublicKey",
                                            script.address as "scriptPublicKeyAddress",
                                            script.type as "scriptPublicKeyType",
                                            coalesce(spending.accepted, spending.other) as "spentBy",
                                            spending.accepted is not null as "isSpent"
                                        ) object
                                    )
                                  end as item
                                from
                                  transaction_outputs output
                                  join scripts script on script.id = output.script_id
                                  cross join lateral (
                                    select
                                      coalesce(
                                        min(encode(spender.transaction_id, 'hex')) filter (
                                          where
                                            (
                                              "spender"."accepting_index" is not null
                                              or is_pre_bootstrap ("spender"."id")
                                            )
                                        ),
                                        case when count(*) = 4 then encode(accepted_spender_id (output.transaction_id, output.index), 'hex')
                                        end
                                      ) as accepted,
                                      min(encode(spender.transaction_id, 'hex')) as other
                                    from
                                      (
                                        select input.transaction_id as id
                                        from transaction_inputs input
                                        where
                                          input.previous_transaction_id = output.transaction_id
                                          and input.previous_index = output.index
                                        limit 4
                                      ) found
                                      join transactions spender on spender.id = found.id
                                  ) spending
                                where output.transaction_id = transactions.id
                                order by output.index
                              ) listed
                          ) as "outputs",
                          accepting.timestamp as "acceptingBlockTime"
                      ) object
                  ) as item
                from
                  page
                  join transactions on transactions.id = page.key
                  join subnetworks on subnetworks.id = transactions.subnetwork_id
                  left join chain_blocks accepting on accepting.index = transactions.accepting_index
                  cross join lateral (
                    select
                      json_agg(
                        encode(hash, 'hex')
                        order by
                          timestamp,
                          hash
                      ) filter (
                        where position <= 16
                      ) as "blockHashes",
                      min(timestamp) filter (
                        where
                          transactions.accepting_index is null
                          or is_accepting
                      ) as "blockTime",
                      coalesce(
                        case when count(*) > 16 then block_count_of (transactions.id)
                        end,
                        count(*)
                      ) as "blockCount"
                    from
                      (
                        select
                          blocks.hash,
                          blocks.timestamp,
                          blocks.merging_block_id = accepting.block_id as is_accepting,
                          row_number() over (
                            order by
                              blocks.merging_block_id = accepting.block_id desc nulls last,
                              blocks.merging_block_id nulls last,
                              blocks.timestamp,
                              blocks.hash
                          ) as position
                        from
                          (
                            select
                              array(
                                select contained.block_id
                                from block_transactions contained
                                where contained.transaction_id = transactions.id
                                order by contained.block_id
                                limit 32
                              ) as ids
                            offset 0
                          ) first
                          cross join lateral unnest(
                            case
                              when cardinality(first.ids) = 32 then blocks_with_accepting (transactions.id, accepting.block_id, first.ids)
                              else first.ids
                            end
                          ) as contained (block_id)
                          join blocks on blocks.id = contained.block_id
                      ) found
                  ) containing
                order by page.position
              ) listed
          )
        )
      end::json as body
  ) content;

-- postTransactionsSearch ------------------------------------------------------------------------------

-- findBody of packages/reads/src/index-state/state.ts: in rest.sql, getVirtualChain

-- listChainBlocks of packages/api/src/rest-server/queries.ts: in rest.sql, getVirtualChain

-- postTransactionsAcceptance --------------------------------------------------------------------------

-- listAcceptance of packages/api/src/rest-server/queries.ts
select
  asked.id,
  c.index is not null
  or is_pre_bootstrap_id (asked.id) as accepted,
  encode(c.hash, 'hex') as hash,
  c.blue_score as "blueScore",
  c.timestamp
from
  unnest($1::text[]) with ordinality asked (id, n)
  left join transactions t on substring(
    "t"."transaction_id"
    from 1 for 7
  ) = substring(
    decode(asked.id, 'hex')
    from 1 for 7
  )
  and "t"."transaction_id" = decode(asked.id, 'hex')
  left join chain_blocks c on c.index = t.accepting_index
order by asked.n;

-- getAddressesNames -----------------------------------------------------------------------------------

-- listNames of packages/api/src/rest-server/queries.ts
select
  address,
  name
from tags
order by address
limit $1;

-- getAddressesTop -------------------------------------------------------------------------------------

-- “richest addresses of rest-server”
with
  state as materialized (
    select
      checkpoint.version,
      blocks.blue_score as sink_blue_score
    from
    checkpoint
    join blocks on blocks.id = checkpoint.block_id
  )
select
  case when state.version is distinct from $1::bigint then index_state ()
  end as state,
  content.*
from
  state
  cross join lateral (
    select
      null::text as problem,
      (
        select coalesce(json_agg(listed.item), '[]')
        from
          (
            select
              (
                select to_json(object)
                from
                  (
                    select
                      sink.timestamp as "timestamp",
                      (
                        select coalesce(json_agg(listed.item), '[]')
                        from
                          (
                            select
                              (
                                select to_json(object)
                                from
                                  (
                                    select
                                      richest.position - 1 as "rank",
                                      richest.address as "address",
                                      richest.balance / 100000000 as "amount"
                                  ) object
                              ) as item
                            from
                              (
                                select
                                  top.*,
                                  row_number() over (
                                    order by
                                      top.balance desc,
                                      top.script_id desc
                                  ) as position
                                from
                                  (
                                    select
                                      b.script_id,
                                      b.balance,
                                      s.address
                                    from
                                      balances b
                                      join scripts s on s.id = b.script_id
                                    where
                                      b.balance > 0
                                      and s.address is not null
                                    order by
                                      b.balance desc,
                                      b.script_id desc
                                    limit 1000
                                  ) top
                              ) richest
                            order by richest.position
                          ) listed
                      ) as "ranking"
                  ) object
              ) as item
            from
            checkpoint
            join blocks sink on sink.id = checkpoint.block_id
          ) listed
      )::json as body
  ) content;

-- getAddressesDistribution ----------------------------------------------------------------------------

-- listTiers of packages/api/src/rest-server/queries.ts
select
  tier,
  addresses,
  balance::text as balance
from balance_tiers
where addresses > 0
order by tier;

-- getAddressesAddressBalance --------------------------------------------------------------------------

-- listBalances of packages/api/src/rest-server/queries.ts
select
  asked.address,
  coalesce(b.balance, 0)::text as balance
from
  unnest($1::text[]) with ordinality asked (address, n)
  left join scripts s on s.address = asked.address
  left join balances b on b.script_id = s.id
order by asked.n;

-- getAddressesAddressUtxos ----------------------------------------------------------------------------

-- listUtxos of packages/api/src/rest-server/queries.ts
with
  newest as materialized (
    select
      s.address,
      s.script,
      held.*
    from
      scripts s
      cross join lateral (
        select
          transaction_id,
          index,
          amount,
          block_daa_score,
          is_coinbase
        from utxos
        where script_id = s.id
        order by
          transaction_id desc,
          index desc
        limit $1
      ) held
    where s.address = any ($2::text[])
    order by
      held.transaction_id desc,
      held.index desc
    limit $3
  )
select
  u.address,
  encode(
    coalesce(
      t.transaction_id,
      (
        select e.transaction_id
        from pre_bootstrap_transactions e
        where e.id = u.transaction_id
      )
    ),
    'hex'
  ) as id,
  u.index,
  u.amount::text as amount,
  encode(u.script, 'hex') as script,
  u.block_daa_score::text as "blockDaaScore",
  u.is_coinbase as "isCoinbase"
from
  newest u
  left join lateral (
    select transaction_id
    from transactions
    where id = u.transaction_id
    limit 1
  ) t on true
order by
  u.transaction_id desc,
  u.index desc;

-- getAddressesAddressName -----------------------------------------------------------------------------

-- listNames of packages/api/src/rest-server/queries.ts
select
  address,
  name
from tags
where address = $1
order by address
limit $2;

-- getAddressesAddressTransactionsCount ----------------------------------------------------------------

-- countTransactionsOf of packages/api/src/rest-server/queries.ts
select
  (
    coalesce(b.transaction_count, 0) + (
      select coalesce(sum(cardinality(array_positions(script_ids, s.id))), 0)
      from unmerged_touches
    )
  ) as count
from
  scripts s
  left join balances b on b.script_id = s.id
where s.address = $1;

-- getAddressesAddressFullTransactions -----------------------------------------------------------------

-- “newest transactions of rest-server”
with
  state as materialized (
    select
      checkpoint.version,
      blocks.blue_score as sink_blue_score
    from
    checkpoint
    join blocks on blocks.id = checkpoint.block_id
  )
select
  case when state.version is distinct from $1::bigint then index_state ()
  end as state,
  content.*
from
  state
  cross join lateral (
    with
      "script" as materialized (
        select
          (
            select id
            from scripts
            where address = $2::text
          ) as id
      ),
      "page" as materialized (
        select keys.key
        from
          unnest(
            array(
              select distinct
                transaction_id
              from script_deltas
              where
                script_id = (
                  select id
                  from script
                )
              order by transaction_id desc
              limit $3::bigint
              offset $4::bigint
            )
          ) as keys (key)
      ),
      "size" as materialized (
        select
          coalesce(
            sum(
              (
                estimate + case
                  when most > 1048576 then (
                    select coalesce(sum(2 * greatest(octet_length(script.script) - 35, 0)), 0)
                    from
                      transaction_inputs input
                      join scripts script on script.id = input.script_id
                    where input.transaction_id = key
                  )
                  else 0
                end
              )
            ),
            0
          ) > 67108864 as is_too_large
        from
          (
            select
              page.*,
              case
                when transactions.accepted_variant > 0 then (variant_of (transactions.id, transactions.accepted_variant)).json_bytes
                else transactions.json_bytes
              end + 2 * octet_length(transactions.payload) as estimate,
              sum(
                case
                  when transactions.accepted_variant > 0 then (variant_of (transactions.id, transactions.accepted_variant)).json_bytes
                  else transactions.json_bytes
                end + 2 * octet_length(transactions.payload) + 19930 * (
                  select count(*)
                  from transaction_inputs
                  where transaction_id = page.key
                )
              ) over () as most
            from
              page page
              join transactions on transactions.id = page.key
          ) estimated
      )
    select
      case
        when (
          select is_too_large
          from size
        ) then 'too large'
      end::text as problem,
      case
        when not (
          select is_too_large
          from size
        ) then json_build_object(
          'transactions',
          (
            select coalesce(json_agg(listed.item), '[]')
            from
              (
                select
                  (
                    select to_json(object)
                    from
                      (
                        select
                          encode("transactions"."transaction_id", 'hex') as "transactionId",
                          transactions.version as "version",
                          containing."blockTime" as "blockTime",
                          encode("subnetworks"."subnetwork_id", 'hex') as "subnetworkId",
                          encode(
                            case
                              when transactions.accepted_variant > 0 then (variant_of (transactions.id, transactions.accepted_variant))."hash"
                              else "transactions"."hash"
                            end,
                            'hex'
                          ) as "hash",
                          (
                            case
                              when transactions.accepted_variant > 0 then (variant_of (transactions.id, transactions.accepted_variant))."storage_mass"
                              else "transactions"."storage_mass"
                            end
                          )::text as "mass",
                          (
                            case
                              when transactions.accepted_variant > 0 then (variant_of (transactions.id, transactions.accepted_variant))."compute_mass"
                              else "transactions"."compute_mass"
                            end
                          )::text as "computeMass",
                          (
                            case
                              when (
                                "transactions"."accepting_index" is not null
                                or is_pre_bootstrap ("transactions"."id")
                              ) then coalesce(transactions.fee, inputs_minus_outputs (transactions.id))
                              else fee_of_existing_utxos (transactions.id)
                            end
                          )::text as "fee",
                          "transactions"."lock_time"::text as "lockTime",
                          "transactions"."gas"::text as "gas",
                          case
                            when octet_length(transactions.payload) = 0 then ''
                            else '0x' || encode(transactions.payload, 'hex')
                          end as "payload",
                          containing."blockHashes" as "blockHashes",
                          containing."blockCount" as "blockCount",
                          (
                            "transactions"."accepting_index" is not null
                            or is_pre_bootstrap ("transactions"."id")
                          ) as "isAccepted",
                          encode("accepting"."hash", 'hex') as "acceptingBlockHash",
                          "accepting"."blue_score"::text as "acceptingBlockBlueScore",
                          case
                            when (
                              "transactions"."accepting_index" is not null
                              or is_pre_bootstrap ("transactions"."id")
                            ) then state.sink_blue_score - coalesce(accepting.blue_score, bootstrap_blue_score ())
                            else 0
                          end as "confirmations",
                          (
                            select coalesce(json_agg(listed.item), '[]')
                            from
                              (
                                select
                                  case
                                    when transactions.version >= 1 then (
                                      select to_json(object)
                                      from
                                        (
                                          select
                                            encode("transactions"."transaction_id", 'hex') as "transactionId",
                                            input.index as "index",
                                            encode(
                                              case
                                                when transactions.accepted_variant > 0 then (variant_input (input.transaction_id, transactions.accepted_variant, input.index))."signature_script"
                                                else "input"."signature_script"
                                              end,
                                              'hex'
                                            ) as "signatureScript",
                                            "input"."sequence"::text as "sequence",
                                            case
                                              when transactions.accepted_variant > 0 then (variant_input (input.transaction_id, transactions.accepted_variant, input.index))."sig_op_count"
                                              else "input"."sig_op_count"
                                            end as "sigOpCount",
                                            case
                                              when transactions.accepted_variant > 0 then (variant_input (input.transaction_id, transactions.accepted_variant, input.index))."compute_budget"
                                              else "input"."compute_budget"
                                            end as "computeBudget",
                                            case
                                              when not (
                                                (
                                                  "transactions"."accepting_index" is not null
                                                  or is_pre_bootstrap ("transactions"."id")
                                                )
                                                or previous.accepting_index is not null
                                                or is_pre_bootstrap (input.previous_transaction_id)
                                              ) then null
                                              when previous.id is null then (
                                                select encode(older.covenant_id, 'hex')
                                                from bootstrap_utxos older
                                                where
                                                  older.transaction_id = input.previous_transaction_id
                                                  and older.index = input.previous_index
                                              )
                                              else (
                                                select encode(created.covenant_id, 'hex')
                                                from transaction_outputs created
                                                where
                                                  created.transaction_id = input.previous_transaction_id
                                                  and created.index = input.previous_index
                                                  and created.covenant_id is not null
                                              )
                                            end as "spentCovenantId",
                                            case
                                              when (
                                                (
                                                  "transactions"."accepting_index" is not null
                                                  or is_pre_bootstrap ("transactions"."id")
                                                )
                                                or previous.accepting_index is not null
                                                or is_pre_bootstrap (input.previous_transaction_id)
                                              ) then (
                                                select to_json(object)
                                                from
                                                  (
                                                    select
                                                      encode(
                                                        coalesce(
                                                          previous.transaction_id,
                                                          nullif(input.previous_transaction_hash, ''),
                                                          pre_bootstrap_transaction_id (input.previous_transaction_id)
                                                        ),
                                                        'hex'
                                                      ) as "transactionId",
                                                      input.previous_index as "index",
                                                      "input"."amount"::text as "amount",
                                                      encode("script"."script", 'hex') as "scriptPublicKey",
                                                      script.address as "scriptPublicKeyAddress",
                                                      script.type as "scriptPublicKeyType"
                                                  ) object
                                              )
                                              else (
                                                select to_json(object)
                                                from
                                                  (
                                                    select
                                                      encode(
                                                        coalesce(
                                                          previous.transaction_id,
                                                          nullif(input.previous_transaction_hash, ''),
                                                          pre_bootstrap_transaction_id (input.previous_transaction_id)
                                                        ),
                                                        'hex'
                                                      ) as "transactionId",
                                                      input.previous_index as "index",
                                                      null as "amount",
                                                      null as "scriptPublicKey",
                                                      null as "scriptPublicKeyAddress",
                                                      null as "scriptPublicKeyType"
                                                  ) object
                                              )
                                            end as "previousOutput"
                                        ) object
                                    )
                                    else (
                                      select to_json(object)
                                      from
                                        (
                                          select
                                            encode("transactions"."transaction_id", 'hex') as "transactionId",
                                            input.index as "index",
                                            encode(
                                              case
                                                when transactions.accepted_variant > 0 then (variant_input (input.transaction_id, transactions.accepted_variant, input.index))."signature_script"
                                                else "input"."signature_script"
                                              end,
                                              'hex'
                                            ) as "signatureScript",
                                            "input"."sequence"::text as "sequence",
                                            case
                                              when transactions.accepted_variant > 0 then (variant_input (input.transaction_id, transactions.accepted_variant, input.index))."sig_op_count"
                                              else "input"."sig_op_count"
                                            end as "sigOpCount",
                                            case
                                              when not (
                                                (
                                                  "transactions"."accepting_index" is not null
                                                  or is_pre_bootstrap ("transactions"."id")
                                                )
                                                or previous.accepting_index is not null
                                                or is_pre_bootstrap (input.previous_transaction_id)
                                              ) then null
                                              when previous.id is null then (
                                                select encode(older.covenant_id, 'hex')
                                                from bootstrap_utxos older
                                                where
                                                  older.transaction_id = input.previous_transaction_id
                                                  and older.index = input.previous_index
                                              )
                                              else (
                                                select encode(created.covenant_id, 'hex')
                                                from transaction_outputs created
                                                where
                                                  created.transaction_id = input.previous_transaction_id
                                                  and created.index = input.previous_index
                                                  and created.covenant_id is not null
                                              )
                                            end as "spentCovenantId",
                                            case
                                              when (
                                                (
                                                  "transactions"."accepting_index" is not null
                                                  or is_pre_bootstrap ("transactions"."id")
                                                )
                                                or previous.accepting_index is not null
                                                or is_pre_bootstrap (input.previous_transaction_id)
                                              ) then (
                                                select to_json(object)
                                                from
                                                  (
                                                    select
                                                      encode(
                                                        coalesce(
                                                          previous.transaction_id,
                                                          nullif(input.previous_transaction_hash, ''),
                                                          pre_bootstrap_transaction_id (input.previous_transaction_id)
                                                        ),
                                                        'hex'
                                                      ) as "transactionId",
                                                      input.previous_index as "index",
                                                      "input"."amount"::text as "amount",
                                                      encode("script"."script", 'hex') as "scriptPublicKey",
                                                      script.address as "scriptPublicKeyAddress",
                                                      script.type as "scriptPublicKeyType"
                                                  ) object
                                              )
                                              else (
                                                select to_json(object)
                                                from
                                                  (
                                                    select
                                                      encode(
                                                        coalesce(
                                                          previous.transaction_id,
                                                          nullif(input.previous_transaction_hash, ''),
                                                          pre_bootstrap_transaction_id (input.previous_transaction_id)
                                                        ),
                                                        'hex'
                                                      ) as "transactionId",
                                                      input.previous_index as "index",
                                                      null as "amount",
                                                      null as "scriptPublicKey",
                                                      null as "scriptPublicKeyAddress",
                                                      null as "scriptPublicKeyType"
                                                  ) object
                                              )
                                            end as "previousOutput"
                                        ) object
                                    )
                                  end as item
                                from
                                  transaction_inputs input
                                  left join transactions previous on previous.id = input.previous_transaction_id
                                  left join scripts script on script.id = input.script_id
                                where input.transaction_id = transactions.id
                                order by input.index
                              ) listed
                          ) as "inputs",
                          (
                            select coalesce(json_agg(listed.item), '[]')
                            from
                              (
                                select
                                  case
                                    when output.covenant_id is not null then (
                                      select to_json(object)
                                      from
                                        (
                                          select
                                            encode("transactions"."transaction_id", 'hex') as "transactionId",
                                            output.index as "index",
                                            "output"."amount"::text as "amount",
                                            encode("script"."script", 'hex') as "scriptPublicKey",
                                            script.address as "scriptPublicKeyAddress",
                                            script.type as "scriptPublicKeyType",
                                            (
                                              select to_json(object)
                                              from
                                                (
                                                  select
                                                    output.covenant_authorizing_input as "authorizingInput",
                                                    encode("output"."covenant_id", 'hex') as "covenantId"
                                                ) object
                                            ) as "covenant",
                                            coalesce(spending.accepted, spending.other) as "spentBy",
                                            spending.accepted is not null as "isSpent"
                                        ) object
                                    )
                                    else (
                                      select to_json(object)
                                      from
                                        (
                                          select
                                            encode("transactions"."transaction_id", 'hex') as "transactionId",
                                            output.index as "index",
                                            "output"."amount"::text as "amount",
                                            encode("script"."script", 'hex') as "scriptPublicKey",
                                            script.address as "scriptPublicKeyAddress",
                                            script.type as "scriptPublicKeyType",
                                            coalesce(spending.accepted, spending.other) as "spentBy",
                                            spending.accepted is not null as "isSpent"
                                        ) object
                                    )
                                  end as item
                                from
                                  transaction_outputs output
                                  join scripts script on script.id = output.script_id
                                  cross join lateral (
                                    select
                                      coalesce(
                                        min(encode(spender.transaction_id, 'hex')) filter (
                                          where
                                            (
                                              "spender"."accepting_index" is not null
                                              or is_pre_bootstrap ("spender"."id")
                                            )
                                        ),
                                        case when count(*) = 4 then encode(accepted_spender_id (output.transaction_id, output.index), 'hex')
                                        end
                                      ) as accepted,
                                      min(encode(spender.transaction_id, 'hex')) as other
                                    from
                                      (
                                        select input.transaction_id as id
                                        from transaction_inputs input
                                        where
                                          input.previous_transaction_id = output.transaction_id
                                          and input.previous_index = output.index
                                        limit 4
                                      ) found
                                      join transactions spender on spender.id = found.id
                                  ) spending
                                where output.transaction_id = transactions.id
                                order by output.index
                              ) listed
                          ) as "outputs",
                          accepting.timestamp as "acceptingBlockTime"
                      ) object
                  ) as item
                from
                  page
                  join transactions on transactions.id = page.key
                  join subnetworks on subnetworks.id = transactions.subnetwork_id
                  left join chain_blocks accepting on accepting.index = transactions.accepting_index
                  cross join lateral (
                    select
                      json_agg(
                        encode(hash, 'hex')
                        order by
                          timestamp,
                          hash
                      ) filter (
                        where position <= 16
                      ) as "blockHashes",
                      min(timestamp) filter (
                        where
                          transactions.accepting_index is null
                          or is_accepting
                      ) as "blockTime",
                      coalesce(
                        case when count(*) > 16 then block_count_of (transactions.id)
                        end,
                        count(*)
                      ) as "blockCount"
                    from
                      (
                        select
                          blocks.hash,
                          blocks.timestamp,
                          blocks.merging_block_id = accepting.block_id as is_accepting,
                          row_number() over (
                            order by
                              blocks.merging_block_id = accepting.block_id desc nulls last,
                              blocks.merging_block_id nulls last,
                              blocks.timestamp,
                              blocks.hash
                          ) as position
                        from
                          (
                            select
                              array(
                                select contained.block_id
                                from block_transactions contained
                                where contained.transaction_id = transactions.id
                                order by contained.block_id
                                limit 32
                              ) as ids
                            offset 0
                          ) first
                          cross join lateral unnest(
                            case
                              when cardinality(first.ids) = 32 then blocks_with_accepting (transactions.id, accepting.block_id, first.ids)
                              else first.ids
                            end
                          ) as contained (block_id)
                          join blocks on blocks.id = contained.block_id
                      ) found
                  ) containing
                order by page.key desc
              ) listed
          )
        )
      end::json as body
  ) content;

-- getAddressesAddressFullTransactionsPage -------------------------------------------------------------

-- “history of rest-server newest no”
with
  state as materialized (
    select
      checkpoint.version,
      blocks.blue_score as sink_blue_score
    from
    checkpoint
    join blocks on blocks.id = checkpoint.block_id
  )
select
  case when state.version is distinct from $1::bigint then index_state ()
  end as state,
  content.*
from
  state
  cross join lateral (
    with
      "script" as materialized (
        select
          (
            select id
            from scripts
            where address = $2::text
          ) as id
      ),
      "anchor" as materialized (
        select 9223372036854775807 as key
      ),
      "last" as materialized (
        select
          transactions.id as key,
          containing."blockTime" as time
        from
          unnest(
            array(
              select distinct
                transaction_id
              from script_deltas
              where
                script_id = (
                  select id
                  from script
                )
                and transaction_id <= (
                  select key
                  from anchor
                )
              order by transaction_id desc
              offset $3::bigint
              limit 1
            )
          ) as listed (id)
          join transactions on transactions.id = listed.id
          left join chain_blocks accepting on accepting.index = transactions.accepting_index
          cross join lateral (
            select
              json_agg(
                encode(hash, 'hex')
                order by
                  timestamp,
                  hash
              ) filter (
                where position <= 16
              ) as "blockHashes",
              min(timestamp) filter (
                where
                  transactions.accepting_index is null
                  or is_accepting
              ) as "blockTime",
              coalesce(
                case when count(*) > 16 then block_count_of (transactions.id)
                end,
                count(*)
              ) as "blockCount"
            from
              (
                select
                  blocks.hash,
                  blocks.timestamp,
                  blocks.merging_block_id = accepting.block_id as is_accepting,
                  row_number() over (
                    order by
                      blocks.merging_block_id = accepting.block_id desc nulls last,
                      blocks.merging_block_id nulls last,
                      blocks.timestamp,
                      blocks.hash
                  ) as position
                from
                  (
                    select
                      array(
                        select contained.block_id
                        from block_transactions contained
                        where contained.transaction_id = transactions.id
                        order by contained.block_id
                        limit 32
                      ) as ids
                    offset 0
                  ) first
                  cross join lateral unnest(
                    case
                      when cardinality(first.ids) = 32 then blocks_with_accepting (transactions.id, accepting.block_id, first.ids)
                      else first.ids
                    end
                  ) as contained (block_id)
                  join blocks on blocks.id = contained.block_id
              ) found
          ) containing
      ),
      "near" as materialized (
        select
          transactions.id as key,
          containing."blockTime" as time
        from
          unnest(
            array(
              select distinct
                transaction_id
              from script_deltas
              where
                script_id = (
                  select id
                  from script
                )
                and transaction_id <= (
                  select key
                  from anchor
                )
              order by transaction_id desc
              limit
                $4::bigint + 1 + greatest(
                  500,
                  (
                    select count(*)
                    from
                      (
                        select distinct
                          transaction_id
                        from script_deltas
                        where
                          script_id = (
                            select id
                            from script
                          )
                          and transaction_id <= (
                            select key
                            from anchor
                          )
                          and transaction_id > coalesce(
                            (
                              select
                                case
                                  when c.index = (
                                    select chain_index
                                    from
                                    checkpoint
                                  ) then 9223372036854775807
                                  else c.highest_transaction
                                end
                              from chain_blocks c
                              where
                                to_timestamp(c.chain_time / 1000::double precision) <= to_timestamp(
                                  (
                                    least(
                                      9007199254740991,
                                      (
                                        select time
                                        from last
                                      )
                                    ) - 132000
                                  ) / 1000::double precision
                                )
                              order by
                                to_timestamp(c.chain_time / 1000::double precision) desc,
                                c.index desc
                              limit 1
                            ),
                            0
                          )
                        order by transaction_id
                        limit 3000
                      ) counted
                  )
                )
            )
          ) as listed (id)
          join transactions on transactions.id = listed.id
          left join chain_blocks accepting on accepting.index = transactions.accepting_index
          cross join lateral (
            select
              json_agg(
                encode(hash, 'hex')
                order by
                  timestamp,
                  hash
              ) filter (
                where position <= 16
              ) as "blockHashes",
              min(timestamp) filter (
                where
                  transactions.accepting_index is null
                  or is_accepting
              ) as "blockTime",
              coalesce(
                case when count(*) > 16 then block_count_of (transactions.id)
                end,
                count(*)
              ) as "blockCount"
            from
              (
                select
                  blocks.hash,
                  blocks.timestamp,
                  blocks.merging_block_id = accepting.block_id as is_accepting,
                  row_number() over (
                    order by
                      blocks.merging_block_id = accepting.block_id desc nulls last,
                      blocks.merging_block_id nulls last,
                      blocks.timestamp,
                      blocks.hash
                  ) as position
                from
                  (
                    select
                      array(
                        select contained.block_id
                        from block_transactions contained
                        where contained.transaction_id = transactions.id
                        order by contained.block_id
                        limit 32
                      ) as ids
                    offset 0
                  ) first
                  cross join lateral unnest(
                    case
                      when cardinality(first.ids) = 32 then blocks_with_accepting (transactions.id, accepting.block_id, first.ids)
                      else first.ids
                    end
                  ) as contained (block_id)
                  join blocks on blocks.id = contained.block_id
              ) found
          ) containing
      ),
      "edges" as materialized (
        select
          min(time) as oldest,
          max(time) as newest
        from
          (
            select time
            from near
            where time < 9007199254740991
            order by
              time desc,
              key desc
            limit $5::bigint
          ) chosen
      ),
      "page" as materialized (
        select
          key,
          time,
          row_number() over (
            order by
              time desc,
              key desc
          ) as position
        from near
        where
          time between (
            select oldest
            from edges
          ) and (
            select newest
            from edges
          )
      ),
      "size" as materialized (
        select
          coalesce(
            sum(
              (
                estimate + case
                  when most > 1048576 then (
                    select coalesce(sum(2 * greatest(octet_length(script.script) - 35, 0)), 0)
                    from
                      transaction_inputs input
                      join scripts script on script.id = input.script_id
                    where input.transaction_id = key
                  )
                  else 0
                end
              )
            ),
            0
          ) > 67108864 as is_too_large
        from
          (
            select
              page.*,
              case
                when transactions.accepted_variant > 0 then (variant_of (transactions.id, transactions.accepted_variant)).json_bytes
                else transactions.json_bytes
              end + 2 * octet_length(transactions.payload) as estimate,
              sum(
                case
                  when transactions.accepted_variant > 0 then (variant_of (transactions.id, transactions.accepted_variant)).json_bytes
                  else transactions.json_bytes
                end + 2 * octet_length(transactions.payload) + 19930 * (
                  select count(*)
                  from transaction_inputs
                  where transaction_id = page.key
                )
              ) over () as most
            from
              page page
              join transactions on transactions.id = page.key
          ) estimated
      )
    select
      case
        when (
          select is_too_large
          from size
        ) then 'too large'
      end::text as problem,
      case
        when not (
          select is_too_large
          from size
        ) then json_build_object(
          'newest',
          (
            select newest
            from edges
          ),
          'oldest',
          (
            select oldest
            from edges
          ),
          'hasOlder',
          exists (
            select
            from near
            where
              time < (
                select oldest
                from edges
              )
          ),
          'hasNewer',
          exists (
            select
            from near
            where
              time > (
                select newest
                from edges
              )
          ),
          'transactions',
          (
            select coalesce(json_agg(listed.item), '[]')
            from
              (
                select
                  (
                    select to_json(object)
                    from
                      (
                        select
                          encode("transactions"."transaction_id", 'hex') as "transactionId",
                          transactions.version as "version",
                          containing."blockTime" as "blockTime",
                          encode("subnetworks"."subnetwork_id", 'hex') as "subnetworkId",
                          encode(
                            case
                              when transactions.accepted_variant > 0 then (variant_of (transactions.id, transactions.accepted_variant))."hash"
                              else "transactions"."hash"
                            end,
                            'hex'
                          ) as "hash",
                          (
                            case
                              when transactions.accepted_variant > 0 then (variant_of (transactions.id, transactions.accepted_variant))."storage_mass"
                              else "transactions"."storage_mass"
                            end
                          )::text as "mass",
                          (
                            case
                              when transactions.accepted_variant > 0 then (variant_of (transactions.id, transactions.accepted_variant))."compute_mass"
                              else "transactions"."compute_mass"
                            end
                          )::text as "computeMass",
                          (
                            case
                              when (
                                "transactions"."accepting_index" is not null
                                or is_pre_bootstrap ("transactions"."id")
                              ) then coalesce(transactions.fee, inputs_minus_outputs (transactions.id))
                              else fee_of_existing_utxos (transactions.id)
                            end
                          )::text as "fee",
                          "transactions"."lock_time"::text as "lockTime",
                          "transactions"."gas"::text as "gas",
                          case
                            when octet_length(transactions.payload) = 0 then ''
                            else '0x' || encode(transactions.payload, 'hex')
                          end as "payload",
                          containing."blockHashes" as "blockHashes",
                          containing."blockCount" as "blockCount",
                          (
                            "transactions"."accepting_index" is not null
                            or is_pre_bootstrap ("transactions"."id")
                          ) as "isAccepted",
                          encode("accepting"."hash", 'hex') as "acceptingBlockHash",
                          "accepting"."blue_score"::text as "acceptingBlockBlueScore",
                          case
                            when (
                              "transactions"."accepting_index" is not null
                              or is_pre_bootstrap ("transactions"."id")
                            ) then state.sink_blue_score - coalesce(accepting.blue_score, bootstrap_blue_score ())
                            else 0
                          end as "confirmations",
                          (
                            select coalesce(json_agg(listed.item), '[]')
                            from
                              (
                                select
                                  case
                                    when transactions.version >= 1 then (
                                      select to_json(object)
                                      from
                                        (
                                          select
                                            encode("transactions"."transaction_id", 'hex') as "transactionId",
                                            input.index as "index",
                                            encode(
                                              case
                                                when transactions.accepted_variant > 0 then (variant_input (input.transaction_id, transactions.accepted_variant, input.index))."signature_script"
                                                else "input"."signature_script"
                                              end,
                                              'hex'
                                            ) as "signatureScript",
                                            "input"."sequence"::text as "sequence",
                                            case
                                              when transactions.accepted_variant > 0 then (variant_input (input.transaction_id, transactions.accepted_variant, input.index))."sig_op_count"
                                              else "input"."sig_op_count"
                                            end as "sigOpCount",
                                            case
                                              when transactions.accepted_variant > 0 then (variant_input (input.transaction_id, transactions.accepted_variant, input.index))."compute_budget"
                                              else "input"."compute_budget"
                                            end as "computeBudget",
                                            case
                                              when not (
                                                (
                                                  "transactions"."accepting_index" is not null
                                                  or is_pre_bootstrap ("transactions"."id")
                                                )
                                                or previous.accepting_index is not null
                                                or is_pre_bootstrap (input.previous_transaction_id)
                                              ) then null
                                              when previous.id is null then (
                                                select encode(older.covenant_id, 'hex')
                                                from bootstrap_utxos older
                                                where
                                                  older.transaction_id = input.previous_transaction_id
                                                  and older.index = input.previous_index
                                              )
                                              else (
                                                select encode(created.covenant_id, 'hex')
                                                from transaction_outputs created
                                                where
                                                  created.transaction_id = input.previous_transaction_id
                                                  and created.index = input.previous_index
                                                  and created.covenant_id is not null
                                              )
                                            end as "spentCovenantId",
                                            case
                                              when (
                                                (
                                                  "transactions"."accepting_index" is not null
                                                  or is_pre_bootstrap ("transactions"."id")
                                                )
                                                or previous.accepting_index is not null
                                                or is_pre_bootstrap (input.previous_transaction_id)
                                              ) then (
                                                select to_json(object)
                                                from
                                                  (
                                                    select
                                                      encode(
                                                        coalesce(
                                                          previous.transaction_id,
                                                          nullif(input.previous_transaction_hash, ''),
                                                          pre_bootstrap_transaction_id (input.previous_transaction_id)
                                                        ),
                                                        'hex'
                                                      ) as "transactionId",
                                                      input.previous_index as "index",
                                                      "input"."amount"::text as "amount",
                                                      encode("script"."script", 'hex') as "scriptPublicKey",
                                                      script.address as "scriptPublicKeyAddress",
                                                      script.type as "scriptPublicKeyType"
                                                  ) object
                                              )
                                              else (
                                                select to_json(object)
                                                from
                                                  (
                                                    select
                                                      encode(
                                                        coalesce(
                                                          previous.transaction_id,
                                                          nullif(input.previous_transaction_hash, ''),
                                                          pre_bootstrap_transaction_id (input.previous_transaction_id)
                                                        ),
                                                        'hex'
                                                      ) as "transactionId",
                                                      input.previous_index as "index",
                                                      null as "amount",
                                                      null as "scriptPublicKey",
                                                      null as "scriptPublicKeyAddress",
                                                      null as "scriptPublicKeyType"
                                                  ) object
                                              )
                                            end as "previousOutput"
                                        ) object
                                    )
                                    else (
                                      select to_json(object)
                                      from
                                        (
                                          select
                                            encode("transactions"."transaction_id", 'hex') as "transactionId",
                                            input.index as "index",
                                            encode(
                                              case
                                                when transactions.accepted_variant > 0 then (variant_input (input.transaction_id, transactions.accepted_variant, input.index))."signature_script"
                                                else "input"."signature_script"
                                              end,
                                              'hex'
                                            ) as "signatureScript",
                                            "input"."sequence"::text as "sequence",
                                            case
                                              when transactions.accepted_variant > 0 then (variant_input (input.transaction_id, transactions.accepted_variant, input.index))."sig_op_count"
                                              else "input"."sig_op_count"
                                            end as "sigOpCount",
                                            case
                                              when not (
                                                (
                                                  "transactions"."accepting_index" is not null
                                                  or is_pre_bootstrap ("transactions"."id")
                                                )
                                                or previous.accepting_index is not null
                                                or is_pre_bootstrap (input.previous_transaction_id)
                                              ) then null
                                              when previous.id is null then (
                                                select encode(older.covenant_id, 'hex')
                                                from bootstrap_utxos older
                                                where
                                                  older.transaction_id = input.previous_transaction_id
                                                  and older.index = input.previous_index
                                              )
                                              else (
                                                select encode(created.covenant_id, 'hex')
                                                from transaction_outputs created
                                                where
                                                  created.transaction_id = input.previous_transaction_id
                                                  and created.index = input.previous_index
                                                  and created.covenant_id is not null
                                              )
                                            end as "spentCovenantId",
                                            case
                                              when (
                                                (
                                                  "transactions"."accepting_index" is not null
                                                  or is_pre_bootstrap ("transactions"."id")
                                                )
                                                or previous.accepting_index is not null
                                                or is_pre_bootstrap (input.previous_transaction_id)
                                              ) then (
                                                select to_json(object)
                                                from
                                                  (
                                                    select
                                                      encode(
                                                        coalesce(
                                                          previous.transaction_id,
                                                          nullif(input.previous_transaction_hash, ''),
                                                          pre_bootstrap_transaction_id (input.previous_transaction_id)
                                                        ),
                                                        'hex'
                                                      ) as "transactionId",
                                                      input.previous_index as "index",
                                                      "input"."amount"::text as "amount",
                                                      encode("script"."script", 'hex') as "scriptPublicKey",
                                                      script.address as "scriptPublicKeyAddress",
                                                      script.type as "scriptPublicKeyType"
                                                  ) object
                                              )
                                              else (
                                                select to_json(object)
                                                from
                                                  (
                                                    select
                                                      encode(
                                                        coalesce(
                                                          previous.transaction_id,
                                                          nullif(input.previous_transaction_hash, ''),
                                                          pre_bootstrap_transaction_id (input.previous_transaction_id)
                                                        ),
                                                        'hex'
                                                      ) as "transactionId",
                                                      input.previous_index as "index",
                                                      null as "amount",
                                                      null as "scriptPublicKey",
                                                      null as "scriptPublicKeyAddress",
                                                      null as "scriptPublicKeyType"
                                                  ) object
                                              )
                                            end as "previousOutput"
                                        ) object
                                    )
                                  end as item
                                from
                                  transaction_inputs input
                                  left join transactions previous on previous.id = input.previous_transaction_id
                                  left join scripts script on script.id = input.script_id
                                where input.transaction_id = transactions.id
                                order by input.index
                              ) listed
                          ) as "inputs",
                          (
                            select coalesce(json_agg(listed.item), '[]')
                            from
                              (
                                select
                                  case
                                    when output.covenant_id is not null then (
                                      select to_json(object)
                                      from
                                        (
                                          select
                                            encode("transactions"."transaction_id", 'hex') as "transactionId",
                                            output.index as "index",
                                            "output"."amount"::text as "amount",
                                            encode("script"."script", 'hex') as "scriptPublicKey",
                                            script.address as "scriptPublicKeyAddress",
                                            script.type as "scriptPublicKeyType",
                                            (
                                              select to_json(object)
                                              from
                                                (
                                                  select
                                                    output.covenant_authorizing_input as "authorizingInput",
                                                    encode("output"."covenant_id", 'hex') as "covenantId"
                                                ) object
                                            ) as "covenant",
                                            coalesce(spending.accepted, spending.other) as "spentBy",
                                            spending.accepted is not null as "isSpent"
                                        ) object
                                    )
                                    else (
                                      select to_json(object)
                                      from
                                        (
                                          select
                                            encode("transactions"."transaction_id", 'hex') as "transactionId",
                                            output.index as "index",
                                            "output"."amount"::text as "amount",
                                            encode("script"."script", 'hex') as "scriptPublicKey",
                                            script.address as "scriptPublicKeyAddress",
                                            script.type as "scriptPublicKeyType",
                                            coalesce(spending.accepted, spending.other) as "spentBy",
                                            spending.accepted is not null as "isSpent"
                                        ) object
                                    )
                                  end as item
                                from
                                  transaction_outputs output
                                  join scripts script on script.id = output.script_id
                                  cross join lateral (
                                    select
                                      coalesce(
                                        min(encode(spender.transaction_id, 'hex')) filter (
                                          where
                                            (
                                              "spender"."accepting_index" is not null
                                              or is_pre_bootstrap ("spender"."id")
                                            )
                                        ),
                                        case when count(*) = 4 then encode(accepted_spender_id (output.transaction_id, output.index), 'hex')
                                        end
                                      ) as accepted,
                                      min(encode(spender.transaction_id, 'hex')) as other
                                    from
                                      (
                                        select input.transaction_id as id
                                        from transaction_inputs input
                                        where
                                          input.previous_transaction_id = output.transaction_id
                                          and input.previous_index = output.index
                                        limit 4
                                      ) found
                                      join transactions spender on spender.id = found.id
                                  ) spending
                                where output.transaction_id = transactions.id
                                order by output.index
                              ) listed
                          ) as "outputs",
                          accepting.timestamp as "acceptingBlockTime"
                      ) object
                  ) as item
                from
                  page
                  join transactions on transactions.id = page.key
                  join subnetworks on subnetworks.id = transactions.subnetwork_id
                  left join chain_blocks accepting on accepting.index = transactions.accepting_index
                  cross join lateral (
                    select
                      json_agg(
                        encode(hash, 'hex')
                        order by
                          timestamp,
                          hash
                      ) filter (
                        where position <= 16
                      ) as "blockHashes",
                      min(timestamp) filter (
                        where
                          transactions.accepting_index is null
                          or is_accepting
                      ) as "blockTime",
                      coalesce(
                        case when count(*) > 16 then block_count_of (transactions.id)
                        end,
                        count(*)
                      ) as "blockCount"
                    from
                      (
                        select
                          blocks.hash,
                          blocks.timestamp,
                          blocks.merging_block_id = accepting.block_id as is_accepting,
                          row_number() over (
                            order by
                              blocks.merging_block_id = accepting.block_id desc nulls last,
                              blocks.merging_block_id nulls last,
                              blocks.timestamp,
                              blocks.hash
                          ) as position
                        from
                          (
                            select
                              array(
                                select contained.block_id
                                from block_transactions contained
                                where contained.transaction_id = transactions.id
                                order by contained.block_id
                                limit 32
                              ) as ids
                            offset 0
                          ) first
                          cross join lateral unnest(
                            case
                              when cardinality(first.ids) = 32 then blocks_with_accepting (transactions.id, accepting.block_id, first.ids)
                              else first.ids
                            end
                          ) as contained (block_id)
                          join blocks on blocks.id = contained.block_id
                      ) found
                  ) containing
                order by page.position
              ) listed
          )
        )
      end::json as body
  ) content;

-- “history of rest-server before no”: before=2000000000000
--   like “history of rest-server newest no”, except:
--          ),
--          "anchor" as materialized (
--   -        select 9223372036854775807 as key
--   +        select
--   +          coalesce(
--   +            (
--   +              select
--   +                case
--   +                  when c.index = (
--   +                    select chain_index
--   +                    from
--   +                    checkpoint
--   +                  ) then 9223372036854775807
--   +                  else c.highest_transaction
--   +                end
--   +              from chain_blocks c
--   +              where to_timestamp(c.chain_time / 1000::double precision) <= to_timestamp($3::bigint / 1000::double precision)
--   +              order by
--   +                to_timestamp(c.chain_time / 1000::double precision) desc,
--   +                c.index desc
--   +              limit 1
--   +            ),
--   +            0
--   +          ) as key
--          ),
--          "last" as materialized (
--   …
--                    )
--                  order by transaction_id desc
--   -              offset $3::bigint
--   +              offset $4::bigint
--                  limit 1
--                )
--   …
--                  order by transaction_id desc
--                  limit
--   -                $4::bigint + 1 + greatest(
--   +                $5::bigint + 1 + greatest(
--                      500,
--                      (
--   …
--                                      (
--                                        least(
--   -                                      9007199254740991,
--   +                                      $6::bigint,
--                                          (
--                                            select time
--   …
--                      )
--                    )
--   +            ) || array(
--   +              select distinct
--   +                transaction_id
--   +              from script_deltas
--   +              where
--   +                script_id = (
--   +                  select id
--   +                  from script
--   +                )
--   +                and transaction_id > (
--   +                  select key
--   +                  from anchor
--   +                )
--   +              order by transaction_id asc
--   +              limit
--   +                0 + greatest(
--   +                  500,
--   +                  (
--   +                    select count(*)
--   +                    from
--   +                      (
--   +                        select distinct
--   +                          transaction_id
--   +                        from script_deltas
--   +                        where
--   +                          script_id = (
--   +                            select id
--   +                            from script
--   +                          )
--   +                          and transaction_id > (
--   +                            select key
--   +                            from anchor
--   +                          )
--   +                          and transaction_id <= coalesce(
--   +                            (
--   +                              select
--   +                                case
--   +                                  when c.index = (
--   +                                    select chain_index
--   +                                    from
--   +                                    checkpoint
--   +                                  ) then 9223372036854775807
--   +                                  else c.highest_transaction
--   +                                end
--   +                              from chain_blocks c
--   +                              where to_timestamp(c.chain_time / 1000::double precision) <= to_timestamp(($7::bigint + 1320000) / 1000::double precision)
--   +                              order by
--   +                                to_timestamp(c.chain_time / 1000::double precision) desc,
--   +                                c.index desc
--   +                              limit 1
--   +                            ),
--   +                            0
--   +                          )
--   +                        order by transaction_id
--   +                        limit 3000
--   +                      ) counted
--   +                  )
--   +                )
--                )
--              ) as listed (id)
--   …
--                select time
--                from near
--   -            where time < 9007199254740991
--   +            where time < $8::bigint
--                order by
--                  time desc,
--                  key desc
--   -            limit $5::bigint
--   +            limit $9::bigint
--              ) chosen
--          ),

-- “history of rest-server after no”: after=1
--   like “history of rest-server before no”, except:
--                      from script
--                    )
--   -                and transaction_id <= (
--   +                and transaction_id > (
--                      select key
--                      from anchor
--                    )
--   -              order by transaction_id desc
--   +              order by transaction_id asc
--                  offset $4::bigint
--                  limit 1
--   …
--                  order by transaction_id desc
--                  limit
--   -                $5::bigint + 1 + greatest(
--   +                0 + greatest(
--                      500,
--                      (
--   …
--                                    end
--                                  from chain_blocks c
--   -                              where
--   -                                to_timestamp(c.chain_time / 1000::double precision) <= to_timestamp(
--   -                                  (
--   -                                    least(
--   -                                      $6::bigint,
--   -                                      (
--   -                                        select time
--   -                                        from last
--   -                                      )
--   -                                    ) - 132000
--   -                                  ) / 1000::double precision
--   -                                )
--   +                              where to_timestamp(c.chain_time / 1000::double precision) <= to_timestamp(($5::bigint - 132000) / 1000::double precision)
--                                  order by
--                                    to_timestamp(c.chain_time / 1000::double precision) desc,
--   …
--                  order by transaction_id asc
--                  limit
--   -                0 + greatest(
--   +                $6::bigint + 1 + greatest(
--                      500,
--                      (
--   …
--                                    end
--                                  from chain_blocks c
--   -                              where to_timestamp(c.chain_time / 1000::double precision) <= to_timestamp(($7::bigint + 1320000) / 1000::double precision)
--   +                              where
--   +                                to_timestamp(c.chain_time / 1000::double precision) <= to_timestamp(
--   +                                  (
--   +                                    greatest(
--   +                                      $7::bigint,
--   +                                      (
--   +                                        select time
--   +                                        from last
--   +                                      )
--   +                                    ) + 1320000
--   +                                  ) / 1000::double precision
--   +                                )
--                                  order by
--                                    to_timestamp(c.chain_time / 1000::double precision) desc,
--   …
--                select time
--                from near
--   -            where time < $8::bigint
--   +            where time > $8::bigint
--                order by
--   -              time desc,
--   -              key desc
--   +              time asc,
--   +              key asc
--                limit $9::bigint
--              ) chosen

-- “history of rest-server newest yes”: acceptance=accepted
--   like “history of rest-server newest no”, except:
--                      from anchor
--                    )
--   +                and exists (
--   +                  select
--   +                  from transactions t
--   +                  where
--   +                    t.id = script_deltas.transaction_id
--   +                    and (
--   +                      "t"."accepting_index" is not null
--   +                      or is_pre_bootstrap ("t"."id")
--   +                    )
--   +                  offset 0
--   +                )
--                  order by transaction_id desc
--                  offset $3::bigint
--   …
--                      from anchor
--                    )
--   +                and exists (
--   +                  select
--   +                  from transactions t
--   +                  where
--   +                    t.id = script_deltas.transaction_id
--   +                    and (
--   +                      "t"."accepting_index" is not null
--   +                      or is_pre_bootstrap ("t"."id")
--   +                    )
--   +                  offset 0
--   +                )
--                  order by transaction_id desc
--                  limit
--   …
--                                0
--                              )
--   +                          and exists (
--   +                            select
--   +                            from transactions t
--   +                            where
--   +                              t.id = script_deltas.transaction_id
--   +                              and (
--   +                                "t"."accepting_index" is not null
--   +                                or is_pre_bootstrap ("t"."id")
--   +                              )
--   +                            offset 0
--   +                          )
--                            order by transaction_id
--                            limit 3000

-- getAddressesAddressUtxosCount -----------------------------------------------------------------------

-- countUtxosOf of packages/api/src/rest-server/queries.ts
select utxo_count as count
from balances
where
  script_id = (
    select id
    from scripts
    where address = $1
  );

-- getAddressesAddressBalanceDate ----------------------------------------------------------------------

-- “balance history hour”: in address.sql, getAddressBalanceHistory

-- getAddressesActiveCount -----------------------------------------------------------------------------

-- countScripts of packages/api/src/rest-server/network-queries.ts
select
  coalesce(sum(new_scripts), 0)::float8 as count,
  (
    select timestamp
    from chain_blocks
    where
      index = (
        select chain_index
        from
        checkpoint
      )
  )::float8 as time
from network_intervals
where length = 'day';

-- getAddressesActiveCountDate -------------------------------------------------------------------------

-- countActive of packages/api/src/rest-server/network-queries.ts
select
  start::float8 as start,
  active_scripts::float8 as count
from network_intervals
where
  length = 'hour'
  and start >= $1
  and start < $2
order by start;

-- postAddressesActive ---------------------------------------------------------------------------------

-- listLastSeen of packages/api/src/rest-server/queries.ts
select
  asked.address,
  b.last_seen is not null as active,
  b.last_seen::float8 as "lastTxBlockTime"
from
  unnest($1::text[]) with ordinality asked (address, n)
  left join scripts s on s.address = asked.address
  left join balances b on b.script_id = s.id
order by asked.n;

-- postAddressesBalances -------------------------------------------------------------------------------

-- listBalances of packages/api/src/rest-server/queries.ts: in rest.sql, getAddressesAddressBalance

-- postAddressesUtxos ----------------------------------------------------------------------------------

-- listUtxos of packages/api/src/rest-server/queries.ts: in rest.sql, getAddressesAddressUtxos
