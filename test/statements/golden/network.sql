-- The statements of this area as Postgres gets them, by operation. `npm run generate:statements` writes this file, and test/statements compares it
-- and lets Postgres describe each statement. A statement is shown where it is sent first.
--
-- Filters, cursors, directions and `include` choose the pieces of a statement. Each value of each parameter is tried with the example of its operation,
-- never two parameters together, and SQL that this leaves out by further requests. So every piece is here, and not every combination. A statement that is
-- like an earlier one of its operation is shown as the lines that differ, if these are fewer.

-- search ----------------------------------------------------------------------------------------------

-- “search no no no no no yes yes yes”
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
      json_build_object(
        'results',
        (
          select
            coalesce(
              json_agg(
                best.item
                order by
                  best.rank,
                  best.position
              ),
              '[]'
            )
          from
            (
              select *
              from
                (
                  select
                    source.item,
                    0 as rank,
                    row_number() over () as position
                  from
                    (
                      select
                        (
                          select to_json(object)
                          from
                            (
                              select
                                'block'::text as "type",
                                encode("block"."hash", 'hex') as "id",
                                null as "label",
                                'hash'::text as "matched",
                                "block"."blue_score"::text as "blueScore",
                                "block"."daa_score"::text as "daaScore",
                                block.timestamp as "timestamp",
                                block.is_chain_block as "isChainBlock",
                                case
                                  when block.is_blue then 'blue'
                                  when not block.is_blue then 'red'
                                end as "color"
                            ) object
                        ) as item
                      from blocks block
                      where
                        "block"."hash" >= $2::bytea
                        and "block"."hash" <= $3::bytea
                      order by block.hash
                      limit $4::bigint
                    ) source
                  union all
                  select
                    source.item,
                    1 as rank,
                    row_number() over () as position
                  from
                    (
                      select
                        (
                          select to_json(object)
                          from
                            (
                              select
                                'covenant'::text as "type",
                                encode("covenants"."covenant_id", 'hex') as "id",
                                null as "label",
                                covenants.utxo_count > 0 as "isLive",
                                "covenants"."balance"::text as "balance",
                                covenants.event_count as "eventCount"
                            ) object
                        ) as item
                      from covenants
                      where
                        "covenants"."covenant_id" >= $5::bytea
                        and "covenants"."covenant_id" <= $6::bytea
                      order by covenants.covenant_id
                      limit $7::bigint
                    ) source
                  union all
                  select
                    source.item,
                    2 as rank,
                    row_number() over () as position
                  from
                    (
                      select
                        (
                          select to_json(object)
                          from
                            (
                              select
                                'program'::text as "type",
                                encode("programs"."hash", 'hex') as "id",
                                null as "label",
                                (
                                  select encode(template, 'hex')
                                  from program_templates
                                  where id = programs.template_id
                                ) as "template",
                                programs.spend_count as "spendCount"
                            ) object
                        ) as item
                      from programs
                      where
                        "programs"."hash" >= $8::bytea
                        and "programs"."hash" <= $9::bytea
                      order by programs.hash
                      limit $10::bigint
                    ) source
                  union all
                  select
                    source.item,
                    3 as rank,
                    row_number() over () as position
                  from
                    (
                      select
                        (
                          select to_json(object)
                          from
                            (
                              select
                                'template'::text as "type",
                                encode("program_templates"."template", 'hex') as "id",
                                (
                                  select entry ->> 'name'
                                  from template_names
                                  where template_names.template = program_templates.template
                                  order by
                                    jsonb_array_length(coalesce(entry -> 'required', '[]')),
                                    entry ->> 'name'
                                  limit 1
                                ) as "label",
                                'template'::text as "matched",
                                program_templates.spend_count as "spendCount"
                            ) object
                        ) as item
                      from program_templates
                      where
                        "program_templates"."template" >= $11::bytea
                        and "program_templates"."template" <= $12::bytea
                      order by program_templates.template
                      limit $13::bigint
                    ) source
                  union all
                  select
                    source.item,
                    4 as rank,
                    row_number() over () as position
                  from
                    (
                      select
                        (
                          select to_json(object)
                          from
                            (
                              select
                                'tag'::text as "type",
                                named.name as "id",
                                named.name as "label",
                                best.labels as "labels",
                                best.address as "address",
                                (
                                  select count(*)
                                  from tags
                                  where tags.name collate "C" = named.name
                                ) as "addressCount"
                            ) object
                        ) as item
                      from
                        (
                          select
                            lower(name) collate "C" as lower_name,
                            name collate "C" as name
                          from tags
                          where
                            lower(name) collate "C" >= $14::text
                            and lower(name) collate "C" < $15::text
                          group by
                            1,
                            2
                          order by
                            1,
                            2
                          limit $16::bigint
                        ) named
                        cross join lateral (
                          select
                            tags.address,
                            tags.labels
                          from
                            tags
                            left join scripts on scripts.address = tags.address
                            left join balances on balances.script_id = scripts.id
                          where tags.name collate "C" = named.name
                          order by
                            balances.balance desc nulls last,
                            tags.address
                          limit 1
                        ) best
                      order by
                        named.lower_name,
                        named.name
                    ) source
                  union all
                  select
                    source.item,
                    5 as rank,
                    row_number() over () as position
                  from
                    (
                      select
                        (
                          select to_json(object)
                          from
                            (
                              select
                                'template'::text as "type",
                                encode("program_templates"."template", 'hex') as "id",
                                named.name as "label",
                                'name'::text as "matched",
                                program_templates.spend_count as "spendCount"
                            ) object
                        ) as item
                      from
                        program_templates
                        join (
                          select
                            template,
                            min(entry ->> 'name') as name,
                            min(lower(entry ->> 'name') collate "C") as lower_name
                          from template_names
                          where
                            lower(entry ->> 'name') collate "C" >= $17::text
                            and lower(entry ->> 'name') collate "C" < $18::text
                          group by template
                        ) named on named.template = program_templates.template
                      where true
                      order by
                        named.lower_name,
                        program_templates.spend_count desc
                      limit $19::bigint
                    ) source
                  union all
                  select
                    source.item,
                    6 as rank,
                    row_number() over () as position
                  from
                    (
                      select
                        (
                          select to_json(object)
                          from
                            (
                              select
                                'tick'::text as "type",
                                kind.tick as "id",
                                kind.tick as "label",
                                kind.protocol as "protocol"
                            ) object
                        ) as item
                      from
                        (
                          select distinct
                            protocol,
                            tick
                          from
                            (
                              select
                                id,
                                protocol,
                                tick
                              from inscription_kinds
                              where
                                tick <> ''
                                and lower(tick) = lower($20::text)
                              limit 1000
                            ) kinds
                          where
                            exists (
                              select
                              from inscriptions
                              where inscriptions.kind_id = kinds.id
                              offset 0
                            )
                        ) kind
                      order by
                        kind.protocol,
                        kind.tick
                      limit $21::bigint
                    ) source
                ) found
              order by
                rank,
                position
              limit $22::bigint
            ) best
        )
      )::json as body
  ) content;

