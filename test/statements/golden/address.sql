-- The statements of this area as Postgres gets them, by operation. `npm run generate:statements` writes this file, and test/statements compares it
-- and lets Postgres describe each statement. A statement is shown where it is sent first.
--
-- Filters, cursors, directions and `include` choose the pieces of a statement. Each value of each parameter is tried with the example of its operation,
-- never two parameters together, and SQL that this leaves out by further requests. So every piece is here, and not every combination. A statement that is
-- like an earlier one of its operation is shown as the lines that differ, if these are fewer.

-- getAddressTag ---------------------------------------------------------------------------------------

-- “tag of an address”
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
                  where tags.address = $2::text
                ) tag
            ),
            (
              select to_json(tag)
              from
                (
                  select
                    $3::text as address,
                    name,
                    link,
                    labels
                  from clusters
                  where
                    id = (
                      select above.root_id
                      from
                        (
                          select
                            (
                              select id
                              from scripts
                              where address = $4::text
                            ) as script_id
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
          ) as tag
      )
    select
      case
        when (
          select tag
          from found
        ) is null then case
          when (
            select first_catch_up
            from
            checkpoint
          ) then 'catching up'
          else 'no tag'
        end
      end::text as problem,
      json_build_object(
        'tag',
        (
          select tag
          from found
        )
      )::json as body
  ) content;

-- listAddresses ---------------------------------------------------------------------------------------

-- “addresses first no no”
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
              select b.script_id
              from
                balances b
                join scripts s on s.id = b.script_id
              where
                b.balance > 0
                and s.address is not null
              order by
                b.balance desc,
                b.script_id desc
              limit $2::bigint + 1
            )
          ) with ordinality as keys (key, position)
      )
    select
      null::text as problem,
      json_build_object(
        'addresses',
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
                        scripts.address as "address",
                        "balances"."balance"::text as "balance",
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
                                where tags.address = scripts.address
                              ) tag
                          ),
                          (
                            select to_json(tag)
                            from
                              (
                                select
                                  scripts.address as address,
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
                                        select scripts.id as script_id
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
                        ) as "tag"
                    ) object
                ) as item
              from
                page
                join balances on balances.script_id = page.key
                join scripts on scripts.id = page.key
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

-- “addresses after no no”: starting_after=…
--   like “addresses first no no”, except:
--      cross join lateral (
--        with
--   +      "cursor" as materialized (
--   +        select
--   +          id as key,
--   +          coalesce(
--   +            $2::bigint,
--   +            (
--   +              select balance
--   +              from balances
--   +              where
--   +                script_id = scripts.id
--   +                and balance > 0
--   +            )
--   +          ) as balance
--   +        from scripts
--   +        where
--   +          id = (
--   +            select id
--   +            from scripts
--   +            where address = $3::text
--   +          )
--   +      ),
--          "page" as materialized (
--            select
--   …
--                    b.balance > 0
--                    and s.address is not null
--   +                and (b.balance, b.script_id) < (
--   +                  (
--   +                    select balance
--   +                    from cursor
--   +                  ),
--   +                  (
--   +                    select key
--   +                    from cursor
--   +                  )
--   +                )
--                  order by
--                    b.balance desc,
--                    b.script_id desc
--   -              limit $2::bigint + 1
--   +              limit $4::bigint + 1
--                )
--              ) with ordinality as keys (key, position)
--          )
--        select
--   -      null::text as problem,
--   +      coalesce(
--   +        case
--   +          when (
--   +            select key
--   +            from cursor
--   +          ) is null then 'unknown cursor'
--   +        end,
--   +        case
--   +          when (
--   +            select balance
--   +            from cursor
--   +          ) is null then 'no balance'
--   +        end
--   +      )::text as problem,
--          json_build_object(
--            'addresses',
--   …
--                    join balances on balances.script_id = page.key
--                    join scripts on scripts.id = page.key
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

-- “addresses before no no”: ending_before=…
--   like “addresses after no no”, except:
--                    b.balance > 0
--                    and s.address is not null
--   -                and (b.balance, b.script_id) < (
--   +                and (b.balance, b.script_id) > (
--                      (
--                        select balance
--   …
--                    )
--                  order by
--   -                b.balance desc,
--   -                b.script_id desc
--   +                b.balance asc,
--   +                b.script_id asc
--                  limit $4::bigint + 1
--                )
--   …
--                    join scripts on scripts.id = page.key
--                  where page.position <= $5::bigint
--   -              order by page.position asc
--   +              order by page.position desc
--                ) listed
--            ),

-- “addresses first yes no”: tagged_only=true
--   like “addresses first no no”, except:
--                    b.balance > 0
--                    and s.address is not null
--   +                and b.is_tagged
--                  order by
--                    b.balance desc,

-- “addresses first no yes”: include=tags
--   like “addresses first no no”, except:
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
--   +                    select page.key as script_id
--   +                    from page
--   +                    where page.position <= $5::bigint
--   +                    order by page.position asc
--   +                  )
--   +                ) within (script_id)
--   +                join scripts on scripts.id = within.script_id
--   +                and scripts.address is not null
--   +            ) touched
--            )
--          )::json as body

-- getAddresses ----------------------------------------------------------------------------------------

-- “addresses by name no”
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
      "requested" as materialized (
        select
          requested.address,
          requested.position,
          scripts.id as script_id
        from
          unnest($2::text[]) with ordinality as requested (address, position)
          left join scripts on scripts.address = requested.address
      ),
      "unmerged" as materialized (
        select
          script_id,
          count(*) as transactions
        from
          unmerged_touches
          cross join unnest(script_ids) as script_id
        where
          script_id in (
            select script_id
            from requested
          )
        group by script_id
      )
    select
      null::text as problem,
      json_build_object(
        'addresses',
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
                        requested.address as "address",
                        coalesce(balances."balance", 0)::text as "balance",
                        coalesce(balances."utxo_count", 0) as "utxoCount",
                        (coalesce(balances.transaction_count, 0) + coalesce(unmerged.transactions, 0)) as "transactionCount",
                        first.seen as "firstSeen",
                        case
                          when (coalesce(balances.transaction_count, 0) + coalesce(unmerged.transactions, 0)) > 1 then (
                            select containing."blockTime"
                            from
                              transactions
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
                            where
                              transactions.id = (
                                select max(transaction_id)
                                from script_deltas
                                where script_id = requested.script_id
                              )
                          )
                          else first.seen
                        end as "lastSeen",
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
                                where tags.address = requested.address
                              ) tag
                          ),
                          (
                            select to_json(tag)
                            from
                              (
                                select
                                  requested.address as address,
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
                                        select requested.script_id as script_id
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
                        coalesce(
                          (
                            select labels
                            from script_labels
                            where script_id = requested.script_id
                          ),
                          '{}'
                        ) as "automaticLabels"
                    ) object
                ) as item
              from
                requested
                left join balances on balances.script_id = requested.script_id
                left join unmerged on unmerged.script_id = requested.script_id
                cross join lateral (
                  select
                    (
                      select containing."blockTime"
                      from
                        transactions
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
                      where
                        transactions.id = (
                          select min(transaction_id)
                          from script_deltas
                          where script_id = requested.script_id
                        )
                    ) as seen
                  offset 0
                ) first
              order by requested.position
            ) listed
        )
      )::json as body
  ) content;

-- “addresses by name yes”: include=tags
--   like “addresses by name no”, except:
--                  order by requested.position
--                ) listed
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
--   +                      script_id
--   +                    from requested
--   +                  )
--   +                ) within (script_id)
--   +                join scripts on scripts.id = within.script_id
--   +                and scripts.address is not null
--   +            ) touched
--            )
--          )::json as body

-- getAddress ------------------------------------------------------------------------------------------

