-- The statements of this area as Postgres gets them, by operation. `npm run generate:statements` writes this file, and test/statements compares it
-- and lets Postgres describe each statement. A statement is shown where it is sent first.
--
-- Filters, cursors, directions and `include` choose the pieces of a statement. Each value of each parameter is tried with the example of its operation,
-- never two parameters together, and SQL that this leaves out by further requests. So every piece is here, and not every combination. A statement that is
-- like an earlier one of its operation is shown as the lines that differ, if these are fewer.

-- readNext --------------------------------------------------------------------------------------------

-- “next step no no no no”
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
      "start" as materialized (
        select
          index,
          blue_score
        from chain_blocks
        where
          index = $2::bigint
          and hash = $3::bytea
          and not exists (
            select
            from bootstrap_blocks
            where chain_index > $4::bigint
          )
      ),
      "added" as materialized (
        select above.*
        from
          start
          cross join lateral (
            select *
            from chain_blocks
            where index > start.index
            order by index
            limit 20
          ) above
      )
    select
      null::text as problem,
      json_build_object(
        'isConnected',
        exists (
          select
          from start
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
                        "c"."index"::text as "index",
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
                        ) as "mergeSetRedsHashes",
                        cardinality(c.accepted_transactions) as "accepted"
                    ) object
                ) as item
              from
                added c
                cross join lateral (
                  select *
                  from blocks
                  where id = c.block_id
                  limit 1
                ) b
              order by c.index
            ) listed
        ),
        'changes',
        null::json,
        'covenants',
        null::json,
        'blocks',
        '[]'::json,
        'lastBlock',
        null::text
      )::json as body
  ) content;

-- “next step yes no no no”: withIds
--   like “next step no no no no”, except:
--                              order by n
--                            ) as "mergeSetRedsHashes",
--   +                        array(
--   +                          select encode(t.transaction_id, 'hex')
--   +                          from
--   +                            unnest(c.accepted_transactions) with ordinality a (id, n)
--   +                            join transactions t on t.id = a.id
--   +                          order by n
--   +                        ) as "acceptedTransactionIds",
--                            cardinality(c.accepted_transactions) as "accepted"
--                        ) object

