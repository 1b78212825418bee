/**
 * Each check finds the manual changes of a correct database that it is responsible for. Each change
 * is rolled back.
 */
import type { PoolClient } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  checkAcceptance,
  checkBlocks,
  checkInvariant4,
  checkInvariant7,
  checkInvariant8,
  checkTransactions,
  findSince,
} from '@kasgres/verification';
import { checkInvariant3 } from './acceptance.ts';
import { differencesOf, takeSnapshot } from './snapshot.ts';
import { openHarness, type Harness } from './harness.ts';

const ROUNDS = 250;

let harness: Harness;
let client: PoolClient;

beforeAll(async () => {
  harness = await openHarness('tampering', ROUNDS);
  client = harness.client;
});
afterAll(() => harness?.close());

beforeEach(() => client.query('begin'));
afterEach(() => client.query('rollback'));

const ACTIVE = 'script_id = (select max(script_id) from balances where coinbase_count > 0 and sent > 0)';
const LATEST_INTERVAL = (length: string): string =>
  `(length, start) = (select length, max(start) from network_intervals where length = '${length}' group by 1)`;
const KEPT = 'chain_index = (select max(chain_index) from seen_before where cardinality(script_ids) > 1)';
const OF_BALANCES = [
  'accepted_count',
  'receiving_count',
  'sending_count',
  'coinbase_count',
  'received',
  'sent',
  'first_seen',
  'last_seen',
];
const OF_INTERVALS = [
  'chain_blocks',
  'blocks',
  'red_blocks',
  'transactions',
  'fees',
  'volume',
  'minted',
  'supply',
  'active_scripts',
  'new_scripts',
  'work',
];
const ROLLUPS = [
  ...OF_BALANCES.map((column) => `update balances set ${column} = ${column} + 1 where ${ACTIVE}`),
  ...OF_INTERVALS.flatMap((column) =>
    ['minute', 'hour', 'day'].map(
      (length) => `update network_intervals set ${column} = ${column} + 1 where ${LATEST_INTERVAL(length)}`,
    ),
  ),
  `update balances set first_seen = null where ${ACTIVE}`,
  `delete from network_intervals where ${LATEST_INTERVAL('hour')}`,
  `update network_intervals set start = start + 86400000 where ${LATEST_INTERVAL('day')}`,
  `insert into network_intervals select 'minute', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0`,
  `update chain_blocks set chain_time = chain_time + 1 where index = (select max(index) from chain_blocks)`,
];

/**
 * A chain block that accepts two consecutive payments which only the selected parent of its
 * mergeset carries.
 */
const TWO_PAYMENTS = `
  select max(c.index) from chain_blocks c join blocks b on b.id = c.block_id
  where (select count(*) from block_transactions bt
    where bt.block_id = b.selected_parent_id
      and bt.transaction_id in (c.accepted_transactions[2], c.accepted_transactions[3])) = 2
    and not exists (
      select from block_transactions bt
        where bt.transaction_id in (c.accepted_transactions[2], c.accepted_transactions[3])
        and bt.block_id = any (b.merge_set_blues || b.merge_set_reds)
          and bt.block_id <> b.selected_parent_id)`;
/**
 * An accepted payment that two blocks of the mergeset carry, and that spends no UTXO of that
 * mergeset.
 */
const CARRIED_TWICE = `
  select t.id, c.index from transactions t join chain_blocks c on c.index = t.accepting_index
    join blocks b on b.id = c.block_id
  where t.subnetwork_id <> 1
    and t.id <> c.accepted_transactions[cardinality(c.accepted_transactions)]
    and (select count(*) from block_transactions bt
      where bt.transaction_id = t.id and bt.variant = t.accepted_variant
        and bt.block_id = any (b.merge_set_blues || b.merge_set_reds)) > 1
    and not exists (select from transaction_inputs i
      join transactions p on p.id = i.previous_transaction_id
        where i.transaction_id = t.id and p.accepting_index = c.index)
  order by t.id desc limit 1`;
const SINGLE_VARIANT = `
  select max(id) from transactions
    where accepting_index is not null
      and id not in (select transaction_id from transaction_variants)`;

