/**
 * getUtxosByAddresses: the UTXOs of some addresses at the sink, all in one answer, which is why there may not be too many of them:
 * GET /v1/addresses/{address}/utxos has pages.
 */
import type { Database } from '@kasgres/database';
import { addressToScript, toHex } from '@kasgres/kaspa';
import { type Kysely, sql } from 'kysely';
import { z } from 'zod';
import { badRequest } from '../../http/errors.ts';
import { respondFromIndex } from '../../index-state/answer.ts';
import { type Reading, requireCaughtUp } from '../../index-state/state.ts';
import { requireNetworkOfAll } from '../../schemas/address.ts';
import { answers, UNDER_KEY, WITH_BODY } from '../../schemas/responses.ts';
import { outpoint } from '../../schemas/transaction.ts';
import { address, addressesInput, decimal, hash, hexBytes, sompi } from '../../schemas/values.ts';
import type { ApiPlugin } from '../../services.ts';
import { toScriptPublicKey } from '../transactions/to-transaction.ts';

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
      covenantId: hash.optional().meta({ description: 'Left out without a covenant' }),
    }),
  })
  .meta({ id: 'AddressUtxo' });

type AddressUtxoJson = z.infer<typeof addressUtxo>;

const utxos = z.object({
  entries: z.array(addressUtxo).meta({ description: 'By address in the order asked, the oldest UTXOs first' }),
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
 * At most `limit`, whichever are met first: nothing beyond it is read, and only these are sorted. Covenants are subqueries, since a
 * join might look through all outputs of a transaction for each of its coins.
 */
async function listUtxos(db: Kysely<Database>, addresses: readonly string[], limit: number): Promise<UtxoRow[]> {
  const scripts = addresses.map(addressToScript);
  const { rows } = await sql<UtxoRow>`
    with utxo as (
      select asked.address, asked.place, u.*
      from unnest(
        ${addresses}::text[], ${scripts.map(({ version }) => version)}::int[], ${scripts.map(({ script }) => script)}::bytea[]
      ) with ordinality as asked (address, version, script, place)
      join scripts s on s.script = asked.script and s.version = asked.version
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
    order by utxo.place, utxo.transaction_id, utxo.index`.execute(db);
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

async function getUtxos({ db, state, slices }: Reading, request: z.infer<typeof body>): Promise<z.infer<typeof utxos>> {
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
    message: `hold more than ${MAX_UTXOS} UTXOs: ask for pages of each with GET /v1/addresses/{address}/utxos`,
  });

export const rpcUtxosRoutes: ApiPlugin = async (app, { index }) => {
  app.post(
    '/v1/rpc/getUtxosByAddresses',
    {
      config: { cost: 0.1, costsByItemsOf: ['addresses'] },
      schema: {
        operationId: 'getUtxosByAddresses',
        summary: 'The unspent outputs of up to 1,000 addresses at the sink',
        description: `Of addresses that hold more than ${MAX_UTXOS} together the UTXOs are had in pages only, from listAddressUtxos.`,
        tags: ['Node RPC Proxy'],
        body,
        response: answers(utxos, 304, ...UNDER_KEY, ...WITH_BODY),
      },
    },
    (request, reply) => respondFromIndex(index, request, reply, (reading) => getUtxos(reading, request.body)),
  );
};
