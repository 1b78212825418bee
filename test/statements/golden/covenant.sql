-- The statements of this area as Postgres gets them, by operation. `npm run generate:statements` writes this file, and test/statements compares it
-- and lets Postgres describe each statement. A statement is shown where it is sent first.
--
-- Filters, cursors, directions and `include` choose the pieces of a statement. Each value of each parameter is tried with the example of its operation,
-- never two parameters together, and SQL that this leaves out by further requests. So every piece is here, and not every combination. A statement that is
-- like an earlier one of its operation is shown as the lines that differ, if these are fewer.

-- listCovenants ---------------------------------------------------------------------------------------

-- “covenants first last_seen any no no”
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
              select id
              from
                (
                  select
                    id,
                    template_id,
                    "last_seen",
                    utxo_count,
                    is_complete,
                    covenant_id
                  from covenants
                  order by
                    "last_seen" desc,
                    covenant_id desc
                  limit $2::bigint + 1
                ) covenants
            )
          ) with ordinality as keys (key, position)
      )
    select
      null::text as problem,
      json_build_object(
        'covenants',
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
                        encode("covenants"."covenant_id", 'hex') as "covenantId",
                        covenants.is_complete as "isComplete",
                        (
                          select
                            (
                              select to_json(object)
                              from
                                (
                                  select
                                    encode("birth"."transaction_id", 'hex') as "transactionId",
                                    (
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
                                            input.previous_index as "index"
                                        ) object
                                    ) as "previousOutput",
                                    block.timestamp as "timestamp"
                                ) object
                            )
                          from
                            transactions birth
                            join chain_blocks block on block.index = birth.accepting_index
                            cross join lateral (
                              select covenant_authorizing_input as index
                              from transaction_outputs output
                              where
                                output.transaction_id = birth.id
                                and output.covenant_id = covenants.covenant_id
                              limit 1
                            ) authorizing
                            cross join lateral (
                              select *
                              from transaction_inputs
                              where
                                transaction_id = birth.id
                                and index = authorizing.index
                              limit 1
                            ) input
                            left join transactions previous on previous.id = input.previous_transaction_id
                          where birth.id = covenants.genesis_transaction_id
                        ) as "genesis",
                        covenants.utxo_count > 0 as "isLive",
                        covenants.utxo_count as "utxoCount",
                        "covenants"."balance"::text as "balance",
                        covenants.event_count as "eventCount",
                        covenants.first_seen as "firstSeen",
                        covenants.last_seen as "lastSeen",
                        encode("program_templates"."template", 'hex') as "template"
                    ) object
                ) as item
              from
                page
                join covenants on covenants.id = page.key
                left join program_templates on program_templates.id = covenants.template_id
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

-- “covenants after last_seen any no no”: starting_after=…
--   like “covenants first last_seen any no no”, except:
--      cross join lateral (
--        with
--   +      "cursor" as materialized (
--   +        select
--   +          id as key,
--   +          coalesce($2::bigint, last_seen) as time,
--   +          covenant_id
--   +        from covenants
--   +        where covenant_id = $3::bytea
--   +      ),
--          "page" as materialized (
--            select
--   …
--                        covenant_id
--                      from covenants
--   +                  where
--   +                    ("last_seen", covenant_id) < (
--   +                      (
--   +                        select time
--   +                        from cursor
--   +                      ),
--   +                      (
--   +                        select covenant_id
--   +                        from cursor
--   +                      )
--   +                    )
--                      order by
--                        "last_seen" desc,
--                        covenant_id desc
--   -                  limit $2::bigint + 1
--   +                  limit $4::bigint + 1
--                    ) covenants
--                )
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
--            'covenants',
--   …
--                    join covenants on covenants.id = page.key
--                    left join program_templates on program_templates.id = covenants.template_id
--   -              where page.position <= $3::bigint
--   +              where page.position <= $5::bigint
--                  order by page.position asc
--                ) listed
--   …
--                    count(*) as found,
--                    count(*) filter (
--   -                  where page.position <= $4::bigint
--   +                  where page.position <= $6::bigint
--                    ) as shown
--                  from page

-- “covenants before last_seen any no no”: ending_before=…
--   like “covenants after last_seen any no no”, except:
--                      from covenants
--                      where
--   -                    ("last_seen", covenant_id) < (
--   +                    ("last_seen", covenant_id) > (
--                          (
--                            select time
--   …
--                        )
--                      order by
--   -                    "last_seen" desc,
--   -                    covenant_id desc
--   +                    "last_seen" asc,
--   +                    covenant_id asc
--                      limit $4::bigint + 1
--                    ) covenants
--   …
--                    left join program_templates on program_templates.id = covenants.template_id
--                  where page.position <= $5::bigint
--   -              order by page.position asc
--   +              order by page.position desc
--                ) listed
--            ),

-- “covenants first created any no no”: order=created
--   like “covenants first last_seen any no no”, except:
--                        id,
--                        template_id,
--   -                    "last_seen",
--   +                    "first_seen",
--                        utxo_count,
--                        is_complete,
--   …
--                      from covenants
--                      order by
--   -                    "last_seen" desc,
--   +                    "first_seen" desc,
--                        covenant_id desc
--                      limit $2::bigint + 1

-- “covenants first last_seen any yes no”: live_only=true
--   like “covenants first last_seen any no no”, except:
--                        "last_seen" desc,
--                        covenant_id desc
--   -                  limit $2::bigint + 1
--   +                  limit 10000
--                    ) covenants
--   +              where utxo_count > 0
--   +              order by
--   +                "last_seen" desc,
--   +                covenant_id desc
--   +              limit $2::bigint + 1
--                )
--              ) with ordinality as keys (key, position)
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
--   +                            "last_seen" || ':' || encode(covenant_id, 'hex')
--   +                            order by
--   +                              "last_seen" desc,
--   +                              covenant_id desc
--   +                          )
--   +                        ) [1]
--   +                      end
--   +                    from
--   +                      (
--   +                        select
--   +                          id,
--   +                          template_id,
--   +                          "last_seen",
--   +                          utxo_count,
--   +                          is_complete,
--   +                          covenant_id
--   +                        from covenants
--   +                        order by
--   +                          "last_seen" desc,
--   +                          covenant_id desc
--   +                        offset 9999
--   +                        limit 2
--   +                      ) last
--   +                  )
--   +                end as "scannedTo"
--   +            ) examined
--            )
--          )::json as body