-- “next step no yes no no”: withChanges
--   like “next step no no no no”, except:
--            ),
--            'changes',
--   -        null::json,
--   +        json_build_object(
--   +          'accepted',
--   +          (
--   +            select coalesce(json_agg(change.item), '[]')
--   +            from
--   +              (
--   +                with
--   +                  source as materialized (
--   +                    select
--   +                      index as place,
--   +                      hash,
--   +                      blue_score,
--   +                      accepted_transactions
--   +                    from added
--   +                  ),
--   +                  accepted as materialized (
--   +                    select
--   +                      source.place,
--   +                      source.hash,
--   +                      source.blue_score,
--   +                      a.id,
--   +                      a.n
--   +                    from
--   +                      source
--   +                      cross join unnest(source.accepted_transactions) with ordinality a (id, n)
--   +                  ),
--   +                  moved as (
--   +                    select
--   +                      accepted.place,
--   +                      accepted.n,
--   +                      accepted.id,
--   +                      accepted.hash,
--   +                      accepted.blue_score,
--   +                      d.script_id,
--   +                      sum(d.amount_sent)::bigint as sent,
--   +                      sum(d.amount_received)::bigint as received
--   +                    from
--   +                      accepted
--   +                      cross join lateral (
--   +                        select
--   +                          *,
--   +                          script_id is not null as is_wanted
--   +                        from script_deltas
--   +                        where transaction_id = accepted.id
--   +                        offset 0
--   +                      ) d
--   +                    where d.is_wanted
--   +                    group by
--   +                      1,
--   +                      2,
--   +                      3,
--   +                      4,
--   +                      5,
--   +                      6
--   +                  )
--   +                select
--   +                  (
--   +                    select to_json(object)
--   +                    from
--   +                      (
--   +                        select
--   +                          s.address as "address",
--   +                          encode("t"."transaction_id", 'hex') as "transactionId",
--   +                          t.is_coinbase as "isCoinbase",
--   +                          "moved"."sent"::text as "amountSent",
--   +                          "moved"."received"::text as "amountReceived",
--   +                          encode("moved"."hash", 'hex') as "acceptingBlockHash",
--   +                          "moved"."blue_score"::text as "acceptingBlockBlueScore",
--   +                          coalesce(b.balance, 0)::text as "balance"
--   +                      ) object
--   +                  ) as item
--   +                from
--   +                  moved
--   +                  cross join lateral (
--   +                    select
--   +                      transaction_id,
--   +                      subnetwork_id = 1 as is_coinbase
--   +                    from transactions
--   +                    where id = moved.id
--   +                    limit 1
--   +                  ) t
--   +                  cross join lateral (
--   +                    select address
--   +                    from scripts
--   +                    where
--   +                      id = moved.script_id
--   +                      and address is not null
--   +                    limit 1
--   +                  ) s
--   +                  left join lateral (
--   +                    select balance
--   +                    from balances
--   +                    where script_id = moved.script_id
--   +                    limit 1
--   +                  ) b on true
--   +                order by
--   +                  moved.place,
--   +                  moved.n
--   +              ) change
--   +          ),
--   +          'confirmed',
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
--   +                          wanted.confirmations as "confirmations",
--   +                          (
--   +                            select coalesce(json_agg(change.item), '[]')
--   +                            from
--   +                              (
--   +                                with
--   +                                  source as materialized (
--   +                                    select distinct
--   +                                      on (place) place,
--   +                                      hash,
--   +                                      blue_score,
--   +                                      accepted_transactions
--   +                                    from
--   +                                      (
--   +                                        select
--   +                                          index as place,
--   +                                          hash,
--   +                                          blue_score,
--   +                                          accepted_transactions
--   +                                        from
--   +                                          (
--   +                                            select *
--   +                                            from added
--   +                                          ) added
--   +                                        where
--   +                                          blue_score <= (
--   +                                            select max(blue_score)
--   +                                            from added
--   +                                          ) - wanted.confirmations
--   +                                        union all
--   +                                        select
--   +                                          c.index,
--   +                                          c.hash,
--   +                                          c.blue_score,
--   +                                          c.accepted_transactions
--   +                                        from
--   +                                          blocks b
--   +                                          cross join lateral (
--   +                                            select *
--   +                                            from chain_blocks
--   +                                            where block_id = b.id
--   +                                            limit 1
--   +                                          ) c
--   +                                        where
--   +                                          b.is_chain_block
--   +                                          and b.blue_score > (
--   +                                            select blue_score
--   +                                            from start
--   +                                          ) - wanted.confirmations
--   +                                          and b.blue_score <= (
--   +                                            select max(blue_score)
--   +                                            from added
--   +                                          ) - wanted.confirmations
--   +                                          and c.index <= (
--   +                                            select max(index)
--   +                                            from added
--   +                                          )
--   +                                      ) confirmed
--   +                                    order by place
--   +                                  ),
--   +                                  accepted as materialized (
--   +                                    select
--   +                                      source.place,
--   +                                      source.hash,
--   +                                      source.blue_score,
--   +                                      a.id,
--   +                                      a.n
--   +                                    from
--   +                                      source
--   +                                      cross join unnest(source.accepted_transactions) with ordinality a (id, n)
--   +                                  ),
--   +                                  moved as (
--   +                                    select
--   +                                      accepted.place,
--   +                                      accepted.n,
--   +                                      accepted.id,
--   +                                      accepted.hash,
--   +                                      accepted.blue_score,
--   +                                      d.script_id,
--   +                                      sum(d.amount_sent)::bigint as sent,
--   +                                      sum(d.amount_received)::bigint as received
--   +                                    from
--   +                                      accepted
--   +                                      cross join lateral (
--   +                                        select
--   +                                          *,
--   +                                          script_id is not null as is_wanted
--   +                                        from script_deltas
--   +                                        where transaction_id = accepted.id
--   +                                        offset 0
--   +                                      ) d
--   +                                    where d.is_wanted
--   +                                    group by
--   +                                      1,
--   +                                      2,
--   +                                      3,
--   +                                      4,
--   +                                      5,
--   +                                      6
--   +                                  )
--   +                                select
--   +                                  (
--   +                                    select to_json(object)
--   +                                    from
--   +                                      (
--   +                                        select
--   +                                          s.address as "address",
--   +                                          encode("t"."transaction_id", 'hex') as "transactionId",
--   +                                          t.is_coinbase as "isCoinbase",
--   +                                          "moved"."sent"::text as "amountSent",
--   +                                          "moved"."received"::text as "amountReceived",
--   +                                          encode("moved"."hash", 'hex') as "acceptingBlockHash",
--   +                                          "moved"."blue_score"::text as "acceptingBlockBlueScore",
--   +                                          coalesce(b.balance, 0)::text as "balance"
--   +                                      ) object
--   +                                  ) as item
--   +                                from
--   +                                  moved
--   +                                  cross join lateral (
--   +                                    select
--   +                                      transaction_id,
--   +                                      subnetwork_id = 1 as is_coinbase
--   +                                    from transactions
--   +                                    where id = moved.id
--   +                                    limit 1
--   +                                  ) t
--   +                                  cross join lateral (
--   +                                    select address
--   +                                    from scripts
--   +                                    where
--   +                                      id = moved.script_id
--   +                                      and address is not null
--   +                                    limit 1
--   +                                  ) s
--   +                                  left join lateral (
--   +                                    select balance
--   +                                    from balances
--   +                                    where script_id = moved.script_id
--   +                                    limit 1
--   +                                  ) b on true
--   +                                order by
--   +                                  moved.place,
--   +                                  moved.n
--   +                              ) change
--   +                          ) as "changes"
--   +                      ) object
--   +                  ) as item
--   +                from unnest($5::bigint[]) wanted (confirmations)
--   +              ) listed
--   +          )
--   +        ),
--            'covenants',
--            null::json,

