-- The statements of this area as Postgres gets them, by operation. `npm run generate:statements` writes this file, and test/statements compares it
-- and lets Postgres describe each statement. A statement is shown where it is sent first.
--
-- Filters, cursors, directions and `include` choose the pieces of a statement. Each value of each parameter is tried with the example of its operation,
-- never two parameters together, and SQL that this leaves out by further requests. So every piece is here, and not every combination. A statement that is
-- like an earlier one of its operation is shown as the lines that differ, if these are fewer.

-- getVirtualChainFromBlock ----------------------------------------------------------------------------

-- listPath of packages/reads/src/selects/segments.ts
select
  b.id,
  encode(b.hash, 'hex') as hash,
  b.blue_score as "blueScore",
  b.blue_work as "blueWork",
  b.merge_set_blues || b.merge_set_reds as "mergeSet",
  path.index
from
  (
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
        where hash = $1
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
  ) path
  join blocks b on b.id = path.id
order by path.depth;

-- listChain of packages/api/src/resources/chain/virtual-chain.ts
select
  c.index,
  encode(b.hash, 'hex') as hash,
  cardinality(b.merge_set_blues) + cardinality(b.merge_set_reds) as merged
from
  chain_blocks c
  join blocks b on b.id = c.block_id
where c.index > $1
order by c.index
limit $2;

-- loadAccepted of packages/api/src/resources/chain/virtual-chain.ts
with
  within as materialized (
    select
      index,
      accepted_transactions
    from
      (
        select
          index,
          accepted_transactions,
          sum(cardinality(accepted_transactions)) over (
            order by index
          ) as accepted,
          row_number() over (
            order by index
          ) as position
        from chain_blocks
        where
          index > $1
          and index <= $2
      ) as range
    where
      accepted <= $3
      or position = 1
  ),
  wanted as materialized (
    select
      within.index,
      accepted.key,
      accepted.position
    from
      within
      cross join unnest(within.accepted_transactions) with ordinality as accepted (key, position)
  ),
  found as materialized (
    select
      id,
      transaction_id
    from transactions
    where
      id = any (
        array(
          select key
          from wanted
        )
      )
  ),
  joined as (
    select
      wanted.index,
      encode(
        string_agg(
          found.transaction_id,
          ''
          order by wanted.position
        ),
        'hex'
      ) as ids
    from
      wanted
      join found on found.id = wanted.key
    group by wanted.index
  )
select
  within.index,
  coalesce(joined.ids, '') as ids
from
  within
  left join joined on joined.index = within.index;

-- listGaps of packages/reads/src/selects/segments.ts: below a gap
select
  c.index,
  encode(b.hash, 'hex') as hash,
  b.blue_work as "blueWork",
  b.daa_score as "daaScore",
  b.timestamp,
  c.chain_time as "chainTime"
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
  join chain_blocks c on c.index in (lower.index, upper.index)
  join blocks b on b.id = c.block_id
order by
  upper.index,
  c.index;

-- listChain of packages/api/src/resources/chain/virtual-chain.ts: below a gap
select
  c.index,
  encode(b.hash, 'hex') as hash,
  cardinality(b.merge_set_blues) + cardinality(b.merge_set_reds) as merged
from
  chain_blocks c
  join blocks b on b.id = c.block_id
where
  c.index > $1
  and c.index <= $2
order by c.index
limit $3;

-- getBlocks -------------------------------------------------------------------------------------------

-- listPath of packages/reads/src/selects/segments.ts: in node-rpc-proxy.sql, getVirtualChainFromBlock

-- mergeSetsAbove of packages/api/src/resources/blocks/get-blocks.ts
select
  c.block_id as id,
  c.index,
  array_agg(
    m.id
    order by
      m.id = b.selected_parent_id desc,
      m.blue_work,
      m.hash
  ) as merge_set
from
  chain_blocks c
  join blocks b on b.id = c.block_id
  join blocks m on m.id = any (b.merge_set_blues || b.merge_set_reds)
where
  c.index > $1
  and c.index <= $2