-- “address no”
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
      "balance" as materialized (
        select *
        from balances
        where
          script_id = (
            select id
            from script
          )
      ),
      "count" as materialized (
        select
          (
            coalesce(
              (
                select transaction_count
                from balance
              ),
              0
            ) + (
              select
                coalesce(
                  sum(
                    cardinality(
                      array_positions(
                        script_ids,
                        (
                          select id
                          from script
                        )
                      )
                    )
                  ),
                  0
                )
              from unmerged_touches
            )
          ) as transactions
      ),
      "first" as materialized (
        select
          (
            select containing."blockTime"
            from
              transactions
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
            where
              transactions.id = (
                select min(transaction_id)
                from script_deltas
                where
                  script_id = (
                    select id
                    from script
                  )
              )
          ) as seen
      )
    select
      null::text as problem,
      json_build_object(
        'address',
        (
          select to_json(object)
          from
            (
              select
                $3::text as "address",
                coalesce(
                  (
                    select "balance"
                    from balance
                  ),
                  0
                )::text as "balance",
                coalesce(
                  (
                    select "utxo_count"
                    from balance
                  ),
                  0
                ) as "utxoCount",
                (
                  select transactions
                  from count
                ) as "transactionCount",
                (
                  select seen
                  from first
                ) as "firstSeen",
                case
                  when (
                    select transactions
                    from count
                  ) > 1 then (
                    select containing."blockTime"
                    from
                      transactions
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
                    where
                      transactions.id = (
                        select max(transaction_id)
                        from script_deltas
                        where
                          script_id = (
                            select id
                            from script
                          )
                      )
                  )
                  else (
                    select seen
                    from first
                  )
                end as "lastSeen",
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
                        where tags.address = $4::text
                      ) tag
                  ),
                  (
                    select to_json(tag)
                    from
                      (
                        select
                          $5::text as address,
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
                                select
                                  (
                                    select id
                                    from script
                                  ) as script_id
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
                coalesce(
                  (
                    select labels
                    from script_labels
                    where
                      script_id = (
                        select id
                        from script
                      )
                  ),
                  '{}'
                ) as "automaticLabels"
            ) object
        )
      )::json as body
  ) content;

-- “address yes”: include=tags
--   like “address no”, except:
--                    ) as "automaticLabels"
--                ) object
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
--   +                    select id as script_id
--   +                    from script
--   +                  )
--   +                ) within (script_id)
--   +                join scripts on scripts.id = within.script_id
--   +                and scripts.address is not null
--   +            ) touched
--            )
--          )::json as body

-- listAddressUtxos ------------------------------------------------------------------------------------

-- “utxos first”
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
          id,
          script
        from scripts
        where address = $2::text
      ),
      "page" as materialized (
        select
          keys.*,
          keys.ordinality as position
        from
          unnest(
            array(
              select utxos
              from utxos
              where
                script_id <= (
                  select id
                  from script
                )
                and script_id >= (
                  select id
                  from script
                )
              order by
                script_id desc,
                transaction_id desc,
                index desc
              limit $3::bigint + 1
            )
          ) with ordinality as keys
      )
    select
      null::text as problem,
      json_build_object(
        'utxos',
        (
          select coalesce(json_agg(listed), '[]')
          from
            (
              select
                encode(coalesce(transactions.transaction_id, earlier.transaction_id), 'hex') as "transactionId",
                page.index,
                page.amount::text as amount,
                page.block_daa_score::text as "blockDaaScore",
                page.is_coinbase as "isCoinbase",
                encode(
                  (
                    select script
                    from script
                  ),
                  'hex'
                ) as "scriptPublicKey"
              from
                page
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

-- “utxos after”: starting_after=…
--   like “utxos first”, except:
--            where address = $2::text
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
--   +          and o.script_id = (
--   +            select id
--   +            from script
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
--   +          and o.script_id = (
--   +            select id
--   +            from script
--   +          )
--   +        union
--   +        select
--   +          i.previous_transaction_id,
--   +          i.previous_index
--   +        from
--   +          pre_bootstrap_transactions t
--   +          cross join lateral (
--   +            select *
--   +            from transaction_inputs
--   +            where
--   +              previous_transaction_id = t.id
--   +              and previous_index = $9::bigint
--   +            offset 0
--   +          ) i
--   +        where
--   +          t.transaction_id = $10::bytea
--   +          and i.script_id = (
--   +            select id
--   +            from script
--   +          )
--   +        limit 1
--   +      ),
--          "page" as materialized (
--            select
--   …
--                  from utxos
--                  where
--   -                script_id <= (
--   -                  select id
--   -                  from script
--   +                (script_id, transaction_id, index) < (
--   +                  (
--   +                    select id
--   +                    from script
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
--                    and script_id >= (
--   …
--                    transaction_id desc,
--                    index desc
--   -              limit $3::bigint + 1
--   +              limit $11::bigint + 1
--                )
--              ) with ordinality as keys
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
--            'utxos',
--   …
--                    left join transactions on transactions.id = page.transaction_id
--                    left join pre_bootstrap_transactions earlier on earlier.id = page.transaction_id
--   -              where page.position <= $4::bigint
--   +              where page.position <= $12::bigint
--                  order by page.position asc
--                ) listed
--   …
--                    count(*) as found,
--                    count(*) filter (
--   -                  where page.position <= $5::bigint
--   +                  where page.position <= $13::bigint
--                    ) as shown
--                  from page

-- “utxos before”: ending_before=…
--   like “utxos after”, except:
--                  from utxos
--                  where
--   -                (script_id, transaction_id, index) < (
--   +                (script_id, transaction_id, index) > (
--                      (
--                        select id
--   …
--                      )
--                    )
--   -                and script_id >= (
--   +                and script_id <= (
--                      select id
--                      from script
--                    )
--                  order by
--   -                script_id desc,
--   -                transaction_id desc,
--   -                index desc
--   +                script_id asc,
--   +                transaction_id asc,
--   +                index asc
--                  limit $11::bigint + 1
--                )
--   …
--                    left join pre_bootstrap_transactions earlier on earlier.id = page.transaction_id
--                  where page.position <= $12::bigint
--   -              order by page.position asc
--   +              order by page.position desc
--                ) listed
--            ),

-- getAddressBalanceHistory ----------------------------------------------------------------------------

-- “balance history day”
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
      "range" as materialized (
        select
          balance,
          last,
          last_listed,
          greatest(first, last_listed - 9999) as first
        from
          (
            select
              balance,
              first,
              last,
              least(last, (least(($3::bigint - 1) / 3600000, 2147483647)::int / 24) - 1) as last_listed
            from
              (
                select
                  balances.balance,
                  ((sink.chain_time / 3600000)::int / 24) as last,
                  (
                    select (hour / 24)
                    from balance_changes
                    where
                      script_id = (
                        select id
                        from script
                      )
                      and change <> 0
                    order by hour
                    limit 1
                  ) as first
                from
                  balances
                  cross join (
                    select chain_time
                    from chain_blocks
                    where
                      index = (
                        select chain_index
                        from
                        checkpoint
                      )
                  ) sink
                where
                  script_id = (
                    select id
                    from script
                  )
              ) whole
            where first is not null
          ) listed
      ),
      "gap" as materialized (
        select
          lower.timestamp as "from",
          upper.timestamp as "to",
          lower.chain_time as after,
          upper.chain_time as before
        from
          bootstrap_blocks
          join chain_blocks upper on upper.index = bootstrap_blocks.chain_index
          and upper.block_id = bootstrap_blocks.block_id
          join blocks bootstrap on bootstrap.id = upper.block_id
          join chain_blocks lower on lower.index = bootstrap_blocks.chain_index - 1
          and (
            bootstrap.selected_parent_id is distinct from lower.block_id
            or exists (
              select
              from gaps
              where before_block_hash = upper.hash
            )
          )
          join range on upper.chain_time > ((range.first * 24)::bigint * 3600000)
        order by upper.index
      ),
      "step" as materialized (
        select
          greatest(changes.number, range.first) as first,
          lag(changes.number, 1, range.last + 1) over newest_first - 1 as last,
          (balance - coalesce(sum(change) over newest_first, 0))::text as balance
        from
          range
          cross join (
            select
              (hour / 24) as number,
              sum(change) as change
            from balance_changes
            where
              script_id = (
                select id
                from script
              )
              and change <> 0
              and hour >= (
                select
                  coalesce(
                    (
                      select hour
                      from balance_changes
                      where
                        script_id = (
                          select id
                          from script
                        )
                        and change <> 0
                        and hour < first_hour
                      order by hour desc
                      limit 1
                    ),
                    first_hour
                  )
                from
                  (
                    select (first * 24) as first_hour
                    from range
                  ) beginning
              )
            group by 1
          ) changes
        window
          newest_first as (
            order by
              number desc rows between unbounded preceding
              and 1 preceding
          )
      ),
      "history" as materialized (
        select coalesce(json_agg(listed), '[]') as list
        from
          (
            select
              (((number + 1) * 24)::bigint * 3600000) as timestamp,
              balance
            from
              (
                select
                  generate_series(step.first, least(step.last, range.last_listed)) as number,
                  step.balance
                from
                  step
                  cross join range
              ) numbered
            where
              not exists (
                select
                from gap
                where
                  after < (((number + 1) * 24)::bigint * 3600000)
                  and (((number + 1) * 24)::bigint * 3600000) <= before
              )
              and (((number + 1) * 24)::bigint * 3600000) >= coalesce($4::bigint, 0)
              and (((number + 1) * 24)::bigint * 3600000) < coalesce($5::bigint, 9223372036854775807)
            order by number
          ) listed
      )
    select
      null::text as problem,
      case
        when exists (
          select
          from gap
        ) then (
          select to_json(object)
          from
            (
              select
                (
                  select list
                  from history
                ) as "history",
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
                                "from" as "from",
                                "to" as "to"
                            ) object
                        ) as item
                      from gap
                    ) listed
                ) as "gaps"
            ) object
        )
        else (
          select to_json(object)
          from
            (
              select
                (
                  select list
                  from history
                ) as "history"
            ) object
        )
      end::json as body
  ) content;

