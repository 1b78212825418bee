-- Schema kaspa: what analysts ask. It is a contract with a version (docs/sql.md): views keep their columns and types until the version changes,
-- whatever becomes of the tables below them. Hashes and ids are lower-case hex, times are timestamptz, amounts are in sompi and in KAS.
--
-- Views read with the rights of their owner, so who asks them needs no right on a table. That goes for tables only: a function in a view runs with
-- the rights of who asks, so what climbs to the root of a cluster is written out.
--
-- What a filter may begin with is joined, by left joins on unique keys: Postgres leaves out those whose columns nobody asked for. All else is looked
-- up for the rows that come out, so that what an analyst joins is planned as one: Postgres plans no more than eight tables together.

create schema kaspa;
comment on schema kaspa is 'The public contract: views and functions for analysts, version 1.';

-- What filters and orders of the views find. Hash indexes hold four bytes of a text, not the text.
create index transactions_transaction_id_text on transactions using hash (encode(transaction_id, 'hex'));
create index blocks_hash_text on blocks using hash (encode(hash, 'hex'));
create index earlier_blocks_hash_text on earlier_blocks using hash (encode(hash, 'hex'));
create index scripts_address on scripts using hash (address);
create index scripts_without_address on scripts (id) where address is null;
create index address_transactions_transaction_id on address_transactions (transaction_id);
create index blocks_time on blocks (to_timestamp(timestamp / 1000::double precision));
create index chain_blocks_time on chain_blocks (to_timestamp(timestamp / 1000::double precision));
create index chain_blocks_chain_time on chain_blocks (to_timestamp(chain_time / 1000::double precision));
create index network_intervals_time on network_intervals (length, to_timestamp(start / 1000::double precision));

create function kaspa.schema_version() returns integer language sql immutable parallel safe as 'select 1';
comment on function kaspa.schema_version() is 'Version of this contract. While it stays, no view or column of it goes away or changes its type or meaning; new ones may come.';

create view kaspa.blocks as
select encode(b.hash, 'hex') as hash,
       to_timestamp(b.timestamp / 1000::double precision) as time,
       b.blue_score,
       b.daa_score,
       b.blue_work,
       b.version,
       b.bits,
       5.78960446186581e76::double precision
         / nullif(case when b.bits & 16777215 <= 8388607
                       then floor((b.bits & 16777215) * 256::double precision ^ ((b.bits >> 24) - 3)) end, 0) as difficulty,
       b.nonce,
       b.is_chain_block,
       case b.is_blue when true then 'blue' when false then 'red' end as color,
       coalesce((select encode(p.hash, 'hex') from blocks p where p.id = b.selected_parent_id),
                (select encode(e.hash, 'hex') from earlier_blocks e where e.id = b.selected_parent_id)) as selected_parent_hash,
       (select encode(m.hash, 'hex') from blocks m where m.id = b.merging_block_id) as merging_block_hash,
       (select to_timestamp(m.timestamp / 1000::double precision) from blocks m where m.id = b.merging_block_id) as merged_at,
       (select count(*) from block_transactions t where t.block_id = b.id) as transaction_count,
       encode(b.pruning_point, 'hex') as pruning_point,
       encode(b.utxo_commitment, 'hex') as utxo_commitment,
       encode(b.hash_merkle_root, 'hex') as hash_merkle_root,
       encode(b.accepted_id_merkle_root, 'hex') as accepted_id_merkle_root,
       b.id as block_key
  from blocks b;
comment on view kaspa.blocks is 'Every block seen: header, and what the chain made of it. Fast by hash, and by time.';
comment on column kaspa.blocks.hash is 'Block hash.';
comment on column kaspa.blocks.time is 'Time of the header, as claimed by the miner.';
comment on column kaspa.blocks.blue_score is 'Number of blue blocks in its past.';
comment on column kaspa.blocks.daa_score is 'Difficulty adjustment score: about the number of blocks in its past, red ones too.';
comment on column kaspa.blocks.blue_work is 'Accumulated work of its blue past.';
comment on column kaspa.blocks.version is 'Header version.';
comment on column kaspa.blocks.bits is 'Compact difficulty target.';
comment on column kaspa.blocks.difficulty is 'The largest target divided by the target of bits.';
comment on column kaspa.blocks.nonce is 'Proof-of-work nonce.';
comment on column kaspa.blocks.is_chain_block is 'Whether it is on the virtual selected parent chain now.';
comment on column kaspa.blocks.color is 'blue or red, as the chain block that merges it says; null while it is not merged.';
comment on column kaspa.blocks.selected_parent_hash is 'Its selected parent; null for genesis.';
comment on column kaspa.blocks.merging_block_hash is 'Chain block that merges it; null while it is not merged.';
comment on column kaspa.blocks.merged_at is 'Time of the merging block.';
comment on column kaspa.blocks.transaction_count is 'Number of transactions in it, the coinbase included, accepted or not.';
comment on column kaspa.blocks.pruning_point is 'Pruning point of the header.';
comment on column kaspa.blocks.utxo_commitment is 'MuHash of the UTXO set.';
comment on column kaspa.blocks.hash_merkle_root is 'Merkle root of the hashes of its transactions.';
comment on column kaspa.blocks.accepted_id_merkle_root is 'Commitment to the accepted transactions.';
comment on column kaspa.blocks.block_key is 'Key of the block. Joins views fast; differs from one database to another.';

create view kaspa.chain_blocks as
select c.index,
       encode(b.hash, 'hex') as hash,
       to_timestamp(c.timestamp / 1000::double precision) as time,
       to_timestamp(c.chain_time / 1000::double precision) as chain_time,
       b.blue_score,
       c.daa_score,
       cardinality(c.accepted_transactions) as accepted_transaction_count,
       cardinality(b.merge_set_blues) as blue_count,
       cardinality(b.merge_set_reds) as red_count,
       c.block_id as block_key
  from chain_blocks c
  left join blocks b on b.id = c.block_id;
