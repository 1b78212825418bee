/** The first bytes of an id, which the index on ids has. */
export const INDEXED_ID_BYTES = 7;

/**
 * Returns SQL that compares the id of a row of `transactions`, in the form that lets Postgres use
 * the index on ids.
 * @param transactions name or alias of the table
 * @param id SQL of the bytes of an id
 */
export function transactionIdIs(transactions: string, id: string): string {
  const stored = `${transactions}.transaction_id`;
  return `(${startOf(stored)} = ${startOf(id)} and ${stored} = ${id})`;
}

const startOf = (id: string): string => `substring(${id} from 1 for ${INDEXED_ID_BYTES})`;