-- “search yes no no no no no yes yes”: another text
--   like “search no no no no no yes yes yes”, except:
--                            ) as item
--                          from blocks block
--   -                      where
--   -                        "block"."hash" >= $2::bytea
--   -                        and "block"."hash" <= $3::bytea
--   -                      order by block.hash
--   -                      limit $4::bigint
--   +                      where block.hash = $2::bytea
--                        ) source
--                      union all
--   …
--                                (
--                                  select
--   +                                'transaction'::text as "type",
--   +                                encode("transactions"."transaction_id", 'hex') as "id",
--   +                                null as "label",
--   +                                containing."blockTime" as "blockTime",
--   +                                (
--   +                                  "transactions"."accepting_index" is not null
--   +                                  or is_pre_bootstrap ("transactions"."id")
--   +                                ) as "isAccepted",
--   +                                false as "isPending"
--   +                            ) object
--   +                        ) as item
--   +                      from
--   +                        transactions
--   +                        left join chain_blocks accepting on accepting.index = transactions.accepting_index
--   +                        cross join lateral (
--   +                          select
--   +                            json_agg(
--   +                              encode(hash, 'hex')
--   +                              order by
--   +                                timestamp,
--   +                                hash
--   +                            ) filter (
--   +                              where position <= 16
--   +                            ) as "blockHashes",
--   +                            min(timestamp) filter (
--   +                              where
--   +                                transactions.accepting_index is null
--   +                                or is_accepting
--   +                            ) as "blockTime",
--   +                            coalesce(
--   +                              case when count(*) > 16 then block_count_of (transactions.id)
--   +                              end,
--   +                              count(*)
--   +                            ) as "blockCount"
--   +                          from
--   +                            (
--   +                              select
--   +                                blocks.hash,
--   +                                blocks.timestamp,
--   +                                blocks.merging_block_id = accepting.block_id as is_accepting,
--   +                                row_number() over (
--   +                                  order by
--   +                                    blocks.merging_block_id = accepting.block_id desc nulls last,
--   +                                    blocks.merging_block_id nulls last,
--   +                                    blocks.timestamp,
--   +                                    blocks.hash
--   +                                ) as position
--   +                              from
--   +                                (
--   +                                  select
--   +                                    array(
--   +                                      select contained.block_id
--   +                                      from block_transactions contained
--   +                                      where contained.transaction_id = transactions.id
--   +                                      order by contained.block_id
--   +                                      limit 32
--   +                                    ) as ids
--   +                                  offset 0
--   +                                ) first
--   +                                cross join lateral unnest(
--   +                                  case
--   +                                    when cardinality(first.ids) = 32 then blocks_with_accepting (transactions.id, accepting.block_id, first.ids)
--   +                                    else first.ids
--   +                                  end
--   +                                ) as contained (block_id)
--   +                                join blocks on blocks.id = contained.block_id
--   +                            ) found
--   +                        ) containing
--   +                      where
--   +                        substring(
--   +                          "transactions"."transaction_id"
--   +                          from 1 for 7
--   +                        ) = substring(
--   +                          $3::bytea
--   +                          from 1 for 7
--   +                        )
--   +                        and "transactions"."transaction_id" = $4::bytea
--   +                    ) source
--   +                  union all
--   +                  select
--   +                    source.item,
--   +                    2 as rank,
--   +                    row_number() over () as position
--   +                  from
--   +                    (
--   +                      select
--   +                        (
--   +                          select to_json(object)
--   +                          from
--   +                            (
--   +                              select
--   +                                'transaction'::text as "type",
--   +                                encode($5::bytea, 'hex') as "id",
--   +                                null as "label",
--   +                                null as "blockTime",
--   +                                false as "isAccepted",
--   +                                true as "isPending"
--   +                            ) object
--   +                        ) as item
--   +                      where
--   +                        $6::boolean
--   +                        and not exists (
--   +                          select
--   +                          from transactions
--   +                          where
--   +                            substring(
--   +                              "transactions"."transaction_id"
--   +                              from 1 for 7
--   +                            ) = substring(
--   +                              $7::bytea
--   +                              from 1 for 7
--   +                            )
--   +                            and "transactions"."transaction_id" = $8::bytea
--   +                        )
--   +                    ) source
--   +                  union all
--   +                  select
--   +                    source.item,
--   +                    3 as rank,
--   +                    row_number() over () as position
--   +                  from
--   +                    (
--   +                      select
--   +                        (
--   +                          select to_json(object)
--   +                          from
--   +                            (
--   +                              select
--                                    'covenant'::text as "type",
--                                    encode("covenants"."covenant_id", 'hex') as "id",
--   …
--                            ) as item
--                          from covenants
--   -                      where
--   -                        "covenants"."covenant_id" >= $5::bytea
--   -                        and "covenants"."covenant_id" <= $6::bytea
--   -                      order by covenants.covenant_id
--   -                      limit $7::bigint
--   +                      where covenants.covenant_id = $9::bytea
--                        ) source
--                      union all
--                      select
--                        source.item,
--   -                    2 as rank,
--   +                    4 as rank,
--                        row_number() over () as position
--                      from
--   …
--                            ) as item
--                          from programs
--   -                      where
--   -                        "programs"."hash" >= $8::bytea
--   -                        and "programs"."hash" <= $9::bytea
--   -                      order by programs.hash
--   -                      limit $10::bigint
--   +                      where programs.hash = $10::bytea
--                        ) source
--                      union all
--                      select
--                        source.item,
--   -                    3 as rank,
--   +                    5 as rank,
--                        row_number() over () as position
--                      from
--   …
--                            ) as item
--                          from program_templates
--   +                      where program_templates.template = $11::bytea
--   +                    ) source
--   +                  union all
--   +                  select
--   +                    source.item,
--   +                    6 as rank,
--   +                    row_number() over () as position
--   +                  from
--   +                    (
--   +                      select
--   +                        (
--   +                          select to_json(object)
--   +                          from
--   +                            (
--   +                              select
--   +                                'template'::text as "type",
--   +                                encode("program_templates"."template", 'hex') as "id",
--   +                                (
--   +                                  select entry ->> 'name'
--   +                                  from template_names
--   +                                  where template_names.template = program_templates.template
--   +                                  order by
--   +                                    jsonb_array_length(coalesce(entry -> 'required', '[]')),
--   +                                    entry ->> 'name'
--   +                                  limit 1
--   +                                ) as "label",
--   +                                'kccTemplate'::text as "matched",
--   +                                program_templates.spend_count as "spendCount"
--   +                            ) object
--   +                        ) as item
--   +                      from program_templates
--                          where
--   -                        "program_templates"."template" >= $11::bytea
--   -                        and "program_templates"."template" <= $12::bytea
--   -                      order by program_templates.template
--   -                      limit $13::bigint
--   +                        program_templates.id in (
--   +                          select template_id
--   +                          from programs
--   +                          where kcc_template = $12::bytea
--   +                          limit $13::bigint
--   +                        )
--                        ) source
--                      union all
--                      select
--                        source.item,
--   -                    4 as rank,
--   +                    7 as rank,
--                        row_number() over () as position
--                      from
--   …
--                      select
--                        source.item,
--   -                    5 as rank,
--   +                    8 as rank,
--                        row_number() over () as position
--                      from
--   …
--                      select
--                        source.item,
--   -                    6 as rank,
--   +                    9 as rank,
--                        row_number() over () as position
--                      from

