import { type RawBuilder, sql } from 'kysely';

/**
 * Selects how many transactions touch a script, accepted or not.
 * @param counted the column of `balances`, null without a balance @param scriptId of the script, null if it is unknown
 */
export function transactionCountOf(counted: RawBuilder<unknown>, scriptId: RawBuilder<unknown>): RawBuilder<number> {
  return sql`(coalesce(${counted}, 0)
    + (select coalesce(sum(cardinality(array_positions(script_ids, ${scriptId}))), 0) from unmerged_touches))`;
}
