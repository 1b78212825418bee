/** The queries that docs/sql.md calls fast, on the large index. */
import { addressOf, PAID_BY_ALL } from './large-index.ts';
import type { Landmarks } from './requests.ts';

/** A day of the large index has about a hundred chain blocks. */
const DAY = (column: string): string => `${column} >= '2026-03-01' and ${column} < '2026-03-02'`;

const from = (condition: string, views: string): string[] =>
  views.split(' ').map((view) => `select * from kaspa.${view} where ${condition}`);

export function fastRequests({ transactionIds, fullBlock, chainBlock, ten }: Landmarks): string[] {
  const [transactionId = ''] = transactionIds;
  return [
    ...from(
      `transaction_id = '${transactionId}'`,
      'transactions accepted_transactions inputs outputs block_transactions address_transactions',
    ),
    ...from(`transaction_id in ('${transactionIds.slice(0, 20).join(`', '`)}')`, 'transactions'),
    ...from(`hash = '${fullBlock}'`, 'blocks'),
    ...from(`hash = '${chainBlock}'`, 'chain_blocks'),
    ...from(`block_hash = '${chainBlock}'`, 'block_parents'),
    ...from(`parent_hash = '${chainBlock}'`, 'block_parents'),
    ...from(`block_hash = '${fullBlock}'`, 'mergesets block_transactions'),
    ...from(`chain_block_hash = '${chainBlock}'`, 'mergesets'),
    ...from(`accepting_block_hash = '${chainBlock}'`, 'accepted_transactions'),
    ...from(`address = '${addressOf(ten)}'`, 'addresses address_transactions address_hours inputs outputs utxos tags'),
    ...from('balance_sompi > 0 order by balance_sompi desc limit 100', 'addresses'),
    ...from(`address = '${addressOf(PAID_BY_ALL)}' limit 100`, 'address_transactions'),
    ...from(DAY('time'), 'blocks chain_blocks'),
    ...from(DAY('chain_time'), 'chain_blocks'),
    ...from(DAY('accepted_at'), 'accepted_transactions'),
    ...from('chain_index between 20000 and 20100', 'accepted_transactions mergesets'),
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
