-- The statements of this area as Postgres gets them, by operation. `npm run generate:statements` writes this file, and test/statements compares it
-- and lets Postgres describe each statement. A statement is shown where it is sent first.
--
-- Filters, cursors, directions and `include` choose the pieces of a statement. Each value of each parameter is tried with the example of its operation,
-- never two parameters together, and SQL that this leaves out by further requests. So every piece is here, and not every combination. A statement that is
-- like an earlier one of its operation is shown as the lines that differ, if these are fewer.

-- getProgram ------------------------------------------------------------------------------------------

-- “program yes”
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
        from programs
        where hash = $2::bytea
      )
    select
      case
        when not exists (
          select
          from found
        ) then 'unknown'
      end::text as problem,
      json_build_object(
        'program',
        (
          select
            (
              select to_json(object)
              from
                (
                  select
                    encode("programs"."hash", 'hex') as "hash",
                    programs.length as "length",
                    to_json(
                      array_remove(
                        array[
                          case when programs.uses & 1 <> 0 then 'introspection'
                          end,
                          case when programs.uses & 2 <> 0 then 'covenants'
                          end,
                          case when programs.uses & 4 <> 0 then 'sequencing'
                          end,
                          case when programs.uses & 8 <> 0 then 'groth16'
                          end,
                          case when programs.uses & 16 <> 0 then 'risc0'
                          end,
                          case when programs.uses & 32 <> 0 then 'unknownZk'
                          end
                        ]::text[],
                        null
                      )
                    ) as "uses",
                    encode("program_templates"."template", 'hex') as "template",
                    encode("programs"."kcc_template", 'hex') as "kccTemplate",
                    programs.is_bare as "isBare",
                    programs.first_seen as "firstSeen",
                    case
                      when revealing.id is not null then (
                        select to_json(object)
                        from
                          (
                            select
                              encode(revealing.id, 'hex') as "transactionId",
                              case
                                when programs.is_bare then 'output'
                                else 'input'
                              end as "source",
                              programs.index as "index"
                          ) object
                      )
                    end as "firstRevealed",
                    programs.spend_count as "spendCount",
                    (
                      select encode(script, 'hex')
                      from scripts
                      where id = programs.script_id
                    ) as "bareScript",
                    (
                      select
                        encode(
                          case
                            when transactions.accepted_variant > 0 then (variant_input (input.transaction_id, transactions.accepted_variant, input.index))."signature_script"
                            else "input"."signature_script"
                          end,
                          'hex'
                        )
                      from transaction_inputs input
                      where
                        not programs.is_bare
                        and input.transaction_id = transactions.id
                        and input.index = programs.index
                    ) as "signatureScript"
                ) object
            )
          from
            found programs
            left join program_templates on program_templates.id = programs.template_id
            left join transactions on transactions.id = programs.transaction_id
            cross join lateral (
              select coalesce(transactions.transaction_id, pre_bootstrap_transaction_id (programs.transaction_id)) as id
            ) revealing
        )
      )::json as body
  ) content;

-- “program no”: another program
--   like “program yes”, except:
--                          )
--                        end as "firstRevealed",
--   -                    programs.spend_count as "spendCount",
--   -                    (
--   -                      select encode(script, 'hex')
--   -                      from scripts
--   -                      where id = programs.script_id
--   -                    ) as "bareScript",
--   -                    (
--   -                      select
--   -                        encode(
--   -                          case
--   -                            when transactions.accepted_variant > 0 then (variant_input (input.transaction_id, transactions.accepted_variant, input.index))."signature_script"
--   -                            else "input"."signature_script"
--   -                          end,
--   -                          'hex'
--   -                        )
--   -                      from transaction_inputs input
--   -                      where
--   -                        not programs.is_bare
--   -                        and input.transaction_id = transactions.id
--   -                        and input.index = programs.index
--   -                    ) as "signatureScript"
--   +                    programs.spend_count as "spendCount"
--                    ) object
--                )

-- listTemplates ---------------------------------------------------------------------------------------

-- “templates first”
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
              from program_templates
              order by
                spend_count desc,
                template desc
              limit $2::bigint + 1
            )
          ) with ordinality as keys (key, position)
      )
    select
      null::text as problem,
      json_build_object(
        'templates',
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
                        encode("program_templates"."template", 'hex') as "template",
                        program_templates.program_count as "programCount",
                        program_templates.spend_count as "spendCount",
                        program_templates.covenant_count as "covenantCount",
                        program_templates.first_seen as "firstSeen",
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
                                        named.entry ->> 'name' as "name",
                                        named.entry ->> 'source' as "source",
                                        named.entry ->> 'description' as "description",
                                        source.name as "importedFrom"
                                    ) object
                                ) as item
                              from
                                template_names named
                                join template_sources source on source.id = named.source_id
                              where named.template = program_templates.template
                              order by
                                jsonb_array_length(coalesce(named.entry -> 'required', '[]')) desc,
                                named.entry ->> 'name',
                                source.name
                              limit 10
                            ) listed
                        ) as "names"
                    ) object
                ) as item
              from
                page
                join program_templates on program_templates.id = page.key
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