-- “balance history hour”: interval=hour
--   like “balance history day”, except:
--                  first,
--                  last,
--   -              least(last, (least(($3::bigint - 1) / 3600000, 2147483647)::int / 24) - 1) as last_listed
--   +              least(last, least(($3::bigint - 1) / 3600000, 2147483647)::int - 1) as last_listed
--                from
--                  (
--                    select
--                      balances.balance,
--   -                  ((sink.chain_time / 3600000)::int / 24) as last,
--   +                  (sink.chain_time / 3600000)::int as last,
--                      (
--   -                    select (hour / 24)
--   +                    select hour
--                        from balance_changes
--                        where
--   …
--                )
--              )
--   -          join range on upper.chain_time > ((range.first * 24)::bigint * 3600000)
--   +          join range on upper.chain_time > (range.first::bigint * 3600000)
--            order by upper.index
--          ),
--   …
--              cross join (
--                select
--   -              (hour / 24) as number,
--   -              sum(change) as change
--   +              hour as number,
--   +              change
--                from balance_changes
--                where
--   …
--                    from
--                      (
--   -                    select (first * 24) as first_hour
--   +                    select first as first_hour
--                        from range
--                      ) beginning
--                  )
--   -            group by 1
--              ) changes
--            window
--   …
--              (
--                select
--   -              (((number + 1) * 24)::bigint * 3600000) as timestamp,
--   +              ((number + 1)::bigint * 3600000) as timestamp,
--                  balance
--                from
--   …
--                    from gap
--                    where
--   -                  after < (((number + 1) * 24)::bigint * 3600000)
--   -                  and (((number + 1) * 24)::bigint * 3600000) <= before
--   +                  after < ((number + 1)::bigint * 3600000)
--   +                  and ((number + 1)::bigint * 3600000) <= before
--                  )
--   -              and (((number + 1) * 24)::bigint * 3600000) >= coalesce($4::bigint, 0)
--   -              and (((number + 1) * 24)::bigint * 3600000) < coalesce($5::bigint, 9223372036854775807)
--   +              and ((number + 1)::bigint * 3600000) >= coalesce($4::bigint, 0)
--   +              and ((number + 1)::bigint * 3600000) < coalesce($5::bigint, 9223372036854775807)
--                order by number
--              ) listed

-- “balance history month”: interval=month
--   like “balance history day”, except:
--                  first,
--                  last,
--   -              least(last, (least(($3::bigint - 1) / 3600000, 2147483647)::int / 24) - 1) as last_listed
--   +              least(
--   +                last,
--   +                (
--   +                  (
--   +                    extract(
--   +                      year
--   +                      from (timestamp '1970-01-01' + make_interval(hours => least(($3::bigint - 1) / 3600000, 2147483647)::int))
--   +                    ) - 1970
--   +                  ) * 12 + extract(
--   +                    month
--   +                    from (timestamp '1970-01-01' + make_interval(hours => least(($4::bigint - 1) / 3600000, 2147483647)::int))
--   +                  ) - 1
--   +                )::int - 1
--   +              ) as last_listed
--                from
--                  (
--                    select
--                      balances.balance,
--   -                  ((sink.chain_time / 3600000)::int / 24) as last,
--                      (
--   -                    select (hour / 24)
--   +                    (
--   +                      extract(
--   +                        year
--   +                        from (timestamp '1970-01-01' + make_interval(hours => (sink.chain_time / 3600000)::int))
--   +                      ) - 1970
--   +                    ) * 12 + extract(
--   +                      month
--   +                      from (timestamp '1970-01-01' + make_interval(hours => (sink.chain_time / 3600000)::int))
--   +                    ) - 1
--   +                  )::int as last,
--   +                  (
--   +                    select
--   +                      (
--   +                        (
--   +                          extract(
--   +                            year
--   +                            from (timestamp '1970-01-01' + make_interval(hours => hour))
--   +                          ) - 1970
--   +                        ) * 12 + extract(
--   +                          month
--   +                          from (timestamp '1970-01-01' + make_interval(hours => hour))
--   +                        ) - 1
--   +                      )::int
--                        from balance_changes
--                        where
--   …
--                )
--              )
--   -          join range on upper.chain_time > ((range.first * 24)::bigint * 3600000)
--   +          join range on upper.chain_time > (
--   +            (
--   +              extract(
--   +                epoch
--   +                from (timestamp '1970-01-01' + make_interval(months => range.first))
--   +              ) / 3600
--   +            )::int::bigint * 3600000
--   +          )
--            order by upper.index
--          ),
--   …
--              cross join (
--                select
--   -              (hour / 24) as number,
--   +              (
--   +                (
--   +                  extract(
--   +                    year
--   +                    from (timestamp '1970-01-01' + make_interval(hours => hour))
--   +                  ) - 1970
--   +                ) * 12 + extract(
--   +                  month
--   +                  from (timestamp '1970-01-01' + make_interval(hours => hour))
--   +                ) - 1
--   +              )::int as number,
--                  sum(change) as change
--                from balance_changes
--   …
--                    from
--                      (
--   -                    select (first * 24) as first_hour
--   +                    select
--   +                      (
--   +                        extract(
--   +                          epoch
--   +                          from (timestamp '1970-01-01' + make_interval(months => first))
--   +                        ) / 3600
--   +                      )::int as first_hour
--                        from range
--                      ) beginning
--   …
--              (
--                select
--   -              (((number + 1) * 24)::bigint * 3600000) as timestamp,
--   +              (
--   +                (
--   +                  extract(
--   +                    epoch
--   +                    from (timestamp '1970-01-01' + make_interval(months => (number + 1)))
--   +                  ) / 3600
--   +                )::int::bigint * 3600000
--   +              ) as timestamp,
--                  balance
--                from
--   …
--                    from gap
--                    where
--   -                  after < (((number + 1) * 24)::bigint * 3600000)
--   -                  and (((number + 1) * 24)::bigint * 3600000) <= before
--   +                  after < (
--   +                    (
--   +                      extract(
--   +                        epoch
--   +                        from (timestamp '1970-01-01' + make_interval(months => (number + 1)))
--   +                      ) / 3600
--   +                    )::int::bigint * 3600000
--   +                  )
--   +                  and (
--   +                    (
--   +                      extract(
--   +                        epoch
--   +                        from (timestamp '1970-01-01' + make_interval(months => (number + 1)))
--   +                      ) / 3600
--   +                    )::int::bigint * 3600000
--   +                  ) <= before
--                  )
--   -              and (((number + 1) * 24)::bigint * 3600000) >= coalesce($4::bigint, 0)
--   -              and (((number + 1) * 24)::bigint * 3600000) < coalesce($5::bigint, 9223372036854775807)
--   +              and (
--   +                (
--   +                  extract(
--   +                    epoch
--   +                    from (timestamp '1970-01-01' + make_interval(months => (number + 1)))
--   +                  ) / 3600
--   +                )::int::bigint * 3600000
--   +              ) >= coalesce($5::bigint, 0)
--   +              and (
--   +                (
--   +                  extract(
--   +                    epoch
--   +                    from (timestamp '1970-01-01' + make_interval(months => (number + 1)))
--   +                  ) / 3600
--   +                )::int::bigint * 3600000
--   +              ) < coalesce($6::bigint, 9223372036854775807)
--                order by number
--              ) listed

