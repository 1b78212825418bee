/**
 * The checks on indexes that were not bootstrapped at genesis: correct ones pass, and every manual
 * change at a bootstrap block or a gap is found. One index from genesis serves all tests: the
 * oracle makes bootstrap blocks of its rows, and each change is rolled back.
 */
import type { PoolClient } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startAfterGap, startAgainAt, startAt } from '../simulation/start-at.ts';
import { checkInvariant3 } from './acceptance.ts';
import {
  checkGhostdag,
  checkInvariant4,
  checkInvariant7,
  checkInvariant8,
  checkUtxoCommitment,
} from '@kasgres/verification';
import { differencesOf, stateOf, takeSnapshot } from './snapshot.ts';
import { openHarness, type Harness } from './harness.ts';

const ROUNDS = 150;

let harness: Harness;
let client: PoolClient;

beforeAll(async () => {
  harness = await openHarness('starts', ROUNDS, { commitsToUtxos: true });
  client = harness.client;
});
afterAll(() => harness?.close());

/** Statements that each check must find, beside those of tampering.db.test.ts. */
type Faults = Partial<Record<keyof typeof checks, string[]>>;

interface Situation {
  make: () => Promise<void>;
  faults?: Faults;
}

const checks = {
  'invariant 3': () => checkInvariant3(client, harness.node),
  'invariant 4': () => checkInvariant4(client),
  'invariant 7': () => checkInvariant7(client),
  'invariant 7, of mergesets': () => checkGhostdag(client),
  'invariant 8': () => checkInvariant8(client),
  'invariant 8, of the start': () => checkUtxoCommitment(client),
  'invariant 8, of the UTXOs': () => checkUtxoCommitment(client, 'utxos'),
};

/** A UTXO of the bootstrap block that was spent since, and one that was not. */
const SPENT = `(transaction_id, index) = (select transaction_id, index from bootstrap_utxos
  where (transaction_id, index) not in
  (select transaction_id, index from utxos) limit 1)`;
const UNSPENT =
  '(transaction_id, index) = (select transaction_id, index from utxos join bootstrap_utxos using (transaction_id, index) limit 1)';
/** An input of an accepted transaction that spends a UTXO of the bootstrap block. */
const SPENDING = `(transaction_id, index) = (select i.transaction_id, i.index from transaction_inputs i
  join transactions t on t.id = i.transaction_id
  join bootstrap_utxos u on u.transaction_id = i.previous_transaction_id
    and u.index = i.previous_index
  where t.accepting_index is not null limit 1)`;
/** A pre-bootstrap transaction without a block whose UTXO is spent. */
const NAMED_EARLIER = `(select max(e.id) from pre_bootstrap_transactions e
  join transaction_inputs i on i.previous_transaction_id = e.id
  where e.id not in (select id from transactions))`;
const LATEST = 'chain_index = (select max(chain_index) from bootstrap_blocks)';
const BOOTSTRAP_BLOCK = `(select block_id from bootstrap_blocks where ${LATEST})`;
const HOUR_OF_BOOTSTRAP = `(select chain_time / 3600000 from chain_blocks where block_id = ${BOOTSTRAP_BLOCK})`;
/** A script that holds UTXOs at the bootstrap block and is used after it. */
const HELD_AND_TOUCHED = `(select max(u.script_id) from bootstrap_utxos u join address_transactions a using (script_id)
  join transactions t on t.id = a.transaction_id join chain_blocks c on c.index = t.accepting_index
  where c.index > (select max(chain_index) from bootstrap_blocks))`;
const INTERVAL_OF_BOOTSTRAP = `(length, start) = (select 'day'::interval_length,
  chain_time - chain_time % 86400000 from chain_blocks where block_id = ${BOOTSTRAP_BLOCK})`;

