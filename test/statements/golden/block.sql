-- The statements of this area as Postgres gets them, by operation. `npm run generate:statements` writes this file, and test/statements compares it
-- and lets Postgres describe each statement. A statement is shown where it is sent first.
--
-- Filters, cursors, directions and `include` choose the pieces of a statement. Each value of each parameter is tried with the example of its operation,
-- never two parameters together, and SQL that this leaves out by further requests. So every piece is here, and not every combination. A statement that is
-- like an earlier one of its operation is shown as the lines that differ, if these are fewer.

-- listBlocks ------------------------------------------------------------------------------------------

-- “blocks first yes”
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
              select "block_id"
              from "chain_blocks"
              order by "block_id" desc
              limit $2::bigint + 1
            )
          ) with ordinality as keys (key, position)
      )
    select
      null::text as problem,
      json_build_object(
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
                        "block"."blue_score"::text as "blueScore",
                        "block"."daa_score"::text as "daaScore",
                        block.timestamp as "timestamp",
                        block.is_chain_block as "isChainBlock",
                        case
                          when block.is_blue then 'blue'
                          when not block.is_blue then 'red'
                        end as "color",
                        encode("merging"."hash", 'hex') as "mergingBlockHash",
                        block.transaction_count as "transactionCount"
                    ) object
                ) as item
              from
                page
                join blocks block on block.id = page.key
                left join blocks merging on merging.id = block.merging_block_id
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

-- “blocks after yes”: starting_after=…
--   like “blocks first yes”, except:
--      cross join lateral (
--        with
--   +      "cursor" as materialized (
--   +        select
--   +          (
--   +            select id
--   +            from blocks
--   +            where hash = $2::bytea
--   +          ) as key
--   +      ),
--          "page" as materialized (
--            select
--   …
--                  select "block_id"
--                  from "chain_blocks"
--   +              where
--   +                "block_id" < (
--   +                  select key
--   +                  from cursor
--   +                )
--                  order by "block_id" desc
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
--            'blocks',
--   …
--                    join blocks block on block.id = page.key
--                    left join blocks merging on merging.id = block.merging_block_id
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

-- “blocks before yes”: ending_before=…
--   like “blocks after yes”, except:
--                  from "chain_blocks"
--                  where
--   -                "block_id" < (
--   +                "block_id" > (
--                      select key
--                      from cursor
--                    )
--   -              order by "block_id" desc
--   +              order by "block_id" asc
--                  limit $3::bigint + 1
--                )
--   …
--                    left join blocks merging on merging.id = block.merging_block_id
--                  where page.position <= $4::bigint
--   -              order by page.position asc
--   +              order by page.position desc
--                ) listed
--            ),

