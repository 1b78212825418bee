-- The schema: the Kaspa blockDAG in flat tables that join on bigint keys, state that is derived
-- from them, and the views of analysts.
--
-- The single writer (the indexer) assigns the keys. A key grows with the order of first writing and
-- never changes, so `order by id desc` is newest first. There are no foreign keys: rows arrive by
-- COPY, ids are dense and assigned by one process, and `kasgres verify` checks what a foreign key
-- would. Hashes, ids and scripts are raw bytes, amounts are sompi, times are Unix milliseconds, and
-- unsigned 64-bit and 192-bit numbers are numeric.
--
-- Columns are ordered by alignment, 8-byte columns first, so that rows have no padding. Primary
-- keys to which only higher keys are added fill their pages (fillfactor 100).
--
-- Tables that grow with the chain are partitioned by range into generations. Generation g has the
-- keys of blocks and transactions from g * 2^36 on, and the chain blocks of its row in
-- `generations`. Partitions are few and large, since a look-up by hash probes each of them.

create type script_type as enum ('pubkey', 'pubkeyecdsa', 'scripthash', 'nonstandard');
comment on type script_type is 'Class of a script public key, named as the node names it.';

create type interval_length as enum ('minute', 'hour', 'day');
comment on type interval_length is 'Length of an interval of network_intervals (UTC).';

-- Index state -------------------------------------------------------------------------------------

create table meta (
  one_row boolean not null default true,
  network text not null,
  created_at timestamptz not null default now(),
  constraint meta_pkey primary key (one_row),
  constraint meta_one_row check (one_row)
);
comment on table meta is 'The network of this database: one row, written when the indexer first '
  'starts.';
comment on column meta.one_row is 'Always true: keeps the table at one row.';
comment on column meta.network is 'Network id as the node gives it: mainnet, testnet-10, simnet, '
  'devnet. A node of another network is refused.';
comment on column meta.created_at is 'When the indexer first started on this database.';

create table checkpoint (
  one_row boolean not null default true,
  block_id bigint not null,
  chain_index bigint not null,
  next_block_id bigint not null,
  next_transaction_id bigint not null,
  next_script_id bigint not null,
  next_subnetwork_id bigint not null,
  circulating_sompi bigint not null,
  virtual_merge_set bigint[] not null,
  first_catch_up boolean not null,
  target_blue_score bigint not null,
  seconds_left integer,
  updated_at timestamptz not null,
  version bigint not null default 0,
  constraint checkpoint_pkey primary key (one_row),
  constraint checkpoint_one_row check (one_row)
);
comment on table checkpoint is 'Position of the index: one row, changed in the same transaction as '
  'the rows that it covers (invariant 1).';
comment on column checkpoint.one_row is 'Always true: keeps the table at one row.';
comment on column checkpoint.block_id is 'The last chain block applied: the sink of this database.';
comment on column checkpoint.chain_index is 'Its chain_blocks.index.';
comment on column checkpoint.next_block_id is 'Key that the next block written gets.';
comment on column checkpoint.next_transaction_id is 'Key that the next transaction written gets.';
comment on column checkpoint.next_script_id is 'Key that the next script written gets.';
comment on column checkpoint.next_subnetwork_id is 'Key that the next subnetwork written gets.';
comment on column checkpoint.circulating_sompi is 'Sum of all unspent outputs at the sink. Not '
  'kept while first_catch_up.';
comment on column checkpoint.virtual_merge_set is 'Blocks not merged yet, other than the sink, '
  'that the node''s virtual block would merge, as the node last said.';
comment on column checkpoint.first_catch_up is 'True while catching up from the first bootstrap '
  'block: utxos, balances and circulating_sompi are not kept and the indexes in deferred_indexes '
  'are not built. Not after a gap.';
comment on column checkpoint.target_blue_score is 'Blue score of the node''s sink when this row '
  'was written.';
comment on column checkpoint.seconds_left is 'Estimated seconds until the target is reached; null '
  'at the tip or when not known.';
comment on column checkpoint.updated_at is 'When this row was written.';
comment on column checkpoint.version is 'Grows with each change of this row, so that readers can '
  'compare the states of the index.';

create function next_version(previous bigint) returns bigint language sql volatile set search_path = public as $$
  select greatest(previous + 1, (extract(epoch from clock_timestamp()) * 1000000)::bigint)
$$;
comment on function next_version(bigint) is 'The next checkpoint.version. At least the Unix time '
  'in microseconds: a failover may lose the last commits, and a later state must not get the '
  'version of a lost one.';

create table deferred_indexes (
  name text not null,
  definition text not null,
  constraint deferred_indexes_pkey primary key (name)
);
comment on table deferred_indexes is 'Indexes that the first catch-up has dropped and builds at '
  'its end. Empty otherwise.';
comment on column deferred_indexes.name is 'Name of the index.';
comment on column deferred_indexes.definition is 'Statement that makes it, from pg_get_indexdef.';

create table bootstrap_blocks (
  chain_index bigint not null,
  block_id bigint not null,
  utxo_count bigint not null,
  utxo_sompi bigint not null,
  started_at timestamptz not null default now(),
  constraint bootstrap_blocks_pkey primary key (chain_index)
);
comment on table bootstrap_blocks is 'Bootstrap blocks, each with the size of its UTXO set. UTXOs '
  'and balances are exact from the latest one on; one after a gap also has a row in gaps.';
comment on column bootstrap_blocks.chain_index is 'chain_blocks.index of the block.';
comment on column bootstrap_blocks.block_id is 'The block. What it accepted itself is before it '
  'and not known; it accepts no rows.';
comment on column bootstrap_blocks.utxo_count is 'Number of UTXOs in its UTXO set; 0 for genesis.';
comment on column bootstrap_blocks.utxo_sompi is 'Sum of them, sompi.';
comment on column bootstrap_blocks.started_at is 'When the index began there.';

create table gaps (
  id bigint generated always as identity,
  after_block_hash bytea not null,
  before_block_hash bytea not null,
  reason text not null,
  recorded_at timestamptz not null default now(),
  constraint gaps_pkey primary key (id)
);
comment on table gaps is 'Stretches of the chain that are missing, and why (invariant 7). Empty '
  'when nothing is missing.';
comment on column gaps.id is 'Key.';
comment on column gaps.after_block_hash is 'Last chain block before the gap.';
comment on column gaps.before_block_hash is 'First chain block after the gap: a bootstrap block.';
comment on column gaps.reason is 'Why these blocks could not be loaded.';
comment on column gaps.recorded_at is 'When the gap was recorded.';

-- Blocks ------------------------------------------------------------------------------------------

create table blocks (
  id bigint not null,
  timestamp bigint not null,
  bits bigint not null,
  daa_score bigint not null,
  blue_score bigint not null,
  selected_parent_id bigint,
  merging_block_id bigint,
  miner_script_id bigint,
  subsidy bigint,
  version integer not null,
  transaction_count integer not null,
  is_chain_block boolean not null,
  is_blue boolean,
  nonce numeric not null,
  blue_work numeric not null,
  hash bytea not null,
  hash_merkle_root bytea not null,
  accepted_id_merkle_root bytea not null,
  utxo_commitment bytea not null,
  pruning_point bytea not null,
  parents_by_level bytea not null,
  merge_set_blues bigint[] not null,
  merge_set_reds bigint[] not null,
  constraint blocks_pkey primary key (id) with (fillfactor = 100)
) partition by range (id);
create index blocks_blue_score on blocks (blue_score);
create index blocks_blue_work on blocks (blue_work, hash);
create index blocks_daa_score on blocks (daa_score);
create index blocks_hash_text on blocks using hash (encode(hash, 'hex'));
create index blocks_time on blocks (to_timestamp(timestamp / 1000::double precision));
comment on table blocks is 'Every block that was seen: its header, its mergeset, and the chain '
  'block that merges it.';
comment on column blocks.id is 'Key, in order of first writing.';
comment on column blocks.timestamp is 'Unix time in milliseconds, as claimed by the miner.';
comment on column blocks.bits is 'Compact difficulty target.';
comment on column blocks.daa_score is 'Difficulty adjustment score.';
comment on column blocks.blue_score is 'Number of blue blocks in the past.';
comment on column blocks.selected_parent_id is 'Selected parent by GHOSTDAG; null for genesis.';
comment on column blocks.merging_block_id is 'Chain block in whose mergeset this block is; null '
  'while not merged.';
comment on column blocks.miner_script_id is 'scripts.id that the payload of its coinbase names: '
  'who is paid when it is merged. Null for genesis.';
comment on column blocks.subsidy is 'Subsidy in sompi that the same payload names, without fees. '
  'Null for genesis.';
comment on column blocks.version is 'Header version.';
comment on column blocks.transaction_count is 'Number of its rows in block_transactions.';
comment on column blocks.is_chain_block is 'Whether the block is on the virtual selected parent '
  'chain now.';
comment on column blocks.is_blue is 'Colour in the mergeset of the merging block: true blue, false '
  'red, null while not merged.';
comment on column blocks.nonce is 'Proof-of-work nonce, unsigned 64-bit.';
comment on column blocks.blue_work is 'Accumulated work of the blue past, unsigned 192-bit.';
comment on column blocks.hash is 'Block hash, 32 bytes.';
comment on column blocks.hash_merkle_root is 'Merkle root of the hashes of the block''s '
  'transactions.';
comment on column blocks.accepted_id_merkle_root is 'Commitment to the accepted transactions (a '
  'KIP-21 sequencing commitment since Toccata).';
comment on column blocks.utxo_commitment is 'MuHash of the UTXO set.';
comment on column blocks.pruning_point is 'Pruning point of the header.';
comment on column blocks.parents_by_level is 'Parents of levels 1 and up, run-length packed: per '
  'run, number of consecutive levels (u16 LE), number of parents (u16 LE), parent hashes of 32 '
  'bytes each. Level 0 is in block_parents.';
comment on column blocks.merge_set_blues is 'Blue blocks of this block''s own mergeset, in the '
  'node''s order: selected parent first.';
comment on column blocks.merge_set_reds is 'Red blocks of this block''s own mergeset, in the '
  'node''s order.';

create table block_parents (
  block_id bigint not null,
  index smallint not null,
  parent_id bigint not null,
  constraint block_parents_pkey primary key (block_id, index) with (fillfactor = 100)
) partition by range (block_id);
create index block_parents_parent_id on block_parents (parent_id);
comment on table block_parents is 'Direct (level 0) parents of each block.';
comment on column block_parents.block_id is 'The child.';
comment on column block_parents.index is 'Position among the parents in the header.';
comment on column block_parents.parent_id is 'The parent.';

create table chain_blocks (
  index bigint not null,
  block_id bigint not null,
  blue_score bigint not null,
  daa_score bigint not null,
  timestamp bigint not null,
  chain_time bigint not null,
  highest_transaction bigint not null,
  lowest_transaction bigint not null,
  hash bytea not null,
  accepted_transactions bigint[] not null,
  constraint chain_blocks_pkey primary key (index) with (fillfactor = 100)
) partition by range (index);
create index chain_blocks_chain_time on chain_blocks (to_timestamp(chain_time / 1000::double precision));
create index chain_blocks_daa_score on chain_blocks (daa_score);
create index chain_blocks_time on chain_blocks (to_timestamp(timestamp / 1000::double precision));
-- Few blocks accept a transaction that was written so long before.
create index chain_blocks_late on chain_blocks (index) where lowest_transaction < highest_transaction - 10000;
comment on table chain_blocks is 'The virtual selected parent chain, from the first bootstrap '
  'block to the sink.';
comment on column chain_blocks.index is 'Position on the chain; 0 is the first indexed block, the '
  'highest is the sink.';
comment on column chain_blocks.block_id is 'The block.';
comment on column chain_blocks.blue_score is 'Its blue score.';
comment on column chain_blocks.daa_score is 'Its DAA score.';
comment on column chain_blocks.timestamp is 'Its time, Unix milliseconds.';
comment on column chain_blocks.chain_time is 'Highest timestamp of this block and of all chain '
  'blocks below it, Unix milliseconds. Unlike timestamp, it never decreases. Rollups and script '
  'activity use it.';
comment on column chain_blocks.highest_transaction is 'transactions.id of the last transaction '
  'that was written when the block was added: neither it nor a chain block below it accepts a '
  'later one. Never decreases.';
comment on column chain_blocks.lowest_transaction is 'Lowest transactions.id that it accepts; '
  'highest_transaction if it accepts none.';
comment on column chain_blocks.hash is 'Its hash.';
comment on column chain_blocks.accepted_transactions is 'transactions.id of every transaction it '
  'accepts, in the node''s order (invariant 3).';

create table removed_chain_blocks (
  block_id bigint not null,
  accepted_transactions bigint[] not null,
  covenant_events jsonb,
  constraint removed_chain_blocks_pkey primary key (block_id)
);
comment on table removed_chain_blocks is 'Accepted transactions of blocks that were chain blocks '
  'once: a block accepts the same whenever it is one. Kept for twice the finality depth.';
comment on column removed_chain_blocks.block_id is 'The block. It may be a chain block again.';
comment on column removed_chain_blocks.accepted_transactions is 'As in chain_blocks.';
comment on column removed_chain_blocks.covenant_events is 'The rows of covenant_events that were '
  'deleted with it, in their order, each as [transactions.id, covenant id, kind, template that the '
  'covenant then had, or null]; null without any, and during the first catch-up.';

create table pre_bootstrap_blocks (
  id bigint not null,
  hash bytea not null,
  constraint pre_bootstrap_blocks_pkey primary key (id)
);
create unique index pre_bootstrap_blocks_hash on pre_bootstrap_blocks (hash);
create index pre_bootstrap_blocks_hash_text on pre_bootstrap_blocks using hash (encode(hash, 'hex'));
comment on table pre_bootstrap_blocks is 'Pre-bootstrap blocks: not indexed but referred to: as '
  'parents, or in mergesets. Never also in blocks.';
comment on column pre_bootstrap_blocks.id is 'Key, from the same sequence as blocks.id.';
comment on column pre_bootstrap_blocks.hash is 'Block hash, 32 bytes.';

create table pre_bootstrap_times (
  daa_score bigint not null,
  timestamp bigint not null,
  constraint pre_bootstrap_times_pkey primary key (daa_score)
);
comment on table pre_bootstrap_times is 'When the chain had some DAA scores before the first '
  'indexed block, as a node estimates it: about a thousand, replaced by each run of the indexer.';
comment on column pre_bootstrap_times.daa_score is 'A DAA score between genesis and the first '
  'indexed block.';
comment on column pre_bootstrap_times.timestamp is 'Its time, Unix milliseconds. Never less than '
  'that of a lower score.';

-- Transactions ------------------------------------------------------------------------------------

create table subnetworks (
  id bigint not null,
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
  fee bigint,
  accepting_index bigint,
  subnetwork_id integer not null,
  version integer not null,
  accepted_variant integer,
  json_bytes integer not null,
  storage_mass numeric not null,
  compute_mass numeric not null,
  lock_time numeric not null,
  gas numeric not null,
  transaction_id bytea not null,
  hash bytea not null,
  payload bytea not null,
  constraint transactions_pkey primary key (id) with (fillfactor = 100)
) partition by range (id);
-- The programs look up ids by it. It has so many bytes that nobody can make ids that agree in them,
-- and no more, so that an entry is as small as one of a hash index.
create index transactions_transaction_id on transactions (substring(transaction_id from 1 for 7));
-- For filters of the views. A hash index holds four bytes of a text, not the text. Anybody can make
-- ids to which it gives the same four, so no program uses it.
create index transactions_transaction_id_text on transactions using hash (encode(transaction_id, 'hex'));
-- Native transactions and coinbases, which are most, are in no lane.
create index transactions_lane on transactions (subnetwork_id, id) where subnetwork_id > 1;
comment on table transactions is 'One row for each transaction id that a block carries, with its '
  'first variant. Further variants are in transaction_variants.';
comment on column transactions.id is 'Key, in order of first writing.';
comment on column transactions.storage_mass is 'Committed storage mass (KIP-9), of the first '
  'variant.';
comment on column transactions.compute_mass is 'Compute mass in grams, of the first variant.';
comment on column transactions.json_bytes is 'Estimated bytes of the transaction in a response of '
  'the API, without its payload, of the first variant. Pages are bounded by their sum.';
comment on column transactions.fee is 'Inputs minus outputs in sompi, 0 for a coinbase, of every '
  'accepted transaction. Null in others if an input was not resolved when they were written, or if '
  'it is negative or above the maximum supply. Readers show it of accepted transactions only, else '
  'fee_of_existing_utxos.';
comment on column transactions.accepting_index is 'chain_blocks.index of the chain block that '
  'accepts the transaction; null while it is not accepted.';
comment on column transactions.subnetwork_id is 'subnetworks.id; 1 is a coinbase.';
comment on column transactions.version is 'Transaction version.';
comment on column transactions.accepted_variant is 'Number of the accepted variant (0: the one in '
  'this row); null while not accepted, or if the node cannot tell.';
comment on column transactions.lock_time is 'Lock time, unsigned 64-bit.';
comment on column transactions.gas is 'Gas, unsigned 64-bit.';
comment on column transactions.transaction_id is 'Transaction id, 32 bytes: leaves out signature '
  'scripts, sig-op counts, compute budgets and storage mass.';
comment on column transactions.hash is 'Hash of the whole transaction, of the first variant.';
comment on column transactions.payload is 'Payload.';

create table transaction_variants (
  transaction_id bigint not null,
  variant integer not null,
  json_bytes integer not null,
  hash bytea not null,
  storage_mass numeric not null,
  compute_mass numeric not null,
  constraint transaction_variants_pkey primary key (transaction_id, variant)
) partition by range (transaction_id);
-- The hash commits to the id, so no other column is needed, and the planner cannot prefer the
-- primary key.
create index transaction_variants_hash on transaction_variants (hash);
comment on table transaction_variants is 'Second and further variants of a transaction id, in '
  'order of first writing.';
comment on column transaction_variants.transaction_id is 'transactions.id.';
comment on column transaction_variants.variant is 'Number of the variant, from 1.';
comment on column transaction_variants.hash is 'Hash of the whole transaction in this variant.';
comment on column transaction_variants.storage_mass is 'Committed storage mass of this variant.';
comment on column transaction_variants.compute_mass is 'Compute mass in grams, of this variant.';
comment on column transaction_variants.json_bytes is 'Like transactions.json_bytes, of this '
  'variant.';

create table transaction_variant_inputs (
  transaction_id bigint not null,
  variant integer not null,
  index integer not null,
  signature_script bytea not null,
  sig_op_count integer not null,
  compute_budget integer not null,
  constraint transaction_variant_inputs_pkey primary key (transaction_id, variant, index)
) partition by range (transaction_id);
comment on table transaction_variant_inputs is 'Columns of inputs that differ in second and '
  'further variants.';
comment on column transaction_variant_inputs.transaction_id is 'transactions.id.';
comment on column transaction_variant_inputs.variant is 'Number of the variant, from 1.';
comment on column transaction_variant_inputs.index is 'Position of the input.';
comment on column transaction_variant_inputs.signature_script is 'Signature script in this '
  'variant.';
comment on column transaction_variant_inputs.sig_op_count is 'Sig-op count in this variant.';
comment on column transaction_variant_inputs.compute_budget is 'Compute budget in this variant.';

create table block_transactions (
  block_id bigint not null,
  transaction_id bigint not null,
  index integer not null,
  variant integer not null
) partition by range (block_id);
create index block_transactions_block_id on block_transactions (block_id) with (fillfactor = 100);
-- With the block, so that the first blocks of a transaction are found without the others, of which
-- anybody can mine any number.
create index block_transactions_transaction_id on block_transactions (transaction_id, block_id);
comment on table block_transactions is 'Which block contains which transaction, at which position. '
  'One transaction may be in several blocks.';
comment on column block_transactions.block_id is 'The block.';
comment on column block_transactions.transaction_id is 'The transaction.';
comment on column block_transactions.index is 'Position in the block; 0 is the coinbase.';
comment on column block_transactions.variant is 'Number of the variant that this block carries (0: '
  'the one in transactions).';

-- Anybody can mine a transaction again and again, and transactions that spend what others own but
-- are never accepted. These two tables keep reads from counting or searching them.
create table repeated_transactions (
  transaction_id bigint not null,
  block_count bigint not null,
  constraint repeated_transactions_pkey primary key (transaction_id)
);
comment on table repeated_transactions is 'Transactions that more than 16 blocks contain.';
comment on column repeated_transactions.transaction_id is 'transactions.id.';
comment on column repeated_transactions.block_count is 'Number of its rows in block_transactions.';

create table contested_outputs (
  transaction_id bigint not null,
  index bigint not null,
  spender_id bigint,
  constraint contested_outputs_pkey primary key (transaction_id, index)
);
create index contested_outputs_spender_id on contested_outputs (spender_id) where spender_id is not null;
comment on table contested_outputs is 'Outputs that more than 4 transactions spend, at most one of '
  'which is accepted.';
comment on column contested_outputs.transaction_id is 'transactions.id of the transaction that '
  'created the output, or the same of a pre-bootstrap transaction.';
comment on column contested_outputs.index is 'Index of the output.';
comment on column contested_outputs.spender_id is 'transactions.id of the accepted transaction '
  'that spends it; null while there is none.';

create table scripts (
  id bigint not null,
  version integer not null,
  script bytea not null,
  type script_type not null,
  address text,
  constraint scripts_pkey primary key (id) with (fillfactor = 100)
);
-- No hash index, since anybody can make addresses to which Postgres gives the same hash. This one
-- compares bytes, regardless of the collation of the database.
create index scripts_address on scripts (address text_pattern_ops);
-- A script with an address is found by its address, which determines it, the few others by a
-- digest: scripts may be longer than a key of a B-tree.
create index scripts_script on scripts (sha256(script)) where address is null;
create index scripts_without_address on scripts (id) where address is null;
create statistics scripts_type_text on (type::text) from scripts;
comment on table scripts is 'Every distinct script public key, once.';
comment on column scripts.id is 'Key.';
comment on column scripts.version is 'Script version.';
comment on column scripts.script is 'The script.';
comment on column scripts.type is 'Class of the script.';
comment on column scripts.address is 'Its address on this network; null for a nonstandard script.';

create table transaction_inputs (
  transaction_id bigint not null,
  previous_transaction_id bigint,
  previous_index bigint not null,
  amount bigint,
  script_id bigint,
  index smallint not null,
  sig_op_count smallint not null,
  compute_budget integer not null,
  sequence numeric not null,
  previous_transaction_hash bytea not null default '',
  signature_script bytea not null,
  constraint transaction_inputs_previous check ((previous_transaction_id is null) <> (previous_transaction_hash = ''))
) partition by range (transaction_id);
create index transaction_inputs_previous_transaction_id on transaction_inputs (previous_transaction_id, previous_index);
create index transaction_inputs_script_id on transaction_inputs (script_id, transaction_id) where script_id is not null;
create index transaction_inputs_transaction_id on transaction_inputs (transaction_id) with (fillfactor = 100);
-- An input names a transaction by its id or by its key. Inputs without an amount are few, unless
-- miners make them.
create index transaction_inputs_unresolved on transaction_inputs (previous_transaction_hash, (coalesce(previous_transaction_id, 0)), transaction_id)
  where amount is null;
comment on table transaction_inputs is 'Inputs, of the first variant of an id, with the UTXO that '
  'each spends. The id commits to the amount and script of an outpoint, so a resolved input never '
  'changes.';
comment on column transaction_inputs.transaction_id is 'The spending transaction.';
comment on column transaction_inputs.previous_transaction_id is 'transactions.id of the '
  'transaction that created the UTXO; null while it is unknown.';
comment on column transaction_inputs.previous_index is 'Output index of the UTXO.';
comment on column transaction_inputs.amount is 'Amount of the UTXO in sompi; null while it is '
  'unknown, which is possible only in transactions that were never accepted. If late_transactions '
  'has its transaction, a later batch completes it.';
comment on column transaction_inputs.script_id is 'Script of the UTXO; null while it is unknown.';
comment on column transaction_inputs.index is 'Position of the input. The mass limit of a block '
  'allows some 12,000.';
comment on column transaction_inputs.sig_op_count is 'Sig-op count (transaction version 0).';
comment on column transaction_inputs.compute_budget is 'Compute budget (transaction version 1).';
comment on column transaction_inputs.sequence is 'Sequence, unsigned 64-bit.';
comment on column transaction_inputs.previous_transaction_hash is 'Transaction id of the UTXO '
  'while previous_transaction_id is null, else empty: not null, since a null would add 8 bytes to '
  'each row.';
comment on column transaction_inputs.signature_script is 'Signature script.';

create table transaction_outputs (
  transaction_id bigint not null,
  amount bigint not null,
  script_id bigint not null,
  index integer not null,
  covenant_authorizing_input integer,
  covenant_id bytea
) partition by range (transaction_id);
-- Look-ups that compare `index >> 4`, too, read at most 16 outputs of a payout to a thousand. Most
-- transactions need one key, which is stored once.
create index transaction_outputs_transaction_id on transaction_outputs (transaction_id, (index >> 4)) with (fillfactor = 100);
create index transaction_outputs_script_id on transaction_outputs (script_id, transaction_id);
create index transaction_outputs_covenant on transaction_outputs (transaction_id, index) where covenant_id is not null;
comment on table transaction_outputs is 'Outputs.';
comment on column transaction_outputs.transaction_id is 'The transaction.';
comment on column transaction_outputs.amount is 'Amount in sompi.';
comment on column transaction_outputs.script_id is 'Script public key.';
comment on column transaction_outputs.index is 'Position of the output.';
comment on column transaction_outputs.covenant_authorizing_input is 'Input that authorises the '
  'covenant; null without a covenant.';
comment on column transaction_outputs.covenant_id is 'Covenant id; null without a covenant.';

-- Partitions --------------------------------------------------------------------------------------

create table generations (
  generation integer not null,
  first_index bigint not null,
  end_index bigint not null,
  constraint generations_pkey primary key (generation)
);
comment on table generations is 'The partitions: `blocks_3` has the blocks of generation 3, and so '
  'on.';
comment on column generations.generation is 'Its number. Keys of its blocks and transactions begin '
  'at 2^36 times this.';