group by
  c.index,
  c.block_id
order by c.index;

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
  "page" as materialized (
    select *
    from unnest($1::bigint[]) with ordinality as page (key, position)
  )
select
  (
    (
      select coalesce(json_agg(listed.item), '[]')
      from
        (
          select encode("blocks"."hash", 'hex') as item
          from
            page
            join blocks on blocks.id = page.key
          order by page.position
        ) listed
    )
  )::text as body
from state;

-- readJson of packages/reads/src/index-state/statement.ts
--   like readJson of packages/reads/src/index-state/statement.ts, except:
--          from
--            (
--   -          select encode("blocks"."hash", 'hex') as item
--   +          select
--   +            (
--   +              select to_json(object)
--   +              from
--   +                (
--   +                  select
--   +                    (
--   +                      select to_json(object)
--   +                      from
--   +                        (
--   +                          select
--   +                            encode("block"."hash", 'hex') as "hash",
--   +                            block.version as "version",
--   +                            (
--   +                              select
--   +                                case
--   +                                  when count(*) = 0 then '[]'
--   +                                  else '[["' || string_agg(
--   +                                    parent.hash,
--   +                                    '","'
--   +                                    order by parent.index
--   +                                  ) || '"]' || unpack_parents (block.parents_by_level) || ']'
--   +                                end
--   +                              from
--   +                                (
--   +                                  select
--   +                                    encode(
--   +                                      coalesce(
--   +                                        (
--   +                                          select hash
--   +                                          from blocks
--   +                                          where id = link.parent_id
--   +                                        ),
--   +                                        pre_bootstrap_block_hash (link.parent_id)
--   +                                      ),
--   +                                      'hex'
--   +                                    ) as hash,
--   +                                    link.index
--   +                                  from block_parents link
--   +                                  where link.block_id = block.id
--   +                                ) parent
--   +                            )::json as "parentsByLevel",
--   +                            encode("block"."hash_merkle_root", 'hex') as "hashMerkleRoot",
--   +                            encode("block"."accepted_id_merkle_root", 'hex') as "acceptedIdMerkleRoot",
--   +                            encode("block"."utxo_commitment", 'hex') as "utxoCommitment",
--   +                            "block"."timestamp"::text as "timestamp",
--   +                            block.bits as "bits",
--   +                            "block"."nonce"::text as "nonce",
--   +                            "block"."daa_score"::text as "daaScore",
--   +                            "block"."blue_work"::text as "blueWork",
--   +                            "block"."blue_score"::text as "blueScore",
--   +                            encode("block"."pruning_point", 'hex') as "pruningPoint"
--   +                        ) object
--   +                    ) as "header",
--   +                    (
--   +                      select to_json(object)
--   +                      from
--   +                        (
--   +                          select
--   +                            encode("block"."hash", 'hex') as "hash",
--   +                            5.78960446186581e76::float8 / nullif(
--   +                              case when block.bits & 16777215 <= 8388607 then floor((block.bits & 16777215) * 256::float8 ^ ((block.bits >> 24) - 3))
--   +                              end,
--   +                              0
--   +                            ) as "difficulty",
--   +                            coalesce(
--   +                              encode(
--   +                                coalesce(
--   +                                  (
--   +                                    select hash
--   +                                    from blocks
--   +                                    where id = block.selected_parent_id
--   +                                  ),
--   +                                  pre_bootstrap_block_hash (block.selected_parent_id)
--   +                                ),
--   +                                'hex'
--   +                              ),
--   +                              'fefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefe'
--   +                            ) as "selectedParentHash",
--   +                            (
--   +                              select coalesce(json_agg(listed.item), '[]')
--   +                              from
--   +                                (
--   +                                  select encode("transactions"."transaction_id", 'hex') as item
--   +                                  from
--   +                                    block_transactions contained
--   +                                    join transactions on transactions.id = contained.transaction_id
--   +                                  where contained.block_id = block.id
--   +                                  order by contained.index
--   +                                ) listed
--   +                            ) as "transactionIds",
--   +                            false as "isHeaderOnly",
--   +                            block.blue_score as "blueScore",
--   +                            (
--   +                              select coalesce(json_agg(listed.item), '[]')
--   +                              from
--   +                                (
--   +                                  select encode("child"."hash", 'hex') as item
--   +                                  from
--   +                                    block_parents link
--   +                                    join blocks child on child.id = link.block_id
--   +                                  where link.parent_id = block.id
--   +                                ) listed
--   +                            ) as "childrenHashes",
--   +                            (
--   +                              select coalesce(json_agg(listed.item), '[]')
--   +                              from
--   +                                (
--   +                                  select
--   +                                    encode(
--   +                                      coalesce(
--   +                                        (
--   +                                          select hash
--   +                                          from blocks
--   +                                          where id = merged.id
--   +                                        ),
--   +                                        pre_bootstrap_block_hash (merged.id)
--   +                                      ),
--   +                                      'hex'
--   +                                    ) as item
--   +                                  from unnest("block"."merge_set_blues") with ordinality as merged (id, position)
--   +                                  order by merged.position
--   +                                ) listed
--   +                            ) as "mergeSetBluesHashes",
--   +                            (
--   +                              select coalesce(json_agg(listed.item), '[]')
--   +                              from
--   +                                (
--   +                                  select
--   +                                    encode(
--   +                                      coalesce(
--   +                                        (
--   +                                          select hash
--   +                                          from blocks
--   +                                          where id = merged.id
--   +                                        ),
--   +                                        pre_bootstrap_block_hash (merged.id)
--   +                                      ),
--   +                                      'hex'
--   +                                    ) as item
--   +                                  from unnest("block"."merge_set_reds") with ordinality as merged (id, position)
--   +                                  order by merged.position
--   +                                ) listed
--   +                            ) as "mergeSetRedsHashes",
--   +                            block.is_chain_block as "isChainBlock"
--   +                        ) object
--   +                    ) as "verboseData"
--   +                ) object
--   +            ) as item
--              from
--                page
--   -            join blocks on blocks.id = page.key
--   +            join blocks block on block.id = page.key
--              order by page.position
--            ) listed

