-- The statements of this area as Postgres gets them, by operation. `npm run generate:statements` writes this file, and test/statements compares it
-- and lets Postgres describe each statement. A statement is shown where it is sent first.
--
-- Filters, cursors, directions and `include` choose the pieces of a statement. Each value of each parameter is tried with the example of its operation,
-- never two parameters together, and SQL that this leaves out by further requests. So every piece is here, and not every combination. A statement that is
-- like an earlier one of its operation is shown as the lines that differ, if these are fewer.

-- listLanes -------------------------------------------------------------------------------------------

-- “lanes first”
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
          keys.key,
          keys.position
        from
          unnest(
            array(
              select subnetwork_id
              from
                lanes
                cross join lateral (
                  select subnetworks.subnetwork_id as id
                  from subnetworks
                  where subnetworks.id = lanes.subnetwork_id
                  offset 0
                ) subnetwork
              order by
                last_seen desc,
                subnetwork.id desc
              limit $2::bigint + 1
            )
          ) with ordinality as keys (key, position)
      )
    select
      null::text as problem,
      json_build_object(
        'lanes',
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
                        lane_namespace (subnetworks.subnetwork_id) as "namespace",
                        lanes.transaction_count as "transactionCount",
                        lanes.gas::text as "gas",
                        lanes.fees::text as "fees",
                        lanes.first_seen as "firstSeen",
                        lanes.last_seen as "lastSeen"
                    ) object
                ) as item
              from
                page
                join lanes on lanes.subnetwork_id = page.key
                join subnetworks on subnetworks.id = page.key
              where page.position <= $3::bigint
              order by page.position asc
            ) listed
        ),
        'metadata',
        (
          select json_build_object('hasMore', found > shown, 'count', shown)
          from
            (
              select
                count(*) as found,
                count(*) filter (
                  where page.position <= $4::bigint
                ) as shown
              from page
            ) counted
        )
      )::json as body
  ) content;

-- “lanes after”: starting_after=…
--   like “lanes first”, except:
--      cross join lateral (
--        with
--   +      "cursor" as materialized (
--   +        select
--   +          case when last_seen is not null then key
--   +          end as key,
--   +          last_seen
--   +        from
--   +          (
--   +            select
--   +              id::integer as key,
--   +              coalesce(
--   +                $2::bigint,
--   +                (
--   +                  select last_seen
--   +                  from lanes
--   +                  where lanes.subnetwork_id = subnetworks.id
--   +                )
--   +              ) as last_seen
--   +            from subnetworks
--   +            where subnetwork_id = $3::bytea
--   +          ) named
--   +      ),
--          "page" as materialized (
--            select
--   …
--                      offset 0
--                    ) subnetwork
--   +              where
--   +                last_seen <= (
--   +                  select last_seen
--   +                  from cursor
--   +                )
--   +                and (last_seen, subnetwork.id) < (
--   +                  (
--   +                    select last_seen
--   +                    from cursor
--   +                  ),
--   +                  $4::bytea
--   +                )
--                  order by
--                    last_seen desc,
--                    subnetwork.id desc
--   -              limit $2::bigint + 1
--   +              limit $5::bigint + 1
--                )
--              ) with ordinality as keys (key, position)
--          )
--        select
--   -      null::text as problem,
--   +      case
--   +        when (
--   +          select key
--   +          from cursor
--   +        ) is null then 'unknown cursor'
--   +      end::text as problem,
--          json_build_object(
--            'lanes',
--   …
--                    join lanes on lanes.subnetwork_id = page.key
--                    join subnetworks on subnetworks.id = page.key
--   -              where page.position <= $3::bigint
--   +              where page.position <= $6::bigint
--                  order by page.position asc
--                ) listed
--   …
--                    count(*) as found,
--                    count(*) filter (
--   -                  where page.position <= $4::bigint
--   +                  where page.position <= $7::bigint
--                    ) as shown
--                  from page

