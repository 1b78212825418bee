import { type RawBuilder, sql } from 'kysely';

/**
 * Selects the number of transactions that touch a script: the stored count plus those in `unmerged_touches`.
 * @param counted `balances.transaction_count`, null if the script has no row @param scriptId null if the script is unknown
 */
export function transactionCountOf(counted: RawBuilder<unknown>, scriptId: RawBuilder<unknown>): RawBuilder<number> {
  return sql`(coalesce(${counted}, 0)
    + (select coalesce(sum(cardinality(array_positions(script_ids, ${scriptId}))), 0) from unmerged_touches))`;
}
