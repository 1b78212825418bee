import type { ClientBase } from 'pg';
import type { ChainBlock, RemovedChainBlock, ScriptDelta, TransactionDeltas } from './derived-state.ts';

interface DeltaRow {
  /** Position of the accepting chain block among the removed ones. */
  position: number;
  transaction_id: bigint;
  is_coinbase: boolean;
  script_id: bigint;
  sent: string;
  received: string;
  utxo_count: number;
}

/** Loads the script deltas of the transactions that chain blocks accepted, in one statement for all kinds. */
export async function readRemovedChain(
  client: ClientBase,
  removed: readonly { chainBlock: ChainBlock; accepted: readonly bigint[] }[],
): Promise<RemovedChainBlock[]> {
  const { rows } = await client.query<DeltaRow>(
    `with removed as (select * from unnest($1::bigint[], $2::integer[]) removed (id, position))
     select position, delta.id as transaction_id, t.subnetwork_id = 1 as is_coinbase, script_id, sum(sent)::text as sent,
            sum(received)::text as received, sum(count)::integer as utxo_count
       from (select removed.position, removed.id, o.script_id, 0 as sent, o.amount as received, 1 as count
               from removed join transaction_outputs o on o.transaction_id = removed.id
             union all
             select removed.position, removed.id, i.script_id, i.amount, 0, -1
               from removed join transaction_inputs i on i.transaction_id = removed.id) delta
       join transactions t on t.id = delta.id
      group by position, delta.id, t.subnetwork_id, script_id
      order by position, delta.id`,
    [
      removed.flatMap(({ accepted }) => accepted),
      removed.flatMap(({ accepted }, position) => accepted.map(() => position)),
    ],
  );
  const byPosition = Map.groupBy(rows, ({ position }) => position);
  return removed.map(({ chainBlock, accepted }, position) => {
    const byTransaction = Map.groupBy(byPosition.get(position) ?? [], ({ transaction_id }) => transaction_id);
    return {
      chainBlock,
      accepted,
      transactions: [...byTransaction.values()].map((ofTransaction) => toDeltas(chainBlock, ofTransaction)),
    };
  });
}

function toDeltas(chainBlock: ChainBlock, rows: readonly DeltaRow[]): TransactionDeltas {
  const deltas = new Map<number, ScriptDelta>();
  for (const { script_id, sent, received, utxo_count: utxoCount } of rows) {
    deltas.set(Number(script_id), { sent: BigInt(sent), received: BigInt(received), utxoCount });
  }
  return { chainBlock, isCoinbase: rows[0]?.is_coinbase === true, deltas };
}
