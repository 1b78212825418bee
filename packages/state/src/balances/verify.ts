import { ACCEPTED, CUT } from '../common-table-expressions.ts';
import { faultsOf } from '../queryable.ts';

/**
 * Balance = sum of UTXOs = UTXOs at the latest bootstrap block + accepted deltas since = sum of
 * hourly changes. Counts of transactions, `unmerged_touches` included, are the numbers of rows.
 * After a retention cut they are at least that, and scripts may have no row left.
 */
const SELECT_WRONG_BALANCES = `
  with ${ACCEPTED}, ${CUT},
  of_utxos as (select script_id, sum(amount) as amount, count(*) as count from utxos
    group by script_id),
  of_bootstrap as (select script_id, sum(amount) as amount from bootstrap_utxos group by script_id),
  of_previous_bootstraps as (select distinct script_id from bootstrap_balances),
  of_transactions as (
    select a.script_id, count(*) as count,
      coalesce(sum(a.amount_received - a.amount_sent) filter (where accepted.id is not null), 0) as amount
    from address_transactions a left join accepted on accepted.id = a.transaction_id
    group by a.script_id
  ),
  of_unmerged_blocks as (select script_id, count(*) as count
    from unmerged_touches, unnest(script_ids) script_id group by script_id),
  of_hours as (select script_id, sum(change) as amount from balance_changes group by script_id)
  select format('script %s: balance %s, sum of UTXOs %s, at the bootstrap block %s and accepted deltas since %s, sum of hourly changes %s; '
      '%s UTXOs of %s counted, %s transactions of %s', script_id,
        coalesce(b.balance::text, 'missing'), coalesce(u.amount, 0),
    coalesce(s.amount, 0), coalesce(t.amount, 0), coalesce(h.amount, 0), b.utxo_count,
    coalesce(u.count, 0), counted.transactions, coalesce(t.count, 0)) as fault
  from balances b
  full join of_utxos u using (script_id)
  full join of_bootstrap s using (script_id)
  full join of_previous_bootstraps e using (script_id)
  full join of_transactions t using (script_id)
  full join of_unmerged_blocks m using (script_id)
  full join of_hours h using (script_id)
  cross join lateral (select coalesce(b.transaction_count, 0) + coalesce(m.count,
    0) as transactions) counted
  where (b.script_id is null and coalesce(u.script_id, s.script_id, e.script_id) is not null)
    or (b.script_id is not null and coalesce(s.script_id, e.script_id, t.script_id) is null
      and not exists (select from cut))
    or coalesce(b.balance, 0) <> coalesce(u.amount, 0)
    or coalesce(b.balance, 0) <> coalesce(s.amount, 0) + coalesce(t.amount, 0)
    or coalesce(b.balance, 0) <> coalesce(h.amount, 0)
    or b.utxo_count <> coalesce(u.count, 0)
    or counted.transactions < coalesce(t.count, 0)
    or (counted.transactions > coalesce(t.count, 0) and not exists (select from cut))
  limit 20`;

const selectWrongSupply = (column: string, table: string): string => `
  select format('circulating supply %s, sum of all ${table} %s', circulating_sompi,
    expected) as fault
  from checkpoint cross join (select coalesce(sum(${column}), 0) as expected from ${table}) summed
    where circulating_sompi <> expected`;

const SELECT_WRONG_TIERS = `
  select format('tier %s of balances: %s addresses with %s sompi, but the balances give %s with %s',
    tier, coalesce(s.addresses, 0), coalesce(s.balance, 0), coalesce(e.addresses, 0),
    coalesce(e.balance, 0)) as fault
  from balance_tiers s
  full join (
    select balance_tier(b.balance) as tier, count(*) as addresses, sum(b.balance) as balance
    from balances b join scripts on scripts.id = b.script_id and scripts.address is not null
    where b.balance > 0 group by 1
  ) e using (tier)
  where (coalesce(s.addresses, 0), coalesce(s.balance, 0)) <> (coalesce(e.addresses, 0),
    coalesce(e.balance, 0))`;

export const verifyBalances = faultsOf(
  SELECT_WRONG_BALANCES,
  selectWrongSupply('balance', 'balances'),
  SELECT_WRONG_TIERS,
);

const SELECT_WRONG_CURRENT_BALANCES = `
  select format('script %s: balance %s of %s UTXOs, its UTXOs are %s of %s sompi', script_id,
    coalesce(b.balance::text, 'missing'), b.utxo_count, coalesce(u.count, 0),
    coalesce(u.amount, 0)) as fault
  from balances b
  full join (select script_id, sum(amount) as amount, count(*) as count from utxos
    group by script_id) u using (script_id)
  where b.balance is distinct from coalesce(u.amount, 0) or b.utxo_count
    is distinct from coalesce(u.count, 0)
  limit 20`;

/**
 * Balances are those of the current UTXOs. With the UTXO commitment, which proves the set, this
 * proves current balances.
 */
export const verifyCurrentBalances = faultsOf(SELECT_WRONG_CURRENT_BALANCES, selectWrongSupply('amount', 'utxos'));