-- “lanes before”: ending_before=…
--   like “lanes after”, except:
--                    ) subnetwork
--                  where
--   -                last_seen <= (
--   +                last_seen >= (
--                      select last_seen
--                      from cursor
--                    )
--   -                and (last_seen, subnetwork.id) < (
--   +                and (last_seen, subnetwork.id) > (
--                      (
--                        select last_seen
--   …
--                    )
--                  order by
--   -                last_seen desc,
--   -                subnetwork.id desc
--   +                last_seen asc,
--   +                subnetwork.id asc
--                  limit $5::bigint + 1
--                )
--   …
--                    join subnetworks on subnetworks.id = page.key
--                  where page.position <= $6::bigint
--   -              order by page.position asc
--   +              order by page.position desc
--                ) listed
--            ),

-- getLane ---------------------------------------------------------------------------------------------

-- “lane”
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
      "lane" as materialized (
        select
          (
            select lanes.subnetwork_id
            from
              lanes
              join subnetworks on subnetworks.id = lanes.subnetwork_id
            where subnetworks.subnetwork_id = $2::bytea
          ) as key
      )
    select
      case
        when (
          select key
          from lane
        ) is null then 'unknown'
      end::text as problem,
      json_build_object(
        'lane',
        (
          select
            (
              select to_json(object)
              from
                (
                  select
                    lane_namespace (subnetworks.subnetwork_id) as "namespace",
                    lanes.transaction_count as "transactionCount",
                    lanes.gas::text as "gas",
                    lanes.fees::text as "fees",
                    lanes.first_seen as "firstSeen",
                    lanes.last_seen as "lastSeen"
                ) object
            )
          from
            lane
            join lanes on lanes.subnetwork_id = lane.key
            join subnetworks on subnetworks.id = lane.key
        )
      )::json as body
  ) content;

-- listLaneTransactions --------------------------------------------------------------------------------

-- “lane transactions first no no no no”
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
      "lane" as materialized (
        select
          (
            select lanes.subnetwork_id
            from
              lanes
              join subnetworks on subnetworks.id = lanes.subnetwork_id
            where subnetworks.subnetwork_id = $2::bytea
          ) as key
      ),
      "page" as materialized (
        select
          key,
          position,
          position <= $3::bigint
          and (
            position = 1
            or bytes_until <= 1048576
          ) as is_shown
        from
          (
            select
              key,
              position,
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
              ) over (
                order by position
              ) as bytes_until
            from
              (
                select
                  page.*,
                  case
                    when transactions.accepted_variant > 0 then (variant_of (transactions.id, transactions.accepted_variant)).json_bytes
                    else transactions.json_bytes
                  end as estimate,
                  sum(
                    case
                      when transactions.accepted_variant > 0 then (variant_of (transactions.id, transactions.accepted_variant)).json_bytes
                      else transactions.json_bytes
                    end + 19930 * (
                      select count(*)
                      from transaction_inputs
                      where transaction_id = page.key
                    )
                  ) over () as most
                from
                  (
                    select
                      keys.key,
                      keys.position
                    from
                      unnest(
                        array(
                          select "id"
                          from "transactions"
                          where
                            subnetwork_id > 1
                            and subnetwork_id = (
                              select key
                              from lane
                            )
                          order by "id" desc
                          limit $4::bigint + 1
                        )
                      ) with ordinality as keys (key, position)
                  ) page
                  join transactions on transactions.id = page.key
              ) estimated
          ) summed
      )
    select
      case
        when (
          select key
          from lane
        ) is null then 'unknown'
        else null
      end::text as problem,
      json_build_object(
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
                        ) as "outputs"
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
              where page.is_shown
              order by page.position asc
            ) listed
        ),
        'metadata',
        (
          select json_build_object('hasMore', found > shown, 'count', shown)
          from
            (
              select
                count(*) as found,
                count(*) filter (
                  where page.is_shown
                ) as shown
              from page
            ) counted
        )
      )::json as body
  ) content;

