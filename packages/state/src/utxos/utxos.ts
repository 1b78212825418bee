import { copyAll, type CopyRowOf, UTXOS } from '@kasgres/database';
import { UNSPENT } from '../common-table-expressions.ts';
import {
  type AcceptedTransaction,
  type DerivedState,
  getOrInsert,
  type Outpoint,
  type Utxo,
} from '../derived-state.ts';
import { columnsOf } from '../queryable.ts';
import { verifyUtxos } from './verify.ts';

/** Nets the UTXOs of a batch: one that it creates and spends never gets a row. */
export class UtxoChanges {
  readonly spent: Outpoint[] = [];
  /** By transaction and index. */
  readonly #created = new Map<number, (Utxo | undefined)[]>();
  #count = 0;

  get created(): Iterable<Utxo> {
    return this.#list();
  }

  get createdCount(): number {
    return this.#count;
  }

  add({ spent, created }: Pick<AcceptedTransaction, 'spent' | 'created'>): void {
    for (const outpoint of spent) if (!this.#remove(outpoint)) this.spent.push(outpoint);
    for (const utxo of created) {
      getOrInsert<number, (Utxo | undefined)[]>(this.#created, utxo.transaction, () => [])[utxo.index] = utxo;
      this.#count += 1;
    }
  }

  *#list(): Generator<Utxo> {
    for (const utxos of this.#created.values()) for (const utxo of utxos) if (utxo !== undefined) yield utxo;
  }

  #remove({ transaction, index }: Outpoint): boolean {
    const utxos = this.#created.get(transaction);
    if (utxos?.[index] === undefined) return false;
    utxos[index] = undefined;
    this.#count -= 1;
    return true;
  }
}

export const utxos: DerivedState = {
  name: 'UTXOs',
  emptied: ['utxos'],
  deferredIndexes: ['utxos_script_id'],
  verify: { 4: verifyUtxos },

  collect(item, changes) {
    if (item.kind === 'accepted') changes.of(UtxoChanges).add(item.transaction);
  },

  async apply(client, changes) {
    const { created, spent } = changes.of(UtxoChanges);
    await copyAll(client, UTXOS, rowsOf(created));
    if (spent.length === 0) return;
    const { rowCount } = await client.query({
      name: 'spend-utxos',
      text: `delete from utxos u using unnest($1::bigint[], $2::bigint[]) spent (transaction_id, index)
              where u.transaction_id = spent.transaction_id and u.index = spent.index`,
      values: columnsOf(spent, 'transaction', 'index'),
    });
    if (rowCount !== spent.length) {
      throw new Error(`${spent.length} UTXOs are spent but only ${rowCount} of them were unspent (invariant 4)`);
    }
  },

  /** Runs before the batch writes UTXOs, since its chain blocks may accept the same transactions again. */
  async revert(client, removed) {
    const transactions = removed.flatMap(({ accepted }) => accepted);
    await client.query('delete from utxos where transaction_id = any($1::bigint[])', [transactions]);
    await client.query(
      `insert into utxos (transaction_id, index, script_id, amount, block_daa_score, is_coinbase)
       select i.previous_transaction_id, i.previous_index, i.script_id, i.amount, coalesce(u.block_daa_score, c.daa_score),
              coalesce(u.is_coinbase, p.subnetwork_id = 1)
         from unnest($1::bigint[]) removed (id)
         join transaction_inputs i on i.transaction_id = removed.id
         left join start_utxos u on u.transaction_id = i.previous_transaction_id and u.index = i.previous_index
         left join transactions p on p.id = i.previous_transaction_id
         left join chain_blocks c on c.index = p.accepting_index
        where i.previous_transaction_id <> all($1::bigint[])`,
      [transactions],
    );
  },

  async rebuild(client) {
    // Acceptance counts from the latest bootstrap block, whose UTXO set contains the effect of earlier transactions.
    await client.query(
      `with accepted as not materialized (
         select t.id, t.subnetwork_id, c.daa_score
           from transactions t join chain_blocks c on c.index = t.accepting_index
          where c.index > (select max(chain_index) from starts)),
       ${UNSPENT}
       insert into utxos (transaction_id, index, script_id, amount, block_daa_score, is_coinbase) select * from unspent`,
    );
  },

  async rebuildFromTotals(client, { utxos: unspent }) {
    await copyAll(client, UTXOS, rowsOf(unspent));
  },
};

function* rowsOf(created: Iterable<Utxo>): Generator<CopyRowOf<typeof UTXOS>> {
  for (const { transaction, index, script, amount, blockDaaScore, isCoinbase } of created) {
    yield {
      transaction_id: transaction,
      index,
      script_id: script,
      amount,
      block_daa_score: blockDaaScore,
      is_coinbase: isCoinbase,
    };
  }
}
