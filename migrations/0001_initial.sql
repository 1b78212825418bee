-- The Kaspa blockDAG in flat tables that join on bigint keys.
--
-- The single writer (the indexer) gives out the keys; a key grows with the order of first writing and never changes, so
-- `order by id desc` is newest first. There are no foreign keys: rows arrive by COPY, ids are dense and given by one
-- process, and `kasgres verify` checks what a foreign key would. Hashes, ids and scripts are raw bytes, amounts are sompi,
-- times are Unix milliseconds, unsigned 64-bit and 192-bit numbers are numeric.

create type script_type as enum ('pubkey', 'pubkeyecdsa', 'scripthash', 'nonstandard');
comment on type script_type is 'Class of a script public key, named as the node names it.';

create table meta (
  one_row boolean not null default true,
  network text not null,
  created_at timestamptz not null default now(),
  constraint meta_pkey primary key (one_row),
  constraint meta_one_row check (one_row)
);
comment on table meta is 'What this database is about: one row, written by the first start of the indexer.';
comment on column meta.one_row is 'Always true: keeps the table at one row.';
comment on column meta.network is 'Network id as the node gives it: mainnet, testnet-10, simnet, devnet. A node of another network is refused.';
comment on column meta.created_at is 'When the indexer first started on this database.';

create table checkpoint (
  one_row boolean not null default true,
  block_id bigint not null,
  chain_index bigint not null,
  next_block_id bigint not null,
  next_transaction_id bigint not null,
  next_script_id bigint not null,
  next_subnetwork_id integer not null,
  circulating_sompi bigint not null,
  virtual_merge_set bigint[] not null,
  first_catch_up boolean not null,
  target_blue_score bigint not null,
  seconds_left integer,
  updated_at timestamptz not null,
  constraint checkpoint_pkey primary key (one_row),
  constraint checkpoint_one_row check (one_row)
);
comment on table checkpoint is 'Where the index is: one row, changed in the same transaction as the rows it speaks of (invariant 1).';
comment on column checkpoint.one_row is 'Always true: keeps the table at one row.';
comment on column checkpoint.block_id is 'The last chain block applied: the sink of this database.';
comment on column checkpoint.chain_index is 'Its chain_blocks.index.';
comment on column checkpoint.next_block_id is 'Key that the next block written gets.';
comment on column checkpoint.next_transaction_id is 'Key that the next transaction written gets.';
comment on column checkpoint.next_script_id is 'Key that the next script written gets.';
comment on column checkpoint.next_subnetwork_id is 'Key that the next subnetwork written gets.';
comment on column checkpoint.circulating_sompi is 'Sum of all unspent outputs at the sink. Not kept while first_catch_up.';
comment on column checkpoint.virtual_merge_set is 'Blocks not merged yet, other than the sink, that the node''s virtual block would merge, as the node last said.';
comment on column checkpoint.first_catch_up is 'True while the first catch-up runs: utxos, balances and circulating_sompi are empty and the indexes in deferred_indexes are not built.';
comment on column checkpoint.target_blue_score is 'Blue score of the node''s sink when this row was written: how far there is to go.';
comment on column checkpoint.seconds_left is 'Estimated seconds until the target is reached; null at the tip or when not known.';
comment on column checkpoint.updated_at is 'When this row was written.';

create table deferred_indexes (
  name text not null,
  definition text not null,
  constraint deferred_indexes_pkey primary key (name)
);
comment on table deferred_indexes is 'Indexes that the first catch-up has dropped and builds at its end. Empty otherwise.';
comment on column deferred_indexes.name is 'Name of the index.';
comment on column deferred_indexes.definition is 'Statement that makes it, from pg_get_indexdef.';

create table gaps (
  id bigint generated always as identity,
  after_block_hash bytea not null,
  before_block_hash bytea not null,
  reason text not null,
  recorded_at timestamptz not null default now(),
  constraint gaps_pkey primary key (id)
);
comment on table gaps is 'Stretches of the chain that are missing, and why (invariant 7). Empty when nothing is missing.';
comment on column gaps.id is 'Key.';
comment on column gaps.after_block_hash is 'Last chain block before the gap.';
comment on column gaps.before_block_hash is 'First chain block after the gap.';
comment on column gaps.reason is 'Why these blocks could not be had.';
comment on column gaps.recorded_at is 'When the gap was recorded.';