-- findMasses of packages/api/src/resources/blocks/get-blocks.ts: includeTransactions=true
select
  "contained"."block_id",
  sum(transactions.compute_mass) as "mass"
from
  "block_transactions" as "contained"
  inner join "transactions" on "transactions"."id" = "contained"."transaction_id"
where "contained"."block_id" = any ($1::bigint[])
group by "contained"."block_id";

-- readJson of packages/reads/src/index-state/statement.ts: includeTransactions=true
--   like readJson of packages/reads/src/index-state/statement.ts, except:
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

-- getMempoolEntry -------------------------------------------------------------------------------------

-- None but those of every request.

-- getMempoolEntries -----------------------------------------------------------------------------------

-- None but those of every request.

-- getMempoolEntriesOfPools ----------------------------------------------------------------------------

-- None but those of every request.

-- getMempoolEntriesByAddresses ------------------------------------------------------------------------

-- None but those of every request.

-- getBlockTemplate ------------------------------------------------------------------------------------

-- None but those of every request.

-- getDaaScoreTimestampEstimate ------------------------------------------------------------------------

-- “times of DAA scores”
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
        select *
        from unnest($2::numeric[], $3::bigint[]) with ordinality as requested (exact_score, score, position)
      )
    select
      (
        select 'catching up'
        from
        checkpoint
        join chain_blocks sink on sink.index = checkpoint.chain_index
        where
          checkpoint.first_catch_up
          and exists (
            select
            from requested
            where score > sink.daa_score
          )
      )::text as problem,
      json_build_object(
        'timestamps',
        (
          select coalesce(json_agg(timestamp), '[]')
          from
            (
              select
                (
                  case
                    when at.timestamp is not null then at.timestamp
                    when lower.daa_score is null then upper.timestamp
                    when upper.daa_score is null then least(lower.timestamp + (requested.exact_score - lower.daa_score) * $4::bigint, 18446744073709551615)
                    when upper.timestamp <= lower.timestamp then lower.timestamp
                    else lower.timestamp + trunc(
                      (upper.timestamp - lower.timestamp)::float8 * (
                        (
                          (requested.score - lower.daa_score) * $5::bigint + greatest(least(requested.score, $6::bigint) - lower.daa_score, 0) * $7::bigint
                        )::float8 / (
                          (upper.daa_score - lower.daa_score) * $8::bigint + greatest(least(upper.daa_score, $9::bigint) - lower.daa_score, 0) * $10::bigint
                        )::float8
                      )
                    )::bigint
                  end
                )::text as timestamp
              from
                requested
                left join lateral (
                  select
                    daa_score,
                    timestamp
                  from chain_blocks
                  where daa_score = requested.score
                  order by index
                  limit 1
                ) at on true
                left join lateral (
                  select
                    daa_score,
                    timestamp
                  from chain_blocks
                  where daa_score < requested.score
                  order by
                    daa_score desc,
                    index desc
                  limit 1
                ) below on true
                left join lateral (
                  select
                    daa_score,
                    timestamp
                  from chain_blocks
                  where daa_score > requested.score
                  order by
                    daa_score,
                    index
                  limit 1
                ) above on true
                left join lateral (
                  select *
                  from
                    (
                      (
                        select
                          daa_score,
                          timestamp
                        from pre_bootstrap_times
                        where
                          below.daa_score is null
                          and daa_score < above.daa_score
                          and daa_score <= requested.score
                        order by daa_score desc
                        limit 1
                      )
                      union all
                      (
                        select
                          daa_score,
                          timestamp
                        from unnest($11::bigint[], $12::bigint[]) as known (daa_score, timestamp)
                        where
                          below.daa_score is null
                          and daa_score < above.daa_score
                          and daa_score <= requested.score
                        order by daa_score desc
                        limit 1
                      )
                    ) points
                  order by daa_score desc
                  limit 1
                ) known_below on at.timestamp is null
                left join lateral (
                  select *
                  from
                    (
                      (
                        select
                          daa_score,
                          timestamp
                        from pre_bootstrap_times
                        where
                          below.daa_score is null
                          and daa_score < above.daa_score
                          and daa_score > requested.score
                        order by daa_score
                        limit 1
                      )
                      union all
                      (
                        select
                          daa_score,
                          timestamp
                        from unnest($13::bigint[], $14::bigint[]) as known (daa_score, timestamp)
                        where
                          below.daa_score is null
                          and daa_score < above.daa_score
                          and daa_score > requested.score
                        order by daa_score
                        limit 1
                      )
                    ) points
                  order by daa_score
                  limit 1
                ) known_above on at.timestamp is null
                cross join lateral (
                  select
                    coalesce(below.daa_score, known_below.daa_score) as daa_score,
                    coalesce(below.timestamp, known_below.timestamp) as timestamp
                ) lower
                cross join lateral (
                  select
                    coalesce(known_above.daa_score, above.daa_score) as daa_score,
                    coalesce(known_above.timestamp, above.timestamp) as timestamp
                ) upper
              order by requested.position
            ) listed
        )
      )::json as body
  ) content;