-- “covenants first last_seen any no yes”: complete_only=true
--   like “covenants first last_seen any yes no”, except:
--                      limit 10000
--                    ) covenants
--   -              where utxo_count > 0
--   +              where is_complete
--                  order by
--                    "last_seen" desc,

-- “covenants first last_seen filter no no”: template=…
--   like “covenants first last_seen any no no”, except:
--      cross join lateral (
--        with
--   +      "template" as materialized (
--   +        select id
--   +        from program_templates
--   +        where template = $2::bytea
--   +      ),
--          "page" as materialized (
--            select
--   …
--                        covenant_id
--                      from covenants
--   +                  where
--   +                    template_id >= (
--   +                      select id
--   +                      from template
--   +                    )
--   +                    and template_id <= (
--   +                      select id
--   +                      from template
--   +                    )
--                      order by
--   +                    template_id desc,
--                        "last_seen" desc,
--                        covenant_id desc
--   -                  limit $2::bigint + 1
--   +                  limit $3::bigint + 1
--                    ) covenants
--                )
--   …
--                    join covenants on covenants.id = page.key
--                    left join program_templates on program_templates.id = covenants.template_id
--   -              where page.position <= $3::bigint
--   +              where page.position <= $4::bigint
--                  order by page.position asc
--                ) listed
--   …
--                    count(*) as found,
--                    count(*) filter (
--   -                  where page.position <= $4::bigint
--   +                  where page.position <= $5::bigint
--                    ) as shown
--                  from page

-- “covenants first last_seen any no no, together”: several at once
--   like “covenants first last_seen any no no”, except:
--      )
--    select
--   -  case when state.version is distinct from $1::bigint then index_state ()
--   +  case
--   +    when given.position = 1
--   +    and state.version is distinct from $1::bigint then index_state ()
--      end as state,
--      content.*
--    from
--      state
--   +  cross join unnest($2::bigint[]) with ordinality as given ("limit", "position")
--      cross join lateral (
--        with
--   …
--                        "last_seen" desc,
--                        covenant_id desc
--   -                  limit $2::bigint + 1
--   +                  limit "given"."limit" + 1
--                    ) covenants
--                )
--   …
--                    join covenants on covenants.id = page.key
--                    left join program_templates on program_templates.id = covenants.template_id
--   -              where page.position <= $3::bigint
--   +              where page.position <= "given"."limit"
--                  order by page.position asc
--                ) listed
--   …
--                    count(*) as found,
--                    count(*) filter (
--   -                  where page.position <= $4::bigint
--   +                  where page.position <= "given"."limit"
--                    ) as shown
--                  from page
--   …
--            )
--          )::json as body
--   -  ) content
--   \ No newline at end of file
--   +  ) content
--   +order by given.position
--   \ No newline at end of file

-- “covenants first created filter yes no”: all filters
--   like “covenants first last_seen any yes no”, except:
--      cross join lateral (
--        with
--   +      "template" as materialized (
--   +        select id
--   +        from program_templates
--   +        where template = $2::bytea
--   +      ),
--          "page" as materialized (
--            select
--   …
--                        id,
--                        template_id,
--   -                    "last_seen",
--   +                    "first_seen",
--                        utxo_count,
--                        is_complete,
--   …
--                      from covenants
--                      order by
--   -                    "last_seen" desc,
--   +                    "first_seen" desc,
--                        covenant_id desc
--                      limit 10000
--                    ) covenants
--   -              where utxo_count > 0
--   +              where
--   +                template_id = (
--   +                  select id
--   +                  from template
--   +                )
--   +                and utxo_count > 0
--                  order by
--   -                "last_seen" desc,
--   +                "first_seen" desc,
--                    covenant_id desc
--   -              limit $2::bigint + 1
--   +              limit $3::bigint + 1
--                )
--              ) with ordinality as keys (key, position)
--   …
--                    join covenants on covenants.id = page.key
--                    left join program_templates on program_templates.id = covenants.template_id
--   -              where page.position <= $3::bigint
--   +              where page.position <= $4::bigint
--                  order by page.position asc
--                ) listed
--   …
--                    count(*) as found,
--                    count(*) filter (
--   -                  where page.position <= $4::bigint
--   +                  where page.position <= $5::bigint
--                    ) as shown
--                  from page
--   …
--                            when count(*) = 2 then (
--                              array_agg(
--   -                            "last_seen" || ':' || encode(covenant_id, 'hex')
--   +                            "first_seen" || ':' || encode(covenant_id, 'hex')
--                                order by
--   -                              "last_seen" desc,
--   +                              "first_seen" desc,
--                                  covenant_id desc
--                              )
--   …
--                              id,
--                              template_id,
--   -                          "last_seen",
--   +                          "first_seen",
--                              utxo_count,
--                              is_complete,
--   …
--                            from covenants
--                            order by
--   -                          "last_seen" desc,
--   +                          "first_seen" desc,
--                              covenant_id desc
--                            offset 9999

-- getCovenants ----------------------------------------------------------------------------------------

-- “covenants by ids”
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
          covenants.id as key,
          requested.position
        from
          unnest($2::bytea[]) with ordinality as requested (id, position)
          join covenants on covenants.covenant_id = requested.id
      )
    select
      null::text as problem,
      json_build_object(
        'covenants',
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
                        encode("covenants"."covenant_id", 'hex') as "covenantId",
                        covenants.is_complete as "isComplete",
                        (
                          select
                            (
                              select to_json(object)
                              from
                                (
                                  select
                                    encode("birth"."transaction_id", 'hex') as "transactionId",
                                    (
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
                                            input.previous_index as "index"
                                        ) object
                                    ) as "previousOutput",
                                    block.timestamp as "timestamp"
                                ) object
                            )
                          from
                            transactions birth
                            join chain_blocks block on block.index = birth.accepting_index
                            cross join lateral (
                              select covenant_authorizing_input as index
                              from transaction_outputs output
                              where
                                output.transaction_id = birth.id
                                and output.covenant_id = covenants.covenant_id
                              limit 1
                            ) authorizing
                            cross join lateral (
                              select *
                              from transaction_inputs
                              where
                                transaction_id = birth.id
                                and index = authorizing.index
                              limit 1
                            ) input
                            left join transactions previous on previous.id = input.previous_transaction_id
                          where birth.id = covenants.genesis_transaction_id
                        ) as "genesis",
                        covenants.utxo_count > 0 as "isLive",
                        covenants.utxo_count as "utxoCount",
                        "covenants"."balance"::text as "balance",
                        covenants.event_count as "eventCount",
                        covenants.first_seen as "firstSeen",
                        covenants.last_seen as "lastSeen",
                        encode("program_templates"."template", 'hex') as "template"
                    ) object
                ) as item
              from
                page
                join covenants on covenants.id = page.key
                left join program_templates on program_templates.id = covenants.template_id
              order by page.position
            ) listed
        )
      )::json as body
  ) content;