-- “blocks first no”: chain_only=false
--   like “blocks first yes”, except:
--              unnest(
--                array(
--   -              select "block_id"
--   -              from "chain_blocks"
--   -              order by "block_id" desc
--   +              select "id"
--   +              from "blocks"
--   +              order by "id" desc
--                  limit $2::bigint + 1
--                )

-- getBlockDetails -------------------------------------------------------------------------------------

-- “block details no no”
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
      "block" as materialized (
        select *
        from blocks
        where hash = $2::bytea
      )
    select
      case
        when not exists (
          select
          from block
        ) then 'unknown'
      end::text as problem,
      json_build_object(
        'block',
        (
          select
            (
              select to_json(object)
              from
                (
                  select
                    (
                      select to_json(object)
                      from
                        (
                          select
                            encode("block"."hash", 'hex') as "hash",
                            block.version as "version",
                            (
                              select
                                case
                                  when count(*) = 0 then '[]'
                                  else '[["' || string_agg(
                                    parent.hash,
                                    '","'
                                    order by parent.index
                                  ) || '"]' || unpack_parents (block.parents_by_level) || ']'
                                end
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
                            )::json as "parentsByLevel",
                            encode("block"."hash_merkle_root", 'hex') as "hashMerkleRoot",
                            encode("block"."accepted_id_merkle_root", 'hex') as "acceptedIdMerkleRoot",
                            encode("block"."utxo_commitment", 'hex') as "utxoCommitment",
                            "block"."timestamp"::text as "timestamp",
                            block.bits as "bits",
                            "block"."nonce"::text as "nonce",
                            "block"."daa_score"::text as "daaScore",
                            "block"."blue_work"::text as "blueWork",
                            "block"."blue_score"::text as "blueScore",
                            encode("block"."pruning_point", 'hex') as "pruningPoint"
                        ) object
                    ) as "header",
                    (
                      select to_json(object)
                      from
                        (
                          select
                            encode("block"."hash", 'hex') as "hash",
                            5.78960446186581e76::float8 / nullif(
                              case when block.bits & 16777215 <= 8388607 then floor((block.bits & 16777215) * 256::float8 ^ ((block.bits >> 24) - 3))
                              end,
                              0
                            ) as "difficulty",
                            coalesce(
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
                              ),
                              'fefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefe'
                            ) as "selectedParentHash",
                            (
                              select coalesce(json_agg(listed.item), '[]')
                              from
                                (
                                  select encode("transactions"."transaction_id", 'hex') as item
                                  from
                                    block_transactions contained
                                    join transactions on transactions.id = contained.transaction_id
                                  where contained.block_id = block.id
                                  order by contained.index
                                ) listed
                            ) as "transactionIds",
                            false as "isHeaderOnly",
                            block.blue_score as "blueScore",
                            (
                              select coalesce(json_agg(listed.item), '[]')
                              from
                                (
                                  select encode("child"."hash", 'hex') as item
                                  from
                                    block_parents link
                                    join blocks child on child.id = link.block_id
                                  where link.parent_id = block.id
                                ) listed
                            ) as "childrenHashes",
                            (
                              select coalesce(json_agg(listed.item), '[]')
                              from
                                (
                                  select
                                    encode(
                                      coalesce(
                                        (
                                          select hash
                                          from blocks
                                          where id = merged.id
                                        ),
                                        pre_bootstrap_block_hash (merged.id)
                                      ),
                                      'hex'
                                    ) as item
                                  from unnest("block"."merge_set_blues") with ordinality as merged (id, position)
                                  order by merged.position
                                ) listed
                            ) as "mergeSetBluesHashes",
                            (
                              select coalesce(json_agg(listed.item), '[]')
                              from
                                (
                                  select
                                    encode(
                                      coalesce(
                                        (
                                          select hash
                                          from blocks
                                          where id = merged.id
                                        ),
                                        pre_bootstrap_block_hash (merged.id)
                                      ),
                                      'hex'
                                    ) as item
                                  from unnest("block"."merge_set_reds") with ordinality as merged (id, position)
                                  order by merged.position
                                ) listed
                            ) as "mergeSetRedsHashes",
                            block.is_chain_block as "isChainBlock"
                        ) object
                    ) as "verboseData",
                    encode("block"."hash", 'hex') as "hash",
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
                    coalesce(
                      state.sink_blue_score - case
                        when block.is_chain_block then block.blue_score
                        else merging.blue_score
                      end,
                      0
                    ) as "confirmations",
                    (
                      select
                        (
                          select to_json(object)
                          from
                            (
                              select
                                script.address as "address",
                                encode(script.script, 'hex') as "scriptPublicKey",
                                encode(mined.extra, 'hex') as "extraData",
                                text_of (mined.extra) as "extraText",
                                pool_of (mined.extra) as "pool",
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
                                ) as "tag"
                            ) object
                        )
                      from
                        (
                          select extra_data_of (coinbase.payload) as extra
                          from
                            block_transactions contained
                            join transactions coinbase on coinbase.id = contained.transaction_id
                          where
                            contained.block_id = block.id
                            and contained.index = 0
                          offset 0
                        ) mined
                        join scripts script on script.id = block.miner_script_id
                    ) as "miner",
                    block.subsidy::text as "subsidy",
                    merged.fees::text as "fees",
                    (
                      case
                        when merged.fees is not null then case
                          when not block.is_chain_block then 0
                          when reds.are_known then reds.amount
                        end
                      end
                    )::text as "redReward",
                    (
                      case
                        when merged.is_blue then case
                          when merged.is_rewarded then merged.subsidy + merged.fees
                          else 0
                        end + case
                          when not block.is_chain_block then 0
                          when reds.are_known then reds.amount
                        end
                        when not merged.is_blue then 0
                      end
                    )::text as "reward",
                    (
                      select encode(coinbase.transaction_id, 'hex')
                      from
                        block_transactions contained
                        join transactions coinbase on coinbase.id = contained.transaction_id
                      where
                        contained.block_id = block.merging_block_id
                        and contained.index = 0
                        and merged.fees is not null
                    ) as "rewardTransactionId"
                ) object
            )
          from
            block
            left join blocks merging on merging.id = block.merging_block_id
            left join lateral (
              select
                subsidy,
                fees,
                is_blue,
                is_rewarded
              from mergeset_rewards (block.merging_block_id, $3::bigint) earned
              where earned.block_id = block.id
            ) merged on block.selected_parent_id is not null
            left join lateral (
              select
                count(*) filter (
                  where not is_blue
                ) = cardinality(block.merge_set_reds) as are_known,
                coalesce(
                  sum(
                    case
                      when is_rewarded then subsidy + fees
                      else fees
                    end
                  ) filter (
                    where not is_blue
                  ),
                  0
                ) as amount
              from mergeset_rewards (block.id, $4::bigint)
            ) reds on block.is_chain_block
        )
      )::json as body
  ) content;