-- “next step no no yes no”: withCovenants
--   like “next step no no no no”, except:
--            null::json,
--            'covenants',
--   -        null::json,
--   +        json_build_object(
--   +          'accepted',
--   +          (
--   +            select coalesce(json_agg(change.item), '[]')
--   +            from
--   +              (
--   +                select
--   +                  (
--   +                    select to_json(object)
--   +                    from
--   +                      (
--   +                        select
--   +                          event.covenant_id as "covenantId",
--   +                          encode("event"."transaction_id", 'hex') as "transactionId",
--   +                          event.kind as "kind",
--   +                          event.template as "template",
--   +                          encode("event"."hash", 'hex') as "acceptingBlockHash",
--   +                          "event"."blue_score"::text as "acceptingBlockBlueScore"
--   +                      ) object
--   +                  ) as item
--   +                from
--   +                  (
--   +                    select
--   +                      source.place,
--   +                      source.hash,
--   +                      source.blue_score,
--   +                      e.position as n,
--   +                      t.transaction_id,
--   +                      e.kind::text as kind,
--   +                      encode(c.covenant_id, 'hex') as covenant_id,
--   +                      encode(p.template, 'hex') as template
--   +                    from
--   +                      (
--   +                        select
--   +                          index as place,
--   +                          hash,
--   +                          blue_score,
--   +                          accepted_transactions
--   +                        from added
--   +                      ) source
--   +                      cross join lateral (
--   +                        select
--   +                          *,
--   +                          true as is_wanted
--   +                        from covenant_events
--   +                        where chain_index = source.place
--   +                        offset 0
--   +                      ) e
--   +                      cross join lateral (
--   +                        select covenant_id
--   +                        from covenants
--   +                        where id = e.covenant_id
--   +                        limit 1
--   +                      ) c
--   +                      cross join lateral (
--   +                        select transaction_id
--   +                        from transactions
--   +                        where id = e.transaction_id
--   +                        limit 1
--   +                      ) t
--   +                      left join lateral (
--   +                        select template
--   +                        from program_templates
--   +                        where id = coalesce(e.template_id, e.previous_template_id)
--   +                        limit 1
--   +                      ) p on true
--   +                    where e.is_wanted
--   +                  ) event
--   +                order by
--   +                  event.place,
--   +                  event.n,
--   +                  event.covenant_id
--   +              ) change
--   +          ),
--   +          'confirmed',
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
--   +                          wanted.confirmations as "confirmations",
--   +                          (
--   +                            select coalesce(json_agg(change.item), '[]')
--   +                            from
--   +                              (
--   +                                select
--   +                                  (
--   +                                    select to_json(object)
--   +                                    from
--   +                                      (
--   +                                        select
--   +                                          event.covenant_id as "covenantId",
--   +                                          encode("event"."transaction_id", 'hex') as "transactionId",
--   +                                          event.kind as "kind",
--   +                                          event.template as "template",
--   +                                          encode("event"."hash", 'hex') as "acceptingBlockHash",
--   +                                          "event"."blue_score"::text as "acceptingBlockBlueScore"
--   +                                      ) object
--   +                                  ) as item
--   +                                from
--   +                                  (
--   +                                    select
--   +                                      source.place,
--   +                                      source.hash,
--   +                                      source.blue_score,
--   +                                      e.position as n,
--   +                                      t.transaction_id,
--   +                                      e.kind::text as kind,
--   +                                      encode(c.covenant_id, 'hex') as covenant_id,
--   +                                      encode(p.template, 'hex') as template
--   +                                    from
--   +                                      (
--   +                                        select distinct
--   +                                          on (place) place,
--   +                                          hash,
--   +                                          blue_score,
--   +                                          accepted_transactions
--   +                                        from
--   +                                          (
--   +                                            select
--   +                                              index as place,
--   +                                              hash,
--   +                                              blue_score,
--   +                                              accepted_transactions
--   +                                            from
--   +                                              (
--   +                                                select *
--   +                                                from added
--   +                                              ) added
--   +                                            where
--   +                                              blue_score <= (
--   +                                                select max(blue_score)
--   +                                                from added
--   +                                              ) - wanted.confirmations
--   +                                            union all
--   +                                            select
--   +                                              c.index,
--   +                                              c.hash,
--   +                                              c.blue_score,
--   +                                              c.accepted_transactions
--   +                                            from
--   +                                              blocks b
--   +                                              cross join lateral (
--   +                                                select *
--   +                                                from chain_blocks
--   +                                                where block_id = b.id
--   +                                                limit 1
--   +                                              ) c
--   +                                            where
--   +                                              b.is_chain_block
--   +                                              and b.blue_score > (
--   +                                                select blue_score
--   +                                                from start
--   +                                              ) - wanted.confirmations
--   +                                              and b.blue_score <= (
--   +                                                select max(blue_score)
--   +                                                from added
--   +                                              ) - wanted.confirmations
--   +                                              and c.index <= (
--   +                                                select max(index)
--   +                                                from added
--   +                                              )
--   +                                          ) confirmed
--   +                                        order by place
--   +                                      ) source
--   +                                      cross join lateral (
--   +                                        select
--   +                                          *,
--   +                                          true as is_wanted
--   +                                        from covenant_events
--   +                                        where chain_index = source.place
--   +                                        offset 0
--   +                                      ) e
--   +                                      cross join lateral (
--   +                                        select covenant_id
--   +                                        from covenants
--   +                                        where id = e.covenant_id
--   +                                        limit 1
--   +                                      ) c
--   +                                      cross join lateral (
--   +                                        select transaction_id
--   +                                        from transactions
--   +                                        where id = e.transaction_id
--   +                                        limit 1
--   +                                      ) t
--   +                                      left join lateral (
--   +                                        select template
--   +                                        from program_templates
--   +                                        where id = coalesce(e.template_id, e.previous_template_id)
--   +                                        limit 1
--   +                                      ) p on true
--   +                                    where e.is_wanted
--   +                                  ) event
--   +                                order by
--   +                                  event.place,
--   +                                  event.n,
--   +                                  event.covenant_id
--   +                              ) change
--   +                          ) as "changes"
--   +                      ) object
--   +                  ) as item
--   +                from unnest($5::bigint[]) wanted (confirmations)
--   +              ) listed
--   +          )
--   +        ),
--            'blocks',
--            '[]'::json,

