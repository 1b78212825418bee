/** The amounts that transactions move from and to an address. */
import { isAccepted, joinPrevious } from '@kasgres/reads';
import { type RawBuilder, sql } from 'kysely';
import { utxoExists } from '../transactions/rest/select-transactions.ts';

/**
 * Joins `amounts`: what a transaction moves from and to a script, as numeric, since the sums of a
 * transaction that is not accepted may exceed 64 bits. Only such a transaction can spend UTXOs that
 * do not exist.
 */
export const joinAmounts = (scriptId: RawBuilder<unknown>): RawBuilder<unknown> => {
  const sumOf = (table: 'input' | 'output', joins = sql``, condition = sql``): RawBuilder<unknown> => sql`(
    select coalesce(sum(${sql.ref(`${table}.amount`)}), 0)
    from ${sql.table(`transaction_${table}s`)} ${sql.ref(table)} ${joins}
    where ${sql.ref(`${table}.transaction_id`)} = transactions.id
      and ${sql.ref(`${table}.script_id`)} = ${scriptId} ${condition})`;
  return sql`cross join lateral (
    select ${sumOf('output')} as received,
      case when ${isAccepted()} then ${sumOf('input')}
        else ${sumOf('input', joinPrevious, sql`and ${utxoExists}`)} end as sent
    offset 0) amounts`;
};