comment on column generations.first_index is 'Lowest chain_blocks.index of its chain blocks. The '
  'first batch that begins there, or higher, takes its keys.';
comment on column generations.end_index is 'First chain_blocks.index that is too high.';

-- Hashes are unique in each partition, since a unique index of all of them would need the key;
-- `kasgres verify` finds duplicates between partitions. Rows of blocks and transactions are updated
-- when they are merged or accepted, and have room for that. A chain block accepts most transactions
-- of a page at once, so each needs room for a second version. With a fillfactor of 70, a third of
-- them moved to another page, with new index entries; the table and its indexes grew as much.
create function make_partition(parent text, name text) returns void language plpgsql set search_path = public, pg_temp as $$
declare
  owner name;
  statistics_name text;
begin
  execute format('create table %I (like %I including defaults including constraints including indexes including statistics including storage)%s', name, parent,
    case parent when 'blocks' then ' with (fillfactor = 90)' when 'transactions' then ' with (fillfactor = 50)' else '' end);
  if parent = 'blocks' then
    execute format('create unique index %I on %I (hash)', name || '_hash', name);
  elsif parent = 'chain_blocks' then
    execute format('create unique index %I on %I (block_id)', name || '_block_id', name);
  end if;
  -- Otherwise they would belong to the login of the indexer, and neither another login nor the
  -- owner of the database could use them.
  owner := (select pg_get_userbyid(relowner) from pg_class where oid = parent::regclass);
  execute format('alter table %I owner to %I', name, owner);
  for statistics_name in select stxname from pg_statistic_ext where stxrelid = name::regclass loop
    execute format('alter statistics %I owner to %I', statistics_name, owner);
  end loop;
end $$;
comment on function make_partition(text, text) is 'Makes a table that can be attached as a '
  'partition. It belongs to the owner of its parent.';

create function name_partition_indexes(parent text, name text) returns void language plpgsql set search_path = public, pg_temp as $$
declare
  own text;
  of_parent text;
begin
  for own, of_parent in
    select o.relname, p.relname from pg_index i join pg_class o on o.oid = i.indexrelid
      join pg_inherits h on h.inhrelid = o.oid join pg_class p on p.oid = h.inhparent
     where i.indrelid = name::regclass and o.relname <> replace(p.relname, parent, name) loop
    execute format('alter index %I rename to %I', own, replace(of_parent, parent, name));
  end loop;
end $$;
comment on function name_partition_indexes(text, text) is 'Names the indexes of a partition after '
  'those of its table.';

create function make_generation(generation integer, first_index bigint, end_index bigint) returns void
language plpgsql set search_path = public, pg_temp as $$
declare
  parent text;
  name text;
  keys text := format('from (%s) to (%s)', case generation when 0 then 'minvalue' else (generation * 2::numeric ^ 36)::bigint::text end,
    ((generation + 1) * 2::numeric ^ 36)::bigint);
begin
  foreach parent in array array['blocks', 'block_parents', 'block_transactions', 'transactions', 'transaction_variants', 'transaction_variant_inputs',
                                'transaction_inputs', 'transaction_outputs', 'chain_blocks'] loop
    name := format('%s_%s', parent, generation);
    perform make_partition(parent, name);
    execute format('alter table %I attach partition %I for values %s', parent, name, case parent
      when 'chain_blocks' then format('from (%s) to (%s)', case generation when 0 then 'minvalue' else first_index::text end, end_index)
      else keys end);
    perform name_partition_indexes(parent, name);
  end loop;
  insert into generations values (generation, first_index, end_index);
end $$;
comment on function make_generation(integer, bigint, bigint) is 'Makes the partitions of a '
  'generation. Nobody waits for it.';

-- Attaching it again reads all of its chain blocks.
create function end_generation(ended integer, at_index bigint) returns void language plpgsql set search_path = public, pg_temp as $$
declare
  name text := format('chain_blocks_%s', ended);
  first_index bigint := (select g.first_index from generations g where g.generation = ended);
begin
  execute format('alter table chain_blocks detach partition %I', name);
  execute format('alter table chain_blocks attach partition %I for values from (%s) to (%s)', name,
    case ended when 0 then 'minvalue' else first_index::text end, at_index);
  update generations set end_index = at_index where generation = ended;
end $$;
comment on function end_generation(integer, bigint) is 'Ends the last generation earlier than '
  'planned.';

-- Statistics of index expressions belong to partitions, but joins are estimated by those of the
-- whole table.
create statistics transactions_transaction_id_text on (encode(transaction_id, 'hex')) from transactions;
create statistics blocks_hash_text on (encode(hash, 'hex')) from blocks;
-- Without these, Postgres has no statistics of what views compute from a column, and would expect
-- one row in 200 to equal a value, to be null, or not to be. Partitions have copies.
create statistics transactions_acceptance on (case when accepting_index is null then 'not accepted' else 'accepted' end) from transactions;
create statistics blocks_color on (case is_blue when true then 'blue' when false then 'red' end) from blocks;
create statistics blocks_merged_color on (case when is_blue then 'blue' else 'red' end) from blocks;
create statistics blocks_transaction_count on (transaction_count::bigint) from blocks;
create statistics blocks_blue_count on (cardinality(merge_set_blues)) from blocks;
create statistics blocks_red_count on (cardinality(merge_set_reds)) from blocks;
create statistics transaction_inputs_index on (index::integer) from transaction_inputs;
create statistics transaction_outputs_covenant_id_text on (encode(covenant_id, 'hex')) from transaction_outputs;

-- About a year of mainnet; an indexer with RETENTION makes it shorter.
select make_generation(0, 0, 100000000);

-- Without conditions, and with the same types on both sides: so the planner sees through it and
-- finds both indexes.
create view script_deltas as
select script_id, transaction_id, 0::bigint as amount_sent, amount as amount_received from transaction_outputs
union all
select script_id, transaction_id, amount, 0::bigint from transaction_inputs;
comment on view script_deltas is 'One row for each output, and for each input, by how much it '
  'changes the balance of its script. Fast by script_id and by transaction_id.';
comment on column script_deltas.script_id is 'The script; null for an input whose UTXO was never '
  'seen.';
comment on column script_deltas.transaction_id is 'The transaction.';
comment on column script_deltas.amount_sent is 'Amount of an input, sompi; 0 for an output.';
comment on column script_deltas.amount_received is 'Amount of an output, sompi; 0 for an input.';

-- Numeric, since the inputs of a transaction that is not accepted may spend more than 64 bits.
create view address_transactions as
select script_id, transaction_id, sum(amount_sent) as amount_sent, sum(amount_received) as amount_received
  from script_deltas
 where script_id is not null
 group by script_id, transaction_id;
comment on view address_transactions is 'One row for each script that a transaction (accepted or '
  'not) spends from or pays to. For all rows, or those of one script or transaction: a join '
  'computes all of them.';
comment on column address_transactions.script_id is 'The script.';
comment on column address_transactions.transaction_id is 'The transaction.';
comment on column address_transactions.amount_sent is 'Sum of the inputs that spend UTXOs of the '
  'script, sompi.';
comment on column address_transactions.amount_received is 'Sum of the outputs that pay the script, '
  'sompi.';

create table pre_bootstrap_transactions (
  id bigint not null,
  transaction_id bytea not null,
  constraint pre_bootstrap_transactions_pkey primary key (id)
);
create unique index pre_bootstrap_transactions_transaction_id on pre_bootstrap_transactions (transaction_id);
comment on table pre_bootstrap_transactions is 'Pre-bootstrap transactions: accepted in a part of '
  'the chain that is not indexed, and known by their UTXOs at a bootstrap block. They are also in '
  'transactions if an indexed block carries them again.';
comment on column pre_bootstrap_transactions.id is 'Key, from the same sequence as '
  'transactions.id.';
comment on column pre_bootstrap_transactions.transaction_id is 'Transaction id, 32 bytes.';

create table late_transactions (
  id bigint not null,
  from_transaction bigint not null default 0,
  transaction_id bytea not null,
  constraint late_transactions_pkey primary key (id, transaction_id)
);
create index late_transactions_transaction_id on late_transactions (transaction_id);
comment on table late_transactions is 'Transactions that were written after inputs that spend '
  'them. Each batch completes a portion of these inputs, which have no amount until then. Usually '
  'empty.';
comment on column late_transactions.id is 'Key of the transaction, in transactions or '
  'pre_bootstrap_transactions.';
comment on column late_transactions.from_transaction is 'Inputs of spending transactions with '
  'lower keys are completed.';
comment on column late_transactions.transaction_id is 'The id by which these inputs name it; empty '
  'if they name it by its key.';

-- Unspent outputs and balances --------------------------------------------------------------------

create table utxos (
  transaction_id bigint not null,
  script_id bigint not null,
  amount bigint not null,
  block_daa_score bigint not null,
  index integer not null,
  is_coinbase boolean not null,
  covenant_id bytea
);
-- The only index of most UTXOs, so that each is written to one: an output determines its script, so
-- all who look for an outpoint know the script, too.
create unique index utxos_script_id on utxos (script_id, transaction_id, index);
create index utxos_covenant_id on utxos (covenant_id, transaction_id, index) where covenant_id is not null;
create index utxos_script_id_covenant_id on utxos (script_id, covenant_id) where covenant_id is not null;
comment on table utxos is 'Unspent outputs of accepted transactions, at the checkpoint.';
comment on column utxos.transaction_id is 'The transaction that created the UTXO.';
comment on column utxos.index is 'Output index.';
comment on column utxos.script_id is 'Script public key.';
comment on column utxos.amount is 'Amount in sompi.';
comment on column utxos.block_daa_score is 'DAA score of the accepting block.';
comment on column utxos.is_coinbase is 'Whether a coinbase made it.';
comment on column utxos.covenant_id is 'Covenant id; null without a covenant.';

create table bootstrap_utxos (
  transaction_id bigint not null,
  script_id bigint not null,
  amount bigint not null,
  block_daa_score bigint not null,
  index integer not null,
  is_coinbase boolean not null,
  covenant_id bytea,
  constraint bootstrap_utxos_pkey primary key (transaction_id, index)
);
comment on table bootstrap_utxos is 'The UTXO set of the latest bootstrap block, as it was there: '
  'unspent or not by now. Empty when that is genesis.';
comment on column bootstrap_utxos.transaction_id is 'The transaction that created the UTXO: a row '
  'of pre_bootstrap_transactions, or of transactions that were accepted before a gap.';
comment on column bootstrap_utxos.index is 'Output index.';
comment on column bootstrap_utxos.script_id is 'Script public key.';
comment on column bootstrap_utxos.amount is 'Amount in sompi.';
comment on column bootstrap_utxos.block_daa_score is 'DAA score of the block that accepted it.';
comment on column bootstrap_utxos.is_coinbase is 'Whether a coinbase made it.';
comment on column bootstrap_utxos.covenant_id is 'Covenant id; null without a covenant.';

create table bootstrap_balances (
  chain_index bigint not null,
  script_id bigint not null,
  balance bigint not null,
  constraint bootstrap_balances_pkey primary key (chain_index, script_id)
);
comment on table bootstrap_balances is 'Balances of scripts at each bootstrap block before the '
  'latest, whose own UTXO set is bootstrap_utxos: with them, everything that counts from '
  'bootstrap_blocks can be computed from rows.';
comment on column bootstrap_balances.chain_index is 'bootstrap_blocks.chain_index.';
comment on column bootstrap_balances.script_id is 'The script.';
comment on column bootstrap_balances.balance is 'Sum of its UTXOs in the UTXO set of that '
  'bootstrap block, sompi; scripts without any have no row.';

create table next_bootstrap (
  one_row boolean not null default true,
  bootstrap_index bigint not null,
  chain_index bigint not null,
  hashed_transaction_id bigint,
  hashed_index integer,
  product bytea not null,
  constraint next_bootstrap_pkey primary key (one_row),
  constraint next_bootstrap_one_row check (one_row)
);
comment on table next_bootstrap is 'How far the UTXO set of the next bootstrap block is computed '
  'that RETENTION makes: no row, or one. It is that of the latest bootstrap block, without '
  'next_bootstrap_spent, with next_bootstrap_created.';
comment on column next_bootstrap.one_row is 'Always true: keeps the table at one row.';
comment on column next_bootstrap.bootstrap_index is 'bootstrap_blocks.chain_index of the latest '
  'bootstrap block.';
comment on column next_bootstrap.chain_index is 'The last chain block whose accepted transactions '
  'are in it.';
comment on column next_bootstrap.hashed_transaction_id is 'The last UTXO of bootstrap_utxos in '
  '`product`: its transaction. Null when all are.';
comment on column next_bootstrap.hashed_index is 'Its output index.';
comment on column next_bootstrap.product is 'MuHash of the set: a number of 384 bytes, big-endian.';

create table next_bootstrap_created (
  transaction_id bigint not null,
  script_id bigint not null,
  amount bigint not null,
  block_daa_score bigint not null,
  index integer not null,
  is_coinbase boolean not null,
  covenant_id bytea,
  constraint next_bootstrap_created_pkey primary key (transaction_id, index)
);
comment on table next_bootstrap_created is 'UTXOs of the next bootstrap block that were created '
  'since the latest one.';
comment on column next_bootstrap_created.transaction_id is 'The transaction that created the UTXO.';
comment on column next_bootstrap_created.index is 'Output index.';
comment on column next_bootstrap_created.script_id is 'Script public key.';
comment on column next_bootstrap_created.amount is 'Amount in sompi.';
comment on column next_bootstrap_created.block_daa_score is 'DAA score of the block that accepted '
  'it.';
comment on column next_bootstrap_created.is_coinbase is 'Whether a coinbase made it.';
comment on column next_bootstrap_created.covenant_id is 'Covenant id; null without a covenant.';

create table next_bootstrap_spent (
  transaction_id bigint not null,
  amount bigint not null,
  index integer not null,
  constraint next_bootstrap_spent_pkey primary key (transaction_id, index)
);
comment on table next_bootstrap_spent is 'UTXOs of the latest bootstrap block that were spent up '
  'to the next one.';
comment on column next_bootstrap_spent.transaction_id is 'The transaction that created the UTXO.';
comment on column next_bootstrap_spent.amount is 'Amount in sompi.';
comment on column next_bootstrap_spent.index is 'Output index.';

create unlogged table utxo_set_load (
  one_row boolean not null default true,
  block_hash bytea not null,
  utxos bigint not null,
  sompi numeric not null,
  product bytea not null,
  constraint utxo_set_load_pkey primary key (one_row),
  constraint utxo_set_load_one_row check (one_row)
);
comment on table utxo_set_load is 'How far the UTXO set of a coming bootstrap block is loaded: no '
  'row, or one. Changes in one transaction with loaded_utxos.';
comment on column utxo_set_load.one_row is 'Always true: keeps the table at one row.';
comment on column utxo_set_load.block_hash is 'The pruning point whose set it is.';
comment on column utxo_set_load.utxos is 'Number of UTXOs loaded.';
comment on column utxo_set_load.sompi is 'Sum of them, sompi.';
comment on column utxo_set_load.product is 'Their MuHash so far: a number of 384 bytes, '
  'big-endian.';

create unlogged table loaded_utxos (
  transaction_id bytea not null,
  index bigint not null,
  amount bigint not null,
  script_version integer not null,
  script bytea not null,
  script_type script_type not null,
  address text,
  block_daa_score bigint not null,
  is_coinbase boolean not null,
  covenant_id bytea
);
comment on table loaded_utxos is 'UTXOs of the next bootstrap block, as the node sent them, until '
  'its UTXO commitment is checked. Empty otherwise.';
comment on column loaded_utxos.transaction_id is 'Transaction id, 32 bytes.';
comment on column loaded_utxos.index is 'Output index.';
comment on column loaded_utxos.amount is 'Amount in sompi.';
comment on column loaded_utxos.script_version is 'Script version.';
comment on column loaded_utxos.script is 'The script.';
comment on column loaded_utxos.script_type is 'Class of the script.';
comment on column loaded_utxos.address is 'Its address; null for a nonstandard script.';
comment on column loaded_utxos.block_daa_score is 'DAA score of the block that accepted it.';
comment on column loaded_utxos.is_coinbase is 'Whether a coinbase made it.';
comment on column loaded_utxos.covenant_id is 'Covenant id; null without a covenant.';

-- Counts of transactions are numeric, like sums: 3 to 5 bytes for most scripts instead of 8,
-- without a limit. An integer could overflow: a script in each of 3,000 transactions a second
-- reaches 2^31 in eight days. `utxo_count` is an integer, since nodes keep all UTXOs, and each must
-- hold an amount to be relayed or merged (KIP-9).
-- `received` and `sent` are both kept: their difference is the balance only where the index has no
-- gap and begins at genesis.
-- The fillfactor is 100, since the index of balances contains the balance: updates on acceptance
-- can never be HOT. With 85 for this table and utxos, updates at the tip move half as many rows to
-- other pages, but write the same amount of WAL.
-- Columns that an update seldom changes come first and last, since the WAL has only what is between
-- them.
create table balances (
  script_id bigint not null,
  first_seen bigint,
  balance bigint not null,
  last_seen bigint,
  last_change bigint not null default 0,
  last_change_hour integer not null default 0,
  utxo_count integer not null default 0,
  is_tagged boolean not null default false,
  transaction_count numeric not null default 0,
  accepted_count numeric not null default 0,
  receiving_count numeric not null default 0,
  received numeric not null default 0,
  sending_count numeric not null default 0,
  sent numeric not null default 0,
  coinbase_count numeric not null default 0,
  constraint balances_pkey primary key (script_id)
);
create index balances_balance on balances (balance desc, script_id desc) where balance > 0;
create index balances_tagged on balances (balance desc, script_id desc) where balance > 0 and is_tagged;
create statistics balances_utxo_count on (utxo_count::bigint) from balances;
create statistics balances_accepted_count on (accepted_count::bigint) from balances;
create statistics balances_receiving_count on (receiving_count::bigint) from balances;
create statistics balances_sending_count on (sending_count::bigint) from balances;
create statistics balances_coinbase_count on (coinbase_count::bigint) from balances;
create statistics balances_last_change_time on (to_timestamp(last_change_hour * 3600::double precision)) from balances;
comment on table balances is 'Sums of every script at the checkpoint (invariant 4): one row for '
  'each script of an output, of an input, of bootstrap_utxos and of bootstrap_balances. A script '
  'has no row yet while all its transactions are in unmerged_touches.';
comment on column balances.script_id is 'The script.';
comment on column balances.balance is 'Sum of its unspent outputs, sompi.';
comment on column balances.first_seen is 'chain_blocks.chain_time of the first block on the chain '
  'that accepts a transaction that touches it, or of the first bootstrap block when it held UTXOs '
  'there before; null while there is none.';
comment on column balances.last_seen is 'chain_blocks.chain_time of the last block on the chain '
  'that accepts a transaction that touches it; first_seen while there is none. What happened in a '
  'gap is not seen.';
comment on column balances.last_change is 'By how much the balance changed in last_change_hour, '
  'sompi. See balance_changes.';
comment on column balances.last_change_hour is 'The latest hour in which the balance changed, or a '
  'later one with a change of 0: hours since 1970 (UTC), by chain_time of the accepting block. 0 '
  'if it never changed.';
comment on column balances.utxo_count is 'Number of its unspent outputs.';
comment on column balances.is_tagged is 'Whether the address has a tag or is in a named cluster.';
comment on column balances.transaction_count is 'Number of transactions that touch it, accepted or '
  'not. Those in unmerged_touches are not counted yet, so it may be below accepted_count.';
comment on column balances.accepted_count is 'Number of accepted transactions that touch it.';
comment on column balances.receiving_count is 'Number of accepted transactions with an output to '
  'it.';
comment on column balances.sending_count is 'Number of accepted transactions with an input from '
  'it.';
comment on column balances.coinbase_count is 'Number of accepted coinbase transactions with an '
  'output to it.';
comment on column balances.received is 'Sum of the outputs to it of accepted transactions, change '
  'included, sompi.';
comment on column balances.sent is 'Sum of the inputs from it of accepted transactions, sompi.';

-- A transaction is counted when the block in which it was first seen is merged. Most are accepted
-- then, so each row of balances changes once instead of twice.
create table unmerged_touches (
  block_id bigint not null,
  script_ids bigint[] not null,
  constraint unmerged_touches_pkey primary key (block_id)
);
comment on table unmerged_touches is 'Scripts of transactions that balances.transaction_count does '
  'not count yet: one row for each block that is not merged. It is counted and deleted when the '
  'block is merged, or after 300 further blocks.';
comment on column unmerged_touches.block_id is 'Block in which the transactions were first seen.';
comment on column unmerged_touches.script_ids is 'Scripts that its transactions touch, repeated '
  'for each transaction.';

create table balance_tiers (
  tier integer not null,
  addresses bigint not null,
  balance numeric not null,
  constraint balance_tiers_pkey primary key (tier)
);
comment on table balance_tiers is 'How many addresses hold how much. Triggers of balances keep it; '
  'scripts without an address do not count.';
comment on column balance_tiers.tier is '0 for balances below 1 KAS, else the number of digits of '
  'the whole KAS.';
comment on column balance_tiers.addresses is 'Addresses whose balance is in this tier.';
comment on column balance_tiers.balance is 'Sum of these balances in sompi.';

-- Not strict, since the planner would not inline it: a call takes 13 µs.
create function balance_tier(balance bigint) returns integer language sql immutable parallel safe as $$
  select greatest(length(balance::text) - 8, 0)
$$;
comment on function balance_tier is 'The tier of a balance in sompi, which is not 0.';

create function keep_balance_tiers() returns trigger language plpgsql set search_path = public as $$
begin
  if tg_op = 'TRUNCATE' then
    delete from balance_tiers;
  elsif tg_op = 'INSERT' then
    merge into balance_tiers t
    using (select balance_tier(m.balance) as tier, count(*) as addresses, sum(m.balance) as balance from made m
            where m.balance > 0 and not exists (select from scripts s where s.id = m.script_id and s.address is null)
            group by 1) c on t.tier = c.tier
    when matched then update set addresses = t.addresses + c.addresses, balance = t.balance + c.balance
    when not matched then insert values (c.tier, c.addresses, c.balance);
  else
    merge into balance_tiers t
    using (select balance_tier(c.balance) as tier, sum(c.addresses) as addresses, sum(c.addresses * c.balance) as balance
             from (select script_id, balance, 1 as addresses from made union all select script_id, balance, -1 from gone) c
            where c.balance > 0 and not exists (select from scripts s where s.id = c.script_id and s.address is null)
            group by 1 having sum(c.addresses) <> 0 or sum(c.addresses * c.balance) <> 0) c on t.tier = c.tier
    when matched then update set addresses = t.addresses + c.addresses, balance = t.balance + c.balance
    when not matched then insert values (c.tier, c.addresses, c.balance);
  end if;
  return null;
end $$;
comment on function keep_balance_tiers is 'Trigger of balances: adds its changes to balance_tiers. '
  'Rows of balances are never deleted.';

create trigger balances_keep_tiers_inserted after insert on balances referencing new table as made for each statement execute function keep_balance_tiers();
create trigger balances_keep_tiers_updated after update on balances referencing old table as gone new table as made for each statement execute function keep_balance_tiers();
create trigger balances_keep_tiers_truncated after truncate on balances for each statement execute function keep_balance_tiers();

-- The latest hour of each script is in balances, whose row changes anyway. So a change seldom
-- writes a row here, and a script that is used within one hour has none.
create table previous_balance_changes (
  script_id bigint not null,
  hour integer not null,
  change bigint not null,
  constraint previous_balance_changes_pkey primary key (script_id, hour)
);
create statistics previous_balance_changes_time on (to_timestamp(hour * 3600::double precision)) from previous_balance_changes;
comment on table previous_balance_changes is 'The balance_changes of hours before '
  'balances.last_change_hour.';
comment on column previous_balance_changes.script_id is 'The script.';
comment on column previous_balance_changes.hour is 'Hours since 1970 (UTC), by chain_time of the '
  'accepting block.';
comment on column previous_balance_changes.change is 'Sum of the net changes by transactions '
  'accepted in that hour, sompi.';

-- Neither part has a condition: in a join, Postgres would then read all of it instead of looking up
-- one script.
create view balance_changes as
select script_id, hour, change from previous_balance_changes
union all
select script_id, last_change_hour, last_change from balances;
comment on view balance_changes is 'By how much each script''s balance changed in each hour: the '
  'sum up to an hour is the balance at its end, and never negative. Hours in which nothing changed '
  'have no row, or 0; a script whose balance never changed has 0 in hour 0. In the hour of a '
  'bootstrap block, what the script holds there beyond its balance before is a change too: what is '
  'before the bootstrap block is not known.';
comment on column balance_changes.script_id is 'The script.';
comment on column balance_changes.hour is 'Hours since 1970 (UTC), by chain_time of the accepting '
  'block.';
comment on column balance_changes.change is 'Sum of the net changes by transactions accepted in '
  'that hour, sompi.';

create table seen_before (
  chain_index bigint not null,
  script_ids bigint[] not null,
  last_seen bigint[] not null,
  constraint seen_before_pkey primary key (chain_index)
);
comment on table seen_before is 'Previous balances.last_seen of the scripts that each of the '
  'latest chain blocks touches; a reorg restores it.';
comment on column seen_before.chain_index is 'chain_blocks.index.';
comment on column seen_before.script_ids is 'Scripts that its accepted transactions touch, each '
  'once.';
comment on column seen_before.last_seen is 'balances.last_seen of each before this block; null '
  'when it was never seen before.';

-- Network intervals -------------------------------------------------------------------------------

create table network_intervals (
  length interval_length not null,
  start bigint not null,
  chain_blocks bigint not null,
  blocks bigint not null,
  red_blocks bigint not null,
  transactions bigint not null,
  fees numeric not null,
  volume numeric not null,
  minted bigint not null,
  supply bigint not null,
  active_scripts bigint not null,
  new_scripts bigint not null,
  work numeric not null,
  constraint network_intervals_pkey primary key (length, start)
);
create index network_intervals_time on network_intervals (length, to_timestamp(start / 1000::double precision));
comment on table network_intervals is 'Totals of the network for each minute, hour and day of the '
  'chain. A chain block belongs to the interval of its chain_time, and with it what it merges and '
  'accepts; intervals without a chain block have no row.';
