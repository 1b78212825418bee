import { copyRows, inPipeline, UTXOS } from '@kasgres/database';
import type { ClientBase } from 'pg';
import { UNSPENT } from '../common-table-expressions.ts';
import type { DerivedState } from '../derived-state.ts';
import type { AcceptedTransaction, Outpoint, Utxo } from '../state-changes.ts';
import { columnsOf } from '../queryable.ts';
import { type BareProgram, MarkedSpends, type MarkedUtxo } from './marked-spends.ts';
import { OutpointMap } from './outpoint-map.ts';
import { verifyUtxos } from './verify.ts';

/**
 * Nets the UTXOs of a batch: one that it creates and spends never gets a row, and one that it
 * removes and creates again keeps its row.
 */
export class UtxoChanges {
  readonly #spent = new OutpointMap<Outpoint>();
  readonly #created = new OutpointMap<Utxo>();
  /** Rows that removed chain blocks created. */
  readonly #removed = new OutpointMap<Utxo>();

  /** UTXOs without a row. */
  get created(): Utxo[] {
    return [...this.#created].filter((utxo) => this.#removed.get(utxo) === undefined);
  }

  /** UTXOs whose rows have another DAA score, that of a removed chain block. */
  get acceptedAgain(): Utxo[] {
    return [...this.#created].filter((utxo) => {
      const stored = this.#removed.get(utxo);
      return stored !== undefined && stored.blockDaaScore !== utxo.blockDaaScore;
    });
  }

