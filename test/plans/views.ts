/** What docs/sql.md calls fast, asked of the views on the large index. */
import { addressOf, PAID_BY_ALL } from './large-index.ts';
import type { Landmarks } from './requests.ts';

/** A day of the large index has about a hundred chain blocks. */
const DAY = (column: string): string => `${column} >= '2026-03-01' and ${column} < '2026-03-02'`;

export function fastRequests({ transactionIds, fullBlock, chainBlock, ten }: Landmarks): string[] {
  const [transactionId = ''] = transactionIds;
  const isTransaction = `transaction_id = '${transactionId}'`;
  const address = `address = '${addressOf(ten)}'`;
  return [
    `select * from kaspa.transactions where ${isTransaction}`,
    `select * from kaspa.accepted_transactions where ${isTransaction}`,
    `select * from kaspa.inputs where ${isTransaction}`,
    `select * from kaspa.outputs where ${isTransaction}`,
    `select * from kaspa.block_transactions where ${isTransaction}`,
    `select * from kaspa.address_transactions where ${isTransaction}`,
    `select * from kaspa.transactions where transaction_id in ('${transactionIds.slice(0, 20).join(`', '`)}')`,

    `select * from kaspa.blocks where hash = '${fullBlock}'`,
    `select * from kaspa.chain_blocks where hash = '${chainBlock}'`,
    `select * from kaspa.block_parents where block_hash = '${chainBlock}'`,
    `select * from kaspa.block_parents where parent_hash = '${chainBlock}'`,
    `select * from kaspa.mergesets where block_hash = '${fullBlock}'`,
    `select * from kaspa.mergesets where chain_block_hash = '${chainBlock}'`,
    `select * from kaspa.block_transactions where block_hash = '${fullBlock}'`,
    `select * from kaspa.accepted_transactions where accepting_block_hash = '${chainBlock}'`,

    `select * from kaspa.addresses where ${address}`,
    `select * from kaspa.address_transactions where ${address}`,
    `select * from kaspa.address_hours where ${address}`,
    `select * from kaspa.inputs where ${address}`,
    `select * from kaspa.outputs where ${address}`,
    `select * from kaspa.utxos where ${address}`,
    `select * from kaspa.tags where ${address}`,
    `select * from kaspa.addresses where balance_sompi > 0 order by balance_sompi desc limit 100`,
    `select * from kaspa.address_transactions where address = '${addressOf(PAID_BY_ALL)}' limit 100`,

    `select * from kaspa.blocks where ${DAY('time')}`,
    `select * from kaspa.chain_blocks where ${DAY('time')}`,
    `select * from kaspa.chain_blocks where ${DAY('chain_time')}`,
    `select * from kaspa.accepted_transactions where ${DAY('accepted_at')}`,
    'select * from kaspa.accepted_transactions where chain_index between 20000 and 20100',
    'select * from kaspa.mergesets where chain_index between 20000 and 20100',
    'select * from kaspa.blocks order by time desc limit 10',
    'select * from kaspa.chain_blocks order by time desc limit 10',
    'select * from kaspa.chain_blocks order by index desc limit 10',
    'select * from kaspa.accepted_transactions order by accepted_at desc limit 10',

    `select sum(o.amount_kas) from kaspa.accepted_transactions a join kaspa.outputs o using (transaction_key) where ${DAY('a.accepted_at')}`,
    `select x.address, sum(x.change_kas) from kaspa.accepted_transactions a join kaspa.address_transactions x using (transaction_key)
      where ${DAY('a.accepted_at')} group by 1`,
    `select i.* from kaspa.accepted_transactions a join kaspa.inputs i using (transaction_id) where ${DAY('a.accepted_at')} limit 50`,
  ];
}