comment on column network_intervals.length is 'How long it is.';
comment on column network_intervals.start is 'When it begins, Unix milliseconds.';
comment on column network_intervals.chain_blocks is 'Chain blocks.';
comment on column network_intervals.blocks is 'Blocks merged by them, blue and red.';
comment on column network_intervals.red_blocks is 'Red ones among these.';
comment on column network_intervals.transactions is 'Accepted transactions other than coinbases.';
comment on column network_intervals.fees is 'Fees of these, sompi. Numeric, since the same amounts '
  'may be paid as fees again and again.';
comment on column network_intervals.volume is 'Outputs of these, change included, sompi.';
comment on column network_intervals.minted is 'Outputs minus inputs of all accepted transactions: '
  'by how much the supply grew, sompi.';
comment on column network_intervals.supply is 'Circulating supply at its end, sompi.';
comment on column network_intervals.active_scripts is 'Scripts that accepted transactions touch, '
  'each once.';
comment on column network_intervals.new_scripts is 'Those among these that were never seen before.';
comment on column network_intervals.work is 'Work of the merged blocks: the number of hashes that '
  'it takes to find them, on average.';

create table miner_hours (
  hour integer not null,
  script_id bigint not null,
  blocks bigint not null,
  red_blocks bigint not null,
  rewards numeric not null,
  constraint miner_hours_pkey primary key (hour, script_id)
);
comment on table miner_hours is 'Blocks and rewards of each miner in each hour of the chain.';
comment on column miner_hours.hour is 'Hours since 1970 (UTC) by the chain_time of the merging '
  'chain block.';
comment on column miner_hours.script_id is 'The script that the coinbases of the blocks name.';
comment on column miner_hours.blocks is 'Merged blocks, blue and red.';
comment on column miner_hours.red_blocks is 'Red ones among these.';
comment on column miner_hours.rewards is 'Sompi that the coinbases of the merging blocks pay to '
  'the script.';

-- The rewards that a chain block pays do not count if it merges blocks that are not indexed.
create function count_miner_hours(first_index bigint, last_index bigint) returns table (
  hour integer, script_id bigint, blocks bigint, red_blocks bigint, rewards numeric)
language sql stable set search_path = public as $$
  -- An array keeps the planner from expecting a two-hundredth of the chain in a range with unknown
  -- ends, for which it would read all blocks.
  with merging as (
    select c.block_id, (c.chain_time / 3600000)::integer as hour, b.merge_set_blues, b.merge_set_reds
      from unnest(array(select index from chain_blocks where index between first_index and last_index)) as range (index)
      join chain_blocks c on c.index = range.index
      join blocks b on b.id = c.block_id
     where not exists (select from unnest(b.merge_set_blues || b.merge_set_reds) as merged (id)
                        where not exists (select from blocks where blocks.id = merged.id)))
  select counted.hour, counted.script_id, sum(counted.blocks)::bigint, sum(counted.red_blocks)::bigint, sum(counted.rewards)
    from (select m.hour, b.miner_script_id as script_id, 1 as blocks, case when merged.is_red then 1 else 0 end as red_blocks, 0::bigint as rewards
            from merging m
           cross join lateral (select unnest(m.merge_set_blues) as id, false as is_red
                               union all select unnest(m.merge_set_reds), true) merged
            join blocks b on b.id = merged.id
           where b.miner_script_id is not null
          union all
          select m.hour, o.script_id, 0, 0, o.amount
            from merging m
            join block_transactions bt on bt.block_id = m.block_id and bt.index = 0
            join transaction_outputs o on o.transaction_id = bt.transaction_id) counted
   group by counted.hour, counted.script_id
$$;
comment on function count_miner_hours(bigint, bigint) is 'The part of miner_hours that comes from '
  'a range of chain blocks, of 100,000 at most.';

create function count_miner_hours() returns table (hour integer, script_id bigint, blocks bigint, red_blocks bigint, rewards numeric)
language sql stable set search_path = public as $$
  -- In parts, since a range is held in memory as an array.
  select c.hour, c.script_id, sum(c.blocks)::bigint, sum(c.red_blocks)::bigint, sum(c.rewards)
    from generate_series(0, (select max(index) from chain_blocks), 100000) as first (index)
   cross join lateral count_miner_hours(first.index, first.index + 99999) c
   group by c.hour, c.script_id
$$;
comment on function count_miner_hours() is 'The part of miner_hours that comes from all chain '
  'blocks.';

create function next_position_after(previous bigint, positions bigint[]) returns bigint language sql immutable as $$
  select coalesce(min(position), previous) from unnest(positions) position where position > coalesce(previous, -1)
$$;
comment on function next_position_after is 'The first of these positions that is after the '
  'previous one; that one if there is none.';
create aggregate ascending_positions(bigint[]) (sfunc = next_position_after, stype = bigint);
comment on aggregate ascending_positions(bigint[]) is 'As a window function: the lowest ascending '
  'positions, one of each row''s array.';

create function mergeset_rewards(merging bigint, window_blue_scores bigint) returns table (
  block_id bigint, is_blue boolean, is_rewarded boolean, subsidy bigint, fees bigint)
language sql stable set search_path = public as $$
  with chain_block as (
    select b.*, c.accepted_transactions from blocks b join chain_blocks c on c.block_id = b.id where b.id = merging),
  merged as (
    select b.id, listed.is_blue, m.blue_score - b.blue_score <= window_blue_scores as is_rewarded, listed.position,
           case when b.selected_parent_id is null then 0 else coalesce(b.subsidy, 0) end as subsidy,
           row_number() over (order by b.id <> m.selected_parent_id, b.blue_work, b.hash) as mergeset_position
      from chain_block m
     cross join lateral (select id, true as is_blue, position from unnest(m.merge_set_blues) with ordinality blues (id, position)
                         union all select unnest(m.merge_set_reds), false, null) listed
      join blocks b on b.id = listed.id),
  -- By the position of the block in the mergeset, then of the transaction in the block: the order
  -- in which the node accepts. Read from the merged blocks, since any number of other blocks may
  -- contain the same transactions.
  contained as materialized (
    select bt.transaction_id, bt.variant, merged.mergeset_position << 32 | bt.index as copy_position
      from merged cross join lateral (select * from block_transactions bt where bt.block_id = merged.id offset 0) bt),
  copies as (
    select accepted.position, t.fee, array_agg(contained.copy_position) as copy_positions
      from chain_block m
     cross join lateral unnest(m.accepted_transactions) with ordinality accepted (id, position)
      join contained on contained.transaction_id = accepted.id
      join transactions t on t.id = accepted.id and t.subnetwork_id <> 1 and contained.variant = coalesce(t.accepted_variant, contained.variant)
     group by accepted.position, t.fee),
  -- A copy that comes before what the previous transaction was accepted from was not accepted: an
  -- input of it was only created later in the mergeset.
  accepted_copies as (
    select fee, copy_positions, ascending_positions(copy_positions) over (order by position) as copy_position from copies),
  earned as (
    select copy_position >> 32 as mergeset_position, sum(fee)::bigint as fees
      from accepted_copies where copy_position = any(copy_positions) group by copy_position >> 32),
  -- The coinbase pays each blue, so their fees are known even if nobody knows which variant of a
  -- transaction was accepted.
  paid as (
    select blue.id, o.amount - blue.subsidy as fees
      from (select id, subsidy, row_number() over (order by position) - 1 as output
              from merged where is_blue and is_rewarded and subsidy > 0) blue
      join block_transactions bt on bt.block_id = merging and bt.index = 0
      join transaction_outputs o on o.transaction_id = bt.transaction_id and o.index = blue.output and o.index >> 4 = blue.output >> 4)
  select merged.id, merged.is_blue, merged.is_rewarded, merged.subsidy, coalesce(paid.fees, earned.fees, 0)
    from merged left join earned using (mergeset_position) left join paid using (id)
$$;
comment on function mergeset_rewards is 'Earnings of each block of a mergeset, in sompi: its '
  'subsidy, and the fees of the transactions that the merging chain block accepted from it.';

-- Without an exception block, which would start a subtransaction for each value. NUL is the only
-- byte that LATIN1 does not have. Analysts choose how their sessions read literals, those of
-- function bodies included.
create function text_of(bytes bytea) returns text language plpgsql immutable strict parallel safe
set search_path = public set standard_conforming_strings = on as $$
declare
  octets text;
  decoded text;
begin
  if position('\x00'::bytea in bytes) > 0 then
    return null;
  end if;
  octets := convert_from(bytes, 'LATIN1');
  -- Well-formed UTF-8 by table 3-7 of the Unicode Standard.
  if octets !~ ('^(?:[\u0001-\u007f]|[\u00c2-\u00df][\u0080-\u00bf]|\u00e0[\u00a0-\u00bf][\u0080-\u00bf]'
                '|[\u00e1-\u00ec\u00ee\u00ef][\u0080-\u00bf]{2}|\u00ed[\u0080-\u009f][\u0080-\u00bf]'
                '|\u00f0[\u0090-\u00bf][\u0080-\u00bf]{2}|[\u00f1-\u00f3][\u0080-\u00bf]{3}'
                '|\u00f4[\u0080-\u008f][\u0080-\u00bf]{2})*$') then
    return null;
  end if;
  decoded := convert_from(bytes, 'UTF8');
  -- Control characters, line and paragraph separators, noncharacters, and all that are invisible or
  -- change the direction of others: general categories Cc, Cf, Zl and Zp, and the property
  -- Default_Ignorable_Code_Point. Written out, since classes depend on the locale.
  if decoded ~ ('[\u0001-\u001f\u007f-\u009f\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5'
                '\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb'
                '\ufffe\uffff\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a'
                '\U000e0000-\U000e0fff]') then
    return null;
  end if;
  return decoded;
end $$;
comment on function text_of is 'Bytes as text; null if they are not UTF-8 or contain control, '
  'bidirectional or invisible characters.';

-- As packages/programs reads them (protocols/pools.ts); a test compares the two.
create function pool_of(extra_data bytea) returns text language sql immutable strict parallel safe
set search_path = public set standard_conforming_strings = on as $$
  select regexp_replace(segment, '^www\.', '')
    from unnest(string_to_array(lower(encode(extra_data, 'escape')), '/')) with ordinality segments (segment, position)
   where position > 1 and position < length(encode(extra_data, 'escape')) - length(replace(encode(extra_data, 'escape'), '/', '')) + 1
     and length(segment) <= 100 and segment ~ '^(?:(?:[a-z0-9-]+\.)+[a-z]{2,24}|miningcore)$'
   order by position limit 1
$$;
comment on function pool_of(bytea) is 'Domain of a mining pool in the extra data of a coinbase '
  'payload: a claim of the miner.';

create function extra_data_of(payload bytea) returns bytea language sql immutable strict parallel safe set search_path = public as $$
  select case when octet_length(payload) > 18
    then substring(payload from 20 + get_byte(payload, 18)) end
$$;
comment on function extra_data_of(bytea) is 'Bytes that a miner added to the payload of a '
  'coinbase, after the script.';

create function work_of_bits(bits bigint) returns numeric language sql immutable strict parallel safe set search_path = public as $$
  select case
           when bits & 8388608 <> 0 then 115792089237316195423570985008687907853269984665640564039457584007913129639936
           else div(115792089237316195423570985008687907853269984665640564039457584007913129639936, 1 + case
                  when bits >> 24 < 3 then ((bits & 8388607) >> (8 * (3 - (bits >> 24))::integer))::numeric
                  else mod((bits & 8388607) * power(256::numeric, (bits >> 24) - 3),
                           115792089237316195423570985008687907853269984665640564039457584007913129639936)
                end)
         end
$$;
comment on function work_of_bits(bigint) is 'How many hashes it takes on average to find a block '
  'with these bits: 2^256 / (target + 1), as the node counts it.';

-- Without a search path, so that the planner can inline it.
create function accepted_by_chain() returns table (chain_index bigint, chain_time bigint, transaction_id bigint, is_coinbase boolean)
language sql stable as $$
  select listed.index, listed.chain_time, listed.transaction_id, t.subnetwork_id = 1
    from (select c.index, c.chain_time, unnest(c.accepted_transactions) as transaction_id from chain_blocks c) listed
    join transactions t on t.id = listed.transaction_id
$$;
comment on function accepted_by_chain() is 'Transactions that each chain block accepts.';

-- Derived state is computed from these rows at the end of a first catch-up, each kind in one pass.
-- All that depends on the order of a script's rows is in them, so that they are sorted once.
create unlogged table accepted_deltas (
  script_id bigint not null,
  chain_index bigint not null,
  chain_time bigint not null,
  amount_sent bigint not null,
  amount_received bigint not null,
  change bigint,
  seen_before bigint,
  utxo_count integer not null,
  is_coinbase boolean not null,
  is_bootstrap boolean not null,
  is_first boolean not null,
  is_latest_hour boolean not null
);
comment on table accepted_deltas is 'One row for each script that an accepted transaction touches, '
  'by the chain block that accepts it, and for each of these scripts at bootstrap blocks that '
  'change its balance. Empty except while derived state is computed from all rows.';
comment on column accepted_deltas.script_id is 'The script.';
comment on column accepted_deltas.chain_index is 'chain_blocks.index.';
comment on column accepted_deltas.chain_time is 'chain_blocks.chain_time.';
comment on column accepted_deltas.amount_sent is 'Sum of the inputs that spend UTXOs of the '
  'script, sompi; 0 in rows of bootstrap blocks.';
comment on column accepted_deltas.amount_received is 'Sum of the outputs that pay the script, '
  'sompi; 0 in rows of bootstrap blocks.';
comment on column accepted_deltas.change is 'Change of the balance, sompi. Null for transactions '
  'whose effect is in the first UTXO set.';
comment on column accepted_deltas.seen_before is 'chain_blocks.chain_time of the previous '
  'transaction that touches the script, or null.';
comment on column accepted_deltas.utxo_count is 'Number of UTXOs in the latest UTXO set; created '
  'minus spent ones since. 0 in earlier rows.';
comment on column accepted_deltas.is_coinbase is 'Whether the transaction is a coinbase.';
comment on column accepted_deltas.is_bootstrap is 'Whether the row is of a bootstrap block, and '
  'not of a transaction.';
comment on column accepted_deltas.is_first is 'Whether it is the first row of the script.';
comment on column accepted_deltas.is_latest_hour is 'Whether the balance of the script does not '
  'change in later hours.';

-- Without a search path, so that the planner can inline it.
create function accepted_touches() returns table (
  script_id bigint, chain_index bigint, chain_time bigint, transaction_id bigint,
  is_coinbase boolean, amount_sent bigint, amount_received bigint, utxo_count integer)
language sql stable as $$
  select d.script_id, a.chain_index, a.chain_time, a.transaction_id, a.is_coinbase, d.amount_sent,
         d.amount_received, d.utxo_count
    from accepted_by_chain() a
    join (select o.transaction_id, o.script_id, 0::bigint as amount_sent,
                 o.amount as amount_received, 1 as utxo_count
            from transaction_outputs o
          union all
          select i.transaction_id, i.script_id, i.amount, 0, -1 from transaction_inputs i) d
      on d.transaction_id = a.transaction_id
   where d.script_id is not null
$$;
comment on function accepted_touches() is 'Inputs and outputs of the transactions that each chain '
  'block accepts.';

-- A bootstrap block after a gap replaces the balances before it by those of its UTXO set, and
-- changes nothing else of the history. Scripts that only the latest set has are left out.
create function fill_accepted_deltas() returns void language plpgsql set search_path = public
-- The rows are sorted for the window functions anyway.
set enable_hashagg = off as $$
declare
  first_index bigint := (select min(s.chain_index) from bootstrap_blocks s);
  latest_index bigint := (select max(s.chain_index) from bootstrap_blocks s);
  latest_time bigint := (select c.chain_time from chain_blocks c where c.index = latest_index);
begin
  truncate accepted_deltas;
  -- Without estimates, millions of rows would be expected of a few bootstrap blocks.
  analyze bootstrap_blocks, bootstrap_balances, bootstrap_utxos;
  insert into accepted_deltas (
    script_id, chain_index, chain_time, is_coinbase, is_bootstrap, amount_sent, amount_received,
    change, utxo_count, seen_before, is_first, is_latest_hour)
  with segments as (
    select s.chain_index, c.chain_time, lead(s.chain_index) over by_index as next_index,
           lead(c.chain_time) over by_index as next_time
      from bootstrap_blocks s join chain_blocks c on c.index = s.chain_index
    window by_index as (order by s.chain_index)),
  replaced as (
    select b.script_id, s.chain_index, s.chain_time, s.next_index, s.next_time, b.balance as change,
           true as is_set
      from segments s join bootstrap_balances b on b.chain_index = s.chain_index
     where s.next_index is not null
    union all
    select t.script_id, null, null, s.next_index, s.next_time, t.amount_received - t.amount_sent, false
      from segments s
      join accepted_touches() t on t.chain_index > s.chain_index and t.chain_index <= s.next_index
     where s.next_index is not null),
  changes as (
    select t.script_id, t.chain_index, t.chain_time, t.transaction_id, t.is_coinbase,
           false as is_bootstrap, t.amount_sent, t.amount_received,
           case when t.chain_index > first_index then t.amount_received - t.amount_sent end as change,
           case when t.chain_index > latest_index then t.utxo_count else 0 end as utxo_count
      from accepted_touches() t
    union all
    select script_id, chain_index, chain_time, 0, false, true, 0, 0, change, 0
      from replaced where is_set
    union all
    select script_id, next_index, next_time, 0, false, true, 0, 0, -change, 0 from replaced),
  latest_set as (
    select u.script_id, latest_index, latest_time, 0::bigint, false, true, 0::bigint, 0::bigint,
           u.amount, 1
      from bootstrap_utxos u
     where u.script_id in (
       select o.script_id from transaction_outputs o
       union all select i.script_id from transaction_inputs i
       union all select b.script_id from bootstrap_balances b))
  select d.script_id, d.chain_index, d.chain_time, d.is_coinbase, d.is_bootstrap, sum(d.amount_sent),
         sum(d.amount_received), sum(d.change), sum(d.utxo_count),
         max(d.chain_time) filter (where not d.is_bootstrap) over before,
         row_number() over before = 1,
         coalesce(d.chain_time / 3600000 =
             max(case when sum(d.change) is not null then d.chain_time end) over of_script / 3600000,
           true)
    from (table changes union all table latest_set) d
   group by d.script_id, d.chain_index, d.is_bootstrap, d.transaction_id, d.chain_time, d.is_coinbase
  window of_script as (partition by d.script_id),
         before as (partition by d.script_id order by d.chain_index, d.is_bootstrap
                    rows between unbounded preceding and 1 preceding);
  analyze accepted_deltas;
end $$;
comment on function fill_accepted_deltas() is 'Fills accepted_deltas.';

-- A script counts as seen at a bootstrap block only if the chain had not touched it before, and
-- permanently, even if a later bootstrap block does not have its UTXOs.
create function script_rollups() returns table (
  script_id bigint, balance bigint, utxo_count integer, accepted_count bigint,
  receiving_count bigint, sending_count bigint, coinbase_count bigint, received numeric,
  sent numeric, first_seen bigint, last_seen bigint, last_change bigint, last_change_hour integer)
language sql stable as $$
  select a.script_id, coalesce(sum(a.change), 0)::bigint, sum(a.utxo_count)::integer,
         count(*) filter (where not a.is_bootstrap), count(*) filter (where a.amount_received > 0),
         count(*) filter (where a.amount_sent > 0),
         count(*) filter (where a.is_coinbase and a.amount_received > 0), sum(a.amount_received),
         sum(a.amount_sent), min(a.chain_time),
         coalesce(max(a.chain_time) filter (where not a.is_bootstrap), min(a.chain_time)),
         coalesce(sum(a.change) filter (where a.is_latest_hour), 0)::bigint,
         coalesce(max(a.chain_time) filter (where a.change is not null) / 3600000, 0)::integer
    from accepted_deltas a
   group by a.script_id
  union all
  select u.script_id, sum(u.amount)::bigint, count(*)::integer, 0, 0, 0, 0, 0, 0, c.chain_time,
         c.chain_time, sum(u.amount)::bigint, (c.chain_time / 3600000)::integer
    from chain_blocks c
   cross join bootstrap_utxos u
   where c.index = (select max(s.chain_index) from bootstrap_blocks s)
     and not exists (select from accepted_deltas a where a.script_id = u.script_id)
   group by u.script_id, c.chain_time
$$;
comment on function script_rollups() is 'Columns of balances for every script that accepted '
  'transactions touch or that held UTXOs at a bootstrap block; from accepted_deltas and '
  'bootstrap_utxos.';

create function make_network_intervals() returns void language sql set search_path = public as $$
  delete from network_intervals;
  insert into network_intervals (length, start, chain_blocks, blocks, red_blocks, transactions, fees, volume, minted, supply,
                                 active_scripts, new_scripts, work)
  with acceptance as (
    select chain_index, coalesce(sum(amount_sent - amount_received) filter (where not is_coinbase), 0) as fees,
           coalesce(sum(amount_received) filter (where not is_coinbase), 0) as volume,
           sum(amount_received - amount_sent) as minted,
           count(*) filter (where seen_before is null or seen_before / 60000 < chain_time / 60000) as minute,
           count(*) filter (where seen_before is null or seen_before / 3600000 < chain_time / 3600000) as hour,
           count(*) filter (where seen_before is null or seen_before / 86400000 < chain_time / 86400000) as day,
           count(*) filter (where is_first) as new_scripts
      from accepted_deltas where not is_bootstrap group by chain_index),
  counted as (select chain_index, count(*) as transactions from accepted_by_chain() where not is_coinbase group by chain_index),
  -- The blocks that a bootstrap block merges are before it, unless it was made on a chain block
  -- that was there.
  bare_starts as (
    select s.chain_index from bootstrap_blocks s join blocks b on b.id = s.block_id
     where s.chain_index = (select min(index) from chain_blocks) or b.hash in (select before_block_hash from gaps)),
  merging as (
    select merged.chain_index, count(*) as blocks, count(*) filter (where merged.is_red) as red_blocks, sum(works.work) as work
      from (select c.index as chain_index, unnest(b.merge_set_blues) as id, false as is_red
              from chain_blocks c join blocks b on b.id = c.block_id
            union all
            select c.index, unnest(b.merge_set_reds), true from chain_blocks c join blocks b on b.id = c.block_id) merged
      join blocks b on b.id = merged.id
      join (select bits, work_of_bits(bits) as work from (select distinct bits from blocks) used) works using (bits)
     where merged.chain_index not in (select chain_index from bare_starts)
     group by merged.chain_index),
  stretches as (select chain_index, utxo_sompi, lead(chain_index) over (order by chain_index) as next_index from bootstrap_blocks),
  chain as (
    select c.index, c.chain_time, coalesce(m.blocks, 0) as blocks, coalesce(m.red_blocks, 0) as red_blocks, coalesce(m.work, 0) as work,
           coalesce(t.transactions, 0) as transactions, coalesce(a.fees, 0) as fees, coalesce(a.volume, 0) as volume,
           coalesce(a.minted, 0) as minted, coalesce(a.minute, 0) as minute, coalesce(a.hour, 0) as hour, coalesce(a.day, 0) as day,
           coalesce(a.new_scripts, 0) as new_scripts,
           s.utxo_sompi + sum(case when c.index > s.chain_index then coalesce(a.minted, 0) else 0 end)
             over (partition by s.chain_index order by c.index) as supply
      from chain_blocks c
      join stretches s on c.index >= s.chain_index and (c.index < s.next_index or s.next_index is null)
      left join acceptance a on a.chain_index = c.index
      left join counted t on t.chain_index = c.index
      left join merging m on m.chain_index = c.index)
  select l.length, c.chain_time - c.chain_time % l.milliseconds, count(*), sum(c.blocks), sum(c.red_blocks), sum(c.transactions),
         sum(c.fees), sum(c.volume), sum(c.minted), (array_agg(c.supply order by c.index desc))[1],
         sum(case l.length when 'minute' then c.minute when 'hour' then c.hour else c.day end), sum(c.new_scripts), sum(c.work)
    from chain c
   cross join (values ('minute'::interval_length, 60000), ('hour', 3600000), ('day', 86400000)) l (length, milliseconds)
   group by 1, 2
   order by 1, 2
$$;
comment on function make_network_intervals() is 'Computes network_intervals from all rows and '
  'accepted_deltas.';

-- Covenants, programs, lanes and inscriptions -----------------------------------------------------

create type covenant_event_kind as enum ('genesis', 'transition', 'burn');
comment on type covenant_event_kind is 'Effect of a transaction on a covenant: it creates its '
  'first UTXOs, spends and creates some, or only spends some.';

create table covenants (
  id bigint generated by default as identity,
  genesis_transaction_id bigint,
  event_count bigint not null,
  balance bigint not null,
  first_seen bigint not null,
  last_seen bigint not null,
  template_id bigint,
  utxo_count integer not null,
  is_complete boolean not null,
  covenant_id bytea not null,
  constraint covenants_pkey primary key (id)
);
create unique index covenants_covenant_id on covenants (covenant_id);
create index covenants_covenant_id_text on covenants using hash (encode(covenant_id, 'hex'));
create index covenants_first_seen on covenants (first_seen, covenant_id);
create index covenants_last_seen on covenants (last_seen, covenant_id);
create index covenants_template_id on covenants (template_id, last_seen, covenant_id) where template_id is not null;
create statistics covenants_utxo_count on (utxo_count::bigint) from covenants;
comment on table covenants is 'Every covenant that the indexed chain has touched, or that the UTXO '
  'set of a bootstrap block has.';
comment on column covenants.id is 'Key.';
comment on column covenants.genesis_transaction_id is 'transactions.id of the accepted transaction '
  'that created its first UTXOs; null if that was before the index. The row is gone if retention '
  'removed it.';
comment on column covenants.event_count is 'Number of accepted transactions that spent or created '
  'UTXOs of it, as far as they are known. Retention keeps the count.';
comment on column covenants.balance is 'Sum of its UTXOs at the checkpoint, sompi.';
comment on column covenants.first_seen is 'chain_blocks.chain_time of its first event, or of the '
  'bootstrap block whose UTXO set had it.';
comment on column covenants.last_seen is 'chain_blocks.chain_time of its last event; first_seen '
  'while there is none. What happened in a gap is not seen.';