-- getCovenant -----------------------------------------------------------------------------------------

-- “covenant”
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
        select id as key
        from covenants
        where covenant_id = $2::bytea
      )
    select
      case
        when not exists (
          select
          from page
        ) then 'unknown'
      end::text as problem,
      json_build_object(
        'covenant',
        (
          select
            (
              select to_json(object)
              from
                (
                  select
                    encode("covenants"."covenant_id", 'hex') as "covenantId",
                    covenants.is_complete as "isComplete",
                    (
                      select
                        (
                          select to_json(object)
                          from
                            (
                              select
                                encode("birth"."transaction_id", 'hex') as "transactionId",
                                (
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
                                        input.previous_index as "index"
                                    ) object
                                ) as "previousOutput",
                                block.timestamp as "timestamp"
                            ) object
                        )
                      from
                        transactions birth
                        join chain_blocks block on block.index = birth.accepting_index
                        cross join lateral (
                          select covenant_authorizing_input as index
                          from transaction_outputs output
                          where
                            output.transaction_id = birth.id
                            and output.covenant_id = covenants.covenant_id
                          limit 1
                        ) authorizing
                        cross join lateral (
                          select *
                          from transaction_inputs
                          where
                            transaction_id = birth.id
                            and index = authorizing.index
                          limit 1
                        ) input
                        left join transactions previous on previous.id = input.previous_transaction_id
                      where birth.id = covenants.genesis_transaction_id
                    ) as "genesis",
                    covenants.utxo_count > 0 as "isLive",
                    covenants.utxo_count as "utxoCount",
                    "covenants"."balance"::text as "balance",
                    covenants.event_count as "eventCount",
                    covenants.first_seen as "firstSeen",
                    covenants.last_seen as "lastSeen",
                    encode("program_templates"."template", 'hex') as "template"
                ) object
            )
          from
            page
            join covenants on covenants.id = page.key
            left join program_templates on program_templates.id = covenants.template_id
        )
      )::json as body
  ) content;

-- “covenant, together”: several at once
--   like “covenant”, except:
--      )
--    select
--   -  case when state.version is distinct from $1::bigint then index_state ()
--   +  case
--   +    when given.position = 1
--   +    and state.version is distinct from $1::bigint then index_state ()
--      end as state,
--      content.*
--    from
--      state
--   +  cross join unnest($2::bytea[]) with ordinality as given ("id", "position")
--      cross join lateral (
--        with
--   …
--            select id as key
--            from covenants
--   -        where covenant_id = $2::bytea
--   +        where covenant_id = "given"."id"
--          )
--        select
--   …
--            )
--          )::json as body
--   -  ) content
--   \ No newline at end of file
--   +  ) content
--   +order by given.position
--   \ No newline at end of file

-- listCovenantUtxos -----------------------------------------------------------------------------------

-- “utxos of a covenant first”
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
      "covenant" as materialized (
        select covenant_id
        from covenants
        where covenant_id = $2::bytea
      ),
      "page" as materialized (
        select
          held.*,
          held.ordinality as position
        from
          unnest(
            array(
              select utxos
              from utxos
              where
                covenant_id <= (
                  select covenant_id
                  from covenant
                )
                and covenant_id >= (
                  select covenant_id
                  from covenant
                )
              order by
                covenant_id desc,
                transaction_id desc,
                index desc
              limit $3::bigint + 1
            )
          ) with ordinality as held
      )
    select
      case
        when not exists (
          select
          from covenant
        ) then 'unknown'
        else null
      end::text as problem,
      json_build_object(
        'utxos',
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
                        encode(coalesce(transactions.transaction_id, earlier.transaction_id), 'hex') as "transactionId",
                        page.index as "index",
                        "page"."amount"::text as "amount",
                        "page"."block_daa_score"::text as "blockDaaScore",
                        page.is_coinbase as "isCoinbase",
                        encode("scripts"."script", 'hex') as "scriptPublicKey"
                    ) object
                ) as item
              from
                page
                join scripts on scripts.id = page.script_id
                left join transactions on transactions.id = page.transaction_id
                left join pre_bootstrap_transactions earlier on earlier.id = page.transaction_id
              where page.position <= $4::bigint
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
                  where page.position <= $5::bigint
                ) as shown
              from page
            ) counted
        )
      )::json as body
  ) content;

