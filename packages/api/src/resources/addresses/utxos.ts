/** UTXOs at the sink: those of one address in pages, and those of several addresses at once, up to a limit. */
import { addressToScript, fromHex, toHex } from '@kasgres/kaspa';
import { sql } from 'kysely';
import { z } from 'zod';
import { badRequest } from '../../http/errors.ts';
import type { Db } from '../../index-state/sql.ts';
import { requireCaughtUp } from '../../index-state/state.ts';
import { pageQuery } from '../../pages/page-query.ts';
import { directionOf, readPage, type Slice } from '../../pages/read-page.ts';
import { indexRoute } from '../../route.ts';
import { findScriptOfRequest, requireNetworkOfAll } from '../../schemas/address.ts';
import { outpoint } from '../../schemas/transaction.ts';
import { address, addressesInput, addressInput, count, decimal, hash, hexBytes, sompi } from '../../schemas/values.ts';
import { listing, page, rpc } from '../shared.ts';
import { toScriptPublicKey } from '../transactions/load-transactions.ts';
import { tableOfAddresses } from './balances.ts';

/** Ten digits may exceed an unsigned 32-bit index; such outpoints are unknown. */
const outpointInput = z
  .string()
  .regex(/^(?:0x)?[0-9a-fA-F]{64}:\d{1,10}$/, 'must be a transaction id, a colon and an index')
  .transform((text) => {
    const [id = '', index = ''] = text.split(':');
    return { transactionId: fromHex(id.slice(-64)), index: BigInt(index) };
  })
  .meta({ description: 'A transaction id (64 hex digits, with or without `0x`), a colon and the index of the output' });

const blockDaaScore = decimal.meta({ description: 'DAA score of the accepting block' });

const restUtxo = z
  .object({
    transactionId: hash,
    index: count,
    amount: sompi,
    blockDaaScore,
    isCoinbase: z.boolean(),
    scriptPublicKey: hexBytes.meta({ description: 'Script in hex, without its version' }),
  })
  .meta({ id: 'RestUtxo' });

type UtxoRow = Omit<z.infer<typeof restUtxo>, 'scriptPublicKey'>;

interface Position {
  transaction_id: bigint;
  index: bigint;
}

