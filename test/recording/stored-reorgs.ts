/** The reorganisations that an index went through, as its API and its database show them from checkpoint to checkpoint. */
import type { Pool } from 'pg';
import type { ApiClient } from '../node/api-client.ts';
import { finished, type Reorg, reorgOf, type ReorgSoFar } from './oracle.ts';

/** In the order of acceptance. */
const ACCEPTED = `
  select encode(t.transaction_id, 'hex') as id, encode(b.hash, 'hex') as block, t.subnetwork_id = 1 as is_coinbase
  from chain_blocks c join blocks b on b.id = c.block_id
  cross join unnest(c.accepted_transactions) with ordinality accepted (id, place)
  join transactions t on t.id = accepted.id
  order by c.index, accepted.place`;

export class StoredReorgs {
  private readonly reorgs: ReorgSoFar[] = [];
  private lastSink: string | undefined;
  private accepted: Map<string, string> = new Map();
  private coinbases: ReadonlySet<string> = new Set();

  /** To be called at every checkpoint, once the index has caught up with its sink. */
  async visit(checkpoint: string, toSink: string, api: ApiClient, pool: Pool): Promise<void> {
    const { rows } = await pool.query<{ id: string; block: string; is_coinbase: boolean }>(ACCEPTED);
    const accepted = new Map(rows.map(({ id, block }) => [id, block]));
    if (this.lastSink !== undefined) {
      const fromSink = this.lastSink;
      const request = { startHash: fromSink, includeAcceptedTransactionIds: false };
      const { body } = await api.post('/v1/rpc/getVirtualChainFromBlock', request);
      const removed = body['removedChainBlockHashes'] as string[];
      const added = body['addedChainBlockHashes'] as string[];
      if (removed.length > 0) {
        const chain = { checkpoint, fromSink, toSink, removed, added };
        const { coinbases } = this;
        this.reorgs.push(reorgOf(chain, this.accepted, accepted, (tx) => coinbases.has(tx)));
      }
    }
    this.lastSink = toSink;
    this.accepted = accepted;
    this.coinbases = new Set(rows.filter(({ is_coinbase }) => is_coinbase).map(({ id }) => id));
  }

  /** With what became of them up to the last visit. */
  all(): Reorg[] {
    return this.reorgs.map((reorg) => finished(reorg, this.accepted));
  }
}