create table blocks (
  id bigint not null,
  hash bytea not null,
  version integer not null,
  parents_by_level bytea not null,
  hash_merkle_root bytea not null,
  accepted_id_merkle_root bytea not null,
  utxo_commitment bytea not null,
  timestamp bigint not null,
  bits bigint not null,
  nonce numeric not null,
  daa_score bigint not null,
  blue_work numeric not null,
  blue_score bigint not null,
  pruning_point bytea not null,
  selected_parent_id bigint,
  merge_set_blues bigint[] not null,
  merge_set_reds bigint[] not null,
  is_chain_block boolean not null,
  merging_block_id bigint,
  is_blue boolean,
  constraint blocks_pkey primary key (id)
) with (fillfactor = 90);
create unique index blocks_hash on blocks (hash);
create index blocks_blue_work on blocks (blue_work, hash);
comment on table blocks is 'Every block seen: header, its own mergeset, and what the chain made of it.';
comment on column blocks.id is 'Key, in order of first writing.';
comment on column blocks.hash is 'Block hash, 32 bytes.';
comment on column blocks.version is 'Header version.';
comment on column blocks.parents_by_level is 'Parents of levels 1 and up, run-length packed: per run, number of consecutive levels (u16 LE), number of parents (u16 LE), parent hashes of 32 bytes each. Level 0 is in block_parents.';
comment on column blocks.hash_merkle_root is 'Merkle root of the hashes of the block''s transactions.';
comment on column blocks.accepted_id_merkle_root is 'Commitment to the accepted transactions (a KIP-21 sequencing commitment since Toccata).';
comment on column blocks.utxo_commitment is 'MuHash of the UTXO set.';
comment on column blocks.timestamp is 'Unix time in milliseconds, as claimed by the miner.';
comment on column blocks.bits is 'Compact difficulty target.';
comment on column blocks.nonce is 'Proof-of-work nonce, unsigned 64-bit.';
comment on column blocks.daa_score is 'Difficulty adjustment score.';
comment on column blocks.blue_work is 'Accumulated work of the blue past, unsigned 192-bit.';
comment on column blocks.blue_score is 'Number of blue blocks in the past.';
comment on column blocks.pruning_point is 'Pruning point of the header.';
comment on column blocks.selected_parent_id is 'Selected parent by GHOSTDAG; null for genesis.';
comment on column blocks.merge_set_blues is 'Blue blocks of this block''s own mergeset, in the node''s order: selected parent first.';
comment on column blocks.merge_set_reds is 'Red blocks of this block''s own mergeset, in the node''s order.';
comment on column blocks.is_chain_block is 'Whether the block is on the virtual selected parent chain now.';
comment on column blocks.merging_block_id is 'Chain block in whose mergeset this block is; null while not merged.';
comment on column blocks.is_blue is 'Colour in the mergeset of the merging block: true blue, false red, null while not merged.';

create table block_parents (
  block_id bigint not null,
  index smallint not null,
  parent_id bigint not null,
  constraint block_parents_pkey primary key (block_id, index)
);
create index block_parents_parent_id on block_parents (parent_id);
comment on table block_parents is 'Direct (level 0) parents of each block.';
comment on column block_parents.block_id is 'The child.';
comment on column block_parents.index is 'Position among the parents in the header.';
comment on column block_parents.parent_id is 'The parent.';

create table chain_blocks (
  index bigint not null,
  block_id bigint not null,
  daa_score bigint not null,
  timestamp bigint not null,
  accepted_transactions bigint[] not null,
  constraint chain_blocks_pkey primary key (index)
);
create unique index chain_blocks_block_id on chain_blocks (block_id);
create index chain_blocks_daa_score on chain_blocks (daa_score);
comment on table chain_blocks is 'The virtual selected parent chain, from the start of the index to the sink.';
comment on column chain_blocks.index is 'Position on the chain; 0 is the first indexed block, the highest is the sink.';
comment on column chain_blocks.block_id is 'The block.';
comment on column chain_blocks.daa_score is 'Its DAA score.';
comment on column chain_blocks.timestamp is 'Its time, Unix milliseconds.';
comment on column chain_blocks.accepted_transactions is 'transactions.id of every transaction it accepts, in the node''s order (invariant 3).';