-- “utxos of a covenant after”: starting_after=…
--   like “utxos of a covenant first”, except:
--            where covenant_id = $2::bytea
--          ),
--   +      "cursor" as materialized (
--   +        select
--   +          o.transaction_id as key,
--   +          o.index::bigint as index
--   +        from
--   +          transactions t
--   +          cross join lateral (
--   +            select *
--   +            from transaction_outputs
--   +            where
--   +              transaction_id = t.id
--   +              and index = $3::bigint
--   +              and index >> 4 = $4::bigint >> 4
--   +            offset 0
--   +          ) o
--   +        where
--   +          substring(
--   +            "t"."transaction_id"
--   +            from 1 for 7
--   +          ) = substring(
--   +            $5::bytea
--   +            from 1 for 7
--   +          )
--   +          and "t"."transaction_id" = $6::bytea
--   +          and o.covenant_id = (
--   +            select covenant_id
--   +            from covenant
--   +          )
--   +        union
--   +        select
--   +          o.transaction_id,
--   +          o.index
--   +        from
--   +          pre_bootstrap_transactions t
--   +          join bootstrap_utxos o on o.transaction_id = t.id
--   +        where
--   +          t.transaction_id = $7::bytea
--   +          and o.index = $8::bigint
--   +          and o.covenant_id = (
--   +            select covenant_id
--   +            from covenant
--   +          )
--   +        limit 1
--   +      ),
--          "page" as materialized (
--            select
--   …
--                  from utxos
--                  where
--   -                covenant_id <= (
--   -                  select covenant_id
--   -                  from covenant
--   +                (covenant_id, transaction_id, index) < (
--   +                  (
--   +                    select covenant_id
--   +                    from covenant
--   +                  ),
--   +                  (
--   +                    select key
--   +                    from cursor
--   +                  ),
--   +                  (
--   +                    select index
--   +                    from cursor
--   +                  )
--                    )
--                    and covenant_id >= (
--   …
--                    transaction_id desc,
--                    index desc
--   -              limit $3::bigint + 1
--   +              limit $9::bigint + 1
--                )
--              ) with ordinality as held
--   …
--              from covenant
--            ) then 'unknown'
--   -        else null
--   +        else case
--   +          when (
--   +            select key
--   +            from cursor
--   +          ) is null then 'unknown cursor'
--   +        end
--          end::text as problem,
--          json_build_object(
--   …
--                    left join transactions on transactions.id = page.transaction_id
--                    left join pre_bootstrap_transactions earlier on earlier.id = page.transaction_id
--   -              where page.position <= $4::bigint
--   +              where page.position <= $10::bigint
--                  order by page.position asc
--                ) listed
--   …
--                    count(*) as found,
--                    count(*) filter (
--   -                  where page.position <= $5::bigint
--   +                  where page.position <= $11::bigint
--                    ) as shown
--                  from page

-- “utxos of a covenant before”: ending_before=…
--   like “utxos of a covenant after”, except:
--                  from utxos
--                  where
--   -                (covenant_id, transaction_id, index) < (
--   +                (covenant_id, transaction_id, index) > (
--                      (
--                        select covenant_id
--   …
--                      )
--                    )
--   -                and covenant_id >= (
--   +                and covenant_id <= (
--                      select covenant_id
--                      from covenant
--                    )
--                  order by
--   -                covenant_id desc,
--   -                transaction_id desc,
--   -                index desc
--   +                covenant_id asc,
--   +                transaction_id asc,
--   +                index asc
--                  limit $9::bigint + 1
--                )
--   …
--                    left join pre_bootstrap_transactions earlier on earlier.id = page.transaction_id
--                  where page.position <= $10::bigint
--   -              order by page.position asc
--   +              order by page.position desc
--                ) listed
--            ),

-- listCovenantEvents ----------------------------------------------------------------------------------