-- “next step no no no yes”: withBlocks
--   like “next step no no no no”, except:
--                limit 20
--              ) above
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
--            'blocks',
--   -        '[]'::json,
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
--   +                        encode("block"."hash", 'hex') as "hash",
--   +                        (
--   +                          select
--   +                            coalesce(
--   +                              json_agg(
--   +                                parent.hash
--   +                                order by parent.index
--   +                              ),
--   +                              '[]'
--   +                            )
--   +                          from
--   +                            (
--   +                              select
--   +                                encode(
--   +                                  coalesce(
--   +                                    (
--   +                                      select hash
--   +                                      from blocks
--   +                                      where id = link.parent_id
--   +                                    ),
--   +                                    pre_bootstrap_block_hash (link.parent_id)
--   +                                  ),
--   +                                  'hex'
--   +                                ) as hash,
--   +                                link.index
--   +                              from block_parents link
--   +                              where link.block_id = block.id
--   +                            ) parent
--   +                        ) as "parentHashes",
--   +                        encode(
--   +                          coalesce(
--   +                            (
--   +                              select hash
--   +                              from blocks
--   +                              where id = block.selected_parent_id
--   +                            ),
--   +                            pre_bootstrap_block_hash (block.selected_parent_id)
--   +                          ),
--   +                          'hex'
--   +                        ) as "selectedParentHash",
--   +                        "block"."blue_score"::text as "blueScore",
--   +                        "block"."daa_score"::text as "daaScore",
--   +                        block.timestamp as "timestamp",
--   +                        block.is_chain_block as "isChainBlock",
--   +                        case
--   +                          when block.is_blue then 'blue'
--   +                          when not block.is_blue then 'red'
--   +                        end as "color",
--   +                        encode("merging"."hash", 'hex') as "mergingBlockHash",
--   +                        block.transaction_count as "transactionCount",
--   +                        (
--   +                          select address
--   +                          from scripts
--   +                          where id = block.miner_script_id
--   +                        ) as "minerAddress"
--   +                    ) object
--   +                ) as item
--   +              from
--   +                new_blocks block
--   +                left join blocks merging on merging.id = block.merging_block_id
--   +              order by block.id
--   +            ) listed
--   +        ),
--            'lastBlock',
--   -        null::text
--   +        coalesce(
--   +          (
--   +            select max(id)
--   +            from new_blocks
--   +          ),
--   +          (
--   +            select max(id)
--   +            from blocks
--   +          )
--   +        )::text
--          )::json as body
--      ) content
--   \ No newline at end of file