comment on column covenants.utxo_count is 'Number of its UTXOs at the checkpoint.';
comment on column covenants.template_id is 'program_templates.id of the last program that a spend '
  'of one of its UTXOs revealed; null before. Bare scripts and programs that do not parse leave '
  'it.';
comment on column covenants.is_complete is 'Whether every event since its genesis was counted: '
  'false if it began before the index, or lived before a gap.';
comment on column covenants.covenant_id is 'Covenant id, 32 bytes.';

create table covenant_events (
  covenant_id bigint not null,
  chain_index bigint not null,
  transaction_id bigint not null,
  previous_seen bigint,
  template_id bigint,
  previous_template_id bigint,
  position integer not null,
  kind covenant_event_kind not null
);
create index covenant_events_covenant_id on covenant_events (covenant_id, chain_index, position);
create index covenant_events_chain_index on covenant_events (chain_index, position);
create index covenant_events_transaction_id on covenant_events (transaction_id);
create statistics covenant_events_kind_text on (kind::text) from covenant_events;
comment on table covenant_events is 'One row for each covenant and accepted transaction that '
  'spends or creates UTXOs of it.';
comment on column covenant_events.covenant_id is 'covenants.id.';
comment on column covenant_events.chain_index is 'chain_blocks.index of the block that accepts the '
  'transaction.';
comment on column covenant_events.transaction_id is 'The transaction.';
comment on column covenant_events.position is 'Position of the transaction among those that the '
  'block accepts, from 0.';
comment on column covenant_events.kind is 'Effect of the transaction on the covenant.';
comment on column covenant_events.template_id is 'program_templates.id of the last program that '
  'its inputs from the covenant reveal; null if they reveal none that parses.';
comment on column covenant_events.previous_seen is 'covenants.last_seen before it, which a reorg '
  'restores; null if it is the first that is known of the covenant.';
comment on column covenant_events.previous_template_id is 'covenants.template_id before it, which '
  'a reorg restores.';

create table covenant_hours (
  hour integer not null,
  kind covenant_event_kind not null,
  events bigint not null,
  constraint covenant_hours_pkey primary key (hour, kind)
);
comment on table covenant_hours is 'Covenant events by hour of chain_time.';
comment on column covenant_hours.hour is 'Hours since 1970 (UTC).';
comment on column covenant_hours.kind is 'Kind of event.';
comment on column covenant_hours.events is 'Number of events. Retention keeps it.';

create table program_templates (
  id bigint generated by default as identity,
  program_count bigint not null,
  spend_count bigint not null,
  covenant_count bigint not null,
  first_seen bigint not null,
  template bytea not null,
  constraint program_templates_pkey primary key (id)
);
create unique index program_templates_template on program_templates (template);
create index program_templates_template_text on program_templates using hash (encode(template, 'hex'));
create index program_templates_spend_count on program_templates (spend_count, template);
comment on table program_templates is 'Templates: programs with the same opcodes in the same '
  'order, with any pushes.';
comment on column program_templates.id is 'Key.';
comment on column program_templates.program_count is 'Number of its programs.';
comment on column program_templates.spend_count is 'Sum of programs.spend_count.';
comment on column program_templates.covenant_count is 'Number of covenants whose last known '
  'program has it.';
comment on column program_templates.first_seen is 'chain_blocks.chain_time of the first of its '
  'programs.';
comment on column program_templates.template is 'BLAKE2b-256 of the opcodes, each push replaced by '
  'one zero byte.';

create table programs (
  transaction_id bigint not null,
  first_seen bigint not null,
  spend_count bigint not null,
  script_id bigint,
  template_id bigint,
  index integer not null,
  length integer not null,
  uses smallint not null,
  is_bare boolean not null,
  hash bytea not null,
  kcc_template bytea
);
create unique index programs_hash on programs (hash);
create index programs_hash_text on programs using hash (encode(hash, 'hex'));
create index programs_template_id on programs (template_id);
create index programs_script_id on programs (script_id) where script_id is not null;
create index programs_kcc_template on programs (kcc_template) where kcc_template is not null;
create index programs_transaction_id on programs (transaction_id);
comment on table programs is 'Programs that accepted spends revealed, if the spent output had a '
  'covenant or the program uses opcodes of introspection, covenants, sequencing or zero knowledge; '
  'and bare scripts that use such opcodes, from the acceptance of their first output, or the '
  'bootstrap block whose UTXO set has them.';
comment on column programs.transaction_id is 'The accepted transaction that revealed it first, or '
  'created the first output with the bare script; of a UTXO set of a bootstrap block, the lowest '
  'one. The row is gone if retention removed it.';
comment on column programs.first_seen is 'chain_blocks.chain_time of that acceptance, or of the '
  'bootstrap block whose UTXO set had it.';
comment on column programs.spend_count is 'Number of accepted inputs that revealed it or spent the '
  'bare script, and qualify for this table.';
comment on column programs.script_id is 'scripts.id of the same bytes as a bare script, by which '
  'spends of it are found; null if no accepted output and no UTXO set of a bootstrap block had it. '
  'A reorg leaves it.';
comment on column programs.template_id is 'program_templates.id; null if the program does not '
  'parse.';
comment on column programs.index is 'Index of the input, or of the output of a bare script.';
comment on column programs.length is 'Bytes.';
comment on column programs.uses is 'Families of opcodes, as bits: 1 introspection, 2 covenants, 4 '
  'sequencing, 8 Groth16, 16 RISC Zero, 32 other zero knowledge.';
comment on column programs.is_bare is 'Whether it was known first as an output script itself, and '
  'not as the preimage of a P2SH script.';
comment on column programs.hash is 'BLAKE2b-256 of its bytes, to which a P2SH script commits.';
comment on column programs.kcc_template is 'Template hash of KCC-1, where a file of names says '
  'which pushes are the state; else null.';

create table possible_reveals (
  transaction_id bigint not null,
  index integer not null,
  variant integer not null,
  length integer not null,
  uses smallint not null,
  hash bytea not null,
  template bytea,
  kcc_template bytea
);
comment on table possible_reveals is 'Programs that inputs of accepted transactions may reveal, as '
  'a first catch-up saw them. Its end computes programs from these rows. Empty after it.';
comment on column possible_reveals.transaction_id is 'transactions.id.';
comment on column possible_reveals.index is 'Position of the input, from 0.';
comment on column possible_reveals.variant is 'The variant of the transaction that was accepted.';
comment on column possible_reveals.length is 'Length of the program, bytes.';
comment on column possible_reveals.uses is 'As programs.uses.';
comment on column possible_reveals.hash is 'BLAKE2b-256 of the program.';
comment on column possible_reveals.template is 'As program_templates.template. Null if the program '
  'does not parse.';
comment on column possible_reveals.kcc_template is 'As programs.kcc_template.';

create table program_use_hours (
  hour integer not null,
  use smallint not null,
  spends bigint not null,
  fees numeric not null,
  constraint program_use_hours_pkey primary key (hour, use)
);
comment on table program_use_hours is 'Accepted spends of programs by hour of chain_time and '
  'family of opcodes.';
comment on column program_use_hours.hour is 'Hours since 1970 (UTC).';
comment on column program_use_hours.use is 'One bit of programs.uses.';
comment on column program_use_hours.spends is 'Number of inputs that revealed a program with the '
  'family, or spent such a bare script.';
comment on column program_use_hours.fees is 'Fees of their transactions, each counted once, sompi.';

create table lanes (
  transaction_count bigint not null,
  fees numeric not null,
  first_seen bigint not null,
  last_seen bigint not null,
  subnetwork_id integer not null,
  gas numeric not null,
  constraint lanes_pkey primary key (subnetwork_id)
);
create index lanes_last_seen on lanes (last_seen, subnetwork_id);
comment on table lanes is 'User lanes (KIP-21) by their accepted transactions.';
comment on column lanes.transaction_count is 'Number of accepted transactions.';
comment on column lanes.fees is 'Sum of their fees, sompi.';
comment on column lanes.first_seen is 'chain_blocks.chain_time of the first.';
comment on column lanes.last_seen is 'chain_blocks.chain_time of the last.';
comment on column lanes.subnetwork_id is 'subnetworks.id.';
comment on column lanes.gas is 'Sum of the gas that they commit to; each is an unsigned 64-bit '
  'number.';

create table lane_hours (
  transactions bigint not null,
  fees numeric not null,
  last_seen bigint not null,
  subnetwork_id integer not null,
  hour integer not null,
  gas numeric not null,
  constraint lane_hours_pkey primary key (subnetwork_id, hour)
);
create index lane_hours_hour on lane_hours (hour);
create index lane_hours_time on lane_hours (to_timestamp(hour * 3600::double precision));
comment on table lane_hours is 'Accepted transactions of user lanes by hour of chain_time.';
comment on column lane_hours.transactions is 'Number of accepted transactions.';
comment on column lane_hours.fees is 'Sum of their fees, sompi.';
comment on column lane_hours.last_seen is 'chain_blocks.chain_time of the last.';
comment on column lane_hours.subnetwork_id is 'subnetworks.id.';
comment on column lane_hours.hour is 'Hours since 1970 (UTC).';
comment on column lane_hours.gas is 'Sum of their gas.';

create table lane_totals (
  transactions bigint not null,
  fees numeric not null,
  hour integer not null,
  gas numeric not null,
  constraint lane_totals_pkey primary key (hour)
);
comment on table lane_totals is 'Sums of lane_hours: anybody can use any number of lanes in an '
  'hour.';
comment on column lane_totals.transactions is 'Number of accepted transactions.';
comment on column lane_totals.fees is 'Sum of their fees, sompi.';
comment on column lane_totals.hour is 'Hours since 1970 (UTC).';
comment on column lane_totals.gas is 'Sum of their gas.';

create table lane_blocks (
  chain_index bigint not null,
  subnetwork_id integer not null,
  constraint lane_blocks_pkey primary key (subnetwork_id, chain_index)
);
create index lane_blocks_chain_index on lane_blocks (chain_index);
comment on table lane_blocks is 'Chain blocks that accept transactions of user lanes. By it, a '
  'reorg finds the last transaction of a lane, however many nobody accepts.';
comment on column lane_blocks.chain_index is 'chain_blocks.index.';
comment on column lane_blocks.subnetwork_id is 'subnetworks.id.';

create function lane_namespace(subnetwork_id bytea) returns text language sql immutable strict parallel safe set search_path = public as $$
  select case when substring(subnetwork_id from 5) = decode(repeat('00', 16), 'hex') and substring(subnetwork_id from 2) <> decode(repeat('00', 19), 'hex')
              then encode(substring(subnetwork_id for 4), 'hex') end
$$;
comment on function lane_namespace(bytea) is 'Namespace of a user lane, hex; null for any other '
  'subnetwork id.';

create function count_lane_blocks() returns table (
  subnetwork_id integer, chain_index bigint, chain_time bigint, transactions bigint, fees numeric, gas numeric)
language plpgsql stable set search_path = public as $$
begin
  -- Most chains have no lanes, and nothing else says so as fast as the index of their transactions.
  if not exists (select from transactions t where t.subnetwork_id > 1) then
    return;
  end if;
  return query
    select t.subnetwork_id, listed.index, listed.chain_time, count(*), sum(t.fee), sum(t.gas)
      from (select c.index, c.chain_time, unnest(c.accepted_transactions) as id from chain_blocks c) listed
      join transactions t on t.id = listed.id and t.subnetwork_id > 1
      join subnetworks n on n.id = t.subnetwork_id and lane_namespace(n.subnetwork_id) is not null
     group by 1, 2, 3;
end $$;
comment on function count_lane_blocks() is 'lane_blocks as all rows give it, with the time of the '
  'chain block and sums of the transactions that it accepts.';

create table inscription_kinds (
  id bigint generated by default as identity,
  protocol text not null,
  operation text not null,
  tick text not null,
  constraint inscription_kinds_pkey primary key (id)
);
-- Empty texts stand for none: nulls could not be compared by an index and a join at once.
create unique index inscription_kinds_all on inscription_kinds (protocol, operation, tick);
create index inscription_kinds_tick on inscription_kinds (lower(tick), tick) where tick <> '';
comment on table inscription_kinds is 'Combinations of protocol, operation and tick that occur, '
  'once each.';
comment on column inscription_kinds.id is 'Key.';
comment on column inscription_kinds.protocol is 'Protocol, such as krc-20.';
comment on column inscription_kinds.operation is 'The protocol''s name of the operation; empty if '
  'it has none, undecodable if the bytes are no operation of the protocol.';
comment on column inscription_kinds.tick is 'Ticker, token id, name or channel; empty without one.';

create table inscriptions (
  transaction_id bigint not null,
  owner_script_id bigint not null,
  kind_id bigint not null,
  input smallint not null
);
create index inscriptions_transaction_id on inscriptions (transaction_id);
create index inscriptions_kind_id on inscriptions (kind_id, transaction_id);
create index inscriptions_owner_script_id on inscriptions (owner_script_id, transaction_id);
create statistics inscriptions_source on (case when input < 0 then 'payload' else 'input' end) from inscriptions;
comment on table inscriptions is 'Operations of protocols that accepted transactions state, in '
  'their payload or in a program that an input reveals. Whether one has an effect, only the '
  'indexer of the protocol knows.';
comment on column inscriptions.transaction_id is 'The transaction.';
comment on column inscriptions.owner_script_id is 'Script that the protocol takes as the '
  'sender''s: that of the keys of an envelope, or the one that input 0 spends.';
comment on column inscriptions.kind_id is 'inscription_kinds.id.';
comment on column inscriptions.input is 'The input whose program states it; -1 for the payload.';

create table protocol_hours (
  transactions bigint not null,
  fees numeric not null,
  hour integer not null,
  protocol text not null,
  constraint protocol_hours_pkey primary key (hour, protocol)
);
comment on table protocol_hours is 'Accepted transactions with operations of each protocol, by '
  'hour of chain_time.';
comment on column protocol_hours.transactions is 'Number of accepted transactions.';
comment on column protocol_hours.fees is 'Sum of their fees, sompi.';
comment on column protocol_hours.hour is 'Hours since 1970 (UTC).';
comment on column protocol_hours.protocol is 'Protocol, as in inscription_kinds.';

create table inscription_decoders (
  one_row boolean not null default true,
  version integer not null,
  transaction_id bigint,
  constraint inscription_decoders_pkey primary key (one_row),
  constraint inscription_decoders_one_row check (one_row)
);
comment on table inscription_decoders is 'Which decoders made the inscriptions: one row, or none '
  'before the end of the first catch-up.';
comment on column inscription_decoders.one_row is 'Always true: keeps the table at one row.';
comment on column inscription_decoders.version is 'Version of the decoders.';
comment on column inscription_decoders.transaction_id is 'While those of a later version decode '
  'everything again: the last transaction that they have decoded; null otherwise.';

create function count_protocol_hours() returns table (hour integer, protocol text, transactions bigint, fees numeric)
language plpgsql stable set search_path = public as $$
begin
  if not exists (select from inscriptions) then
    return;
  end if;
  return query
    select stated.hour, stated.protocol, count(*), sum(stated.fee)
      from (select distinct listed.index, (listed.chain_time / 3600000)::integer as hour, k.protocol, t.id, t.fee
              from (select c.index, c.chain_time, t.id
                      from (select distinct i.transaction_id as id from inscriptions i) inscribed
                      join transactions t on t.id = inscribed.id
                      join chain_blocks c on c.index = t.accepting_index
                    union
                    -- A transaction that was accepted before a gap may be accepted again after it.
                    select c.index, c.chain_time, unnest(c.accepted_transactions)
                      from chain_blocks c where exists (select from gaps)) listed
              join inscriptions i on i.transaction_id = listed.id
              join inscription_kinds k on k.id = i.kind_id
              join transactions t on t.id = listed.id) stated
     group by stated.hour, stated.protocol;
end $$;
comment on function count_protocol_hours() is 'protocol_hours as the inscriptions give it.';

create table template_names (
  source_id bigint not null,
  template bytea not null,
  entry jsonb not null
);
create index template_names_template on template_names (template);
create index template_names_name on template_names (lower(entry ->> 'name') collate "C");
create index template_names_source_id on template_names (source_id);
create table template_sources (
  id bigint generated always as identity,
  name text not null,
  checksum text not null,
  imported_at timestamptz not null default now(),
  constraint template_sources_pkey primary key (id)
);
create unique index template_sources_name on template_sources (name);
comment on table template_names is 'Names of templates by the files that give them: claims, since '
  'look-alikes with other constants have the same template.';
comment on column template_names.source_id is 'template_sources.id.';
comment on column template_names.template is 'The template, as in program_templates; a file may '
  'name one that has not occurred.';
comment on column template_names.entry is 'The entry of the file: name, source, and names and '
  'types of numbered pushes.';
comment on table template_sources is 'Files with names of templates that were imported.';
comment on column template_sources.id is 'Key.';
comment on column template_sources.name is 'Name of the source; an import replaces what the same '
  'source gave before.';
comment on column template_sources.checksum is 'SHA-256 of the file, hex.';
comment on column template_sources.imported_at is 'When it was imported last.';

-- Tags --------------------------------------------------------------------------------------------

create table tags (
  address text not null,
  name text not null,
  link text not null default '',
  labels text[] not null default '{}',
  confidence_level smallint not null default 50,
  actor text not null default '',
  names_cluster boolean not null default true,
  constraint tags_pkey primary key (address)
);
create index tags_name on tags (name collate "C", address collate "C");
create index tags_name_prefix on tags (lower(name) collate "C", name collate "C");
comment on table tags is 'The tag of each address: of what its sources say (attributions) that '
  'with the most confidence, then the latest, then by the name of the source.';
comment on column tags.address is 'The address.';
comment on column tags.name is 'Name of its owner.';
comment on column tags.link is 'Where to read more; empty when there is nothing.';
comment on column tags.labels is 'Kinds of owner, such as exchange.';
comment on column tags.confidence_level is 'attributions.confidence_level of what it says.';
comment on column tags.actor is 'attributions.actor of what it says.';
comment on column tags.names_cluster is 'attributions.names_cluster of what it says.';

create table tag_labels (
  label text not null,
  name text collate "C" not null,
  address text collate "C" not null,
  constraint tag_labels_pkey primary key (label, name, address)
);
comment on table tag_labels is 'The labels of tags, one row each, in the order of the listing; '
  'kept by a trigger on tags.';
comment on column tag_labels.label is 'The label.';
comment on column tag_labels.name is 'tags.name.';
comment on column tag_labels.address is 'tags.address.';

create function keep_tag_labels() returns trigger language plpgsql set search_path = public as $$
begin
  if tg_op <> 'INSERT' then
    delete from tag_labels l using (
      select label, name collate "C" as name, address collate "C" as address from gone, unnest(labels) as label order by 1, 2, 3
    ) gone_labels
     where l.label = gone_labels.label and l.name = gone_labels.name and l.address = gone_labels.address;
  end if;
  if tg_op <> 'DELETE' then
    insert into tag_labels (label, name, address)
    select distinct on (1, 2, 3) label, name collate "C", address collate "C" from made, unnest(labels) as label order by 1, 2, 3;
  end if;
  return null;
end $$;
comment on function keep_tag_labels() is 'Keeps tag_labels in step with tags.';

create trigger tags_keep_labels_inserted after insert on tags referencing new table as made for each statement execute function keep_tag_labels();

create trigger tags_keep_labels_updated after update on tags referencing old table as gone new table as made for each statement execute function keep_tag_labels();

create trigger tags_keep_labels_deleted after delete on tags referencing old table as gone for each statement execute function keep_tag_labels();

create table tag_sources (
  id bigint generated always as identity,
  name text not null,
  title text not null default '',
  creator text not null default '',
  imported_at timestamptz not null default now(),
  constraint tag_sources_pkey primary key (id)
);
create unique index tag_sources_name on tag_sources (name);
comment on table tag_sources is 'Files and people that tags came from.';
comment on column tag_sources.id is 'Key.';
comment on column tag_sources.name is 'Name by which it is imported again, updated and removed.';
comment on column tag_sources.title is 'Its title, as it says.';
comment on column tag_sources.creator is 'Who made it, as it says.';
comment on column tag_sources.imported_at is 'When it was last imported.';

create table attributions (
  source_id bigint not null,
  address text not null,
  name text not null,
  link text not null default '',
  labels text[] not null default '{}',
  category text,
  confidence text,
  confidence_level smallint not null,
  last_modified date,
  actor text not null default '',
  names_cluster boolean not null default true,
  constraint attributions_pkey primary key (source_id, address, name)
);
create index attributions_address on attributions (address);
comment on table attributions is 'Statements of each source about an address.';
comment on column attributions.source_id is 'tag_sources.id.';
comment on column attributions.address is 'The address.';
comment on column attributions.name is 'Name of its owner.';
comment on column attributions.link is 'Where to read more; empty when there is nothing.';
comment on column attributions.labels is 'Kinds of owner, such as exchange.';
comment on column attributions.category is 'Category, as the source says; null when it says none.';
comment on column attributions.confidence is 'How the source knows, in its words; null when it '
  'does not say.';
comment on column attributions.confidence_level is 'The same from 0 to 100.';
comment on column attributions.last_modified is 'When it was last changed, as the source says; '
  'null when it does not.';
comment on column attributions.actor is 'Id of the owner, as the source says, by which several '
  'spellings of its name are one owner; empty when it says none.';
comment on column attributions.names_cluster is 'Whether it names the owner of the whole cluster, '
  'and not of this address only.';

create table pending_tag_flags (
  script_id bigint not null,
  at_script_id bigint not null,
  constraint pending_tag_flags_pkey primary key (script_id)
);
comment on table pending_tag_flags is 'Stretches of the rings of clusters along which '
  'balances.is_tagged is still to be set, since a name came or went, or members came to one.';
comment on column pending_tag_flags.script_id is 'The member before which the stretch ends; the '
  'whole ring where both are the same.';
comment on column pending_tag_flags.at_script_id is 'The next member to be flagged.';

-- Anybody can mine payments to a script that nobody accepts, but only new ones. So of the keys from
-- its oldest to its newest transaction, the newer half, the quarter before, the eighth before and
-- so on are looked at in turn, 1,000 transactions of each, until 200 accepted ones are found.
create function has_many_counterparties(of_script_id bigint) returns boolean language sql stable strict parallel safe set search_path = public as $$
  with span as materialized (
    select (select d.transaction_id from script_deltas d where d.script_id = of_script_id order by d.transaction_id limit (select 1)) as first,
           (select d.transaction_id from script_deltas d where d.script_id = of_script_id order by d.transaction_id desc limit (select 1)) as last)
  select count(distinct other.script_id) >= 100
    from (select t.id as transaction_id,
                 exists (select from transaction_inputs i where i.transaction_id = t.id and i.script_id = of_script_id) as is_sent
            from span
           cross join generate_series(0, 15) halving
           -- With a constant limit, Postgres expects to read all rows, since it has no statistics
           -- of a union, and would.
           cross join lateral (
             select distinct d.transaction_id from script_deltas d
              where d.script_id = of_script_id
                and d.transaction_id <= span.first + ((span.last - span.first) >> halving)
                and d.transaction_id > case when halving < 15 then span.first + ((span.last - span.first) >> halving + 1) else span.first - 1 end
              order by d.transaction_id desc limit (select 1000)) examined
           cross join lateral (
             select id from transactions where id = examined.transaction_id and accepting_index is not null limit 1) t
           limit 200) newest
   cross join lateral (
     select i.script_id from transaction_inputs i
      where not newest.is_sent and i.transaction_id = newest.transaction_id and i.index < 10
     union all
     select o.script_id from transaction_outputs o
      where newest.is_sent and o.transaction_id = newest.transaction_id and o.index < 10
   ) other
   where other.script_id <> of_script_id
$$;
comment on function has_many_counterparties(bigint) is 'Whether the newest 200 accepted '
  'transactions of a script have 100 other scripts: senders of payments to it, and receivers of '
  'payments from it, by the first ten inputs or outputs of each transaction.';

-- A view, since a call of a function takes longer than these rules. The array is in the order of
-- the labels.
create view script_labels as
select b.script_id,
       array_remove(array[
         -- It holds a balance that nothing has touched for a year, by the time of the chain.
         case when b.balance > 0 and b.last_seen < (
           select c.chain_time - 365 * 86400000::bigint from checkpoint p join chain_blocks c on c.index = p.chain_index) then 'dormant' end,

         -- It receives less than 1 KAS at a time, and spends at least ten such UTXOs at once, on
         -- average over its whole history.
         case when b.sending_count >= 3
           and b.received < b.receiving_count * 100000000::numeric
           and b.receiving_count - b.utxo_count >= 10 * b.sending_count then 'dust-sweeper' end,

         -- It has 500 deposits and as many withdrawals in a month or more, and many counterparties.
         -- A deposit is a transaction that touches it, does not spend from it and is no coinbase.
         -- The inner condition is evaluated only if the outer one holds.
         case when b.accepted_count - b.sending_count - b.coinbase_count >= 500
           and b.sending_count >= 500
           and b.last_seen - b.first_seen >= 30 * 86400000::bigint
         then case when has_many_counterparties(b.script_id) then 'exchange-like' end end,

         -- It received a reward, and only the miner of a block chooses who does.
         case when b.coinbase_count > 0 then 'miner' end,

         -- More than one transaction paid it.
         case when b.receiving_count > 1 then 'reused' end], null) as labels
  from balances b;
comment on view script_labels is 'Labels of every script with a balance by what it does. They come '
  'and go with the chain, and do not say who its owner is.';
comment on column script_labels.script_id is 'The script.';
comment on column script_labels.labels is 'The labels, sorted; empty for a script without accepted '
  'transactions.';

create function automatic_labels(of_script_id bigint) returns text[] language sql stable strict parallel safe set search_path = public as $$
  select coalesce((select labels from script_labels where script_id = of_script_id), '{}')
$$;
comment on function automatic_labels(bigint) is 'script_labels.labels of a script; empty for a '
  'script without a balance.';

-- Clusters ----------------------------------------------------------------------------------------

create table clustering (
  one_row boolean not null default true,
  chain_index bigint not null,
  block_id bigint not null,
  next_merge_id bigint not null,
  next_held_merge_id bigint not null,
  updated_at timestamptz not null,
  constraint clustering_pkey primary key (one_row),
  constraint clustering_one_row check (one_row)
);
comment on table clustering is 'How far clustering is: one row, changed in the same transaction as '
  'the clusters. No row before its first step.';
