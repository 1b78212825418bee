/**
 * Computes inscriptions from rows: all at the end of the first catch-up, and a range at a time when
 * a later version has other decoders. Operations are decoded here, from a bounded number of rows at
 * a time.
 */
import { inTransaction, LIMIT_IDLE_TIME } from '@kasgres/database';
import { DECODERS_VERSION } from '@kasgres/programs';
import type { ClientBase } from 'pg';
import type { CandidateTransactions } from '../first-catch-up/candidate-transactions.ts';
import type { KeySet } from '../first-catch-up/key-set.ts';
import type { Inscribed } from './inscribed.ts';
import { findRangeEnd, type Range, ranges, readRange, readTransactions } from './read.ts';
import { deleteUnusedKinds, writeInscriptions } from './write.ts';

/** Each has 500 kB at most. */
const TRANSACTIONS_AT_ONCE = 200;

/** @param candidates of the first catch-up; all transactions by default */
export async function rebuildInscriptions(client: ClientBase, candidates?: CandidateTransactions): Promise<void> {
  for await (const inscribed of candidates === undefined ? ofAll(client) : ofKeys(client, candidates.stating)) {
    await writeInscriptions(client, inscribed);
  }
  await client.query(
    'insert into protocol_hours (hour, protocol, transactions, fees) select * from count_protocol_hours()',
  );
  await client.query(
    `insert into inscription_decoders (version) values ($1)
     on conflict (one_row) do update set version = excluded.version, transaction_id = null`,
    [DECODERS_VERSION],
  );
}

async function* ofKeys(client: ClientBase, keys: KeySet): AsyncGenerator<Inscribed[]> {
  for (const page of keys.pages(TRANSACTIONS_AT_ONCE)) yield await readTransactions(client, page);
}

async function* ofAll(client: ClientBase): AsyncGenerator<Inscribed[]> {
  for await (const range of ranges(client)) yield await readRange(client, range);
}

/** Key of the advisory lock: "kasgresd" in ASCII. */
const LOCK_KEY = 0x6b61736772657364n;

/**
 * Keeps `backfillInscriptions` out until the transaction ends, which removes transactions: it would
 * wait for their inscriptions with the checkpoint locked, or decode them again.
 */
export async function holdBackfill(client: ClientBase): Promise<void> {
  await client.query('select pg_advisory_xact_lock($1)', [LOCK_KEY]);
}

/**
 * Decodes the next transactions again if the rows are of other decoders than this version has, in
 * one transaction that locks the checkpoint. Rows of batches, which come meanwhile, are of this
 * version. @returns whether there is more to do
 */
export async function backfillInscriptions(client: ClientBase): Promise<boolean> {
  return await inTransaction(client, async () => {
    await client.query(LIMIT_IDLE_TIME);
    const checkpoint = await client.query<{ first_catch_up: boolean }>(
      'select first_catch_up from checkpoint for update',
    );
    // The end of the first catch-up writes all rows.
    if (checkpoint.rows[0]?.first_catch_up !== false) return false;
    const { rows } = await client.query<{ version: number; after: number | null }>(
      'select version, transaction_id::float8 as after from inscription_decoders',
    );
    if (rows[0]?.version === DECODERS_VERSION) return false;
    const lock = await client.query<{ taken: boolean }>('select pg_try_advisory_xact_lock($1) as taken', [LOCK_KEY]);
    if (lock.rows[0]?.taken !== true) return false;
    const after = rows[0]?.after ?? -1;
    const end = await findRangeEnd(client, after);
    if (end !== undefined) await decodeAgain(client, { after, last: end });
    await client.query(
      `insert into inscription_decoders (version, transaction_id) values ($1, $2)
       on conflict (one_row) do update
         set version = excluded.version, transaction_id = excluded.transaction_id`,
      end === undefined ? [DECODERS_VERSION, null] : [rows[0]?.version ?? 0, end],
    );
    return end !== undefined;
  });
}

const COUNTED = `
  select distinct c.chain_time / 3600000 as hour, k.protocol, t.id, t.fee
    from inscriptions i
    join inscription_kinds k on k.id = i.kind_id
    join transactions t on t.id = i.transaction_id
    join chain_blocks c on c.index = t.accepting_index
   where i.transaction_id > $1 and i.transaction_id <= $2`;

async function decodeAgain(client: ClientBase, { after, last }: Range): Promise<void> {
  const range = [after, last];
  const inscribed = await readRange(client, { after, last });
  await client.query(
    `insert into protocol_hours (hour, protocol, transactions, fees)
     select hour, protocol, -count(*), -sum(fee) from (${COUNTED}) before group by hour, protocol
       order by hour, protocol
     on conflict (hour, protocol) do update set
       transactions = protocol_hours.transactions + excluded.transactions,
         fees = protocol_hours.fees + excluded.fees`,
    range,
  );
  const deleted = await client.query<{ kind_id: bigint }>(
    'delete from inscriptions where transaction_id > $1 and transaction_id <= $2 returning kind_id',
    range,
  );
  await writeInscriptions(client, inscribed);
  await deleteUnusedKinds(client, new Set(deleted.rows.map(({ kind_id }) => kind_id)));
  await client.query(
    `insert into protocol_hours (hour, protocol, transactions, fees)
     select hour, protocol, count(*), sum(fee) from (${COUNTED}) now group by hour, protocol
       order by hour, protocol
     on conflict (hour, protocol) do update set
       transactions = protocol_hours.transactions + excluded.transactions,
         fees = protocol_hours.fees + excluded.fees`,
    range,
  );
  await client.query('delete from protocol_hours where transactions = 0');
}