comment on view kaspa.chain_blocks is 'The virtual selected parent chain, from the start of the index to the sink. Fast by index, hash, time and chain_time.';
comment on column kaspa.chain_blocks.index is 'Position on the chain, from 0; the highest is the sink.';
comment on column kaspa.chain_blocks.hash is 'Block hash.';
comment on column kaspa.chain_blocks.time is 'Time of the header, as claimed by the miner: may be before that of the block below.';
comment on column kaspa.chain_blocks.chain_time is 'The latest time of this block and of those below it: never goes back. Rollups count by it.';
comment on column kaspa.chain_blocks.blue_score is 'Number of blue blocks in its past.';
comment on column kaspa.chain_blocks.daa_score is 'Difficulty adjustment score.';
comment on column kaspa.chain_blocks.accepted_transaction_count is 'Number of transactions it accepts, coinbases included.';
comment on column kaspa.chain_blocks.blue_count is 'Number of blue blocks in its mergeset, the selected parent included.';
comment on column kaspa.chain_blocks.red_count is 'Number of red blocks in its mergeset.';
comment on column kaspa.chain_blocks.block_key is 'Key of the block. Joins views fast; differs from one database to another.';

-- A parent is in one of the two tables: so a filter on either hash finds an index.
create view kaspa.block_parents as
select encode(b.hash, 'hex') as block_hash, p.index, encode(parent.hash, 'hex') as parent_hash, p.block_id as block_key
  from block_parents p
  join blocks b on b.id = p.block_id
  join blocks parent on parent.id = p.parent_id
union all
select encode(b.hash, 'hex'), p.index, encode(parent.hash, 'hex'), p.block_id
  from earlier_blocks parent
  join block_parents p on p.parent_id = parent.id
  join blocks b on b.id = p.block_id;
comment on view kaspa.block_parents is 'Direct parents of each block. Fast by either hash.';
comment on column kaspa.block_parents.block_hash is 'The child.';
comment on column kaspa.block_parents.index is 'Position among the parents in the header, from 0.';
comment on column kaspa.block_parents.parent_hash is 'The parent. Blocks before the start of the index are not in kaspa.blocks.';
comment on column kaspa.block_parents.block_key is 'Key of the child. Joins views fast; differs from one database to another.';

create view kaspa.block_transactions as
select encode(b.hash, 'hex') as block_hash, x.index, encode(t.transaction_id, 'hex') as transaction_id,
       x.block_id as block_key, x.transaction_id as transaction_key
  from block_transactions x
  left join blocks b on b.id = x.block_id
  left join transactions t on t.id = x.transaction_id;
comment on view kaspa.block_transactions is 'Which block contains which transaction, accepted or not. One transaction may be in several blocks. Fast by either column.';
comment on column kaspa.block_transactions.block_hash is 'The block.';
comment on column kaspa.block_transactions.index is 'Place in the block; 0 is the coinbase.';
comment on column kaspa.block_transactions.transaction_id is 'The transaction.';
comment on column kaspa.block_transactions.block_key is 'Key of the block. Joins views fast; differs from one database to another.';
comment on column kaspa.block_transactions.transaction_key is 'Key of the transaction. Joins views fast; differs from one database to another.';

-- Both conditions say the same: one is the way down from the chain block, the other the way up to it.
create view kaspa.mergesets as
select encode(c.hash, 'hex') as chain_block_hash, encode(b.hash, 'hex') as block_hash, case when b.is_blue then 'blue' else 'red' end as color,
       b.id as block_key, k.index as chain_index
  from chain_blocks k
  join blocks c on c.id = k.block_id
 cross join lateral unnest(c.merge_set_blues || c.merge_set_reds) merged (id)
  join blocks b on b.id = merged.id and b.merging_block_id = c.id;
comment on view kaspa.mergesets is 'Which chain block merges which block. Every merged block is here once. Fast by either hash, and by chain_index.';
comment on column kaspa.mergesets.chain_block_hash is 'The chain block.';
comment on column kaspa.mergesets.block_hash is 'A block of its mergeset; the selected parent is one.';
comment on column kaspa.mergesets.color is 'blue or red.';
comment on column kaspa.mergesets.block_key is 'Key of the merged block. Joins views fast; differs from one database to another.';
comment on column kaspa.mergesets.chain_index is 'Position of the chain block on the chain.';

create view kaspa.transactions as
select encode(t.transaction_id, 'hex') as transaction_id,
       to_timestamp(c.timestamp / 1000::double precision) as accepted_at,
       t.subnetwork_id = 1 as is_coinbase,
       case when t.accepting_block_id is null then 'not accepted' else 'accepted' end as acceptance,
       (select encode(b.hash, 'hex') from blocks b where b.id = t.accepting_block_id) as accepting_block_hash,
       (select b.blue_score from blocks b where b.id = t.accepting_block_id) as accepting_blue_score,
       t.fee as fee_sompi,
       t.fee * 0.00000001 as fee_kas,
       (select encode(n.subnetwork_id, 'hex') from subnetworks n where n.id = t.subnetwork_id) as subnetwork_id,
       t.version,
       t.lock_time,
       t.gas,
       encode(t.payload, 'hex') as payload,
       case when t.accepted_body > 0
            then (select x.storage_mass from transaction_bodies x where x.transaction_id = t.id and x.body = t.accepted_body)
            else t.storage_mass end as storage_mass,
       case when t.accepted_body > 0
            then (select x.compute_mass from transaction_bodies x where x.transaction_id = t.id and x.body = t.accepted_body)
            else t.compute_mass end as compute_mass,
       encode(case when t.accepted_body > 0
                   then (select x.hash from transaction_bodies x where x.transaction_id = t.id and x.body = t.accepted_body)
                   else t.hash end, 'hex') as hash,
       c.index as chain_index,
       t.id as transaction_key
  from transactions t
  left join chain_blocks c on c.block_id = t.accepting_block_id;