-- “block details yes no”: include_transactions=true
--   like “block details no no”, except:
--                        ) as "header",
--                        (
--   +                      select coalesce(json_agg(listed.item), '[]')
--   +                      from
--   +                        (
--   +                          select
--   +                            (
--   +                              select to_json(object)
--   +                              from
--   +                                (
--   +                                  select
--   +                                    transactions.version as "version",
--   +                                    (
--   +                                      select coalesce(json_agg(listed.item), '[]')
--   +                                      from
--   +                                        (
--   +                                          select
--   +                                            case
--   +                                              when transactions.version >= 1 then (
--   +                                                select to_json(object)
--   +                                                from
--   +                                                  (
--   +                                                    select
--   +                                                      (
--   +                                                        select to_json(object)
--   +                                                        from
--   +                                                          (
--   +                                                            select
--   +                                                              encode(
--   +                                                                coalesce(
--   +                                                                  previous.transaction_id,
--   +                                                                  nullif(input.previous_transaction_hash, ''),
--   +                                                                  pre_bootstrap_transaction_id (input.previous_transaction_id)
--   +                                                                ),
--   +                                                                'hex'
--   +                                                              ) as "transactionId",
--   +                                                              input.previous_index as "index"
--   +                                                          ) object
--   +                                                      ) as "previousOutpoint",
--   +                                                      "input"."sequence"::text as "sequence",
--   +                                                      case
--   +                                                        when contained.variant > 0 then (variant_input (input.transaction_id, contained.variant, input.index))."sig_op_count"
--   +                                                        else "input"."sig_op_count"
--   +                                                      end as "sigOpCount",
--   +                                                      encode(
--   +                                                        case
--   +                                                          when contained.variant > 0 then (variant_input (input.transaction_id, contained.variant, input.index))."signature_script"
--   +                                                          else "input"."signature_script"
--   +                                                        end,
--   +                                                        'hex'
--   +                                                      ) as "signatureScript",
--   +                                                      case
--   +                                                        when contained.variant > 0 then (variant_input (input.transaction_id, contained.variant, input.index))."compute_budget"
--   +                                                        else "input"."compute_budget"
--   +                                                      end as "computeBudget"
--   +                                                  ) object
--   +                                              )
--   +                                              else (
--   +                                                select to_json(object)
--   +                                                from
--   +                                                  (
--   +                                                    select
--   +                                                      (
--   +                                                        select to_json(object)
--   +                                                        from
--   +                                                          (
--   +                                                            select
--   +                                                              encode(
--   +                                                                coalesce(
--   +                                                                  previous.transaction_id,
--   +                                                                  nullif(input.previous_transaction_hash, ''),
--   +                                                                  pre_bootstrap_transaction_id (input.previous_transaction_id)
--   +                                                                ),
--   +                                                                'hex'
--   +                                                              ) as "transactionId",
--   +                                                              input.previous_index as "index"
--   +                                                          ) object
--   +                                                      ) as "previousOutpoint",
--   +                                                      "input"."sequence"::text as "sequence",
--   +                                                      case
--   +                                                        when contained.variant > 0 then (variant_input (input.transaction_id, contained.variant, input.index))."sig_op_count"
--   +                                                        else "input"."sig_op_count"
--   +                                                      end as "sigOpCount",
--   +                                                      encode(
--   +                                                        case
--   +                                                          when contained.variant > 0 then (variant_input (input.transaction_id, contained.variant, input.index))."signature_script"
--   +                                                          else "input"."signature_script"
--   +                                                        end,
--   +                                                        'hex'
--   +                                                      ) as "signatureScript"
--   +                                                  ) object
--   +                                              )
--   +                                            end as item
--   +                                          from
--   +                                            transaction_inputs input
--   +                                            left join transactions previous on previous.id = input.previous_transaction_id
--   +                                          where input.transaction_id = transactions.id
--   +                                          order by input.index
--   +                                        ) listed
--   +                                    ) as "inputs",
--   +                                    (
--   +                                      select coalesce(json_agg(listed.item), '[]')
--   +                                      from
--   +                                        (
--   +                                          select
--   +                                            case
--   +                                              when script.address is not null then case
--   +                                                when output.covenant_id is not null then (
--   +                                                  select to_json(object)
--   +                                                  from
--   +                                                    (
--   +                                                      select
--   +                                                        "output"."amount"::text as "value",
--   +                                                        lpad(to_hex("script"."version"), 4, '0') || encode("script"."script", 'hex') as "scriptPublicKey",
--   +                                                        (
--   +                                                          select to_json(object)
--   +                                                          from
--   +                                                            (
--   +                                                              select
--   +                                                                script.type as "scriptPublicKeyType",
--   +                                                                script.address as "scriptPublicKeyAddress"
--   +                                                            ) object
--   +                                                        ) as "verboseData",
--   +                                                        (
--   +                                                          select to_json(object)
--   +                                                          from
--   +                                                            (
--   +                                                              select
--   +                                                                output.covenant_authorizing_input as "authorizingInput",
--   +                                                                encode("output"."covenant_id", 'hex') as "covenantId"
--   +                                                            ) object
--   +                                                        ) as "covenant"
--   +                                                    ) object
--   +                                                )
--   +                                                else (
--   +                                                  select to_json(object)
--   +                                                  from
--   +                                                    (
--   +                                                      select
--   +                                                        "output"."amount"::text as "value",
--   +                                                        lpad(to_hex("script"."version"), 4, '0') || encode("script"."script", 'hex') as "scriptPublicKey",
--   +                                                        (
--   +                                                          select to_json(object)
--   +                                                          from
--   +                                                            (
--   +                                                              select
--   +                                                                script.type as "scriptPublicKeyType",
--   +                                                                script.address as "scriptPublicKeyAddress"
--   +                                                            ) object
--   +                                                        ) as "verboseData"
--   +                                                    ) object
--   +                                                )
--   +                                              end
--   +                                              else case
--   +                                                when output.covenant_id is not null then (
--   +                                                  select to_json(object)
--   +                                                  from
--   +                                                    (
--   +                                                      select
--   +                                                        "output"."amount"::text as "value",
--   +                                                        lpad(to_hex("script"."version"), 4, '0') || encode("script"."script", 'hex') as "scriptPublicKey",
--   +                                                        (
--   +                                                          select to_json(object)
--   +                                                          from
--   +                                                            (
--   +                                                              select
--   +                                                                output.covenant_authorizing_input as "authorizingInput",
--   +                                                                encode("output"."covenant_id", 'hex') as "covenantId"
--   +                                                            ) object
--   +                                                        ) as "covenant"
--   +                                                    ) object
--   +                                                )
--   +                                                else (
--   +                                                  select to_json(object)
--   +                                                  from
--   +                                                    (
--   +                                                      select
--   +                                                        "output"."amount"::text as "value",
--   +                                                        lpad(to_hex("script"."version"), 4, '0') || encode("script"."script", 'hex') as "scriptPublicKey"
--   +                                                    ) object
--   +                                                )
--   +                                              end
--   +                                            end as item
--   +                                          from
--   +                                            transaction_outputs output
--   +                                            join scripts script on script.id = output.script_id
--   +                                          where output.transaction_id = transactions.id
--   +                                          order by output.index
--   +                                        ) listed
--   +                                    ) as "outputs",
--   +                                    "transactions"."lock_time"::text as "lockTime",
--   +                                    encode("subnetworks"."subnetwork_id", 'hex') as "subnetworkId",
--   +                                    "transactions"."gas"::text as "gas",
--   +                                    case
--   +                                      when octet_length(transactions.payload) = 0 then ''
--   +                                      else '0x' || encode(transactions.payload, 'hex')
--   +                                    end as "payload",
--   +                                    (
--   +                                      case
--   +                                        when contained.variant > 0 then (variant_of (transactions.id, contained.variant))."storage_mass"
--   +                                        else "transactions"."storage_mass"
--   +                                      end
--   +                                    )::text as "mass",
--   +                                    (
--   +                                      select to_json(object)
--   +                                      from
--   +                                        (
--   +                                          select
--   +                                            encode("transactions"."transaction_id", 'hex') as "transactionId",
--   +                                            encode(
--   +                                              case
--   +                                                when contained.variant > 0 then (variant_of (transactions.id, contained.variant))."hash"
--   +                                                else "transactions"."hash"
--   +                                              end,
--   +                                              'hex'
--   +                                            ) as "hash",
--   +                                            (
--   +                                              case
--   +                                                when contained.variant > 0 then (variant_of (transactions.id, contained.variant))."compute_mass"
--   +                                                else "transactions"."compute_mass"
--   +                                              end
--   +                                            )::text as "computeMass",
--   +                                            encode("block"."hash", 'hex') as "blockHash",
--   +                                            "block"."timestamp"::text as "blockTime"
--   +                                        ) object
--   +                                    ) as "verboseData"
--   +                                ) object
--   +                            ) as item
--   +                          from
--   +                            block_transactions contained
--   +                            join transactions on transactions.id = contained.transaction_id
--   +                            join subnetworks on subnetworks.id = transactions.subnetwork_id
--   +                          where contained.block_id = block.id
--   +                          order by contained.index
--   +                        ) listed
--   +                    ) as "transactions",
--   +                    (
--                          select to_json(object)
--                          from

-- “block details no yes”: include=tags
--   like “block details no no”, except:
--                  from mergeset_rewards (block.id, $4::bigint)
--                ) reds on block.is_chain_block
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
--   +                    select script_deltas.script_id
--   +                    from
--   +                      block
--   +                      join block_transactions contained on contained.block_id = block.id
--   +                      join script_deltas on script_deltas.transaction_id = contained.transaction_id
--   +                    union
--   +                    select miner_script_id
--   +                    from block
--   +                  )
--   +                ) within (script_id)
--   +                join scripts on scripts.id = within.script_id
--   +                and scripts.address is not null
--   +            ) touched
--            )
--          )::json as body