-- “templates after”: starting_after=…
--   like “templates first”, except:
--      cross join lateral (
--        with
--   +      "cursor" as materialized (
--   +        select
--   +          id as key,
--   +          coalesce($2::bigint, spend_count) as spends,
--   +          template
--   +        from program_templates
--   +        where template = $3::bytea
--   +      ),
--          "page" as materialized (
--            select
--   …
--                  select id
--                  from program_templates
--   +              where
--   +                (spend_count, template) < (
--   +                  (
--   +                    select spends
--   +                    from cursor
--   +                  ),
--   +                  (
--   +                    select template
--   +                    from cursor
--   +                  )
--   +                )
--                  order by
--                    spend_count desc,
--                    template desc
--   -              limit $2::bigint + 1
--   +              limit $4::bigint + 1
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
--            'templates',
--   …
--                    page
--                    join program_templates on program_templates.id = page.key
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

-- “templates before”: ending_before=…
--   like “templates after”, except:
--                  from program_templates
--                  where
--   -                (spend_count, template) < (
--   +                (spend_count, template) > (
--                      (
--                        select spends
--   …
--                    )
--                  order by
--   -                spend_count desc,
--   -                template desc
--   +                spend_count asc,
--   +                template asc
--                  limit $4::bigint + 1
--                )
--   …
--                    join program_templates on program_templates.id = page.key
--                  where page.position <= $5::bigint
--   -              order by page.position asc
--   +              order by page.position desc
--                ) listed
--            ),

-- getTemplate -----------------------------------------------------------------------------------------

-- “template”
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
        from program_templates
        where template = $2::bytea
      )
    select
      case
        when not exists (
          select
          from found
        ) then 'unknown'
      end::text as problem,
      json_build_object(
        'template',
        (
          select
            (
              select to_json(object)
              from
                (
                  select
                    encode("program_templates"."template", 'hex') as "template",
                    program_templates.program_count as "programCount",
                    program_templates.spend_count as "spendCount",
                    program_templates.covenant_count as "covenantCount",
                    program_templates.first_seen as "firstSeen",
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
                                    named.entry ->> 'name' as "name",
                                    named.entry ->> 'source' as "source",
                                    named.entry ->> 'description' as "description",
                                    source.name as "importedFrom",
                                    coalesce(named.entry -> 'pushes', '[]'::jsonb) as "pushes",
                                    coalesce(named.entry -> 'required', '[]'::jsonb) as "required",
                                    coalesce(named.entry -> 'state', 'null'::jsonb) as "state",
                                    coalesce(named.entry -> 'seen', '[]'::jsonb) as "seen"
                                ) object
                            ) as item
                          from
                            template_names named
                            join template_sources source on source.id = named.source_id
                          where named.template = program_templates.template
                          order by
                            jsonb_array_length(coalesce(named.entry -> 'required', '[]')) desc,
                            named.entry ->> 'name',
                            source.name
                          limit 100
                        ) listed
                    ) as "names"
                ) object
            )
          from found program_templates
        )
      )::json as body
  ) content;

-- listTemplateCovenants -------------------------------------------------------------------------------

-- “covenants first last_seen path no no”
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
      "template" as materialized (
        select id
        from program_templates
        where template = $2::bytea
      ),
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
                  where
                    template_id >= (
                      select id
                      from template
                    )
                    and template_id <= (
                      select id
                      from template
                    )
                  order by
                    template_id desc,
                    "last_seen" desc,
                    covenant_id desc
                  limit $3::bigint + 1
                ) covenants
            )
          ) with ordinality as keys (key, position)
      )
    select
      case
        when (
          select id
          from template
        ) is null then 'unknown template'
        else null
      end::text as problem,
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

-- “covenants after last_seen path no no”: starting_after=…
--   like “covenants first last_seen path no no”, except:
--            where template = $2::bytea
--          ),
--   +      "cursor" as materialized (
--   +        select
--   +          id as key,
--   +          coalesce($3::bigint, last_seen) as time,
--   +          covenant_id
--   +        from covenants
--   +        where covenant_id = $4::bytea
--   +      ),
--          "page" as materialized (
--            select
--   …
--                      from covenants
--                      where
--   -                    template_id >= (
--   -                      select id
--   -                      from template
--   +                    (template_id, "last_seen", covenant_id) < (
--   +                      (
--   +                        select id
--   +                        from template
--   +                      ),
--   +                      (
--   +                        select time
--   +                        from cursor
--   +                      ),
--   +                      (
--   +                        select covenant_id
--   +                        from cursor
--   +                      )
--                        )
--   -                    and template_id <= (
--   +                    and template_id >= (
--                          select id
--                          from template
--   …
--                        "last_seen" desc,
--                        covenant_id desc
--   -                  limit $3::bigint + 1
--   +                  limit $5::bigint + 1
--                    ) covenants
--                )
--   …
--              from template
--            ) is null then 'unknown template'
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
--                    join covenants on covenants.id = page.key
--                    left join program_templates on program_templates.id = covenants.template_id
--   -              where page.position <= $4::bigint
--   +              where page.position <= $6::bigint
--                  order by page.position asc
--                ) listed
--   …
--                    count(*) as found,
--                    count(*) filter (
--   -                  where page.position <= $5::bigint
--   +                  where page.position <= $7::bigint
--                    ) as shown
--                  from page

