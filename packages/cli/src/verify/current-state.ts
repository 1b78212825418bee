/**
 * What of invariant 4 needs no history: balances and counts of UTXOs are those of the current UTXO set, the supply is their sum, and clusters
 * have the balances of their members. With the UTXO commitment, which proves the set itself, current balances are proven.
 */
import type { Queryable } from './queryable.ts';

const SELECT_WRONG_BALANCES = `
  select script_id, b.balance, b.utxo_count, coalesce(u.amount, 0)::text as amount, coalesce(u.count, 0) as count
  from balances b
  full join (select script_id, sum(amount) as amount, count(*) as count from utxos group by script_id) u using (script_id)
  where b.balance is distinct from coalesce(u.amount, 0) or b.utxo_count is distinct from coalesce(u.count, 0)
  limit 20`;

const SELECT_SUPPLY = `
  select circulating_sompi::text as circulating, (select coalesce(sum(amount), 0)::text from utxos) as sum from checkpoint`;

interface WrongBalance {
  script_id: bigint;
  /** Null where `balances` has no row. */
  balance: bigint | null;
  utxo_count: bigint | null;
  amount: string;
  count: bigint;
}

/** Returns what is wrong, one sentence each (the first 20 of a kind). */
export async function checkCurrentState(db: Queryable): Promise<string[]> {
  const balances = await db.query<WrongBalance>(SELECT_WRONG_BALANCES);
  const supply = await db.query<{ circulating: string; sum: string }>(SELECT_SUPPLY);
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