comment on view kaspa.transactions is 'Every transaction seen in a block, once, accepted or not. Fast by transaction_id; for those of a time, go by kaspa.accepted_transactions.';
comment on column kaspa.transactions.transaction_id is 'Transaction id.';
comment on column kaspa.transactions.accepted_at is 'Time of the accepting block; null while not accepted.';
comment on column kaspa.transactions.is_coinbase is 'Whether it is the coinbase of a block.';
comment on column kaspa.transactions.acceptance is 'accepted, or not accepted: only an accepted one has moved coins.';
comment on column kaspa.transactions.accepting_block_hash is 'Chain block that accepts it; null while not accepted.';
comment on column kaspa.transactions.accepting_blue_score is 'Blue score of that block.';
comment on column kaspa.transactions.fee_sompi is 'Inputs minus outputs; 0 for a coinbase; null while the coin of an input was never seen, which is so in transactions that were never accepted only.';
comment on column kaspa.transactions.fee_kas is 'The same in KAS.';
comment on column kaspa.transactions.subnetwork_id is 'Subnetwork: 0000… is the native one, 0100… that of coinbases.';
comment on column kaspa.transactions.version is 'Transaction version.';
comment on column kaspa.transactions.lock_time is 'Lock time.';
comment on column kaspa.transactions.gas is 'Gas.';
comment on column kaspa.transactions.payload is 'Payload, hex; empty for most.';
comment on column kaspa.transactions.storage_mass is 'Committed storage mass (KIP-9). Of several bodies of one id, this is that of the accepted one, else of the first.';
comment on column kaspa.transactions.compute_mass is 'Compute mass; of which body, as with storage_mass.';
comment on column kaspa.transactions.hash is 'Hash over everything, signatures included; of which body, as with storage_mass.';
comment on column kaspa.transactions.chain_index is 'Position of the accepting block on the chain; null while not accepted.';
comment on column kaspa.transactions.transaction_key is 'Key of the transaction. Joins views fast; differs from one database to another.';

create view kaspa.accepted_transactions as
select c.index as chain_index,
       (accepted.place - 1)::integer as index,
       encode(b.hash, 'hex') as accepting_block_hash,
       to_timestamp(c.timestamp / 1000::double precision) as accepted_at,
       encode(t.transaction_id, 'hex') as transaction_id,
       t.subnetwork_id = 1 as is_coinbase,
       t.fee as fee_sompi,
       t.fee * 0.00000001 as fee_kas,
       accepted.id as transaction_key
  from chain_blocks c
 cross join lateral unnest(c.accepted_transactions) with ordinality accepted (id, place)
  left join transactions t on t.id = accepted.id and t.accepting_block_id = c.block_id
  left join blocks b on b.id = c.block_id;
comment on view kaspa.accepted_transactions is 'Accepted transactions in the order of acceptance: chain_index, then index. Fast by accepted_at, chain_index, accepting_block_hash and transaction_id: the way to the transactions of a time.';
comment on column kaspa.accepted_transactions.chain_index is 'Position of the accepting block on the chain.';
comment on column kaspa.accepted_transactions.index is 'Position among what that block accepts, from 0.';
comment on column kaspa.accepted_transactions.accepting_block_hash is 'The chain block that accepts it.';
comment on column kaspa.accepted_transactions.accepted_at is 'Time of that block.';
comment on column kaspa.accepted_transactions.transaction_id is 'The transaction.';
comment on column kaspa.accepted_transactions.is_coinbase is 'Whether it is the coinbase of a block.';
comment on column kaspa.accepted_transactions.fee_sompi is 'Inputs minus outputs; 0 for a coinbase.';
comment on column kaspa.accepted_transactions.fee_kas is 'The same in KAS.';
comment on column kaspa.accepted_transactions.transaction_key is 'Key of the transaction. Joins views fast; differs from one database to another.';

-- Scripts are reached through address_transactions, which has a row for each script of a transaction: so a filter on the address finds its transactions.
create view kaspa.inputs as
select encode(t.transaction_id, 'hex') as transaction_id,
       i.index,
       coalesce((select encode(p.transaction_id, 'hex') from transactions p where p.id = i.previous_transaction_id),
                (select encode(e.transaction_id, 'hex') from earlier_transactions e where e.id = i.previous_transaction_id),
                encode(i.previous_transaction_hash, 'hex')) as previous_transaction_id,
       i.previous_index,
       s.address,
       i.amount as amount_sompi,
       i.amount * 0.00000001 as amount_kas,
       encode(case when t.accepted_body > 0
                   then (select x.signature_script from transaction_body_inputs x
                          where x.transaction_id = i.transaction_id and x.body = t.accepted_body and x.index = i.index)
                   else i.signature_script end, 'hex') as signature_script,
       i.sequence,
       t.accepting_block_id is not null as is_accepted,
       (select to_timestamp(c.timestamp / 1000::double precision) from chain_blocks c where c.block_id = t.accepting_block_id) as accepted_at,
       i.transaction_id as transaction_key,
       i.previous_transaction_id as previous_transaction_key,
       i.script_id as address_key
  from transaction_inputs i
  left join transactions t on t.id = i.transaction_id
  left join address_transactions a on a.script_id = i.script_id and a.transaction_id = i.transaction_id
  left join scripts s on s.id = a.script_id;
comment on view kaspa.inputs is 'Inputs of transactions, accepted or not, with the coin that each spends. Fast by transaction_id and by address. Who spent an output is in kaspa.outputs.';
comment on column kaspa.inputs.transaction_id is 'The spending transaction.';
comment on column kaspa.inputs.index is 'Position of the input, from 0.';
comment on column kaspa.inputs.previous_transaction_id is 'The transaction that made the coin.';
comment on column kaspa.inputs.previous_index is 'Its output.';
comment on column kaspa.inputs.address is 'Address that held the coin; null for a script without one, and while the coin was never seen.';
comment on column kaspa.inputs.amount_sompi is 'Amount of the coin; null while it was never seen, which is so in transactions that were never accepted only.';
comment on column kaspa.inputs.amount_kas is 'The same in KAS.';
comment on column kaspa.inputs.signature_script is 'Signature script, hex. Of several bodies of one id, that of the accepted one, else of the first.';
comment on column kaspa.inputs.sequence is 'Sequence.';
comment on column kaspa.inputs.is_accepted is 'Whether the spending transaction is accepted: the coin is spent only then.';
comment on column kaspa.inputs.accepted_at is 'Time of the accepting block; null while not accepted.';
comment on column kaspa.inputs.transaction_key is 'Key of the transaction. Joins views fast; differs from one database to another.';
comment on column kaspa.inputs.previous_transaction_key is 'Key of the transaction that made the coin; null while that was never seen. Joins views fast; differs from one database to another.';
comment on column kaspa.inputs.address_key is 'Key of the address, or of a script without one. Joins views fast; differs from one database to another.';