-- readStep --------------------------------------------------------------------------------------------

-- listPath of packages/api/src/resources/chain/segments.ts: in node-rpc-proxy.sql, getVirtualChainFromBlock

-- listGaps of packages/api/src/resources/chain/segments.ts: in node-rpc-proxy.sql, getVirtualChainFromBlock

-- listAdded of packages/api/src/stream/read-step.ts: only blocks
select
  (
    select to_json(object)
    from
      (
        select
          "c"."index"::text as "index",
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
          ) as "mergeSetRedsHashes",
          cardinality(c.accepted_transactions) as "accepted"
      ) object
  ) as row
from
  chain_blocks c
  join blocks b on b.id = c.block_id
where
  c.index > $1
  and c.index <= $2
order by c.index;

-- listChanges of packages/api/src/stream/read-step.ts: everything of all
with
  source as materialized (
    select
      listed.n as place,
      b.hash,
      b.blue_score,
      r.accepted_transactions,
      r.covenant_events
    from
      unnest($1::bigint[]) with ordinality listed (id, n)
      join removed_chain_blocks r on r.block_id = listed.id
      join blocks b on b.id = listed.id
  ),
  accepted as materialized (
    select
      source.place,
      source.hash,
      source.blue_score,
      a.id,
      a.n
    from
      source
      cross join unnest(source.accepted_transactions) with ordinality a (id, n)
  ),
  moved as (
    select
      accepted.place,
      accepted.n,
      accepted.id,
      accepted.hash,
      accepted.blue_score,
      d.script_id,
      sum(d.amount_sent)::bigint as sent,
      sum(d.amount_received)::bigint as received
    from
      accepted
      cross join lateral (
        select
          *,
          script_id is not null as is_wanted
        from script_deltas
        where transaction_id = accepted.id
        offset 0
      ) d
    where d.is_wanted
    group by
      1,
      2,
      3,
      4,
      5,
      6
  )
select
  (
    select to_json(object)
    from
      (
        select
          s.address as "address",
          encode("t"."transaction_id", 'hex') as "transactionId",
          t.is_coinbase as "isCoinbase",
          "moved"."sent"::text as "amountSent",
          "moved"."received"::text as "amountReceived",
          encode("moved"."hash", 'hex') as "acceptingBlockHash",
          "moved"."blue_score"::text as "acceptingBlockBlueScore",
          coalesce(b.balance, 0)::text as "balance"
      ) object
  ) as item