create table subnetworks (
  id integer not null,
  subnetwork_id bytea not null,
  constraint subnetworks_pkey primary key (id)
);
create unique index subnetworks_subnetwork_id on subnetworks (subnetwork_id);
comment on table subnetworks is 'Every subnetwork id seen, once.';
comment on column subnetworks.id is 'Key; 0 is the native subnetwork, 1 the coinbase.';
comment on column subnetworks.subnetwork_id is 'The 20 bytes of the id.';
insert into subnetworks values (0, decode('0000000000000000000000000000000000000000', 'hex')), (1, decode('0100000000000000000000000000000000000000', 'hex'));

create table transactions (
  id bigint not null,
  transaction_id bytea not null,
  hash bytea not null,
  version integer not null,
  lock_time numeric not null,
  subnetwork_id integer not null,
  gas numeric not null,
  payload bytea not null,
  storage_mass bigint not null,
  compute_mass bigint not null,
  fee bigint,
  accepting_block_id bigint,
  accepted_body smallint,
  constraint transactions_pkey primary key (id)
) with (fillfactor = 90);
create unique index transactions_transaction_id on transactions (transaction_id);
comment on table transactions is 'Every transaction id seen in a block, once, with its first body. Further bodies of the id are in transaction_bodies.';
comment on column transactions.id is 'Key, in order of first writing.';
comment on column transactions.transaction_id is 'Transaction id, 32 bytes: leaves out signature scripts, sig-op counts, compute budgets and storage mass.';
comment on column transactions.hash is 'Hash over everything, of body 0.';
comment on column transactions.version is 'Transaction version.';
comment on column transactions.lock_time is 'Lock time, unsigned 64-bit.';
comment on column transactions.subnetwork_id is 'subnetworks.id; 1 is a coinbase.';
comment on column transactions.gas is 'Gas, unsigned 64-bit.';
comment on column transactions.payload is 'Payload.';
comment on column transactions.storage_mass is 'Committed storage mass (KIP-9), of body 0.';
comment on column transactions.compute_mass is 'Compute mass as the node gives it, of body 0.';
comment on column transactions.fee is 'Inputs minus outputs in sompi; 0 for a coinbase; null while an input''s coin was never seen.';
comment on column transactions.accepting_block_id is 'Chain block that accepts the transaction; null while it is not accepted.';
comment on column transactions.accepted_body is 'Which body was accepted (0: the one in this row); null while not accepted, or when the node cannot tell.';

create table transaction_bodies (
  transaction_id bigint not null,
  body smallint not null,
  hash bytea not null,
  storage_mass bigint not null,
  compute_mass bigint not null,
  constraint transaction_bodies_pkey primary key (transaction_id, body)
);
comment on table transaction_bodies is 'Second and further bodies of a transaction id, in order of first writing.';
comment on column transaction_bodies.transaction_id is 'transactions.id.';
comment on column transaction_bodies.body is 'Number of the body, from 1.';
comment on column transaction_bodies.hash is 'Hash over everything, of this body.';
comment on column transaction_bodies.storage_mass is 'Committed storage mass of this body.';
comment on column transaction_bodies.compute_mass is 'Compute mass of this body.';

create table transaction_body_inputs (
  transaction_id bigint not null,
  body smallint not null,
  index integer not null,
  signature_script bytea not null,
  sig_op_count integer not null,
  compute_budget integer not null,
  constraint transaction_body_inputs_pkey primary key (transaction_id, body, index)
);
comment on table transaction_body_inputs is 'What the inputs of second and further bodies have of their own.';
comment on column transaction_body_inputs.transaction_id is 'transactions.id.';
comment on column transaction_body_inputs.body is 'Number of the body, from 1.';
comment on column transaction_body_inputs.index is 'Position of the input.';
comment on column transaction_body_inputs.signature_script is 'Signature script in this body.';
comment on column transaction_body_inputs.sig_op_count is 'Sig-op count in this body.';
comment on column transaction_body_inputs.compute_budget is 'Compute budget in this body.';

create table block_transactions (
  block_id bigint not null,
  index integer not null,
  transaction_id bigint not null,
  body smallint not null,
  constraint block_transactions_pkey primary key (block_id, index)
);
create index block_transactions_transaction_id on block_transactions (transaction_id);
comment on table block_transactions is 'Which block contains which transaction, at which place. One transaction may be in several blocks.';
comment on column block_transactions.block_id is 'The block.';
comment on column block_transactions.index is 'Place in the block; 0 is the coinbase.';
comment on column block_transactions.transaction_id is 'The transaction.';
comment on column block_transactions.body is 'Which body of the id this block carries (0: the one in transactions).';

