-- A start is a block with its UTXO set: genesis with the empty one, or the pruning point of a node that has pruned with the set that
-- nodes hand out, checked against the commitment in its header. What is before a start is known only as far as the set and the first
-- blocks speak of it: the transactions of its coins by id, some blocks by hash.

create table starts (
  chain_index bigint not null,
  block_id bigint not null,
  utxo_count bigint not null,
  utxo_sompi bigint not null,
  started_at timestamptz not null default now(),
  constraint starts_pkey primary key (chain_index)
);
comment on table starts is 'Blocks from which this index counts, each with its UTXO set. State is exact since the latest; one after a gap has a row in gaps too.';
comment on column starts.chain_index is 'chain_blocks.index of the block.';
comment on column starts.block_id is 'The block. What it accepted itself is before the start and not known; it accepts no rows.';
comment on column starts.utxo_count is 'Number of coins in its UTXO set; 0 for genesis.';
comment on column starts.utxo_sompi is 'Sum of them, sompi.';
comment on column starts.started_at is 'When the index began there.';
insert into starts (chain_index, block_id, utxo_count, utxo_sompi)
select index, block_id, 0, 0 from chain_blocks order by index limit 1;

create table start_utxos (
  transaction_id bigint not null,
  index bigint not null,
  script_id bigint not null,
  amount bigint not null,
  block_daa_score bigint not null,
  is_coinbase boolean not null,
  covenant_id bytea,
  constraint start_utxos_pkey primary key (transaction_id, index)
);
comment on table start_utxos is 'The UTXO set of the latest start, as it was there: unspent or not by now. Empty when that is genesis.';
comment on column start_utxos.transaction_id is 'The transaction that made the coin: a row of earlier_transactions, or of transactions that were accepted before a gap.';
comment on column start_utxos.index is 'Output index.';
comment on column start_utxos.script_id is 'Script public key.';
comment on column start_utxos.amount is 'Amount in sompi.';
comment on column start_utxos.block_daa_score is 'DAA score of the block that accepted it.';
comment on column start_utxos.is_coinbase is 'Whether a coinbase made it.';
comment on column start_utxos.covenant_id is 'Covenant id; null without a covenant.';

create table earlier_transactions (
  id bigint not null,
  transaction_id bytea not null,
  constraint earlier_transactions_pkey primary key (id)
);
create unique index earlier_transactions_transaction_id on earlier_transactions (transaction_id);
comment on table earlier_transactions is 'Transactions that were accepted in a part of the chain that is not indexed, before a start, known by the coins that were left of them there. Also in transactions where a block that is indexed carries them, too.';
comment on column earlier_transactions.id is 'Key, from the same sequence as transactions.id.';
comment on column earlier_transactions.transaction_id is 'Transaction id, 32 bytes.';

create table earlier_blocks (
  id bigint not null,
  hash bytea not null,
  constraint earlier_blocks_pkey primary key (id)
);
create unique index earlier_blocks_hash on earlier_blocks (hash);
comment on table earlier_blocks is 'Blocks before a start that are not indexed but referred to: as parents, or in mergesets. Never also in blocks.';
comment on column earlier_blocks.id is 'Key, from the same sequence as blocks.id.';
comment on column earlier_blocks.hash is 'Block hash, 32 bytes.';

-- Worth nothing once the start is made, nor after a crash of the server, which empties both together.
create unlogged table utxo_set_load (
  one_row boolean not null default true,
  block_hash bytea not null,
  utxos bigint not null,
  sompi numeric not null,
  product bytea not null,
  constraint utxo_set_load_pkey primary key (one_row),
  constraint utxo_set_load_one_row check (one_row)
);
comment on table utxo_set_load is 'How far the UTXO set of a coming start is loaded: no row, or one. Changes in one transaction with loaded_utxos.';
comment on column utxo_set_load.one_row is 'Always true: keeps the table at one row.';
comment on column utxo_set_load.block_hash is 'The pruning point whose set it is.';
comment on column utxo_set_load.utxos is 'Number of coins loaded.';
comment on column utxo_set_load.sompi is 'Sum of them, sompi.';
comment on column utxo_set_load.product is 'Their MuHash so far: a number of 384 bytes, big-endian.';
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
comment on table loaded_utxos is 'Coins of a coming start, as the node handed them out, until its commitment is checked. Empty otherwise.';
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

comment on column checkpoint.first_catch_up is 'True while catching up from a start for the first time: utxos, balances and circulating_sompi are not kept and the indexes in deferred_indexes are not built.';
comment on table balances is 'What every script sums up to at the checkpoint (invariant 4): one row for each script of address_transactions and of start_utxos.';
comment on table balance_changes is 'By how much each script''s balance changed in each hour: the sum up to an hour is the balance at its end. Hours in which nothing changed have no row, or 0. In the hour of a start, what the script held there is a change too: what is before is not known.';
comment on column gaps.after_block_hash is 'Last chain block before the gap.';
comment on column gaps.before_block_hash is 'First chain block after the gap: a start.';
