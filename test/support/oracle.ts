/**
 * The oracle of UTXOs and balances: plain accounting over the accepted transactions of a DAG in
 * memory, and the stored state in the same form.
 */
import { type AcceptedTransaction, acceptedBy, type Dag } from '@kasgres/devnet';
import { isCoinbase, type Outpoint, scriptToAddress, type ScriptPublicKey, toHex, type Utxo } from '@kasgres/kaspa';
import type { Pool } from 'pg';

/** The UTXOs that accepted transactions leave. */
export class UtxoOracle {
  readonly #unspent = new Map<string, Utxo>();

  /** Applies the transactions that a chain block, or the virtual block, accepts. */
  accept(accepted: readonly AcceptedTransaction[], blockDaaScore: bigint): void {
    for (const { transaction } of accepted) {
      for (const { previousOutpoint } of transaction.inputs) this.#spend(previousOutpoint);
      for (const [index, { amount, scriptPublicKey, covenant }] of transaction.outputs.entries()) {
        const outpoint = { transactionId: transaction.transactionId, index };
        this.#unspent.set(outpointName(outpoint), {
          outpoint,
          amount,
          scriptPublicKey,
          blockDaaScore,
          isCoinbase: isCoinbase(transaction),
          covenantId: covenant?.covenantId,
        });
      }
    }
  }

  all(): Utxo[] {
    return [...this.#unspent.values()];
  }

  of(script: ScriptPublicKey): Utxo[] {
    return this.all().filter((utxo) => scriptKey(utxo.scriptPublicKey) === scriptKey(script));
  }

  #spend(outpoint: Outpoint): void {
    const name = outpointName(outpoint);
    if (!this.#unspent.delete(name)) throw new Error(`an accepted transaction spends ${name}, which does not exist`);
  }
}

/** Returns the UTXOs after the acceptance of every chain block including the sink. */
export function utxosAtSink(dag: Dag): UtxoOracle {
  const utxos = new UtxoOracle();
  for (const block of dag.chainBlocks) utxos.accept(acceptedBy(block), block.header.daaScore);
  return utxos;
}

export function sumOf(utxos: readonly Utxo[]): bigint {
  return utxos.reduce((sum, { amount }) => sum + amount, 0n);
}

export function scriptKey({ version, script }: ScriptPublicKey): string {
  return `${version}:${toHex(script)}`;
}

function outpointName({ transactionId, index }: Outpoint): string {
  return `${toHex(transactionId)}:${index}`;
}

/** In a form to compare. */
export interface State {
  /** All columns of a UTXO, by outpoint. */
  utxos: Record<string, string>;
  /** Sompi and number of UTXOs, by script. */
  balances: Record<string, string>;
}

/** Returns the state on simnet with these UTXOs. */
export function stateOf(utxos: readonly Utxo[]): State {
  const byScript = Map.groupBy(utxos, ({ scriptPublicKey }) => scriptKey(scriptPublicKey));
  return {
    utxos: Object.fromEntries(
      utxos.map(({ outpoint, amount, scriptPublicKey, blockDaaScore, isCoinbase: coinbase, covenantId }) => {
        const address = scriptToAddress(scriptPublicKey, 'kaspasim') ?? '';
        const columns = [
          amount,
          scriptKey(scriptPublicKey),
          address,
          blockDaaScore,
          coinbase,
          covenantId && toHex(covenantId),
        ];
        return [outpointName(outpoint), columns.join(' ')];
      }),
    ),
    balances: Object.fromEntries([...byScript].map(([script, held]) => [script, `${sumOf(held)} in ${held.length}`])),
  };
}

/**
 * Reads the state of an index. `addressedOnly` leaves out scripts without an address, for which a
 * node cannot be asked.
 */
export async function storedState(pool: Pick<Pool, 'query'>, { addressedOnly = false } = {}): Promise<State> {
  const script = `s.version || ':' || encode(s.script, 'hex')`;
  const condition = addressedOnly ? 's.address is not null' : 'true';
  const utxos = await pool.query<{ name: string; columns: string }>(
    `select encode(coalesce(t.transaction_id, e.transaction_id), 'hex') || ':' || u.index as name,
       concat(u.amount, ' ', ${script}, ' ', s.address, ' ', u.block_daa_score, ' ',
         u.is_coinbase::text, ' ', encode(coalesce(o.covenant_id, b.covenant_id), 'hex')) as columns
     from utxos u join scripts s on s.id = u.script_id
     left join transactions t on t.id = u.transaction_id
     left join pre_bootstrap_transactions e on e.id = u.transaction_id
     left join transaction_outputs o on o.transaction_id = u.transaction_id and o.index = u.index
       and o.index >> 4 = u.index >> 4
     left join bootstrap_utxos b on b.transaction_id = u.transaction_id and b.index = u.index
     where ${condition}`,
  );
  const balances = await pool.query<{ name: string; columns: string }>(
    `select ${script} as name, b.balance || ' in ' || b.utxo_count as columns
     from balances b join scripts s on s.id = b.script_id
       where (b.balance <> 0 or b.utxo_count <> 0) and ${condition}`,
  );
  return { utxos: byName(utxos.rows), balances: byName(balances.rows) };
}

function byName(rows: readonly { name: string; columns: string }[]): Record<string, string> {
  return Object.fromEntries(rows.map(({ name, columns }) => [name, columns]));
}