-- getAddressCluster -----------------------------------------------------------------------------------

-- findScriptId of packages/reads/src/index-state/sql.ts
select "id"
from "scripts"
where "address" = $1;

-- findCluster of packages/api/src/resources/addresses/cluster/queries.ts
select
  c.id as "rootId",
  s.address as id,
  c.size::int as size,
  c.balance::text as balance,
  c.name,
  c.link,
  c.labels
from
  clusters c
  join scripts s on s.id = c.id
where c.id = cluster_of ($1);

-- listNames of packages/api/src/resources/addresses/cluster/queries.ts
select
  name,
  addresses::int as addresses
from
  (
    select
      name,
      sum(addresses) as addresses
    from cluster_names
    where cluster_id = $1
    group by name
    order by name
    limit 1000
  ) names
order by
  names.addresses desc,
  name collate "C"
limit $2;

-- listNamedMembers of packages/api/src/resources/addresses/cluster/queries.ts
select
  named.name,
  tagged.address
from
  unnest($1::text[]) as named (name)
  cross join lateral (
    select address
    from tags
    where tags.name collate "C" = named.name
    order by
      tags.name collate "C",
      tags.address collate "C"
    limit $2
  ) tagged
  join scripts s on s.address = tagged.address
where
  (
    select above.root_id
    from
      (
        select s.id as script_id
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
  ) = $3;

-- listAttributions of packages/api/src/resources/addresses/cluster/queries.ts
select
  tag_name as "tagName",
  source,
  creator,
  name,
  link,
  labels,
  category,
  confidence,
  confidence_level as "confidenceLevel",
  addresses::int as addresses
from
  (
    select
      counted.*,
      row_number() over (
        partition by tag_name
        order by
          addresses desc,
          confidence_level desc,
          source collate "C",
          name collate "C",
          link collate "C",
          labels,
          category collate "C",
          confidence collate "C"
      ) as position
    from
      (
        select
          named.name as tag_name,
          src.name as source,
          src.creator,
          a.name,
          a.link,
          a.labels,
          a.category,
          a.confidence,
          a.confidence_level,
          count(*) as addresses
        from
          unnest($1::text[], $2::text[]) named (name, address)
          join attributions a on a.address = named.address
          join tag_sources src on src.id = a.source_id
        group by
          1,
          2,
          3,
          4,
          5,
          6,
          7,
          8,
          9
      ) counted
  ) ordered
where position <= $3
order by position;

-- listMembers of packages/api/src/resources/addresses/cluster/queries.ts
with recursive
  walk (script_id, step_id, position) as (
    select
      script_id,
      next_id,
      $1::integer
    from cluster_members
    where script_id = $2
    union all
    select
      m.script_id,
      m.next_id,
      walk.position + 1
    from
      walk
      join cluster_members m on m.script_id = walk.step_id
    where
      not walk.step_id = $3
      and walk.position < $4
  )
select
  s.address,
  coalesce(b.balance, 0)::text as balance,
  case when t.address is not null then json_build_object('address', t.address, 'name', t.name, 'link', t.link, 'labels', t.labels)
  end as tag,
  coalesce(
    (
      select labels
      from script_labels
      where script_id = walk.script_id
    ),
    '{}'
  ) as "automaticLabels"
from
  walk
  join scripts s on s.id = walk.script_id
  left join balances b on b.script_id = walk.script_id
  left join tags t on t.address = s.address
where walk.position > 0
order by walk.position;

-- findClusteredTo of packages/api/src/resources/addresses/cluster/queries.ts
select
  encode(b.hash, 'hex') as hash,
  b.blue_score::text as "blueScore",
  b.daa_score::text as "daaScore"
from
  clustering
  join blocks b on b.id = clustering.block_id;

-- findMember of packages/api/src/resources/addresses/cluster/queries.ts
select id
from scripts
where
  address = $1
  and cluster_of (id) = $2;

-- loadMembers of packages/api/src/resources/addresses/cluster/queries.ts
with recursive
  met (script_id) as (
    select unnest($1::bigint[])
    union
    select leads.script_id
    from
      met
      join cluster_members m on m.script_id = met.script_id
      left join cluster_merges g on g.id = m.merge_id
      cross join lateral (
        values
          (m.parent_id),
          (g.script_id),
          (g.merged_script_id)
      ) leads (script_id)
    where leads.script_id is not null
  )
select
  m.script_id as "scriptId",
  m.parent_id as "parentId",
  g.id as "mergeId",
  g.transaction_id as "transactionId",
  g.script_id as "stayedScriptId",
  g.merged_script_id as "mergedScriptId"
from
  (
    select script_id
    from met
    limit $2
  ) nearest
  join cluster_members m on m.script_id = nearest.script_id
  left join cluster_merges g on g.id = m.merge_id;

-- loadLinks of packages/api/src/resources/addresses/cluster/queries.ts
select
  encode(t.transaction_id, 'hex') as "transactionId",
  array[near.address, far.address] as addresses,
  'common-input' as heuristic
from
  unnest($1::bigint[], $2::bigint[], $3::bigint[]) with ordinality as link (transaction_id, near_id, far_id, position)
  left join transactions t on t.id = link.transaction_id
  join scripts near on near.id = link.near_id
  join scripts far on far.id = link.far_id
order by link.position;

-- listChangeLinks of packages/api/src/resources/addresses/cluster/queries.ts
select
  encode(t.transaction_id, 'hex') as "transactionId",
  s.address,
  supposed.is_change as "isChange"
from
  (
    (
      select
        transaction_id,
        change_script_id as other_id,
        true as is_change
      from change_links
      where script_id between $1 and $2
      order by
        script_id desc,
        transaction_id desc
      limit $3
    )
    union all
    (
      select
        transaction_id,
        script_id,
        false
      from change_links
      where change_script_id between $4 and $5
      order by
        change_script_id desc,
        transaction_id desc
      limit $6
    )
    order by transaction_id desc
    limit $7
  ) supposed
  join scripts s on s.id = supposed.other_id
  and s.address is not null
  join transactions t on t.id = supposed.transaction_id
order by supposed.transaction_id desc;

-- listMembers of packages/api/src/resources/addresses/cluster/queries.ts: ending_before=…
--   like listMembers of packages/api/src/resources/addresses/cluster/queries.ts, except:
--        select
--          script_id,
--   -      next_id,
--   +      previous_id,
--          $1::integer
--        from cluster_members
--   …
--        select
--          m.script_id,
--   -      m.next_id,
--   +      m.previous_id,
--          walk.position + 1
--        from
--   …
--          join cluster_members m on m.script_id = walk.step_id
--        where
--   -      not walk.step_id = $3
--   +      not walk.script_id = $3
--          and walk.position < $4
--      )

