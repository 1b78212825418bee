-- The statements of this area as Postgres gets them, by operation. `npm run generate:statements` writes this file, and test/statements compares it
-- and lets Postgres describe each statement. A statement is shown where it is sent first.
--
-- Filters, cursors, directions and `include` choose the pieces of a statement. Each value of each parameter is tried with the example of its operation,
-- never two parameters together, and SQL that this leaves out by further requests. So every piece is here, and not every combination. A statement that is
-- like an earlier one of its operation is shown as the lines that differ, if these are fewer.

-- readStep --------------------------------------------------------------------------------------------

-- “step no no no no no no”: only chain blocks
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
      "path" as materialized (
        with recursive
          path as (
            select
              id,
              hash,
              blue_score,
              selected_parent_id,
              is_chain_block,
              0 as depth
            from blocks
            where hash = $2::bytea
            union all
            select
              below.id,
              below.hash,
              below.blue_score,
              below.selected_parent_id,
              below.is_chain_block,
              path.depth + 1
            from
              path
              join blocks below on below.id = path.selected_parent_id
            where not path.is_chain_block
          )
        select
          path.id,
          path.hash,
          path.blue_score,
          path.depth,
          c.index
        from
          path
          left join lateral (
            select index
            from chain_blocks
            where block_id = path.id
            limit 1
          ) c on true
      ),
      "fork" as materialized (
        select
          *,
          least(index + 100, gap, up_to) as highest
        from
          (
            select
              fork.index,
              fork.blue_score,
              start.blue_score as start_blue_score,
              null::bigint as gap,
              null::bigint as up_to
            from
              path fork
              join path start on start.depth = 0
            where fork.index is not null
            offset 0
          ) fork
        where gap is distinct from index
      ),
      "candidates" as materialized (
        select
          row_number() over (
            order by
              index nulls first,
              depth
          ) as n,
          candidate.*
        from
          (
            select
              path.depth,
              path.index,
              path.id as block_id,
              path.hash,
              path.blue_score,
              null::bigint as daa_score,
              null::bigint as timestamp,
              removed.accepted_transactions,
              removed.covenant_events
            from
              fork
              cross join path
              left join lateral (
                select *
                from removed_chain_blocks
                where block_id = path.id
                limit 1
              ) removed on true
            where path.index is null
            union all
            select
              0,
              added.index,
              added.block_id,
              added.hash,
              added.blue_score,
              added.daa_score,
              added.timestamp,
              added.accepted_transactions,
              null
            from
              fork
              cross join lateral (
                select *
                from chain_blocks
                where
                  index > fork.index
                  and index <= fork.highest
                order by index
                limit 100
              ) added
          ) candidate
        order by n
        limit 100
      ),
      "confirmed" as materialized (
        select
          candidate.n,
          wanted.confirmations,
          c.index,
          c.hash,
          c.blue_score,
          c.accepted_transactions
        from
          fork
          cross join unnest($3::bigint[]) wanted (confirmations)
          cross join lateral (
            select c.*
            from
              blocks b
              cross join lateral (
                select *
                from chain_blocks
                where block_id = b.id
                limit 1
              ) c
            where
              b.is_chain_block
              and b.blue_score > least(fork.start_blue_score - wanted.confirmations, fork.blue_score)
              and b.blue_score <= (
                select max(blue_score)
                from candidates
                where index is not null
              ) - wanted.confirmations
            offset 0
          ) c
          cross join lateral (
            select n
            from candidates
            where
              index is not null
              and blue_score >= c.blue_score + wanted.confirmations
            order by n
            limit 1
          ) candidate
      ),
      "page" as materialized (
        select *
        from
          (
            select
              candidates.*,
              sum(coalesce(cardinality(accepted_transactions), 0) + coalesce(confirmed.transactions, 0)) over (
                order by n
              ) as transactions
            from
              candidates
              left join (
                select
                  n,
                  sum(cardinality(accepted_transactions)) as transactions
                from confirmed
                group by n
              ) confirmed using (n)
          ) page
        where
          n = 1
          or transactions <= $4::bigint
      ),
      "source" as materialized (
        select
          n,
          case
            when index is null then 'reverted'
            else 'accepted'
          end as status,
          null::bigint as confirmations,
          n as position,
          index,
          hash,
          blue_score,
          accepted_transactions,
          covenant_events
        from page
        union all
        select
          n,
          'confirmed',
          confirmed.confirmations,
          confirmed.index,
          confirmed.index,
          confirmed.hash,
          confirmed.blue_score,
          confirmed.accepted_transactions,
          null
        from
          confirmed
          join page using (n)
      ),
      "step" as materialized (
        select *
        from page
      )
    select
      null::text as problem,
      json_build_object(
        'isFollowed',
        exists (
          select
          from fork
        ),
        'isKnown',
        not exists (
          select
          from step
          where
            index is null
            and accepted_transactions is null
        ),
        'removed',
        (
          select coalesce(json_agg(listed.item), '[]')
          from
            (
              select encode("step"."hash", 'hex') as item
              from step
              where index is null
              order by n
            ) listed
        ),
        'below',
        (
          select
            (
              select to_json(object)
              from
                (
                  select
                    encode("path"."hash", 'hex') as "hash",
                    "path"."blue_score"::text as "blueScore"
                ) object
            )
          from path
          where
            depth = (
              select count(*)
              from step
              where index is null
            )
        ),
        'added',
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
                        encode("c"."hash", 'hex') as "hash",
                        encode(
                          coalesce(
                            (
                              select p.hash
                              from blocks p
                              where p.id = b.selected_parent_id
                            ),
                            pre_bootstrap_block_hash (b.selected_parent_id)
                          ),
                          'hex'
                        ) as "selectedParentHash",
                        "c"."blue_score"::text as "blueScore",
                        "c"."daa_score"::text as "daaScore",
                        c.timestamp as "timestamp",
                        array(
                          select encode(m.hash, 'hex')
                          from
                            unnest("b"."merge_set_blues") with ordinality merged (id, n)
                            join blocks m on m.id = merged.id
                          order by n
                        ) as "mergeSetBluesHashes",
                        array(
                          select encode(m.hash, 'hex')
                          from
                            unnest("b"."merge_set_reds") with ordinality merged (id, n)
                            join blocks m on m.id = merged.id
                          order by n
                        ) as "mergeSetRedsHashes"
                    ) object
                ) as item
              from
                step c
                cross join lateral (
                  select *
                  from blocks
                  where id = c.block_id
                  limit 1
                ) b
              where c.index is not null
              order by c.n
            ) listed
        ),
        'addresses',
        null::json,
        'covenants',
        null::json,
        'newBlocks',
        null::json
      )::json as body
  ) content;