  /** UTXOs whose rows are deleted. */
  get spent(): Outpoint[] {
    return [...this.#spent, ...[...this.#removed].filter((utxo) => this.#created.get(utxo) === undefined)];
  }

  add({ spent, created }: Pick<AcceptedTransaction, 'spent' | 'created'>): void {
    for (const outpoint of spent) {
      if (this.#created.delete(outpoint)) continue;
      const { transaction, index } = outpoint;
      if (this.#spent.get(outpoint)) throw new Error(`output ${index} of transaction ${transaction} is spent twice`);
      this.#spent.add(outpoint);
    }
    for (const utxo of created) this.#created.add(utxo);
  }

  /**
   * Must be called after `add`.
   * @param created rows that removed chain blocks created
   * @param spent UTXOs without a row that they spent
   */
  revert({ created, spent }: { created: readonly Utxo[]; spent: readonly Utxo[] }): void {
    for (const utxo of created) this.#removed.add(utxo);
    for (const utxo of spent) if (!this.#spent.delete(utxo)) this.#created.add(utxo);
  }
}

export const utxos: DerivedState = {
  applies: 'before reads',
  tables: { emptied: ['utxos'], deferredIndexes: ['utxos_script_id'] },
  verify: { 4: verifyUtxos },

  collect(item, changes) {
    if (item.kind !== 'accepted') return;
    const { transaction } = item;
    changes.of(UtxoChanges).add(transaction);
    const marked = changes.of(MarkedSpends);
    marked.addSpender(transaction);
    for (const utxo of transaction.created) if (utxo.covenantId !== undefined) marked.mark(utxo);
  },

  async apply(client, changes) {
    const { created, acceptedAgain, spent } = changes.of(UtxoChanges);
    const marked = changes.of(MarkedSpends);
    await inPipeline(client, [
      () => acceptAgain(client, acceptedAgain),
      () => copyRows(client, toRows(created)),
      () => (marked.deletion = spend(client, spent)),
    ]);
  },

  async revert(client, { accepted }, changes) {
    const [created, spent] = await inPipeline(client, [
      () => readCreated(client, accepted),
      () => readSpent(client, accepted),
    ]);
    changes.of(UtxoChanges).revert({ created, spent });
    const marked = changes.of(MarkedSpends);
    for (const { bareProgram, bareUses, ...utxo } of spent) {
      if (utxo.covenantId === undefined && bareProgram === null) continue;
      const program = toBare(bareProgram, bareUses);
      marked.mark(utxo, program);
      marked.restored.push({ ...utxo, bareProgram: program });
    }
    for (const utxo of created) {
      if (utxo.covenantId !== undefined) marked.removed.push({ ...utxo, bareProgram: undefined });
    }
  },

  rebuild: { fromRows: rebuildUtxos },
};

/**
 * Acceptance counts from the latest bootstrap block, whose UTXO set contains the effect of
 * pre-bootstrap transactions.
 */
async function rebuildUtxos(client: ClientBase): Promise<void> {
  await client.query(
    `with accepted as not materialized (
       select t.id, t.subnetwork_id, c.daa_score
         from transactions t join chain_blocks c on c.index = t.accepting_index
        where c.index > (select max(chain_index) from bootstrap_blocks)),
     ${UNSPENT}
     insert into utxos (transaction_id, index, script_id, amount, block_daa_score, is_coinbase,
       covenant_id) select * from unspent`,
  );
}

/** Null as Postgres returns it. */
type StoredUtxo = Omit<Utxo, 'covenantId'> & { covenantId: Buffer | null };

async function readCreated(client: ClientBase, transactions: readonly bigint[]): Promise<Utxo[]> {
  const { rows } = await client.query<StoredUtxo>({
    name: 'removed-utxos',
    text: `select u.transaction_id::float8 as transaction, u.index, u.script_id::float8 as script, u.amount,
                  u.block_daa_score as "blockDaaScore", u.is_coinbase as "isCoinbase",
                  u.covenant_id as "covenantId"
             from transaction_outputs o
             join utxos u on u.script_id = o.script_id and u.transaction_id = o.transaction_id
               and u.index = o.index
            where o.transaction_id = any($1::bigint[])`,
    values: [transactions],
  });
  return rows.map((row) => ({ ...row, covenantId: row.covenantId ?? undefined }));
}

interface BareColumns {
  bareProgram: Buffer | null;
  bareUses: number | null;
}

async function readSpent(client: ClientBase, transactions: readonly bigint[]): Promise<(Utxo & BareColumns)[]> {
  const { rows } = await client.query<StoredUtxo & BareColumns>({
    name: 'removed-spends',
    text: `select i.previous_transaction_id::float8 as transaction,
                  i.previous_index::integer as index, i.script_id::float8 as script, i.amount,
                  coalesce(u.block_daa_score, c.daa_score) as "blockDaaScore",
                  coalesce(u.is_coinbase, p.subnetwork_id = 1) as "isCoinbase",
                  coalesce(u.covenant_id, o.covenant_id) as "covenantId",
                  bare.hash as "bareProgram", bare.uses as "bareUses"
             from unnest($1::bigint[]) removed (id)
             join transaction_inputs i on i.transaction_id = removed.id
             left join bootstrap_utxos u on u.transaction_id = i.previous_transaction_id
               and u.index = i.previous_index
             left join transactions p on p.id = i.previous_transaction_id
             left join transaction_outputs o
               on o.transaction_id = i.previous_transaction_id and o.index = i.previous_index
                 and o.covenant_id is not null
             left join programs bare on bare.script_id = i.script_id
             left join chain_blocks c on c.index = p.accepting_index
            where i.previous_transaction_id <> all($1::bigint[])`,
    values: [transactions],
  });
  return rows.map((row) => ({ ...row, covenantId: row.covenantId ?? undefined }));
}

async function acceptAgain(client: ClientBase, utxos: readonly Utxo[]): Promise<void> {
  if (utxos.length === 0) return;
  await client.query({
    name: 'accept-utxos-again',
    text: `update utxos u set block_daa_score = accepted.block_daa_score
             from unnest($1::bigint[], $2::bigint[], $3::integer[],
               $4::bigint[]) accepted (script_id, transaction_id, index, block_daa_score)
            where u.script_id = accepted.script_id and u.transaction_id = accepted.transaction_id
              and u.index = accepted.index`,
    values: columnsOf(utxos, 'script', 'transaction', 'index', 'blockDaaScore'),
  });
}

interface SpentRow extends BareColumns {
  /** The number of deleted rows; null in rows of UTXOs. */
  count: number | null;
  transaction: number;
  index: number;
  amount: bigint;
  covenantId: Buffer | null;
}

/** Returns the UTXOs with a mark. */
async function spend(client: ClientBase, outpoints: readonly Outpoint[]): Promise<MarkedUtxo[]> {
  if (outpoints.length === 0) return [];
  const { rows } = await client.query<SpentRow>({
    name: 'spend-utxos',
    text: `with spent as (
             delete from utxos u using unnest($1::bigint[], $2::bigint[],
               $3::integer[]) spent (script_id, transaction_id, index)
              where u.script_id = spent.script_id and u.transaction_id = spent.transaction_id
                and u.index = spent.index
             returning u.transaction_id, u.index, u.script_id, u.amount, u.covenant_id)
           select count(*)::integer as count, null::float8 as transaction, null::integer as index,
                  null::bigint as amount, null::bytea as "covenantId", null::bytea as "bareProgram",
                  null::smallint as "bareUses"
             from spent
           union all
           select null, spent.transaction_id::float8, spent.index, spent.amount,
             spent.covenant_id, p.hash, p.uses
             from spent left join programs p on p.script_id = spent.script_id
            where spent.covenant_id is not null or p.hash is not null`,
    values: columnsOf(outpoints, 'script', 'transaction', 'index'),
  });
  const count = rows.find((row) => row.count !== null)?.count;
  if (count !== outpoints.length) {
    throw new Error(`${outpoints.length} UTXOs are spent but only ${count} of them were unspent (invariant 4)`);
  }
  return rows.flatMap(({ count: ofAll, covenantId, bareProgram, bareUses, ...utxo }) =>
    ofAll === null
      ? [{ ...utxo, covenantId: covenantId ?? undefined, bareProgram: toBare(bareProgram, bareUses) }]
      : [],
  );
}

function toBare(hash: Buffer | null, uses: number | null): BareProgram | undefined {
  return hash === null ? undefined : { hash, uses: uses ?? 0 };
}

function toRows(created: Iterable<Utxo>): ReturnType<typeof UTXOS.createBuffer> {
  const rows = UTXOS.createBuffer();
  for (const { transaction, index, script, amount, blockDaaScore, isCoinbase, covenantId } of created) {
    rows.write({
      transaction_id: transaction,
      index,
      script_id: script,
      amount,
      block_daa_score: blockDaaScore,
      is_coinbase: isCoinbase,
      covenant_id: covenantId,
    });
  }
  return rows;
}
