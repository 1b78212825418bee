-- The statements of this area as Postgres gets them, by operation. `npm run generate:statements` writes this file, and test/statements compares it
-- and lets Postgres describe each statement. A statement is shown where it is sent first.
--
-- Filters, cursors, directions and `include` choose the pieces of a statement. Each value of each parameter is tried with the example of its operation,
-- never two parameters together, and SQL that this leaves out by further requests. So every piece is here, and not every combination. A statement that is
-- like an earlier one of its operation is shown as the lines that differ, if these are fewer.

-- listInscriptions ------------------------------------------------------------------------------------

-- “inscriptions first no no no no”
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
          *,
          position <= $2::bigint
          and (
            position = 1
            or bytes_until <= 1048576
          ) as is_shown
        from
          (
            select
              keys.*,
              source.bytes,
              sum(coalesce(octet_length(source.bytes), 0)) over (
                order by keys.position
              ) as bytes_until
            from
              unnest(
                array(
                  select row (i.transaction_id, i.owner_script_id, i.kind_id, i.input)::inscriptions
                  from
                    (
                      select i.*
                      from inscriptions i
                      where true
                      order by
                        i.transaction_id desc,
                        i.input desc
                      limit 10000
                    ) i
                  order by
                    i.transaction_id desc,
                    i.input desc
                  limit $3::bigint + 1
                )
              ) with ordinality as keys (transaction_id, owner_script_id, kind_id, input, position)
              join transactions t on t.id = keys.transaction_id
              left join transaction_inputs spending on spending.transaction_id = keys.transaction_id
              and spending.index = keys.input
              and t.accepted_variant = 0
              cross join lateral (
                select
                  case
                    when keys.input < 0 then t.payload
                    when t.accepted_variant = 0 then spending.signature_script
                    else (variant_input (t.id, t.accepted_variant, keys.input)).signature_script
                  end as bytes
              ) source
          ) summed
      )
    select
      null::text as problem,
      json_build_object(
        'inscriptions',
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
                        encode(transactions.transaction_id, 'hex') as "transactionId",
                        case
                          when page.input < 0 then '"payload"'::json
                          else json_build_object('input', page.input)
                        end as "source",
                        kinds.protocol as "protocol",
                        nullif(kinds.operation, '') as "operation",
                        nullif(kinds.tick, '') as "tick",
                        encode(page.bytes, 'hex') as "body",
                        transactions.accepting_index is not null as "isAccepted",
                        accepting.timestamp as "timestamp"
                    ) object
                ) as item
              from
                page
                join transactions on transactions.id = page.transaction_id
                join inscription_kinds kinds on kinds.id = page.kind_id
                left join chain_blocks accepting on accepting.index = transactions.accepting_index
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

-- “inscriptions after no no no no”: starting_after=…
--   like “inscriptions first no no no no”, except:
--      cross join lateral (
--        with
--   +      "cursor" as materialized (
--   +        select
--   +          transactions.id as key,
--   +          $2::integer as input
--   +        from transactions
--   +        where
--   +          substring(
--   +            "transactions"."transaction_id"
--   +            from 1 for 7
--   +          ) = substring(
--   +            $3::bytea
--   +            from 1 for 7
--   +          )
--   +          and "transactions"."transaction_id" = $4::bytea
--   +          and (
--   +            $5::integer < 0
--   +            or $6::integer = 32767
--   +            or exists (
--   +              select
--   +              from transaction_inputs
--   +              where
--   +                transaction_id = transactions.id
--   +                and index = $7::integer
--   +              offset 0
--   +            )
--   +          )
--   +      ),
--          "page" as materialized (
--            select
--              *,
--   -          position <= $2::bigint
--   +          position <= $8::bigint
--              and (
--                position = 1
--   …
--                          select i.*
--                          from inscriptions i
--   -                      where true
--   +                      where
--   +                        (i.transaction_id, i.input) < (
--   +                          (
--   +                            select key
--   +                            from cursor
--   +                          ),
--   +                          (
--   +                            select input
--   +                            from cursor
--   +                          )
--   +                        )
--                          order by
--                            i.transaction_id desc,
--   …
--                        i.transaction_id desc,
--                        i.input desc
--   -                  limit $3::bigint + 1
--   +                  limit $9::bigint + 1
--                    )
--                  ) with ordinality as keys (transaction_id, owner_script_id, kind_id, input, position)
--   …
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
--            'inscriptions',

-- “inscriptions before no no no no”: ending_before=…
--   like “inscriptions after no no no no”, except:
--                          from inscriptions i
--                          where
--   -                        (i.transaction_id, i.input) < (
--   +                        (i.transaction_id, i.input) > (
--                              (
--                                select key
--   …
--                            )
--                          order by
--   -                        i.transaction_id desc,
--   -                        i.input desc
--   +                        i.transaction_id asc,
--   +                        i.input asc
--                          limit 10000
--                        ) i
--                      order by
--   -                    i.transaction_id desc,
--   -                    i.input desc
--   +                    i.transaction_id asc,
--   +                    i.input asc
--                      limit $9::bigint + 1
--                    )
--   …
--                    left join chain_blocks accepting on accepting.index = transactions.accepting_index
--                  where page.is_shown
--   -              order by page.position asc
--   +              order by page.position desc
--                ) listed
--            ),