/** Finds any output that pays the script, spent or not, accepted or not: indexed, in the bootstrap UTXO set, or pre-bootstrap and spent later. */
async function findPosition(
  db: Db,
  scriptId: bigint | null,
  { transactionId, index }: z.output<typeof outpointInput>,
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

/**
 * Reads a range of the index utxos_script_id. With an equality of the script, other indexes would have this order, and Postgres would scan them for
 * an address with a large share of all UTXOs.
 */
async function listUtxos(db: Db, scriptId: bigint | null, slice: Slice<Position>) {
  const { from, isBackward, limit } = slice;
  const { behind, order } = directionOf(slice, 'desc');
  const start = from
    ? sql`(script_id, transaction_id, index) ${behind} (${scriptId}, ${from.transaction_id}, ${from.index})`
    : sql`script_id <= ${scriptId}`;
  const { rows } = await sql<UtxoRow>`
    select encode(coalesce(t.transaction_id, e.transaction_id), 'hex') as "transactionId", u.index::float8 as index,
      u.amount::text as amount, u.block_daa_score::text as "blockDaaScore", u.is_coinbase as "isCoinbase"
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

export const listAddressUtxos = indexRoute(
  {
    ...listing('Address', '/v1/addresses/:address/utxos', 'listAddressUtxos'),
    summary: 'UTXOs of an address at the sink, newest transaction first',
    params: z.strictObject({ address: addressInput }),
    query: pageQuery(outpointInput, {}),
    response: page({ utxos: z.array(restUtxo).meta({ description: 'Newest transaction first' }) }),
  },
  async (reading, { params: { address }, query }) => {
    const { db } = reading;
    // A null script matches no row.
    const scriptId = (await findScriptOfRequest(reading, address)) ?? null;
    const { rows, metadata } = await readPage(query, {
      findPosition: (cursor) => findPosition(db, scriptId, cursor),
      list: (slice) => listUtxos(db, scriptId, slice),
    });
    const scriptPublicKey = toHex(addressToScript(address).script);
    return { utxos: rows.map((row) => ({ ...row, scriptPublicKey })), metadata };
  },
);

const MAX_UTXOS = 10_000;

const addressUtxo = z
  .object({
    address,
    outpoint,
    utxoEntry: z.object({
      amount: sompi,
      scriptPublicKey: hexBytes.meta({ description: 'Version as 4 hex digits, then the script in hex' }),
      blockDaaScore,
      isCoinbase: z.boolean(),
      covenantId: hash.optional().meta({ description: 'Absent without a covenant' }),
    }),
  })
  .meta({ id: 'AddressUtxo' });

type UtxoOfAddress = UtxoRow & { address: string; covenantId: string | null };

/** Reads any `limit` UTXOs and sorts only these. Covenants are subqueries, since a join might scan all outputs of a transaction for each UTXO. */
async function listUtxosOfAll(db: Db, addresses: readonly string[], limit: number): Promise<UtxoOfAddress[]> {
  const { rows } = await sql<UtxoOfAddress>`
    with utxo as (
      select requested.address, requested.position, u.*
      from ${tableOfAddresses(addresses)}
      join scripts s on s.script = requested.script and s.version = requested.version
      cross join lateral (select * from utxos where script_id = s.id limit ${limit}) u
      limit ${limit}
    )
    select utxo.address, encode(coalesce(t.transaction_id, e.transaction_id), 'hex') as "transactionId", utxo.index::int as index,
      utxo.amount::text as amount, utxo.block_daa_score::text as "blockDaaScore", utxo.is_coinbase as "isCoinbase",
      encode(coalesce(
        (select o.covenant_id from transaction_outputs o where o.transaction_id = utxo.transaction_id and o.index = utxo.index),
        (select o.covenant_id from start_utxos o where o.transaction_id = utxo.transaction_id and o.index = utxo.index)
      ), 'hex') as "covenantId"
    from utxo
    left join transactions t on t.id = utxo.transaction_id
    left join earlier_transactions e on e.id = utxo.transaction_id
    order by utxo.position, utxo.transaction_id, utxo.index`.execute(db);
  return rows;
}

export const getUtxosByAddresses = indexRoute(
  {
    ...rpc('POST', 'getUtxosByAddresses'),
    summary: 'UTXOs of up to 1,000 addresses at the sink',
    description: `Addresses with more than ${MAX_UTXOS} UTXOs in total are a 400: use the pages of listAddressUtxos.`,
    costsByItemsOf: ['addresses'],
    body: z.strictObject({ addresses: addressesInput }),
    response: z.object({
      entries: z.array(addressUtxo).meta({ description: 'By address in the given order, oldest UTXO first' }),
    }),
  },
  async ({ db, state, slices }, { body }) => {
    requireNetworkOfAll(state.network, body.addresses);
    requireCaughtUp(state);
    const addresses = [...new Set(body.addresses)];
    const rows = await listUtxosOfAll(db, addresses, MAX_UTXOS + 1);
    if (rows.length > MAX_UTXOS) {
      throw badRequest({
        path: 'addresses',
        message: `have more than ${MAX_UTXOS} UTXOs in total: use the pages of GET /v1/addresses/{address}/utxos`,
      });
    }
    const scripts = new Map<string, string>();
    for (const address of addresses) {
      const { version, script } = addressToScript(address);
      scripts.set(address, toScriptPublicKey(version, toHex(script)));
    }
    const entries = await slices.map(rows, ({ address, transactionId, index, amount, ...utxo }) => ({
      address,
      outpoint: { transactionId, index },
      utxoEntry: {
        amount,
        scriptPublicKey: scripts.get(address) ?? '',
        blockDaaScore: utxo.blockDaaScore,
        isCoinbase: utxo.isCoinbase,
        ...(utxo.covenantId !== null && { covenantId: utxo.covenantId }),
      },
    }));
    return { entries };
  },
);
