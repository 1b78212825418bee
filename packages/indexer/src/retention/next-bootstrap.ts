/**
 * The UTXO set of the block at which the chain is cut next, as the difference from that of the
 * latest bootstrap block: computed chain block by chain block in small transactions, so that it
 * resumes after a restart and holds nothing up. Its MuHash is computed along with it, and must be
 * what the header of that block commits to.
 */
import { inTransaction } from '@kasgres/database';
import { type Hash, MuHash, toHex, type Utxo } from '@kasgres/kaspa';
import { FatalError } from '@kasgres/runtime';
import { WorkerPool } from '@kasgres/runtime/worker-pool';
import type { ClientBase } from 'pg';
import type { CutPoint } from './cut-point.ts';
import type { UtxoChanges } from './utxo-changes.worker.ts';

/** A bound for one database transaction: hashing the UTXOs of as many takes a second. */
const TRANSACTIONS_AT_ONCE = 5_000;
const CHAIN_BLOCKS_AT_ONCE = 1_000;
const UTXOS_AT_ONCE = 20_000;

interface Position {
  /** Index of the bootstrap block whose set the difference is from. */
  bootstrapIndex: number;
  /** The last chain block whose accepted transactions are in the difference. */
  chainIndex: number;
  /** The last UTXO of `bootstrap_utxos` in the hash; undefined if it has all. */
  hashed: { transaction: bigint; index: number } | undefined;
  muhash: MuHash;
}

interface UtxoRow {
  transaction_id: Buffer;
  index: number;
  amount: bigint;
  version: number;
  script: Buffer;
  block_daa_score: bigint;
  is_coinbase: boolean;
  covenant_id: Buffer | null;
}

/** Selects what the hash of UTXOs `u` covers. */
const CONTENT = `
  coalesce(t.transaction_id, e.transaction_id) as transaction_id, u.index, u.amount, s.version, s.script, u.block_daa_score, u.is_coinbase,
  u.covenant_id`;
const SOURCES = `
  left join transactions t on t.id = u.transaction_id
  left join pre_bootstrap_transactions e on e.id = u.transaction_id
  join scripts s on s.id = u.script_id`;

/**
 * Computes the difference up to the cut. Idempotent.
 * @throws FatalError if the set is not the one that the header commits to
 */
export async function stageNextBootstrap(
  client: ClientBase,
  cut: CutPoint,
  { signal, onProgress }: { signal: AbortSignal; onProgress: (chainIndex: number) => void },
): Promise<void> {
  const hasher = new WorkerPool<UtxoChanges, bigint>(new URL('./utxo-changes.worker.ts', import.meta.url), 1);
  try {
    let position = await readPosition(client, cut);
    while (position.hashed !== undefined || position.chainIndex < cut.chainIndex) {
      signal.throwIfAborted();
      const from = position;
      position = await inTransaction(client, () =>
        from.hashed === undefined ? stageAcceptance(client, from, cut, hasher) : hashStart(client, from, hasher),
      );
      onProgress(position.chainIndex);
    }
    checkCommitment(position.muhash.commitment(), cut);
  } finally {
    await hasher.close();
  }
}

/**
 * The hash of the set, from which the next difference continues. Must run in the transaction that
 * makes the cut.
 */
export async function restartFrom(client: ClientBase, { chainIndex }: CutPoint): Promise<void> {
  await client.query('update next_bootstrap set bootstrap_index = $1', [chainIndex]);
  // Deleting their rows would take long.
  await client.query('truncate next_bootstrap_created, next_bootstrap_spent');
}

function checkCommitment(commitment: Hash, { hash, utxoCommitment }: CutPoint): void {
  if (Buffer.compare(commitment, utxoCommitment) === 0) return;
  throw new FatalError(
    `The UTXO set at ${toHex(hash)}, where RETENTION cuts the chain, is not the one that its header commits to. Nothing was removed. ` +
      'Run `kasgres verify`, which says what is wrong, or unset RETENTION to keep everything.',
  );
}

async function readPosition(client: ClientBase, { bootstrapIndex }: CutPoint): Promise<Position> {
  const { rows } = await client.query<{
    bootstrapIndex: number;
    chainIndex: number;
    transaction: bigint | null;
    index: number | null;
    product: Buffer;
  }>(
    `select bootstrap_index::float8 as "bootstrapIndex", chain_index::float8 as "chainIndex",
            hashed_transaction_id as transaction, hashed_index as index, product
       from next_bootstrap`,
  );
  const [row] = rows;
  if (row?.bootstrapIndex === bootstrapIndex) {
    const { transaction, index, chainIndex, product } = row;
    const hashed = transaction === null || index === null ? undefined : { transaction, index };
    return { bootstrapIndex, chainIndex, hashed, muhash: new MuHash(BigInt(`0x${product.toString('hex')}`)) };
  }
  await client.query('truncate next_bootstrap, next_bootstrap_created, next_bootstrap_spent');
  return { bootstrapIndex, chainIndex: bootstrapIndex, hashed: { transaction: -1n, index: -1 }, muhash: new MuHash() };
}