/** Changes at any bootstrap block with UTXOs. */
const FAULTS_OF_A_BOOTSTRAP: Faults = {
  'invariant 4': [
    `delete from bootstrap_utxos where ${SPENT}`,
    `delete from bootstrap_utxos where ${UNSPENT}`,
    `update bootstrap_utxos set amount = amount + 1 where ${SPENT}`,
    `update bootstrap_utxos set is_coinbase = not is_coinbase where ${UNSPENT}`,
    `update bootstrap_utxos set block_daa_score = block_daa_score + 1 where ${UNSPENT}`,
    `update bootstrap_utxos set script_id = (select max(id) from scripts) where ${SPENT}`,
    `delete from utxos where ${UNSPENT}`,
    `insert into utxos (transaction_id, index, script_id, amount, block_daa_score, is_coinbase)
     select transaction_id, index, script_id, amount, block_daa_score, is_coinbase
       from bootstrap_utxos where ${SPENT}`,
    `update bootstrap_blocks set utxo_count = utxo_count + 1 where ${LATEST}`,
    `update bootstrap_blocks set utxo_sompi = utxo_sompi - 1 where ${LATEST}`,
    `update previous_balance_changes set change = change + 1
     where hour = ${HOUR_OF_BOOTSTRAP}
       and script_id = (select max(script_id) from previous_balance_changes
         where hour = ${HOUR_OF_BOOTSTRAP})`,
    `with moved as (
       update previous_balance_changes set change = change - 1
       where hour = ${HOUR_OF_BOOTSTRAP}
         and script_id = (select max(script_id) from previous_balance_changes
           where hour = ${HOUR_OF_BOOTSTRAP})
       returning script_id)
     update balances b set last_change = last_change + 1 from moved
       where b.script_id = moved.script_id`,
    `delete from balances where script_id in (select script_id from utxos
      join bootstrap_utxos using (transaction_id, index, script_id) limit 1)`,
    `update balances set first_seen = first_seen + 1 where script_id = ${HELD_AND_TOUCHED}`,
    `update balances set last_seen = null where script_id = ${HELD_AND_TOUCHED}`,
    `update balances set accepted_count = accepted_count + 1 where script_id = ${HELD_AND_TOUCHED}`,
    `update network_intervals
      set supply = supply - (select utxo_sompi from bootstrap_blocks where ${LATEST})
        where ${INTERVAL_OF_BOOTSTRAP}`,
    `update network_intervals set new_scripts = new_scripts + 1 where ${INTERVAL_OF_BOOTSTRAP}`,
    `update network_intervals set active_scripts = active_scripts - 1 where ${INTERVAL_OF_BOOTSTRAP}`,
    `update network_intervals set chain_blocks = chain_blocks - 1 where ${INTERVAL_OF_BOOTSTRAP}`,
  ],
  'invariant 7': [
    `delete from bootstrap_blocks where ${LATEST}`,
    `update bootstrap_blocks set block_id = block_id + 1 where ${LATEST}`,
    `update bootstrap_blocks set chain_index = chain_index + 1 where ${LATEST}`,
    `update transaction_inputs set amount = amount + 1 where ${SPENDING}`,
    `update transaction_inputs set script_id = script_id + 1 where ${SPENDING}`,
    `update transaction_inputs set amount = null, script_id = null where ${SPENDING}`,
    `update transaction_inputs
      set previous_transaction_id = null, previous_transaction_hash = '\\x00' where ${SPENDING}`,
    `update bootstrap_utxos set script_id = script_id + 1000000 where ${UNSPENT}`,
    `update bootstrap_utxos set transaction_id = transaction_id + 1000000 where ${UNSPENT}`,
    `update bootstrap_utxos set transaction_id = (select max(id) from transactions
      where accepting_index is not null), index = 1000 where ${UNSPENT}`,
    `insert into loaded_utxos select '', 0, 1, 0, '', 'nonstandard', null, 0, false, null`,
    `insert into utxo_set_load values (true, '', 1, 1, '')`,
  ],
  'invariant 8, of the start': [
    `delete from bootstrap_utxos where ${SPENT}`,
    `update bootstrap_utxos set amount = amount + 1 where ${SPENT}`,
    `update bootstrap_utxos set is_coinbase = not is_coinbase where ${UNSPENT}`,
    `update bootstrap_utxos set block_daa_score = block_daa_score + 1 where ${UNSPENT}`,
    `update bootstrap_utxos set covenant_id = transaction_id::text::bytea where ${UNSPENT}`,
    `update bootstrap_utxos set index = index + 1000 where ${UNSPENT}`,
    `update scripts set script = script || '\\x00' where id = (select min(script_id) from bootstrap_utxos)`,
    `update scripts set version = version + 1 where id = (select min(script_id) from bootstrap_utxos)`,
    `update blocks set utxo_commitment = hash where id = ${BOOTSTRAP_BLOCK}`,
  ],
};