create view kaspa.outputs as
select encode(t.transaction_id, 'hex') as transaction_id,
       o.index,
       s.address,
       encode(s.script, 'hex') as script,
       s.type::text as script_type,
       o.amount as amount_sompi,
       o.amount * 0.00000001 as amount_kas,
       encode(o.covenant_id, 'hex') as covenant_id,
       t.accepting_block_id is not null as is_accepted,
       (select to_timestamp(c.timestamp / 1000::double precision) from chain_blocks c where c.block_id = t.accepting_block_id) as accepted_at,
       (select encode(spender.transaction_id, 'hex')
          from transaction_inputs i
          join transactions spender on spender.id = i.transaction_id
         where i.previous_transaction_id = o.transaction_id and i.previous_index = o.index and spender.accepting_block_id is not null
         limit 1) as spent_by,
       t.subnetwork_id = 1 as is_coinbase,
       o.transaction_id as transaction_key,
       o.script_id as address_key
  from transaction_outputs o
  left join transactions t on t.id = o.transaction_id
  left join address_transactions a on a.script_id = o.script_id and a.transaction_id = o.transaction_id
  left join scripts s on s.id = a.script_id;
comment on view kaspa.outputs is 'Outputs of transactions, accepted or not. Fast by transaction_id and by address.';
comment on column kaspa.outputs.transaction_id is 'The transaction.';
comment on column kaspa.outputs.index is 'Position of the output, from 0.';
comment on column kaspa.outputs.address is 'Address that it pays; null for a script without one.';
comment on column kaspa.outputs.script is 'Script public key, hex.';
comment on column kaspa.outputs.script_type is 'pubkey, pubkeyecdsa, scripthash or nonstandard.';
comment on column kaspa.outputs.amount_sompi is 'Amount.';
comment on column kaspa.outputs.amount_kas is 'The same in KAS.';
comment on column kaspa.outputs.covenant_id is 'Covenant id; null without a covenant.';
comment on column kaspa.outputs.is_accepted is 'Whether the transaction is accepted: the coin exists only then.';
comment on column kaspa.outputs.accepted_at is 'Time of the accepting block; null while not accepted.';
comment on column kaspa.outputs.spent_by is 'The accepted transaction that spends it; null while unspent, and where a gap holds the spender. Looked up for each row that is read.';
comment on column kaspa.outputs.is_coinbase is 'Whether the transaction is the coinbase of a block.';
comment on column kaspa.outputs.transaction_key is 'Key of the transaction. Joins views fast; differs from one database to another.';
comment on column kaspa.outputs.address_key is 'Key of the address, or of a script without one. Joins views fast; differs from one database to another.';

create view kaspa.utxos as
select coalesce((select encode(t.transaction_id, 'hex') from transactions t where t.id = u.transaction_id),
                (select encode(e.transaction_id, 'hex') from earlier_transactions e where e.id = u.transaction_id)) as transaction_id,
       u.index,
       s.address,
       u.amount as amount_sompi,
       u.amount * 0.00000001 as amount_kas,
       u.block_daa_score,
       u.is_coinbase,
       u.transaction_id as transaction_key,
       u.script_id as address_key
  from utxos u
  left join scripts s on s.id = u.script_id;
comment on view kaspa.utxos is 'Unspent outputs of accepted transactions, at the sink, also of those before the start of the index. Fast by address.';
comment on column kaspa.utxos.transaction_id is 'The transaction that made the coin.';
comment on column kaspa.utxos.index is 'Output index.';
comment on column kaspa.utxos.address is 'Whose it is; null for a script without an address.';
comment on column kaspa.utxos.amount_sompi is 'Amount.';
comment on column kaspa.utxos.amount_kas is 'The same in KAS.';
comment on column kaspa.utxos.block_daa_score is 'DAA score of the block that accepted it.';
comment on column kaspa.utxos.is_coinbase is 'Whether a coinbase made it.';
comment on column kaspa.utxos.transaction_key is 'Key of the transaction. Joins views fast; differs from one database to another.';
comment on column kaspa.utxos.address_key is 'Key of the address, or of a script without one. Joins views fast; differs from one database to another.';

create view kaspa.addresses as
select s.address,
       s.type::text as script_type,
       b.balance as balance_sompi,
       b.balance * 0.00000001 as balance_kas,
       b.utxo_count,
       b.accepted_count as transaction_count,
       b.receiving_count,
       b.sending_count,
       b.coinbase_count,
       b.received as received_sompi,
       b.received * 0.00000001 as received_kas,
       b.sent as sent_sompi,
       b.sent * 0.00000001 as sent_kas,
       to_timestamp(b.first_seen / 1000::double precision) as first_seen,
       to_timestamp(b.last_seen / 1000::double precision) as last_seen,
       coalesce(t.name, (
         with recursive up as (
           select m.script_id, m.parent_id from cluster_members m where m.script_id = b.script_id
           union all
           select m.script_id, m.parent_id from up join cluster_members m on m.script_id = up.parent_id
         )
         select k.name from up join clusters k on k.id = up.script_id where up.parent_id is null)) as tag,
       coalesce(t.labels, (
         with recursive up as (
           select m.script_id, m.parent_id from cluster_members m where m.script_id = b.script_id
           union all
           select m.script_id, m.parent_id from up join cluster_members m on m.script_id = up.parent_id
         )
         select k.labels from up join clusters k on k.id = up.script_id where up.parent_id is null and k.name is not null), '{}') as labels,
       (with recursive up as (
          select m.script_id, m.parent_id from cluster_members m where m.script_id = b.script_id
          union all
          select m.script_id, m.parent_id from up join cluster_members m on m.script_id = up.parent_id
        )
        select root.address from up join scripts root on root.id = up.script_id where up.parent_id is null) as cluster,
       b.script_id as address_key
  from balances b
  left join scripts s on s.id = b.script_id
  left join tags t on t.address = s.address
 -- There are few of these, in an index of their own: what sums up balances need not look at all scripts.
 where not exists (select from scripts n where n.id = b.script_id and n.address is null);