comment on column clustering.one_row is 'Always true: keeps the table at one row.';
comment on column clustering.chain_index is 'chain_blocks.index of the last chain block whose '
  'accepted transactions are clustered.';
comment on column clustering.block_id is 'That block: when it has left the chain, clusters are '
  'undone down to what remains.';
comment on column clustering.next_merge_id is 'Key that the next merge gets.';
comment on column clustering.next_held_merge_id is 'Key that the next held merge gets.';
comment on column clustering.updated_at is 'When this row was written.';

create table clusters (
  id bigint not null,
  size bigint not null,
  balance bigint not null,
  size_limit bigint,
  name text,
  link text not null default '',
  labels text[] not null default '{}',
  constraint clusters_pkey primary key (id)
) with (fillfactor = 80);
create index clusters_name on clusters (name) where name is not null;
comment on table clusters is 'Groups of two or more scripts that belong together by clustering.';
comment on column clusters.id is 'scripts.id of the member at the root: the same on every index of '
  'the same chain, by its address.';
comment on column clusters.size is 'Number of its members.';
comment on column clusters.balance is 'Sum of balances.balance of its members, sompi.';
comment on column clusters.size_limit is 'Up to which size it may grow, where a person has said '
  'so; null for the configured limit.';
comment on column clusters.name is 'Name of the owner: that of its members'' tags when these '
  'agree; null while nobody knows or they do not.';
comment on column clusters.link is 'Where to read more; empty when there is nothing.';
comment on column clusters.labels is 'Kinds of owner: the labels of these tags.';

create table cluster_members (
  script_id bigint not null,
  parent_id bigint,
  merge_id bigint,
  next_id bigint not null,
  previous_id bigint not null,
  constraint cluster_members_pkey primary key (script_id)
) with (fillfactor = 80);
comment on table cluster_members is 'Which script is in which cluster; a script is in one at most, '
  'and those that are in none have no row.';
comment on column cluster_members.script_id is 'The script.';
comment on column cluster_members.parent_id is 'The member above it in the tree of the cluster; '
  'null at the root, whose script is clusters.id.';
comment on column cluster_members.merge_id is 'The merge that put it below its parent; null at the '
  'root.';
comment on column cluster_members.next_id is 'The next member in the ring of the cluster.';
comment on column cluster_members.previous_id is 'The member before it in the ring.';

create table cluster_merges (
  id bigint not null,
  chain_index bigint not null,
  transaction_id bigint not null,
  cluster_id bigint not null,
  merged_cluster_id bigint not null,
  script_id bigint not null,
  merged_script_id bigint not null,
  held_merge_id bigint,
  size_limit bigint,
  merged_size_limit bigint,
  constraint cluster_merges_pkey primary key (id) with (fillfactor = 100)
);
comment on table cluster_merges is 'Why scripts are together: every merge of two clusters (or '
  'single scripts), in order, with the transaction that has inputs of both.';
comment on column cluster_merges.id is 'Key, in the order of merging; undone from the last.';
comment on column cluster_merges.chain_index is 'clustering.chain_index with which it was made: '
  'the chain block that accepts the transaction, or a later one where the merge was held.';
comment on column cluster_merges.transaction_id is 'The transaction. Retention may have removed '
  'it.';
comment on column cluster_merges.cluster_id is 'Root of the cluster that stayed: the larger one; '
  'of two of one size that of the earlier input.';
comment on column cluster_merges.merged_cluster_id is 'Root of the cluster that was put below it.';
comment on column cluster_merges.script_id is 'The input''s script on the side that stayed.';
comment on column cluster_merges.merged_script_id is 'The input''s script on the other side.';
comment on column cluster_merges.held_merge_id is 'The held merge that this one carries out; null '
  'otherwise.';
comment on column cluster_merges.size_limit is 'clusters.size_limit of the cluster that stayed, '
  'before; what undoing gives back.';
comment on column cluster_merges.merged_size_limit is 'clusters.size_limit of the other; null for '
  'a single script.';

create table held_merges (
  id bigint not null,
  chain_index bigint not null,
  transaction_id bigint not null,
  script_id bigint not null,
  other_script_id bigint not null,
  state text not null,
  settled_chain_index bigint,
  cluster_id bigint,
  other_cluster_id bigint,
  transactions bigint not null default 1,
  constraint held_merges_pkey primary key (id),
  constraint held_merges_settled check ((state = 'merged') = (settled_chain_index is not null)),
  constraint held_merges_state check (state = any (array['held', 'approved', 'merged', 'rejected']))
);
create index held_merges_chain_index on held_merges (chain_index);
create unique index held_merges_pair on held_merges (cluster_id, other_cluster_id) where state in ('held', 'approved');
create index held_merges_settled_chain_index on held_merges (settled_chain_index) where settled_chain_index is not null;
create index held_merges_transaction_id on held_merges (transaction_id);
create index held_merges_waiting on held_merges (state, id) where state in ('held', 'approved');
comment on table held_merges is 'Merges that would make a cluster larger than its limit, until a '
  'person has looked at it: one row for two clusters, however many transactions tie them.';
comment on column held_merges.id is 'Key, in order.';
comment on column held_merges.chain_index is 'Chain block that accepts the transaction.';
comment on column held_merges.transaction_id is 'The first transaction that ties the two.';
comment on column held_merges.script_id is 'An input''s script.';
comment on column held_merges.other_script_id is 'Another input''s script, in another cluster.';
comment on column held_merges.state is 'held: waits for a person; approved: a person has raised a '
  'limit, and the indexer carries it out next, or holds it again; merged: carried out (or the two '
  'were together by then); rejected: never will be.';
comment on column held_merges.settled_chain_index is 'clustering.chain_index when it became '
  'merged; null otherwise.';
comment on column held_merges.cluster_id is 'The smaller root of the two clusters (or single '
  'scripts) when it was first held.';
comment on column held_merges.other_cluster_id is 'The larger root.';
comment on column held_merges.transactions is 'Number of transactions that tie the two: the first, '
  'and those of held_merge_repeats.';

create table held_merge_repeats (
  chain_index bigint not null,
  held_merge_id bigint not null,
  transactions bigint not null,
  constraint held_merge_repeats_pkey primary key (chain_index, held_merge_id)
);
comment on table held_merge_repeats is 'Further transactions that tie two clusters whose merge is '
  'held already, so that undoing takes them back.';
comment on column held_merge_repeats.chain_index is 'Chain block that accepts them.';
comment on column held_merge_repeats.held_merge_id is 'held_merges.id.';
comment on column held_merge_repeats.transactions is 'Their number.';

create table change_links (
  transaction_id bigint not null,
  script_id bigint not null,
  change_script_id bigint not null,
  chain_index bigint not null,
  constraint change_links_pkey primary key (transaction_id)
);
create index change_links_chain_index on change_links (chain_index);
create index change_links_change_script_id on change_links (change_script_id, transaction_id);
create index change_links_script_id on change_links (script_id, transaction_id);
comment on table change_links is 'Suppositions of the weaker heuristic, where it is switched on: '
  'which output of a transaction is its sender''s change. Never merged into clusters.';
comment on column change_links.transaction_id is 'The transaction.';
comment on column change_links.script_id is 'Script of its first input.';
comment on column change_links.change_script_id is 'Script of the output that is taken for change.';
comment on column change_links.chain_index is 'Chain block that accepts it.';

create table cluster_names (
  cluster_id bigint not null,
  name text not null,
  addresses bigint not null,
  actor text not null default '',
  constraint cluster_names_pkey primary key (cluster_id, name, actor)
);
comment on table cluster_names is 'Names that the tags of a cluster''s members give it; more than '
  'one: they do not agree.';
comment on column cluster_names.cluster_id is 'clusters.id.';
comment on column cluster_names.name is 'tags.name.';
comment on column cluster_names.addresses is 'Number of members with a tag of that name and actor.';
comment on column cluster_names.actor is 'tags.actor; names of one actor agree.';

create table cluster_labels (
  cluster_id bigint not null,
  label text not null,
  addresses bigint not null,
  constraint cluster_labels_pkey primary key (cluster_id, label)
);
comment on table cluster_labels is 'Labels that the tags of a cluster''s members have.';
comment on column cluster_labels.cluster_id is 'clusters.id.';
comment on column cluster_labels.label is 'One of tags.labels.';
comment on column cluster_labels.addresses is 'Number of members with a tag that has it.';

create table cluster_links (
  cluster_id bigint not null,
  confidence_level smallint not null,
  link text not null,
  addresses bigint not null,
  constraint cluster_links_pkey primary key (cluster_id, confidence_level, link)
);
create index cluster_links_best on cluster_links (cluster_id, confidence_level desc, addresses desc, link collate "C");
comment on table cluster_links is 'Links that the tags of a cluster''s members have.';
comment on column cluster_links.cluster_id is 'clusters.id.';
comment on column cluster_links.confidence_level is 'tags.confidence_level.';
comment on column cluster_links.link is 'tags.link, other than the empty one.';
comment on column cluster_links.addresses is 'Number of members with a tag of both.';

create function cluster_of(of_script_id bigint) returns bigint language sql stable strict parallel safe set search_path = public as $$
  with recursive up as (
    select m.script_id, m.parent_id from cluster_members m where m.script_id = of_script_id
    union all
    select m.script_id, m.parent_id from up join cluster_members m on m.script_id = up.parent_id
  )
  select script_id from up where parent_id is null
$$;
comment on function cluster_of(bigint) is 'clusters.id of the cluster that a script is in; null '
  'when it is in none. Some twenty look-ups at most, however large the cluster.';

-- Keys of the API ---------------------------------------------------------------------------------

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
  concurrency integer not null default 128,
  read_only boolean not null default false,
  constraint api_keys_pkey primary key (id),
  constraint api_keys_concurrency check (concurrency > 0),
  constraint api_keys_quota check ((quota_ru is null) = (quota_period is null)),
  constraint api_keys_quota_period check (quota_period = any (array['day', 'month']))
);
create unique index api_keys_key_hash on api_keys (key_hash);
comment on table api_keys is 'Keys of the HTTP API. Only a hash of a key is stored.';
comment on column api_keys.id is 'Key of the row.';
comment on column api_keys.name is 'Whose key it is.';
comment on column api_keys.key_hash is 'SHA-256 of the key.';
comment on column api_keys.rate_ru is 'Request units allowed in a window.';
comment on column api_keys.window_seconds is 'Length of the window.';
comment on column api_keys.quota_ru is 'Request units allowed in a quota period; null for no '
  'quota.';
comment on column api_keys.quota_period is 'day or month (UTC); null for no quota.';
comment on column api_keys.expires_at is 'When the key ends by itself; null for never.';
comment on column api_keys.revoked_at is 'When the key was revoked; null while it is good.';
comment on column api_keys.created_at is 'When the key was made.';
comment on column api_keys.concurrency is 'Requests that may be in flight at once, in each API '
  'process.';
comment on column api_keys.read_only is 'Whether submitting transactions and blocks is forbidden.';

create table webhooks (
  id bigint generated always as identity,
  api_key_id bigint not null,
  failing_ms bigint not null default 0,
  failures integer not null default 0,
  pause_ms integer not null default 0,
  revision integer not null default 0,
  confirmations integer,
  with_ids boolean not null,
  sequence bigint not null default 0,
  created_at timestamptz not null default now(),
  failing_since timestamptz,
  next_attempt_at timestamptz,
  previous_secret_until timestamptz,
  status text not null default 'active',
  status_reason text,
  url text not null,
  events text[] not null,
  addresses text[] not null,
  template text,
  covenants text[] not null default '{}',
  cursor bytea not null,
  secret bytea not null,
  previous_secret bytea,
  constraint webhooks_pkey primary key (id),
  constraint webhooks_status check (status = any (array['active', 'disabled']))
);
create index webhooks_api_key_id on webhooks (api_key_id);
comment on table webhooks is 'URLs that `kasgres webhooks` delivers events to.';
comment on column webhooks.id is 'Key of the row.';
comment on column webhooks.api_key_id is 'The key that owns the webhook.';
comment on column webhooks.failing_ms is 'Duration of these attempts and the pauses between them, '
  'in milliseconds.';
comment on column webhooks.failures is 'Failed attempts since the last success.';
comment on column webhooks.pause_ms is 'The pause after the latest of these attempts, in '
  'milliseconds.';
comment on column webhooks.revision is 'Grows with each change by its owner.';
comment on column webhooks.confirmations is 'Blue scores after which accepted transactions of its '
  'addresses are confirmed; null for none.';
comment on column webhooks.with_ids is 'Whether added chain blocks list the ids of accepted '
  'transactions.';
comment on column webhooks.sequence is 'Number of the latest delivery of a step that succeeded or '
  'was given up.';
comment on column webhooks.created_at is 'When it was created.';
comment on column webhooks.failing_since is 'When the first of these failures happened; null '
  'without failures.';
comment on column webhooks.next_attempt_at is 'End of the pause after a failure; null without '
  'failures: a delivery is attempted at once.';
comment on column webhooks.previous_secret_until is 'Until when the previous secret signs, too.';
comment on column webhooks.status is 'active or disabled.';
comment on column webhooks.status_reason is 'Why it was disabled; null while it is active.';
comment on column webhooks.url is 'Where deliveries are sent.';
comment on column webhooks.events is 'Kinds of events: chain, address, covenant.';
comment on column webhooks.addresses is 'Addresses whose activity is delivered.';
comment on column webhooks.template is 'Template of the covenants whose events are delivered, in '
  'hex; null if they are listed.';
comment on column webhooks.covenants is 'Ids of the covenants whose events are delivered, in hex.';
comment on column webhooks.cursor is 'Hash of the block up to which everything was delivered.';
comment on column webhooks.secret is 'Secret of the signatures, encrypted with WEBHOOK_SECRET_KEY.';
comment on column webhooks.previous_secret is 'Secret before the last rotation, encrypted.';

create table webhook_deliveries (
  id bigint generated always as identity,
  webhook_id bigint not null,
  sequence bigint,
  attempts integer not null default 0,
  status_code integer,
  latency_ms integer,
  created_at timestamptz not null default now(),
  attempted_at timestamptz,
  delivered_at timestamptz,
  is_pending boolean not null default true,
  error text,
  cursor bytea not null,
  body text,
  constraint webhook_deliveries_pkey primary key (id)
);
create index webhook_deliveries_webhook_id on webhook_deliveries (webhook_id, id);
create unique index webhook_deliveries_pending on webhook_deliveries (webhook_id) where is_pending and sequence is not null;
create index webhook_deliveries_pending_tests on webhook_deliveries (id) where is_pending and sequence is null;
comment on table webhook_deliveries is 'Pending deliveries of webhooks, and a log of the latest '
  'ones.';
comment on column webhook_deliveries.id is 'Key of the row.';
comment on column webhook_deliveries.webhook_id is 'Key of the webhook.';
comment on column webhook_deliveries.sequence is 'Number of the step among those of its webhook; '
  'null for a test.';
comment on column webhook_deliveries.attempts is 'Attempts so far.';
comment on column webhook_deliveries.status_code is 'HTTP status of the latest attempt; null if '
  'there was no response.';
comment on column webhook_deliveries.latency_ms is 'Duration of the latest attempt.';
comment on column webhook_deliveries.created_at is 'When its body was stored.';
comment on column webhook_deliveries.attempted_at is 'When the latest attempt began.';
comment on column webhook_deliveries.delivered_at is 'When the receiver confirmed it.';
comment on column webhook_deliveries.is_pending is 'Whether it will be attempted again.';
comment on column webhook_deliveries.error is 'Why the latest attempt failed; null if it '
  'succeeded.';
comment on column webhook_deliveries.cursor is 'Hash of the block that the step reaches.';
comment on column webhook_deliveries.body is 'The body, byte for byte; null once it is no longer '
  'pending.';

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
comment on column api_key_usage.requests is 'Requests that were served.';
comment on column api_key_usage.ru is 'Request units spent.';

create unlogged table rate_limits (
  key text not null,
  points bigint not null,
  expire bigint not null,
  constraint rate_limits_pkey primary key (key)
);
comment on table rate_limits is 'Windows of rate limits, where API processes share them '
  '(API_WORKERS, RATE_LIMIT_STORE=postgres).';
comment on column rate_limits.key is 'The bucket that is limited: `key:` and the id of a key, or '
  '`anonymous:` and an address.';
comment on column rate_limits.points is 'Charged in the window: hundredths of a request unit.';
comment on column rate_limits.expire is 'End of the window by the clock of the database, Unix '
  'milliseconds.';

create table notification_secret (
  secret text not null default replace(gen_random_uuid()::text, '-', ''),
  constraint notification_secret_pkey primary key (secret),
  constraint notification_secret_format check (secret ~ '^[0-9a-f]{32}$')
);
comment on table notification_secret is 'One row, made by the migration. The channels of '
  'notifications end with it: nobody else can notify listeners, or make them receive what they do '
  'not wait for.';
comment on column notification_secret.secret is 'Hexadecimal digits.';
insert into notification_secret default values;

-- Functions of the API ----------------------------------------------------------------------------

-- Values that responses seldom need are in functions, whose plans cost nothing until they run.

create function unpack_parents(packed bytea) returns text language plpgsql immutable strict parallel safe as $$
declare
  at integer := 0;
  levels integer;
  size integer;
  parents text;
  result text := '';
begin
  while at < octet_length(packed) loop
    levels := get_byte(packed, at) + 256 * get_byte(packed, at + 1);
    size := get_byte(packed, at + 2) + 256 * get_byte(packed, at + 3);
    parents := encode(substr(packed, at + 5, 32 * size), 'hex');
    if size > 1 then
      parents := regexp_replace(parents, '(.{64})(?=.)', E'\\1","', 'g');
    end if;
    result := result || repeat(case when size = 0 then ',[]' else ',["' || parents || '"]' end, levels);
    at := at + 4 + 32 * size;
  end loop;
  return result;
end $$;
comment on function unpack_parents is 'Unpacks blocks.parents_by_level to JSON: a comma and an '
  'array of hashes for each level.';

create function index_state() returns json language plpgsql stable parallel safe set search_path = public as $$
begin
  return (
    select json_build_object(
      'begunAt', meta.created_at, 'version', checkpoint.version::text, 'network', meta.network,
      'sinkId', checkpoint.block_id::text, 'sinkHash', encode(blocks.hash, 'hex'),
      'sinkChainIndex', checkpoint.chain_index::text, 'sinkBlueScore', blocks.blue_score::text,
      'sinkBlueWork', blocks.blue_work::text, 'sinkDaaScore', blocks.daa_score::text,
      'sinkTimestamp', blocks.timestamp::text, 'virtualMergeSet', checkpoint.virtual_merge_set::text[],
      'circulatingSompi', checkpoint.circulating_sompi::text, 'firstCatchUp', checkpoint.first_catch_up,
      'targetBlueScore', checkpoint.target_blue_score::text, 'secondsLeft', checkpoint.seconds_left,
      'firstBlock', (
        select encode(first.hash, 'hex') from chain_blocks join blocks first on first.id = chain_blocks.block_id
        order by chain_blocks.index limit 1),
      'bootstrapBlocks', (select count(*) from bootstrap_blocks), 'gaps', (select count(*) from gaps))
    from checkpoint cross join meta join blocks on blocks.id = checkpoint.block_id);
end $$;
comment on function index_state is 'The state of the index as JSON, with 64-bit numbers as text; '
  'null while nothing is indexed.';

create function bootstrap_blue_score() returns bigint language plpgsql stable parallel safe set search_path = public as $$
begin
  return (
    select blocks.blue_score from bootstrap_blocks join blocks on blocks.id = bootstrap_blocks.block_id order by bootstrap_blocks.chain_index desc limit 1);
end $$;
comment on function bootstrap_blue_score is 'Blue score of the latest bootstrap block: an upper '
  'bound for the accepting blocks of pre-bootstrap transactions.';

create function is_pre_bootstrap(transaction bigint) returns boolean language plpgsql stable parallel safe set search_path = public as $$
begin
  return exists (select from pre_bootstrap_transactions where id = transaction);
end $$;
comment on function is_pre_bootstrap is 'Whether the transaction with a key was accepted before a '
  'bootstrap block; false for null.';

create function is_pre_bootstrap_id(hex text) returns boolean language plpgsql stable parallel safe set search_path = public as $$
begin
  return exists (select from pre_bootstrap_transactions where transaction_id = decode(hex, 'hex'));
end $$;
comment on function is_pre_bootstrap_id is 'Whether the transaction with an id in hex was accepted '
  'before a bootstrap block.';

create function pre_bootstrap_transaction_id(transaction bigint) returns bytea language plpgsql stable parallel safe set search_path = public as $$
begin
  return (select transaction_id from pre_bootstrap_transactions where id = transaction);
end $$;
comment on function pre_bootstrap_transaction_id is 'The id of a pre-bootstrap transaction by its '
  'key.';

create function pre_bootstrap_block_hash(block bigint) returns bytea language plpgsql stable parallel safe set search_path = public as $$
begin
  return (select hash from pre_bootstrap_blocks where id = block);
end $$;
comment on function pre_bootstrap_block_hash is 'The hash of a block that is known by its hash '
  'alone, by its key.';

create function variant_of(transaction bigint, number integer) returns transaction_variants language plpgsql stable parallel safe set search_path = public as $$
declare
  further transaction_variants;
begin
  select * into further from transaction_variants where transaction_id = transaction and variant = number;
  return further;
end $$;
comment on function variant_of is 'Columns of a transaction that differ in a further variant.';

create function variant_input(transaction bigint, number integer, input_index integer) returns transaction_variant_inputs
language plpgsql stable parallel safe set search_path = public as $$
declare
  input transaction_variant_inputs;
begin
  select * into input from transaction_variant_inputs where transaction_id = transaction and variant = number and index = input_index;
  return input;
end $$;
comment on function variant_input is 'Columns of an input that differ in a further variant of its '
  'transaction.';

create function accepted_spender_id(of_transaction bigint, of_index bigint) returns bytea language plpgsql stable parallel safe set search_path = public as $$
begin
  return (
    select spender.transaction_id from contested_outputs c join transactions spender on spender.id = c.spender_id
     where c.transaction_id = of_transaction and c.index = of_index);
end $$;
comment on function accepted_spender_id is 'Id of the accepted transaction that spends an output '
  'of contested_outputs; null without one.';

create function blocks_with_accepting(of_transaction bigint, accepting_block bigint, first_blocks bigint[]) returns bigint[]
language plpgsql stable parallel safe set search_path = public as $$
begin
  if exists (select from blocks where id = any (first_blocks) and merging_block_id = accepting_block) then
    return first_blocks;
  end if;
  return first_blocks || array(
    select bt.block_id
      from (select unnest(b.merge_set_blues || b.merge_set_reds) as id from blocks b where b.id = accepting_block) merged
     cross join lateral (
       select bt.block_id from block_transactions bt where bt.transaction_id = of_transaction and bt.block_id = merged.id offset 0) bt
     where bt.block_id <> all (first_blocks));
end $$;
comment on function blocks_with_accepting is 'The first blocks that contain a transaction; if it '
  'is accepted from none of them, also those that the accepting block merges.';

create function block_count_of(of_transaction bigint) returns bigint language plpgsql stable parallel safe set search_path = public as $$
begin
  return (select block_count from repeated_transactions where transaction_id = of_transaction);
end $$;
comment on function block_count_of is 'Number of blocks that contain a transaction of '
  'repeated_transactions.';

create function inputs_minus_outputs(transaction bigint) returns bigint language plpgsql stable parallel safe set search_path = public as $$
begin
  return (
    select case when fee between 0 and 2900000000000000000 then fee end
    from (
      select (select case when count(*) = count(amount) then sum(amount) end from transaction_inputs where transaction_id = transaction)
        - (select coalesce(sum(amount), 0) from transaction_outputs where transaction_id = transaction) as fee) summed);
end $$;
comment on function inputs_minus_outputs is 'Inputs of a transaction minus its outputs, sompi; '
  'null while the UTXO of an input is unknown, and outside of 0 and the maximum supply.';

-- With the rights of its owner, since a function in a view runs with those of the analyst. One
-- statement: the newest transactions of a listing need it.
create function fee_of_existing_utxos(transaction bigint) returns bigint
language plpgsql stable parallel safe security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  return (
    select case when t.subnetwork_id = 1 then 0
                when spent.amount - paid.amount between 0 and 2900000000000000000 then spent.amount - paid.amount end
      from transactions t
     cross join lateral (
       select case when count(*) = count(input.amount) filter (
                where previous.accepting_index is not null or is_pre_bootstrap(input.previous_transaction_id)) then sum(input.amount) end as amount
         from transaction_inputs input
         left join transactions previous on previous.id = input.previous_transaction_id
        where input.transaction_id = t.id) spent
     cross join lateral (select coalesce(sum(amount), 0) as amount from transaction_outputs where transaction_id = t.id) paid
     where t.id = transaction);
end $$;
comment on function fee_of_existing_utxos is 'Fee of a transaction that is not accepted; null if a '
  'UTXO that it spends does not exist, since the transaction of that UTXO is not accepted, and if '
  'the outputs are more than the inputs.';

-- Schema kaspa: the views of analysts -------------------------------------------------------------

-- It is a contract with a version (docs/sql.md): views keep their columns and types until the
-- version changes, even if the tables change. Hashes and ids are lower-case hex, times are
-- timestamptz, amounts are in sompi and in KAS.
--
-- Views read with the rights of their owner, so an analyst needs no right on a table. A function in
-- a view, however, runs with the rights of the analyst, so the walk to the root of a cluster is
-- written out.
--
-- Tables that a filter may start from are joined, by left joins on unique keys, which Postgres
-- leaves out if no column of theirs is used. Everything else is looked up for the rows that are
-- returned, since Postgres plans no more than eight tables together.

create schema kaspa;
comment on schema kaspa is 'The public contract: views and functions for analysts, version 1.';

-- Payloads are what anybody has written: neither function fails on any bytes, and nesting is
-- bounded by the number of brackets.
create function kaspa.text_of(hex text) returns text
language plpgsql immutable strict parallel safe security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if hex !~ '^(?:[0-9a-f]{2})*$' then
    return null;
  end if;
  return text_of(decode(hex, 'hex'));
