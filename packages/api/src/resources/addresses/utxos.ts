/** GET /v1/addresses/{address}/utxos: the UTXOs of an address, newest transaction first. */
import { addressToScript, fromHex, toHex } from '@kasgres/kaspa';
import { sql } from 'kysely';
import { z } from 'zod';
import type { Db } from '../../index-state/sql.ts';
import type { Reading } from '../../index-state/state.ts';
import { pageMetadata, pageQuery } from '../../pages/page-query.ts';
import { directionOf, readPage, type Slice } from '../../pages/read-page.ts';
import { indexRoute } from '../../route.ts';
import { findScriptOfRequest } from '../../schemas/address.ts';
import { addressInput, count, decimal, hash, hexBytes, sompi } from '../../schemas/values.ts';

interface Outpoint {
  transactionId: Uint8Array;
  index: bigint;
}

/** Ten digits may exceed an unsigned 32-bit index; such outpoints are unknown. */
const outpointInput = z
  .string()
  .regex(/^(?:0x)?[0-9a-fA-F]{64}:\d{1,10}$/, 'must be a transaction id, a colon and an index')
  .transform((text): Outpoint => {
    const [id = '', index = ''] = text.split(':');
    return { transactionId: fromHex(id.slice(-64)), index: BigInt(index) };
  })
  .meta({ description: 'A transaction id (64 hex digits, with or without `0x`), a colon and the index of the output' });

const query = pageQuery(outpointInput, {});

const restUtxo = z
  .object({
    transactionId: hash,
    index: count,
    amount: sompi,
    blockDaaScore: decimal.meta({ description: 'DAA score of the accepting block' }),
    isCoinbase: z.boolean(),
    scriptPublicKey: hexBytes.meta({ description: 'Script in hex, without its version' }),
  })
  .meta({ id: 'RestUtxo' });

type RestUtxoJson = z.infer<typeof restUtxo>;

const page = z.object({
  utxos: z.array(restUtxo).meta({ description: 'Newest transaction first' }),
  metadata: pageMetadata,
});

interface Position {
  transaction_id: bigint;
  index: bigint;
}

/**
 * Finds any output that pays the script, spent or not, accepted or not: indexed outputs, UTXOs of the latest bootstrap block, and other
 * pre-bootstrap UTXOs that an indexed transaction spends.
 */
async function findPosition(
  db: Db,
  scriptId: bigint,
  { transactionId, index }: Outpoint,
): Promise<Position | undefined> {
  const { rows } = await sql<Position>`
    select o.transaction_id, o.index::bigint
    from transactions t join transaction_outputs o on o.transaction_id = t.id
    where t.transaction_id = ${transactionId} and o.index = ${index}::bigint and o.script_id = ${scriptId}
    union
    select o.transaction_id, o.index
    from earlier_transactions t join start_utxos o on o.transaction_id = t.id
    where t.transaction_id = ${transactionId} and o.index = ${index}::bigint and o.script_id = ${scriptId}
    union
    select i.previous_transaction_id, i.previous_index
    from earlier_transactions t join transaction_inputs i on i.previous_transaction_id = t.id
    where t.transaction_id = ${transactionId} and i.previous_index = ${index}::bigint and i.script_id = ${scriptId}
    limit 1`.execute(db);
  return rows[0];
}

interface UtxoRow {
  transaction_id: string;
  index: bigint;
  amount: string;
  block_daa_score: string;
  is_coinbase: boolean;
}

/**
 * Reads a range of the index utxos_script_id. The script is a range, not an equality, so that no other index has this order: for an address with a
 * large share of all UTXOs, Postgres would otherwise scan the primary key, or join with all transactions in their order.
 */
async function listUtxos(db: Db, scriptId: bigint, slice: Slice<Position>): Promise<UtxoRow[]> {
  const { from, isBackward, limit } = slice;
  const { behind, order } = directionOf(slice, 'desc');
  const start = from
    ? sql`(script_id, transaction_id, index) ${behind} (${scriptId}, ${from.transaction_id}, ${from.index})`
    : sql`script_id <= ${scriptId}`;
  const { rows } = await sql<UtxoRow>`
    select encode(coalesce(t.transaction_id, e.transaction_id), 'hex') as transaction_id, u.index, u.amount::text as amount,
      u.block_daa_score::text as block_daa_score, u.is_coinbase
    from (
      select * from utxos
      where ${start} and script_id ${isBackward ? sql`<=` : sql`>=`} ${scriptId}
      order by script_id ${order}, transaction_id ${order}, index ${order}
      limit ${limit}
    ) u
    left join transactions t on t.id = u.transaction_id
    left join earlier_transactions e on e.id = u.transaction_id
    order by u.transaction_id ${order}, u.index ${order}`.execute(db);
  return rows;
}

function toRestUtxo(row: UtxoRow, script: string): RestUtxoJson {
  return {
    transactionId: row.transaction_id,
    index: Number(row.index),
    amount: row.amount,
    blockDaaScore: row.block_daa_score,
    isCoinbase: row.is_coinbase,
    scriptPublicKey: script,
  };
}

async function getPage(
  reading: Reading,
  address: string,
  request: z.infer<typeof query>,
): Promise<z.infer<typeof page>> {
  const { db } = reading;
  const scriptId = await findScriptOfRequest(reading, address);
  const { rows, metadata } = await readPage(request, {
    findPosition: async (cursor) => (scriptId === undefined ? undefined : await findPosition(db, scriptId, cursor)),
    list: async (slice) => (scriptId === undefined ? [] : await listUtxos(db, scriptId, slice)),
  });
  const script = toHex(addressToScript(address).script);
  return { utxos: rows.map((row) => toRestUtxo(row, script)), metadata };
}

export const listAddressUtxos = indexRoute(
  {
    method: 'GET',
    url: '/v1/addresses/:address/utxos',
    operationId: 'listAddressUtxos',
    summary: 'UTXOs of an address at the sink, newest transaction first',
    tag: 'Address',
    cost: 0.5,
    params: z.strictObject({ address: addressInput }),
    query,
    response: page,
    errors: [404],
  },
  (reading, { params, query }) => getPage(reading, params.address, query),
);