-- “lane transactions after no no no no”: starting_after=…
--   like “lane transactions first no no no no”, except:
--              ) as key
--          ),
--   +      "cursor" as materialized (
--   +        select
--   +          (
--   +            select id
--   +            from transactions
--   +            where
--   +              substring(
--   +                "transactions"."transaction_id"
--   +                from 1 for 7
--   +              ) = substring(
--   +                $3::bytea
--   +                from 1 for 7
--   +              )
--   +              and "transactions"."transaction_id" = $4::bytea
--   +              and subnetwork_id > 1
--   +              and subnetwork_id = (
--   +                select key
--   +                from lane
--   +              )
--   +          ) as key
--   +      ),
--          "page" as materialized (
--            select
--              key,
--              position,
--   -          position <= $3::bigint
--   +          position <= $5::bigint
--              and (
--                position = 1
--   …
--                                  from lane
--                                )
--   +                            and "id" < (
--   +                              select key
--   +                              from cursor
--   +                            )
--                              order by "id" desc
--   -                          limit $4::bigint + 1
--   +                          limit $6::bigint + 1
--                            )
--                          ) with ordinality as keys (key, position)
--   …
--              from lane
--            ) is null then 'unknown'
--   -        else null
--   +        else case
--   +          when (
--   +            select key
--   +            from cursor
--   +          ) is null then 'unknown cursor'
--   +        end
--          end::text as problem,
--          json_build_object(

-- “lane transactions before no no no no”: ending_before=…
--   like “lane transactions after no no no no”, except:
--                                  from lane
--                                )
--   -                            and "id" < (
--   +                            and "id" > (
--                                  select key
--                                  from cursor
--                                )
--   -                          order by "id" desc
--   +                          order by "id" asc
--                              limit $6::bigint + 1
--                            )
--   …
--                    ) containing
--                  where page.is_shown
--   -              order by page.position asc
--   +              order by page.position desc
--                ) listed
--            ),