/** Changes of the current UTXO set, which must match the commitment of the sink. */
const UTXO = '(transaction_id, index) = (select max(transaction_id), 0 from utxos where index = 0)';
const FAULTS_OF_UTXOS: Faults = {
  'invariant 8, of the UTXOs': [
    `delete from utxos where ${UTXO}`,
    `insert into utxos (transaction_id, index, script_id, amount, block_daa_score, is_coinbase)
     select transaction_id, index + 1000, script_id, amount, block_daa_score, is_coinbase from utxos
       where ${UTXO}`,
    `update utxos set amount = amount + 1 where ${UTXO}`,
    `update utxos set block_daa_score = block_daa_score + 1 where ${UTXO}`,
    `update utxos set is_coinbase = not is_coinbase where ${UTXO}`,
    `update utxos set script_id = (select max(id) from scripts where id <> script_id) where ${UTXO}`,
    `update scripts set script = script || '\\x00' where id = (select max(script_id) from utxos)`,
    `update transactions set transaction_id = hash where id = (select max(transaction_id) from utxos)`,
    `update transaction_outputs set covenant_id = '\\x00' where ${UTXO}`,
    `update blocks set utxo_commitment = hash where id = (select block_id from checkpoint)`,
  ],
};

/** Changes at a bootstrap block without any indexed block before it. */
const FAULTS_OF_A_BARE_BOOTSTRAP: Faults = {
  'invariant 3': [
    `update chain_blocks set accepted_transactions = accepted_transactions[2:]
      where index = (select max(chain_index) + 1 from bootstrap_blocks)`,
  ],
  'invariant 7': [
    `with moved as (
       update transactions set accepting_index = (select max(chain_index) from bootstrap_blocks)
         where id = (select max(id) from transactions where accepting_index is not null)
       returning id)
     update chain_blocks set accepted_transactions = case when block_id = ${BOOTSTRAP_BLOCK}
       then array[moved.id] else array_remove(accepted_transactions, moved.id) end
     from moved where block_id = ${BOOTSTRAP_BLOCK} or moved.id = any (accepted_transactions)`,
    `update blocks set merging_block_id = ${BOOTSTRAP_BLOCK}, is_blue = true
      where id = (select max(id) from blocks
        where merging_block_id is null and not is_chain_block)`,
    `delete from pre_bootstrap_blocks where id = (select min(id) from pre_bootstrap_blocks)`,
    `delete from pre_bootstrap_blocks where id = (select selected_parent_id from blocks where id = ${BOOTSTRAP_BLOCK})`,
    `delete from pre_bootstrap_blocks
      where id = (select max(parent_id) from block_parents
        join pre_bootstrap_blocks on id = parent_id)`,
    `insert into pre_bootstrap_blocks values (0, '\\x00')`,
    `insert into pre_bootstrap_blocks select -1, hash from blocks where id = ${BOOTSTRAP_BLOCK}`,
    `insert into pre_bootstrap_blocks select id, '\\x00' from blocks where id = ${BOOTSTRAP_BLOCK}`,
    `delete from block_parents where block_id = ${BOOTSTRAP_BLOCK}`,
    `update blocks set selected_parent_id = null where id = (select max(id) from blocks)`,
    `delete from block_transactions where block_id = ${BOOTSTRAP_BLOCK}`,
    `delete from pre_bootstrap_transactions where id = (select min(id) from pre_bootstrap_transactions)`,
    `update pre_bootstrap_transactions
      set transaction_id = (select transaction_id from transactions order by id desc limit 1)
     where id = (select min(id) from pre_bootstrap_transactions)`,
    `update pre_bootstrap_transactions set transaction_id = '\\x00'
     where id = (select max(e.id) from pre_bootstrap_transactions e
       join transactions t on t.id = e.id)`,
  ],
  'invariant 8': [
    `update pre_bootstrap_blocks set hash = '\\x00'
      where id = (select selected_parent_id from blocks where id = ${BOOTSTRAP_BLOCK})`,
    `delete from pre_bootstrap_blocks where id = (select selected_parent_id from blocks where id = ${BOOTSTRAP_BLOCK})`,
    `update pre_bootstrap_transactions set transaction_id = '\\x00'
     where id = ${NAMED_EARLIER}`,
    `delete from pre_bootstrap_transactions where id = ${NAMED_EARLIER}`,
  ],
  'invariant 8, of the start': [
    `update pre_bootstrap_transactions set transaction_id = '\\x00'
      where id = (select max(id) from pre_bootstrap_transactions
        join bootstrap_utxos u on u.transaction_id = id
       where id not in (select id from transactions))`,
  ],
};