-- “search no no yes no no no yes yes”: another text
--   like “search no no no no no yes yes yes”, except:
--                                (
--                                  select
--   -                                'block'::text as "type",
--   -                                encode("block"."hash", 'hex') as "id",
--   -                                null as "label",
--   -                                'hash'::text as "matched",
--   -                                "block"."blue_score"::text as "blueScore",
--   -                                "block"."daa_score"::text as "daaScore",
--   -                                block.timestamp as "timestamp",
--   -                                block.is_chain_block as "isChainBlock",
--   -                                case
--   -                                  when block.is_blue then 'blue'
--   -                                  when not block.is_blue then 'red'
--   -                                end as "color"
--   -                            ) object
--   -                        ) as item
--   -                      from blocks block
--   -                      where
--   -                        "block"."hash" >= $2::bytea
--   -                        and "block"."hash" <= $3::bytea
--   -                      order by block.hash
--   -                      limit $4::bigint
--   -                    ) source
--   -                  union all
--   -                  select
--   -                    source.item,
--   -                    1 as rank,
--   -                    row_number() over () as position
--   -                  from
--   -                    (
--   -                      select
--   -                        (
--   -                          select to_json(object)
--   -                          from
--   -                            (
--   -                              select
--   -                                'covenant'::text as "type",
--   -                                encode("covenants"."covenant_id", 'hex') as "id",
--   -                                null as "label",
--   -                                covenants.utxo_count > 0 as "isLive",
--   -                                "covenants"."balance"::text as "balance",
--   -                                covenants.event_count as "eventCount"
--   -                            ) object
--   -                        ) as item
--   -                      from covenants
--   -                      where
--   -                        "covenants"."covenant_id" >= $5::bytea
--   -                        and "covenants"."covenant_id" <= $6::bytea
--   -                      order by covenants.covenant_id
--   -                      limit $7::bigint
--   -                    ) source
--   -                  union all
--   -                  select
--   -                    source.item,
--   -                    2 as rank,
--   -                    row_number() over () as position
--   -                  from
--   -                    (
--   -                      select
--   -                        (
--   -                          select to_json(object)
--   -                          from
--   -                            (
--   -                              select
--   -                                'program'::text as "type",
--   -                                encode("programs"."hash", 'hex') as "id",
--   -                                null as "label",
--   +                                'address'::text as "type",
--   +                                requested.address as "id",
--   +                                coalesce(
--   +                                  (
--   +                                    select to_json(tag)
--   +                                    from
--   +                                      (
--   +                                        select
--   +                                          address,
--   +                                          name,
--   +                                          link,
--   +                                          labels
--   +                                        from tags
--   +                                        where tags.address = requested.address
--   +                                      ) tag
--   +                                  ),
--   +                                  (
--   +                                    select to_json(tag)
--   +                                    from
--   +                                      (
--   +                                        select
--   +                                          requested.address as address,
--   +                                          name,
--   +                                          link,
--   +                                          labels,
--   +                                          true as "isGuessed"
--   +                                        from clusters
--   +                                        where
--   +                                          id = (
--   +                                            select above.root_id
--   +                                            from
--   +                                              (
--   +                                                select scripts.id as script_id
--   +                                              ) given
--   +                                              cross join lateral (
--   +                                                with recursive
--   +                                                  up as (
--   +                                                    select
--   +                                                      m.script_id as root_id,
--   +                                                      m.parent_id
--   +                                                    from cluster_members m
--   +                                                    where m.script_id = given.script_id
--   +                                                    union all
--   +                                                    select
--   +                                                      m.script_id,
--   +                                                      m.parent_id
--   +                                                    from
--   +                                                      up
--   +                                                      join cluster_members m on m.script_id = up.parent_id
--   +                                                  )
--   +                                                select up.root_id
--   +                                                from up
--   +                                                where up.parent_id is null
--   +                                              ) above
--   +                                          )
--   +                                        offset 0
--   +                                      ) tag
--   +                                    where name is not null
--   +                                  )
--   +                                ) ->> 'name' as "label",
--   +                                coalesce(balances.balance, 0)::text as "balance",
--                                    (
--   -                                  select encode(template, 'hex')
--   -                                  from program_templates
--   -                                  where id = programs.template_id
--   -                                ) as "template",
--   -                                programs.spend_count as "spendCount"
--   +                                  coalesce(balances.transaction_count, 0) + (
--   +                                    select coalesce(sum(cardinality(array_positions(script_ids, scripts.id))), 0)
--   +                                    from unmerged_touches
--   +                                  )
--   +                                ) as "transactionCount"
--                                ) object
--                            ) as item
--   -                      from programs
--   -                      where
--   -                        "programs"."hash" >= $8::bytea
--   -                        and "programs"."hash" <= $9::bytea
--   -                      order by programs.hash
--   -                      limit $10::bigint
--   -                    ) source
--   -                  union all
--   -                  select
--   -                    source.item,
--   -                    3 as rank,
--   -                    row_number() over () as position
--   -                  from
--   -                    (
--   -                      select
--   +                      from
--                            (
--   -                          select to_json(object)
--   -                          from
--   -                            (
--   -                              select
--   -                                'template'::text as "type",
--   -                                encode("program_templates"."template", 'hex') as "id",
--   -                                (
--   -                                  select entry ->> 'name'
--   -                                  from template_names
--   -                                  where template_names.template = program_templates.template
--   -                                  order by
--   -                                    jsonb_array_length(coalesce(entry -> 'required', '[]')),
--   -                                    entry ->> 'name'
--   -                                  limit 1
--   -                                ) as "label",
--   -                                'template'::text as "matched",
--   -                                program_templates.spend_count as "spendCount"
--   -                            ) object
--   -                        ) as item
--   -                      from program_templates
--   -                      where
--   -                        "program_templates"."template" >= $11::bytea
--   -                        and "program_templates"."template" <= $12::bytea
--   -                      order by program_templates.template
--   -                      limit $13::bigint
--   +                          select $2::text as address
--   +                        ) requested
--   +                        left join scripts on scripts.address = requested.address
--   +                        left join balances on balances.script_id = scripts.id
--                        ) source
--                      union all
--                      select
--                        source.item,
--   -                    4 as rank,
--   +                    1 as rank,
--                        row_number() over () as position
--                      from
--   …
--                              from tags
--                              where
--   -                            lower(name) collate "C" >= $14::text
--   -                            and lower(name) collate "C" < $15::text
--   +                            lower(name) collate "C" >= $3::text
--   +                            and lower(name) collate "C" < $4::text
--                              group by
--                                1,
--   …
--                                1,
--                                2
--   -                          limit $16::bigint
--   +                          limit $5::bigint
--                            ) named
--                            cross join lateral (
--   …
--                      select
--                        source.item,
--   -                    5 as rank,
--   +                    2 as rank,
--                        row_number() over () as position
--                      from
--   …
--                              from template_names
--                              where
--   -                            lower(entry ->> 'name') collate "C" >= $17::text
--   -                            and lower(entry ->> 'name') collate "C" < $18::text
--   +                            lower(entry ->> 'name') collate "C" >= $6::text
--   +                            and lower(entry ->> 'name') collate "C" < $7::text
--                              group by template
--                            ) named on named.template = program_templates.template
--   …
--                            named.lower_name,
--                            program_templates.spend_count desc
--   -                      limit $19::bigint
--   +                      limit $8::bigint
--                        ) source
--                      union all
--                      select
--                        source.item,
--   -                    6 as rank,
--   +                    3 as rank,
--                        row_number() over () as position
--                      from
--   …
--                                  where
--                                    tick <> ''
--   -                                and lower(tick) = lower($20::text)
--   +                                and lower(tick) = lower($9::text)
--                                  limit 1000
--                                ) kinds
--   …
--                            kind.protocol,
--                            kind.tick
--   -                      limit $21::bigint
--   +                      limit $10::bigint
--                        ) source
--                    ) found
--   …
--                    rank,
--                    position
--   -              limit $22::bigint
--   +              limit $11::bigint
--                ) best
--            )