/** The checks, each with the changes that it must find. */
const changes = {
  'invariant 3, without the node': {
    check: () => checkAcceptance(client),
    statements: [
      `update chain_blocks set accepted_transactions = accepted_transactions[1:1] || accepted_transactions[3] || accepted_transactions[2] || accepted_transactions[4:]
       where index = (${TWO_PAYMENTS})`,
      `update chain_blocks set accepted_transactions = accepted_transactions[2:] || accepted_transactions[1]
       where index = (select max(index) from chain_blocks
         where cardinality(accepted_transactions) > 1)`,
      `update chain_blocks set accepted_transactions = accepted_transactions[2:] where index = 100`,
      `with late as (${CARRIED_TWICE})
       update chain_blocks c set accepted_transactions = array_remove(accepted_transactions,
         late.id) || late.id from late where late.index = c.index`,
      `update chain_blocks set highest_transaction = highest_transaction - 100
        where index = (select max(index) from chain_blocks)`,
      `update chain_blocks set lowest_transaction = highest_transaction where index = 100`,
      `update transactions set accepted_variant = 9 where id = (${SINGLE_VARIANT})`,
      `update transactions set accepted_variant = -1 where id = (${SINGLE_VARIANT})`,
      `update transactions set accepted_variant = null where id = (${SINGLE_VARIANT})`,
      `update transactions set accepted_variant = 0
        where id = (select max(id) from transactions where accepting_index is null)`,
      `update transactions t set accepted_variant = (
         select v from generate_series(0, 1) v where not exists (
           select from blocks c join block_transactions bt
             on bt.block_id = any (c.merge_set_blues || c.merge_set_reds)
           where c.id = (select block_id from chain_blocks where index = t.accepting_index)
             and bt.transaction_id = t.id and bt.variant = v))
       where id = (select max(t.id) from transactions t
         where accepting_index is not null
           and id in (select transaction_id from transaction_variants)
         and (select count(distinct bt.variant) from blocks c
           join block_transactions bt on bt.block_id = any (c.merge_set_blues || c.merge_set_reds)
              where c.id = (select block_id from chain_blocks where index = t.accepting_index)
                and bt.transaction_id = t.id) = 1)`,
    ],
  },
  'invariant 3': {
    check: () => checkInvariant3(client, harness.node),
    statements: [
      `update chain_blocks set accepted_transactions = array(select unnest(accepted_transactions) order by 1 desc)
       where index = (select max(index) from chain_blocks
         where cardinality(accepted_transactions) > 1)`,
      `update chain_blocks set accepted_transactions = accepted_transactions[2:] where index = 100`,
      `update transactions set accepting_index = null
        where id = (select max(id) from transactions where accepting_index is not null)`,
      `delete from chain_blocks where index = (select max(index) from chain_blocks)`,
    ],
  },
  'invariant 4': {
    check: () => checkInvariant4(client),
    statements: [
      `update balances set balance = balance + 1 where script_id = (select max(script_id) from balances)`,
      `delete from balances where script_id = (select script_id from balances where balance > 0 limit 1)`,
      `delete from utxos where (transaction_id, index) = (select transaction_id, index from utxos limit 1)`,
      `update utxos set block_daa_score = block_daa_score + 1
        where transaction_id = (select max(transaction_id) from utxos)`,
      `update utxos set is_coinbase = not is_coinbase where transaction_id = (select max(transaction_id) from utxos)`,
      `update transaction_outputs set script_id = script_id + 1
        where transaction_id = (select max(transaction_id) from utxos)`,
      `update checkpoint set circulating_sompi = circulating_sompi + 1`,
      `update balances set utxo_count = utxo_count + 1 where script_id = (select max(script_id) from balances)`,
      `update balances set transaction_count = transaction_count - 1
        where script_id = (select max(script_id) from balances)`,
      `update unmerged_touches set script_ids = script_ids[2:]
        where block_id = (select max(block_id) from unmerged_touches)`,
      `delete from unmerged_touches`,
      `update balances set is_tagged = true where script_id = (select max(script_id) from balances)`,
      `insert into tags (address, name) select address, 'nobody' from scripts
        where id = (select max(script_id) from balances)`,
      `delete from balances where script_id = (select max(script_id) from balances where balance = 0)`,
      `insert into balances select max(script_id) + 1, 0, 0, 0 from balances`,
      `update previous_balance_changes set change = change + 1
        where script_id = (select max(script_id) from previous_balance_changes)`,
      `update previous_balance_changes set hour = hour - 1
        where script_id = (select max(script_id) from previous_balance_changes)`,
      `insert into previous_balance_changes select max(script_id) + 1, 0, 1 from balances`,
      `insert into previous_balance_changes select script_id, last_change_hour, 0 from balances
        where script_id = (select max(script_id) from balances)`,
      `update balances set last_change = last_change + 1 where script_id = (select max(script_id) from balances)`,
      `update balances set last_change_hour = last_change_hour + 1
        where script_id = (select max(script_id) from balances where last_change <> 0)`,
      `update bootstrap_blocks set utxo_sompi = 1`,
      ...ROLLUPS,
      `update seen_before set last_seen = array(select seen + 1 from unnest(last_seen) seen) where ${KEPT}`,
      `update seen_before set last_seen = array_fill(null::bigint, array[cardinality(last_seen)])
       where chain_index = (select max(chain_index) from seen_before
         where array_remove(last_seen, null) <> '{}')`,
      `update seen_before set script_ids = script_ids[2:], last_seen = last_seen[2:] where ${KEPT}`,
      `update seen_before set script_ids = script_ids || 1::bigint,
        last_seen = last_seen || null::bigint where ${KEPT}`,
      `insert into seen_before select max(index) + 1, '{}', '{}' from chain_blocks`,
      `with single as (insert into clusters (id, size, balance) select script_id, 1, balance + 1
        from balances where ${ACTIVE} returning id)
       insert into cluster_members (script_id, next_id, previous_id) select id, id, id from single`,
    ],
  },
  'invariant 7': {
    check: () => checkInvariant7(client),
    statements: [
      `delete from block_transactions
        where block_id = (select max(block_id) from block_transactions where index = 2)
          and index = 1`,
      `delete from block_parents
        where block_id = (select max(block_id) from block_parents where index = 1) and index = 0`,
      `delete from blocks where id = (select max(id) from blocks
        where merging_block_id is not null and not is_chain_block)`,
      `update blocks set is_blue = not is_blue where id = (select max(id) from blocks where is_blue is not null)`,
      `update blocks set merging_block_id = null
        where id = (select max(id) from blocks where merging_block_id is not null)`,
      `update blocks set is_chain_block = false where id = (select max(block_id) from chain_blocks)`,
      `delete from chain_blocks where index = 100`,
      `update chain_blocks set accepted_transactions = accepted_transactions || accepted_transactions[1] where index = 100`,
      `update blocks set merge_set_reds = merge_set_reds || (select selected_parent_id from blocks b
        join chain_blocks on block_id = id where index = 99)
       where id = (select block_id from chain_blocks where index = 98)`,
      `delete from chain_blocks where index = 0`,
      `delete from bootstrap_blocks`,
      `update block_transactions set variant = 9
        where block_id = (select max(block_id) from block_transactions where index = 1)
          and index = 1`,
      `update transaction_inputs set amount = amount + 1
        where transaction_id = (select max(transaction_id) from transaction_inputs
          where amount is not null)`,
      `update transactions set fee = fee + 1 where id = (select max(id) from transactions where fee > 0)`,
      `update transactions set accepting_index = null
        where id = (select max(id) from transactions where accepting_index is not null)`,
      `update chain_blocks set accepted_transactions = accepted_transactions[2:] where index = 100`,
      `update transactions set accepting_index = null where id = (
         select max(i.previous_transaction_id) from transaction_inputs i
           join transactions t on t.id = i.transaction_id where t.accepting_index is not null)`,
      `update transaction_inputs
        set previous_transaction_hash = previous.transaction_id, previous_transaction_id = null,
          amount = null, script_id = null
       from transactions previous where previous.id = previous_transaction_id`,
      `with gone as (
         update transactions set accepting_index = null where id = (
           select max(i.previous_transaction_id) from transaction_inputs i
             join transactions t on t.id = i.transaction_id where t.accepting_index is not null)
         returning id)
       update chain_blocks set accepted_transactions = array_remove(accepted_transactions, gone.id)
         from gone where gone.id = any (accepted_transactions)`,
      `with lost as (
         update transaction_inputs
           set previous_transaction_hash = previous.transaction_id, previous_transaction_id = null,
             amount = null, script_id = null
         from transactions previous
         where previous.id = previous_transaction_id
           and transaction_inputs.transaction_id in (select id from transactions
             where accepting_index is null)
         returning transaction_inputs.transaction_id)
       update transactions set fee = null where id in (select transaction_id from lost)`,
      `update blocks set selected_parent_id = (select parent_id from block_parents
        where block_id = blocks.id and parent_id <> selected_parent_id limit 1)
       where id = (select max(c.block_id) from chain_blocks c
         join block_parents p on p.block_id = c.block_id and p.index = 1)`,
      `update blocks set merge_set_blues = merge_set_blues || 1000000::bigint where id = (select max(id) from blocks)`,
      `update blocks set selected_parent_id = 1000000 where id = (select max(id) from blocks)`,
      `update chain_blocks set daa_score = daa_score + 1 where index = 100`,
      `update chain_blocks set blue_score = blue_score + 1 where index = 100`,
      `update chain_blocks set hash = '\\x00' where index = 100`,
      `update blocks set transaction_count = transaction_count + 1
        where id = (select block_id from chain_blocks where index = 100)`,
      `update chain_blocks set timestamp = timestamp - 1 where index = 100`,
      `update blocks set miner_script_id = 1000000 where id = (select block_id from chain_blocks where index = 100)`,
      `insert into removed_chain_blocks select block_id, accepted_transactions || 1::bigint
        from chain_blocks where index = 100`,
      `insert into removed_chain_blocks select max(id), '{1000000}' from blocks`,
      `update checkpoint set chain_index = chain_index - 1`,
      `update checkpoint set block_id = (select block_id from chain_blocks where index = 100)`,
      `delete from chain_blocks where index = (select max(index) from chain_blocks)`,
      `update checkpoint set next_block_id = (select max(id) from blocks)`,
      `update checkpoint set next_transaction_id = (select max(id) from transactions)`,
      `update checkpoint set next_script_id = (select max(id) from scripts)`,
      `update checkpoint set next_subnetwork_id = (select max(id) from subnetworks)`,
      `update checkpoint set virtual_merge_set = virtual_merge_set || 1000000::bigint`,
      `update checkpoint set virtual_merge_set = virtual_merge_set || block_id`,
      `update checkpoint set virtual_merge_set = virtual_merge_set || (select max(id) from blocks
        where merging_block_id is not null and not is_chain_block)`,
    ],
  },
  'invariant 8': {
    check: () => checkInvariant8(client),
    statements: [
      `update blocks set nonce = nonce + 1 where id = 100`,
      `update blocks set subsidy = subsidy + 1 where id = 100`,
      `update blocks set miner_script_id = null where id = 100`,
      `update blocks set miner_script_id = (select max(id) from scripts where id <> miner_script_id) where id = 100`,
      `update blocks set parents_by_level = '' where id = (select max(id) from blocks where parents_by_level <> '')`,
      `update block_parents set index = -index
        where block_id = (select max(block_id) from block_parents where index = 1)`,
      `update block_transactions set index = -index
        where block_id = (select max(block_id) from block_transactions where index = 2)`,
      `update transactions set payload = payload || '\\x00' where id = (select max(id) from transactions)`,
      `update transactions set compute_mass = compute_mass + 1 where id = (select max(id) from transactions)`,
      `update transactions set storage_mass = storage_mass + 1
        where id = (select max(id) from transactions where subnetwork_id = 0)`,
      `update transaction_inputs set signature_script = ''
        where transaction_id = (select max(transaction_id) from transaction_inputs
          where signature_script <> '')`,
      `update transaction_outputs set amount = amount + 1
        where transaction_id = (select max(transaction_id) from transaction_outputs)`,
      `update transaction_variant_inputs set signature_script = '' where signature_script <> ''`,
      `with swapped as (select min(id) as a, max(id) as b from scripts where address is not null)
       update scripts s set address = o.address from swapped, scripts o
         where (s.id = a and o.id = b) or (s.id = b and o.id = a)`,
      `update scripts set address = null where id = (select max(id) from scripts where address is not null)`,
      `update scripts set type = 'nonstandard' where id = (select max(id) from scripts where address is not null)`,
      `update scripts set type = 'pubkey' where id = (select max(id) from scripts where type = 'nonstandard')`,
      `insert into scripts select max(id) + 1, (array_agg(version))[1], (array_agg(script))[1],
        (array_agg(type))[1], (array_agg(address))[1] from scripts`,
      `update meta set network = 'mainnet'`,
    ],
  },
  'invariant 5': {
    check: async () => differencesOf(harness.untouched, await takeSnapshot(client)),
    statements: [
      ...ROLLUPS,
      `update checkpoint set circulating_sompi = circulating_sompi + 1`,
      `update bootstrap_blocks set utxo_count = 1`,
      `drop index blocks_blue_score`,
      `update blocks set nonce = nonce + 1 where id = 100`,
      `update blocks set merging_block_id = null
        where id = (select max(id) from blocks where merging_block_id is not null)`,
      `update blocks set merge_set_blues = merge_set_blues[2:] where id = 100`,
      `update chain_blocks set accepted_transactions = accepted_transactions[2:] where index = 100`,
      `delete from block_transactions
        where block_id = (select max(block_id) from block_transactions where index = 1)
          and index = 1`,
      `update transactions set fee = fee + 1
        where id = (select max(id) from transactions where accepting_index is not null)`,
      `update transactions set accepted_variant = null
        where id = (select max(id) from transactions where accepting_index is not null)`,
      `update transaction_inputs set signature_script = ''
        where transaction_id = (select max(transaction_id) from transaction_inputs
          where signature_script <> '')`,
      `update transaction_inputs set amount = amount + 1
        where transaction_id = (select max(transaction_id) from utxos
          join transaction_inputs using (transaction_id))`,
      `update transaction_outputs set amount = amount + 1
        where transaction_id = (select max(transaction_id) from utxos)`,
      `update scripts set address = null where id = (select max(script_id) from balances where balance > 0)`,
      `update transaction_inputs set script_id = script_id + 1
        where transaction_id = (select max(transaction_id) from utxos
          join transaction_inputs using (transaction_id))`,
      `delete from utxos where (transaction_id, index) = (select transaction_id, index from utxos limit 1)`,
      `update balances set balance = balance + 1 where script_id = (select max(script_id) from balances)`,
      `update balances set utxo_count = utxo_count + 1 where script_id = (select max(script_id) from balances)`,
      `update previous_balance_changes set hour = hour - 1
        where script_id = (select max(script_id) from previous_balance_changes)`,
    ],
  },
} satisfies Record<string, { check: () => Promise<string[]>; statements: string[] }>;