create table scripts (
  id bigint not null,
  version integer not null,
  script bytea not null,
  type script_type not null,
  address text,
  constraint scripts_pkey primary key (id)
);
create index scripts_script on scripts using hash (script);
comment on table scripts is 'Every distinct script public key, once. A hash index, since scripts may be longer than a B-tree key can be.';
comment on column scripts.id is 'Key.';
comment on column scripts.version is 'Script version.';
comment on column scripts.script is 'The script.';
comment on column scripts.type is 'Class of the script.';
comment on column scripts.address is 'Its address on this network; null for a nonstandard script.';

create table transaction_inputs (
  transaction_id bigint not null,
  index integer not null,
  previous_transaction_id bigint,
  previous_transaction_hash bytea,
  previous_index bigint not null,
  signature_script bytea not null,
  sequence numeric not null,
  sig_op_count integer not null,
  compute_budget integer not null,
  amount bigint,
  script_id bigint,
  constraint transaction_inputs_pkey primary key (transaction_id, index),
  constraint transaction_inputs_previous check ((previous_transaction_id is null) <> (previous_transaction_hash is null))
);
create index transaction_inputs_previous_transaction_id on transaction_inputs (previous_transaction_id, previous_index);
create index transaction_inputs_unresolved on transaction_inputs (previous_transaction_hash) where previous_transaction_hash is not null;
comment on table transaction_inputs is 'Inputs, of body 0 where an id has several, resolved to the coin they spend. An outpoint names its amount and script for good (the id commits to them), so a resolved input never changes.';
comment on column transaction_inputs.transaction_id is 'The spending transaction.';
comment on column transaction_inputs.index is 'Position of the input.';
comment on column transaction_inputs.previous_transaction_id is 'transactions.id of the transaction that made the coin; null while that was never seen.';
comment on column transaction_inputs.previous_transaction_hash is 'Transaction id of the coin, only while previous_transaction_id is null.';
comment on column transaction_inputs.previous_index is 'Output index of the coin.';
comment on column transaction_inputs.signature_script is 'Signature script.';
comment on column transaction_inputs.sequence is 'Sequence, unsigned 64-bit.';
comment on column transaction_inputs.sig_op_count is 'Sig-op count (transaction version 0).';
comment on column transaction_inputs.compute_budget is 'Compute budget (transaction version 1).';
comment on column transaction_inputs.amount is 'Amount of the coin in sompi; null while the coin was never seen (only in transactions that were never accepted).';
comment on column transaction_inputs.script_id is 'Script of the coin; null while the coin was never seen.';

create table transaction_outputs (
  transaction_id bigint not null,
  index integer not null,
  amount bigint not null,
  script_id bigint not null,
  covenant_authorizing_input integer,
  covenant_id bytea,
  constraint transaction_outputs_pkey primary key (transaction_id, index)
);
comment on table transaction_outputs is 'Outputs.';
comment on column transaction_outputs.transaction_id is 'The transaction.';
comment on column transaction_outputs.index is 'Position of the output.';
comment on column transaction_outputs.amount is 'Amount in sompi.';
comment on column transaction_outputs.script_id is 'Script public key.';
comment on column transaction_outputs.covenant_authorizing_input is 'Input that authorises the covenant; null without a covenant.';
comment on column transaction_outputs.covenant_id is 'Covenant id; null without a covenant.';

create table address_transactions (
  script_id bigint not null,
  transaction_id bigint not null,
  amount_sent bigint not null,
  amount_received bigint not null
);
create unique index address_transactions_script_id on address_transactions (script_id, transaction_id);
comment on table address_transactions is 'One row for each script that a transaction (accepted or not) spends from or pays to. The net change is amount_received - amount_sent; it counts while the transaction is accepted.';
comment on column address_transactions.script_id is 'The script.';
comment on column address_transactions.transaction_id is 'The transaction.';
comment on column address_transactions.amount_sent is 'Sum of the inputs that spend coins of the script, sompi.';
comment on column address_transactions.amount_received is 'Sum of the outputs that pay the script, sompi.';