-- “search no yes no no no no yes yes”: another text
--   like “search no no yes no no no yes yes”, except:
--                                (
--                                  select
--   -                                'address'::text as "type",
--   -                                requested.address as "id",
--   -                                coalesce(
--   -                                  (
--   -                                    select to_json(tag)
--   -                                    from
--   -                                      (
--   -                                        select
--   -                                          address,
--   -                                          name,
--   -                                          link,
--   -                                          labels
--   -                                        from tags
--   -                                        where tags.address = requested.address
--   -                                      ) tag
--   +                                'lane'::text as "type",
--   +                                encode(
--   +                                  substring(
--   +                                    subnetworks.subnetwork_id
--   +                                    from 1 for 4
--                                      ),
--   -                                  (
--   -                                    select to_json(tag)
--   -                                    from
--   -                                      (
--   -                                        select
--   -                                          requested.address as address,
--   -                                          name,
--   -                                          link,
--   -                                          labels,
--   -                                          true as "isGuessed"
--   -                                        from clusters
--   -                                        where
--   -                                          id = (
--   -                                            select above.root_id
--   -                                            from
--   -                                              (
--   -                                                select scripts.id as script_id
--   -                                              ) given
--   -                                              cross join lateral (
--   -                                                with recursive
--   -                                                  up as (
--   -                                                    select
--   -                                                      m.script_id as root_id,
--   -                                                      m.parent_id
--   -                                                    from cluster_members m
--   -                                                    where m.script_id = given.script_id
--   -                                                    union all
--   -                                                    select
--   -                                                      m.script_id,
--   -                                                      m.parent_id
--   -                                                    from
--   -                                                      up
--   -                                                      join cluster_members m on m.script_id = up.parent_id
--   -                                                  )
--   -                                                select up.root_id
--   -                                                from up
--   -                                                where up.parent_id is null
--   -                                              ) above
--   -                                          )
--   -                                        offset 0
--   -                                      ) tag
--   -                                    where name is not null
--   -                                  )
--   -                                ) ->> 'name' as "label",
--   -                                coalesce(balances.balance, 0)::text as "balance",
--   -                                (
--   -                                  coalesce(balances.transaction_count, 0) + (
--   -                                    select coalesce(sum(cardinality(array_positions(script_ids, scripts.id))), 0)
--   -                                    from unmerged_touches
--   -                                  )
--   -                                ) as "transactionCount"
--   +                                  'hex'
--   +                                ) as "id",
--   +                                null as "label",
--   +                                lanes.transaction_count as "transactionCount"
--                                ) object
--                            ) as item
--                          from
--   -                        (
--   -                          select $2::text as address
--   -                        ) requested
--   -                        left join scripts on scripts.address = requested.address
--   -                        left join balances on balances.script_id = scripts.id
--   +                        subnetworks
--   +                        join lanes on lanes.subnetwork_id = subnetworks.id
--   +                      where subnetworks.subnetwork_id = $2::bytea
--                        ) source
--                      union all

-- “search no no no no yes no yes yes”: another text
--   like “search no yes no no no no yes yes”, except:
--                                (
--                                  select
--   -                                'lane'::text as "type",
--   -                                encode(
--   -                                  substring(
--   -                                    subnetworks.subnetwork_id
--   -                                    from 1 for 4
--   -                                  ),
--   -                                  'hex'
--   -                                ) as "id",
--   +                                'block'::text as "type",
--   +                                encode("block"."hash", 'hex') as "id",
--                                    null as "label",
--   -                                lanes.transaction_count as "transactionCount"
--   +                                'blueScore'::text as "matched",
--   +                                "block"."blue_score"::text as "blueScore",
--   +                                "block"."daa_score"::text as "daaScore",
--   +                                block.timestamp as "timestamp",
--   +                                block.is_chain_block as "isChainBlock",
--   +                                case
--   +                                  when block.is_blue then 'blue'
--   +                                  when not block.is_blue then 'red'
--   +                                end as "color"
--                                ) object
--                            ) as item
--   -                      from
--   -                        subnetworks
--   -                        join lanes on lanes.subnetwork_id = subnetworks.id
--   -                      where subnetworks.subnetwork_id = $2::bytea
--   +                      from blocks block
--   +                      where block.blue_score = $2::bigint
--   +                      order by
--   +                        block.is_chain_block desc,
--   +                        block.id
--   +                      limit $3::bigint
--                        ) source
--                      union all
--   …
--                                (
--                                  select
--   +                                'block'::text as "type",
--   +                                encode("block"."hash", 'hex') as "id",
--   +                                null as "label",
--   +                                'daaScore'::text as "matched",
--   +                                "block"."blue_score"::text as "blueScore",
--   +                                "block"."daa_score"::text as "daaScore",
--   +                                block.timestamp as "timestamp",
--   +                                block.is_chain_block as "isChainBlock",
--   +                                case
--   +                                  when block.is_blue then 'blue'
--   +                                  when not block.is_blue then 'red'
--   +                                end as "color"
--   +                            ) object
--   +                        ) as item
--   +                      from blocks block
--   +                      where
--   +                        block.daa_score = $4::bigint
--   +                        and block.blue_score <> $5::bigint
--   +                      order by
--   +                        block.is_chain_block desc,
--   +                        block.id
--   +                      limit $6::bigint
--   +                    ) source
--   +                  union all
--   +                  select
--   +                    source.item,
--   +                    2 as rank,
--   +                    row_number() over () as position
--   +                  from
--   +                    (
--   +                      select
--   +                        (
--   +                          select to_json(object)
--   +                          from
--   +                            (
--   +                              select
--                                    'tag'::text as "type",
--                                    named.name as "id",
--   …
--                              from tags
--                              where
--   -                            lower(name) collate "C" >= $3::text
--   -                            and lower(name) collate "C" < $4::text
--   +                            lower(name) collate "C" >= $7::text
--   +                            and lower(name) collate "C" < $8::text
--                              group by
--                                1,
--   …
--                                1,
--                                2
--   -                          limit $5::bigint
--   +                          limit $9::bigint
--                            ) named
--                            cross join lateral (
--   …
--                      select
--                        source.item,
--   -                    2 as rank,
--   +                    3 as rank,
--                        row_number() over () as position
--                      from
--   …
--                              from template_names
--                              where
--   -                            lower(entry ->> 'name') collate "C" >= $6::text
--   -                            and lower(entry ->> 'name') collate "C" < $7::text
--   +                            lower(entry ->> 'name') collate "C" >= $10::text
--   +                            and lower(entry ->> 'name') collate "C" < $11::text
--                              group by template
--                            ) named on named.template = program_templates.template
--   …
--                            named.lower_name,
--                            program_templates.spend_count desc
--   -                      limit $8::bigint
--   +                      limit $12::bigint
--                        ) source
--                      union all
--                      select
--                        source.item,
--   -                    3 as rank,
--   +                    4 as rank,
--                        row_number() over () as position
--                      from
--   …
--                                  where
--                                    tick <> ''
--   -                                and lower(tick) = lower($9::text)
--   +                                and lower(tick) = lower($13::text)
--                                  limit 1000
--                                ) kinds
--   …
--                            kind.protocol,
--                            kind.tick
--   -                      limit $10::bigint
--   +                      limit $14::bigint
--                        ) source
--                    ) found
--   …
--                    rank,
--                    position
--   -              limit $11::bigint
--   +              limit $15::bigint
--                ) best
--            )