for (const [name, { check, statements }] of Object.entries(changes)) {
  describe(name, () => {
    test('holds for the untouched index', async () => {
      expect(await check()).toEqual([]);
    });

    test.each(statements)('is violated by: %s', async (statement) => {
      const { rowCount, command } = await client.query(statement);
      expect(command === 'DROP' || (rowCount ?? 0) > 0).toBe(true);
      expect(await check()).not.toEqual([]);
    });
  });
}

test('invariant 8 is violated by a second row of a transaction id, which --since finds, too', async () => {
  const since = await findSince(client, '150');
  await client.query(
    `insert into transactions select (jsonb_populate_record(t, '{"id": 1000000}')).*
      from transactions t where id = 100`,
  );
  for (const from of [undefined, since]) {
    expect(await checkTransactions(client, from)).toContainEqual(expect.stringContaining('has several rows'));
  }
});

test('verify --since checks the transactions of later blocks, also those with smaller keys', async () => {
  const since = await findSince(client, '150');
  const { rows } = await client.query<{ transaction: bigint }>(
    'select max(id) as transaction from transactions where id < $1',
    [since.transactionId - 100n],
  );
  const transaction = rows[0]?.transaction;
  await client.query("update transactions set payload = payload || '\\x00' where id = $1", [transaction]);
  expect(await checkTransactions(client, since)).toEqual([]);
  await client.query('update block_transactions set transaction_id = $1 where block_id = $2 and index = 0', [
    transaction,
    since.blockId,
  ]);
  expect(await checkTransactions(client, since)).toContainEqual(expect.stringContaining('another id'));

  await client.query('update blocks set nonce = nonce + 1 where id = 50');
  expect(await checkBlocks(client, since)).not.toContainEqual(expect.stringContaining('another hash'));
  await client.query('update blocks set merging_block_id = $1 where id = 50', [since.blockId]);
  expect(await checkBlocks(client, since)).toContainEqual(expect.stringContaining('another hash'));
});