-- “events of a covenant first”
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
      "covenant" as materialized (
        select id
        from covenants
        where covenant_id = $2::bytea
      ),
      "found" as materialized (
        select
          event.covenant_id as key,
          event.transaction_id,
          event.chain_index,
          event.kind,
          event.ordinality as position
        from
          unnest(
            array(
              select covenant_events
              from covenant_events
              where
                covenant_id <= (
                  select id
                  from covenant
                )
                and covenant_id >= (
                  select id
                  from covenant
                )
                and (
                  not exists (
                    select
                    from gaps
                  )
                  or chain_index = (
                    select accepting_index
                    from transactions
                    where id = covenant_events.transaction_id
                  )
                )
              order by
                covenant_id desc,
                chain_index desc,
                position desc
              limit $3::bigint + 1
            )
          ) with ordinality as event
      ),
      "sized" as materialized (
        select
          touched.*,
          sum(bytes) over (
            order by first
          ) as bytes_until
        from
          (
            select
              touched.*,
              transactions.json_bytes - case
                when sum(transactions.json_bytes) over () > 1048576 then 2 * (
                  select coalesce(sum(octet_length(signature_script)), 0)
                  from transaction_inputs
                  where transaction_id = transactions.id
                )
                else 0
              end as bytes
            from
              (
                select
                  transaction_id,
                  min(position) as first,
                  max(position) as last
                from found
                group by transaction_id
              ) touched
              join transactions on transactions.id = touched.transaction_id
          ) touched
      ),
      "page" as materialized (
        select
          found.*,
          found.position <= $4::bigint
          and (
            sized.first = 1
            or (
              sized.last <= $5::bigint
              and sized.bytes_until <= 1048576
            )
          ) as is_shown
        from
          found
          join sized on sized.transaction_id = found.transaction_id
      ),
      "spent" as materialized (
        select
          input.transaction_id,
          input.index,
          encode(
            coalesce(
              previous.transaction_id,
              nullif(input.previous_transaction_hash, ''),
              pre_bootstrap_transaction_id (input.previous_transaction_id)
            ),
            'hex'
          ) as previous_id,
          input.previous_index,
          input.amount,
          input.script_id,
          coalesce(
            (
              select output.covenant_id
              from transaction_outputs output
              where
                output.transaction_id = input.previous_transaction_id
                and output.index = input.previous_index
                and output.index >> 4 = input.previous_index >> 4
            ),
            (
              select output.covenant_id
              from bootstrap_utxos output
              where
                output.transaction_id = input.previous_transaction_id
                and output.index = input.previous_index
            )
          ) as covenant_id
        from
          (
            select distinct
              transaction_id
            from page
            where
              is_shown
              and kind <> 'genesis'
          ) listed
          join transaction_inputs input on input.transaction_id = listed.transaction_id
          left join transactions previous on previous.id = input.previous_transaction_id
      )
    select
      case
        when not exists (
          select
          from covenant
        ) then 'unknown'
        else null
      end::text as problem,
      json_build_object(
        'events',
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
                        encode("covenants"."covenant_id", 'hex') as "covenantId",
                        encode("transactions"."transaction_id", 'hex') as "transactionId",
                        page.kind as "kind",
                        block.timestamp as "timestamp",
                        encode("block"."hash", 'hex') as "acceptingBlockHash",
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
                                        spent.index as "index",
                                        (
                                          select to_json(object)
                                          from
                                            (
                                              select
                                                spent.previous_id as "transactionId",
                                                spent.previous_index as "index"
                                            ) object
                                        ) as "previousOutput",
                                        "spent"."amount"::text as "amount",
                                        case script.type
                                          when 'scripthash' then (
                                            select to_json(object)
                                            from
                                              (
                                                select
                                                  encode(
                                                    substring(
                                                      script.script
                                                      from 3 for 32
                                                    ),
                                                    'hex'
                                                  ) as "hash",
                                                  (
                                                    select encode("program_templates"."template", 'hex')
                                                    from
                                                      programs
                                                      left join program_templates on program_templates.id = programs.template_id
                                                    where
                                                      programs.hash = substring(
                                                        script.script
                                                        from 3 for 32
                                                      )
                                                  ) as "template"
                                              ) object
                                          )
                                          when 'nonstandard' then (
                                            select
                                              (
                                                select to_json(object)
                                                from
                                                  (
                                                    select
                                                      encode(programs.hash, 'hex') as "hash",
                                                      encode("program_templates"."template", 'hex') as "template"
                                                  ) object
                                              )
                                            from
                                              programs
                                              left join program_templates on program_templates.id = programs.template_id
                                            where programs.script_id = script.id
                                            limit 1
                                          )
                                        end as "program"
                                    ) object
                                ) as item
                              from
                                spent
                                left join scripts script on script.id = spent.script_id
                              where
                                spent.transaction_id = page.transaction_id
                                and spent.covenant_id = covenants.covenant_id
                              order by spent.index
                            ) listed
                        ) as "inputs",
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
                                        output.index as "index",
                                        "output"."amount"::text as "amount",
                                        encode("script"."script", 'hex') as "scriptPublicKey",
                                        script.address as "scriptPublicKeyAddress",
                                        spending.accepted as "spentBy"
                                    ) object
                                ) as item
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
                              where
                                output.transaction_id = page.transaction_id
                                and output.covenant_id = covenants.covenant_id
                              order by output.index
                            ) listed
                        ) as "outputs"
                    ) object
                ) as item
              from
                page
                join covenants on covenants.id = page.key
                join transactions on transactions.id = page.transaction_id
                join chain_blocks block on block.index = page.chain_index
              where page.is_shown
              order by page.position asc
            ) listed
        ),
        'metadata',
        (
          select
            case
              when split.cursor is null then page_metadata.json
              else (page_metadata.json::jsonb || jsonb_build_object('scannedTo', split.cursor))::json
            end
          from
            (
              select
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
                ) as json
            ) page_metadata
            cross join (
              select
                (
                  select encode(transactions.transaction_id, 'hex') || ':' || encode(covenants.covenant_id, 'hex')
                  from
                    page last
                    join covenants on covenants.id = last.key
                    join transactions on transactions.id = last.transaction_id
                  where
                    last.is_shown
                    and exists (
                      select
                      from page hidden
                      where
                        hidden.transaction_id = last.transaction_id
                        and not hidden.is_shown
                    )
                  order by last.position desc
                  limit 1
                ) as cursor
            ) split
        )
      )::json as body
  ) content;