from
  moved
  cross join lateral (
    select
      transaction_id,
      subnetwork_id = 1 as is_coinbase
    from transactions
    where id = moved.id
    limit 1
  ) t
  cross join lateral (
    select address
    from scripts
    where
      id = moved.script_id
      and address is not null
    limit 1
  ) s
  left join lateral (
    select balance
    from balances
    where script_id = moved.script_id
    limit 1
  ) b on true
order by
  moved.place,
  moved.n;

-- listChanges of packages/api/src/stream/read-step.ts: everything of all
select
  (
    select to_json(object)
    from
      (
        select
          event.covenant_id as "covenantId",
          encode("event"."transaction_id", 'hex') as "transactionId",
          event.kind as "kind",
          event.template as "template",
          encode("event"."hash", 'hex') as "acceptingBlockHash",
          "event"."blue_score"::text as "acceptingBlockBlueScore"
      ) object
  ) as item
from
  (
    select
      source.place,
      source.hash,
      source.blue_score,
      e.n,
      t.transaction_id,
      e.event ->> 2 as kind,
      e.event ->> 1 as covenant_id,
      e.event ->> 3 as template
    from
      (
        select
          listed.n as place,
          b.hash,
          b.blue_score,
          r.accepted_transactions,
          r.covenant_events
        from
          unnest($1::bigint[]) with ordinality listed (id, n)
          join removed_chain_blocks r on r.block_id = listed.id
          join blocks b on b.id = listed.id
      ) source
      cross join lateral jsonb_array_elements(source.covenant_events) with ordinality e (event, n)
      cross join lateral (
        select transaction_id
        from transactions
        where id = (e.event ->> 0)::bigint
        limit 1
      ) t
    where true
  ) event
order by
  event.place,
  event.n,
  event.covenant_id;

-- listAdded of packages/api/src/stream/read-step.ts: everything of all
--   like listAdded of packages/api/src/stream/read-step.ts, except:
--                order by n
--              ) as "mergeSetRedsHashes",
--   +          array(
--   +            select encode(t.transaction_id, 'hex')
--   +            from
--   +              unnest(c.accepted_transactions) with ordinality a (id, n)
--   +              join transactions t on t.id = a.id
--   +            order by n
--   +          ) as "acceptedTransactionIds",
--              cardinality(c.accepted_transactions) as "accepted"
--          ) object

-- listChanges of packages/api/src/stream/read-step.ts: everything of all
--   like listChanges of packages/api/src/stream/read-step.ts, except:
--      source as materialized (
--        select
--   -      listed.n as place,
--   -      b.hash,
--   -      b.blue_score,
--   -      r.accepted_transactions,
--   -      r.covenant_events
--   -    from
--   -      unnest($1::bigint[]) with ordinality listed (id, n)
--   -      join removed_chain_blocks r on r.block_id = listed.id
--   -      join blocks b on b.id = listed.id
--   +      c.index as place,
--   +      c.hash,
--   +      c.blue_score,
--   +      c.accepted_transactions
--   +    from chain_blocks c
--   +    where c.index = any ($1::bigint[])
--      ),
--      accepted as materialized (

-- listChanges of packages/api/src/stream/read-step.ts: everything of all
--   like listChanges of packages/api/src/stream/read-step.ts, except:
--          source.hash,
--          source.blue_score,
--   -      e.n,
--   +      e.position as n,
--          t.transaction_id,
--   -      e.event ->> 2 as kind,
--   -      e.event ->> 1 as covenant_id,
--   -      e.event ->> 3 as template
--   +      e.kind::text as kind,
--   +      encode(c.covenant_id, 'hex') as covenant_id,
--   +      encode(p.template, 'hex') as template
--        from
--          (
--            select
--   -          listed.n as place,
--   -          b.hash,
--   -          b.blue_score,
--   -          r.accepted_transactions,
--   -          r.covenant_events
--   -        from
--   -          unnest($1::bigint[]) with ordinality listed (id, n)
--   -          join removed_chain_blocks r on r.block_id = listed.id
--   -          join blocks b on b.id = listed.id
--   +          c.index as place,
--   +          c.hash,
--   +          c.blue_score,
--   +          c.accepted_transactions
--   +        from chain_blocks c
--   +        where c.index = any ($1::bigint[])
--          ) source
--   -      cross join lateral jsonb_array_elements(source.covenant_events) with ordinality e (event, n)
--          cross join lateral (
--   +        select
--   +          *,
--   +          true as is_wanted
--   +        from covenant_events
--   +        where chain_index = source.place
--   +        offset 0
--   +      ) e
--   +      cross join lateral (
--   +        select covenant_id
--   +        from covenants
--   +        where id = e.covenant_id
--   +        limit 1
--   +      ) c
--   +      cross join lateral (
--            select transaction_id
--            from transactions
--   -        where id = (e.event ->> 0)::bigint
--   +        where id = e.transaction_id
--            limit 1
--          ) t
--   -    where true
--   +      left join lateral (
--   +        select template
--   +        from program_templates
--   +        where id = coalesce(e.template_id, e.previous_template_id)
--   +        limit 1
--   +      ) p on true
--   +    where e.is_wanted
--      ) event
--    order by

