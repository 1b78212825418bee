/** The address that most transactions touch. */
import type { Pool } from 'pg';
import type { Owner } from './listings.ts';

export async function findBusiestOwner(pool: Pool): Promise<Owner> {
  const { rows } = await pool.query<{ address: string; script_id: bigint }>(
    `select s.address, s.id as script_id
     from scripts s join address_transactions a on a.script_id = s.id
     where s.address is not null and exists (select from utxos u where u.script_id = s.id)
     group by s.id order by count(*) desc, s.id limit 1`,
  );
  const [busiest] = rows;
  if (busiest === undefined) throw new Error('No address holds anything');
  return { address: busiest.address, scriptId: Number(busiest.script_id) };
}