-- “covenants before last_seen path no no”: ending_before=…
--   like “covenants after last_seen path no no”, except:
--                      from covenants
--                      where
--   -                    (template_id, "last_seen", covenant_id) < (
--   +                    (template_id, "last_seen", covenant_id) > (
--                          (
--                            select id
--   …
--                          )
--                        )
--   -                    and template_id >= (
--   +                    and template_id <= (
--                          select id
--                          from template
--                        )
--                      order by
--   -                    template_id desc,
--   -                    "last_seen" desc,
--   -                    covenant_id desc
--   +                    template_id asc,
--   +                    "last_seen" asc,
--   +                    covenant_id asc
--                      limit $5::bigint + 1
--                    ) covenants
--   …
--                    left join program_templates on program_templates.id = covenants.template_id
--                  where page.position <= $6::bigint
--   -              order by page.position asc
--   +              order by page.position desc
--                ) listed
--            ),

-- “covenants first created path no no”: order=created
--   like “covenants first last_seen path no no”, except:
--                        id,
--                        template_id,
--   -                    "last_seen",
--   +                    "first_seen",
--                        utxo_count,
--                        is_complete,
--                        covenant_id
--                      from covenants
--   -                  where
--   -                    template_id >= (
--   -                      select id
--   -                      from template
--   -                    )
--   -                    and template_id <= (
--   -                      select id
--   -                      from template
--   -                    )
--                      order by
--   -                    template_id desc,
--   -                    "last_seen" desc,
--   +                    "first_seen" desc,
--                        covenant_id desc
--   -                  limit $3::bigint + 1
--   +                  limit 10000
--                    ) covenants
--   +              where
--   +                template_id = (
--   +                  select id
--   +                  from template
--   +                )
--   +              order by
--   +                "first_seen" desc,
--   +                covenant_id desc
--   +              limit $3::bigint + 1
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
--   +                            "first_seen" || ':' || encode(covenant_id, 'hex')
--   +                            order by
--   +                              "first_seen" desc,
--   +                              covenant_id desc
--   +                          )
--   +                        ) [1]
--   +                      end
--   +                    from
--   +                      (
--   +                        select
--   +                          id,
--   +                          template_id,
--   +                          "first_seen",
--   +                          utxo_count,
--   +                          is_complete,
--   +                          covenant_id
--   +                        from covenants
--   +                        order by
--   +                          "first_seen" desc,
--   +                          covenant_id desc
--   +                        offset 9999
--   +                        limit 2
--   +                      ) last
--   +                  )
--   +                end as "scannedTo"
--   +            ) examined
--            )
--          )::json as body

-- “covenants first last_seen path yes no”: live_only=true
--   like “covenants first created path no no”, except:
--                        id,
--                        template_id,
--   -                    "first_seen",
--   +                    "last_seen",
--                        utxo_count,
--                        is_complete,
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
--   -                    "first_seen" desc,
--   +                    template_id desc,
--   +                    "last_seen" desc,
--                        covenant_id desc
--                      limit 10000
--                    ) covenants
--   -              where
--   -                template_id = (
--   -                  select id
--   -                  from template
--   -                )
--   +              where utxo_count > 0
--                  order by
--   -                "first_seen" desc,
--   +                template_id desc,
--   +                "last_seen" desc,
--                    covenant_id desc
--                  limit $3::bigint + 1
--   …
--                            when count(*) = 2 then (
--                              array_agg(
--   -                            "first_seen" || ':' || encode(covenant_id, 'hex')
--   +                            "last_seen" || ':' || encode(covenant_id, 'hex')
--                                order by
--   -                              "first_seen" desc,
--   +                              "last_seen" desc,
--                                  covenant_id desc
--                              )
--   …
--                              id,
--                              template_id,
--   -                          "first_seen",
--   +                          "last_seen",
--                              utxo_count,
--                              is_complete,
--                              covenant_id
--                            from covenants
--   +                        where
--   +                          template_id >= (
--   +                            select id
--   +                            from template
--   +                          )
--   +                          and template_id <= (
--   +                            select id
--   +                            from template
--   +                          )
--                            order by
--   -                          "first_seen" desc,
--   +                          template_id desc,
--   +                          "last_seen" desc,
--                              covenant_id desc
--                            offset 9999

-- “covenants first last_seen path no yes”: complete_only=true
--   like “covenants first last_seen path yes no”, except:
--                      limit 10000
--                    ) covenants
--   -              where utxo_count > 0
--   +              where is_complete
--                  order by
--                    template_id desc,
