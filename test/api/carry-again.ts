/** Changes rows so that a transaction of a block was also accepted before the bootstrap block. */
import { toHex } from '@kasgres/kaspa';
import type { CutIndex } from './cut-index.ts';

export async function carryAgain({ pool }: CutIndex) {
  const { rows } = await pool.query<{
    id: bigint;
    transaction_id: Buffer;
    accepting_block_id: bigint;
    accepted_body: number;
    block_hash: string;
    id_below: string;
    address: string;
    script_id: bigint;
  }>(
    `select t.id, t.transaction_id, t.accepting_block_id, t.accepted_body, encode(b.hash, 'hex') as block_hash, s.address,
       (select encode(transaction_id, 'hex') from transactions lower where lower.id < t.id order by id desc limit 1) as id_below,
       s.id as script_id
     from transactions t join block_transactions c on c.transaction_id = t.id join blocks b on b.id = c.block_id
       join address_transactions a on a.transaction_id = t.id join scripts s on s.id = a.script_id
     where t.subnetwork_id = 0 and t.accepting_block_id is not null and s.address is not null
       and (select count(*) from block_transactions d where d.transaction_id = t.id) = 1
     order by t.id offset 200 limit 1`,
  );
  const [row] = rows;
  if (row === undefined) throw new Error('no block holds a payment that is in no other');
  await pool.query('insert into earlier_transactions values ($1, $2)', [row.id, row.transaction_id]);
  await pool.query('update transactions set accepting_block_id = null, accepted_body = null where id = $1', [row.id]);
  return {
    transactionId: toHex(row.transaction_id),
    blockHash: row.block_hash,
    idBelow: row.id_below,
    owner: { address: row.address, scriptId: Number(row.script_id) },
    undo: async () => {
      await pool.query('delete from earlier_transactions where id = $1', [row.id]);
      await pool.query('update transactions set accepting_block_id = $2, accepted_body = $3 where id = $1', [
        row.id,
        row.accepting_block_id,
        row.accepted_body,
      ]);
    },
  };
}