comment on view kaspa.addresses is 'Every address seen, and what it adds up to at the sink. Fast by address; the richest by: where balance_sompi > 0 order by balance_sompi desc limit n.';
comment on column kaspa.addresses.address is 'The address.';
comment on column kaspa.addresses.script_type is 'pubkey, pubkeyecdsa or scripthash.';
comment on column kaspa.addresses.balance_sompi is 'Sum of its unspent outputs.';
comment on column kaspa.addresses.balance_kas is 'The same in KAS.';
comment on column kaspa.addresses.utxo_count is 'Number of its unspent outputs.';
comment on column kaspa.addresses.transaction_count is 'Number of accepted transactions that touch it.';
comment on column kaspa.addresses.receiving_count is 'Number of accepted transactions with an output to it.';
comment on column kaspa.addresses.sending_count is 'Number of accepted transactions with an input from it.';
comment on column kaspa.addresses.coinbase_count is 'Number of accepted coinbases with an output to it.';
comment on column kaspa.addresses.received_sompi is 'Sum of the outputs to it of accepted transactions, change included.';
comment on column kaspa.addresses.received_kas is 'The same in KAS.';
comment on column kaspa.addresses.sent_sompi is 'Sum of the inputs from it of accepted transactions.';
comment on column kaspa.addresses.sent_kas is 'The same in KAS.';
comment on column kaspa.addresses.first_seen is 'chain_time of the first block that accepts a transaction that touches it, or of the latest start of the index when it held coins there; null while there is none.';
comment on column kaspa.addresses.last_seen is 'chain_time of the last such block.';
comment on column kaspa.addresses.tag is 'Name of its owner: that of its own tag, else of its cluster; null while nobody knows.';
comment on column kaspa.addresses.labels is 'What kind of owner it is: the labels of that tag. What an address does by itself is said by kaspa.automatic_labels.';
comment on column kaspa.addresses.cluster is 'The cluster that it is in: kaspa.clusters.cluster; null when it stands alone.';
comment on column kaspa.addresses.address_key is 'Key of the address. Joins views fast; differs from one database to another.';

create view kaspa.address_transactions as
select s.address,
       encode(t.transaction_id, 'hex') as transaction_id,
       to_timestamp(c.timestamp / 1000::double precision) as accepted_at,
       t.accepting_block_id is not null as is_accepted,
       a.amount_received as received_sompi,
       a.amount_sent as sent_sompi,
       a.amount_received - a.amount_sent as change_sompi,
       (a.amount_received - a.amount_sent) * 0.00000001 as change_kas,
       t.subnetwork_id = 1 as is_coinbase,
       a.transaction_id as transaction_key,
       a.script_id as address_key
  from address_transactions a
  left join scripts s on s.id = a.script_id
  left join transactions t on t.id = a.transaction_id
  left join chain_blocks c on c.block_id = t.accepting_block_id;
comment on view kaspa.address_transactions is 'One row for each address that a transaction, accepted or not, spends from or pays to. Fast by address and by transaction_id.';
comment on column kaspa.address_transactions.address is 'The address; null for a script without one.';
comment on column kaspa.address_transactions.transaction_id is 'The transaction.';
comment on column kaspa.address_transactions.accepted_at is 'Time of the accepting block; null while not accepted.';
comment on column kaspa.address_transactions.is_accepted is 'Whether the transaction is accepted: it changes a balance only then.';
comment on column kaspa.address_transactions.received_sompi is 'Sum of its outputs to the address, change included.';
comment on column kaspa.address_transactions.sent_sompi is 'Sum of its inputs from the address.';
comment on column kaspa.address_transactions.change_sompi is 'Received minus sent: by how much it changes the balance of the address.';
comment on column kaspa.address_transactions.change_kas is 'The same in KAS.';
comment on column kaspa.address_transactions.is_coinbase is 'Whether the transaction is the coinbase of a block.';
comment on column kaspa.address_transactions.transaction_key is 'Key of the transaction. Joins views fast; differs from one database to another.';
comment on column kaspa.address_transactions.address_key is 'Key of the address, or of a script without one. Joins views fast; differs from one database to another.';

create view kaspa.address_hours as
select s.address,
       to_timestamp(h.hour * 3600::double precision) as hour,
       h.change as change_sompi,
       h.change * 0.00000001 as change_kas,
       h.script_id as address_key
  from balance_changes h
  left join scripts s on s.id = h.script_id;
comment on view kaspa.address_hours is 'By how much the balance of each address changed in each hour: the sum up to an hour is the balance at its end. Fast by address.';
comment on column kaspa.address_hours.address is 'The address; null for a script without one.';
comment on column kaspa.address_hours.hour is 'Beginning of the hour (UTC), by the time of the accepting block. In the hour of a start of the index, what the address held there is a change too.';
comment on column kaspa.address_hours.change_sompi is 'Sum of the changes by transactions accepted in that hour.';
comment on column kaspa.address_hours.change_kas is 'The same in KAS.';
comment on column kaspa.address_hours.address_key is 'Key of the address, or of a script without one. Joins views fast; differs from one database to another.';