-- “step yes no no no no no”: with ids
--   like “step no no no no no no”, except:
--                                join blocks m on m.id = merged.id
--                              order by n
--   -                        ) as "mergeSetRedsHashes"
--   +                        ) as "mergeSetRedsHashes",
--   +                        array(
--   +                          select encode(t.transaction_id, 'hex')
--   +                          from
--   +                            unnest(c.accepted_transactions) with ordinality a (id, n)
--   +                            join transactions t on t.id = a.id
--   +                          order by n
--   +                        ) as "acceptedTransactionIds"
--                        ) object
--                    ) as item

-- “step no yes no no no no”: with addresses
--   like “step no no no no no no”, except:
--              join page using (n)
--          ),
--   +      "address_changes" as materialized (
--   +        select
--   +          moved.n,
--   +          moved.status,
--   +          moved.confirmations,
--   +          moved.position,
--   +          moved.transaction,
--   +          s.address as name,
--   +          (
--   +            select to_json(object)
--   +            from
--   +              (
--   +                select
--   +                  s.address as "address",
--   +                  encode("t"."transaction_id", 'hex') as "transactionId",
--   +                  t.is_coinbase as "isCoinbase",
--   +                  "moved"."sent"::text as "amountSent",
--   +                  "moved"."received"::text as "amountReceived",
--   +                  encode("moved"."hash", 'hex') as "acceptingBlockHash",
--   +                  "moved"."blue_score"::text as "acceptingBlockBlueScore",
--   +                  coalesce(b.balance, 0)::text as "balance"
--   +              ) object
--   +          ) as item
--   +        from
--   +          (
--   +            select
--   +              source.n,
--   +              source.status,
--   +              source.confirmations,
--   +              source.position,
--   +              source.hash,
--   +              source.blue_score,
--   +              a.id,
--   +              a.transaction,
--   +              d.script_id,
--   +              sum(d.amount_sent)::bigint as sent,
--   +              sum(d.amount_received)::bigint as received
--   +            from
--   +              source
--   +              cross join unnest(source.accepted_transactions) with ordinality a (id, transaction)
--   +              cross join lateral (
--   +                select
--   +                  *,
--   +                  case
--   +                    when $5::text[] is null then script_id is not null
--   +                    else script_id in (
--   +                      select id
--   +                      from scripts
--   +                      where address = any ($6::text[])
--   +                    )
--   +                  end as is_wanted
--   +                from script_deltas
--   +                where transaction_id = a.id
--   +                offset 0
--   +              ) d
--   +            where d.is_wanted
--   +            group by
--   +              1,
--   +              2,
--   +              3,
--   +              4,
--   +              5,
--   +              6,
--   +              7,
--   +              8,
--   +              9
--   +          ) moved
--   +          cross join lateral (
--   +            select
--   +              transaction_id,
--   +              subnetwork_id = 1 as is_coinbase
--   +            from transactions
--   +            where id = moved.id
--   +            limit 1
--   +          ) t
--   +          cross join lateral (
--   +            select address
--   +            from scripts
--   +            where
--   +              id = moved.script_id
--   +              and address is not null
--   +            limit 1
--   +          ) s
--   +          left join lateral (
--   +            select balance
--   +            from balances
--   +            where script_id = moved.script_id
--   +            limit 1
--   +          ) b on true
--   +      ),
--          "step" as materialized (
--            select *
--   -        from page
--   +        from
--   +          (
--   +            select
--   +              page.*,
--   +              sum(coalesce(changed.changes, 0)) over (
--   +                order by n
--   +              ) as changes
--   +            from
--   +              page
--   +              left join (
--   +                select
--   +                  n,
--   +                  count(*) as changes
--   +                from
--   +                  (
--   +                    select n
--   +                    from "address_changes"
--   +                  ) changed
--   +                group by n
--   +              ) changed using (n)
--   +          ) page
--   +        where
--   +          n = 1
--   +          or changes <= $7::bigint
--          )
--        select
--   …
--            ),
--            'addresses',
--   -        null::json,
--   +        (
--   +          select coalesce(json_agg(listed.item), '[]')
--   +          from
--   +            (
--   +              select
--   +                (
--   +                  select to_json(object)
--   +                  from
--   +                    (
--   +                      select
--   +                        list.status as "status",
--   +                        list.confirmations as "confirmations",
--   +                        list.changes as "changes"
--   +                    ) object
--   +                ) as item
--   +              from
--   +                (
--   +                  select
--   +                    status,
--   +                    confirmations,
--   +                    json_agg(
--   +                      item
--   +                      order by
--   +                        position,
--   +                        transaction,
--   +                        name
--   +                    ) as changes
--   +                  from "address_changes"
--   +                  where
--   +                    n <= (
--   +                      select max(n)
--   +                      from step
--   +                    )
--   +                  group by
--   +                    status,
--   +                    confirmations
--   +                ) list
--   +            ) listed
--   +        ),
--            'covenants',
--            null::json,

