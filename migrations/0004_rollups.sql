-- What questions of analysts would otherwise scan everything for: what happened on the chain by minute, hour and day, and what every
-- script adds up to. Kept by the batch that changes it, undone by the reorg that undoes it.

alter table chain_blocks add column chain_time bigint;
update chain_blocks c set chain_time = t.chain_time
  from (select index, max(timestamp) over (order by index) as chain_time from chain_blocks) t
 where t.index = c.index;
alter table chain_blocks alter column chain_time set not null;
comment on column chain_blocks.chain_time is 'The latest time of this block and of those below it on the chain, Unix milliseconds: never goes back, as timestamp may. Rollups, and what says when a script was seen, count by it.';

alter table balances
  add column accepted_count bigint not null default 0,
  add column receiving_count bigint not null default 0,
  add column sending_count bigint not null default 0,
  add column coinbase_count bigint not null default 0,
  add column received numeric not null default 0,
  add column sent numeric not null default 0,
  add column first_seen bigint,
  add column last_seen bigint;
comment on column balances.accepted_count is 'Number of accepted transactions that touch it.';
comment on column balances.receiving_count is 'Number of accepted transactions with an output to it.';
comment on column balances.sending_count is 'Number of accepted transactions with an input from it.';
comment on column balances.coinbase_count is 'Number of accepted coinbase transactions with an output to it.';
comment on column balances.received is 'Sum of the outputs to it of accepted transactions, change included, sompi.';
comment on column balances.sent is 'Sum of the inputs from it of accepted transactions, sompi.';
comment on column balances.first_seen is 'chain_blocks.chain_time of the first block on the chain that accepts a transaction that touches it, or of the latest start when it held coins there; null while there is none.';
comment on column balances.last_seen is 'chain_blocks.chain_time of the last such block.';

create type interval_length as enum ('minute', 'hour', 'day');
comment on type interval_length is 'Length of an interval of network_intervals (UTC).';

create table network_intervals (
  length interval_length not null,
  start bigint not null,
  chain_blocks bigint not null,
  blocks bigint not null,
  red_blocks bigint not null,
  transactions bigint not null,
  fees bigint not null,
  volume numeric not null,
  minted bigint not null,
  supply bigint not null,
  active_scripts bigint not null,
  new_scripts bigint not null,
  work numeric not null,
  constraint network_intervals_pkey primary key (length, start)
);
comment on table network_intervals is 'What happened in each minute, hour and day of the chain. A chain block belongs to the interval of its chain_time, and with it what it merges and accepts; intervals without a chain block have no row.';
comment on column network_intervals.length is 'How long it is.';
comment on column network_intervals.start is 'When it begins, Unix milliseconds.';
comment on column network_intervals.chain_blocks is 'Chain blocks.';
comment on column network_intervals.blocks is 'Blocks merged by them, blue and red.';
comment on column network_intervals.red_blocks is 'Red ones among these.';
comment on column network_intervals.transactions is 'Accepted transactions other than coinbases.';
comment on column network_intervals.fees is 'Fees of these, sompi.';
comment on column network_intervals.volume is 'Outputs of these, change included, sompi.';
comment on column network_intervals.minted is 'Outputs minus inputs of all accepted transactions: by how much the supply grew, sompi.';
comment on column network_intervals.supply is 'Circulating supply at its end, sompi.';
comment on column network_intervals.active_scripts is 'Scripts that accepted transactions touch, each once.';
comment on column network_intervals.new_scripts is 'Those among these that were never seen before.';
comment on column network_intervals.work is 'Work of the merged blocks: the number of hashes that it takes to find them, on average.';

create table seen_before (
  chain_index bigint not null,
  script_ids bigint[] not null,
  last_seen bigint[] not null,
  constraint seen_before_pkey primary key (chain_index)
);
comment on table seen_before is 'What a reorg needs to undo balances.last_seen: for each of the latest chain blocks, the scripts that it touches and when they were seen before it.';
comment on column seen_before.chain_index is 'chain_blocks.index.';
comment on column seen_before.script_ids is 'Scripts that its accepted transactions touch, each once.';
comment on column seen_before.last_seen is 'balances.last_seen of each before this block; null when it was never seen before.';