-- estimateNetworkHashesPerSecond ----------------------------------------------------------------------

-- findLowestBlock of packages/reads/src/selects/segments.ts: in status.sql, getStatus

-- getWindow of packages/api/src/resources/chain/hash-rate.ts
with
  merged as (
    select
      b.blue_work,
      b.hash,
      b.timestamp
    from blocks b
    where
      b.blue_work < $1
      and b.blue_work >= $2
      and b.hash <> $3
      and exists (
        select
        from
          chain_blocks c
          join blocks merging on merging.id = c.block_id
        where
          c.block_id = b.merging_block_id
          and c.index <= $4
          and c.index > $5
          and merging.blue_score <= b.blue_score + $6
        offset 0
      )
    order by
      b.blue_work desc,
      b.hash desc
    limit $7
  ),
  more as (
    select
      b.blue_work,
      b.hash,
      b.timestamp
    from
      unnest($8::bigint[], $9::bigint[]) as added (id, merging_blue_score)
      join blocks b on b.id = added.id
    where
      b.blue_work >= $10
      and b.hash <> $11
      and added.merging_blue_score <= b.blue_score + $12
  ),
  top as (
    select *
    from
      (
        select *
        from merged
        union all
        select *
        from more
      ) as past
    order by
      blue_work desc,
      hash desc
    limit $13
  )
