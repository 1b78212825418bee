/** getUtxosByAddresses: the UTXOs of addresses at the sink in one response, up to a limit; GET /v1/addresses/{address}/utxos has pages. */
import { addressToScript, toHex } from '@kasgres/kaspa';
import { sql } from 'kysely';
import { z } from 'zod';
import { badRequest } from '../../http/errors.ts';
import type { Db } from '../../index-state/sql.ts';
import { type Reading, requireCaughtUp } from '../../index-state/state.ts';
import { indexRoute } from '../../route.ts';
import { requireNetworkOfAll } from '../../schemas/address.ts';
import { outpoint } from '../../schemas/transaction.ts';
import { address, addressesInput, decimal, hash, hexBytes, sompi } from '../../schemas/values.ts';
import { toScriptPublicKey } from '../transactions/load-transactions.ts';

const MAX_UTXOS = 10_000;

const body = z.strictObject({ addresses: addressesInput });

const addressUtxo = z
  .object({
    address,
    outpoint,
    utxoEntry: z.object({
      amount: sompi,
      scriptPublicKey: hexBytes.meta({ description: 'Version as 4 hex digits, then the script in hex' }),
      blockDaaScore: decimal.meta({ description: 'DAA score of the accepting block' }),
      isCoinbase: z.boolean(),
      covenantId: hash.optional().meta({ description: 'Absent without a covenant' }),
    }),
  })
  .meta({ id: 'AddressUtxo' });

type AddressUtxoJson = z.infer<typeof addressUtxo>;

const utxos = z.object({
  entries: z.array(addressUtxo).meta({ description: 'By address in the given order, oldest UTXO first' }),
});

interface UtxoRow {
  address: string;
  transaction_id: string;
  index: number;
  amount: string;
  block_daa_score: string;
  is_coinbase: boolean;
  covenant_id: string | null;
}

/**
 * Reads any `limit` UTXOs and sorts only these. Covenants are subqueries, since a join might scan all outputs of a transaction for each of its
 * UTXOs.
 */
async function listUtxos(db: Db, addresses: readonly string[], limit: number): Promise<UtxoRow[]> {
  const scripts = addresses.map(addressToScript);
  const { rows } = await sql<UtxoRow>`
    with utxo as (
      select requested.address, requested.position, u.*
      from unnest(
        ${addresses}::text[], ${scripts.map(({ version }) => version)}::int[], ${scripts.map(({ script }) => script)}::bytea[]
      ) with ordinality as requested (address, version, script, position)
      join scripts s on s.script = requested.script and s.version = requested.version
      cross join lateral (select * from utxos where script_id = s.id limit ${limit}) u
      limit ${limit}
    )
    select utxo.address, encode(coalesce(t.transaction_id, e.transaction_id), 'hex') as transaction_id, utxo.index::int as index, utxo.amount::text as amount,
      utxo.block_daa_score::text as block_daa_score, utxo.is_coinbase,
      encode(coalesce(
        (select o.covenant_id from transaction_outputs o where o.transaction_id = utxo.transaction_id and o.index = utxo.index),
        (select o.covenant_id from start_utxos o where o.transaction_id = utxo.transaction_id and o.index = utxo.index)
      ), 'hex') as covenant_id
    from utxo
    left join transactions t on t.id = utxo.transaction_id
    left join earlier_transactions e on e.id = utxo.transaction_id
    order by utxo.position, utxo.transaction_id, utxo.index`.execute(db);
  return rows;
}

function toAddressUtxo(row: UtxoRow, scriptPublicKey: string): AddressUtxoJson {
  return {
    address: row.address,
    outpoint: { transactionId: row.transaction_id, index: row.index },
    utxoEntry: {
      amount: row.amount,
      scriptPublicKey,
      blockDaaScore: row.block_daa_score,
      isCoinbase: row.is_coinbase,
      ...(row.covenant_id !== null && { covenantId: row.covenant_id }),
    },
  };
}

async function readUtxos(
  { db, state, slices }: Reading,
  request: z.infer<typeof body>,
): Promise<z.infer<typeof utxos>> {
  requireNetworkOfAll(state.network, request.addresses);
  requireCaughtUp(state);
  const rows = await listUtxos(db, [...new Set(request.addresses)], MAX_UTXOS + 1);
  if (rows.length > MAX_UTXOS) throw tooMany();
  const scripts = new Map<string, string>();
  const scriptOf = (address: string): string => {
    const known = scripts.get(address);
    if (known !== undefined) return known;
    const { version, script } = addressToScript(address);
    const text = toScriptPublicKey(version, toHex(script));
    scripts.set(address, text);
    return text;
  };
  return { entries: await slices.map(rows, (row) => toAddressUtxo(row, scriptOf(row.address))) };
}

const tooMany = () =>
  badRequest({
    path: 'addresses',
    message: `have more than ${MAX_UTXOS} UTXOs in total: use the pages of GET /v1/addresses/{address}/utxos`,
  });

export const getUtxosByAddresses = indexRoute(
  {
    method: 'POST',
    url: '/v1/rpc/getUtxosByAddresses',
    operationId: 'getUtxosByAddresses',
    summary: 'UTXOs of up to 1,000 addresses at the sink',
    description: `Addresses with more than ${MAX_UTXOS} UTXOs in total are a 400: use the pages of listAddressUtxos.`,
    tag: 'Node RPC Proxy',
    cost: 0.1,
    costsByItemsOf: ['addresses'],
    body,
    response: utxos,
  },
  (reading, { body }) => readUtxos(reading, body),
);