-- “search no no no no no no yes yes”: another text
--   like “search no yes no no no no yes yes”, except:
--                                (
--                                  select
--   -                                'lane'::text as "type",
--   -                                encode(
--   -                                  substring(
--   -                                    subnetworks.subnetwork_id
--   -                                    from 1 for 4
--   -                                  ),
--   -                                  'hex'
--   -                                ) as "id",
--   -                                null as "label",
--   -                                lanes.transaction_count as "transactionCount"
--   -                            ) object
--   -                        ) as item
--   -                      from
--   -                        subnetworks
--   -                        join lanes on lanes.subnetwork_id = subnetworks.id
--   -                      where subnetworks.subnetwork_id = $2::bytea
--   -                    ) source
--   -                  union all
--   -                  select
--   -                    source.item,
--   -                    1 as rank,
--   -                    row_number() over () as position
--   -                  from
--   -                    (
--   -                      select
--   -                        (
--   -                          select to_json(object)
--   -                          from
--   -                            (
--   -                              select
--                                    'tag'::text as "type",
--                                    named.name as "id",
--   …
--                              from tags
--                              where
--   -                            lower(name) collate "C" >= $3::text
--   -                            and lower(name) collate "C" < $4::text
--   +                            lower(name) collate "C" >= $2::text
--   +                            and lower(name) collate "C" < $3::text
--                              group by
--                                1,
--   …
--                                1,
--                                2
--   -                          limit $5::bigint
--   +                          limit $4::bigint
--                            ) named
--                            cross join lateral (
--   …
--                      select
--                        source.item,
--   -                    2 as rank,
--   +                    1 as rank,
--                        row_number() over () as position
--                      from
--   …
--                              from template_names
--                              where
--   -                            lower(entry ->> 'name') collate "C" >= $6::text
--   -                            and lower(entry ->> 'name') collate "C" < $7::text
--   +                            lower(entry ->> 'name') collate "C" >= $5::text
--   +                            and lower(entry ->> 'name') collate "C" < $6::text
--                              group by template
--                            ) named on named.template = program_templates.template
--   …
--                            named.lower_name,
--                            program_templates.spend_count desc
--   -                      limit $8::bigint
--   +                      limit $7::bigint
--                        ) source
--                      union all
--                      select
--                        source.item,
--   -                    3 as rank,
--   +                    2 as rank,
--                        row_number() over () as position
--                      from
--   …
--                                  where
--                                    tick <> ''
--   -                                and lower(tick) = lower($9::text)
--   +                                and lower(tick) = lower($8::text)
--                                  limit 1000
--                                ) kinds
--   …
--                            kind.protocol,
--                            kind.tick
--   -                      limit $10::bigint
--   +                      limit $9::bigint
--                        ) source
--                    ) found
--   …
--                    rank,
--                    position
--   -              limit $11::bigint
--   +              limit $10::bigint
--                ) best
--            )

-- getNetwork ------------------------------------------------------------------------------------------

-- “network”
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
      "sink" as materialized (
        select
          block.*,
          c.chain_time
        from
        checkpoint
        join blocks block on block.id = checkpoint.block_id
        join chain_blocks c on c.index = checkpoint.chain_index
      ),
      "reward" as materialized (
        select *
        from
          (
            select
              schedule.subsidy,
              lead(schedule.subsidy) over by_score as next_subsidy,
              schedule.daa_score,
              lead(schedule.daa_score) over by_score as next_daa_score
            from unnest($2::bigint[], $3::bigint[]) schedule (daa_score, subsidy)
            window
              by_score as (
                order by schedule.daa_score
              )
          ) scheduled
        where
          daa_score <= (
            select daa_score
            from sink
          )
        order by daa_score desc
        limit 1
      ),
      "minute" as materialized (
        select *
        from network_intervals
        where
          length = 'minute'
          and start <= (
            select chain_time
            from sink
          ) - 60000
        order by start desc
        limit 10
      ),
      "total" as materialized (
        select
          sum(blocks)::text as blocks,
          sum(transactions)::text as transactions
        from network_intervals
        where length = 'day'
      )
    select
      null::text as problem,
      (
        select
          (
            select to_json(object)
            from
              (
                select
                  (
                    select
                      case
                        when network like 'testnet%' then 'testnet'
                        else network
                      end
                    from meta
                  ) as "network",
                  encode(block.hash, 'hex') as "sink",
                  block.blue_score::text as "blueScore",
                  block.daa_score::text as "daaScore",
                  block.timestamp as "timestamp",
                  5.78960446186581e76::float8 / nullif(
                    case when block.bits & 16777215 <= 8388607 then floor((block.bits & 16777215) * 256::float8 ^ ((block.bits >> 24) - 3))
                    end,
                    0
                  ) as "difficulty",
                  coalesce(
                    (
                      select trunc(sum(work) * 1000 / (max(start) + 60000 - min(start)))::text
                      from minute
                    ),
                    trunc(work_of_bits (block.bits) * 10)::text
                  ) as "hashesPerSecond",
                  (
                    select
                      json_build_object(
                        'start',
                        start,
                        'blocksPerSecond',
                        round(blocks / 60.0, 3)::float8,
                        'transactionsPerSecond',
                        round(transactions / 60.0, 3)::float8,
                        'feesPerSecond',
                        div(fees, 60)::text
                      )
                    from minute
                    order by start desc
                    limit 1
                  ) as "lastMinute",
                  (
                    select circulating_sompi::text
                    from
                    checkpoint
                  ) as "circulatingSompi",
                  '2900000000000000000' as "maxSompi",
                  (
                    select subsidy::text
                    from reward
                  ) as "blockReward",
                  (
                    select next_subsidy::text
                    from reward
                  ) as "nextReward",
                  (
                    select block.timestamp + (next_daa_score - block.daa_score) * $4::bigint
                    from reward
                  ) as "nextRewardAt",
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
                  ) as "countedFrom",
                  coalesce(
                    (
                      select blocks
                      from total
                    ),
                    '0'
                  ) as "blockCount",
                  coalesce(
                    (
                      select transactions
                      from total
                    ),
                    '0'
                  ) as "transactionCount",
                  (
                    select coalesce(sum(addresses), 0)::text
                    from balance_tiers
                  ) as "addressCount",
                  $5::integer as "mempoolSize"
              ) object
          )
        from sink block
      )::json as body
  ) content;

