/** What is asked for by a key, of a database of any size: each is to take a few milliseconds. */
import type { Pool } from 'pg';

interface Landmarks {
  transaction: string;
  address: string;
  time: string;
}

/** By name. */
export async function lookUps(pool: Pool): Promise<Record<string, string>> {
  const { transaction, address, time } = await findLandmarks(pool);
  return {
    'a transaction by its id': `select * from kaspa.transactions where transaction_id = '${transaction}'`,
    'its inputs': `select * from kaspa.inputs where transaction_id = '${transaction}'`,
    'its outputs': `select * from kaspa.outputs where transaction_id = '${transaction}'`,
    'the busiest address': `select * from kaspa.addresses where address = '${address}'`,
    'its balance at a time': `select kaspa.balance_at('${address}', '${time}')`,
    'its UTXOs': `select * from kaspa.utxos where address = '${address}'`,
    'the latest 20 blocks': 'select * from kaspa.blocks order by time desc limit 20',
    'the latest 20 chain blocks': 'select * from kaspa.chain_blocks order by index desc limit 20',
    'the latest day by minute': `select * from kaspa.network_minutes where start >= timestamptz '${time}' and start < timestamptz '${time}' + interval '1 day'`,
    'the state of the index': 'select * from kaspa.index_status',
  };
}

/** A transaction from the middle of the chain, the address with most transactions, a time two days before the end. */
async function findLandmarks(pool: Pool): Promise<Landmarks> {
  const { rows } = await pool.query<Landmarks>(
    `select (select transaction_id from kaspa.accepted_transactions
              where chain_index = (select max(index) / 2 from kaspa.chain_blocks) order by index desc limit 1) as transaction,
            (select address from kaspa.addresses order by transaction_count desc, address limit 1) as address,
            (select (max(time) - interval '2 days')::text from kaspa.chain_blocks) as time`,
  );
  return rows[0] as Landmarks;
}