-- “lane transactions first yes no no no”: accepted_only=true
--   like “lane transactions first no no no no”, except:
--                            array(
--                              select "id"
--   -                          from "transactions"
--   +                          from
--   +                            (
--   +                              select
--   +                                "id",
--   +                                "accepting_index"
--   +                              from "transactions"
--   +                              where
--   +                                subnetwork_id > 1
--   +                                and subnetwork_id = (
--   +                                  select key
--   +                                  from lane
--   +                                )
--   +                              order by "id" desc
--   +                              limit 10000
--   +                            ) "transactions"
--                              where
--   -                            subnetwork_id > 1
--   -                            and subnetwork_id = (
--   -                              select key
--   -                              from lane
--   +                            (
--   +                              "transactions"."accepting_index" is not null
--   +                              or is_pre_bootstrap ("transactions"."id")
--                                )
--                              order by "id" desc
--   …
--            'metadata',
--            (
--   -          select json_build_object('hasMore', found > shown, 'count', shown)
--   +          select
--   +            case
--   +              when "scannedTo" is null then json_build_object('hasMore', found > shown, 'count', shown)
--   +              else json_build_object('hasMore', true, 'count', shown, 'scannedTo', "scannedTo")
--   +            end
--              from
--                (
--   …
--                  from page
--                ) counted
--   +            cross join lateral (
--   +              select
--   +                case
--   +                  when found = shown then (
--   +                    select encode(transaction_id, 'hex')
--   +                    from transactions
--   +                    where
--   +                      id = (
--   +                        select
--   +                          case when count(*) = 2 then max("id")
--   +                          end
--   +                        from
--   +                          (
--   +                            select "id"
--   +                            from "transactions"
--   +                            where
--   +                              subnetwork_id > 1
--   +                              and subnetwork_id = (
--   +                                select key
--   +                                from lane
--   +                              )
--   +                            order by "id" desc
--   +                            offset 9999
--   +                            limit 2
--   +                          ) last
--   +                      )
--   +                  )
--   +                end as "scannedTo"
--   +            ) examined
--            )
--          )::json as body

-- “lane transactions first no yes no no”: include_payload=true
--   like “lane transactions first no no no no”, except:
--                        when transactions.accepted_variant > 0 then (variant_of (transactions.id, transactions.accepted_variant)).json_bytes
--                        else transactions.json_bytes
--   -                  end as estimate,
--   +                  end + 2 * octet_length(transactions.payload) as estimate,
--                      sum(
--                        case
--                          when transactions.accepted_variant > 0 then (variant_of (transactions.id, transactions.accepted_variant)).json_bytes
--                          else transactions.json_bytes
--   -                    end + 19930 * (
--   +                    end + 2 * octet_length(transactions.payload) + 19930 * (
--                          select count(*)
--                          from transaction_inputs
--   …
--                            "transactions"."lock_time"::text as "lockTime",
--                            "transactions"."gas"::text as "gas",
--   +                        case
--   +                          when octet_length(transactions.payload) = 0 then ''
--   +                          else '0x' || encode(transactions.payload, 'hex')
--   +                        end as "payload",
--                            containing."blockHashes" as "blockHashes",
--                            containing."blockCount" as "blockCount",

-- “lane transactions first no no yes no”: include=tags
--   like “lane transactions first no no no no”, except:
--                  from page
--                ) counted
--   +        ),
--   +        'tags',
--   +        (
--   +          select
--   +            coalesce(
--   +              json_object_agg(touched.address, touched.tag) filter (
--   +                where touched.tag is not null
--   +              ),
--   +              '{}'
--   +            )
--   +          from
--   +            (
--   +              select
--   +                scripts.address,
--   +                coalesce(
--   +                  (
--   +                    select to_json(tag)
--   +                    from
--   +                      (
--   +                        select
--   +                          address,
--   +                          name,
--   +                          link,
--   +                          labels
--   +                        from tags
--   +                        where tags.address = scripts.address
--   +                      ) tag
--   +                  ),
--   +                  (
--   +                    select to_json(tag)
--   +                    from
--   +                      (
--   +                        select
--   +                          scripts.address as address,
--   +                          name,
--   +                          link,
--   +                          labels,
--   +                          true as "isGuessed"
--   +                        from clusters
--   +                        where
--   +                          id = (
--   +                            select above.root_id
--   +                            from
--   +                              (
--   +                                select scripts.id as script_id
--   +                              ) given
--   +                              cross join lateral (
--   +                                with recursive
--   +                                  up as (
--   +                                    select
--   +                                      m.script_id as root_id,
--   +                                      m.parent_id
--   +                                    from cluster_members m
--   +                                    where m.script_id = given.script_id
--   +                                    union all
--   +                                    select
--   +                                      m.script_id,
--   +                                      m.parent_id
--   +                                    from
--   +                                      up
--   +                                      join cluster_members m on m.script_id = up.parent_id
--   +                                  )
--   +                                select up.root_id
--   +                                from up
--   +                                where up.parent_id is null
--   +                              ) above
--   +                          )
--   +                        offset 0
--   +                      ) tag
--   +                    where name is not null
--   +                  )
--   +                ) as tag
--   +              from
--   +                unnest(
--   +                  array(
--   +                    select distinct
--   +                      script_deltas.script_id
--   +                    from
--   +                      (
--   +                        select page.key
--   +                        from page
--   +                        where page.is_shown
--   +                        order by page.position asc
--   +                      ) listed
--   +                      join script_deltas on script_deltas.transaction_id = listed.key
--   +                  )
--   +                ) within (script_id)
--   +                join scripts on scripts.id = within.script_id
--   +                and scripts.address is not null
--   +            ) touched
--            )
--          )::json as body

-- “lane transactions first no yes no yes”: include=programs
--   like “lane transactions first no yes no no”, except:
--                                                else "input"."compute_budget"
--                                              end as "computeBudget",
--   +                                          script.version as "spentScriptVersion",
--                                              case
--                                                when (
--   …
--                                                else "input"."sig_op_count"
--                                              end as "sigOpCount",
--   +                                          script.version as "spentScriptVersion",
--                                              case
--                                                when (
--   …
--                                                  ) object
--                                              ) as "covenant",
--   +                                          events.kinds ->> encode(output.covenant_id, 'hex') as "covenantEvent",
--                                              coalesce(spending.accepted, spending.other) as "spentBy",
--                                              spending.accepted is not null as "isSpent"
--   …
--                                              script.address as "scriptPublicKeyAddress",
--                                              script.type as "scriptPublicKeyType",
--   +                                          events.kinds ->> encode(output.covenant_id, 'hex') as "covenantEvent",
--                                              coalesce(spending.accepted, spending.other) as "spentBy",
--                                              spending.accepted is not null as "isSpent"
--   …
--                                        join transactions spender on spender.id = found.id
--                                    ) spending
--   +                                cross join (
--   +                                  select jsonb_object_agg(encode(covenants.covenant_id, 'hex'), event.kind) as kinds
--   +                                  from
--   +                                    covenant_events event
--   +                                    join covenants on covenants.id = event.covenant_id
--   +                                  where
--   +                                    event.transaction_id = transactions.id
--   +                                    and event.chain_index = transactions.accepting_index
--   +                                  offset 0
--   +                                ) events
--                                  where output.transaction_id = transactions.id
--                                  order by output.index