-- “step no no yes no yes no”: with covenants
--   like “step no no no no no no”, except:
--                  start.blue_score as start_blue_score,
--                  null::bigint as gap,
--   -              null::bigint as up_to
--   +              (
--   +                select index
--   +                from
--   +                  (
--   +                    with recursive
--   +                      path as (
--   +                        select
--   +                          id,
--   +                          hash,
--   +                          blue_score,
--   +                          selected_parent_id,
--   +                          is_chain_block,
--   +                          0 as depth
--   +                        from blocks
--   +                        where hash = $3::bytea
--   +                        union all
--   +                        select
--   +                          below.id,
--   +                          below.hash,
--   +                          below.blue_score,
--   +                          below.selected_parent_id,
--   +                          below.is_chain_block,
--   +                          path.depth + 1
--   +                        from
--   +                          path
--   +                          join blocks below on below.id = path.selected_parent_id
--   +                        where not path.is_chain_block
--   +                      )
--   +                    select
--   +                      path.id,
--   +                      path.hash,
--   +                      path.blue_score,
--   +                      path.depth,
--   +                      c.index
--   +                    from
--   +                      path
--   +                      left join lateral (
--   +                        select index
--   +                        from chain_blocks
--   +                        where block_id = path.id
--   +                        limit 1
--   +                      ) c on true
--   +                  ) up_to
--   +                where index is not null
--   +              ) as up_to
--                from
--                  path fork
--   …
--                offset 0
--              ) fork
--   -        where gap is distinct from index
--   +        where
--   +          gap is distinct from index
--   +          and up_to is not null
--          ),
--          "candidates" as materialized (
--   …
--            from
--              fork
--   -          cross join unnest($3::bigint[]) wanted (confirmations)
--   +          cross join unnest($4::bigint[]) wanted (confirmations)
--              cross join lateral (
--                select c.*
--   …
--            where
--              n = 1
--   -          or transactions <= $4::bigint
--   +          or transactions <= $5::bigint
--          ),
--          "source" as materialized (
--   …
--              join page using (n)
--          ),
--   +      "covenant_changes" as materialized (
--   +        select
--   +          source.n,
--   +          source.status,
--   +          source.confirmations,
--   +          source.position,
--   +          e.transaction,
--   +          e.covenant_id as name,
--   +          (
--   +            select to_json(object)
--   +            from
--   +              (
--   +                select
--   +                  e.covenant_id as "covenantId",
--   +                  encode("t"."transaction_id", 'hex') as "transactionId",
--   +                  e.kind as "kind",
--   +                  e.template as "template",
--   +                  encode("source"."hash", 'hex') as "acceptingBlockHash",
--   +                  "source"."blue_score"::text as "acceptingBlockBlueScore"
--   +              ) object
--   +          ) as item
--   +        from
--   +          source
--   +          cross join lateral (
--   +            select
--   +              added.position as transaction,
--   +              added.transaction_id,
--   +              added.kind::text as kind,
--   +              encode(c.covenant_id, 'hex') as covenant_id,
--   +              encode(p.template, 'hex') as template
--   +            from
--   +              (
--   +                select
--   +                  *,
--   +                  (
--   +                    $6::text[] is null
--   +                    or covenant_id in (
--   +                      select id
--   +                      from covenants
--   +                      where
--   +                        covenant_id in (
--   +                          select decode(id, 'hex')
--   +                          from unnest($7::text[]) given (id)
--   +                        )
--   +                    )
--   +                    or coalesce(template_id, previous_template_id) in (
--   +                      select id
--   +                      from program_templates
--   +                      where
--   +                        template in (
--   +                          select decode(id, 'hex')
--   +                          from unnest($8::text[]) given (id)
--   +                        )
--   +                    )
--   +                  ) as is_wanted
--   +                from covenant_events
--   +                where chain_index = source.index
--   +                offset 0
--   +              ) added
--   +              cross join lateral (
--   +                select covenant_id
--   +                from covenants
--   +                where id = added.covenant_id
--   +                limit 1
--   +              ) c
--   +              left join lateral (
--   +                select template
--   +                from program_templates
--   +                where id = coalesce(added.template_id, added.previous_template_id)
--   +                limit 1
--   +              ) p on true
--   +            where added.is_wanted
--   +            union all
--   +            select
--   +              removed.transaction,
--   +              (removed.event ->> 0)::bigint,
--   +              removed.event ->> 2,
--   +              removed.event ->> 1,
--   +              removed.event ->> 3
--   +            from jsonb_array_elements(source.covenant_events) with ordinality removed (event, transaction)
--   +            where
--   +              (
--   +                $9::text[] is null
--   +                or removed.event ->> 1 = any ($10::text[])
--   +                or removed.event ->> 3 = any ($11::text[])
--   +              )
--   +          ) e
--   +          cross join lateral (
--   +            select transaction_id
--   +            from transactions
--   +            where id = e.transaction_id
--   +            limit 1
--   +          ) t
--   +      ),
--          "step" as materialized (
--            select *
--   -        from page
--   +        from
--   +          (
--   +            select
--   +              page.*,
--   +              sum(coalesce(changed.changes, 0)) over (
--   +                order by n
--   +              ) as changes
--   +            from
--   +              page
--   +              left join (
--   +                select
--   +                  n,
--   +                  count(*) as changes
--   +                from
--   +                  (
--   +                    select n
--   +                    from "covenant_changes"
--   +                  ) changed
--   +                group by n
--   +              ) changed using (n)
--   +          ) page
--   +        where
--   +          n = 1
--   +          or changes <= $12::bigint
--          )
--        select
--   …
--            null::json,
--            'covenants',
--   -        null::json,
--   +        (
--   +          select coalesce(json_agg(listed.item), '[]')
--   +          from
--   +            (
--   +              select
--   +                (
--   +                  select to_json(object)
--   +                  from
--   +                    (
--   +                      select
--   +                        list.status as "status",
--   +                        list.confirmations as "confirmations",
--   +                        list.changes as "changes"
--   +                    ) object
--   +                ) as item
--   +              from
--   +                (
--   +                  select
--   +                    status,
--   +                    confirmations,
--   +                    json_agg(
--   +                      item
--   +                      order by
--   +                        position,
--   +                        transaction,
--   +                        name
--   +                    ) as changes
--   +                  from "covenant_changes"
--   +                  where
--   +                    n <= (
--   +                      select max(n)
--   +                      from step
--   +                    )
--   +                  group by
--   +                    status,
--   +                    confirmations
--   +                ) list
--   +            ) listed
--   +        ),
--            'newBlocks',
--            null::json

-- “step no no no yes no no”: with new blocks
--   like “step no no no no no no”, except:
--            select *
--            from page
--   +      ),
--   +      "new_blocks" as materialized (
--   +        select *
--   +        from blocks
--   +        where id > $5::bigint
--   +        order by id
--   +        limit 500
--          )
--        select
--   …
--            null::json,
--            'newBlocks',
--   -        null::json
--   +        json_build_object(
--   +          'blocks',
--   +          (
--   +            select coalesce(json_agg(listed.item), '[]')
--   +            from
--   +              (
--   +                select
--   +                  (
--   +                    select to_json(object)
--   +                    from
--   +                      (
--   +                        select
--   +                          encode("block"."hash", 'hex') as "hash",
--   +                          (
--   +                            select
--   +                              coalesce(
--   +                                json_agg(
--   +                                  parent.hash
--   +                                  order by parent.index
--   +                                ),
--   +                                '[]'
--   +                              )
--   +                            from
--   +                              (
--   +                                select
--   +                                  encode(
--   +                                    coalesce(
--   +                                      (
--   +                                        select hash
--   +                                        from blocks
--   +                                        where id = link.parent_id
--   +                                      ),
--   +                                      pre_bootstrap_block_hash (link.parent_id)
--   +                                    ),
--   +                                    'hex'
--   +                                  ) as hash,
--   +                                  link.index
--   +                                from block_parents link
--   +                                where link.block_id = block.id
--   +                              ) parent
--   +                          ) as "parentHashes",
--   +                          encode(
--   +                            coalesce(
--   +                              (
--   +                                select hash
--   +                                from blocks
--   +                                where id = block.selected_parent_id
--   +                              ),
--   +                              pre_bootstrap_block_hash (block.selected_parent_id)
--   +                            ),
--   +                            'hex'
--   +                          ) as "selectedParentHash",
--   +                          "block"."blue_score"::text as "blueScore",
--   +                          "block"."daa_score"::text as "daaScore",
--   +                          block.timestamp as "timestamp",
--   +                          block.is_chain_block as "isChainBlock",
--   +                          case
--   +                            when block.is_blue then 'blue'
--   +                            when not block.is_blue then 'red'
--   +                          end as "color",
--   +                          encode("merging"."hash", 'hex') as "mergingBlockHash",
--   +                          block.transaction_count as "transactionCount",
--   +                          (
--   +                            select address
--   +                            from scripts
--   +                            where id = block.miner_script_id
--   +                          ) as "minerAddress"
--   +                      ) object
--   +                  ) as item
--   +                from
--   +                  new_blocks block
--   +                  left join blocks merging on merging.id = block.merging_block_id
--   +                order by block.id
--   +              ) listed
--   +          ),
--   +          'last',
--   +          coalesce(
--   +            (
--   +              select max(id)
--   +              from new_blocks
--   +            ),
--   +            (
--   +              select max(id)
--   +              from blocks
--   +            )
--   +          )::text
--   +        )
--          )::json as body
--      ) content
--   \ No newline at end of file