-- listBlockTransactions -------------------------------------------------------------------------------

-- “transactions of a block contained first no no no”
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
      "block" as materialized (
        select id
        from blocks
        where hash = $2::bytea
      ),
      "listed" as materialized (
        select
          transaction_id as key,
          index::bigint as position
        from block_transactions
        where
          block_id = (
            select id
            from block
          )
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
                      key,
                      row_number() over (
                        order by position asc
                      ) as position
                    from
                      (
                        select *
                        from listed
                        order by position asc
                        limit $4::bigint + 1
                      ) nearest
                  ) page
                  join transactions on transactions.id = page.key
              ) estimated
          ) summed
      )
    select
      case
        when not exists (
          select
          from block
        ) then 'unknown'
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

-- “transactions of a block contained after no no no”: starting_after=…
--   like “transactions of a block contained first no no no”, except:
--              )
--          ),
--   +      "cursor" as materialized (
--   +        select
--   +          (
--   +            select position
--   +            from listed
--   +            where
--   +              key in (
--   +                select id
--   +                from transactions
--   +                where
--   +                  substring(
--   +                    "transactions"."transaction_id"
--   +                    from 1 for 7
--   +                  ) = substring(
--   +                    $3::bytea
--   +                    from 1 for 7
--   +                  )
--   +                  and "transactions"."transaction_id" = $4::bytea
--   +              )
--   +            limit 1
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
--                            select *
--                            from listed
--   +                        where
--   +                          position > (
--   +                            select key
--   +                            from cursor
--   +                          )
--                            order by position asc
--   -                        limit $4::bigint + 1
--   +                        limit $6::bigint + 1
--                          ) nearest
--                      ) page
--   …
--              from block
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