-- listChanges of packages/api/src/stream/read-step.ts: everything of all
--   like listChanges of packages/api/src/stream/read-step.ts, except:
--    with
--      source as materialized (
--   -    select
--   -      c.index as place,
--   -      c.hash,
--   -      c.blue_score,
--   -      c.accepted_transactions
--   -    from chain_blocks c
--   -    where c.index = any ($1::bigint[])
--   +    select distinct
--   +      on (place) place,
--   +      hash,
--   +      blue_score,
--   +      accepted_transactions
--   +    from
--   +      (
--   +        select
--   +          index as place,
--   +          hash,
--   +          blue_score,
--   +          accepted_transactions
--   +        from
--   +          (
--   +            select *
--   +            from chain_blocks
--   +            where index = any ($1::bigint[])
--   +          ) added
--   +        where blue_score <= $2::bigint
--   +        union all
--   +        select
--   +          c.index,
--   +          c.hash,
--   +          c.blue_score,
--   +          c.accepted_transactions
--   +        from
--   +          blocks b
--   +          cross join lateral (
--   +            select *
--   +            from chain_blocks
--   +            where block_id = b.id
--   +            limit 1
--   +          ) c
--   +        where
--   +          b.is_chain_block
--   +          and b.blue_score > $3::bigint
--   +          and b.blue_score <= $4::bigint
--   +          and c.index <= $5::bigint
--   +      ) confirmed
--   +    order by place
--      ),
--      accepted as materialized (

-- listChanges of packages/api/src/stream/read-step.ts: everything of all
--   like listChanges of packages/api/src/stream/read-step.ts, except:
--        from
--          (
--   -        select
--   -          c.index as place,
--   -          c.hash,
--   -          c.blue_score,
--   -          c.accepted_transactions
--   -        from chain_blocks c
--   -        where c.index = any ($1::bigint[])
--   +        select distinct
--   +          on (place) place,
--   +          hash,
--   +          blue_score,
--   +          accepted_transactions
--   +        from
--   +          (
--   +            select
--   +              index as place,
--   +              hash,
--   +              blue_score,
--   +              accepted_transactions
--   +            from
--   +              (
--   +                select *
--   +                from chain_blocks
--   +                where index = any ($1::bigint[])
--   +              ) added
--   +            where blue_score <= $2::bigint
--   +            union all
--   +            select
--   +              c.index,
--   +              c.hash,
--   +              c.blue_score,
--   +              c.accepted_transactions
--   +            from
--   +              blocks b
--   +              cross join lateral (
--   +                select *
--   +                from chain_blocks
--   +                where block_id = b.id
--   +                limit 1
--   +              ) c
--   +            where
--   +              b.is_chain_block
--   +              and b.blue_score > $3::bigint
--   +              and b.blue_score <= $4::bigint
--   +              and c.index <= $5::bigint
--   +          ) confirmed
--   +        order by place
--          ) source
--          cross join lateral (

-- listChanges of packages/api/src/stream/read-step.ts: of some, up to a block
--   like listChanges of packages/api/src/stream/read-step.ts, except:
--            select
--              *,
--   -          script_id is not null as is_wanted
--   +          script_id in (
--   +            select id
--   +            from scripts
--   +            where address = any ($2::text[])
--   +          ) as is_wanted
--            from script_deltas
--            where transaction_id = accepted.id

-- listChanges of packages/api/src/stream/read-step.ts: of some, up to a block
--   like listChanges of packages/api/src/stream/read-step.ts, except:
--            limit 1
--          ) t
--   -    where true
--   +    where
--   +      (
--   +        e.event ->> 1 = any ($2::text[])
--   +        or e.event ->> 3 = any ($3::text[])
--   +      )
--      ) event
--    order by