/** Hashes some more UTXOs of the latest bootstrap block. Only the first cut needs this. */
async function hashStart(
  client: ClientBase,
  { bootstrapIndex, chainIndex, hashed, muhash }: Position,
  hasher: WorkerPool<UtxoChanges, bigint>,
): Promise<Position> {
  const { rows } = await client.query<UtxoRow & { key: bigint }>(
    `select u.transaction_id as key, ${CONTENT}
       from (select * from bootstrap_utxos where (transaction_id, index) > ($1, $2)
         order by transaction_id, index limit $3) u ${SOURCES}
      order by u.transaction_id, u.index`,
    [hashed?.transaction, hashed?.index, UTXOS_AT_ONCE],
  );
  muhash.combine(new MuHash(await hasher.run({ added: rows.map(toUtxo), removed: [] })));
  const last = rows.length < UTXOS_AT_ONCE ? undefined : rows.at(-1);
  const position = {
    bootstrapIndex,
    chainIndex,
    hashed: last && { transaction: last.key, index: last.index },
    muhash,
  };
  await writePosition(client, position);
  return position;
}

/** Adds what the next chain blocks accept. */
async function stageAcceptance(
  client: ClientBase,
  { bootstrapIndex, chainIndex, muhash }: Position,
  cut: CutPoint,
  hasher: WorkerPool<UtxoChanges, bigint>,
): Promise<Position> {
  const { rows } = await client.query<{ until: number }>(
    `select coalesce(max(index) filter (where sum <= $3), min(index))::float8 as until
       from (select index, sum(cardinality(accepted_transactions)) over (order by index)
               from chain_blocks where index > $1 and index <= $2 order by index
                 limit ${CHAIN_BLOCKS_AT_ONCE}) chain`,
    [chainIndex, cut.chainIndex, TRANSACTIONS_AT_ONCE],
  );
  const until = rows[0]?.until ?? cut.chainIndex;
  await client.query('create temporary table accepted (id bigint primary key, daa_score bigint) on commit drop');
  await client.query(
    `insert into accepted select unnest(accepted_transactions), daa_score from chain_blocks
      where index > $1 and index <= $2`,
    [chainIndex, until],
  );
  await client.query(
    `insert into next_bootstrap_created (transaction_id, script_id, amount, block_daa_score, index,
      is_coinbase, covenant_id)
     select o.transaction_id, o.script_id, o.amount, a.daa_score, o.index,
       t.subnetwork_id = 1, o.covenant_id
       from accepted a join transactions t on t.id = a.id
         join transaction_outputs o on o.transaction_id = a.id`,
  );
  const removed = await client.query<UtxoRow>(
    `with spent as (
       select i.previous_transaction_id as transaction_id, i.previous_index::integer as index
         from accepted a join transaction_inputs i on i.transaction_id = a.id),
     taken as (
       delete from next_bootstrap_created c using spent
        where c.transaction_id = spent.transaction_id and c.index = spent.index
       returning c.*),
     of_bootstrap as (
       select u.* from spent join bootstrap_utxos u using (transaction_id, index)
        where not exists (select from taken
          where taken.transaction_id = u.transaction_id and taken.index = u.index)),
     kept as (insert into next_bootstrap_spent (transaction_id, index,
       amount) select transaction_id, index, amount from of_bootstrap)
     select ${CONTENT}
       from (select transaction_id, index, script_id, amount, block_daa_score, is_coinbase,
         covenant_id from taken
              where transaction_id not in (select id from accepted)
             union all
             select transaction_id, index, script_id, amount, block_daa_score, is_coinbase,
               covenant_id from of_bootstrap) u ${SOURCES}`,
  );
  const added = await client.query<UtxoRow>(
    `select ${CONTENT} from accepted join next_bootstrap_created u on u.transaction_id = accepted.id ${SOURCES}`,
  );
  const product = await hasher.run({ added: added.rows.map(toUtxo), removed: removed.rows.map(toUtxo) });
  muhash.combine(new MuHash(product));
  const position = { bootstrapIndex, chainIndex: until, hashed: undefined, muhash };
  await writePosition(client, position);
  return position;
}

async function writePosition(
  client: ClientBase,
  { bootstrapIndex, chainIndex, hashed, muhash }: Position,
): Promise<void> {
  const digits = muhash.product.toString(16);
  await client.query(
    `insert into next_bootstrap (bootstrap_index, chain_index, hashed_transaction_id, hashed_index,
      product) values ($1, $2, $3, $4, $5)
     on conflict (one_row) do update set
       bootstrap_index = excluded.bootstrap_index, chain_index = excluded.chain_index,
       hashed_transaction_id = excluded.hashed_transaction_id, hashed_index = excluded.hashed_index,
       product = excluded.product`,
    [
      bootstrapIndex,
      chainIndex,
      hashed?.transaction ?? null,
      hashed?.index ?? null,
      Buffer.from(digits.padStart(digits.length + (digits.length % 2), '0'), 'hex'),
    ],
  );
}

function toUtxo(row: UtxoRow): Utxo {
  return {
    outpoint: { transactionId: row.transaction_id, index: row.index },
    amount: row.amount,
    scriptPublicKey: { version: row.version, script: row.script },
    blockDaaScore: row.block_daa_score,
    isCoinbase: row.is_coinbase,
    covenantId: row.covenant_id ?? undefined,
  };
}