-- “transactions of a block contained before no no no”: ending_before=…
--   like “transactions of a block contained after no no no”, except:
--                          key,
--                          row_number() over (
--   -                        order by position asc
--   +                        order by position desc
--                          ) as position
--                        from
--   …
--                            from listed
--                            where
--   -                          position > (
--   +                          position < (
--                                select key
--                                from cursor
--                              )
--   -                        order by position asc
--   +                        order by position desc
--                            limit $6::bigint + 1
--                          ) nearest
--   …
--                    ) containing
--                  where page.is_shown
--   -              order by page.position asc
--   +              order by page.position desc
--                ) listed
--            ),

-- “transactions of a block accepted first no no no”: relation=accepted
--   like “transactions of a block contained first no no no”, except:
--          "listed" as materialized (
--            select
--   -          transaction_id as key,
--   -          index::bigint as position
--   -        from block_transactions
--   +          accepted.key,
--   +          accepted.position
--   +        from
--   +          chain_blocks
--   +          cross join unnest(chain_blocks.accepted_transactions) with ordinality as accepted (key, position)
--            where
--   -          block_id = (
--   +          chain_blocks.block_id = (
--                select id
--                from block

-- “transactions of a block contained first yes no no”: include_payload=true
--   like “transactions of a block contained first no no no”, except:
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

-- “transactions of a block contained first no yes no”: include=tags
--   like “transactions of a block contained first no no no”, except:
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

-- “transactions of a block contained first yes no yes”: include=programs
--   like “transactions of a block contained first yes no no”, except:
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

-- “transactions of a block contained first yes yes yes”: include=tags,programs
--   like “transactions of a block contained first no yes no”, except:
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

-- getBlocksByDaaScore ---------------------------------------------------------------------------------

-- findLowestBlock of packages/reads/src/selects/segments.ts: in status.sql, getStatus

-- readJson of packages/reads/src/index-state/statement.ts
with
  "state" as materialized (
    select
      checkpoint.version,
      blocks.blue_score as sink_blue_score
    from
    checkpoint
    join blocks on blocks.id = checkpoint.block_id
  ),
  "block" as materialized (
    select
      keys.key,
      keys.position
    from
      unnest(
        array(
          select id
          from blocks
          where
            daa_score >= $1
            and daa_score <= $2
          order by
            daa_score,
            hash
          limit 1001
        )
      ) with ordinality as keys (key, position)
  ),
  "contained" as materialized (
    select
      keys.key,
      keys.position
    from
      unnest(
        array(
          select contained.transaction_id
          from
            block
            join block_transactions contained on contained.block_id = block.key
          where block.position <= 1000
          group by contained.transaction_id
          order by min(array[block.position, contained.index])
          limit 10001
        )
      ) with ordinality as keys (key, position)
  ),
  "shown" as materialized (
    select
      key,
      position
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
                select *
                from "contained"
                where position <= 10000
              ) page
              join transactions on transactions.id = page.key
          ) estimated
      ) summed
    where
      position = 1
      or bytes_until <= 67108864
  )
select
  (
    case
      when (
        select count(*) > 1000
        from block
      )
      or (
        select count(*)
        from contained
      ) > (
        select count(*)
        from shown
      ) then json_build_object(
        'blocks',
        (
          with
            page as materialized (
              select *
              from "block"
              where position <= 1000
            )
          select
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
                            "block"."blue_score"::text as "blueScore",
                            "block"."daa_score"::text as "daaScore",
                            block.timestamp as "timestamp",
                            block.is_chain_block as "isChainBlock",
                            case
                              when block.is_blue then 'blue'
                              when not block.is_blue then 'red'
                            end as "color",
                            encode("merging"."hash", 'hex') as "mergingBlockHash",
                            block.transaction_count as "transactionCount"
                        ) object
                    ) as item
                  from
                    page
                    join blocks block on block.id = page.key
                    left join blocks merging on merging.id = block.merging_block_id
                  order by page.position
                ) listed
            )
        ),
        'transactions',
        (
          with
            page as materialized (
              select *
              from shown
            )
          select
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
                  order by page.position
                ) listed
            )
        ),
        'truncated',
        true
      )
      else json_build_object(
        'blocks',
        (
          with
            page as materialized (
              select *
              from "block"
              where position <= 1000
            )
          select
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
                            "block"."blue_score"::text as "blueScore",
                            "block"."daa_score"::text as "daaScore",
                            block.timestamp as "timestamp",
                            block.is_chain_block as "isChainBlock",
                            case
                              when block.is_blue then 'blue'
                              when not block.is_blue then 'red'
                            end as "color",
                            encode("merging"."hash", 'hex') as "mergingBlockHash",
                            block.transaction_count as "transactionCount"
                        ) object
                    ) as item
                  from
                    page
                    join blocks block on block.id = page.key
                    left join blocks merging on merging.id = block.merging_block_id
                  order by page.position
                ) listed
            )
        ),
        'transactions',
        (
          with
            page as materialized (
              select *
              from shown
            )
          select
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
                  order by page.position
                ) listed
            )
        )
      )
    end
  )::text as body