select
  count(*) as blocks,
  min(blue_work) as "minBlueWork",
  max(blue_work) as "maxBlueWork",
  min(timestamp) as "minTimestamp",
  max(timestamp) as "maxTimestamp"
from top;

-- listPath of packages/reads/src/selects/segments.ts: in node-rpc-proxy.sql, getVirtualChainFromBlock

-- isPreBootstrap of packages/reads/src/selects/segments.ts: startHash=…
select
from pre_bootstrap_blocks
where id = any ($1::bigint[])
limit 1;

-- getBalanceByAddress ---------------------------------------------------------------------------------

-- “balance”
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
        'balance',
        coalesce(
          (
            select balance
            from balances
            where
              script_id = (
                select id
                from scripts
                where address = $2::text
              )
          ),
          0
        )::text
      )::json as body
  ) content;

-- “balance, together”: several at once
--   like “balance”, except:
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
--   +  cross join unnest($2::text[]) with ordinality as given ("address", "position")
--      cross join lateral (
--        select
--   …
--                    select id
--                    from scripts
--   -                where address = $2::text
--   +                where address = "given"."address"
--                  )
--              ),
--   …
--            )::text
--          )::json as body
--   -  ) content
--   \ No newline at end of file
--   +  ) content
--   +order by given.position
--   \ No newline at end of file

-- getCurrentNetwork -----------------------------------------------------------------------------------

-- None but those of every request.

-- getCoinSupply ---------------------------------------------------------------------------------------

-- None but those of every request.

-- getBlock --------------------------------------------------------------------------------------------

