/** Inserts chain blocks without transactions, for tests of what follows from the chain alone. */
import type { PoolClient } from 'pg';

interface PerBlock {
  blueScore?: number;
  milliseconds?: number;
}

/**
 * The chain begins at index 0, and the keys of blocks are their indexes. Returns their hashes, from
 * the bottom of the chain to its top.
 */
export async function insertChain(
  client: PoolClient,
  length: number,
  { blueScore = 1, milliseconds = 0 }: PerBlock = {},
): Promise<Buffer[]> {
  await client.query(
    `insert into blocks (id, timestamp, bits, daa_score, blue_score, version, transaction_count,
       is_chain_block, nonce, blue_work, hash, hash_merkle_root, accepted_id_merkle_root,
       utxo_commitment, pruning_point, parents_by_level, merge_set_blues, merge_set_reds)
     select i, 0, 0, i, i * $2, 1, 1, true, 0, 0, hash, hash, hash, hash, hash, '', '{}', '{}'
       from generate_series(0, $1::integer - 1) i, sha256(int4send(i)) hash`,
    [length, blueScore],
  );
  await client.query(
    `insert into chain_blocks (index, block_id, blue_score, daa_score, timestamp, chain_time,
       highest_transaction, lowest_transaction, hash, accepted_transactions)
     select id, id, blue_score, daa_score, 0, id * $1, 0, 0, hash, '{}' from blocks`,
    [milliseconds],
  );
  const { rows } = await client.query<{ hash: Buffer }>('select hash from chain_blocks order by index');
  return rows.map(({ hash }) => hash);
}
