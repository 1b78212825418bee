/**
 * The chain as the database holds it, from the checkpoint down: what the source asks the node about where it does not know the
 * checkpoint. Only while nothing is being applied.
 */
import type { Hash } from '@kasgres/kaspa';
import type { ClientBase } from 'pg';
import type { Position } from '../chain-update.ts';

export interface OwnBlock extends Position {
  blueWork: bigint;
}

export interface OwnChain {
  /** How far below the checkpoint a block may be searched: above the latest start, which says nothing. Every node has genesis. */
  depth(): Promise<number>;
  /** The chain block so many below the checkpoint; 0 is the checkpoint itself. */
  find(depth: number): Promise<OwnBlock>;
  /** The top chain blocks, from the checkpoint down. */
  top(count: number): Promise<Hash[]>;
}

/** @param chainIndex of the checkpoint */
export function readOwnChain(client: ClientBase, chainIndex: number): OwnChain {
  return {
    depth: async () => {
      const { rows } = await client.query<{ start: bigint | null }>('select max(chain_index) as start from starts');
      return chainIndex - Number(rows[0]?.start ?? 0) - 1;
    },
    find: async (depth) => {
      const { rows } = await client.query<{ hash: Buffer; blue_score: bigint; blue_work: string }>(
        `select b.hash, b.blue_score, b.blue_work
           from chain_blocks c join blocks b on b.id = c.block_id where c.index = $1`,
        [chainIndex - depth],
      );
      const row = rows[0];
      if (row === undefined) throw new Error(`there is no chain block ${chainIndex - depth} in this database`);
      return { hash: row.hash, blueScore: row.blue_score, blueWork: BigInt(row.blue_work) };
    },
    top: async (count) => {
      const { rows } = await client.query<{ hash: Buffer }>(
        'select b.hash from chain_blocks c join blocks b on b.id = c.block_id where c.index > $1 order by c.index desc',
        [chainIndex - count],
      );
      return rows.map(({ hash }) => hash);
    },
  };
}