create view kaspa.tags as
select t.address, t.name, t.link, t.labels from tags t;
comment on view kaspa.tags is 'The tag that an address has of its own. kaspa.addresses.tag knows the cluster''s, too.';
comment on column kaspa.tags.address is 'The address.';
comment on column kaspa.tags.name is 'Name of its owner.';
comment on column kaspa.tags.link is 'Where to read more; empty when there is nothing.';
comment on column kaspa.tags.labels is 'What kind of owner it is.';

create view kaspa.tag_sources as
select s.name, s.title, s.creator, s.imported_at from tag_sources s;
comment on view kaspa.tag_sources is 'Files and people that tags came from.';
comment on column kaspa.tag_sources.name is 'Name of the source.';
comment on column kaspa.tag_sources.title is 'Its title, as it says.';
comment on column kaspa.tag_sources.creator is 'Who made it, as it says.';
comment on column kaspa.tag_sources.imported_at is 'When it was last imported.';

create view kaspa.attributions as
select s.name as source, a.address, a.name, a.link, a.labels, a.category, a.confidence, a.confidence_level, a.last_modified
  from attributions a
  left join tag_sources s on s.id = a.source_id;
comment on view kaspa.attributions is 'What each source says of an address. Of several, kaspa.tags has what is said with the most confidence, then the latest.';
comment on column kaspa.attributions.source is 'kaspa.tag_sources.name.';
comment on column kaspa.attributions.address is 'The address.';
comment on column kaspa.attributions.name is 'Name of its owner.';
comment on column kaspa.attributions.link is 'Where to read more; empty when there is nothing.';
comment on column kaspa.attributions.labels is 'What kind of owner it is.';
comment on column kaspa.attributions.category is 'Category, as the source says; null when it says none.';
comment on column kaspa.attributions.confidence is 'How the source knows, in its words; null when it does not say.';
comment on column kaspa.attributions.confidence_level is 'The same from 0 to 100.';
comment on column kaspa.attributions.last_modified is 'When it was last changed, as the source says; null when it does not.';

create view kaspa.clusters as
select root.address as cluster,
       k.size,
       k.balance as balance_sompi,
       k.balance * 0.00000001 as balance_kas,
       k.name,
       k.link,
       k.labels
  from clusters k
  left join scripts root on root.id = k.id;
comment on view kaspa.clusters is 'Groups of two or more addresses that inputs of one transaction tie together. Fast by cluster and by name.';
comment on column kaspa.clusters.cluster is 'Address of the member at its root, which names the cluster. It may change when clusters merge.';
comment on column kaspa.clusters.size is 'Number of its members.';
comment on column kaspa.clusters.balance_sompi is 'Sum of the balances of its members.';
comment on column kaspa.clusters.balance_kas is 'The same in KAS.';
comment on column kaspa.clusters.name is 'Name of the owner: that of its members'' tags when these agree; null while nobody knows or they do not.';
comment on column kaspa.clusters.link is 'Where to read more; empty when there is nothing.';
comment on column kaspa.clusters.labels is 'What kind of owner it is: the labels of these tags.';

create view kaspa.cluster_members as
select root.address as cluster, s.address
  from clusters k
  left join scripts root on root.id = k.id
 cross join lateral (
   with recursive ring as (
     select m.script_id, m.next_id from cluster_members m where m.script_id = k.id
     union all
     select m.script_id, m.next_id from ring join cluster_members m on m.script_id = ring.next_id where ring.next_id <> k.id
   )
   select script_id from ring) member
  left join scripts s on s.id = member.script_id;
comment on view kaspa.cluster_members is 'Which addresses are in which cluster. Fast by cluster; that of one address is kaspa.addresses.cluster.';
comment on column kaspa.cluster_members.cluster is 'kaspa.clusters.cluster.';
comment on column kaspa.cluster_members.address is 'A member; the one at the root is one.';

create view kaspa.cluster_merges as
select m.id,
       encode(t.transaction_id, 'hex') as transaction_id,
       kept.address,
       merged.address as merged_address,
       kept_root.address as cluster,
       merged_root.address as merged_cluster
  from cluster_merges m
  left join transactions t on t.id = m.transaction_id
  left join scripts kept on kept.id = m.script_id
  left join scripts merged on merged.id = m.merged_script_id
  left join scripts kept_root on kept_root.id = m.cluster_id
  left join scripts merged_root on merged_root.id = m.merged_cluster_id;
comment on view kaspa.cluster_merges is 'Why addresses are together: every merge of two clusters, or single addresses, in order, with the transaction that has inputs of both.';
comment on column kaspa.cluster_merges.id is 'Its place in the order.';
comment on column kaspa.cluster_merges.transaction_id is 'The transaction.';
comment on column kaspa.cluster_merges.address is 'Address of an input, on the side that stayed.';
comment on column kaspa.cluster_merges.merged_address is 'Address of an input, on the other side.';
comment on column kaspa.cluster_merges.cluster is 'The cluster that stayed, as it was named then.';
comment on column kaspa.cluster_merges.merged_cluster is 'The cluster that became a part of it.';

-- Three views of one form. An interval that has begun before the index or has not ended yet is as long as the index knows of it.
do $do$
declare
  each_length text;
  seconds integer;
  name text;