create table utxos (
  transaction_id bigint not null,
  index bigint not null,
  script_id bigint not null,
  amount bigint not null,
  block_daa_score bigint not null,
  is_coinbase boolean not null,
  constraint utxos_pkey primary key (transaction_id, index)
);
create index utxos_script_id on utxos (script_id);
comment on table utxos is 'Unspent outputs of accepted transactions, at the checkpoint.';
comment on column utxos.transaction_id is 'The transaction that made the coin.';
comment on column utxos.index is 'Output index.';
comment on column utxos.script_id is 'Script public key.';
comment on column utxos.amount is 'Amount in sompi.';
comment on column utxos.block_daa_score is 'DAA score of the accepting block.';
comment on column utxos.is_coinbase is 'Whether a coinbase made it.';

create table balances (
  script_id bigint not null,
  balance bigint not null,
  constraint balances_pkey primary key (script_id)
) with (fillfactor = 80);
comment on table balances is 'Sum of the unspent outputs of each script, at the checkpoint (invariant 4). A script that never held an accepted coin has no row.';
comment on column balances.script_id is 'The script.';
comment on column balances.balance is 'Sompi.';

create table tags (
  address text not null,
  name text not null,
  link text not null default '',
  labels text[] not null default '{}',
  constraint tags_pkey primary key (address)
);
comment on table tags is 'Names and labels that people gave to addresses.';
comment on column tags.address is 'The address.';
comment on column tags.name is 'Name of its owner.';
comment on column tags.link is 'Where to read more; empty when there is nothing.';
comment on column tags.labels is 'What kind of owner it is.';

create table clusters (
  id bigint not null,
  name text,
  link text not null default '',
  labels text[] not null default '{}',
  constraint clusters_pkey primary key (id)
);
comment on table clusters is 'Groups of scripts that belong together by clustering.';
comment on column clusters.id is 'Key.';
comment on column clusters.name is 'Name of the owner; null while nobody knows.';
comment on column clusters.link is 'Where to read more; empty when there is nothing.';
comment on column clusters.labels is 'What kind of owner it is.';

create table cluster_members (
  script_id bigint not null,
  cluster_id bigint not null,
  constraint cluster_members_pkey primary key (script_id)
);
create index cluster_members_cluster_id on cluster_members (cluster_id);
comment on table cluster_members is 'Which script is in which cluster; a script is in one at most.';
comment on column cluster_members.script_id is 'The script.';
comment on column cluster_members.cluster_id is 'Its cluster.';

create table api_keys (
  id bigint generated always as identity,
  name text not null,
  key_hash bytea not null,
  rate_ru numeric not null,
  window_seconds integer not null default 1,
  quota_ru numeric,
  quota_period text,
  expires_at timestamptz,
  revoked_at timestamptz,
  created_at timestamptz not null default now(),
  constraint api_keys_pkey primary key (id),
  constraint api_keys_quota_period check (quota_period in ('day', 'month')),
  constraint api_keys_quota check ((quota_ru is null) = (quota_period is null))
);
create unique index api_keys_key_hash on api_keys (key_hash);
comment on table api_keys is 'Keys of the HTTP API. Only a hash of a key is stored.';
comment on column api_keys.id is 'Key of the row.';
comment on column api_keys.name is 'Whose key it is.';
comment on column api_keys.key_hash is 'SHA-256 of the key.';
comment on column api_keys.rate_ru is 'Request units allowed in a window.';
comment on column api_keys.window_seconds is 'Length of the window.';
comment on column api_keys.quota_ru is 'Request units allowed in a quota period; null for no quota.';
comment on column api_keys.quota_period is 'day or month (UTC); null for no quota.';
comment on column api_keys.expires_at is 'When the key ends by itself; null for never.';
comment on column api_keys.revoked_at is 'When the key was revoked; null while it is good.';
comment on column api_keys.created_at is 'When the key was made.';

create table api_key_usage (
  api_key_id bigint not null,
  day date not null,
  requests bigint not null,
  ru numeric not null,
  constraint api_key_usage_pkey primary key (api_key_id, day)
);
comment on table api_key_usage is 'Metered use, by key and day (UTC).';
comment on column api_key_usage.api_key_id is 'The key.';
comment on column api_key_usage.day is 'The day.';
comment on column api_key_usage.requests is 'Requests answered.';
comment on column api_key_usage.ru is 'Request units spent.';