-- getNetworkHistory -----------------------------------------------------------------------------------

-- “network history minute no”
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
      "ends" as materialized (
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
      ),
      "found" as materialized (
        select *
        from network_intervals
        where
          length = 'minute'
          and start < coalesce($2::bigint, 9223372036854775807)
        order by start desc
        limit $3::bigint + 1
      ),
      "listed" as materialized (
        select *
        from found
        order by start desc
        limit $4::bigint
      )
    select
      null::text as problem,
      json_build_object(
        'history',
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
                        listed.start as "start",
                        listed.start + 60000 > ends.sink as "isOpen",
                        listed.blocks as "blocks",
                        listed.chain_blocks as "chainBlocks",
                        listed.red_blocks as "redBlocks",
                        listed.transactions as "transactions",
                        listed.fees::text as "fees",
                        listed.volume::text as "volume",
                        listed.minted::text as "minted",
                        listed.supply::text as "supply",
                        listed.active_scripts as "activeAddresses",
                        listed.new_scripts as "newAddresses",
                        trunc(
                          listed.work * 1000 / greatest(least(listed.start + 60000, ends.sink) - greatest(listed.start, ends.first), 1000)
                        )::text as "hashesPerSecond"
                    ) object
                ) as item
              from
                listed
                cross join ends
              order by listed.start
            ) listed
        ),
        'hasMore',
        (
          select count(*) > $5::bigint
          from found
        )
      )::json as body
  ) content;

-- “network history hour no”: interval=hour
--   like “network history minute no”, except:
--            from network_intervals
--            where
--   -          length = 'minute'
--   +          length = 'hour'
--              and start < coalesce($2::bigint, 9223372036854775807)
--            order by start desc
--   …
--                          select
--                            listed.start as "start",
--   -                        listed.start + 60000 > ends.sink as "isOpen",
--   +                        listed.start + 3600000 > ends.sink as "isOpen",
--                            listed.blocks as "blocks",
--                            listed.chain_blocks as "chainBlocks",
--   …
--                            listed.new_scripts as "newAddresses",
--                            trunc(
--   -                          listed.work * 1000 / greatest(least(listed.start + 60000, ends.sink) - greatest(listed.start, ends.first), 1000)
--   +                          listed.work * 1000 / greatest(least(listed.start + 3600000, ends.sink) - greatest(listed.start, ends.first), 1000)
--                            )::text as "hashesPerSecond"
--                        ) object

-- “network history day no”: interval=day
--   like “network history minute no”, except:
--            from network_intervals
--            where
--   -          length = 'minute'
--   +          length = 'day'
--              and start < coalesce($2::bigint, 9223372036854775807)
--            order by start desc
--   …
--                          select
--                            listed.start as "start",
--   -                        listed.start + 60000 > ends.sink as "isOpen",
--   +                        listed.start + 86400000 > ends.sink as "isOpen",
--                            listed.blocks as "blocks",
--                            listed.chain_blocks as "chainBlocks",
--   …
--                            listed.new_scripts as "newAddresses",
--                            trunc(
--   -                          listed.work * 1000 / greatest(least(listed.start + 60000, ends.sink) - greatest(listed.start, ends.first), 1000)
--   +                          listed.work * 1000 / greatest(least(listed.start + 86400000, ends.sink) - greatest(listed.start, ends.first), 1000)
--                            )::text as "hashesPerSecond"
--                        ) object

-- “network history hour yes”: from
--   like “network history hour no”, except:
--              length = 'hour'
--              and start < coalesce($2::bigint, 9223372036854775807)
--   -        order by start desc
--   -        limit $3::bigint + 1
--   +          and start >= $3::bigint
--   +        order by start asc
--   +        limit $4::bigint + 1
--          ),
--          "listed" as materialized (
--            select *
--            from found
--   -        order by start desc
--   -        limit $4::bigint
--   +        order by start asc
--   +        limit $5::bigint
--          )
--        select
--   …
--            'hasMore',
--            (
--   -          select count(*) > $5::bigint
--   +          select count(*) > $6::bigint
--              from found
--            )

-- getNetworkProtocols ---------------------------------------------------------------------------------