end $$;
comment on function kaspa.text_of(text) is 'Hex, such as a payload, as text; null if it is not '
  'UTF-8 or contains control, bidirectional or invisible characters.';

-- Not in parallel workers: before Postgres 16 it needs a subtransaction.
create function kaspa.json_of(hex text) returns jsonb
language plpgsql immutable strict parallel restricted security definer
set search_path = pg_catalog, public, pg_temp set standard_conforming_strings = on as $$
declare
  decoded text;
begin
  -- The usual payload of other kinds: nothing that begins as an object or array.
  if length(hex) > 131072 or hex !~ '^(?:20|09|0a|0d)*(?:7b|5b)(?:[0-9a-f]{2})*$' then
    return null;
  end if;
  if position('\x00'::bytea in decode(hex, 'hex')) > 0 then
    return null;
  end if;
  decoded := convert_from(decode(hex, 'hex'), 'LATIN1');
  if length(decoded) - length(translate(decoded, '[{', '')) > 1000 then
    return null;
  end if;
  if decoded ~ '[\u0080-\u00ff]' then
    -- Well-formed UTF-8 by table 3-7 of the Unicode Standard, as in text_of.
    if decoded !~ ('^(?:[\u0001-\u007f]|[\u00c2-\u00df][\u0080-\u00bf]|\u00e0[\u00a0-\u00bf][\u0080-\u00bf]'
                   '|[\u00e1-\u00ec\u00ee\u00ef][\u0080-\u00bf]{2}|\u00ed[\u0080-\u009f][\u0080-\u00bf]'
                   '|\u00f0[\u0090-\u00bf][\u0080-\u00bf]{2}|[\u00f1-\u00f3][\u0080-\u00bf]{3}'
                   '|\u00f4[\u0080-\u008f][\u0080-\u00bf]{2})*$') then
      return null;
    end if;
    decoded := convert_from(decode(hex, 'hex'), 'UTF8');
  end if;
  -- jsonb writes 1e131071 as 131,072 digits: 64 KiB of such numbers outside of strings would become
  -- 900 MB of text.
  if decoded ~ '[0-9][eE][+-]?[0-9]{3}' and regexp_replace(decoded, '"(?:[^"\\]|\\.)*"', '""', 'g') ~ '[0-9][eE][+-]?[0-9]{3}' then
    return null;
  end if;
  if current_setting('server_version_num')::integer >= 160000 then
    return case when pg_input_is_valid(decoded, 'jsonb') then decoded::jsonb end;
  end if;
  begin
    return decoded::jsonb;
  exception when others then
    return null;
  end;
end $$;
comment on function kaspa.json_of(text) is 'Hex, such as a payload, as a JSON object or array of '
  'at most 64 KiB and 1,000 brackets; null if it is none, or has escapes that jsonb cannot hold, '
  'or exponents of three digits.';

create function kaspa.schema_version() returns integer language sql immutable parallel safe as 'select 1';
comment on function kaspa.schema_version() is 'Version of this contract. While it stays, no view '
  'or column of it goes away or changes its type or meaning; new ones may come.';

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
       b.nonce::numeric(38,0) as nonce,
       b.is_chain_block,
       case b.is_blue when true then 'blue' when false then 'red' end as color,
       coalesce((select encode(p.hash, 'hex') from blocks p where p.id = b.selected_parent_id),
                (select encode(e.hash, 'hex') from pre_bootstrap_blocks e where e.id = b.selected_parent_id)) as selected_parent_hash,
       (select encode(m.hash, 'hex') from blocks m where m.id = b.merging_block_id) as merging_block_hash,
       (select to_timestamp(m.timestamp / 1000::double precision) from blocks m where m.id = b.merging_block_id) as merged_at,
       b.transaction_count::bigint as transaction_count,
       encode(b.pruning_point, 'hex') as pruning_point,
       encode(b.utxo_commitment, 'hex') as utxo_commitment,
       encode(b.hash_merkle_root, 'hex') as hash_merkle_root,
       encode(b.accepted_id_merkle_root, 'hex') as accepted_id_merkle_root,
       b.id as block_key,
       (select s.address from scripts s where s.id = b.miner_script_id) as miner_address,
       b.subsidy as subsidy_sompi,
       (b.subsidy * 0.00000001)::numeric(38,8) as subsidy_kas
  from blocks b;
comment on view kaspa.blocks is 'Every block seen: header, and what the chain made of it. Fast by '
  'hash, and by time.';
comment on column kaspa.blocks.hash is 'Block hash.';
comment on column kaspa.blocks.time is 'Time of the header, as claimed by the miner.';
comment on column kaspa.blocks.blue_score is 'Number of blue blocks in its past.';
comment on column kaspa.blocks.daa_score is 'Difficulty adjustment score: about the number of '
  'blocks in its past, red ones too.';
comment on column kaspa.blocks.blue_work is 'Accumulated work of its blue past.';
comment on column kaspa.blocks.version is 'Header version.';
comment on column kaspa.blocks.bits is 'Compact difficulty target.';
comment on column kaspa.blocks.difficulty is 'The largest target divided by the target of bits.';
comment on column kaspa.blocks.nonce is 'Proof-of-work nonce.';
comment on column kaspa.blocks.is_chain_block is 'Whether it is on the virtual selected parent '
  'chain now.';
comment on column kaspa.blocks.color is 'blue or red, as the chain block that merges it says; null '
  'while it is not merged.';
comment on column kaspa.blocks.selected_parent_hash is 'Its selected parent; null for genesis.';
comment on column kaspa.blocks.merging_block_hash is 'Chain block that merges it; null while it is '
  'not merged.';
comment on column kaspa.blocks.merged_at is 'Time of the merging block.';
comment on column kaspa.blocks.transaction_count is 'Number of transactions in it, the coinbase '
  'included, accepted or not.';
comment on column kaspa.blocks.pruning_point is 'Pruning point of the header.';
comment on column kaspa.blocks.utxo_commitment is 'MuHash of the UTXO set.';
comment on column kaspa.blocks.hash_merkle_root is 'Merkle root of the hashes of its transactions.';
comment on column kaspa.blocks.accepted_id_merkle_root is 'Commitment to the accepted '
  'transactions.';
comment on column kaspa.blocks.block_key is 'Key of the block. Joins views fast; differs from one '
  'database to another.';
comment on column kaspa.blocks.miner_address is 'Address that its coinbase names for its reward; '
  'null for a script without an address, and for genesis.';
comment on column kaspa.blocks.subsidy_sompi is 'Subsidy that its coinbase names, without fees; '
  'null for genesis.';
comment on column kaspa.blocks.subsidy_kas is 'The same in KAS.';

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
comment on view kaspa.chain_blocks is 'The virtual selected parent chain, from the first bootstrap '
  'block to the sink. Fast by index, hash, time and chain_time.';
comment on column kaspa.chain_blocks.index is 'Position on the chain, from 0; the highest is the '
  'sink.';
comment on column kaspa.chain_blocks.hash is 'Block hash.';
comment on column kaspa.chain_blocks.time is 'Time of the header, as claimed by the miner: may be '
  'before that of the block below.';
comment on column kaspa.chain_blocks.chain_time is 'The latest time of this block and of those '
  'below it: never goes back. Rollups count by it.';
comment on column kaspa.chain_blocks.blue_score is 'Number of blue blocks in its past.';
comment on column kaspa.chain_blocks.daa_score is 'Difficulty adjustment score.';
comment on column kaspa.chain_blocks.accepted_transaction_count is 'Number of transactions it '
  'accepts, coinbases included.';
comment on column kaspa.chain_blocks.blue_count is 'Number of blue blocks in its mergeset, the '
  'selected parent included.';
comment on column kaspa.chain_blocks.red_count is 'Number of red blocks in its mergeset.';
comment on column kaspa.chain_blocks.block_key is 'Key of the block. Joins views fast; differs '
  'from one database to another.';

-- A parent is in one of the two tables: so a filter on either hash finds an index.
create view kaspa.block_parents as
select encode(b.hash, 'hex') as block_hash, p.index, encode(parent.hash, 'hex') as parent_hash, p.block_id as block_key
  from block_parents p
  join blocks b on b.id = p.block_id
  join blocks parent on parent.id = p.parent_id
union all
select encode(b.hash, 'hex'), p.index, encode(parent.hash, 'hex'), p.block_id
  from pre_bootstrap_blocks parent
  join block_parents p on p.parent_id = parent.id
  join blocks b on b.id = p.block_id;
comment on view kaspa.block_parents is 'Direct parents of each block. Fast by either hash.';
comment on column kaspa.block_parents.block_hash is 'The child.';
comment on column kaspa.block_parents.index is 'Position among the parents in the header, from 0.';
comment on column kaspa.block_parents.parent_hash is 'The parent. Blocks before the bootstrap '
  'block are not in kaspa.blocks.';
comment on column kaspa.block_parents.block_key is 'Key of the child. Joins views fast; differs '
  'from one database to another.';

create view kaspa.block_transactions as
select encode(b.hash, 'hex') as block_hash, x.index, encode(t.transaction_id, 'hex') as transaction_id,
       x.block_id as block_key, x.transaction_id as transaction_key
  from block_transactions x
  left join blocks b on b.id = x.block_id
  left join transactions t on t.id = x.transaction_id;
comment on view kaspa.block_transactions is 'Which block contains which transaction, accepted or '
  'not. One transaction may be in several blocks. Fast by either column.';
comment on column kaspa.block_transactions.block_hash is 'The block.';
comment on column kaspa.block_transactions.index is 'Position in the block; 0 is the coinbase.';
comment on column kaspa.block_transactions.transaction_id is 'The transaction.';
comment on column kaspa.block_transactions.block_key is 'Key of the block. Joins views fast; '
  'differs from one database to another.';
comment on column kaspa.block_transactions.transaction_key is 'Key of the transaction. Joins views '
  'fast; differs from one database to another.';

-- Both conditions say the same, but for blocks that were merged again after a gap: one is the way
-- down from the chain block, the other the way up to it. Postgres takes the second for independent
-- of the first and would expect hardly any row of an inner join. Of an outer one it expects a row
-- for each block of a mergeset, and half of them after the case. A filter on block_hash turns it
-- into an inner join and goes up; a join on block_key must not, so that many rows are expected
-- where there are many.
create view kaspa.mergesets as
select encode(c.hash, 'hex') as chain_block_hash, encode(b.hash, 'hex') as block_hash, case when b.is_blue then 'blue' else 'red' end as color,
       merged.id as block_key, k.index as chain_index
  from chain_blocks k
  join blocks c on c.id = k.block_id
 cross join lateral unnest(c.merge_set_blues || c.merge_set_reds) merged (id)
  left join blocks b on b.id = merged.id and b.merging_block_id = c.id
 where case when b.id is null then false else true end;
comment on view kaspa.mergesets is 'Which chain block merges which block. Every merged block is '
  'here once. Fast by either hash, and by chain_index.';
comment on column kaspa.mergesets.chain_block_hash is 'The chain block.';
comment on column kaspa.mergesets.block_hash is 'A block of its mergeset; the selected parent is '
  'one.';
comment on column kaspa.mergesets.color is 'blue or red.';
comment on column kaspa.mergesets.block_key is 'Key of the merged block. Joins views fast; differs '
  'from one database to another.';
comment on column kaspa.mergesets.chain_index is 'Position of the chain block on the chain.';

create view kaspa.transactions as
select encode(t.transaction_id, 'hex') as transaction_id,
       to_timestamp(c.timestamp / 1000::double precision) as accepted_at,
       t.subnetwork_id = 1 as is_coinbase,
       case when t.accepting_index is null then 'not accepted' else 'accepted' end as acceptance,
       encode(c.hash, 'hex') as accepting_block_hash,
       c.blue_score as accepting_blue_score,
       case when t.accepting_index is not null then t.fee else fee_of_existing_utxos(t.id) end as fee_sompi,
       (case when t.accepting_index is not null then t.fee else fee_of_existing_utxos(t.id) end * 0.00000001)::numeric(38,8) as fee_kas,
       (select encode(n.subnetwork_id, 'hex') from subnetworks n where n.id = t.subnetwork_id) as subnetwork_id,
       t.version,
       t.lock_time::numeric(38,0) as lock_time,
       t.gas::numeric(38,0) as gas,
       encode(t.payload, 'hex') as payload,
       -- A transaction commits to its storage mass as an unsigned 64-bit number, which nodes check
       -- only when they accept it.
       least(case when t.accepted_variant > 0
                  then (select x.storage_mass from transaction_variants x where x.transaction_id = t.id and x.variant = t.accepted_variant)
                  else t.storage_mass end, 9223372036854775807)::bigint as storage_mass,
       least(case when t.accepted_variant > 0
                  then (select x.compute_mass from transaction_variants x where x.transaction_id = t.id and x.variant = t.accepted_variant)
                  else t.compute_mass end, 9223372036854775807)::bigint as compute_mass,
       encode(case when t.accepted_variant > 0
                   then (select x.hash from transaction_variants x where x.transaction_id = t.id and x.variant = t.accepted_variant)
                   else t.hash end, 'hex') as hash,
       c.index as chain_index,
       t.id as transaction_key
  from transactions t
  left join chain_blocks c on c.index = t.accepting_index;
comment on view kaspa.transactions is 'Every transaction seen in a block, once, accepted or not. '
  'Fast by transaction_id; for those of a time, go by kaspa.accepted_transactions.';
comment on column kaspa.transactions.transaction_id is 'Transaction id.';
comment on column kaspa.transactions.accepted_at is 'Time of the accepting block; null while not '
  'accepted.';
comment on column kaspa.transactions.is_coinbase is 'Whether it is the coinbase of a block.';
comment on column kaspa.transactions.acceptance is 'accepted, or not accepted: only an accepted '
  'transaction changes balances.';
comment on column kaspa.transactions.accepting_block_hash is 'Chain block that accepts it; null '
  'while not accepted.';
comment on column kaspa.transactions.accepting_blue_score is 'Blue score of that block.';
comment on column kaspa.transactions.fee_sompi is 'Inputs minus outputs; 0 for a coinbase. Of a '
  'transaction that is not accepted: null unless every output that it spends is of an accepted '
  'transaction, and if its outputs are more than its inputs.';
comment on column kaspa.transactions.fee_kas is 'The same in KAS.';
comment on column kaspa.transactions.subnetwork_id is 'Subnetwork: 0000… is the native one, 0100… '
  'that of coinbases.';
comment on column kaspa.transactions.version is 'Transaction version.';
comment on column kaspa.transactions.lock_time is 'Lock time.';
comment on column kaspa.transactions.gas is 'Gas.';
comment on column kaspa.transactions.payload is 'Payload, hex; empty for most.';
comment on column kaspa.transactions.storage_mass is 'Committed storage mass (KIP-9). Of several '
  'variants of one id, that of the accepted one, else of the first.';
comment on column kaspa.transactions.compute_mass is 'Compute mass; of which variant, as with '
  'storage_mass.';
comment on column kaspa.transactions.hash is 'Hash over everything, signatures included; of which '
  'variant, as with storage_mass.';
comment on column kaspa.transactions.chain_index is 'Position of the accepting block on the chain; '
  'null while not accepted.';
comment on column kaspa.transactions.transaction_key is 'Key of the transaction. Joins views fast; '
  'differs from one database to another.';

-- The second condition of the join matters only after a gap, but Postgres takes it for independent
-- of the first and expects hardly any row. So columns that are often filtered must not turn the
-- outer join into an inner one: hence the cases. A filter on transaction_id does, and goes up from
-- the transaction.
create view kaspa.accepted_transactions as
select c.index as chain_index,
       (accepted.position - 1)::integer as index,
       encode(b.hash, 'hex') as accepting_block_hash,
       to_timestamp(c.timestamp / 1000::double precision) as accepted_at,
       encode(t.transaction_id, 'hex') as transaction_id,
       case when t.id is not null then t.subnetwork_id = 1 end as is_coinbase,
       case when t.id is not null then t.fee end as fee_sompi,
       (case when t.id is not null then t.fee end * 0.00000001)::numeric(38,8) as fee_kas,
       accepted.id as transaction_key
  from chain_blocks c
 cross join lateral unnest(c.accepted_transactions) with ordinality accepted (id, position)
  left join transactions t on t.id = accepted.id and t.accepting_index = c.index
  left join blocks b on b.id = c.block_id;
comment on view kaspa.accepted_transactions is 'Accepted transactions in the order of acceptance: '
  'chain_index, then index. Fast by accepted_at, chain_index, accepting_block_hash and '
  'transaction_id: the way to the transactions of a time.';
comment on column kaspa.accepted_transactions.chain_index is 'Position of the accepting block on '
  'the chain.';
comment on column kaspa.accepted_transactions.index is 'Position among what that block accepts, '
  'from 0.';
comment on column kaspa.accepted_transactions.accepting_block_hash is 'The chain block that '
  'accepts it.';
comment on column kaspa.accepted_transactions.accepted_at is 'Time of that block.';
comment on column kaspa.accepted_transactions.transaction_id is 'The transaction. If it is '
  'accepted again after a gap, this and the columns about it are null in the earlier row.';
comment on column kaspa.accepted_transactions.is_coinbase is 'Whether it is the coinbase of a '
  'block.';
comment on column kaspa.accepted_transactions.fee_sompi is 'Inputs minus outputs; 0 for a '
  'coinbase.';
comment on column kaspa.accepted_transactions.fee_kas is 'The same in KAS.';
comment on column kaspa.accepted_transactions.transaction_key is 'Key of the transaction. Joins '
  'views fast; differs from one database to another.';

create view kaspa.inputs as
select encode(t.transaction_id, 'hex') as transaction_id,
       i.index::integer as index,
       coalesce((select encode(p.transaction_id, 'hex') from transactions p where p.id = i.previous_transaction_id),
                (select encode(e.transaction_id, 'hex') from pre_bootstrap_transactions e where e.id = i.previous_transaction_id),
                encode(nullif(i.previous_transaction_hash, ''), 'hex')) as previous_transaction_id,
       i.previous_index,
       s.address,
       i.amount as amount_sompi,
       (i.amount * 0.00000001)::numeric(38,8) as amount_kas,
       encode(case when t.accepted_variant > 0
                   then (select x.signature_script from transaction_variant_inputs x
                          where x.transaction_id = i.transaction_id and x.variant = t.accepted_variant and x.index = i.index)
                   else i.signature_script end, 'hex') as signature_script,
       i.sequence::numeric(38,0) as sequence,
       t.accepting_index is not null as is_accepted,
       (select to_timestamp(c.timestamp / 1000::double precision) from chain_blocks c where c.index = t.accepting_index) as accepted_at,
       i.transaction_id as transaction_key,
       i.previous_transaction_id as previous_transaction_key,
       i.script_id as address_key,
       coalesce((select u.block_daa_score from bootstrap_utxos u
                  where u.transaction_id = i.previous_transaction_id and u.index = i.previous_index),
                (select c.daa_score from transactions p join chain_blocks c on c.index = p.accepting_index
                  where p.id = i.previous_transaction_id)) as utxo_daa_score,
       coalesce((select encode(u.covenant_id, 'hex') from bootstrap_utxos u
                  where u.transaction_id = i.previous_transaction_id and u.index = i.previous_index),
                (select encode(o.covenant_id, 'hex') from transaction_outputs o
                  where o.transaction_id = i.previous_transaction_id and o.index = i.previous_index and o.covenant_id is not null)) as covenant_id
  from transaction_inputs i
  left join transactions t on t.id = i.transaction_id
  left join scripts s on s.id = i.script_id;
comment on view kaspa.inputs is 'Inputs of transactions, accepted or not, with the UTXO that each '
  'spends. Fast by transaction_id and by address. Who spent an output is in kaspa.outputs.';
comment on column kaspa.inputs.transaction_id is 'The spending transaction.';
comment on column kaspa.inputs.index is 'Position of the input, from 0.';
comment on column kaspa.inputs.previous_transaction_id is 'The transaction that created the UTXO.';
comment on column kaspa.inputs.previous_index is 'Its output.';
comment on column kaspa.inputs.address is 'Address that held the UTXO; null for a script without '
  'one, and while the UTXO is unknown.';
comment on column kaspa.inputs.amount_sompi is 'Amount of the UTXO; null while it is unknown, '
  'which is possible only in transactions that were never accepted.';
comment on column kaspa.inputs.amount_kas is 'The same in KAS.';
comment on column kaspa.inputs.signature_script is 'Signature script, hex. Of several variants of '
  'one id, that of the accepted one, else of the first.';
comment on column kaspa.inputs.sequence is 'Sequence.';
comment on column kaspa.inputs.is_accepted is 'Whether the spending transaction is accepted: the '
  'UTXO is spent only then.';
comment on column kaspa.inputs.accepted_at is 'Time of the accepting block; null while not '
  'accepted.';
comment on column kaspa.inputs.transaction_key is 'Key of the transaction. Joins views fast; '
  'differs from one database to another.';
comment on column kaspa.inputs.previous_transaction_key is 'Key of the transaction that created '
  'the UTXO; null while it is unknown. Joins views fast; differs from one database to another.';
comment on column kaspa.inputs.address_key is 'Key of the address, or of a script without one. '
  'Joins views fast; differs from one database to another.';
comment on column kaspa.inputs.utxo_daa_score is 'DAA score of the block that accepted the UTXO, '
  'also of UTXOs older than the index; null while it is unknown or not accepted, and before a gap '
  'for UTXOs older than the index. kaspa.time_of_daa_score has its time.';
comment on column kaspa.inputs.covenant_id is 'Covenant id of the UTXO, also of UTXOs older than '
  'the index; null without a covenant, while the UTXO is unknown, and before a gap for UTXOs older '
  'than the index.';

create view kaspa.outputs as
select encode(t.transaction_id, 'hex') as transaction_id,
       o.index,
       s.address,
       encode(s.script, 'hex') as script,
       s.type::text as script_type,
       o.amount as amount_sompi,
       (o.amount * 0.00000001)::numeric(38,8) as amount_kas,
       encode(o.covenant_id, 'hex') as covenant_id,
       t.accepting_index is not null as is_accepted,
       (select to_timestamp(c.timestamp / 1000::double precision) from chain_blocks c where c.index = t.accepting_index) as accepted_at,
       -- contested_outputs has the accepted one of more than 4 spenders.
       (select coalesce(max(encode(spender.transaction_id, 'hex')) filter (where spender.accepting_index is not null),
                        case when count(*) = 4 then (
                          select encode(a.transaction_id, 'hex') from contested_outputs n join transactions a on a.id = n.spender_id
                           where n.transaction_id = o.transaction_id and n.index = o.index) end)
          from (select i.transaction_id as id from transaction_inputs i
                 where i.previous_transaction_id = o.transaction_id and i.previous_index = o.index limit 4) spending
          join transactions spender on spender.id = spending.id) as spent_by,
       t.subnetwork_id = 1 as is_coinbase,
       o.transaction_id as transaction_key,
       o.script_id as address_key
  from transaction_outputs o
  left join transactions t on t.id = o.transaction_id
  left join scripts s on s.id = o.script_id;
comment on view kaspa.outputs is 'Outputs of transactions, accepted or not. Fast by transaction_id '
  'and by address.';
comment on column kaspa.outputs.transaction_id is 'The transaction.';
comment on column kaspa.outputs.index is 'Position of the output, from 0.';
comment on column kaspa.outputs.address is 'Address that it pays; null for a script without one.';
comment on column kaspa.outputs.script is 'Script public key, hex.';
comment on column kaspa.outputs.script_type is 'pubkey, pubkeyecdsa, scripthash or nonstandard.';
comment on column kaspa.outputs.amount_sompi is 'Amount.';
comment on column kaspa.outputs.amount_kas is 'The same in KAS.';
comment on column kaspa.outputs.covenant_id is 'Covenant id; null without a covenant.';
comment on column kaspa.outputs.is_accepted is 'Whether the transaction is accepted: the UTXO '
  'exists only then.';
comment on column kaspa.outputs.accepted_at is 'Time of the accepting block; null while not '
  'accepted.';
comment on column kaspa.outputs.spent_by is 'The accepted transaction that spends it; null while '
  'unspent, and where a gap holds the spender. Looked up for each row that is read.';
comment on column kaspa.outputs.is_coinbase is 'Whether the transaction is the coinbase of a '
  'block.';
comment on column kaspa.outputs.transaction_key is 'Key of the transaction. Joins views fast; '
  'differs from one database to another.';
comment on column kaspa.outputs.address_key is 'Key of the address, or of a script without one. '
  'Joins views fast; differs from one database to another.';

create view kaspa.utxos as
select coalesce((select encode(t.transaction_id, 'hex') from transactions t where t.id = u.transaction_id),
                (select encode(e.transaction_id, 'hex') from pre_bootstrap_transactions e where e.id = u.transaction_id)) as transaction_id,
       u.index::bigint as index,
       s.address,
       u.amount as amount_sompi,
       (u.amount * 0.00000001)::numeric(38,8) as amount_kas,
       u.block_daa_score,
       u.is_coinbase,
       u.transaction_id as transaction_key,
       u.script_id as address_key
  from utxos u
  left join scripts s on s.id = u.script_id;
comment on view kaspa.utxos is 'Unspent outputs of accepted transactions, at the sink, also of '
  'those before the bootstrap block. Fast by address.';
comment on column kaspa.utxos.transaction_id is 'The transaction that created the UTXO.';
comment on column kaspa.utxos.index is 'Output index.';
comment on column kaspa.utxos.address is 'Whose it is; null for a script without an address.';
comment on column kaspa.utxos.amount_sompi is 'Amount.';
comment on column kaspa.utxos.amount_kas is 'The same in KAS.';
comment on column kaspa.utxos.block_daa_score is 'DAA score of the block that accepted it.';
comment on column kaspa.utxos.is_coinbase is 'Whether a coinbase made it.';
comment on column kaspa.utxos.transaction_key is 'Key of the transaction. Joins views fast '
  'together with address_key; differs from one database to another.';
comment on column kaspa.utxos.address_key is 'Key of the address, or of a script without one. '
  'Joins views fast; differs from one database to another.';