-- “events of a covenant after”: starting_after=…
--   like “events of a covenant first”, except:
--            where covenant_id = $2::bytea
--          ),
--   +      "cursor" as materialized (
--   +        select
--   +          chain_index as key,
--   +          position
--   +        from covenant_events
--   +        where
--   +          transaction_id = (
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
--   +          )
--   +          and covenant_id = (
--   +            select id
--   +            from covenant
--   +          )
--   +          and (
--   +            not exists (
--   +              select
--   +              from gaps
--   +            )
--   +            or chain_index = (
--   +              select accepting_index
--   +              from transactions
--   +              where id = covenant_events.transaction_id
--   +            )
--   +          )
--   +        limit 1
--   +      ),
--          "found" as materialized (
--            select
--   …
--                  from covenant_events
--                  where
--   -                covenant_id <= (
--   -                  select id
--   -                  from covenant
--   +                (covenant_id, chain_index, position) < (
--   +                  (
--   +                    select id
--   +                    from covenant
--   +                  ),
--   +                  (
--   +                    select key
--   +                    from cursor
--   +                  ),
--   +                  (
--   +                    select position
--   +                    from cursor
--   +                  )
--                    )
--                    and covenant_id >= (
--   …
--                    chain_index desc,
--                    position desc
--   -              limit $3::bigint + 1
--   +              limit $5::bigint + 1
--                )
--              ) with ordinality as event
--   …
--            select
--              found.*,
--   -          found.position <= $4::bigint
--   +          found.position <= $6::bigint
--              and (
--                sized.first = 1
--                or (
--   -              sized.last <= $5::bigint
--   +              sized.last <= $7::bigint
--                  and sized.bytes_until <= 1048576
--                )
--   …
--              from covenant
--            ) then 'unknown'
--   -        else null
--   +        else case
--   +          when case
--   +            when (
--   +              select key
--   +              from cursor
--   +            ) is null then 'unknown cursor'
--   +          end is not null
--   +          and exists (
--   +            select
--   +            from transactions
--   +            where
--   +              substring(
--   +                "transactions"."transaction_id"
--   +                from 1 for 7
--   +              ) = substring(
--   +                $8::bytea
--   +                from 1 for 7
--   +              )
--   +              and "transactions"."transaction_id" = $9::bytea
--   +              and accepting_index is null
--   +          ) then 'not accepted'
--   +          else case
--   +            when (
--   +              select key
--   +              from cursor
--   +            ) is null then 'unknown cursor'
--   +          end
--   +        end
--          end::text as problem,
--          json_build_object(

-- “events of a covenant before”: ending_before=…
--   like “events of a covenant after”, except:
--                  from covenant_events
--                  where
--   -                (covenant_id, chain_index, position) < (
--   +                (covenant_id, chain_index, position) > (
--                      (
--                        select id
--   …
--                      )
--                    )
--   -                and covenant_id >= (
--   +                and covenant_id <= (
--                      select id
--                      from covenant
--   …
--                    )
--                  order by
--   -                covenant_id desc,
--   -                chain_index desc,
--   -                position desc
--   +                covenant_id asc,
--   +                chain_index asc,
--   +                position asc
--                  limit $5::bigint + 1
--                )
--   …
--                    join chain_blocks block on block.index = page.chain_index
--                  where page.is_shown
--   -              order by page.position asc
--   +              order by page.position desc
--                ) listed
--            ),

-- listNewestCovenantEvents ----------------------------------------------------------------------------

-- “events of covenants first”
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
      "found" as materialized (
        select
          event.covenant_id as key,
          event.transaction_id,
          event.chain_index,
          event.kind,
          event.ordinality as position
        from
          unnest(
            array(
              select covenant_events
              from
                covenant_events
                cross join lateral (
                  select covenants.covenant_id as id
                  from covenants
                  where covenants.id = covenant_events.covenant_id
                  offset 0
                ) covenant
              where
                (
                  not exists (
                    select
                    from gaps
                  )
                  or chain_index = (
                    select accepting_index
                    from transactions
                    where id = covenant_events.transaction_id
                  )
                )
              order by
                chain_index desc,
                position desc,
                covenant.id desc
              limit $2::bigint + 1
            )
          ) with ordinality as event
      ),
      "sized" as materialized (
        select
          touched.*,
          sum(bytes) over (
            order by first
          ) as bytes_until
        from
          (
            select
              touched.*,
              transactions.json_bytes - case
                when sum(transactions.json_bytes) over () > 1048576 then 2 * (
                  select coalesce(sum(octet_length(signature_script)), 0)
                  from transaction_inputs
                  where transaction_id = transactions.id
                )
                else 0
              end as bytes
            from
              (
                select
                  transaction_id,
                  min(position) as first,
                  max(position) as last
                from found
                group by transaction_id
              ) touched
              join transactions on transactions.id = touched.transaction_id
          ) touched
      ),
      "page" as materialized (
        select
          found.*,
          found.position <= $3::bigint
          and (
            sized.first = 1
            or (
              sized.last <= $4::bigint
              and sized.bytes_until <= 1048576
            )
          ) as is_shown
        from
          found
          join sized on sized.transaction_id = found.transaction_id
      ),
      "spent" as materialized (
        select
          input.transaction_id,
          input.index,
          encode(
            coalesce(
              previous.transaction_id,
              nullif(input.previous_transaction_hash, ''),
              pre_bootstrap_transaction_id (input.previous_transaction_id)
            ),
            'hex'
          ) as previous_id,
          input.previous_index,
          input.amount,
          input.script_id,
          coalesce(
            (
              select output.covenant_id
              from transaction_outputs output
              where
                output.transaction_id = input.previous_transaction_id
                and output.index = input.previous_index
                and output.index >> 4 = input.previous_index >> 4
            ),
            (
              select output.covenant_id
              from bootstrap_utxos output
              where
                output.transaction_id = input.previous_transaction_id
                and output.index = input.previous_index
            )
          ) as covenant_id
        from
          (
            select distinct
              transaction_id
            from page
            where
              is_shown
              and kind <> 'genesis'
          ) listed
          join transaction_inputs input on input.transaction_id = listed.transaction_id
          left join transactions previous on previous.id = input.previous_transaction_id
      )
    select
      null::text as problem,
      json_build_object(
        'events',
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
                        encode("covenants"."covenant_id", 'hex') as "covenantId",
                        encode("transactions"."transaction_id", 'hex') as "transactionId",
                        page.kind as "kind",
                        block.timestamp as "timestamp",
                        encode("block"."hash", 'hex') as "acceptingBlockHash",
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
                                        spent.index as "index",
                                        (
                                          select to_json(object)
                                          from
                                            (
                                              select
                                                spent.previous_id as "transactionId",
                                                spent.previous_index as "index"
                                            ) object
                                        ) as "previousOutput",
                                        "spent"."amount"::text as "amount",
                                        case script.type
                                          when 'scripthash' then (
                                            select to_json(object)
                                            from
                                              (
                                                select
                                                  encode(
                                                    substring(
                                                      script.script
                                                      from 3 for 32
                                                    ),
                                                    'hex'
                                                  ) as "hash",
                                                  (
                                                    select encode("program_templates"."template", 'hex')
                                                    from
                                                      programs
                                                      left join program_templates on program_templates.id = programs.template_id
                                                    where
                                                      programs.hash = substring(
                                                        script.script
                                                        from 3 for 32
                                                      )
                                                  ) as "template"
                                              ) object
                                          )
                                          when 'nonstandard' then (
                                            select
                                              (
                                                select to_json(object)
                                                from
                                                  (
                                                    select
                                                      encode(programs.hash, 'hex') as "hash",
                                                      encode("program_templates"."template", 'hex') as "template"
                                                  ) object
                                              )
                                            from
                                              programs
                                              left join program_templates on program_templates.id = programs.template_id
                                            where programs.script_id = script.id
                                            limit 1
                                          )
                                        end as "program"
                                    ) object
                                ) as item
                              from
                                spent
                                left join scripts script on script.id = spent.script_id
                              where
                                spent.transaction_id = page.transaction_id
                                and spent.covenant_id = covenants.covenant_id
                              order by spent.index
                            ) listed
                        ) as "inputs",
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
                                        output.index as "index",
                                        "output"."amount"::text as "amount",
                                        encode("script"."script", 'hex') as "scriptPublicKey",
                                        script.address as "scriptPublicKeyAddress",
                                        spending.accepted as "spentBy"
                                    ) object
                                ) as item
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
                              where
                                output.transaction_id = page.transaction_id
                                and output.covenant_id = covenants.covenant_id
                              order by output.index
                            ) listed
                        ) as "outputs"
                    ) object
                ) as item
              from
                page
                join covenants on covenants.id = page.key
                join transactions on transactions.id = page.transaction_id
                join chain_blocks block on block.index = page.chain_index
              where page.is_shown
              order by page.position asc
            ) listed
        ),
        'metadata',
        (
          select
            case
              when split.cursor is null then page_metadata.json
              else (page_metadata.json::jsonb || jsonb_build_object('scannedTo', split.cursor))::json
            end
          from
            (
              select
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
                ) as json
            ) page_metadata
            cross join (
              select
                (
                  select encode(transactions.transaction_id, 'hex') || ':' || encode(covenants.covenant_id, 'hex')
                  from
                    page last
                    join covenants on covenants.id = last.key
                    join transactions on transactions.id = last.transaction_id
                  where
                    last.is_shown
                    and exists (
                      select
                      from page hidden
                      where
                        hidden.transaction_id = last.transaction_id
                        and not hidden.is_shown
                    )
                  order by last.position desc
                  limit 1
                ) as cursor
            ) split
        )
      )::json as body
  ) content;