-- listAdded of packages/api/src/stream/read-step.ts: of some, up to a block
--   like listAdded of packages/api/src/stream/read-step.ts, except:
--      c.index > $1
--      and c.index <= $2
--   +  and c.index <= $3
--    order by c.index
--   \ No newline at end of file

-- listChanges of packages/api/src/stream/read-step.ts: of some, up to a block
--   like listChanges of packages/api/src/stream/read-step.ts, except:
--            select
--              *,
--   -          script_id is not null as is_wanted
--   +          script_id in (
--   +            select id
--   +            from scripts
--   +            where address = any ($2::text[])
--   +          ) as is_wanted
--            from script_deltas
--            where transaction_id = accepted.id

-- listChanges of packages/api/src/stream/read-step.ts: of some, up to a block
--   like listChanges of packages/api/src/stream/read-step.ts, except:
--            select
--              *,
--   -          true as is_wanted
--   +          (
--   +            covenant_id in (
--   +              select id
--   +              from covenants
--   +              where
--   +                covenant_id in (
--   +                  select decode(id, 'hex')
--   +                  from unnest($2::text[]) given (id)
--   +                )
--   +            )
--   +            or coalesce(template_id, previous_template_id) in (
--   +              select id
--   +              from program_templates
--   +              where
--   +                template in (
--   +                  select decode(id, 'hex')
--   +                  from unnest($3::text[]) given (id)
--   +                )
--   +            )
--   +          ) as is_wanted
--            from covenant_events
--            where chain_index = source.place

-- listChanges of packages/api/src/stream/read-step.ts: of some, up to a block
--   like listChanges of packages/api/src/stream/read-step.ts, except:
--            select
--              *,
--   -          script_id is not null as is_wanted
--   +          script_id in (
--   +            select id
--   +            from scripts
--   +            where address = any ($6::text[])
--   +          ) as is_wanted
--            from script_deltas
--            where transaction_id = accepted.id

-- listChanges of packages/api/src/stream/read-step.ts: of some, up to a block
--   like listChanges of packages/api/src/stream/read-step.ts, except:
--            select
--              *,
--   -          true as is_wanted
--   +          (
--   +            covenant_id in (
--   +              select id
--   +              from covenants
--   +              where
--   +                covenant_id in (
--   +                  select decode(id, 'hex')
--   +                  from unnest($6::text[]) given (id)
--   +                )
--   +            )
--   +            or coalesce(template_id, previous_template_id) in (
--   +              select id
--   +              from program_templates
--   +              where
--   +                template in (
--   +                  select decode(id, 'hex')
--   +                  from unnest($7::text[]) given (id)
--   +                )
--   +            )
--   +          ) as is_wanted
--            from covenant_events
--            where chain_index = source.place

-- listAdded of packages/api/src/stream/read-step.ts: below a gap
--   like listAdded of packages/api/src/stream/read-step.ts, except:

-- requireStart ----------------------------------------------------------------------------------------

-- listPath of packages/api/src/resources/chain/segments.ts: in node-rpc-proxy.sql, getVirtualChainFromBlock

-- listGaps of packages/api/src/resources/chain/segments.ts: in node-rpc-proxy.sql, getVirtualChainFromBlock

-- requireKnown of packages/api/src/stream/read-step.ts: below the finality point
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
    where encode(t.transaction_id, 'hex') = spent.transaction_id
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
      u.script_id,
      u.amount,
      u.covenant_id,
      true
    from
      unmerged
      join transaction_inputs i on i.transaction_id = unmerged.id
      join utxos u on u.script_id = i.script_id
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
from unnest($1::text[]) gone (id)
where
  not exists (
    select
    from transactions t
    where encode(t.transaction_id, 'hex') = gone.id
  );