create view kaspa.addresses as
select s.address,
       s.type::text as script_type,
       b.balance as balance_sompi,
       (b.balance * 0.00000001)::numeric(38,8) as balance_kas,
       b.utxo_count::bigint as utxo_count,
       b.accepted_count::bigint as transaction_count,
       b.receiving_count::bigint as receiving_count,
       b.sending_count::bigint as sending_count,
       b.coinbase_count::bigint as coinbase_count,
       b.received::numeric(38,0) as received_sompi,
       (b.received * 0.00000001)::numeric(38,8) as received_kas,
       b.sent::numeric(38,0) as sent_sompi,
       (b.sent * 0.00000001)::numeric(38,8) as sent_kas,
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
 -- A partial index has the few scripts without an address, so that sums of balances do not read all
 -- scripts.
 where not exists (select from scripts n where n.id = b.script_id and n.address is null);
comment on view kaspa.addresses is 'Every address seen, and what it adds up to at the sink. An '
  'address that was first seen in a block that is not merged yet may be missing. Fast by address; '
  'the richest by: where balance_sompi > 0 order by balance_sompi desc limit n.';
comment on column kaspa.addresses.address is 'The address.';
comment on column kaspa.addresses.script_type is 'pubkey, pubkeyecdsa or scripthash.';
comment on column kaspa.addresses.balance_sompi is 'Sum of its unspent outputs.';
comment on column kaspa.addresses.balance_kas is 'The same in KAS.';
comment on column kaspa.addresses.utxo_count is 'Number of its unspent outputs.';
comment on column kaspa.addresses.transaction_count is 'Number of accepted transactions that touch '
  'it.';
comment on column kaspa.addresses.receiving_count is 'Number of accepted transactions with an '
  'output to it.';
comment on column kaspa.addresses.sending_count is 'Number of accepted transactions with an input '
  'from it.';
comment on column kaspa.addresses.coinbase_count is 'Number of accepted coinbases with an output '
  'to it.';
comment on column kaspa.addresses.received_sompi is 'Sum of the outputs to it of accepted '
  'transactions, change included.';
comment on column kaspa.addresses.received_kas is 'The same in KAS.';
comment on column kaspa.addresses.sent_sompi is 'Sum of the inputs from it of accepted '
  'transactions.';
comment on column kaspa.addresses.sent_kas is 'The same in KAS.';
comment on column kaspa.addresses.first_seen is 'chain_time of the first block that accepts a '
  'transaction that touches it, or of the first bootstrap block when it held UTXOs there before; '
  'null while there is none.';
comment on column kaspa.addresses.last_seen is 'chain_time of the last block that accepts a '
  'transaction that touches it; first_seen while there is none. What happened in a gap is not '
  'seen.';
comment on column kaspa.addresses.tag is 'Name of its owner, from its tag, else from its cluster; '
  'null while unknown.';
comment on column kaspa.addresses.labels is 'Kinds of owner: the labels of that tag. '
  'kaspa.automatic_labels has labels from measured behaviour.';
comment on column kaspa.addresses.cluster is 'The cluster that it is in: kaspa.clusters.cluster; '
  'null when it stands alone.';
comment on column kaspa.addresses.address_key is 'Key of the address. Joins views fast; differs '
  'from one database to another.';

-- The sums are computed once for each transaction, in two look-ups, and not for each row: whoever
-- reads many transactions, by a scan or by a join, starts at `t`. Whoever has an address starts at
-- `a`, whose members select from one table each, so that conditions reach its indexes. The first
-- row of a script in a transaction represents it in `a`. A group over all rows would be computed
-- from all rows wherever the view is joined. Postgres has no statistics of a union, and would
-- expect one row in 200 to satisfy an equality, where about one in five does: it expects half of
-- the rows of each `coalesce`.
create view kaspa.address_transactions as
select s.address,
       encode(t.transaction_id, 'hex') as transaction_id,
       g.accepted_at,
       t.accepting_index is not null as is_accepted,
       g.received::numeric(38,0) as received_sompi,
       g.sent::numeric(38,0) as sent_sompi,
       (g.received - g.sent)::numeric(38,0) as change_sompi,
       ((g.received - g.sent) * 0.00000001)::numeric(38,8) as change_kas,
       t.subnetwork_id = 1 as is_coinbase,
       t.id as transaction_key,
       a.script_id as address_key
  from transactions t
 cross join lateral (
   select d.script_id, min(d.position) as position, sum(d.received) as received, sum(d.sent) as sent,
          (select to_timestamp(c.timestamp / 1000::double precision) from chain_blocks c where c.index = t.accepting_index) as accepted_at
     from (select o.script_id, o.index::bigint as position, o.amount as received, 0::bigint as sent
             from transaction_outputs o where o.transaction_id = t.id
           union all
           select i.script_id, 2147483648 + i.index, 0::bigint, i.amount
             from transaction_inputs i where i.transaction_id = t.id) d
    group by d.script_id) g
  join (select o.transaction_id, o.script_id, o.index::bigint as position from transaction_outputs o
        union all
        select i.transaction_id, i.script_id, 2147483648 + i.index from transaction_inputs i) a
    on a.transaction_id = t.id and coalesce(a.position = g.position, false) and coalesce(a.script_id = g.script_id, false)
       and coalesce(a.position <= g.position, false)
  left join scripts s on s.id = a.script_id;
comment on view kaspa.address_transactions is 'One row for each address that a transaction, '
  'accepted or not, spends from or pays to. Fast by address and by transaction_id.';
comment on column kaspa.address_transactions.address is 'The address; null for a script without '
  'one.';
comment on column kaspa.address_transactions.transaction_id is 'The transaction.';
comment on column kaspa.address_transactions.accepted_at is 'Time of the accepting block; null '
  'while not accepted.';
comment on column kaspa.address_transactions.is_accepted is 'Whether the transaction is accepted: '
  'it changes a balance only then.';
comment on column kaspa.address_transactions.received_sompi is 'Sum of its outputs to the address, '
  'change included.';
comment on column kaspa.address_transactions.sent_sompi is 'Sum of its inputs from the address.';
comment on column kaspa.address_transactions.change_sompi is 'Received minus sent: by how much it '
  'changes the balance of the address.';
comment on column kaspa.address_transactions.change_kas is 'The same in KAS.';
comment on column kaspa.address_transactions.is_coinbase is 'Whether the transaction is the '
  'coinbase of a block.';
comment on column kaspa.address_transactions.transaction_key is 'Key of the transaction. Joins '
  'views fast; differs from one database to another.';
comment on column kaspa.address_transactions.address_key is 'Key of the address, or of a script '
  'without one. Joins views fast; differs from one database to another.';

create view kaspa.address_hours as
select s.address,
       to_timestamp(h.hour * 3600::double precision) as hour,
       h.change as change_sompi,
       (h.change * 0.00000001)::numeric(38,8) as change_kas,
       h.script_id as address_key
  from balance_changes h
  left join scripts s on s.id = h.script_id
 where h.change <> 0;
comment on view kaspa.address_hours is 'By how much the balance of each address changed in each '
  'hour: the sum up to an hour is the balance at its end. Fast by address.';
comment on column kaspa.address_hours.address is 'The address; null for a script without one.';
comment on column kaspa.address_hours.hour is 'Beginning of the hour (UTC), by chain_time of the '
  'accepting block. In the hour of a bootstrap block, what the address holds there beyond its '
  'balance before is a change too.';
comment on column kaspa.address_hours.change_sompi is 'Sum of the changes by transactions accepted '
  'in that hour.';
comment on column kaspa.address_hours.change_kas is 'The same in KAS.';
comment on column kaspa.address_hours.address_key is 'Key of the address, or of a script without '
  'one. Joins views fast; differs from one database to another.';

create view kaspa.tags as
select t.address, t.name, t.link, t.labels from tags t;
comment on view kaspa.tags is 'Tags of addresses. kaspa.addresses.tag also has those of clusters.';
comment on column kaspa.tags.address is 'The address.';
comment on column kaspa.tags.name is 'Name of its owner.';
comment on column kaspa.tags.link is 'Where to read more; empty when there is nothing.';
comment on column kaspa.tags.labels is 'Kinds of owner, such as exchange.';

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
comment on view kaspa.attributions is 'Statements of each source about an address. Of several, '
  'kaspa.tags has what is said with the most confidence, then the latest.';
comment on column kaspa.attributions.source is 'kaspa.tag_sources.name.';
comment on column kaspa.attributions.address is 'The address.';
comment on column kaspa.attributions.name is 'Name of its owner.';
comment on column kaspa.attributions.link is 'Where to read more; empty when there is nothing.';
comment on column kaspa.attributions.labels is 'Kinds of owner, such as exchange.';
comment on column kaspa.attributions.category is 'Category, as the source says; null when it says '
  'none.';
comment on column kaspa.attributions.confidence is 'How the source knows, in its words; null when '
  'it does not say.';
comment on column kaspa.attributions.confidence_level is 'The same from 0 to 100.';
comment on column kaspa.attributions.last_modified is 'When it was last changed, as the source '
  'says; null when it does not.';

create view kaspa.clusters as
select root.address as cluster,
       k.size,
       k.balance as balance_sompi,
       (k.balance * 0.00000001)::numeric(38,8) as balance_kas,
       k.name,
       k.link,
       k.labels
  from clusters k
  left join scripts root on root.id = k.id;
comment on view kaspa.clusters is 'Groups of two or more addresses that inputs of one transaction '
  'tie together. Fast by cluster and by name.';
comment on column kaspa.clusters.cluster is 'Address of the member at its root, which names the '
  'cluster. It may change when clusters merge.';
comment on column kaspa.clusters.size is 'Number of its members.';
comment on column kaspa.clusters.balance_sompi is 'Sum of the balances of its members.';
comment on column kaspa.clusters.balance_kas is 'The same in KAS.';
comment on column kaspa.clusters.name is 'Name of the owner: that of its members'' tags when these '
  'agree; null while nobody knows or they do not.';
comment on column kaspa.clusters.link is 'Where to read more; empty when there is nothing.';
comment on column kaspa.clusters.labels is 'Kinds of owner: the labels of these tags.';

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
comment on view kaspa.cluster_members is 'Which addresses are in which cluster. Fast by cluster; '
  'that of one address is kaspa.addresses.cluster.';
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
comment on view kaspa.cluster_merges is 'Why addresses are together: every merge of two clusters, '
  'or single addresses, in order, with the transaction that has inputs of both.';
comment on column kaspa.cluster_merges.id is 'Its position in the order.';
comment on column kaspa.cluster_merges.transaction_id is 'The transaction; null if it is older '
  'than the retention of the index.';
comment on column kaspa.cluster_merges.address is 'Address of an input, on the side that stayed.';
comment on column kaspa.cluster_merges.merged_address is 'Address of an input, on the other side.';
comment on column kaspa.cluster_merges.cluster is 'The cluster that stayed, as it was named then.';
comment on column kaspa.cluster_merges.merged_cluster is 'The cluster that became a part of it.';

create view kaspa.cluster_evidence as
select root.address as cluster,
       m.id,
       encode(t.transaction_id, 'hex') as transaction_id,
       (select to_timestamp(c.timestamp / 1000::double precision) from chain_blocks c where c.index = t.accepting_index) as accepted_at,
       kept.address,
       merged.address as merged_address,
       m.held_merge_id is not null as was_held
  from clusters k
  left join scripts root on root.id = k.id
 cross join lateral (
   with recursive ring as (
     select m.script_id, m.next_id, m.merge_id from cluster_members m where m.script_id = k.id
     union all
     select m.script_id, m.next_id, m.merge_id from ring join cluster_members m on m.script_id = ring.next_id where ring.next_id <> k.id
   )
   select merge_id from ring where merge_id is not null) member
  join cluster_merges m on m.id = member.merge_id
  left join transactions t on t.id = m.transaction_id
  left join scripts kept on kept.id = m.script_id
  left join scripts merged on merged.id = m.merged_script_id;
comment on view kaspa.cluster_evidence is 'Why the addresses of a cluster are together: all merges '
  'that made it what it is today. Fast by cluster.';
comment on column kaspa.cluster_evidence.cluster is 'kaspa.clusters.cluster, as it is named today.';
comment on column kaspa.cluster_evidence.id is 'kaspa.cluster_merges.id: the position of the merge '
  'in the order of all.';
comment on column kaspa.cluster_evidence.transaction_id is 'The transaction that has inputs of '
  'both; null if it is older than the retention of the index.';
comment on column kaspa.cluster_evidence.accepted_at is 'Time of the block that accepts it.';
comment on column kaspa.cluster_evidence.address is 'Address of an input, on the side that stayed.';
comment on column kaspa.cluster_evidence.merged_address is 'Address of an input, on the other '
  'side.';
comment on column kaspa.cluster_evidence.was_held is 'Whether the merge was held until a person '
  'approved it.';

create view kaspa.cluster_name_conflicts as
select root.address as cluster, k.size, n.name, sum(n.addresses)::bigint as addresses
  from clusters k
  join cluster_names n on n.cluster_id = k.id
  left join scripts root on root.id = k.id
 where k.name is null
 group by k.id, k.size, root.address, n.name;
comment on view kaspa.cluster_name_conflicts is 'Clusters without a name because the tags of their '
  'members do not agree: one row for each of the names, or for the only one if it is that of '
  'several actors.';
comment on column kaspa.cluster_name_conflicts.cluster is 'kaspa.clusters.cluster.';
comment on column kaspa.cluster_name_conflicts.size is 'Number of its members.';
comment on column kaspa.cluster_name_conflicts.name is 'A name that tags of members give.';
comment on column kaspa.cluster_name_conflicts.addresses is 'Number of members with a tag of that '
  'name.';

create view kaspa.held_merges as
select h.id,
       h.state,
       encode(t.transaction_id, 'hex') as transaction_id,
       (select to_timestamp(c.timestamp / 1000::double precision) from chain_blocks c where c.index = h.chain_index) as accepted_at,
       one.address,
       other.address as other_address,
       one_root.address as cluster,
       other_root.address as other_cluster,
       h.transactions
  from held_merges h
  left join transactions t on t.id = h.transaction_id
  left join scripts one on one.id = h.script_id
  left join scripts other on other.id = h.other_script_id
  left join scripts one_root on one_root.id = h.cluster_id
  left join scripts other_root on other_root.id = h.other_cluster_id;
comment on view kaspa.held_merges is 'Merges that would make a cluster larger than its limit: a '
  'person decides (docs/clustering.md). One row for two clusters.';
comment on column kaspa.held_merges.id is 'Its position in the order.';
comment on column kaspa.held_merges.state is 'held: waits for a person; approved: will be carried '
  'out next; merged; rejected.';
comment on column kaspa.held_merges.transaction_id is 'The first transaction that ties the two; '
  'null if it is older than the retention of the index.';
comment on column kaspa.held_merges.accepted_at is 'Time of the block that accepts it.';
comment on column kaspa.held_merges.address is 'Address of an input.';
comment on column kaspa.held_merges.other_address is 'Address of another input, in the other '
  'cluster.';
comment on column kaspa.held_merges.cluster is 'The one cluster, or single address, as it was '
  'named when the merge was first held; null in rows of before that was kept.';
comment on column kaspa.held_merges.other_cluster is 'The other one.';
comment on column kaspa.held_merges.transactions is 'Number of transactions that tie the two.';

-- Three views of one form. An interval that has begun before the index or has not ended yet is as
-- long as the index knows of it. Retention removes chain blocks but no intervals, so the index
-- began in the first minute of these.
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
             round(n.red_blocks::numeric / nullif(n.blocks, 0), 6)::numeric(38,6) as red_share,
             n.transactions,
             least(n.fees, 9223372036854775807)::bigint as fees_sompi,
             (n.fees * 0.00000001)::numeric(38,8) as fees_kas,
             n.volume::numeric(38,0) as volume_sompi,
             (n.volume * 0.00000001)::numeric(38,8) as volume_kas,
             n.minted as minted_sompi,
             (n.minted * 0.00000001)::numeric(38,8) as minted_kas,
             n.supply as supply_sompi,
             (n.supply * 0.00000001)::numeric(38,8) as supply_kas,
             n.active_scripts as active_addresses,
             n.new_scripts as new_addresses,
             (n.work / nullif(n.blocks, 0) / 2)::double precision as difficulty,
             (n.work / nullif(least(n.start + %s, (select c.chain_time from chain_blocks c order by c.index desc limit 1))
                - greatest(n.start, (
                    select case when c.index = 0 then c.chain_time else (select min(i.start) from network_intervals i where i.length = 'minute') end
                      from chain_blocks c order by c.index limit 1)), 0) * 1000)::double precision as hash_rate
        from network_intervals n
       where n.length = %L$view$, name, seconds * 1000, each_length);
    execute format('comment on view %s is %L', name, format(
      'Totals of the network for each %s of the chain (UTC). A chain block, and with it what it merges and accepts, belongs to the %1$s of its chain_time; one without a chain block has no row. Fast by start.', each_length));
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
      comment on column %1$s.minted_sompi is 'Outputs minus inputs of all accepted transactions: '
        'by how much the supply grew.';
      comment on column %1$s.minted_kas is 'The same in KAS.';
      comment on column %1$s.supply_sompi is 'Circulating supply at its end.';
      comment on column %1$s.supply_kas is 'The same in KAS.';
      comment on column %1$s.active_addresses is 'Addresses, and scripts without one, that '
        'accepted transactions touch, each once.';
      comment on column %1$s.new_addresses is 'Those among these that were never seen before.';
      comment on column %1$s.difficulty is 'Mean difficulty of the merged blocks.';
      comment on column %1$s.hash_rate is 'Hashes a second: the work of the merged blocks by the '
        'time that passed.';
    $comments$, name);
  end loop;
end $do$;

create view kaspa.lanes as
select lane_namespace(n.subnetwork_id) as namespace,
       l.transaction_count,
       l.gas::numeric(38,0) as gas,
       least(l.fees, 9223372036854775807)::bigint as fees_sompi,
       (l.fees * 0.00000001)::numeric(38,8) as fees_kas,
       to_timestamp(l.first_seen / 1000::double precision) as first_seen,
       to_timestamp(l.last_seen / 1000::double precision) as last_seen,
       l.subnetwork_id::bigint as lane_key
  from lanes l
  join subnetworks n on n.id = l.subnetwork_id;
comment on view kaspa.lanes is 'User lanes (KIP-21) by their accepted transactions.';
comment on column kaspa.lanes.namespace is 'The first four bytes of the subnetwork id, hex; the '
  'others are zero.';
comment on column kaspa.lanes.transaction_count is 'Accepted transactions.';
comment on column kaspa.lanes.gas is 'Sum of the gas that they commit to.';
comment on column kaspa.lanes.fees_sompi is 'Sum of their fees.';
comment on column kaspa.lanes.fees_kas is 'The same in KAS.';
comment on column kaspa.lanes.first_seen is 'chain_time of the first of them.';
comment on column kaspa.lanes.last_seen is 'chain_time of the last of them.';
comment on column kaspa.lanes.lane_key is 'Key of the lane. Joins views fast; differs from one '
  'database to another.';

create view kaspa.lane_hours as
select lane_namespace(n.subnetwork_id) as namespace,
       to_timestamp(h.hour * 3600::double precision) as hour,
       h.transactions,
       h.gas::numeric(38,0) as gas,
       least(h.fees, 9223372036854775807)::bigint as fees_sompi,
       (h.fees * 0.00000001)::numeric(38,8) as fees_kas,
       h.subnetwork_id::bigint as lane_key
  from lane_hours h
  join subnetworks n on n.id = h.subnetwork_id;
comment on view kaspa.lane_hours is 'Accepted transactions of user lanes by hour; an hour without '
  'any has no row.';
comment on column kaspa.lane_hours.namespace is 'Namespace of the lane, hex.';
comment on column kaspa.lane_hours.hour is 'Beginning of the hour (UTC), by chain_time of the '
  'accepting block.';
comment on column kaspa.lane_hours.transactions is 'Accepted transactions.';
comment on column kaspa.lane_hours.gas is 'Sum of the gas that they commit to.';
comment on column kaspa.lane_hours.fees_sompi is 'Sum of their fees.';
comment on column kaspa.lane_hours.fees_kas is 'The same in KAS.';
comment on column kaspa.lane_hours.lane_key is 'Key of the lane. Joins views fast; differs from '
  'one database to another.';

create view kaspa.covenants as
select encode(c.covenant_id, 'hex') as covenant_id,
       c.is_complete,
       coalesce((select encode(t.transaction_id, 'hex') from transactions t where t.id = c.genesis_transaction_id),
                (select encode(e.transaction_id, 'hex') from pre_bootstrap_transactions e where e.id = c.genesis_transaction_id)) as genesis_transaction_id,
       c.utxo_count > 0 as is_live,
       c.utxo_count::bigint as utxo_count,
       c.balance as balance_sompi,
       (c.balance * 0.00000001)::numeric(38,8) as balance_kas,
       c.event_count,
       to_timestamp(c.first_seen / 1000::double precision) as first_seen,
       to_timestamp(c.last_seen / 1000::double precision) as last_seen,
       encode(template.template, 'hex') as template,
       c.genesis_transaction_id as genesis_transaction_key,
       c.id as covenant_key
  from covenants c
  left join program_templates template on template.id = c.template_id;
comment on view kaspa.covenants is 'Every covenant that accepted transactions touch, or that the '
  'UTXO set of a bootstrap block has. Fast by covenant_id and by template.';
comment on column kaspa.covenants.covenant_id is 'Covenant id.';
comment on column kaspa.covenants.is_complete is 'Whether all its events are counted: false if it '
  'began before the index, or lived before a gap.';
comment on column kaspa.covenants.genesis_transaction_id is 'The transaction that created it; null '
  'if that was before the index, or is older than the retention of the index.';
comment on column kaspa.covenants.is_live is 'Whether it has UTXOs.';
comment on column kaspa.covenants.utxo_count is 'Number of its UTXOs.';
comment on column kaspa.covenants.balance_sompi is 'Sum of them.';
comment on column kaspa.covenants.balance_kas is 'The same in KAS.';
comment on column kaspa.covenants.event_count is 'Number of accepted transactions that spent or '
  'created UTXOs of it.';
comment on column kaspa.covenants.first_seen is 'chain_time of its first event, or of the '
  'bootstrap block whose UTXO set had it.';
comment on column kaspa.covenants.last_seen is 'chain_time of its last event; first_seen while '
  'there is none. What happened in a gap is not seen.';
comment on column kaspa.covenants.template is 'Template of the last program that a spend of one of '
  'its UTXOs revealed; null before. Look-alikes have the same.';
comment on column kaspa.covenants.genesis_transaction_key is 'Key of the transaction that created '
  'it. Joins views fast; differs from one database to another.';
comment on column kaspa.covenants.covenant_key is 'Key of the covenant. Joins views fast; differs '
  'from one database to another.';

-- The index of the chain block, since Postgres does not apply a range of one to what equals it.
create view kaspa.covenant_events as
select encode(c.covenant_id, 'hex') as covenant_id,
       encode(t.transaction_id, 'hex') as transaction_id,
       e.kind::text as kind,
       b.index as chain_index,
       e.position::bigint as position,
       to_timestamp(b.timestamp / 1000::double precision) as time,
       to_timestamp(b.chain_time / 1000::double precision) as chain_time,
       (select encode(p.template, 'hex') from program_templates p where p.id = e.template_id) as template,
       e.covenant_id as covenant_key,
       e.transaction_id as transaction_key
  from covenant_events e
  join covenants c on c.id = e.covenant_id
  join transactions t on t.id = e.transaction_id
  join chain_blocks b on b.index = e.chain_index;
comment on view kaspa.covenant_events is 'Effects of accepted transactions on covenants whose '
  'UTXOs they spend or create. In order by chain_index, position. Fast by covenant_id, '
  'transaction_id and chain_index.';
comment on column kaspa.covenant_events.covenant_id is 'Covenant id.';
comment on column kaspa.covenant_events.transaction_id is 'The transaction.';
comment on column kaspa.covenant_events.kind is 'genesis: it creates the first UTXOs of the '
  'covenant; transition: it spends and creates some; burn: it only spends some.';
comment on column kaspa.covenant_events.chain_index is 'Position on the chain of the block that '
  'accepts the transaction.';
comment on column kaspa.covenant_events.position is 'Position of the transaction among those that '
  'the block accepts, from 0.';
comment on column kaspa.covenant_events.time is 'Time of the block that accepts the transaction.';
comment on column kaspa.covenant_events.chain_time is 'chain_time of that block, which never '
  'decreases.';
comment on column kaspa.covenant_events.template is 'Template of the last program that its inputs '
  'from the covenant reveal; null if they reveal none.';
comment on column kaspa.covenant_events.covenant_key is 'Key of the covenant. Joins views fast; '
  'differs from one database to another.';
comment on column kaspa.covenant_events.transaction_key is 'Key of the transaction. Joins views '
  'fast; differs from one database to another.';

create view kaspa.covenant_utxos as
select encode(c.covenant_id, 'hex') as covenant_id,
       coalesce((select encode(t.transaction_id, 'hex') from transactions t where t.id = u.transaction_id),
                (select encode(e.transaction_id, 'hex') from pre_bootstrap_transactions e where e.id = u.transaction_id)) as transaction_id,
       u.index::bigint as index,
       s.address,
       encode(s.script, 'hex') as script,
       u.amount as amount_sompi,
       (u.amount * 0.00000001)::numeric(38,8) as amount_kas,
       u.block_daa_score,
       c.id as covenant_key,
       u.transaction_id as transaction_key,
       u.script_id as address_key
  from covenants c
  join utxos u on u.covenant_id = c.covenant_id
  left join scripts s on s.id = u.script_id;
comment on view kaspa.covenant_utxos is 'UTXOs of covenants, at the sink. Fast by covenant_id.';
comment on column kaspa.covenant_utxos.covenant_id is 'Covenant id.';
comment on column kaspa.covenant_utxos.transaction_id is 'The transaction that created the UTXO.';
comment on column kaspa.covenant_utxos.index is 'Output index.';
comment on column kaspa.covenant_utxos.address is 'Its address; null for a script without one.';
comment on column kaspa.covenant_utxos.script is 'Its script public key, in hex.';
comment on column kaspa.covenant_utxos.amount_sompi is 'Amount.';
comment on column kaspa.covenant_utxos.amount_kas is 'The same in KAS.';
comment on column kaspa.covenant_utxos.block_daa_score is 'DAA score of the block that accepted '
  'it.';