const FAULTS_OF_THE_FIRST_BOOTSTRAP: Faults = {
  'invariant 7': [
    `insert into pre_bootstrap_transactions values (-1, '\\x00')`,
    `update transaction_inputs set amount = 1, script_id = 1 where (transaction_id, index) in (
       select i.transaction_id, i.index from transaction_inputs i
         join pre_bootstrap_transactions e on e.id = i.previous_transaction_id
       where i.amount is null)`,
    `insert into gaps (after_block_hash, before_block_hash, reason) select hash, hash, ''
      from blocks where id = ${BOOTSTRAP_BLOCK}`,
  ],
};

const FAULTS_OF_A_GAP: Faults = {
  'invariant 4': [
    `update previous_balance_changes set change = change + 1
     where hour < ${HOUR_OF_BOOTSTRAP}
       and script_id = (select max(script_id) from previous_balance_changes
         where hour < ${HOUR_OF_BOOTSTRAP})`,
    `update previous_balance_changes set change = change + case when hour = ${HOUR_OF_BOOTSTRAP} then -1 else 1 end
     from (
       select script_id as of_script, max(hour) as before from previous_balance_changes
       where hour < ${HOUR_OF_BOOTSTRAP}
         and script_id in (select script_id from previous_balance_changes
           where hour = ${HOUR_OF_BOOTSTRAP})
       group by script_id order by script_id limit 1
     ) chosen where script_id = of_script and hour in (before, ${HOUR_OF_BOOTSTRAP})`,
  ],
  'invariant 7': [
    'delete from gaps where id = (select max(id) from gaps)',
    'update gaps set after_block_hash = before_block_hash where id = (select max(id) from gaps)',
    'update gaps set before_block_hash = after_block_hash where id = (select max(id) from gaps)',
    `insert into gaps (after_block_hash, before_block_hash, reason) select a.hash, b.hash, ''
     from chain_blocks c join blocks a on a.id = c.block_id
       join chain_blocks d on d.index = c.index + 1 join blocks b on b.id = d.block_id
     where c.index = 5`,
    `update transaction_inputs
      set previous_transaction_id = null, previous_transaction_hash = e.transaction_id,
        amount = null, script_id = null
     from pre_bootstrap_transactions e where e.id = previous_transaction_id`,
  ],
};

/** Changes of the balances at the previous bootstrap block with UTXOs. */
const FAULTS_OF_AN_EARLIER_BOOTSTRAP: Faults = {
  'invariant 4': [
    'delete from bootstrap_balances where script_id = (select max(script_id) from bootstrap_balances)',
    'update bootstrap_balances set balance = balance + 1 where script_id = (select max(script_id) from bootstrap_balances)',
    `update bootstrap_balances set balance = balance + case script_id when most then 1 else -1 end
     from (select max(script_id) as most, min(script_id) as least from bootstrap_balances) ends
       where script_id in (most, least)`,
    'insert into bootstrap_balances select max(chain_index), 1, 1 from bootstrap_blocks',
    'update bootstrap_balances set chain_index = chain_index + 1',
    `with moved as (
       select script_id, min(hour) as first, min(hour) - 1 as before, sum(change) as held
         from previous_balance_changes group by 1 having sum(change) > 0 limit 1),
     given as (update previous_balance_changes h set change = h.change + held + 1 from moved
       where h.script_id = moved.script_id and hour = first)
     insert into previous_balance_changes select script_id, before, -held - 1 from moved`,
  ],
};