from state;

-- readJson of packages/reads/src/index-state/statement.ts: include=tags
--   like readJson of packages/reads/src/index-state/statement.ts, except:
--                )
--            ),
--   +        'tags',
--   +        (
--   +          with
--   +            page as materialized (
--   +              select *
--   +              from shown
--   +            )
--   +          select
--   +            (
--   +              select
--   +                coalesce(
--   +                  json_object_agg(touched.address, touched.tag) filter (
--   +                    where touched.tag is not null
--   +                  ),
--   +                  '{}'
--   +                )
--   +              from
--   +                (
--   +                  select
--   +                    scripts.address,
--   +                    coalesce(
--   +                      (
--   +                        select to_json(tag)
--   +                        from
--   +                          (
--   +                            select
--   +                              address,
--   +                              name,
--   +                              link,
--   +                              labels
--   +                            from tags
--   +                            where tags.address = scripts.address
--   +                          ) tag
--   +                      ),
--   +                      (
--   +                        select to_json(tag)
--   +                        from
--   +                          (
--   +                            select
--   +                              scripts.address as address,
--   +                              name,
--   +                              link,
--   +                              labels,
--   +                              true as "isGuessed"
--   +                            from clusters
--   +                            where
--   +                              id = (
--   +                                select above.root_id
--   +                                from
--   +                                  (
--   +                                    select scripts.id as script_id
--   +                                  ) given
--   +                                  cross join lateral (
--   +                                    with recursive
--   +                                      up as (
--   +                                        select
--   +                                          m.script_id as root_id,
--   +                                          m.parent_id
--   +                                        from cluster_members m
--   +                                        where m.script_id = given.script_id
--   +                                        union all
--   +                                        select
--   +                                          m.script_id,
--   +                                          m.parent_id
--   +                                        from
--   +                                          up
--   +                                          join cluster_members m on m.script_id = up.parent_id
--   +                                      )
--   +                                    select up.root_id
--   +                                    from up
--   +                                    where up.parent_id is null
--   +                                  ) above
--   +                              )
--   +                            offset 0
--   +                          ) tag
--   +                        where name is not null
--   +                      )
--   +                    ) as tag
--   +                  from
--   +                    unnest(
--   +                      array(
--   +                        select distinct
--   +                          script_deltas.script_id
--   +                        from
--   +                          (
--   +                            select page.key
--   +                            from page
--   +                          ) listed
--   +                          join script_deltas on script_deltas.transaction_id = listed.key
--   +                      )
--   +                    ) within (script_id)
--   +                    join scripts on scripts.id = within.script_id
--   +                    and scripts.address is not null
--   +                ) touched
--   +            )
--   +        ),
--            'truncated',
--            true
--   …
--                    ) listed
--                )
--   +        ),
--   +        'tags',
--   +        (
--   +          with
--   +            page as materialized (
--   +              select *
--   +              from shown
--   +            )
--   +          select
--   +            (
--   +              select
--   +                coalesce(
--   +                  json_object_agg(touched.address, touched.tag) filter (
--   +                    where touched.tag is not null
--   +                  ),
--   +                  '{}'
--   +                )
--   +              from
--   +                (
--   +                  select
--   +                    scripts.address,
--   +                    coalesce(
--   +                      (
--   +                        select to_json(tag)
--   +                        from
--   +                          (
--   +                            select
--   +                              address,
--   +                              name,
--   +                              link,
--   +                              labels
--   +                            from tags
--   +                            where tags.address = scripts.address
--   +                          ) tag
--   +                      ),
--   +                      (
--   +                        select to_json(tag)
--   +                        from
--   +                          (
--   +                            select
--   +                              scripts.address as address,
--   +                              name,
--   +                              link,
--   +                              labels,
--   +                              true as "isGuessed"
--   +                            from clusters
--   +                            where
--   +                              id = (
--   +                                select above.root_id
--   +                                from
--   +                                  (
--   +                                    select scripts.id as script_id
--   +                                  ) given
--   +                                  cross join lateral (
--   +                                    with recursive
--   +                                      up as (
--   +                                        select
--   +                                          m.script_id as root_id,
--   +                                          m.parent_id
--   +                                        from cluster_members m
--   +                                        where m.script_id = given.script_id
--   +                                        union all
--   +                                        select
--   +                                          m.script_id,
--   +                                          m.parent_id
--   +                                        from
--   +                                          up
--   +                                          join cluster_members m on m.script_id = up.parent_id
--   +                                      )
--   +                                    select up.root_id
--   +                                    from up
--   +                                    where up.parent_id is null
--   +                                  ) above
--   +                              )
--   +                            offset 0
--   +                          ) tag
--   +                        where name is not null
--   +                      )
--   +                    ) as tag
--   +                  from
--   +                    unnest(
--   +                      array(
--   +                        select distinct
--   +                          script_deltas.script_id
--   +                        from
--   +                          (
--   +                            select page.key
--   +                            from page
--   +                          ) listed
--   +                          join script_deltas on script_deltas.transaction_id = listed.key
--   +                      )
--   +                    ) within (script_id)
--   +                    join scripts on scripts.id = within.script_id
--   +                    and scripts.address is not null
--   +                ) touched
--   +            )
--            )
--          )