-- getUnclustered of packages/api/src/resources/addresses/cluster/queries.ts: several at once
select
  one.address,
  coalesce(b.balance, 0)::text as balance,
  case when t.address is not null then json_build_object('address', t.address, 'name', t.name, 'link', t.link, 'labels', t.labels)
  end as tag,
  coalesce(
    (
      select labels
      from script_labels
      where script_id = one.script_id
    ),
    '{}'
  ) as "automaticLabels"
from
  (
    select
      $1::text as address,
      $2::bigint as script_id
  ) one
  left join balances b on b.script_id = one.script_id
  left join tags t on t.address = one.address;

-- listTags --------------------------------------------------------------------------------------------

-- “tags first no no”
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
              select address
              from tags
              where true
              order by
                name collate "C" asc,
                address collate "C" asc
              limit $2::bigint + 1
            )
          ) with ordinality as keys (key, position)
      )
    select
      null::text as problem,
      json_build_object(
        'tags',
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
                        tags.address as "address",
                        tags.name as "name",
                        tags.link as "link",
                        tags.labels as "labels"
                    ) object
                ) as item
              from
                page
                join tags on tags.address = page.key collate "default"
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

-- “tags after no no”: starting_after=…
--   like “tags first no no”, except:
--      cross join lateral (
--        with
--   +      "cursor" as materialized (
--   +        select
--   +          name,
--   +          address as key
--   +        from tags
--   +        where address = $2::text
--   +      ),
--          "page" as materialized (
--            select
--   …
--                  select address
--                  from tags
--   -              where true
--   +              where
--   +                true
--   +                and (name collate "C", address collate "C") > (
--   +                  (
--   +                    select name
--   +                    from cursor
--   +                  ),
--   +                  (
--   +                    select key
--   +                    from cursor
--   +                  )
--   +                )
--                  order by
--                    name collate "C" asc,
--                    address collate "C" asc
--   -              limit $2::bigint + 1
--   +              limit $3::bigint + 1
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
--            'tags',
--   …
--                    page
--                    join tags on tags.address = page.key collate "default"
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

-- “tags before no no”: ending_before=…
--   like “tags after no no”, except:
--                  where
--                    true
--   -                and (name collate "C", address collate "C") > (
--   +                and (name collate "C", address collate "C") < (
--                      (
--                        select name
--   …
--                    )
--                  order by
--   -                name collate "C" asc,
--   -                address collate "C" asc
--   +                name collate "C" desc,
--   +                address collate "C" desc
--                  limit $3::bigint + 1
--                )
--   …
--                    join tags on tags.address = page.key collate "default"
--                  where page.position <= $4::bigint
--   -              order by page.position asc
--   +              order by page.position desc
--                ) listed
--            ),

-- “tags first yes no”: label=exchange
--   like “tags first no no”, except:
--                array(
--                  select address
--   -              from tags
--   -              where true
--   +              from tag_labels
--   +              where label = $2::text
--                  order by
--                    name collate "C" asc,
--                    address collate "C" asc
--   -              limit $2::bigint + 1
--   +              limit $3::bigint + 1
--                )
--              ) with ordinality as keys (key, position)
--   …
--                    page
--                    join tags on tags.address = page.key collate "default"
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

-- “tags first no yes”: name=Harbour Exchange
--   like “tags first yes no”, except:
--                array(
--                  select address
--   -              from tag_labels
--   -              where label = $2::text
--   +              from tags
--   +              where
--   +                true
--   +                and name collate "C" = $2::text
--                  order by
--                    name collate "C" asc,

-- listAddressTransactions -----------------------------------------------------------------------------

-- “address transactions first no no no yes no  no”
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
                          select "transaction_id"
                          from
                            (
                              select distinct
                                "transaction_id"
                              from "script_deltas"
                              where
                                script_id = (
                                  select id
                                  from script
                                )
                              order by "transaction_id" desc
                              limit 10000
                            ) "script_deltas"
                          where
                            exists (
                              select
                              from transactions
                              where
                                id = script_deltas.transaction_id
                                and (
                                  "transactions"."accepting_index" is not null
                                  or is_pre_bootstrap ("transactions"."id")
                                )
                              offset 0
                            )
                          order by "transaction_id" desc
                          limit $4::bigint + 1
                        )
                      ) with ordinality as keys (key, position)
                  ) page
                  join transactions on transactions.id = page.key
              ) estimated
          ) summed
      )
    select
      null::text as problem,
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
                        ) as "outputs",
                        "amounts"."sent"::text as "amountSent",
                        "amounts"."received"::text as "amountReceived",
                        (amounts.received - amounts.sent)::text as "balanceChange"
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
                cross join lateral (
                  select
                    (
                      select coalesce(sum("output"."amount"), 0)
                      from "transaction_outputs" "output"
                      where
                        "output"."transaction_id" = transactions.id
                        and "output"."script_id" = (
                          select id
                          from script
                        )
                    ) as received,
                    case
                      when (
                        "transactions"."accepting_index" is not null
                        or is_pre_bootstrap ("transactions"."id")
                      ) then (
                        select coalesce(sum("input"."amount"), 0)
                        from "transaction_inputs" "input"
                        where
                          "input"."transaction_id" = transactions.id
                          and "input"."script_id" = (
                            select id
                            from script
                          )
                      )
                      else (
                        select coalesce(sum("input"."amount"), 0)
                        from
                          "transaction_inputs" "input"
                          left join transactions previous on previous.id = input.previous_transaction_id
                        where
                          "input"."transaction_id" = transactions.id
                          and "input"."script_id" = (
                            select id
                            from script
                          )
                          and (
                            (
                              "transactions"."accepting_index" is not null
                              or is_pre_bootstrap ("transactions"."id")
                            )
                            or previous.accepting_index is not null
                            or is_pre_bootstrap (input.previous_transaction_id)
                          )
                      )
                    end as sent
                  offset 0
                ) amounts
              where page.is_shown
              order by page.position asc
            ) listed
        ),
        'metadata',
        (
          select
            case
              when "scannedTo" is null then json_build_object('hasMore', found > shown, 'count', shown)
              else json_build_object('hasMore', true, 'count', shown, 'scannedTo', "scannedTo")
            end
          from
            (
              select
                count(*) as found,
                count(*) filter (
                  where page.is_shown
                ) as shown
              from page
            ) counted
            cross join lateral (
              select
                case
                  when found = shown then (
                    select encode(transaction_id, 'hex')
                    from transactions
                    where
                      id = (
                        select
                          case when count(*) = 2 then max("transaction_id")
                          end
                        from
                          (
                            select distinct
                              "transaction_id"
                            from "script_deltas"
                            where
                              script_id = (
                                select id
                                from script
                              )
                            order by "transaction_id" desc
                            offset 9999
                            limit 2
                          ) last
                      )
                  )
                end as "scannedTo"
            ) examined
        )
      )::json as body
  ) content;

-- “address transactions after no no no yes no  no”: starting_after=…
--   like “address transactions first no no no yes no  no”, except:
--              ) as id
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
--   +              and exists (
--   +                select
--   +                from script_deltas touch
--   +                where
--   +                  touch.transaction_id = transactions.id
--   +                  and touch.script_id = (
--   +                    select id
--   +                    from script
--   +                  )
--   +                offset 0
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
--                                      from script
--                                    )
--   +                                and "transaction_id" < (
--   +                                  select key
--   +                                  from cursor
--   +                                )
--                                  order by "transaction_id" desc
--                                  limit 10000
--   …
--                                )
--                              order by "transaction_id" desc
--   -                          limit $4::bigint + 1
--   +                          limit $6::bigint + 1
--                            )
--                          ) with ordinality as keys (key, position)
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
--            'transactions',
--   …
--                                    from script
--                                  )
--   +                              and "transaction_id" < (
--   +                                select key
--   +                                from cursor
--   +                              )
--                                order by "transaction_id" desc
--                                offset 9999