-- “block yes”
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
                      select coalesce(json_agg(listed.item), '[]')
                      from
                        (
                          select
                            (
                              select to_json(object)
                              from
                                (
                                  select
                                    transactions.version as "version",
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
                                                      ) as "previousOutpoint",
                                                      "input"."sequence"::text as "sequence",
                                                      case
                                                        when contained.variant > 0 then (variant_input (input.transaction_id, contained.variant, input.index))."sig_op_count"
                                                        else "input"."sig_op_count"
                                                      end as "sigOpCount",
                                                      encode(
                                                        case
                                                          when contained.variant > 0 then (variant_input (input.transaction_id, contained.variant, input.index))."signature_script"
                                                          else "input"."signature_script"
                                                        end,
                                                        'hex'
                                                      ) as "signatureScript",
                                                      case
                                                        when contained.variant > 0 then (variant_input (input.transaction_id, contained.variant, input.index))."compute_budget"
                                                        else "input"."compute_budget"
                                                      end as "computeBudget"
                                                  ) object
                                              )
                                              else (
                                                select to_json(object)
                                                from
                                                  (
                                                    select
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
                                                      ) as "previousOutpoint",
                                                      "input"."sequence"::text as "sequence",
                                                      case
                                                        when contained.variant > 0 then (variant_input (input.transaction_id, contained.variant, input.index))."sig_op_count"
                                                        else "input"."sig_op_count"
                                                      end as "sigOpCount",
                                                      encode(
                                                        case
                                                          when contained.variant > 0 then (variant_input (input.transaction_id, contained.variant, input.index))."signature_script"
                                                          else "input"."signature_script"
                                                        end,
                                                        'hex'
                                                      ) as "signatureScript"
                                                  ) object
                                              )
                                            end as item
                                          from
                                            transaction_inputs input
                                            left join transactions previous on previous.id = input.previous_transaction_id
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
                                              when script.address is not null then case
                                                when output.covenant_id is not null then (
                                                  select to_json(object)
                                                  from
                                                    (
                                                      select
                                                        "output"."amount"::text as "value",
                                                        lpad(to_hex("script"."version"), 4, '0') || encode("script"."script", 'hex') as "scriptPublicKey",
                                                        (
                                                          select to_json(object)
                                                          from
                                                            (
                                                              select
                                                                script.type as "scriptPublicKeyType",
                                                                script.address as "scriptPublicKeyAddress"
                                                            ) object
                                                        ) as "verboseData",
                                                        (
                                                          select to_json(object)
                                                          from
                                                            (
                                                              select
                                                                output.covenant_authorizing_input as "authorizingInput",
                                                                encode("output"."covenant_id", 'hex') as "covenantId"
                                                            ) object
                                                        ) as "covenant"
                                                    ) object
                                                )
                                                else (
                                                  select to_json(object)
                                                  from
                                                    (
                                                      select
                                                        "output"."amount"::text as "value",
                                                        lpad(to_hex("script"."version"), 4, '0') || encode("script"."script", 'hex') as "scriptPublicKey",
                                                        (
                                                          select to_json(object)
                                                          from
                                                            (
                                                              select
                                                                script.type as "scriptPublicKeyType",
                                                                script.address as "scriptPublicKeyAddress"
                                                            ) object
                                                        ) as "verboseData"
                                                    ) object
                                                )
                                              end
                                              else case
                                                when output.covenant_id is not null then (
                                                  select to_json(object)
                                                  from
                                                    (
                                                      select
                                                        "output"."amount"::text as "value",
                                                        lpad(to_hex("script"."version"), 4, '0') || encode("script"."script", 'hex') as "scriptPublicKey",
                                                        (
                                                          select to_json(object)
                                                          from
                                                            (
                                                              select
                                                                output.covenant_authorizing_input as "authorizingInput",
                                                                encode("output"."covenant_id", 'hex') as "covenantId"
                                                            ) object
                                                        ) as "covenant"
                                                    ) object
                                                )
                                                else (
                                                  select to_json(object)
                                                  from
                                                    (
                                                      select
                                                        "output"."amount"::text as "value",
                                                        lpad(to_hex("script"."version"), 4, '0') || encode("script"."script", 'hex') as "scriptPublicKey"
                                                    ) object
                                                )
                                              end
                                            end as item
                                          from
                                            transaction_outputs output
                                            join scripts script on script.id = output.script_id
                                          where output.transaction_id = transactions.id
                                          order by output.index
                                        ) listed
                                    ) as "outputs",
                                    "transactions"."lock_time"::text as "lockTime",
                                    encode("subnetworks"."subnetwork_id", 'hex') as "subnetworkId",
                                    "transactions"."gas"::text as "gas",
                                    case
                                      when octet_length(transactions.payload) = 0 then ''
                                      else '0x' || encode(transactions.payload, 'hex')
                                    end as "payload",
                                    (
                                      case
                                        when contained.variant > 0 then (variant_of (transactions.id, contained.variant))."storage_mass"
                                        else "transactions"."storage_mass"
                                      end
                                    )::text as "mass",
                                    (
                                      select to_json(object)
                                      from
                                        (
                                          select
                                            encode("transactions"."transaction_id", 'hex') as "transactionId",
                                            encode(
                                              case
                                                when contained.variant > 0 then (variant_of (transactions.id, contained.variant))."hash"
                                                else "transactions"."hash"
                                              end,
                                              'hex'
                                            ) as "hash",
                                            (
                                              case
                                                when contained.variant > 0 then (variant_of (transactions.id, contained.variant))."compute_mass"
                                                else "transactions"."compute_mass"
                                              end
                                            )::text as "computeMass",
                                            encode("block"."hash", 'hex') as "blockHash",
                                            "block"."timestamp"::text as "blockTime"
                                        ) object
                                    ) as "verboseData"
                                ) object
                            ) as item
                          from
                            block_transactions contained
                            join transactions on transactions.id = contained.transaction_id
                            join subnetworks on subnetworks.id = transactions.subnetwork_id
                          where contained.block_id = block.id
                          order by contained.index
                        ) listed
                    ) as "transactions",
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
                    ) as "verboseData"
                ) object
            )
          from
            block
            left join blocks merging on merging.id = block.merging_block_id
        )
      )::json as body
  ) content;