-- readJson of packages/reads/src/index-state/statement.ts: include=programs
--   like readJson of packages/reads/src/index-state/statement.ts, except:
--                    when transactions.accepted_variant > 0 then (variant_of (transactions.id, transactions.accepted_variant)).json_bytes
--                    else transactions.json_bytes
--   -              end as estimate,
--   +              end + 2 * octet_length(transactions.payload) as estimate,
--                  sum(
--                    case
--                      when transactions.accepted_variant > 0 then (variant_of (transactions.id, transactions.accepted_variant)).json_bytes
--                      else transactions.json_bytes
--   -                end + 19930 * (
--   +                end + 2 * octet_length(transactions.payload) + 19930 * (
--                      select count(*)
--                      from transaction_inputs
--   …
--        where
--          position = 1
--   -      or bytes_until <= 67108864
--   +      or bytes_until <= 8388608
--      )
--    select
--   …
--                                "transactions"."lock_time"::text as "lockTime",
--                                "transactions"."gas"::text as "gas",
--   +                            case
--   +                              when octet_length(transactions.payload) = 0 then ''
--   +                              else '0x' || encode(transactions.payload, 'hex')
--   +                            end as "payload",
--                                containing."blockHashes" as "blockHashes",
--                                containing."blockCount" as "blockCount",
--   …
--                                                    else "input"."compute_budget"
--                                                  end as "computeBudget",
--   +                                              script.version as "spentScriptVersion",
--                                                  case
--                                                    when (
--   …
--                                                    else "input"."sig_op_count"
--                                                  end as "sigOpCount",
--   +                                              script.version as "spentScriptVersion",
--                                                  case
--                                                    when (
--   …
--                                                      ) object
--                                                  ) as "covenant",
--   +                                              events.kinds ->> encode(output.covenant_id, 'hex') as "covenantEvent",
--                                                  coalesce(spending.accepted, spending.other) as "spentBy",
--                                                  spending.accepted is not null as "isSpent"
--   …
--                                                  script.address as "scriptPublicKeyAddress",
--                                                  script.type as "scriptPublicKeyType",
--   +                                              events.kinds ->> encode(output.covenant_id, 'hex') as "covenantEvent",
--                                                  coalesce(spending.accepted, spending.other) as "spentBy",
--                                                  spending.accepted is not null as "isSpent"
--   …
--                                            join transactions spender on spender.id = found.id
--                                        ) spending
--   +                                    cross join (
--   +                                      select jsonb_object_agg(encode(covenants.covenant_id, 'hex'), event.kind) as kinds
--   +                                      from
--   +                                        covenant_events event
--   +                                        join covenants on covenants.id = event.covenant_id
--   +                                      where
--   +                                        event.transaction_id = transactions.id
--   +                                        and event.chain_index = transactions.accepting_index
--   +                                      offset 0
--   +                                    ) events
--                                      where output.transaction_id = transactions.id
--                                      order by output.index
--   …
--                                "transactions"."lock_time"::text as "lockTime",
--                                "transactions"."gas"::text as "gas",
--   +                            case
--   +                              when octet_length(transactions.payload) = 0 then ''
--   +                              else '0x' || encode(transactions.payload, 'hex')
--   +                            end as "payload",
--                                containing."blockHashes" as "blockHashes",
--                                containing."blockCount" as "blockCount",
--   …
--                                                    else "input"."compute_budget"
--                                                  end as "computeBudget",
--   +                                              script.version as "spentScriptVersion",
--                                                  case
--                                                    when (
--   …
--                                                    else "input"."sig_op_count"
--                                                  end as "sigOpCount",
--   +                                              script.version as "spentScriptVersion",
--                                                  case
--                                                    when (
--   …
--                                                      ) object
--                                                  ) as "covenant",
--   +                                              events.kinds ->> encode(output.covenant_id, 'hex') as "covenantEvent",
--                                                  coalesce(spending.accepted, spending.other) as "spentBy",
--                                                  spending.accepted is not null as "isSpent"
--   …
--                                                  script.address as "scriptPublicKeyAddress",
--                                                  script.type as "scriptPublicKeyType",
--   +                                              events.kinds ->> encode(output.covenant_id, 'hex') as "covenantEvent",
--                                                  coalesce(spending.accepted, spending.other) as "spentBy",
--                                                  spending.accepted is not null as "isSpent"
--   …
--                                            join transactions spender on spender.id = found.id
--                                        ) spending
--   +                                    cross join (
--   +                                      select jsonb_object_agg(encode(covenants.covenant_id, 'hex'), event.kind) as kinds
--   +                                      from
--   +                                        covenant_events event
--   +                                        join covenants on covenants.id = event.covenant_id
--   +                                      where
--   +                                        event.transaction_id = transactions.id
--   +                                        and event.chain_index = transactions.accepting_index
--   +                                      offset 0
--   +                                    ) events
--                                      where output.transaction_id = transactions.id
--                                      order by output.index