-- “address transactions before no no no yes no  no”: ending_before=…
--   like “address transactions after no no no yes no  no”, except:
--                                      from script
--                                    )
--   -                                and "transaction_id" < (
--   +                                and "transaction_id" > (
--                                      select key
--                                      from cursor
--                                    )
--   -                              order by "transaction_id" desc
--   +                              order by "transaction_id" asc
--                                  limit 10000
--                                ) "script_deltas"
--   …
--                                  offset 0
--                                )
--   -                          order by "transaction_id" desc
--   +                          order by "transaction_id" asc
--                              limit $6::bigint + 1
--                            )
--   …
--                    ) amounts
--                  where page.is_shown
--   -              order by page.position asc
--   +              order by page.position desc
--                ) listed
--            ),
--   …
--                          id = (
--                            select
--   -                          case when count(*) = 2 then max("transaction_id")
--   +                          case when count(*) = 2 then min("transaction_id")
--                              end
--                            from
--   …
--                                    from script
--                                  )
--   -                              and "transaction_id" < (
--   +                              and "transaction_id" > (
--                                    select key
--                                    from cursor
--                                  )
--   -                            order by "transaction_id" desc
--   +                            order by "transaction_id" asc
--                                offset 9999
--                                limit 2

-- “address transactions first no no no no no  no”: accepted_only=false
--   like “address transactions first no no no yes no  no”, except:
--                          unnest(
--                            array(
--   -                          select "transaction_id"
--   -                          from
--   -                            (
--   -                              select distinct
--   -                                "transaction_id"
--   -                              from "script_deltas"
--   -                              where
--   -                                script_id = (
--   -                                  select id
--   -                                  from script
--   -                                )
--   -                              order by "transaction_id" desc
--   -                              limit 10000
--   -                            ) "script_deltas"
--   +                          select distinct
--   +                            "transaction_id"
--   +                          from "script_deltas"
--                              where
--   -                            exists (
--   -                              select
--   -                              from transactions
--   -                              where
--   -                                id = script_deltas.transaction_id
--   -                                and (
--   -                                  "transactions"."accepting_index" is not null
--   -                                  or is_pre_bootstrap ("transactions"."id")
--   -                                )
--   -                              offset 0
--   +                            script_id = (
--   +                              select id
--   +                              from script
--                                )
--                              order by "transaction_id" desc
--   …
--            'metadata',
--            (
--   -          select
--   -            case
--   -              when "scannedTo" is null then json_build_object('hasMore', found > shown, 'count', shown)
--   -              else json_build_object('hasMore', true, 'count', shown, 'scannedTo', "scannedTo")
--   -            end
--   +          select json_build_object('hasMore', found > shown, 'count', shown)
--              from
--                (
--   …
--                  from page
--                ) counted
--   -            cross join lateral (
--   -              select
--   -                case
--   -                  when found = shown then (
--   -                    select encode(transaction_id, 'hex')
--   -                    from transactions
--   -                    where
--   -                      id = (
--   -                        select
--   -                          case when count(*) = 2 then max("transaction_id")
--   -                          end
--   -                        from
--   -                          (
--   -                            select distinct
--   -                              "transaction_id"
--   -                            from "script_deltas"
--   -                            where
--   -                              script_id = (
--   -                                select id
--   -                                from script
--   -                              )
--   -                            order by "transaction_id" desc
--   -                            offset 9999
--   -                            limit 2
--   -                          ) last
--   -                      )
--   -                  )
--   -                end as "scannedTo"
--   -            ) examined
--            )
--          )::json as body

-- “address transactions first yes no no yes no  no”: include_payload=true
--   like “address transactions first no no no yes no  no”, except:
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

-- “address transactions first no no no yes no received no”: direction=received
--   like “address transactions first no no no yes no  no”, except:
--                                  offset 0
--                                )
--   +                            and exists (
--   +                              select
--   +                              from
--   +                                (
--   +                                  select sum(one.amount_received - one.amount_sent) as change
--   +                                  from script_deltas one
--   +                                  where
--   +                                    one.transaction_id = script_deltas.transaction_id
--   +                                    and one.script_id = (
--   +                                      select id
--   +                                      from script
--   +                                    )
--   +                                  offset 0
--   +                                ) moved
--   +                              where moved.change >= 1
--   +                            )
--                              order by "transaction_id" desc
--                              limit $4::bigint + 1

-- “address transactions first no no no yes no sent no”: direction=sent
--   like “address transactions first no no no yes no received no”, except:
--                                      offset 0
--                                    ) moved
--   -                              where moved.change >= 1
--   +                              where - moved.change >= 1
--                                )
--                              order by "transaction_id" desc

-- “address transactions first no no no yes no  yes”: min_amount=1
--   like “address transactions first no no no yes no received no”, except:
--                                      offset 0
--                                    ) moved
--   -                              where moved.change >= 1
--   +                              where abs(moved.change) >= greatest($4::numeric, 1)
--                                )
--                              order by "transaction_id" desc
--   -                          limit $4::bigint + 1
--   +                          limit $5::bigint + 1
--                            )
--                          ) with ordinality as keys (key, position)

-- “address transactions first no yes no yes no  no”: include=tags
--   like “address transactions first no no no yes no  no”, except:
--                    end as "scannedTo"
--                ) examined
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

-- “address transactions first yes no yes yes no  no”: include=programs
--   like “address transactions first yes no no yes no  no”, except:
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

-- “address transactions first yes yes yes yes no  no”: include=tags,programs
--   like “address transactions first no yes no yes no  no”, except:
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

-- “address transactions first no no no no yes  no”: from
--   like “address transactions first no no no yes no  no”, except:
--              ) as id
--          ),
--   +      "period" as materialized (
--   +        select
--   +          case
--   +            when $3::bigint::bigint is null then 0::bigint
--   +            else coalesce(
--   +              (
--   +                select c.index
--   +                from chain_blocks c
--   +                where to_timestamp(c.chain_time / 1000::double precision) >= to_timestamp($4::bigint / 1000::double precision)
--   +                order by
--   +                  to_timestamp(c.chain_time / 1000::double precision),
--   +                  c.index
--   +                limit 1
--   +              ),
--   +              9223372036854775807::bigint
--   +            )
--   +          end as begins_at,
--   +          case
--   +            when $5::bigint::bigint is null then 9223372036854775807::bigint
--   +            else coalesce(
--   +              (
--   +                select c.index
--   +                from chain_blocks c
--   +                where to_timestamp(c.chain_time / 1000::double precision) >= to_timestamp($6::bigint / 1000::double precision)
--   +                order by
--   +                  to_timestamp(c.chain_time / 1000::double precision),
--   +                  c.index
--   +                limit 1
--   +              ),
--   +              9223372036854775807::bigint
--   +            )
--   +          end as ends_at
--   +      ),
--   +      "bounds" as materialized (
--   +        select
--   +          begins_at,
--   +          ends_at,
--   +          case
--   +            when begins_at = 0::bigint then 0::bigint
--   +            else coalesce(
--   +              (
--   +                select highest_transaction - 10000
--   +                from chain_blocks
--   +                where index = begins_at
--   +              ),
--   +              9223372036854775807::bigint
--   +            )
--   +          end as first_key,
--   +          case
--   +            when ends_at = 9223372036854775807::bigint then 9223372036854775807::bigint
--   +            else coalesce(
--   +              (
--   +                select highest_transaction
--   +                from chain_blocks
--   +                where index = ends_at - 1
--   +              ),
--   +              -1
--   +            )
--   +          end as last_key
--   +        from period
--   +      ),
--   +      "timed" as materialized (
--   +        select
--   +          last_key,
--   +          case
--   +            when first_key = 0::bigint then first_key
--   +            else least(
--   +              first_key,
--   +              (
--   +                select min(accepted.key)
--   +                from
--   +                  chain_blocks late
--   +                  cross join unnest(late.accepted_transactions) accepted (key)
--   +                where
--   +                  late.lowest_transaction < late.highest_transaction - 10000
--   +                  and late.lowest_transaction < first_key
--   +                  and late.index >= begins_at
--   +                  and late.index < ends_at
--   +                  and accepted.key < first_key
--   +                  and exists (
--   +                    select
--   +                    from script_deltas touch
--   +                    where
--   +                      touch.transaction_id = accepted.key
--   +                      and touch.script_id = (
--   +                        select id
--   +                        from script
--   +                      )
--   +                    offset 0
--   +                  )
--   +              )
--   +            )
--   +          end as first_key
--   +        from bounds
--   +      ),
--          "page" as materialized (
--            select
--              key,
--              position,
--   -          position <= $3::bigint
--   +          position <= $7::bigint
--              and (
--                position = 1
--   …
--                                      from script
--                                    )
--   +                                and transaction_id >= (
--   +                                  select first_key
--   +                                  from timed
--   +                                )
--   +                                and transaction_id <= (
--   +                                  select last_key
--   +                                  from timed
--   +                                )
--                                  order by "transaction_id" desc
--                                  limit 10000
--   …
--                                  where
--                                    id = script_deltas.transaction_id
--   -                                and (
--   -                                  "transactions"."accepting_index" is not null
--   -                                  or is_pre_bootstrap ("transactions"."id")
--   +                                and accepting_index >= (
--   +                                  select begins_at
--   +                                  from period
--                                    )
--   +                                and accepting_index < (
--   +                                  select ends_at
--   +                                  from period
--   +                                )
--                                  offset 0
--                                )
--                              order by "transaction_id" desc
--   -                          limit $4::bigint + 1
--   +                          limit $8::bigint + 1
--                            )
--                          ) with ordinality as keys (key, position)
--   …
--                                    from script
--                                  )
--   +                              and transaction_id >= (
--   +                                select first_key
--   +                                from timed
--   +                              )
--   +                              and transaction_id <= (
--   +                                select last_key
--   +                                from timed
--   +                              )
--                                order by "transaction_id" desc
--                                offset 9999