-- “step yes yes yes yes no no”: with everything
--   like “step no yes no no no no”, except:
--              ) b on true
--          ),
--   +      "covenant_changes" as materialized (
--   +        select
--   +          source.n,
--   +          source.status,
--   +          source.confirmations,
--   +          source.position,
--   +          e.transaction,
--   +          e.covenant_id as name,
--   +          (
--   +            select to_json(object)
--   +            from
--   +              (
--   +                select
--   +                  e.covenant_id as "covenantId",
--   +                  encode("t"."transaction_id", 'hex') as "transactionId",
--   +                  e.kind as "kind",
--   +                  e.template as "template",
--   +                  encode("source"."hash", 'hex') as "acceptingBlockHash",
--   +                  "source"."blue_score"::text as "acceptingBlockBlueScore"
--   +              ) object
--   +          ) as item
--   +        from
--   +          source
--   +          cross join lateral (
--   +            select
--   +              added.position as transaction,
--   +              added.transaction_id,
--   +              added.kind::text as kind,
--   +              encode(c.covenant_id, 'hex') as covenant_id,
--   +              encode(p.template, 'hex') as template
--   +            from
--   +              (
--   +                select
--   +                  *,
--   +                  (
--   +                    $7::text[] is null
--   +                    or covenant_id in (
--   +                      select id
--   +                      from covenants
--   +                      where
--   +                        covenant_id in (
--   +                          select decode(id, 'hex')
--   +                          from unnest($8::text[]) given (id)
--   +                        )
--   +                    )
--   +                    or coalesce(template_id, previous_template_id) in (
--   +                      select id
--   +                      from program_templates
--   +                      where
--   +                        template in (
--   +                          select decode(id, 'hex')
--   +                          from unnest($9::text[]) given (id)
--   +                        )
--   +                    )
--   +                  ) as is_wanted
--   +                from covenant_events
--   +                where chain_index = source.index
--   +                offset 0
--   +              ) added
--   +              cross join lateral (
--   +                select covenant_id
--   +                from covenants
--   +                where id = added.covenant_id
--   +                limit 1
--   +              ) c
--   +              left join lateral (
--   +                select template
--   +                from program_templates
--   +                where id = coalesce(added.template_id, added.previous_template_id)
--   +                limit 1
--   +              ) p on true
--   +            where added.is_wanted
--   +            union all
--   +            select
--   +              removed.transaction,
--   +              (removed.event ->> 0)::bigint,
--   +              removed.event ->> 2,
--   +              removed.event ->> 1,
--   +              removed.event ->> 3
--   +            from jsonb_array_elements(source.covenant_events) with ordinality removed (event, transaction)
--   +            where
--   +              (
--   +                $10::text[] is null
--   +                or removed.event ->> 1 = any ($11::text[])
--   +                or removed.event ->> 3 = any ($12::text[])
--   +              )
--   +          ) e
--   +          cross join lateral (
--   +            select transaction_id
--   +            from transactions
--   +            where id = e.transaction_id
--   +            limit 1
--   +          ) t
--   +      ),
--          "step" as materialized (
--            select *
--   …
--                        select n
--                        from "address_changes"
--   +                    union all
--   +                    select n
--   +                    from "covenant_changes"
--                      ) changed
--                    group by n
--   …
--            where
--              n = 1
--   -          or changes <= $7::bigint
--   +          or changes <= $13::bigint
--   +      ),
--   +      "new_blocks" as materialized (
--   +        select *
--   +        from blocks
--   +        where id > $14::bigint
--   +        order by id
--   +        limit 500
--          )
--        select
--   …
--                                join blocks m on m.id = merged.id
--                              order by n
--   -                        ) as "mergeSetRedsHashes"
--   +                        ) as "mergeSetRedsHashes",
--   +                        array(
--   +                          select encode(t.transaction_id, 'hex')
--   +                          from
--   +                            unnest(c.accepted_transactions) with ordinality a (id, n)
--   +                            join transactions t on t.id = a.id
--   +                          order by n
--   +                        ) as "acceptedTransactionIds"
--                        ) object
--                    ) as item
--   …
--            ),
--            'covenants',
--   -        null::json,
--   +        (
--   +          select coalesce(json_agg(listed.item), '[]')
--   +          from
--   +            (
--   +              select
--   +                (
--   +                  select to_json(object)
--   +                  from
--   +                    (
--   +                      select
--   +                        list.status as "status",
--   +                        list.confirmations as "confirmations",
--   +                        list.changes as "changes"
--   +                    ) object
--   +                ) as item
--   +              from
--   +                (
--   +                  select
--   +                    status,
--   +                    confirmations,
--   +                    json_agg(
--   +                      item
--   +                      order by
--   +                        position,
--   +                        transaction,
--   +                        name
--   +                    ) as changes
--   +                  from "covenant_changes"
--   +                  where
--   +                    n <= (
--   +                      select max(n)
--   +                      from step
--   +                    )
--   +                  group by
--   +                    status,
--   +                    confirmations
--   +                ) list
--   +            ) listed
--   +        ),
--            'newBlocks',
--   -        null::json
--   +        json_build_object(
--   +          'blocks',
--   +          (
--   +            select coalesce(json_agg(listed.item), '[]')
--   +            from
--   +              (
--   +                select
--   +                  (
--   +                    select to_json(object)
--   +                    from
--   +                      (
--   +                        select
--   +                          encode("block"."hash", 'hex') as "hash",
--   +                          (
--   +                            select
--   +                              coalesce(
--   +                                json_agg(
--   +                                  parent.hash
--   +                                  order by parent.index
--   +                                ),
--   +                                '[]'
--   +                              )
--   +                            from
--   +                              (
--   +                                select
--   +                                  encode(
--   +                                    coalesce(
--   +                                      (
--   +                                        select hash
--   +                                        from blocks
--   +                                        where id = link.parent_id
--   +                                      ),
--   +                                      pre_bootstrap_block_hash (link.parent_id)
--   +                                    ),
--   +                                    'hex'
--   +                                  ) as hash,
--   +                                  link.index
--   +                                from block_parents link
--   +                                where link.block_id = block.id
--   +                              ) parent
--   +                          ) as "parentHashes",
--   +                          encode(
--   +                            coalesce(
--   +                              (
--   +                                select hash
--   +                                from blocks
--   +                                where id = block.selected_parent_id
--   +                              ),
--   +                              pre_bootstrap_block_hash (block.selected_parent_id)
--   +                            ),
--   +                            'hex'
--   +                          ) as "selectedParentHash",
--   +                          "block"."blue_score"::text as "blueScore",
--   +                          "block"."daa_score"::text as "daaScore",
--   +                          block.timestamp as "timestamp",
--   +                          block.is_chain_block as "isChainBlock",
--   +                          case
--   +                            when block.is_blue then 'blue'
--   +                            when not block.is_blue then 'red'
--   +                          end as "color",
--   +                          encode("merging"."hash", 'hex') as "mergingBlockHash",
--   +                          block.transaction_count as "transactionCount",
--   +                          (
--   +                            select address
--   +                            from scripts
--   +                            where id = block.miner_script_id
--   +                          ) as "minerAddress"
--   +                      ) object
--   +                  ) as item
--   +                from
--   +                  new_blocks block
--   +                  left join blocks merging on merging.id = block.merging_block_id
--   +                order by block.id
--   +              ) listed
--   +          ),
--   +          'last',
--   +          coalesce(
--   +            (
--   +              select max(id)
--   +              from new_blocks
--   +            ),
--   +            (
--   +              select max(id)
--   +              from blocks
--   +            )
--   +          )::text
--   +        )
--          )::json as body
--      ) content
--   \ No newline at end of file