-- “events of covenants after”: starting_after=…
--   like “events of covenants first”, except:
--      cross join lateral (
--        with
--   +      "cursor" as materialized (
--   +        select
--   +          chain_index as key,
--   +          position
--   +        from covenant_events
--   +        where
--   +          transaction_id = (
--   +            select id
--   +            from transactions
--   +            where
--   +              substring(
--   +                "transactions"."transaction_id"
--   +                from 1 for 7
--   +              ) = substring(
--   +                $2::bytea
--   +                from 1 for 7
--   +              )
--   +              and "transactions"."transaction_id" = $3::bytea
--   +          )
--   +          and (
--   +            not exists (
--   +              select
--   +              from gaps
--   +            )
--   +            or chain_index = (
--   +              select accepting_index
--   +              from transactions
--   +              where id = covenant_events.transaction_id
--   +            )
--   +          )
--   +          and (
--   +            $4::bytea is null
--   +            or covenant_id = (
--   +              select id
--   +              from covenants
--   +              where covenant_id = $5::bytea
--   +            )
--   +          )
--   +        limit 1
--   +      ),
--          "found" as materialized (
--            select
--   …
--                      )
--                    )
--   +                and (chain_index, position) <= (
--   +                  (
--   +                    select key
--   +                    from cursor
--   +                  ),
--   +                  (
--   +                    select position
--   +                    from cursor
--   +                  )
--   +                )
--   +                and (chain_index, position, covenant.id) < (
--   +                  (
--   +                    select key
--   +                    from cursor
--   +                  ),
--   +                  (
--   +                    select position
--   +                    from cursor
--   +                  ),
--   +                  coalesce($6::bytea, ''::bytea)
--   +                )
--                  order by
--                    chain_index desc,
--                    position desc,
--                    covenant.id desc
--   -              limit $2::bigint + 1
--   +              limit $7::bigint + 1
--                )
--              ) with ordinality as event
--   …
--            select
--              found.*,
--   -          found.position <= $3::bigint
--   +          found.position <= $8::bigint
--              and (
--                sized.first = 1
--                or (
--   -              sized.last <= $4::bigint
--   +              sized.last <= $9::bigint
--                  and sized.bytes_until <= 1048576
--                )
--   …
--          )
--        select
--   -      null::text as problem,
--   +      case
--   +        when case
--   +          when (
--   +            select key
--   +            from cursor
--   +          ) is null then 'unknown cursor'
--   +        end is not null
--   +        and exists (
--   +          select
--   +          from transactions
--   +          where
--   +            substring(
--   +              "transactions"."transaction_id"
--   +              from 1 for 7
--   +            ) = substring(
--   +              $10::bytea
--   +              from 1 for 7
--   +            )
--   +            and "transactions"."transaction_id" = $11::bytea
--   +            and accepting_index is null
--   +        ) then 'not accepted'
--   +        else case
--   +          when (
--   +            select key
--   +            from cursor
--   +          ) is null then 'unknown cursor'
--   +        end
--   +      end::text as problem,
--          json_build_object(
--            'events',

-- “events of covenants before”: ending_before=…
--   like “events of covenants after”, except:
--                      )
--                    )
--   -                and (chain_index, position) <= (
--   +                and (chain_index, position) >= (
--                      (
--                        select key
--   …
--                      )
--                    )
--   -                and (chain_index, position, covenant.id) < (
--   +                and (chain_index, position, covenant.id) > (
--                      (
--                        select key
--   …
--                        from cursor
--                      ),
--   -                  coalesce($6::bytea, ''::bytea)
--   +                  coalesce($6::bytea, decode(repeat('ff', 33), 'hex'))
--                    )
--                  order by
--   -                chain_index desc,
--   -                position desc,
--   -                covenant.id desc
--   +                chain_index asc,
--   +                position asc,
--   +                covenant.id asc
--                  limit $7::bigint + 1
--                )
--   …
--                    join chain_blocks block on block.index = page.chain_index
--                  where page.is_shown
--   -              order by page.position asc
--   +              order by page.position desc
--                ) listed
--            ),

-- “events of covenants first, together”: several at once
--   like “events of covenants first”, except:
--      )
--    select
--   -  case when state.version is distinct from $1::bigint then index_state ()
--   +  case
--   +    when given.position = 1
--   +    and state.version is distinct from $1::bigint then index_state ()
--      end as state,
--      content.*
--    from
--      state
--   +  cross join unnest($2::bigint[]) with ordinality as given ("limit", "position")
--      cross join lateral (
--        with
--   …
--                    position desc,
--                    covenant.id desc
--   -              limit $2::bigint + 1
--   +              limit "given"."limit" + 1
--                )
--              ) with ordinality as event
--   …
--            select
--              found.*,
--   -          found.position <= $3::bigint
--   +          found.position <= "given"."limit"
--              and (
--                sized.first = 1
--                or (
--   -              sized.last <= $4::bigint
--   +              sized.last <= "given"."limit"
--                  and sized.bytes_until <= 1048576
--                )
--   …
--            )
--          )::json as body
--   -  ) content
--   \ No newline at end of file
--   +  ) content
--   +order by given.position
--   \ No newline at end of file

