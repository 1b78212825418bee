/** The latest start and its UTXO set, rebuilt from stored rows alone, page by page: what invariant 8 hashes. */
import type { Hash, Utxo } from '@kasgres/kaspa';
import type { Queryable } from './queryable.ts';

interface StoredStart {
  hash: Hash;
  /** MuHash of the set, as the header says. */
  utxoCommitment: Hash;
  utxoCount: bigint;
}

interface UtxoRow {
  key: bigint;
  transaction_id: Buffer;
  index: bigint;
  amount: bigint;
  script_version: number;
  script: Buffer;
  block_daa_score: bigint;
  is_coinbase: boolean;
  covenant_id: Buffer | null;
}

const PAGE = 5_000;

export async function findStart(db: Queryable): Promise<StoredStart | undefined> {
  const { rows } = await db.query<{ hash: Buffer; utxo_commitment: Buffer; utxo_count: bigint }>(
    `select b.hash, b.utxo_commitment, s.utxo_count
     from starts s join blocks b on b.id = s.block_id order by s.chain_index desc limit 1`,
  );
  const [row] = rows;
  return row && { hash: row.hash, utxoCommitment: row.utxo_commitment, utxoCount: row.utxo_count };
}

/** Missing transactions and scripts are empty: another hash comes from them. */
const SELECT_UTXOS = `
  select u.transaction_id as key, coalesce(t.transaction_id, earlier.transaction_id, '') as transaction_id, u.index, u.amount,
    coalesce(s.version, 0) as script_version, coalesce(s.script, '') as script, u.block_daa_score, u.is_coinbase, u.covenant_id
  from start_utxos u
  left join transactions t on t.id = u.transaction_id
  left join earlier_transactions earlier on earlier.id = u.transaction_id
  left join scripts s on s.id = u.script_id
  where (u.transaction_id, u.index) > ($1, $2)
  order by u.transaction_id, u.index limit ${PAGE}`;

export async function* storedStartUtxos(db: Queryable): AsyncGenerator<Utxo> {
  let [key, index] = [-1n, -1n];
  for (;;) {
    const { rows } = await db.query<UtxoRow>(SELECT_UTXOS, [key, index]);
    for (const row of rows) yield toUtxo(row);
    const last = rows.at(-1);
    if (last === undefined) return;
    ({ key, index } = last);
  }
}

function toUtxo(row: UtxoRow): Utxo {
  return {
    outpoint: { transactionId: row.transaction_id, index: Number(row.index) },
    amount: row.amount,
    scriptPublicKey: { version: row.script_version, script: row.script },
    blockDaaScore: row.block_daa_score,
    isCoinbase: row.is_coinbase,
    covenantId: row.covenant_id ?? undefined,
  };
}
