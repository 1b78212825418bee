// Transactions that an index accepted before a gap and that the chain after it may accept again.
import type { TestDatabase } from '@kasgres/database';
import type { DagTransaction } from '@kasgres/devnet';
import { toHex } from '@kasgres/kaspa';
import { outpointKey } from '../../packages/devnet/src/economy/utxo.ts';
import type { SimulatedDag } from './simulated-dag.ts';

/** What the index has accepted before the gap, and is as good after it: nobody there spends these coins. */
export async function acceptable(
  { pool }: TestDatabase,
  ours: SimulatedDag,
  theirs: SimulatedDag,
): Promise<DagTransaction[]> {
  const { rows } = await pool.query<{ id: string }>(
    `select encode(t.transaction_id, 'hex') as id
       from chain_blocks c cross join lateral unnest(c.accepted_transactions) accepted (id) join transactions t on t.id = accepted.id
      where c.index < (select max(chain_index) from starts) and t.subnetwork_id <> 1`,
  );
  const known = new Set(rows.map(({ id }) => id));
  const { utxos } = theirs.node.consensus;
  return ours.node.dag.chainBlocks
    .flatMap(({ accepted = [] }) => accepted.map(({ transaction }) => transaction))
    .filter(({ transactionId, inputs }) => {
      const areThere = inputs.every(({ previousOutpoint }) => utxos.find(outpointKey(previousOutpoint)) !== undefined);
      return known.has(toHex(transactionId)) && areThere;
    });
}