-- requireStart ----------------------------------------------------------------------------------------

-- listPath of packages/reads/src/selects/segments.ts: in node-rpc-proxy.sql, getVirtualChainFromBlock

-- listGaps of packages/reads/src/selects/segments.ts: in node-rpc-proxy.sql, getVirtualChainFromBlock

-- requireKnown of packages/chain-steps/src/require-start.ts: below the finality point
select count(*) as known
from removed_chain_blocks
where block_id = any ($1::bigint[]);

-- PendingReads ----------------------------------------------------------------------------------------

-- packages/api/src/stream/pending-reads.ts: of the mempool
select
  spent.id,
  s.address,
  o.amount,
  encode(o.covenant_id, 'hex') as "covenantId",
  true as "isSent"
from
  unnest($1::text[], $2::text[], $3::bigint[]) spent (id, transaction_id, index)
  cross join lateral (
    select
      o.script_id,
      o.amount,
      o.covenant_id
    from
      transactions t
      join transaction_outputs o on o.transaction_id = t.id
      and o.index = spent.index
      and o.index >> 4 = spent.index >> 4
    where
      substring(
        "t"."transaction_id"
        from 1 for 7
      ) = substring(
        decode(spent.transaction_id, 'hex')
        from 1 for 7
      )
      and "t"."transaction_id" = decode(spent.transaction_id, 'hex')
    union
    select
      o.script_id,
      o.amount,
      o.covenant_id
    from
      pre_bootstrap_transactions t
      join bootstrap_utxos o on o.transaction_id = t.id
      and o.index = spent.index
    where t.transaction_id = decode(spent.transaction_id, 'hex')
  ) o
  join scripts s on s.id = o.script_id
  and (
    s.address is not null
    or o.covenant_id is not null
  );