comment on column kaspa.covenant_utxos.covenant_key is 'Key of the covenant. Joins views fast; '
  'differs from one database to another.';
comment on column kaspa.covenant_utxos.transaction_key is 'Key of the transaction. Joins views '
  'fast together with address_key; differs from one database to another.';
comment on column kaspa.covenant_utxos.address_key is 'Key of the address, or of a script without '
  'one. Joins views fast; differs from one database to another.';

create view kaspa.covenant_hours as
select to_timestamp(h.hour * 3600::double precision) as hour, h.kind::text as kind, h.events
  from covenant_hours h where h.events <> 0;
comment on view kaspa.covenant_hours is 'Number of covenant events by hour and kind, also of those '
  'that are older than the retention of the index.';
comment on column kaspa.covenant_hours.hour is 'Beginning of the hour (UTC), by chain_time of the '
  'accepting block.';
comment on column kaspa.covenant_hours.kind is 'genesis, transition or burn.';
comment on column kaspa.covenant_hours.events is 'Number of events.';

create view kaspa.programs as
select encode(p.hash, 'hex') as hash,
       encode(template.template, 'hex') as template,
       p.length::bigint as length,
       array_remove(array[
         case when p.uses & 1 <> 0 then 'introspection' end, case when p.uses & 2 <> 0 then 'covenants' end,
         case when p.uses & 4 <> 0 then 'sequencing' end, case when p.uses & 8 <> 0 then 'groth16' end,
         case when p.uses & 16 <> 0 then 'risc0' end, case when p.uses & 32 <> 0 then 'unknownZk' end], null) as uses,
       p.is_bare,
       p.spend_count,
       to_timestamp(p.first_seen / 1000::double precision) as first_seen,
       coalesce((select encode(t.transaction_id, 'hex') from transactions t where t.id = p.transaction_id),
                (select encode(e.transaction_id, 'hex') from pre_bootstrap_transactions e where e.id = p.transaction_id)) as transaction_id,
       p.index::bigint as index,
       encode(p.kcc_template, 'hex') as kcc_template,
       p.transaction_id as transaction_key,
       p.template_id as template_key
  from programs p
  left join program_templates template on template.id = p.template_id;
comment on view kaspa.programs is 'Programs that accepted spends revealed, if the spent output had '
  'a covenant or the program uses a family of opcodes that is named in uses; and bare scripts that '
  'use one, from their first output, or the bootstrap block whose UTXO set has them. Fast by hash '
  'and by template.';
comment on column kaspa.programs.hash is 'BLAKE2b-256 of its bytes, to which a P2SH script '
  'commits.';
comment on column kaspa.programs.template is 'Its template; null if the program does not parse.';
comment on column kaspa.programs.length is 'Bytes.';
comment on column kaspa.programs.uses is 'Families of opcodes: introspection, covenants, '
  'sequencing, groth16, risc0, unknownZk.';
comment on column kaspa.programs.is_bare is 'Whether it was known first as the script of an output '
  'itself, and not by a spend of a P2SH output.';
comment on column kaspa.programs.spend_count is 'Number of accepted inputs that revealed it, or '
  'spent the bare script.';
comment on column kaspa.programs.first_seen is 'chain_time of the block that accepts the '
  'transaction, or of the bootstrap block whose UTXO set had it.';
comment on column kaspa.programs.transaction_id is 'The first transaction that revealed it or '
  'created an output with it; null if it is older than the retention of the index.';
comment on column kaspa.programs.index is 'Index of that input, or of the output of a bare script.';
comment on column kaspa.programs.kcc_template is 'Template hash of KCC-1, where a published name '
  'says which pushes are the state.';
comment on column kaspa.programs.transaction_key is 'Key of the transaction. Joins views fast; '
  'differs from one database to another.';
comment on column kaspa.programs.template_key is 'Key of the template. Joins views fast; differs '
  'from one database to another.';

create view kaspa.program_templates as
select encode(t.template, 'hex') as template,
       t.program_count,
       t.spend_count,
       t.covenant_count,
       to_timestamp(t.first_seen / 1000::double precision) as first_seen,
       array(select distinct n.entry ->> 'name' from template_names n where n.template = t.template and n.entry ->> 'name' is not null order by 1) as names,
       t.id as template_key
  from program_templates t;
comment on view kaspa.program_templates is 'Templates: programs with the same opcodes in the same '
  'order, with any pushes. Fast by template.';
comment on column kaspa.program_templates.template is 'BLAKE2b-256 of the opcodes, each push '
  'replaced by one zero byte.';
comment on column kaspa.program_templates.program_count is 'Number of its programs.';
comment on column kaspa.program_templates.spend_count is 'Number of accepted inputs that revealed '
  'one of them.';
comment on column kaspa.program_templates.covenant_count is 'Number of covenants whose last known '
  'program has it.';
comment on column kaspa.program_templates.first_seen is 'chain_time of the first of its programs.';
comment on column kaspa.program_templates.names is 'Names that imported files give it: claims, '
  'since look-alikes with other constants have the same template.';
comment on column kaspa.program_templates.template_key is 'Key of the template. Joins views fast; '
  'differs from one database to another.';

create view kaspa.program_use_hours as
select to_timestamp(h.hour * 3600::double precision) as hour,
       case h.use when 1 then 'introspection' when 2 then 'covenants' when 4 then 'sequencing' when 8 then 'groth16' when 16 then 'risc0'
                  when 32 then 'unknownZk' end as use,
       h.spends,
       least(h.fees, 9223372036854775807)::bigint as fees_sompi,
       (h.fees * 0.00000001)::numeric(38,8) as fees_kas
  from program_use_hours h where h.spends <> 0;
comment on view kaspa.program_use_hours is 'Accepted spends of programs by hour and family of '
  'opcodes, also of those that are older than the retention of the index. A program of several '
  'families is in the row of each.';
comment on column kaspa.program_use_hours.hour is 'Beginning of the hour (UTC), by chain_time of '
  'the accepting block.';
comment on column kaspa.program_use_hours.use is 'Family of opcodes, as in kaspa.programs.uses.';
comment on column kaspa.program_use_hours.spends is 'Number of inputs that revealed a program of '
  'the family, or spent such a bare script.';
comment on column kaspa.program_use_hours.fees_sompi is 'Fees of their transactions, each counted '
  'once.';
comment on column kaspa.program_use_hours.fees_kas is 'The same in KAS.';

create view kaspa.inscriptions as
select encode(t.transaction_id, 'hex') as transaction_id,
       case when i.input < 0 then 'payload' else 'input' end as source,
       nullif(i.input, -1)::integer as input,
       k.protocol,
       nullif(k.operation, '') as operation,
       nullif(k.tick, '') as tick,
       (select s.address from scripts s where s.id = i.owner_script_id) as owner_address,
       to_timestamp(c.timestamp / 1000::double precision) as accepted_at,
       case when i.input < 0 then kaspa.json_of(encode(t.payload, 'hex')) end as payload_json,
       i.transaction_id as transaction_key,
       i.owner_script_id as address_key
  from inscriptions i
  join inscription_kinds k on k.id = i.kind_id
  left join transactions t on t.id = i.transaction_id
  left join chain_blocks c on c.index = t.accepting_index;
comment on view kaspa.inscriptions is 'Operations of protocols that accepted transactions state. '
  'Whether one has an effect, only the indexer of the protocol knows. Fast by transaction_key, and '
  'by protocol with tick.';
comment on column kaspa.inscriptions.transaction_id is 'The transaction.';
comment on column kaspa.inscriptions.source is 'payload, or input: the program that an input '
  'reveals.';
comment on column kaspa.inscriptions.input is 'Position of that input; null for a payload.';
comment on column kaspa.inscriptions.protocol is 'Protocol, such as krc-20.';
comment on column kaspa.inscriptions.operation is 'The protocol''s name of the operation; null if '
  'it has none; undecodable if the bytes are no operation of the protocol.';
comment on column kaspa.inscriptions.tick is 'Ticker, token id, name or channel; null without one.';
comment on column kaspa.inscriptions.owner_address is 'The sender: the key of an envelope, or the '
  'address that input 0 spends from; null for a script without an address.';
comment on column kaspa.inscriptions.accepted_at is 'Time of the accepting block.';
comment on column kaspa.inscriptions.payload_json is 'kaspa.json_of the payload; null for what an '
  'input states.';
comment on column kaspa.inscriptions.transaction_key is 'Key of the transaction. Joins views fast; '
  'differs from one database to another.';
comment on column kaspa.inscriptions.address_key is 'Key of the sender''s address, or script. '
  'Joins views fast; differs from one database to another.';

create view kaspa.protocol_hours as
select to_timestamp(h.hour * 3600::double precision) as hour,
       h.protocol,
       h.transactions,
       least(h.fees, 9223372036854775807)::bigint as fees_sompi,
       (h.fees * 0.00000001)::numeric(38,8) as fees_kas
  from protocol_hours h;
comment on view kaspa.protocol_hours is 'Accepted transactions with operations of each protocol by '
  'hour; an hour without any has no row. A transaction may be of several protocols. Fast by hour.';
comment on column kaspa.protocol_hours.hour is 'Beginning of the hour (UTC), by chain_time of the '
  'accepting block.';
comment on column kaspa.protocol_hours.protocol is 'Protocol, such as krc-20.';
comment on column kaspa.protocol_hours.transactions is 'Accepted transactions with an operation of '
  'it.';
comment on column kaspa.protocol_hours.fees_sompi is 'Sum of their fees.';
comment on column kaspa.protocol_hours.fees_kas is 'The same in KAS.';

create view kaspa.index_status as
select (select network from meta) as network,
       encode(b.hash, 'hex') as sink,
       b.blue_score,
       b.daa_score,
       to_timestamp(b.timestamp / 1000::double precision) as time,
       now() - to_timestamp(b.timestamp / 1000::double precision) as lag,
       greatest(p.target_blue_score - b.blue_score, 0) as blue_scores_behind,
       p.circulating_sompi,
       (p.circulating_sompi * 0.00000001)::numeric(38,8) as circulating_kas,
       p.first_catch_up,
       to_timestamp(k.timestamp / 1000::double precision) as clustered_to,
       p.updated_at,
       (select max(number) from migrations) as migration
  from checkpoint p
  left join blocks b on b.id = p.block_id
  left join clustering on true
  left join blocks k on k.id = clustering.block_id;
comment on view kaspa.index_status is 'Where the index is: one row, or none while nothing is '
  'indexed.';
comment on column kaspa.index_status.network is 'mainnet, testnet-10, simnet or devnet.';
comment on column kaspa.index_status.sink is 'The last chain block that is indexed.';
comment on column kaspa.index_status.blue_score is 'Its blue score.';
comment on column kaspa.index_status.daa_score is 'Its DAA score.';
comment on column kaspa.index_status.time is 'Its time.';
comment on column kaspa.index_status.lag is 'How long ago that is.';
comment on column kaspa.index_status.blue_scores_behind is 'How far the node was ahead when this '
  'row was written.';
comment on column kaspa.index_status.circulating_sompi is 'Circulating supply at the sink. Not '
  'kept while first_catch_up.';
comment on column kaspa.index_status.circulating_kas is 'The same in KAS.';
comment on column kaspa.index_status.first_catch_up is 'True during the first catch-up: UTXOs, '
  'balances and rollups are empty, and filters are slow. False after a gap.';
comment on column kaspa.index_status.clustered_to is 'Time of the last chain block whose '
  'transactions are clustered; null while none is.';
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
comment on view kaspa.gaps is 'Parts of the chain that are not indexed; no rows if nothing is '
  'missing. Balances and UTXOs are nevertheless right; histories are incomplete.';
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
       (s.utxo_sompi * 0.00000001)::numeric(38,8) as utxo_kas,
       s.started_at
  from bootstrap_blocks s
  left join blocks b on b.id = s.block_id;
comment on view kaspa.starts is 'Blocks from which this index counts: genesis, or a pruning point '
  'with its UTXO set. What happened before the first, and in gaps, is not indexed.';
comment on column kaspa.starts.chain_index is 'Position of the block on the chain.';
comment on column kaspa.starts.block_hash is 'The block.';
comment on column kaspa.starts.time is 'Its time.';
comment on column kaspa.starts.utxo_count is 'Number of UTXOs in its UTXO set.';
comment on column kaspa.starts.utxo_sompi is 'Sum of them.';
comment on column kaspa.starts.utxo_kas is 'The same in KAS.';
comment on column kaspa.starts.started_at is 'When the index began there.';

create function kaspa.balance_at(address text, at timestamptz) returns numeric
language sql stable strict parallel safe security definer set search_path = pg_catalog, public, pg_temp as $$
  with moment as (
    select hour, is_forward,
           case when is_forward then to_timestamp(hour * 3600::double precision) else balance_at.at + interval '1 microsecond' end as first,
           case when is_forward then balance_at.at + interval '1 microsecond' else to_timestamp((hour + 1) * 3600::double precision) end as beyond
      from (select floor(extract(epoch from greatest(least(balance_at.at, '2200-01-01'), '1970-01-01')) / 3600)::integer as hour) hours
     cross join lateral (
       select exists (
         select from bootstrap_blocks s join chain_blocks c on c.index = s.chain_index
          where to_timestamp(c.chain_time / 1000::double precision) > balance_at.at
            and to_timestamp(c.chain_time / 1000::double precision) < to_timestamp((hour + 1) * 3600::double precision)) as is_forward) starting
  ), script as (
    select s.id from scripts s where s.address = balance_at.address
  ), others as materialized (
    select unnest(c.accepted_transactions) as id from moment, chain_blocks c
     where to_timestamp(c.chain_time / 1000::double precision) >= moment.first
       and to_timestamp(c.chain_time / 1000::double precision) < moment.beyond
  ), bounds as materialized (
    select min(id) as first, max(id) as last from others
  )
  select case when exists (select from checkpoint where not first_catch_up) and balance_at.at >= (
                select to_timestamp(c.chain_time / 1000::double precision) from chain_blocks c order by c.index limit 1)
    then coalesce((select sum(h.change) from moment, script, balance_changes h
                    where h.script_id = script.id and (h.hour < moment.hour or h.hour = moment.hour and not is_forward)), 0)
       + coalesce((select sum(a.amount_received - a.amount_sent)
                     from script, bounds, script_deltas a
                     join others on others.id = a.transaction_id
                    where a.script_id = script.id and a.transaction_id between bounds.first and bounds.last), 0)
         * (select case when is_forward then 1 else -1 end from moment)
  end
$$;
comment on function kaspa.balance_at(text, timestamptz) is 'Balance of an address, in sompi, after '
  'all chain blocks with a chain_time up to this time. 0 for an address that never held a UTXO; '
  'null before the first indexed block and during the first catch-up. In a gap it is the balance '
  'at one of its ends.';

create function kaspa.balances_at(addresses text[], at timestamptz) returns table (address text, balance_sompi numeric)
language sql stable strict parallel safe security definer set search_path = pg_catalog, public, pg_temp as $$
  with moment as (
    select hour, is_forward,
           case when is_forward then to_timestamp(hour * 3600::double precision) else balances_at.at + interval '1 microsecond' end as first,
           case when is_forward then balances_at.at + interval '1 microsecond' else to_timestamp((hour + 1) * 3600::double precision) end as beyond
      from (select floor(extract(epoch from greatest(least(balances_at.at, '2200-01-01'), '1970-01-01')) / 3600)::integer as hour) hours
     cross join lateral (
       select exists (
         select from bootstrap_blocks s join chain_blocks c on c.index = s.chain_index
          where to_timestamp(c.chain_time / 1000::double precision) > balances_at.at
            and to_timestamp(c.chain_time / 1000::double precision) < to_timestamp((hour + 1) * 3600::double precision)) as is_forward) starting
  ), script as (
    select requested.address, s.id
      from (select distinct a.address from unnest(balances_at.addresses) a (address) where a.address is not null) requested
      left join scripts s on s.address = requested.address
  ), others as materialized (
    select unnest(c.accepted_transactions) as id from moment, chain_blocks c
     where to_timestamp(c.chain_time / 1000::double precision) >= moment.first
       and to_timestamp(c.chain_time / 1000::double precision) < moment.beyond
  ), bounds as materialized (
    select min(id) as first, max(id) as last from others
  ), near as materialized (
    select script.id, a.transaction_id, a.amount_received - a.amount_sent as change
      from bounds, script
     cross join lateral (
       select * from script_deltas d where d.script_id = script.id and d.transaction_id between bounds.first and bounds.last offset 0) a
  ), changed as materialized (
    select near.id, sum(near.change) as change from near join others on others.id = near.transaction_id group by near.id
  )
  select script.address,
         case when exists (select from checkpoint where not first_catch_up) and balances_at.at >= (
                select to_timestamp(c.chain_time / 1000::double precision) from chain_blocks c order by c.index limit 1)
           then coalesce((select sum(h.change) from moment, balance_changes h
                           where h.script_id = script.id and (h.hour < moment.hour or h.hour = moment.hour and not is_forward)), 0)
              + coalesce(changed.change, 0) * (select case when is_forward then 1 else -1 end from moment)
         end
    from script left join changed on changed.id = script.id
$$;
comment on function kaspa.balances_at(text[], timestamptz) is 'Balances of many addresses, in '
  'sompi: as kaspa.balance_at of each, in one pass over the chain. One row for each different '
  'address, in no order.';

-- Most scores are those of chain blocks. coalesce does not evaluate the rest for them, which takes
-- several times as long.
create function kaspa.time_of_daa_score(daa_score bigint) returns timestamptz
language sql stable strict parallel safe security definer set search_path = pg_catalog, public, pg_temp as $$
  select to_timestamp(coalesce(
    (select c.timestamp::double precision from chain_blocks c where c.daa_score = time_of_daa_score.daa_score order by c.index limit 1),
    (with points as (
      (select c.daa_score, c.timestamp from chain_blocks c where c.daa_score <= time_of_daa_score.daa_score order by c.daa_score desc, c.index limit 1)
      union all
      (select c.daa_score, c.timestamp from chain_blocks c where c.daa_score > time_of_daa_score.daa_score order by c.daa_score, c.index limit 1)
      union all
      (select e.daa_score, e.timestamp from pre_bootstrap_times e where e.daa_score <= time_of_daa_score.daa_score order by e.daa_score desc limit 1)
      union all
      (select e.daa_score, e.timestamp from pre_bootstrap_times e where e.daa_score > time_of_daa_score.daa_score order by e.daa_score limit 1)
    ), lower as (
      select * from points where points.daa_score <= time_of_daa_score.daa_score order by points.daa_score desc limit 1
    ), upper as (
      select * from points where points.daa_score > time_of_daa_score.daa_score order by points.daa_score limit 1
    )
    select lower.timestamp + case when time_of_daa_score.daa_score = lower.daa_score then 0
             else (greatest(upper.timestamp - lower.timestamp, 0))::double precision
                  * (time_of_daa_score.daa_score - lower.daa_score) / (upper.daa_score - lower.daa_score) end
      from lower left join upper on true)) / 1000)
$$;
comment on function kaspa.time_of_daa_score(bigint) is 'When the chain had a DAA score: the time '
  'of its chain block, or interpolated between its neighbours. Before the first indexed block, '
  'from times that a node estimates. Null above the sink, and where nothing is known below.';

create function kaspa.automatic_labels(address text) returns text[]
language sql stable strict parallel safe security definer set search_path = pg_catalog, public, pg_temp as $$
  select public.automatic_labels(s.id) from scripts s where s.address = automatic_labels.address
$$;
comment on function kaspa.automatic_labels(text) is 'Labels of an address by what it does, such as '
  'miner or reused (docs/labels.md); null for an address that was never seen. They come and go '
  'with the chain, and say nothing of who its owner is.';

-- Analysts ----------------------------------------------------------------------------------------

create table analysts (
  login text not null,
  timeout_seconds integer not null,
  created_at timestamptz not null default now(),
  constraint analysts_pkey primary key (login),
  constraint analysts_timeout check (timeout_seconds > 0)
);
comment on table analysts is 'Logins of analysts that kasgres analysts has made, with the limit '
  'that the indexer holds them to: a login could change its own settings.';
comment on column analysts.login is 'Name of the login.';
comment on column analysts.timeout_seconds is 'How long a statement may take, and a transaction be '
  'idle; a whole transaction ten times that.';
comment on column analysts.created_at is 'When it was made.';

-- Everything else ---------------------------------------------------------------------------------

-- Analysts are kept from what Postgres lets everybody do, also where the owner of the database is
-- no superuser, and from other databases.
create or replace function admit_analysts() returns void language plpgsql set search_path = pg_catalog, public, pg_temp as $$
declare
  program text;
  each_function regprocedure;
  each_login text;
  may_revoke boolean;
  is_open boolean := false;
  is_missing boolean := false;
  -- Who keeps what everybody had: the programs, and who migrates.
  programs constant text := (
    select string_agg(quote_ident(rolname), ', ') from pg_roles
     where rolname in ('kasgres_indexer', 'kasgres_api', 'kasgres_webhooks', current_user)
        or oid = (select datdba from pg_database where datname = current_database())
  );
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

  -- A role that has the rights of a login can see how long its statements take, and end them. The
  -- indexer gets those of analysts whom `kasgres analysts` has not made.
  if exists (select from pg_roles where rolname = 'kasgres_indexer') then
    for each_login in
      select r.rolname from pg_auth_members m join pg_roles r on r.oid = m.member
       where m.roleid = 'kasgres_analyst'::regrole and r.rolcanlogin and not r.rolsuper and not r.rolcreaterole
    loop
      begin
        execute format('grant %I to kasgres_indexer', each_login);
      exception when insufficient_privilege then
        -- A login of another database of this server, which belongs to another owner.
        null;
      end;
    end loop;
  end if;

  execute format('revoke temporary on database %I from public', current_database());
  revoke all on schema public from public;
  for program in select rolname from pg_roles where rolname in ('kasgres_indexer', 'kasgres_api', 'kasgres_webhooks') loop
    execute format('grant usage on schema public to %I', program);
  end loop;

  -- Postgres lets everybody make large objects, take the locks that the programs take (they may
  -- release their own, as pools of asyncpg do), write to the WAL, fill the queue of notifications,
  -- write a file for each snapshot they export, use up transaction ids, and run loops on the
  -- server. Only the owner of these functions can take that away; REVOKE by others is a mere
  -- warning.
  may_revoke := pg_has_role((select proowner from pg_proc where oid = 'pg_catalog.lo_create(oid)'::regprocedure), 'usage');
  for each_function in
    select oid::regprocedure from pg_proc
     where pronamespace = 'pg_catalog'::regnamespace
       and proname ~ '^(lo_.*|loread|lowrite|pg_(try_)?advisory_(xact_)?lock.*|pg_notify|pg_logical_emit_message|pg_export_snapshot|pg_current_xact_id|txid_current)$'
  loop
    if may_revoke then
      execute format('revoke execute on function %s from public', each_function);
      execute format('grant execute on function %s to %s', each_function, programs);
    else
      is_open := is_open or has_function_privilege('public', each_function, 'execute');
      is_missing := is_missing or exists (
        select from pg_roles where rolname in ('kasgres_indexer', 'kasgres_api', 'kasgres_webhooks') and not has_function_privilege(oid, each_function, 'execute'));
    end if;
  end loop;
  if may_revoke then
    revoke usage on language plpgsql from public;
    execute format('grant usage on language plpgsql to %s', programs);
  end if;
  if is_open then
    raise warning '%', format('analysts can fill the disk with large objects, take advisory locks and run loops in database %I. A superuser can prevent it: psql -d %I -c "select admit_analysts()"', current_database(), current_database());
  elsif is_missing then
    raise warning '%', format('the programs may not take advisory locks in database %I. A superuser must let them: psql -d %I -c "select admit_analysts()"', current_database(), current_database());
  end if;
end $$;
comment on function admit_analysts() is 'Makes the role kasgres_analyst, which sees schema kaspa '
  'and nothing else, and takes from everybody what it must not have. Can be repeated.';

revoke execute on function admit_analysts() from public;

create function close_databases_to_analysts() returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  each_database text;
  may_revoke boolean;
  still_open text[] := '{}';
begin
  -- Everybody may connect to a database unless its owner revoked that, and make temporary tables
  -- and large objects there without a limit.
  for each_database, may_revoke in
    select d.datname, pg_has_role(d.datdba, 'usage') from pg_database d
     where d.datallowconn and d.datname <> current_database()
       and exists (select from aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) a
                    where a.grantee = 0 and a.privilege_type = 'CONNECT')
       -- Another index of Kasgres, which was given to analysts.
       and not exists (select from aclexplode(d.datacl) a join pg_roles r on r.oid = a.grantee where r.rolname = 'kasgres_analyst')
     order by d.datname
  loop
    begin
      -- Databases for applications are not ours to close.
      if may_revoke and each_database in ('postgres', 'template1') then
        execute format('revoke connect, temporary on database %I from public', each_database);
      else
        still_open := still_open || each_database;
      end if;
    exception when internal_error then
      -- Another session closes it at this moment.
      null;
    end;
  end loop;
  if still_open <> '{}' then
    raise warning '%', format('analysts can connect to other databases of this server (%s), and fill the disk there. Their owner or a superuser can prevent it: %s',
      array_to_string(still_open, ', '),
      (select string_agg(format('revoke connect, temporary on database %I from public;', name), ' ') from unnest(still_open) name));
  end if;
end $$;
comment on function close_databases_to_analysts() is 'Takes from everybody the right to connect to '
  'the databases postgres and template1, and warns of others that analysts can connect to. Can be '
  'repeated.';

revoke execute on function close_databases_to_analysts() from public;

-- Kasgres has no large objects. Where the user who migrates may, nobody else can make them from now
-- on: the logins of `kasgres sql` neither.
do $$
declare
  each_function regprocedure;
begin
  if not pg_has_role((select proowner from pg_proc where oid = 'pg_catalog.lo_create(oid)'::regprocedure), 'usage') then
    return;
  end if;
  for each_function in
    select oid::regprocedure from pg_proc
     where pronamespace = 'pg_catalog'::regnamespace and proname ~ '^(lo_.*|loread|lowrite)$'
  loop
    execute format('revoke execute on function %s from public', each_function);
  end loop;
end $$;
