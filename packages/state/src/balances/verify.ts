import { ACCEPTED } from '../chain-facts.ts';
import type { Queryable } from '../queryable.ts';

/**
 * For every script, balance = sum of its UTXOs = its UTXOs at the latest bootstrap block + accepted deltas since = sum of its hourly changes, and
 * the counts are those of its rows.
 */
const SELECT_WRONG_BALANCES = `
  with ${ACCEPTED},
  of_utxos as (select script_id, sum(amount) as amount, count(*) as count from utxos group by script_id),
  of_start as (select script_id, sum(amount) as amount from start_utxos group by script_id),
  of_earlier_starts as (select distinct script_id from start_balances),
  of_transactions as (
    select a.script_id, count(*) as count,
      coalesce(sum(a.amount_received - a.amount_sent) filter (where accepted.id is not null), 0) as amount
    from address_transactions a left join accepted on accepted.id = a.transaction_id
    group by a.script_id
  ),
  of_hours as (select script_id, sum(change) as amount from balance_changes group by script_id)
  select script_id, b.balance, coalesce(u.amount, 0) as utxos, coalesce(s.amount, 0) as start, coalesce(t.amount, 0) as transactions,
    coalesce(h.amount, 0) as hours, b.utxo_count, coalesce(u.count, 0) as utxos_counted, b.transaction_count,
    coalesce(t.count, 0) as transactions_counted
  from balances b
  full join of_utxos u using (script_id)
  full join of_start s using (script_id)
  full join of_earlier_starts e using (script_id)
  full join of_transactions t using (script_id)
  full join of_hours h using (script_id)
  where (b.script_id is null and coalesce(u.script_id, s.script_id, e.script_id, t.script_id) is not null)
    or (b.script_id is not null and coalesce(s.script_id, e.script_id, t.script_id) is null)
    or coalesce(b.balance, 0) <> coalesce(u.amount, 0)
    or coalesce(b.balance, 0) <> coalesce(s.amount, 0) + coalesce(t.amount, 0)
    or coalesce(b.balance, 0) <> coalesce(h.amount, 0)
    or b.utxo_count <> coalesce(u.count, 0) or b.transaction_count <> coalesce(t.count, 0)
  limit 20`;

/** The deltas of address_transactions recomputed from inputs and outputs, whether or not the transaction was accepted. */
const SELECT_WRONG_DELTAS = `
  with deltas as (
    select script_id, transaction_id, amount as sent, 0 as received from transaction_inputs where script_id is not null
    union all
    select script_id, transaction_id, 0, amount from transaction_outputs
  ),
  expected as (
    select script_id, transaction_id, sum(sent)::bigint as sent, sum(received)::bigint as received
    from deltas group by script_id, transaction_id
  ),
  stored as (select script_id, transaction_id, amount_sent, amount_received from address_transactions)
  select script_id, transaction_id from (
    (table expected except table stored) union all (table stored except table expected)
  ) wrong
  limit 20`;

const SELECT_SUPPLY = `
  select circulating_sompi::text as circulating, coalesce((select sum(balance) from balances), 0)::text as balances
  from checkpoint`;

interface WrongBalance {
  script_id: bigint;
  /** Null where `balances` has no row. */
  balance: bigint | null;
  utxos: string;
  start: string;
  transactions: string;
  hours: string;
  utxo_count: bigint | null;
  utxos_counted: bigint;
  transaction_count: bigint | null;
  transactions_counted: bigint;
}

/** Also verifies that the sum of all balances is the circulating supply. */
export async function verifyBalances(db: Queryable): Promise<string[]> {
  const balances = await db.query<WrongBalance>(SELECT_WRONG_BALANCES);
  const deltas = await db.query<{ script_id: bigint; transaction_id: bigint }>(SELECT_WRONG_DELTAS);
  const supply = await db.query<{ circulating: string; balances: string }>(SELECT_SUPPLY);
  return [
    ...balances.rows.map(
      (row) =>
        `script ${row.script_id}: balance ${row.balance}, sum of UTXOs ${row.utxos}, at the bootstrap block ${row.start} and accepted deltas ` +
        `since ${row.transactions}, sum of hourly changes ${row.hours}; ${row.utxo_count} UTXOs of ${row.utxos_counted} counted, ` +
        `${row.transaction_count} transactions of ${row.transactions_counted}`,
    ),
    ...deltas.rows.map((row) => `script ${row.script_id}: wrong delta by transaction ${row.transaction_id}`),
    ...supply.rows
      .filter(({ circulating, balances }) => circulating !== balances)
      .map(({ circulating, balances }) => `circulating supply ${circulating}, sum of all balances ${balances}`),
  ];
}

const SELECT_WRONG_CURRENT_BALANCES = `
  select script_id, b.balance, b.utxo_count, coalesce(u.amount, 0)::text as amount, coalesce(u.count, 0) as count
  from balances b
  full join (select script_id, sum(amount) as amount, count(*) as count from utxos group by script_id) u using (script_id)
  where b.balance is distinct from coalesce(u.amount, 0) or b.utxo_count is distinct from coalesce(u.count, 0)
  limit 20`;

const SELECT_CURRENT_SUPPLY = `
  select circulating_sompi::text as circulating, (select coalesce(sum(amount), 0)::text from utxos) as sum from checkpoint`;

interface WrongCurrentBalance extends Pick<WrongBalance, 'script_id' | 'balance' | 'utxo_count'> {
  amount: string;
  count: bigint;
}

/** Balances are those of the current UTXOs. With the UTXO commitment, which proves the set, this proves current balances. */
export async function verifyCurrentBalances(db: Queryable): Promise<string[]> {
  const balances = await db.query<WrongCurrentBalance>(SELECT_WRONG_CURRENT_BALANCES);
  const supply = await db.query<{ circulating: string; sum: string }>(SELECT_CURRENT_SUPPLY);
  return [
    ...balances.rows.map(
      (row) =>
        `script ${row.script_id}: balance ${row.balance} of ${row.utxo_count} UTXOs, its UTXOs are ${row.count} of ${row.amount} sompi`,
    ),
    ...supply.rows
      .filter(({ circulating, sum }) => circulating !== sum)
      .map(({ circulating, sum }) => `circulating supply ${circulating}, sum of all UTXOs ${sum}`),
  ];
}