-- listAddressCovenants --------------------------------------------------------------------------------

-- “covenants of an address first”
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
        select
          covenants.id as key,
          keys.position
        from
          unnest(
            array(
              with recursive
                held as (
                  (
                    select utxos.covenant_id
                    from utxos
                    where
                      utxos.script_id >= (
                        select id
                        from script
                      )
                      and utxos.script_id <= (
                        select id
                        from script
                      )
                      and utxos.covenant_id is not null
                    order by
                      utxos.script_id asc,
                      utxos.covenant_id asc
                    limit 1
                  )
                  union all
                  select
                    (
                      select utxos.covenant_id
                      from utxos
                      where
                        (utxos.script_id, utxos.covenant_id) > (
                          (
                            select id
                            from script
                          ),
                          held.covenant_id
                        )
                        and utxos.script_id <= (
                          select id
                          from script
                        )
                        and utxos.covenant_id is not null
                      order by
                        utxos.script_id asc,
                        utxos.covenant_id asc
                      limit 1
                    )
                  from held
                  where held.covenant_id is not null
                )
              select covenant_id
              from held
              where covenant_id is not null
              limit $3::bigint + 1
            )
          ) with ordinality as keys (covenant_id, position)
          join covenants on covenants.covenant_id = keys.covenant_id
      )
    select
      null::text as problem,
      json_build_object(
        'covenants',
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
                        encode("covenants"."covenant_id", 'hex') as "covenantId",
                        covenants.is_complete as "isComplete",
                        (
                          select
                            (
                              select to_json(object)
                              from
                                (
                                  select
                                    encode("birth"."transaction_id", 'hex') as "transactionId",
                                    (
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
                                            input.previous_index as "index"
                                        ) object
                                    ) as "previousOutput",
                                    block.timestamp as "timestamp"
                                ) object
                            )
                          from
                            transactions birth
                            join chain_blocks block on block.index = birth.accepting_index
                            cross join lateral (
                              select covenant_authorizing_input as index
                              from transaction_outputs output
                              where
                                output.transaction_id = birth.id
                                and output.covenant_id = covenants.covenant_id
                              limit 1
                            ) authorizing
                            cross join lateral (
                              select *
                              from transaction_inputs
                              where
                                transaction_id = birth.id
                                and index = authorizing.index
                              limit 1
                            ) input
                            left join transactions previous on previous.id = input.previous_transaction_id
                          where birth.id = covenants.genesis_transaction_id
                        ) as "genesis",
                        covenants.utxo_count > 0 as "isLive",
                        covenants.utxo_count as "utxoCount",
                        "covenants"."balance"::text as "balance",
                        covenants.event_count as "eventCount",
                        covenants.first_seen as "firstSeen",
                        covenants.last_seen as "lastSeen",
                        encode("program_templates"."template", 'hex') as "template"
                    ) object
                ) as item
              from
                page
                join covenants on covenants.id = page.key
                left join program_templates on program_templates.id = covenants.template_id
              where page.position <= $4::bigint
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
                  where page.position <= $5::bigint
                ) as shown
              from page
            ) counted
        )
      )::json as body
  ) content;

-- “covenants of an address after”: starting_after=…
--   like “covenants of an address first”, except:
--              ) as id
--          ),
--   +      "cursor" as materialized (
--   +        select
--   +          id as key,
--   +          covenant_id
--   +        from covenants
--   +        where covenant_id = $3::bytea
--   +      ),
--          "page" as materialized (
--            select
--   …
--                        from utxos
--                        where
--   -                      utxos.script_id >= (
--   -                        select id
--   -                        from script
--   +                      (utxos.script_id, utxos.covenant_id) > (
--   +                        (
--   +                          select id
--   +                          from script
--   +                        ),
--   +                        (
--   +                          select covenant_id
--   +                          from cursor
--   +                        )
--                          )
--                          and utxos.script_id <= (
--   …
--                  from held
--                  where covenant_id is not null
--   -              limit $3::bigint + 1
--   +              limit $4::bigint + 1
--                )
--              ) with ordinality as keys (covenant_id, position)
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
--            'covenants',
--   …
--                    join covenants on covenants.id = page.key
--                    left join program_templates on program_templates.id = covenants.template_id
--   -              where page.position <= $4::bigint
--   +              where page.position <= $5::bigint
--                  order by page.position asc
--                ) listed
--   …
--                    count(*) as found,
--                    count(*) filter (
--   -                  where page.position <= $5::bigint
--   +                  where page.position <= $6::bigint
--                    ) as shown
--                  from page

-- “covenants of an address before”: ending_before=…
--   like “covenants of an address after”, except:
--                        from utxos
--                        where
--   -                      (utxos.script_id, utxos.covenant_id) > (
--   +                      (utxos.script_id, utxos.covenant_id) < (
--                            (
--                              select id
--   …
--                            )
--                          )
--   -                      and utxos.script_id <= (
--   +                      and utxos.script_id >= (
--                            select id
--                            from script
--   …
--                          and utxos.covenant_id is not null
--                        order by
--   -                      utxos.script_id asc,
--   -                      utxos.covenant_id asc
--   +                      utxos.script_id desc,
--   +                      utxos.covenant_id desc
--                        limit 1
--                      )
--   …
--                          from utxos
--                          where
--   -                        (utxos.script_id, utxos.covenant_id) > (
--   +                        (utxos.script_id, utxos.covenant_id) < (
--                              (
--                                select id
--   …
--                              held.covenant_id
--                            )
--   -                        and utxos.script_id <= (
--   +                        and utxos.script_id >= (
--                              select id
--                              from script
--   …
--                            and utxos.covenant_id is not null
--                          order by
--   -                        utxos.script_id asc,
--   -                        utxos.covenant_id asc
--   +                        utxos.script_id desc,
--   +                        utxos.covenant_id desc
--                          limit 1
--                        )
--   …
--                    left join program_templates on program_templates.id = covenants.template_id
--                  where page.position <= $5::bigint
--   -              order by page.position asc
--   +              order by page.position desc
--                ) listed
--            ),
