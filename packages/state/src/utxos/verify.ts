import { ACCEPTED, UNSPENT } from '../common-table-expressions.ts';
import { faultsOf } from '../queryable.ts';

const SELECT_WRONG_BOOTSTRAP = `
  select format('the latest bootstrap block has %s UTXOs of %s sompi, its rows are %s of %s',
    s.utxo_count, s.utxo_sompi, count(u.amount), sum(u.amount)) as fault
  from (select * from bootstrap_blocks order by chain_index desc limit 1) s
    left join bootstrap_utxos u on true
  group by s.utxo_count, s.utxo_sompi
  having s.utxo_count <> count(u.amount) or s.utxo_sompi <> coalesce(sum(u.amount), 0)`;

/** The UTXO sets of earlier bootstrap blocks are kept as sums by script. */
const SELECT_WRONG_EARLIER_BOOTSTRAPS = `
  select format('the bootstrap block at index %s had UTXOs of %s sompi, the balances of its scripts are %s', chain_index, s.utxo_sompi,
    sum(b.balance)) as fault
  from (select * from bootstrap_blocks
    where chain_index < (select max(chain_index) from bootstrap_blocks)) s
      full join bootstrap_balances b using (chain_index)
  group by chain_index, s.utxo_sompi
  having s.utxo_sompi is distinct from coalesce(sum(b.balance), 0)
  limit 20`;

const SELECT_WRONG_UTXOS = `
  with ${ACCEPTED}, ${UNSPENT},
  stored as (select transaction_id, index, script_id, amount, block_daa_score, is_coinbase,
    covenant_id from utxos)
  select format('UTXO %s of transaction %s is missing', index, transaction_id) as fault
    from (table unspent except all table stored) missing
  union all
  select format('UTXO %s of transaction %s is wrong', index, transaction_id)
    from (table stored except all table unspent) wrong
  limit 20`;

export const verifyUtxos = faultsOf(SELECT_WRONG_BOOTSTRAP, SELECT_WRONG_EARLIER_BOOTSTRAPS, SELECT_WRONG_UTXOS);
