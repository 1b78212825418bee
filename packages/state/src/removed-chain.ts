/**
 * The chain blocks that a reorg removes. The transactions that they accepted are read once, for all
 * kinds that need them.
 */
import type { ClientBase } from 'pg';
import {
  getOrInsert,
  type RemovedChainBlock,
  type RevertedChainBlock,
  type ScriptDelta,
  type TransactionDeltas,
} from './state-changes.ts';

export class RemovedChain {
  readonly blocks: readonly RemovedChainBlock[];
  /** Keys of the transactions that they accepted. */
  readonly accepted: readonly bigint[];
  readonly #client: ClientBase;
  #reading: Promise<RevertedChainBlock[]> | undefined;

  constructor(client: ClientBase, blocks: readonly RemovedChainBlock[]) {
    this.#client = client;
    this.blocks = blocks;
    this.accepted = blocks.flatMap(({ accepted }) => accepted);
  }

  readBlocks(): Promise<RevertedChainBlock[]> {
    this.#reading ??= readTransactions(this.#client, this.blocks);
    return this.#reading;
  }

  async readTransactions(): Promise<TransactionDeltas[]> {
    const blocks = await this.readBlocks();
    return blocks.flatMap(({ transactions }) => transactions);
  }
}

interface DeltaRow extends ScriptDelta {
  /** Position of the accepting chain block among the removed ones. */
  position: number;
  transaction: bigint;
  isCoinbase: boolean;
  script: bigint;
  lane: number | null;
  gas: string;
}

type Deltas = Map<number, ScriptDelta>;

async function readTransactions(
  client: ClientBase,
  removed: readonly RemovedChainBlock[],
): Promise<RevertedChainBlock[]> {
  const { rows } = await client.query<DeltaRow>({
    name: 'removed-transactions',
    text: `with removed as (select * from unnest($1::bigint[], $2::integer[]) removed (id, position))
     select position, delta.id as transaction, t.subnetwork_id = 1 as "isCoinbase",
            script_id as script, sum(sent)::bigint as sent, sum(received)::bigint as received,
            sum(count)::integer as "utxoCount", case when t.subnetwork_id > 1 then (
              select n.id from subnetworks n
                where n.id = t.subnetwork_id
                  and lane_namespace(n.subnetwork_id) is not null) end::integer as lane,
            t.gas::text as gas
       from (select removed.position, removed.id, o.script_id, 0 as sent,
         o.amount as received, 1 as count
               from removed join transaction_outputs o on o.transaction_id = removed.id
             union all
             select removed.position, removed.id, i.script_id, i.amount, 0, -1
               from removed join transaction_inputs i on i.transaction_id = removed.id) delta
       join transactions t on t.id = delta.id
      group by position, delta.id, t.subnetwork_id, t.gas, script_id
      order by position, delta.id`,
    values: [
      removed.flatMap(({ accepted }) => accepted),
      removed.flatMap(({ accepted }, position) => accepted.map(() => position)),
    ],
  });
  const byPosition = Map.groupBy(rows, ({ position }) => position);
  return removed.map((block, position) => {
    const { chainBlock } = block;
    const transactions = new Map<bigint, Pick<TransactionDeltas, 'key' | 'isCoinbase' | 'lane'> & { deltas: Deltas }>();
    for (const { transaction, isCoinbase, script, lane, gas, ...delta } of byPosition.get(position) ?? []) {
      const { deltas } = getOrInsert(transactions, transaction, () => ({
        key: Number(transaction),
        isCoinbase,
        deltas: new Map(),
        lane: lane === null ? undefined : { subnetwork: lane, gas: BigInt(gas) },
      }));
      deltas.set(Number(script), delta);
    }
    return { ...block, transactions: [...transactions.values()].map((each) => ({ chainBlock, ...each })) };
  });
}