-- “protocols day no”
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
        select *
        from network_intervals
        where
          length = 'day'
          and start < coalesce($2::bigint, 9223372036854775807)
        order by start desc
        limit $3::bigint + 1
      ),
      "listed" as materialized (
        select *
        from found
        order by start desc
        limit $4::bigint
      )
    select
      null::text as problem,
      json_build_object(
        'history',
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
                        listed.start as "start",
                        listed.start + 86400000 > (
                          select chain_time
                          from chain_blocks
                          where
                            index = (
                              select chain_index
                              from
                              checkpoint
                            )
                        ) as "isOpen",
                        listed.transactions as "transactions",
                        listed.fees::text as "fees",
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
                                        summed.protocol as "protocol",
                                        summed.transactions as "transactions",
                                        summed.fees::text as "fees"
                                    ) object
                                ) as item
                              from
                                (
                                  select
                                    protocol,
                                    sum(transactions)::bigint as transactions,
                                    sum(fees) as fees
                                  from protocol_hours
                                  where hour between listed.start / 3600000 and (listed.start + 86400000) / 3600000 - 1
                                  group by protocol
                                ) summed
                              order by summed.protocol
                            ) listed
                        ) as "protocols",
                        (
                          select
                            (
                              select to_json(object)
                              from
                                (
                                  select
                                    genesis as "genesis",
                                    transition as "transition",
                                    burn as "burn"
                                ) object
                            )
                          from
                            (
                              select
                                coalesce(
                                  sum(events) filter (
                                    where kind = 'genesis'
                                  ),
                                  0
                                )::bigint as genesis,
                                coalesce(
                                  sum(events) filter (
                                    where kind = 'transition'
                                  ),
                                  0
                                )::bigint as transition,
                                coalesce(
                                  sum(events) filter (
                                    where kind = 'burn'
                                  ),
                                  0
                                )::bigint as burn
                              from covenant_hours
                              where hour between listed.start / 3600000 and (listed.start + 86400000) / 3600000 - 1
                            ) summed
                        ) as "covenantEvents",
                        (
                          select
                            (
                              select to_json(object)
                              from
                                (
                                  select
                                    coalesce(transactions, 0) as "transactions",
                                    coalesce(gas, 0)::text as "gas",
                                    coalesce(fees, 0)::text as "fees"
                                ) object
                            )
                          from
                            (
                              select
                                sum(transactions)::bigint as transactions,
                                sum(gas) as gas,
                                sum(fees) as fees
                              from lane_totals
                              where hour between listed.start / 3600000 and (listed.start + 86400000) / 3600000 - 1
                            ) summed
                        ) as "lanes",
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
                                        case use
                                          when 1 then 'introspection'
                                          when 2 then 'covenants'
                                          when 4 then 'sequencing'
                                          when 8 then 'groth16'
                                          when 16 then 'risc0'
                                          when 32 then 'unknownZk'
                                        end as "family",
                                        summed.spends as "spends",
                                        summed.fees::text as "fees"
                                    ) object
                                ) as item
                              from
                                (
                                  select
                                    use,
                                    sum(spends)::bigint as spends,
                                    sum(fees) as fees
                                  from program_use_hours
                                  where hour between listed.start / 3600000 and (listed.start + 86400000) / 3600000 - 1
                                  group by use
                                ) summed
                              order by summed.use
                            ) listed
                        ) as "opcodes"
                    ) object
                ) as item
              from listed
              order by listed.start
            ) listed
        ),
        'hasMore',
        (
          select count(*) > $5::bigint
          from found
        )
      )::json as body
  ) content;

-- “protocols hour no”: interval=hour
--   like “protocols day no”, except:
--            from network_intervals
--            where
--   -          length = 'day'
--   +          length = 'hour'
--              and start < coalesce($2::bigint, 9223372036854775807)
--            order by start desc
--   …
--                          select
--                            listed.start as "start",
--   -                        listed.start + 86400000 > (
--   +                        listed.start + 3600000 > (
--                              select chain_time
--                              from chain_blocks
--   …
--                                        sum(fees) as fees
--                                      from protocol_hours
--   -                                  where hour between listed.start / 3600000 and (listed.start + 86400000) / 3600000 - 1
--   +                                  where hour between listed.start / 3600000 and (listed.start + 3600000) / 3600000 - 1
--                                      group by protocol
--                                    ) summed
--   …
--                                    )::bigint as burn
--                                  from covenant_hours
--   -                              where hour between listed.start / 3600000 and (listed.start + 86400000) / 3600000 - 1
--   +                              where hour between listed.start / 3600000 and (listed.start + 3600000) / 3600000 - 1
--                                ) summed
--                            ) as "covenantEvents",
--   …
--                                    sum(fees) as fees
--                                  from lane_totals
--   -                              where hour between listed.start / 3600000 and (listed.start + 86400000) / 3600000 - 1
--   +                              where hour between listed.start / 3600000 and (listed.start + 3600000) / 3600000 - 1
--                                ) summed
--                            ) as "lanes",
--   …
--                                        sum(fees) as fees
--                                      from program_use_hours
--   -                                  where hour between listed.start / 3600000 and (listed.start + 86400000) / 3600000 - 1
--   +                                  where hour between listed.start / 3600000 and (listed.start + 3600000) / 3600000 - 1
--                                      group by use
--                                    ) summed

-- “protocols hour yes”: from
--   like “protocols hour no”, except:
--              length = 'hour'
--              and start < coalesce($2::bigint, 9223372036854775807)
--   -        order by start desc
--   -        limit $3::bigint + 1
--   +          and start >= $3::bigint
--   +        order by start asc
--   +        limit $4::bigint + 1
--          ),
--          "listed" as materialized (
--            select *
--            from found
--   -        order by start desc
--   -        limit $4::bigint
--   +        order by start asc
--   +        limit $5::bigint
--          )
--        select
--   …
--            'hasMore',
--            (
--   -          select count(*) > $5::bigint
--   +          select count(*) > $6::bigint
--              from found
--            )

-- getCirculatingSupply --------------------------------------------------------------------------------

-- None but those of every request.

-- getMaxSupply ----------------------------------------------------------------------------------------

-- None but those of every request.

-- getDistribution -------------------------------------------------------------------------------------

-- “distribution”
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
        select to_json(object)
        from
          (
            select
              (
                select blocks.timestamp
                from
                checkpoint
                join blocks on blocks.id = checkpoint.block_id
              ) as "timestamp",
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
                              case
                                when tiers.tier = 0 then '1'
                                else (10::numeric ^ (tiers.tier + 7))::bigint::text
                              end as "from",
                              case when tiers.tier < 11 then (10::numeric ^ (tiers.tier + 8))::bigint::text
                              end as "to",
                              coalesce(kept.addresses, 0) as "addresses",
                              coalesce(kept.balance, 0)::text as "balance"
                          ) object
                      ) as item
                    from
                      generate_series(0, 11) as tiers (tier)
                      left join balance_tiers kept on kept.tier = tiers.tier
                    order by tiers.tier
                  ) listed
              ) as "tiers"
          ) object
      )::json as body
  ) content;

-- getMiners -------------------------------------------------------------------------------------------