-- packages/api/src/stream/pending-reads.ts: of unmerged blocks
select
  t.id as key,
  encode(t.transaction_id, 'hex') as id,
  t.json_bytes as bytes
from
  (
    select distinct
      contained.transaction_id
    from
      (
        select
          b.id,
          sum(b.transaction_count) over (
            order by
              b.transaction_count,
              b.id
          ) as transactions
        from
        checkpoint c
        cross join unnest(c.virtual_merge_set || c.block_id) unmerged (id)
        join blocks b on b.id = unmerged.id
      ) block
      join block_transactions contained on contained.block_id = block.id
    where block.transactions <= 20000
  ) contained
  join transactions t on t.id = contained.transaction_id
  and t.accepting_index is null
  and t.subnetwork_id <> 1;

-- packages/api/src/stream/pending-reads.ts: of unmerged blocks
with
  unmerged as materialized (
    select
      t.id,
      t.transaction_id
    from
      unnest($1::bigint[]) given (key)
      join transactions t on t.id = given.key
      and t.accepting_index is null
  ),
  moved as (
    select
      unmerged.id,
      o.script_id,
      o.amount,
      o.covenant_id,
      false as is_sent
    from
      unmerged
      join transaction_outputs o on o.transaction_id = unmerged.id
    union all
    select
      unmerged.id,
      i.script_id,
      i.amount,
      u.covenant_id,
      true
    from
      unmerged
      join transaction_inputs i on i.transaction_id = unmerged.id
      and i.amount is not null
      left join utxos u on u.script_id = i.script_id
      and u.transaction_id = i.previous_transaction_id
      and u.index = i.previous_index
    union all
    select
      unmerged.id,
      null,
      0,
      o.covenant_id,
      true
    from
      unmerged
      join transaction_inputs i on i.transaction_id = unmerged.id
      join transaction_outputs o on o.transaction_id = i.previous_transaction_id
      and o.index = i.previous_index
      and o.covenant_id is not null
  )