-- readJson of packages/reads/src/index-state/statement.ts: include=tags,programs
--   like readJson of packages/reads/src/index-state/statement.ts, except:
--                    when transactions.accepted_variant > 0 then (variant_of (transactions.id, transactions.accepted_variant)).json_bytes
--                    else transactions.json_bytes
--   -              end as estimate,
--   +              end + 2 * octet_length(transactions.payload) as estimate,
--                  sum(
--                    case
--                      when transactions.accepted_variant > 0 then (variant_of (transactions.id, transactions.accepted_variant)).json_bytes
--                      else transactions.json_bytes
--   -                end + 19930 * (
--   +                end + 2 * octet_length(transactions.payload) + 19930 * (
--                      select count(*)
--                      from transaction_inputs
--   …
--        where
--          position = 1
--   -      or bytes_until <= 67108864
--   +      or bytes_until <= 8388608
--      )
--    select
--   …
--                                "transactions"."lock_time"::text as "lockTime",
--                                "transactions"."gas"::text as "gas",
--   +                            case
--   +                              when octet_length(transactions.payload) = 0 then ''
--   +                              else '0x' || encode(transactions.payload, 'hex')
--   +                            end as "payload",
--                                containing."blockHashes" as "blockHashes",
--                                containing."blockCount" as "blockCount",
--   …
--                                                    else "input"."compute_budget"
--                                                  end as "computeBudget",
--   +                                              script.version as "spentScriptVersion",
--                                                  case
--                                                    when (
--   …
--                                                    else "input"."sig_op_count"
--                                                  end as "sigOpCount",
--   +                                              script.version as "spentScriptVersion",
--                                                  case
--                                                    when (
--   …
--                                                      ) object
--                                                  ) as "covenant",
--   +                                              events.kinds ->> encode(output.covenant_id, 'hex') as "covenantEvent",
--                                                  coalesce(spending.accepted, spending.other) as "spentBy",
--                                                  spending.accepted is not null as "isSpent"
--   …
--                                                  script.address as "scriptPublicKeyAddress",
--                                                  script.type as "scriptPublicKeyType",
--   +                                              events.kinds ->> encode(output.covenant_id, 'hex') as "covenantEvent",
--                                                  coalesce(spending.accepted, spending.other) as "spentBy",
--                                                  spending.accepted is not null as "isSpent"
--   …
--                                            join transactions spender on spender.id = found.id
--                                        ) spending
--   +                                    cross join (
--   +                                      select jsonb_object_agg(encode(covenants.covenant_id, 'hex'), event.kind) as kinds
--   +                                      from
--   +                                        covenant_events event
--   +                                        join covenants on covenants.id = event.covenant_id
--   +                                      where
--   +                                        event.transaction_id = transactions.id
--   +                                        and event.chain_index = transactions.accepting_index
--   +                                      offset 0
--   +                                    ) events
--                                      where output.transaction_id = transactions.id
--                                      order by output.index
--   …
--                                "transactions"."lock_time"::text as "lockTime",
--                                "transactions"."gas"::text as "gas",
--   +                            case
--   +                              when octet_length(transactions.payload) = 0 then ''
--   +                              else '0x' || encode(transactions.payload, 'hex')
--   +                            end as "payload",
--                                containing."blockHashes" as "blockHashes",
--                                containing."blockCount" as "blockCount",
--   …
--                                                    else "input"."compute_budget"
--                                                  end as "computeBudget",
--   +                                              script.version as "spentScriptVersion",
--                                                  case
--                                                    when (
--   …
--                                                    else "input"."sig_op_count"
--                                                  end as "sigOpCount",
--   +                                              script.version as "spentScriptVersion",
--                                                  case
--                                                    when (
--   …
--                                                      ) object
--                                                  ) as "covenant",
--   +                                              events.kinds ->> encode(output.covenant_id, 'hex') as "covenantEvent",
--                                                  coalesce(spending.accepted, spending.other) as "spentBy",
--                                                  spending.accepted is not null as "isSpent"
--   …
--                                                  script.address as "scriptPublicKeyAddress",
--                                                  script.type as "scriptPublicKeyType",
--   +                                              events.kinds ->> encode(output.covenant_id, 'hex') as "covenantEvent",
--                                                  coalesce(spending.accepted, spending.other) as "spentBy",
--                                                  spending.accepted is not null as "isSpent"
--   …
--                                            join transactions spender on spender.id = found.id
--                                        ) spending
--   +                                    cross join (
--   +                                      select jsonb_object_agg(encode(covenants.covenant_id, 'hex'), event.kind) as kinds
--   +                                      from
--   +                                        covenant_events event
--   +                                        join covenants on covenants.id = event.covenant_id
--   +                                      where
--   +                                        event.transaction_id = transactions.id
--   +                                        and event.chain_index = transactions.accepting_index
--   +                                      offset 0
--   +                                    ) events
--                                      where output.transaction_id = transactions.id
--                                      order by output.index