-- “block no”: includeTransactions=false
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
                    ) as "verboseData"
                ) object
            )
          from
            block
            left join blocks merging on merging.id = block.merging_block_id
        )
      )::json as body
  ) content;

-- getBlockDagInfo -------------------------------------------------------------------------------------

-- None but those of every request.

-- getBlockCount ---------------------------------------------------------------------------------------

-- None but those of every request.

-- getSink ---------------------------------------------------------------------------------------------

-- None but those of every request.

-- getSinkBlueScore ------------------------------------------------------------------------------------

-- None but those of every request.

-- getBalancesByAddresses ------------------------------------------------------------------------------

-- “balances”
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
        'entries',
        (
          select coalesce(json_agg(listed), '[]')
          from
            (
              select
                requested.address,
                coalesce(balances.balance, 0)::text as balance
              from
                unnest($2::text[]) with ordinality as requested (address, position)
                left join scripts on scripts.address = requested.address
                left join balances on balances.script_id = scripts.id
              order by requested.position
            ) listed
        )
      )::json as body
  ) content;

-- getUtxosByAddresses ---------------------------------------------------------------------------------

-- “utxos of addresses”
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
      "utxo" as materialized (
        select
          requested.address,
          requested.position,
          scripts.version,
          scripts.script,
          held.*
        from
          unnest($2::text[]) with ordinality as requested (address, position)
          join scripts on scripts.address = requested.address
          cross join lateral (
            select *
            from utxos
            where script_id = scripts.id
            limit 10001
          ) held
        limit 10001
      )
    select
      case
        when (
          select count(*)
          from utxo
        ) > 10000 then 'too many'
      end::text as problem,
      json_build_object(
        'entries',
        (
          select coalesce(json_agg(listed), '[]')
          from
            (
              select
                utxo.address,
                json_build_object(
                  'transactionId',
                  encode(coalesce(transactions.transaction_id, earlier.transaction_id), 'hex'),
                  'index',
                  utxo.index
                ) as outpoint,
                case
                  when utxo.covenant_id is null then (
                    select to_json(item)
                    from
                      (
                        select
                          utxo.amount::text as amount,
                          lpad(to_hex(utxo.version), 4, '0') || encode(utxo.script, 'hex') as "scriptPublicKey",
                          utxo.block_daa_score::text as "blockDaaScore",
                          utxo.is_coinbase as "isCoinbase"
                      ) item
                  )
                  else (
                    select to_json(item)
                    from
                      (
                        select
                          utxo.amount::text as amount,
                          lpad(to_hex(utxo.version), 4, '0') || encode(utxo.script, 'hex') as "scriptPublicKey",
                          utxo.block_daa_score::text as "blockDaaScore",
                          utxo.is_coinbase as "isCoinbase",
                          encode(utxo.covenant_id, 'hex') as "covenantId"
                      ) item
                  )
                end as "utxoEntry"
              from
                utxo
                left join transactions on transactions.id = utxo.transaction_id
                left join pre_bootstrap_transactions earlier on earlier.id = utxo.transaction_id
              order by
                utxo.position,
                utxo.transaction_id,
                utxo.index
            ) listed
        )
      )::json as body
  ) content;

-- getFeeEstimate --------------------------------------------------------------------------------------

-- None but those of every request.

-- getInfo ---------------------------------------------------------------------------------------------

-- None but those of every request.

-- getServerInfo ---------------------------------------------------------------------------------------

-- None but those of every request.

-- getSubnetwork ---------------------------------------------------------------------------------------

-- None but those of every request.

-- getSeqCommitLaneProof -------------------------------------------------------------------------------

-- None but those of every request.