-- “inscriptions first no no yes no”: protocol=krc20
--   like “inscriptions first no no no no”, except:
--                          limit 10000
--                        ) i
--   +                  where
--   +                    exists (
--   +                      select
--   +                      from inscription_kinds k
--   +                      where
--   +                        k.id = i.kind_id
--   +                        and k.protocol = $3::text
--   +                    )
--                      order by
--                        i.transaction_id desc,
--                        i.input desc
--   -                  limit $3::bigint + 1
--   +                  limit $4::bigint + 1
--                    )
--                  ) with ordinality as keys (transaction_id, owner_script_id, kind_id, input, position)
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
--   +                    select
--   +                      case
--   +                        when count(*) = 2 then (
--   +                          array_agg(
--   +                            (
--   +                              select
--   +                                encode(transaction_id, 'hex') || ':' || case
--   +                                  when last.input < 0 then 'payload'
--   +                                  else last.input::text
--   +                                end
--   +                              from transactions
--   +                              where id = last.transaction_id
--   +                            )
--   +                            order by
--   +                              last.transaction_id desc,
--   +                              last.input desc
--   +                          )
--   +                        ) [1]
--   +                      end
--   +                    from
--   +                      (
--   +                        select i.*
--   +                        from inscriptions i
--   +                        where true
--   +                        order by
--   +                          i.transaction_id desc,
--   +                          i.input desc
--   +                        offset 9999
--   +                        limit 2
--   +                      ) last
--   +                  )
--   +                end as "scannedTo"
--   +            ) examined
--            )
--          )::json as body

-- “inscriptions first no no no yes”: operation=mint
--   like “inscriptions first no no yes no”, except:
--                          where
--                            k.id = i.kind_id
--   -                        and k.protocol = $3::text
--   +                        and k.operation = $3::text
--                        )
--                      order by

-- “inscriptions first no yes no no”: tick=BOATS
--   like “inscriptions first no no no no”, except:
--                        (
--                          select i.*
--   -                      from inscriptions i
--   -                      where true
--   +                      from
--   +                        inscription_kinds k
--   +                        cross join lateral (
--   +                          select i.*
--   +                          from inscriptions i
--   +                          where
--   +                            i.kind_id between k.id and k.id
--   +                            and true
--   +                          order by
--   +                            i.kind_id desc,
--   +                            i.transaction_id desc,
--   +                            i.input desc
--   +                          limit 101
--   +                        ) i
--   +                      where
--   +                        lower(k.tick) = lower($3::text)
--   +                        and k.tick in ($4::text, lower($5::text), upper($6::text))
--   +                        and k.tick <> ''
--                          order by
--                            i.transaction_id desc,
--   …
--                        i.transaction_id desc,
--                        i.input desc
--   -                  limit $3::bigint + 1
--   +                  limit $7::bigint + 1
--                    )
--                  ) with ordinality as keys (transaction_id, owner_script_id, kind_id, input, position)

-- “inscriptions first yes no no no”: address=…
--   like “inscriptions first no no no no”, except:
--      cross join lateral (
--        with
--   +      "script" as materialized (
--   +        select
--   +          (
--   +            select id
--   +            from scripts
--   +            where address = $2::text
--   +          ) as id
--   +      ),
--          "page" as materialized (
--            select
--              *,
--   -          position <= $2::bigint
--   +          position <= $3::bigint
--              and (
--                position = 1
--   …
--                          select i.*
--                          from inscriptions i
--   -                      where true
--   +                      where
--   +                        i.owner_script_id between (
--   +                          select id
--   +                          from script
--   +                        ) and (
--   +                          select id
--   +                          from script
--   +                        )
--   +                        and true
--                          order by
--   +                        i.owner_script_id desc,
--                            i.transaction_id desc,
--                            i.input desc
--   …
--                        ) i
--                      order by
--   +                    i.owner_script_id desc,
--                        i.transaction_id desc,
--                        i.input desc
--   -                  limit $3::bigint + 1
--   +                  limit $4::bigint + 1
--                    )
--                  ) with ordinality as keys (transaction_id, owner_script_id, kind_id, input, position)
