/** Reads the chain that the database has. Keys are below 2 ** 53, where float8 is exact. */
import { type Hash, toHex } from '@kasgres/kaspa';
import type { ClientBase } from 'pg';
import type { Position } from './chain-update.ts';
import { IncompleteUpdateError } from './errors.ts';
import type { Memory } from './memory/memory.ts';
import type { Checkpoint, Fork } from './prepare/batch.ts';

export async function findFork(client: ClientBase, from: Checkpoint, removed: number): Promise<Fork> {
  const fork = await findChainBlock(client, 'c.index = $1', from.chainIndex - removed);
  if (fork === undefined) {
    throw new IncompleteUpdateError(`the node removes ${removed} chain blocks, more than this database has`);
  }
  return fork;
}

export function findOnChain(client: ClientBase, hash: Hash): Promise<Fork | undefined> {
  return findChainBlock(client, 'b.hash = $1', Buffer.from(hash));
}

export async function getChainBlockBelow(client: ClientBase, blueScore: bigint): Promise<Fork> {
  const block = await findChainBlock(client, 'b.blue_score < $1', blueScore);
  if (block === undefined) throw new Error(`no chain block is below blue score ${blueScore}`);
  return block;
}

async function findChainBlock(client: ClientBase, condition: string, value: unknown): Promise<Fork | undefined> {
  const { rows } = await client.query<Fork>({
    name: `find-chain-block ${condition}`,
    text: `select c.block_id::float8 as "blockId", b.hash, b.blue_score as "blueScore", c.index::float8 as "chainIndex",
            c.chain_time as "chainTime"
       from chain_blocks c join blocks b on b.id = c.block_id where ${condition}
         order by c.index desc limit 1`,
    values: [value],
  });
  return rows[0];
}

/** Returns the hashes of the top chain blocks, from the top downwards. */
export async function listTopHashes(client: ClientBase, count: number): Promise<Hash[]> {
  const { rows } = await client.query<{ hash: Buffer }>(
    'select b.hash from chain_blocks c join blocks b on b.id = c.block_id order by c.index desc limit $1',
    [count],
  );
  return rows.map(({ hash }) => hash);
}

export async function getBootstrap(client: ClientBase) {
  const { rows } = await client.query<{ chainIndex: number; blueScore: bigint; isGenesis: boolean }>(
    `select s.chain_index::float8 as "chainIndex", b.blue_score as "blueScore", s.utxo_count = 0 as "isGenesis"
       from bootstrap_blocks s join blocks b on b.id = s.block_id order by s.chain_index desc
         limit 1`,
  );
  if (rows[0] === undefined) throw new Error('this database has a checkpoint and no bootstrap block');
  return rows[0];
}

export async function loadPreBootstrapBlocks(client: ClientBase, memory: Memory): Promise<void> {
  const { rows } = await client.query<{ id: bigint; hash: Buffer }>('select id, hash from pre_bootstrap_blocks');
  for (const row of rows) memory.preBootstrapBlocks.set(toHex(row.hash), Number(row.id));
}

/**
 * The indexed chain from the checkpoint down. It must not be read while a batch is being applied.
 */
export interface OwnChain {
  depth(): Promise<number>;
  /** Returns the chain block at a depth below the checkpoint, which has depth 0. */
  find(depth: number): Promise<Position & { blueWork: bigint }>;
  top(count: number): Promise<Hash[]>;
}

export function readOwnChain(client: ClientBase, chainIndex: number): OwnChain {
  return {
    depth: async () => chainIndex - (await getBootstrap(client)).chainIndex - 1,
    find: async (depth) => {
      const { rows } = await client.query<{ hash: Buffer; blue_score: bigint; blue_work: string }>(
        `select b.hash, b.blue_score, b.blue_work
           from chain_blocks c join blocks b on b.id = c.block_id where c.index = $1`,
        [chainIndex - depth],
      );
      const [row] = rows;
      if (row === undefined) throw new Error(`there is no chain block ${chainIndex - depth} in this database`);
      return { hash: row.hash, blueScore: row.blue_score, blueWork: BigInt(row.blue_work) };
    },
    top: (count) => listTopHashes(client, count),
  };
}