begin
  for each_length, seconds in values ('minute', 60), ('hour', 3600), ('day', 86400) loop
    name := format('kaspa.network_%ss', each_length);
    execute format($view$
      create view %s as
      select to_timestamp(n.start / 1000::double precision) as start,
             n.chain_blocks,
             n.blocks,
             n.red_blocks,
             round(n.red_blocks::numeric / nullif(n.blocks, 0), 6) as red_share,
             n.transactions,
             n.fees as fees_sompi,
             n.fees * 0.00000001 as fees_kas,
             n.volume as volume_sompi,
             n.volume * 0.00000001 as volume_kas,
             n.minted as minted_sompi,
             n.minted * 0.00000001 as minted_kas,
             n.supply as supply_sompi,
             n.supply * 0.00000001 as supply_kas,
             n.active_scripts as active_addresses,
             n.new_scripts as new_addresses,
             (n.work / nullif(n.blocks, 0) / 2)::double precision as difficulty,
             (n.work / nullif(least(n.start + %s, (select c.chain_time from chain_blocks c order by c.index desc limit 1))
                - greatest(n.start, (select c.chain_time from chain_blocks c order by c.index limit 1)), 0) * 1000)::double precision as hash_rate
        from network_intervals n
       where n.length = %L$view$, name, seconds * 1000, each_length);
    execute format('comment on view %s is %L', name, format(
      'What happened in each %s of the chain (UTC). A chain block, and with it what it merges and accepts, belongs to the %1$s of its chain_time; a %1$s without a chain block has no row. Fast by start.', each_length));
    execute format('comment on column %s.start is %L', name, format('When the %s begins.', each_length));
    execute format($comments$
      comment on column %1$s.chain_blocks is 'Chain blocks.';
      comment on column %1$s.blocks is 'Blocks merged by them, blue and red.';
      comment on column %1$s.red_blocks is 'Red ones among these.';
      comment on column %1$s.red_share is 'Red ones by all: 0 to 1; null without blocks.';
      comment on column %1$s.transactions is 'Accepted transactions other than coinbases.';
      comment on column %1$s.fees_sompi is 'Fees of these.';
      comment on column %1$s.fees_kas is 'The same in KAS.';
      comment on column %1$s.volume_sompi is 'Outputs of these, change included.';
      comment on column %1$s.volume_kas is 'The same in KAS.';
      comment on column %1$s.minted_sompi is 'Outputs minus inputs of all accepted transactions: by how much the supply grew.';
      comment on column %1$s.minted_kas is 'The same in KAS.';
      comment on column %1$s.supply_sompi is 'Circulating supply at its end.';
      comment on column %1$s.supply_kas is 'The same in KAS.';
      comment on column %1$s.active_addresses is 'Addresses, and scripts without one, that accepted transactions touch, each once.';
      comment on column %1$s.new_addresses is 'Those among these that were never seen before.';
      comment on column %1$s.difficulty is 'Mean difficulty of the merged blocks.';
      comment on column %1$s.hash_rate is 'Hashes a second: the work of the merged blocks by the time that passed.';
    $comments$, name);
  end loop;
end $do$;

create view kaspa.index_status as
select meta.network,
       encode(b.hash, 'hex') as sink,
       b.blue_score,
       b.daa_score,
       to_timestamp(b.timestamp / 1000::double precision) as time,
       now() - to_timestamp(b.timestamp / 1000::double precision) as lag,
       greatest(p.target_blue_score - b.blue_score, 0) as blue_scores_behind,
       p.circulating_sompi,
       p.circulating_sompi * 0.00000001 as circulating_kas,
       p.first_catch_up,
       to_timestamp(k.timestamp / 1000::double precision) as clustered_to,
       p.updated_at,
       (select max(number) from migrations) as migration
  from checkpoint p
  left join meta on true
  left join blocks b on b.id = p.block_id
  left join clustering on true
  left join blocks k on k.id = clustering.block_id;
comment on view kaspa.index_status is 'Where the index is: one row, or none while nothing is indexed.';
comment on column kaspa.index_status.network is 'mainnet, testnet-10, simnet or devnet.';
comment on column kaspa.index_status.sink is 'The last chain block that is indexed.';
comment on column kaspa.index_status.blue_score is 'Its blue score.';
comment on column kaspa.index_status.daa_score is 'Its DAA score.';
comment on column kaspa.index_status.time is 'Its time.';
comment on column kaspa.index_status.lag is 'How long ago that is.';
comment on column kaspa.index_status.blue_scores_behind is 'How far the node was ahead when this row was written.';
comment on column kaspa.index_status.circulating_sompi is 'Circulating supply at the sink. Not kept while first_catch_up.';
comment on column kaspa.index_status.circulating_kas is 'The same in KAS.';
comment on column kaspa.index_status.first_catch_up is 'True while the index catches up from a start for the first time: coins, balances and rollups are not there yet, and filters are slow.';
comment on column kaspa.index_status.clustered_to is 'Time of the last chain block whose transactions are clustered; null while none is.';
comment on column kaspa.index_status.updated_at is 'When the indexer last wrote.';
comment on column kaspa.index_status.migration is 'Number of the last migration of the database.';

create view kaspa.gaps as
select encode(g.after_block_hash, 'hex') as after_block_hash,
       to_timestamp(a.timestamp / 1000::double precision) as after_time,
       encode(g.before_block_hash, 'hex') as before_block_hash,
       to_timestamp(b.timestamp / 1000::double precision) as before_time,
       g.reason,
       g.recorded_at
  from gaps g
  left join blocks a on a.hash = g.after_block_hash
  left join blocks b on b.hash = g.before_block_hash;
comment on view kaspa.gaps is 'Stretches of the chain that are missing: no rows when nothing is. Balances and coins are right all the same; histories have a hole.';
comment on column kaspa.gaps.after_block_hash is 'Last chain block before the gap.';
comment on column kaspa.gaps.after_time is 'Its time.';
comment on column kaspa.gaps.before_block_hash is 'First chain block after the gap.';
comment on column kaspa.gaps.before_time is 'Its time.';
comment on column kaspa.gaps.reason is 'Why these blocks could not be had.';
comment on column kaspa.gaps.recorded_at is 'When the gap was recorded.';

create view kaspa.starts as
select s.chain_index,
       encode(b.hash, 'hex') as block_hash,
       to_timestamp(b.timestamp / 1000::double precision) as time,
       s.utxo_count,
       s.utxo_sompi,
       s.utxo_sompi * 0.00000001 as utxo_kas,
       s.started_at
  from starts s
  left join blocks b on b.id = s.block_id;
