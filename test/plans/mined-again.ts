/**
 * Accepted transactions in thousands of further blocks, and hundreds of others that claim to spend
 * their outputs, as anybody can mine them.
 */
import { contestedOutputs, repeatedTransactions } from '@kasgres/state/testing';
import type { Pool } from 'pg';
import { PAID_BY_ALL } from './large-index-rows.ts';
import { get } from './requests.ts';

export const COPIES = 5_000;
const CLAIMS = 400;

interface Victim {
  key: bigint;
  id: string;
  accepting: string;
  containing: string;
}

/** Accepted payments to one address, each in one block. */
export async function findVictims(pool: Pool): Promise<Victim[]> {
  const { rows } = await pool.query<Victim>(
    `select t.id as key, encode(t.transaction_id, 'hex') as id, encode(c.hash, 'hex') as accepting,
      encode(b.hash, 'hex') as containing
       from (select transaction_id as id from transaction_outputs
         where script_id = ${PAID_BY_ALL} and transaction_id < 900000
              order by transaction_id desc limit 60) paid
       join transactions t using (id)
       join chain_blocks c on c.index = t.accepting_index
       join block_transactions bt on bt.transaction_id = t.id join blocks b on b.id = bt.block_id
      where t.subnetwork_id = 0 and t.id % 20 <> 3
      order by t.id`,
  );
  return rows;
}

export function requestsFor(victims: readonly Victim[]) {
  const last = victims.at(-1);
  if (last === undefined) throw new Error('there is no such transaction');
  return {
    'one transaction': get(`/v1/transactions/${last.id}`),
    'several transactions': {
      method: 'post' as const,
      url: '/v1/transactions',
      body: { transactionIds: victims.map(({ id }) => id) },
    },
    'the block that accepts it': get(`/v1/blocks/${last.accepting}?include_transactions=true`),
    'the block that contains it': get(`/v1/blocks/${last.containing}?include_transactions=true`),
    'what a block accepts': get(`/v1/blocks/${last.accepting}/transactions?relation=accepted`),
    'the transaction in /rest': get(`/rest/transactions/${last.id}`),
    search: get(`/v1/search?q=${last.id}`),
  };
}

export async function mineAgain(pool: Pool, victims: readonly Victim[]): Promise<void> {
  const keys = victims.map(({ key }) => key);
  await pool.query(
    `create temporary table copied as select * from blocks
      where not is_chain_block and merging_block_id is not null order by id desc limit 1;
     create temporary table next_ids as select (select max(id) from blocks) as block,
       (select max(id) from transactions) as transaction;
     insert into blocks select (jsonb_populate_record(b,
       jsonb_build_object('id', block + n, 'hash', sha256((block + n)::text::bytea)))).*
       from copied b, next_ids, generate_series(1, ${COPIES}) n;
     insert into transactions (id, transaction_id, hash, version, lock_time, subnetwork_id, gas,
       payload, storage_mass, compute_mass, json_bytes)
       select transaction + n, sha256((transaction + n)::text::bytea), '', 0, 0, 0, 0, '', 0, 0, 0
         from next_ids, generate_series(1, ${CLAIMS}) n;
     insert into block_transactions (block_id, transaction_id, index, variant)
       select block + n, id, 1, 0
         from next_ids, generate_series(1, ${COPIES}) n,
           unnest(array[${keys.join()}]::bigint[]) t (id);
     insert into transaction_inputs (transaction_id, index, previous_transaction_id, previous_index,
         signature_script, sequence, sig_op_count, compute_budget, amount, script_id)
       select transaction + n, 0, o.transaction_id, o.index, '', 0, 1, 0, o.amount, o.script_id
         from next_ids, generate_series(1, ${CLAIMS}) n, transaction_outputs o
           where o.transaction_id in (${keys.join()});
     drop table copied, next_ids`,
  );
  const client = await pool.connect();
  try {
    await client.query('truncate repeated_transactions, contested_outputs');
    await repeatedTransactions.rebuild?.fromRows?.(client);
    await contestedOutputs.rebuild?.fromRows?.(client);
    await client.query(
      'vacuum analyze block_transactions, transaction_inputs, repeated_transactions, contested_outputs',
    );
  } finally {
    client.release();
  }
}