const situations: Record<string, Situation> = {
  'bootstrapped at a block': {
    make: () => startAt(client, 40),
    faults: merged(FAULTS_OF_A_BOOTSTRAP, FAULTS_OF_A_BARE_BOOTSTRAP, FAULTS_OF_THE_FIRST_BOOTSTRAP, FAULTS_OF_UTXOS),
  },
  'bootstrapped at the block after genesis': { make: () => startAt(client, 1) },
  'continued after a gap': {
    make: () => startAfterGap(client, 40, 60),
    faults: merged(FAULTS_OF_A_BOOTSTRAP, FAULTS_OF_A_BARE_BOOTSTRAP, FAULTS_OF_A_GAP),
  },
  'continued after a gap that ends at the next block': { make: () => startAfterGap(client, 40, 41) },
  'bootstrapped at a block and continued after a gap': {
    make: async () => {
      await startAt(client, 30);
      await startAfterGap(client, 20, 40);
    },
    faults: merged(FAULTS_OF_A_BOOTSTRAP, FAULTS_OF_A_BARE_BOOTSTRAP, FAULTS_OF_A_GAP, FAULTS_OF_AN_EARLIER_BOOTSTRAP),
  },
  'continued after two gaps': {
    make: async () => {
      await startAfterGap(client, 20, 30);
      await startAfterGap(client, 40, 55);
    },
  },
  'bootstrapped again on the same chain': { make: () => startAgainAt(client, 50), faults: FAULTS_OF_A_BOOTSTRAP },
  'bootstrapped at a block, and again on the same chain': {
    make: async () => {
      await startAt(client, 30);
      await startAgainAt(client, 25);
    },
    faults: FAULTS_OF_AN_EARLIER_BOOTSTRAP,
  },
};

function merged(...all: Faults[]): Faults {
  return Object.fromEntries(
    Object.keys(checks).map((name) => [name, all.flatMap((faults) => faults[name as keyof typeof checks] ?? [])]),
  );
}

describe.each(Object.entries(situations))('an index %s', (_, { make, faults = {} }) => {
  beforeAll(async () => {
    await client.query('begin');
    await make();
  });
  afterAll(() => client.query('rollback'));
  beforeEach(() => client.query('savepoint made'));
  afterEach(() => client.query('rollback to made'));

  test.each(Object.entries(checks))('satisfies %s', async (_, check) => {
    expect(await check()).toEqual([]);
  });

  test('has the UTXOs and balances of an index from genesis', async () => {
    const snapshot = await takeSnapshot(client);
    expect(differencesOf(stateOf(harness.untouched), stateOf(snapshot))).toEqual([]);
    expect(differencesOf(harness.untouched, snapshot)).not.toEqual([]);
  });

  const tried = Object.entries(checks).flatMap(([name, check]) =>
    (faults[name as keyof typeof checks] ?? []).map((statement) => ({ name, check, statement })),
  );
  test.each(tried)('violates $name after: $statement', async ({ check, statement }) => {
    const { rowCount } = await client.query(statement);
    expect(rowCount).toBeGreaterThan(0);
    expect(await check()).not.toEqual([]);
  });
});

describe('an index continued after a gap, with a reorg below the gap,', () => {
  const AFTER = '(select block_id from chain_blocks where index = 43)';
  const MERGED = '(select block_id from chain_blocks where index = 39)';
  /** None of its UTXOs was left at the bootstrap block. */
  const ACCEPTED = `(select max(accepted.id) from chain_blocks, unnest(accepted_transactions) accepted (id)
    where index < 40 and accepted.id not in (select transaction_id from bootstrap_utxos))`;
  beforeEach(async () => {
    await client.query('begin');
    await startAfterGap(client, 40, 60);
    await client.query(`update blocks set merge_set_reds = merge_set_reds || ${MERGED} where id = ${AFTER}`);
    await client.query(
      `update chain_blocks set accepted_transactions = accepted_transactions || ${ACCEPTED} where index = 43`,
    );
    await client.query(`update blocks set merging_block_id = ${AFTER}, is_blue = false where id = ${MERGED}`);
    await client.query(`update transactions set accepting_index = 43 where id = ${ACCEPTED}`);
  });
  afterEach(() => client.query('rollback'));

  test('may have blocks merged and transactions accepted twice', async () => {
    expect(await checkInvariant7(client)).toEqual([]);
  });

  test.each([
    `update blocks set merging_block_id = (select block_id from chain_blocks where index = 40),
      is_blue = true where id = ${MERGED}`,
    `update transactions set accepting_index = 39 where id = ${ACCEPTED}`,
  ])('violates invariant 7 if a row names the former chain block: %s', async (statement) => {
    expect((await client.query(statement)).rowCount).toBe(1);
    expect(await checkInvariant7(client)).toHaveLength(1);
  });
});