select
  encode(unmerged.transaction_id, 'hex') as id,
  s.address,
  moved.amount,
  moved.is_sent as "isSent",
  encode(moved.covenant_id, 'hex') as "covenantId",
  case
    when moved.covenant_id is not null then (
      select encode(p.template, 'hex')
      from
        covenants c
        join program_templates p on p.id = c.template_id
      where c.covenant_id = moved.covenant_id
    )
  end as template
from
  unmerged
  left join moved on moved.id = unmerged.id
  left join scripts s on s.id = moved.script_id;

-- packages/api/src/stream/pending-reads.ts: that left
select id
from unnest($1::text[]) given (id)
where
  not exists (
    select
    from transactions t
    where
      substring(
        "t"."transaction_id"
        from 1 for 7
      ) = substring(
        decode(given.id, 'hex')
        from 1 for 7
      )
      and "t"."transaction_id" = decode(given.id, 'hex')
  );

-- packages/api/src/stream/pending-reads.ts: accepted since
--   like packages/api/src/stream/pending-reads.ts, except:
--    from unnest($1::text[]) given (id)
--    where
--   -  not exists (
--   +  exists (
--        select
--        from transactions t
--   …
--          )
--          and "t"."transaction_id" = decode(given.id, 'hex')
--   +      and t.accepting_index is not null
--      )
--   \ No newline at end of file
