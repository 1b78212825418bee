/**
 * The two ways to read `unmerged_touches`, whose transactions `balances.transaction_count` does not
 * count yet.
 */
import { type RawBuilder, sql } from 'kysely';

/**
 * Selects the number of transactions that touch a script: the stored count plus those in
 * `unmerged_touches`.
 * @param counted `balances.transaction_count`, null if the script has no row @param scriptId null
 * if the script is unknown
 */
export function transactionCountOf(counted: RawBuilder<unknown>, scriptId: RawBuilder<unknown>): RawBuilder<number> {
  return sql`(coalesce(${counted}, 0)
    + (select coalesce(sum(cardinality(array_positions(script_ids, ${scriptId}))), 0)
      from unmerged_touches))`;
}

/**
 * Selects `script_id` and the number of its transactions in `unmerged_touches`, for scripts that
 * have any. For many scripts, since the function above reads the whole table for each. @param
 * scriptIds selects the scripts
 */
export function unmergedCounts(scriptIds: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select script_id, count(*) as transactions from unmerged_touches
      cross join unnest(script_ids) as script_id
    where script_id in (${scriptIds}) group by script_id`;
}