-- “address transactions first no no no yes yes sent yes”: all filters
--   like “address transactions first no no no no yes  no”, except:
--                                  offset 0
--                                )
--   +                            and exists (
--   +                              select
--   +                              from
--   +                                (
--   +                                  select sum(one.amount_received - one.amount_sent) as change
--   +                                  from script_deltas one
--   +                                  where
--   +                                    one.transaction_id = script_deltas.transaction_id
--   +                                    and one.script_id = (
--   +                                      select id
--   +                                      from script
--   +                                    )
--   +                                  offset 0
--   +                                ) moved
--   +                              where - moved.change >= greatest($8::numeric, 1)
--   +                            )
--                              order by "transaction_id" desc
--   -                          limit $8::bigint + 1
--   +                          limit $9::bigint + 1
--                            )
--                          ) with ordinality as keys (key, position)

-- “address transactions first yes yes yes no no  no”: everything
--   like “address transactions first yes yes yes yes no  no”, except:
--                          unnest(
--                            array(
--   -                          select "transaction_id"
--   -                          from
--   -                            (
--   -                              select distinct
--   -                                "transaction_id"
--   -                              from "script_deltas"
--   -                              where
--   -                                script_id = (
--   -                                  select id
--   -                                  from script
--   -                                )
--   -                              order by "transaction_id" desc
--   -                              limit 10000
--   -                            ) "script_deltas"
--   +                          select distinct
--   +                            "transaction_id"
--   +                          from "script_deltas"
--                              where
--   -                            exists (
--   -                              select
--   -                              from transactions
--   -                              where
--   -                                id = script_deltas.transaction_id
--   -                                and (
--   -                                  "transactions"."accepting_index" is not null
--   -                                  or is_pre_bootstrap ("transactions"."id")
--   -                                )
--   -                              offset 0
--   +                            script_id = (
--   +                              select id
--   +                              from script
--                                )
--                              order by "transaction_id" desc
--   …
--            'metadata',
--            (
--   -          select
--   -            case
--   -              when "scannedTo" is null then json_build_object('hasMore', found > shown, 'count', shown)
--   -              else json_build_object('hasMore', true, 'count', shown, 'scannedTo', "scannedTo")
--   -            end
--   +          select json_build_object('hasMore', found > shown, 'count', shown)
--              from
--                (
--   …
--                  from page
--                ) counted
--   -            cross join lateral (
--   -              select
--   -                case
--   -                  when found = shown then (
--   -                    select encode(transaction_id, 'hex')
--   -                    from transactions
--   -                    where
--   -                      id = (
--   -                        select
--   -                          case when count(*) = 2 then max("transaction_id")
--   -                          end
--   -                        from
--   -                          (
--   -                            select distinct
--   -                              "transaction_id"
--   -                            from "script_deltas"
--   -                            where
--   -                              script_id = (
--   -                                select id
--   -                                from script
--   -                              )
--   -                            order by "transaction_id" desc
--   -                            offset 9999
--   -                            limit 2
--   -                          ) last
--   -                      )
--   -                  )
--   -                end as "scannedTo"
--   -            ) examined
--            ),
--            'tags',

-- packages/api/src/resources/addresses/history-csv.ts: as CSV
with
  "script" as materialized (
    select id
    from scripts
    where address = $1
  )
select
  page.key,
  encode(transactions.transaction_id, 'hex') as transaction_id,
  to_char(to_timestamp(accepting.chain_time / 1000.0) at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as accepted_at,
  (
    (
      "transactions"."accepting_index" is not null
      or is_pre_bootstrap ("transactions"."id")
    )
  )::text as is_accepted,
  (transactions.subnetwork_id = 1)::text as is_coinbase,
  counted.sent::text as amount_sent_sompi,
  counted.received::text as amount_received_sompi,
  (counted.received - counted.sent)::text as balance_change_sompi,
  encode(accepting.hash, 'hex') as accepting_block_hash,
  to_char(to_timestamp(containing."blockTime" / 1000.0) at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as block_time,
  counted.fee::text as fee_sompi,
  ((counted.sent) / 100000000.0)::numeric(38, 8)::text as amount_sent_kas,
  ((counted.received) / 100000000.0)::numeric(38, 8)::text as amount_received_kas,
  ((counted.received - counted.sent) / 100000000.0)::numeric(38, 8)::text as balance_change_kas,
  ((counted.fee) / 100000000.0)::numeric(38, 8)::text as fee_kas,
  to_char(to_timestamp(accepting.chain_time / 1000.0) at time zone 'utc', 'YYYY-MM-DD HH24:MI:SS "UTC"') as "Koinly Date",
  ((counted.received - counted.sent) / 100000000.0)::numeric(38, 8)::text as "Amount",
  'KAS' as "Currency",
  case when transactions.subnetwork_id = 1 then 'mining'
  end as "Label",
  encode(transactions.transaction_id, 'hex') as "TxHash"
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
        and transaction_id < $2
      order by transaction_id desc
      limit $3
    )
  ) as page (key)
  join transactions on transactions.id = page.key
  left join chain_blocks accepting on accepting.index = transactions.accepting_index
  cross join lateral (
    select
      (
        select coalesce(sum("output"."amount"), 0)
        from "transaction_outputs" "output"
        where
          "output"."transaction_id" = transactions.id
          and "output"."script_id" = (
            select id
            from script
          )
      ) as received,
      case
        when (
          "transactions"."accepting_index" is not null
          or is_pre_bootstrap ("transactions"."id")
        ) then (
          select coalesce(sum("input"."amount"), 0)
          from "transaction_inputs" "input"
          where
            "input"."transaction_id" = transactions.id
            and "input"."script_id" = (
              select id
              from script
            )
        )
        else (
          select coalesce(sum("input"."amount"), 0)
          from
            "transaction_inputs" "input"
            left join transactions previous on previous.id = input.previous_transaction_id
          where
            "input"."transaction_id" = transactions.id
            and "input"."script_id" = (
              select id
              from script
            )
            and (
              (
                "transactions"."accepting_index" is not null
                or is_pre_bootstrap ("transactions"."id")
              )
              or previous.accepting_index is not null
              or is_pre_bootstrap (input.previous_transaction_id)
            )
        )
      end as sent
    offset 0
  ) amounts
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
  cross join lateral (
    select
      case
        when is_counted then amounts.sent
        else 0
      end as sent,
      case
        when is_counted then amounts.received
        else 0
      end as received,
      case
        when is_counted
        and amounts.sent > 0 then transactions.fee
      end as fee
    from
      (
        select transactions.accepting_index is not null as is_counted
      ) acceptance
  ) counted
order by page.key desc;

-- packages/api/src/resources/addresses/history-csv.ts: as CSV, all filters
--   like packages/api/src/resources/addresses/history-csv.ts, except:
--        from scripts
--        where address = $1
--   +  ),
--   +  "period" as materialized (
--   +    select
--   +      case
--   +        when $2::bigint::bigint is null then 0::bigint
--   +        else coalesce(
--   +          (
--   +            select c.index
--   +            from chain_blocks c
--   +            where to_timestamp(c.chain_time / 1000::double precision) >= to_timestamp($3::bigint / 1000::double precision)
--   +            order by
--   +              to_timestamp(c.chain_time / 1000::double precision),
--   +              c.index
--   +            limit 1
--   +          ),
--   +          9223372036854775807::bigint
--   +        )
--   +      end as begins_at,
--   +      case
--   +        when $4::bigint::bigint is null then 9223372036854775807::bigint
--   +        else coalesce(
--   +          (
--   +            select c.index
--   +            from chain_blocks c
--   +            where to_timestamp(c.chain_time / 1000::double precision) >= to_timestamp($5::bigint / 1000::double precision)
--   +            order by
--   +              to_timestamp(c.chain_time / 1000::double precision),
--   +              c.index
--   +            limit 1
--   +          ),
--   +          9223372036854775807::bigint
--   +        )
--   +      end as ends_at
--   +  ),
--   +  "bounds" as materialized (
--   +    select
--   +      begins_at,
--   +      ends_at,
--   +      case
--   +        when begins_at = 0::bigint then 0::bigint
--   +        else coalesce(
--   +          (
--   +            select highest_transaction - 10000
--   +            from chain_blocks
--   +            where index = begins_at
--   +          ),
--   +          9223372036854775807::bigint
--   +        )
--   +      end as first_key,
--   +      case
--   +        when ends_at = 9223372036854775807::bigint then 9223372036854775807::bigint
--   +        else coalesce(
--   +          (
--   +            select highest_transaction
--   +            from chain_blocks
--   +            where index = ends_at - 1
--   +          ),
--   +          -1
--   +        )
--   +      end as last_key
--   +    from period
--   +  ),
--   +  "timed" as materialized (
--   +    select
--   +      last_key,
--   +      case
--   +        when first_key = 0::bigint then first_key
--   +        else least(
--   +          first_key,
--   +          (
--   +            select min(accepted.key)
--   +            from
--   +              chain_blocks late
--   +              cross join unnest(late.accepted_transactions) accepted (key)
--   +            where
--   +              late.lowest_transaction < late.highest_transaction - 10000
--   +              and late.lowest_transaction < first_key
--   +              and late.index >= begins_at
--   +              and late.index < ends_at
--   +              and accepted.key < first_key
--   +              and exists (
--   +                select
--   +                from script_deltas touch
--   +                where
--   +                  touch.transaction_id = accepted.key
--   +                  and touch.script_id = (
--   +                    select id
--   +                    from script
--   +                  )
--   +                offset 0
--   +              )
--   +          )
--   +        )
--   +      end as first_key
--   +    from bounds
--      )
--    select
--   …
--      unnest(
--        array(
--   -      select distinct
--   -        transaction_id
--   -      from script_deltas
--   +      select "transaction_id"
--   +      from
--   +        (
--   +          select distinct
--   +            transaction_id
--   +          from script_deltas
--   +          where
--   +            script_id = (
--   +              select id
--   +              from script
--   +            )
--   +            and transaction_id >= (
--   +              select first_key
--   +              from timed
--   +            )
--   +            and transaction_id <= (
--   +              select last_key
--   +              from timed
--   +            )
--   +            and transaction_id < $6
--   +          order by transaction_id desc
--   +          limit 10000
--   +        ) "script_deltas"
--          where
--   -        script_id = (
--   -          select id
--   -          from script
--   +        exists (
--   +          select
--   +          from transactions
--   +          where
--   +            id = script_deltas.transaction_id
--   +            and accepting_index >= (
--   +              select begins_at
--   +              from period
--   +            )
--   +            and accepting_index < (
--   +              select ends_at
--   +              from period
--   +            )
--   +          offset 0
--            )
--   -        and transaction_id < $2
--   -      order by transaction_id desc
--   -      limit $3
--   +        and exists (
--   +          select
--   +          from
--   +            (
--   +              select sum(one.amount_received - one.amount_sent) as change
--   +              from script_deltas one
--   +              where
--   +                one.transaction_id = script_deltas.transaction_id
--   +                and one.script_id = (
--   +                  select id
--   +                  from script
--   +                )
--   +              offset 0
--   +            ) moved
--   +          where - moved.change >= greatest($7::numeric, 1)
--   +        )
--   +      order by "transaction_id" desc
--   +      limit $8
--        )
--      ) as page (key)

-- packages/api/src/resources/addresses/history-csv.ts: as CSV, all filters
with
  "script" as materialized (
    select id
    from scripts
    where address = $1
  ),
  "period" as materialized (
    select
      case
        when $2::bigint::bigint is null then 0::bigint
        else coalesce(
          (
            select c.index
            from chain_blocks c
            where to_timestamp(c.chain_time / 1000::double precision) >= to_timestamp($3::bigint / 1000::double precision)
            order by
              to_timestamp(c.chain_time / 1000::double precision),
              c.index
            limit 1
          ),
          9223372036854775807::bigint
        )
      end as begins_at,
      case
        when $4::bigint::bigint is null then 9223372036854775807::bigint
        else coalesce(
          (
            select c.index
            from chain_blocks c
            where to_timestamp(c.chain_time / 1000::double precision) >= to_timestamp($5::bigint / 1000::double precision)
            order by
              to_timestamp(c.chain_time / 1000::double precision),
              c.index
            limit 1
          ),
          9223372036854775807::bigint
        )
      end as ends_at
  ),
  "bounds" as materialized (
    select
      begins_at,
      ends_at,
      case
        when begins_at = 0::bigint then 0::bigint
        else coalesce(
          (
            select highest_transaction - 10000
            from chain_blocks
            where index = begins_at
          ),
          9223372036854775807::bigint
        )
      end as first_key,
      case
        when ends_at = 9223372036854775807::bigint then 9223372036854775807::bigint
        else coalesce(
          (
            select highest_transaction
            from chain_blocks
            where index = ends_at - 1
          ),
          -1
        )
      end as last_key
    from period
  ),
  "timed" as materialized (
    select
      last_key,
      case
        when first_key = 0::bigint then first_key
        else least(
          first_key,
          (
            select min(accepted.key)
            from
              chain_blocks late
              cross join unnest(late.accepted_transactions) accepted (key)
            where
              late.lowest_transaction < late.highest_transaction - 10000
              and late.lowest_transaction < first_key
              and late.index >= begins_at
              and late.index < ends_at
              and accepted.key < first_key
              and exists (
                select
                from script_deltas touch
                where
                  touch.transaction_id = accepted.key
                  and touch.script_id = (
                    select id
                    from script
                  )
                offset 0
              )
          )
        )
      end as first_key
    from bounds
  )
select transaction_id as key
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
      and transaction_id >= (
        select first_key
        from timed
      )
      and transaction_id <= (
        select last_key
        from timed
      )
      and transaction_id < $6
    order by transaction_id desc
    offset 9999
    limit 1
  ) last;