-- “lane transactions first no yes yes yes”: include=tags,programs
--   like “lane transactions first no no yes no”, except:
--                        when transactions.accepted_variant > 0 then (variant_of (transactions.id, transactions.accepted_variant)).json_bytes
--                        else transactions.json_bytes
--   -                  end as estimate,
--   +                  end + 2 * octet_length(transactions.payload) as estimate,
--                      sum(
--                        case
--                          when transactions.accepted_variant > 0 then (variant_of (transactions.id, transactions.accepted_variant)).json_bytes
--                          else transactions.json_bytes
--   -                    end + 19930 * (
--   +                    end + 2 * octet_length(transactions.payload) + 19930 * (
--                          select count(*)
--                          from transaction_inputs
--   …
--                            "transactions"."lock_time"::text as "lockTime",
--                            "transactions"."gas"::text as "gas",
--   +                        case
--   +                          when octet_length(transactions.payload) = 0 then ''
--   +                          else '0x' || encode(transactions.payload, 'hex')
--   +                        end as "payload",
--                            containing."blockHashes" as "blockHashes",
--                            containing."blockCount" as "blockCount",
--   …
--                                                else "input"."compute_budget"
--                                              end as "computeBudget",
--   +                                          script.version as "spentScriptVersion",
--                                              case
--                                                when (
--   …
--                                                else "input"."sig_op_count"
--                                              end as "sigOpCount",
--   +                                          script.version as "spentScriptVersion",
--                                              case
--                                                when (
--   …
--                                                  ) object
--                                              ) as "covenant",
--   +                                          events.kinds ->> encode(output.covenant_id, 'hex') as "covenantEvent",
--                                              coalesce(spending.accepted, spending.other) as "spentBy",
--                                              spending.accepted is not null as "isSpent"
--   …
--                                              script.address as "scriptPublicKeyAddress",
--                                              script.type as "scriptPublicKeyType",
--   +                                          events.kinds ->> encode(output.covenant_id, 'hex') as "covenantEvent",
--                                              coalesce(spending.accepted, spending.other) as "spentBy",
--                                              spending.accepted is not null as "isSpent"
--   …
--                                        join transactions spender on spender.id = found.id
--                                    ) spending
--   +                                cross join (
--   +                                  select jsonb_object_agg(encode(covenants.covenant_id, 'hex'), event.kind) as kinds
--   +                                  from
--   +                                    covenant_events event
--   +                                    join covenants on covenants.id = event.covenant_id
--   +                                  where
--   +                                    event.transaction_id = transactions.id
--   +                                    and event.chain_index = transactions.accepting_index
--   +                                  offset 0
--   +                                ) events
--                                  where output.transaction_id = transactions.id
--                                  order by output.index