-- “miners”
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
      "range" as materialized (
        select
          (chain_time / 3600000)::integer - $2::integer as first_hour,
          chain_time
        from chain_blocks
        where
          index = (
            select chain_index
            from
            checkpoint
          )
      ),
      "mined" as materialized (
        select
          script_id,
          sum(blocks)::bigint as blocks,
          sum(red_blocks)::bigint as red_blocks,
          sum(rewards) as rewards
        from miner_hours
        where
          hour >= (
            select first_hour
            from range
          )
        group by script_id
      ),
      "total" as materialized (
        select coalesce(sum(blocks), 0)::bigint as blocks
        from mined
      ),
      "latest" as materialized (
        select
          miner_script_id as script_id,
          max(id) as block_id
        from
          (
            select
              id,
              miner_script_id
            from blocks
            order by id desc
            limit 1000
          ) newest
        group by miner_script_id
      ),
      "listed" as materialized (
        select *
        from mined
        where
          blocks > 0
          or rewards > 0
        order by
          blocks desc,
          rewards desc,
          script_id
        limit 100
      )
    select
      null::text as problem,
      (
        select to_json(object)
        from
          (
            select
              (
                select first_hour::bigint * 3600000
                from range
              ) as "from",
              (
                select chain_time
                from range
              ) as "to",
              (
                select blocks
                from total
              ) as "blocks",
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
                              script.address as "address",
                              encode(script.script, 'hex') as "scriptPublicKey",
                              coalesce(
                                (
                                  select to_json(tag)
                                  from
                                    (
                                      select
                                        address,
                                        name,
                                        link,
                                        labels
                                      from tags
                                      where tags.address = script.address
                                    ) tag
                                ),
                                (
                                  select to_json(tag)
                                  from
                                    (
                                      select
                                        script.address as address,
                                        name,
                                        link,
                                        labels,
                                        true as "isGuessed"
                                      from clusters
                                      where
                                        id = (
                                          select above.root_id
                                          from
                                            (
                                              select script.id as script_id
                                            ) given
                                            cross join lateral (
                                              with recursive
                                                up as (
                                                  select
                                                    m.script_id as root_id,
                                                    m.parent_id
                                                  from cluster_members m
                                                  where m.script_id = given.script_id
                                                  union all
                                                  select
                                                    m.script_id,
                                                    m.parent_id
                                                  from
                                                    up
                                                    join cluster_members m on m.script_id = up.parent_id
                                                )
                                              select up.root_id
                                              from up
                                              where up.parent_id is null
                                            ) above
                                        )
                                      offset 0
                                    ) tag
                                  where name is not null
                                )
                              ) as "tag",
                              (
                                select pool_of (extra_data_of (coinbase.payload))
                                from
                                  latest
                                  join block_transactions contained on contained.block_id = latest.block_id
                                  and contained.index = 0
                                  join transactions coinbase on coinbase.id = contained.transaction_id
                                where latest.script_id = listed.script_id
                              ) as "pool",
                              listed.blocks as "blocks",
                              listed.red_blocks as "redBlocks",
                              round(listed.blocks / greatest(total.blocks, 1)::numeric, 6)::float8 as "share",
                              listed.rewards::text as "rewards"
                          ) object
                      ) as item
                    from
                      listed
                      cross join total
                      join scripts script on script.id = listed.script_id
                    order by
                      listed.blocks desc,
                      listed.rewards desc,
                      listed.script_id
                  ) listed
              ) as "miners"
          ) object
      )::json as body
  ) content;

-- getDag ----------------------------------------------------------------------------------------------

-- “dag around”
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
      "ends" as materialized (
        select
          greatest(daa_score - $2::bigint / 2, 0) as first,
          daa_score - $3::bigint / 2 + $4::bigint as last
        from blocks
        where hash = $5::bytea
      ),
      "found" as materialized (
        select *
        from blocks
        where
          daa_score >= (
            select first
            from ends
          )
          and daa_score <= (
            select last
            from ends
          )
        order by
          daa_score,
          hash
        limit 1001
      )
    select
      case
        when not exists (
          select
          from ends
        ) then 'unknown'
      end::text as problem,
      json_build_object(
        'sink',
        (
          select encode("hash", 'hex')
          from blocks
          where
            id = (
              select block_id
              from
              checkpoint
            )
        ),
        'from',
        (
          select first::text
          from ends
        ),
        'to',
        (
          select last::text
          from ends
        ),
        'truncated',
        (
          select count(*) > 1000
          from found
        ),
        'blocks',
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
                        encode("block"."hash", 'hex') as "hash",
                        (
                          select
                            coalesce(
                              json_agg(
                                parent.hash
                                order by parent.index
                              ),
                              '[]'
                            )
                          from
                            (
                              select
                                encode(
                                  coalesce(
                                    (
                                      select hash
                                      from blocks
                                      where id = link.parent_id
                                    ),
                                    pre_bootstrap_block_hash (link.parent_id)
                                  ),
                                  'hex'
                                ) as hash,
                                link.index
                              from block_parents link
                              where link.block_id = block.id
                            ) parent
                        ) as "parentHashes",
                        encode(
                          coalesce(
                            (
                              select hash
                              from blocks
                              where id = block.selected_parent_id
                            ),
                            pre_bootstrap_block_hash (block.selected_parent_id)
                          ),
                          'hex'
                        ) as "selectedParentHash",
                        "block"."blue_score"::text as "blueScore",
                        "block"."daa_score"::text as "daaScore",
                        block.timestamp as "timestamp",
                        block.is_chain_block as "isChainBlock",
                        case
                          when block.is_blue then 'blue'
                          when not block.is_blue then 'red'
                        end as "color",
                        encode("merging"."hash", 'hex') as "mergingBlockHash",
                        block.transaction_count as "transactionCount",
                        (
                          select address
                          from scripts
                          where id = block.miner_script_id
                        ) as "minerAddress"
                    ) object
                ) as item
              from
                (
                  select *
                  from found
                  order by
                    daa_score,
                    hash
                  limit 1000
                ) block
                left join blocks merging on merging.id = block.merging_block_id
              order by
                block.daa_score,
                block.hash
            ) listed
        )
      )::json as body
  ) content;

-- “dag range”: from and to
--   like “dag around”, except:
--          "ends" as materialized (
--            select
--   -          greatest(daa_score - $2::bigint / 2, 0) as first,
--   -          daa_score - $3::bigint / 2 + $4::bigint as last
--   -        from blocks
--   -        where hash = $5::bytea
--   +          $2::bigint as first,
--   +          $3::bigint as last
--          ),
--          "found" as materialized (

-- “dag latest”: the latest
--   like “dag range”, except:
--          "ends" as materialized (
--            select
--   -          $2::bigint as first,
--   -          $3::bigint as last
--   +          greatest(max(daa_score) - $2::bigint, 0) as first,
--   +          max(daa_score) as last
--   +        from
--   +          (
--   +            select daa_score
--   +            from blocks
--   +            where
--   +              daa_score >= (
--   +                select daa_score
--   +                from blocks
--   +                where
--   +                  id = (
--   +                    select block_id
--   +                    from
--   +                    checkpoint
--   +                  )
--   +              )
--   +          ) newest
--          ),
--          "found" as materialized (

-- getMempool ------------------------------------------------------------------------------------------

-- None but those of every request.

-- getPendingTransaction -------------------------------------------------------------------------------

-- listUtxos of packages/api/src/resources/rpc/submitted/storage-masses.ts
select
  t.transaction_id,
  o.index::int as index,
  o.amount,
  s.version,
  s.script,
  s.address,
  s.type,
  o.covenant_id
from
  unnest($1::bytea[], $2::bigint[]) as spent (transaction_id, index)
  join transactions t on substring(
    "t"."transaction_id"
    from 1 for 7
  ) = substring(
    spent.transaction_id
    from 1 for 7
  )
  and "t"."transaction_id" = spent.transaction_id
  join transaction_outputs o on o.transaction_id = t.id
  and o.index = spent.index
  and o.index >> 4 = spent.index >> 4
  join scripts s on s.id = o.script_id
union all
select
  t.transaction_id,
  o.index::int as index,
  o.amount,
  s.version,
  s.script,
  s.address,
  s.type,
  o.covenant_id
from
  unnest($3::bytea[], $4::bigint[]) as spent (transaction_id, index)
  join pre_bootstrap_transactions t on t.transaction_id = spent.transaction_id
  join bootstrap_utxos o on o.transaction_id = t.id
  and o.index = spent.index
  and o.index >> 4 = spent.index >> 4
  join scripts s on s.id = o.script_id;