comment on view kaspa.starts is 'Blocks from which this index counts: genesis, or a pruning point with its UTXO set. What happened before the first, and in gaps, is not indexed.';
comment on column kaspa.starts.chain_index is 'Position of the block on the chain.';
comment on column kaspa.starts.block_hash is 'The block.';
comment on column kaspa.starts.time is 'Its time.';
comment on column kaspa.starts.utxo_count is 'Number of coins in its UTXO set.';
comment on column kaspa.starts.utxo_sompi is 'Sum of them.';
comment on column kaspa.starts.utxo_kas is 'The same in KAS.';
comment on column kaspa.starts.started_at is 'When the index began there.';

-- From the end of the hour backwards: what earlier hours sum up to may have been made anew by a start, later changes have not. The ids of the
-- transactions of these blocks bound what is read of the address.
create function kaspa.balance_at(address text, at timestamptz) returns numeric
language sql stable strict parallel safe security definer set search_path = pg_catalog, public, pg_temp as $$
  with moment as (
    select floor(extract(epoch from least(balance_at.at, '2200-01-01')) / 3600)::integer as hour
  ), script as (
    select s.id from scripts s where s.address = balance_at.address
  ), later as materialized (
    select c.block_id, c.accepted_transactions from moment, chain_blocks c
     where to_timestamp(c.timestamp / 1000::double precision) > balance_at.at
       and to_timestamp(c.timestamp / 1000::double precision) < to_timestamp((moment.hour + 1) * 3600::double precision)
  ), bounds as materialized (
    select min(id) as first, max(id) as last from later, unnest(accepted_transactions) id
  )
  select case when exists (select from checkpoint where not first_catch_up) and balance_at.at >= (
                select to_timestamp(c.timestamp / 1000::double precision) from chain_blocks c order by c.index limit 1)
    then coalesce((select sum(h.change) from moment, script, balance_changes h where h.script_id = script.id and h.hour <= moment.hour), 0)
       - coalesce((select sum(a.amount_received - a.amount_sent)
                     from script, bounds, address_transactions a
                     join transactions t on t.id = a.transaction_id
                     join later on later.block_id = t.accepting_block_id
                    where a.script_id = script.id and a.transaction_id between bounds.first and bounds.last), 0)
  end
$$;
comment on function kaspa.balance_at(text, timestamptz) is 'Balance of an address, in sompi, after all that blocks with a time up to this one accept. 0 for an address that never held a coin; null before the first block of the index and while it catches up for the first time. In a gap it is that of one of its ends.';

create function kaspa.automatic_labels(address text) returns text[]
language sql stable strict parallel safe security definer set search_path = pg_catalog, public, pg_temp as $$
  select public.automatic_labels(s.id) from scripts s where s.address = automatic_labels.address
$$;
comment on function kaspa.automatic_labels(text) is 'Labels of an address by what it does, such as miner or reused (docs/labels.md); null for an address that was never seen. They come and go with the chain, and say nothing of who its owner is.';

create table analysts (
  login text not null,
  timeout_seconds integer not null,
  created_at timestamptz not null default now(),
  constraint analysts_pkey primary key (login),
  constraint analysts_timeout check (timeout_seconds > 0)
);
comment on table analysts is 'Logins of analysts that kasgres analysts has made, with the limit that the indexer holds them to: a login could change its own settings.';
comment on column analysts.login is 'Name of the login.';
comment on column analysts.timeout_seconds is 'How long a statement may take, and a transaction be idle; a whole transaction ten times that.';
comment on column analysts.created_at is 'When it was made.';

-- In one place for ops/roles.sql and for kasgres analysts, and done only when somebody asks for it: it makes a role, which belongs to the whole server.
create function admit_analysts() returns void language plpgsql set search_path = pg_catalog, public, pg_temp as $$
declare
  program text;
  each_function regprocedure;
  each_login text;
begin
  begin
    create role kasgres_analyst nologin;
  exception when duplicate_object or unique_violation then null;
  end;
  revoke all on all tables in schema public from kasgres_analyst;
  revoke all on schema public from kasgres_analyst;
  execute format('grant connect on database %I to kasgres_analyst', current_database());
  grant usage on schema kaspa to kasgres_analyst;
  grant select on all tables in schema kaspa to kasgres_analyst;
  alter default privileges in schema kaspa grant select on tables to kasgres_analyst;

  -- Who has the rights of a login sees how long its statements take, and may end them. For logins that kasgres analysts has not made.
  if exists (select from pg_roles where rolname = 'kasgres_indexer') then
    for each_login in
      select r.rolname from pg_auth_members m join pg_roles r on r.oid = m.member
       where m.roleid = 'kasgres_analyst'::regrole and r.rolcanlogin and not r.rolsuper and not r.rolcreaterole
    loop
      execute format('grant %I to kasgres_indexer', each_login);
    end loop;
  end if;

  -- What Postgres lets everybody do: make temporary tables and large objects, look into public, take the locks that the programs take, write to the WAL.
  execute format('revoke temporary on database %I from public', current_database());
  revoke all on schema public from public;
  for program in select rolname from pg_roles where rolname in ('kasgres_indexer', 'kasgres_api') loop
    execute format('grant usage on schema public to %I', program);
  end loop;
  begin
    for each_function in
      select oid::regprocedure from pg_proc
       where pronamespace = 'pg_catalog'::regnamespace and has_function_privilege('public', oid, 'execute')
         and proname ~ '^(lo_.*|lowrite|pg_(try_)?advisory_.*|pg_logical_emit_message)$'
    loop
      execute format('revoke execute on function %s from public', each_function);
      for program in select rolname from pg_roles where rolname in ('kasgres_indexer', 'kasgres_api', current_user) loop
        execute format('grant execute on function %s to %I', each_function, program);
      end loop;
    end loop;
  exception when insufficient_privilege then
    raise warning 'kasgres_analyst can make large objects and take advisory locks, as everybody can on this server: only a superuser can take that away, by running this again.';
  end;
end $$;
comment on function admit_analysts() is 'Makes the role kasgres_analyst, which sees schema kaspa and nothing else, and takes from everybody what it must not have. Can be repeated.';
revoke execute on function admit_analysts() from public;
