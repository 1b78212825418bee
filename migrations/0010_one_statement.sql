-- What the API needs to make each response with one statement. What a response seldom needs is in functions, whose plans cost nothing until they run.

-- Readers compare versions to know whether the state that they have in memory is the current one.
alter table checkpoint add column version bigint not null default 0;
comment on column checkpoint.version is 'Grows with each change of this row, so that readers can compare the states of the index.';

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
      parents := regexp_replace(parents, '(.{64})(?=.)', '\1","', 'g');
    end if;
    result := result || repeat(case when size = 0 then ',[]' else ',["' || parents || '"]' end, levels);
    at := at + 4 + 32 * size;
  end loop;
  return result;
end $$;
comment on function unpack_parents is 'Unpacks blocks.parents_by_level to JSON: a comma and an array of hashes for each level.';

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
      'starts', (select count(*) from starts), 'gaps', (select count(*) from gaps))
    from checkpoint cross join meta join blocks on blocks.id = checkpoint.block_id);
end $$;
comment on function index_state is 'The state of the index as JSON, with 64-bit numbers as text; null while nothing is indexed.';

create function bootstrap_blue_score() returns bigint language plpgsql stable parallel safe set search_path = public as $$
begin
  return (
    select blocks.blue_score from starts join blocks on blocks.id = starts.block_id order by starts.chain_index desc limit 1);
end $$;
comment on function bootstrap_blue_score is 'Blue score of the latest bootstrap block: an upper bound for the accepting blocks of pre-bootstrap transactions.';

create function is_pre_bootstrap(transaction bigint) returns boolean language plpgsql stable parallel safe set search_path = public as $$
begin
  return exists (select from earlier_transactions where id = transaction);
end $$;
comment on function is_pre_bootstrap is 'Whether the transaction with a key was accepted before a bootstrap block; false for null.';

create function pre_bootstrap_transaction_id(transaction bigint) returns bytea language plpgsql stable parallel safe set search_path = public as $$
begin
  return (select transaction_id from earlier_transactions where id = transaction);
end $$;
comment on function pre_bootstrap_transaction_id is 'The id of a pre-bootstrap transaction by its key.';

create function pre_bootstrap_block_hash(block bigint) returns bytea language plpgsql stable parallel safe set search_path = public as $$
begin
  return (select hash from earlier_blocks where id = block);
end $$;
comment on function pre_bootstrap_block_hash is 'The hash of a block that is known by its hash alone, by its key.';

create function variant_of(transaction bigint, number integer) returns transaction_bodies language plpgsql stable parallel safe set search_path = public as $$
declare
  variant transaction_bodies;
begin
  select * into variant from transaction_bodies where transaction_id = transaction and body = number;
  return variant;
end $$;
comment on function variant_of is 'What a further variant of a transaction has of its own.';

create function variant_input(transaction bigint, number integer, input_index integer) returns transaction_body_inputs
language plpgsql stable parallel safe set search_path = public as $$
declare
  input transaction_body_inputs;
begin
  select * into input from transaction_body_inputs where transaction_id = transaction and body = number and index = input_index;
  return input;
end $$;
comment on function variant_input is 'What an input has of its own in a further variant of its transaction.';

create function fee_of_existing_utxos(transaction bigint) returns bigint language plpgsql stable parallel safe set search_path = public as $$
begin
  return (
    select fee from transactions
    where id = transaction and not exists (
      select from transaction_inputs input
      left join transactions previous on previous.id = input.previous_transaction_id
      where input.transaction_id = transaction and previous.accepting_block_id is null
        and not is_pre_bootstrap(input.previous_transaction_id)));
end $$;
comment on function fee_of_existing_utxos is 'Fee of a transaction that is not accepted; null if a UTXO that it spends does not exist, since the transaction of that UTXO is not accepted.';
