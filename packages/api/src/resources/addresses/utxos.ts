/**
 * UTXOs at the sink: those of one address in pages, and those of several addresses at once, up to a
 * limit.
 */
import { fromHex } from '@kasgres/kaspa';
import {
  address,
  addressesInput,
  addressInput,
  type AddressParameters,
  badRequest,
  count,
  decimal,
  hash,
  hasTransactionId,
  hexBytes,
  outpoint,
  type ParameterOf,
  requireCaughtUp,
  requireNetwork,
  requireNetworkOfAll,
  sompi,
  Statement,
  statementsBy,
} from '@kasgres/reads';
import { type RawBuilder, sql } from 'kysely';
import { jsonBuildObject } from 'kysely/helpers/postgres';
import { z } from 'zod';
import { statementRoute } from '../../openapi/route.ts';
import {
  cursorOf,
  type PageParameters,
  pageParts,
  pageProblems,
  type PageStart,
  startOf,
  rowsOf,
} from '../../pages/key-page.ts';
import { pageQuery } from '../../pages/page-query.ts';
import { listing, page, rpc } from '../shared.ts';
import { type AddressesParameters, requestedAddresses } from './balances.ts';

/** Ten digits may exceed an unsigned 32-bit index; such outpoints are unknown. */
export const outpointInput = z
  .string()
  .regex(/^(?:0x)?[0-9a-fA-F]{64}:\d{1,10}$/, 'must be a transaction id, a colon and an index')
  .transform((text) => {
    const [id = '', index = ''] = text.split(':');
    return { transactionId: fromHex(id.slice(-64)), index: BigInt(index) };
  })
  .meta({ description: 'A transaction id (64 hex digits, with or without `0x`), a colon and the index of the output' });

const blockDaaScore = decimal.meta({ description: 'DAA score of the accepting block' });

export const restUtxo = z
  .object({
    transactionId: hash,
    index: count,
    amount: sompi,
    blockDaaScore,
    isCoinbase: z.boolean(),
    scriptPublicKey: hexBytes.meta({ description: 'Script in hex, without its version' }),
  })
  .meta({ id: 'RestUtxo' });

export interface OutpointParameters {
  transactionId?: Uint8Array | undefined;
  index?: bigint | undefined;
}

/**
 * Finds an output, spent or not, accepted or not: indexed, or in the bootstrap UTXO set. With
 * `offset 0`, Postgres looks outputs up by their transaction: it would otherwise read all of an
 * address for which it expects few.
 * @param condition on the output `o`
 */
export function findOutput(
  parameter: ParameterOf<OutpointParameters>,
  condition: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const [transactionId, index] = [parameter('transactionId', 'bytea'), parameter('index', 'bigint')];
  return sql`
    select o.transaction_id as key, o.index::bigint as index
    from transactions t cross join lateral (
      select * from transaction_outputs
        where transaction_id = t.id and index = ${index} and index >> 4 = ${index} >> 4 offset 0) o
    where ${hasTransactionId('t', transactionId)} and ${condition}
    union
    select o.transaction_id, o.index
    from pre_bootstrap_transactions t join bootstrap_utxos o on o.transaction_id = t.id
    where t.transaction_id = ${transactionId} and o.index = ${index} and ${condition}`;
}

type UtxoPageParameters = Omit<PageParameters, 'cursor'> & AddressParameters & OutpointParameters;

/** Finds any output that pays the script, also a pre-bootstrap one that was spent later. */
function findCursor(parameter: ParameterOf<UtxoPageParameters>, scriptId: RawBuilder<unknown>): RawBuilder<unknown> {
  const [transactionId, index] = [parameter('transactionId', 'bytea'), parameter('index', 'bigint')];
  return sql`
    ${findOutput(parameter, sql`o.script_id = ${scriptId}`)}
    union
    select i.previous_transaction_id, i.previous_index
    from pre_bootstrap_transactions t cross join lateral (
      select * from transaction_inputs
        where previous_transaction_id = t.id and previous_index = ${index} offset 0) i
    where t.transaction_id = ${transactionId} and i.script_id = ${scriptId}
    limit 1`;
}

/**
 * Reads a range of the index utxos_script_id. With an equality of the script, other indexes would
 * have this order, and Postgres would scan them for an address with a large share of all UTXOs.
 */
const utxoPage = statementsBy(
  'utxos',
  (parameter: ParameterOf<UtxoPageParameters>, { start }: { start: PageStart }) => {
    const scriptId = sql`(select id from script)`;
    const isBackward = start === 'before';
    const [behind, within, order] = isBackward ? [sql`>`, sql`<=`, sql`asc`] : [sql`<`, sql`>=`, sql`desc`];
    const from =
      start === 'first'
        ? sql`script_id <= ${scriptId}`
        : sql`(script_id, transaction_id, index) ${behind} (
          ${scriptId}, (select key from cursor), (select index from cursor))`;
    const limit = parameter('limit', 'bigint');
    const { items, metadata, ...parts } = pageParts(limit, start);
    return {
      ...parts,
      tables: {
        script: sql`select id, script from scripts where address = ${parameter('address', 'text')}`,
        ...(start !== 'first' && { cursor: findCursor(parameter, scriptId) }),
        page: sql`
        select keys.*, keys.ordinality as position
        from unnest(${rowsOf(sql`
          select utxos from utxos where ${from} and script_id ${within} ${scriptId}
          order by script_id ${order}, transaction_id ${order}, index ${order}
            limit ${limit} + 1`)})
          with ordinality as keys`,
      },
      body: jsonBuildObject({
        utxos: sql<z.infer<typeof restUtxo>[]>`(
        select coalesce(json_agg(listed), '[]') from (
          select
            encode(coalesce(transactions.transaction_id, earlier.transaction_id), 'hex')
              as "transactionId",
            page.index,
            page.amount::text as amount,
            page.block_daa_score::text as "blockDaaScore",
            page.is_coinbase as "isCoinbase",
            encode((select script from script), 'hex') as "scriptPublicKey"
          from page
          left join transactions on transactions.id = page.transaction_id
          left join pre_bootstrap_transactions earlier on earlier.id = page.transaction_id
          ${items}
        ) listed)`,
        metadata,
      }),
    };
  },
  () => ({ itemsOf: ({ limit }) => limit }),
);

export const listAddressUtxos = statementRoute(
  {
    ...listing('Address', '/v1/addresses/:address/utxos', 'listAddressUtxos'),
    summary: 'UTXOs of an address at the sink, newest transaction first',
    params: z.strictObject({ address: addressInput }),
    query: pageQuery(outpointInput, {}),
    response: page({ utxos: z.array(restUtxo).meta({ description: 'Newest transaction first' }) }),
  },
  ({ params: { address }, query }, settled) => {
    requireNetwork(settled.network, address, 'address');
    requireCaughtUp(settled);
    const parameters = { address, limit: query.limit, ...cursorOf(query) };
    return utxoPage({ start: startOf(query) }).with(parameters);
  },
  pageProblems,
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

const TOO_MANY = 'too many';

/** Reads any MAX_UTXOS + 1 UTXOs and sorts only these. */
const utxosOfAddresses = new Statement('utxos of addresses', (parameter: ParameterOf<AddressesParameters>) => ({
  tables: {
    utxo: sql`
      select requested.address, requested.position, scripts.version, scripts.script, held.*
      from ${requestedAddresses(parameter)}
      join scripts on scripts.address = requested.address
      cross join lateral (select * from utxos where script_id = scripts.id
        limit ${sql.lit(MAX_UTXOS + 1)}) held
      limit ${sql.lit(MAX_UTXOS + 1)}`,
  },
  problem: sql<
    string | null
  >`case when (select count(*) from utxo) > ${sql.lit(MAX_UTXOS)} then ${sql.lit(TOO_MANY)} end`,
  body: jsonBuildObject({
    entries: sql<z.infer<typeof addressUtxo>[]>`(
      select coalesce(json_agg(listed), '[]') from (
        select
          utxo.address,
          json_build_object(
            'transactionId', encode(coalesce(transactions.transaction_id, earlier.transaction_id), 'hex'),
            'index', utxo.index) as outpoint,
          case when utxo.covenant_id is null then ${entry(sql``)}
            else ${entry(sql`, encode(utxo.covenant_id, 'hex') as "covenantId"`)} end as "utxoEntry"
        from utxo
        left join transactions on transactions.id = utxo.transaction_id
        left join pre_bootstrap_transactions earlier on earlier.id = utxo.transaction_id
        order by utxo.position, utxo.transaction_id, utxo.index
      ) listed)`,
  }),
}));

function entry(covenant: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(
    select to_json(item) from (
      select
        utxo.amount::text as amount,
        lpad(to_hex(utxo.version), 4, '0') || encode(utxo.script, 'hex') as "scriptPublicKey",
        utxo.block_daa_score::text as "blockDaaScore",
        utxo.is_coinbase as "isCoinbase"
        ${covenant}
    ) item)`;
}

export const getUtxosByAddresses = statementRoute(
  {
    ...rpc('POST', 'getUtxosByAddresses'),
    summary: 'UTXOs of up to 1,000 addresses at the sink',
    description: `Addresses with more than ${MAX_UTXOS} UTXOs in total are a 400: use the pages of listAddressUtxos.`,
    countItems: ({ addresses }) => addresses.length,
    body: z.strictObject({ addresses: addressesInput }),
    response: z.object({
      entries: z.array(addressUtxo).meta({ description: 'By address in the given order, oldest UTXO first' }),
    }),
  },
  ({ body }, settled) => {
    requireNetworkOfAll(settled.network, body.addresses);
    requireCaughtUp(settled);
    return utxosOfAddresses.with({ addresses: [...new Set(body.addresses)] });
  },
  {
    [TOO_MANY]: () =>
      badRequest({
        path: 'addresses',
        message: `have more than ${MAX_UTXOS} UTXOs in total: use the pages of GET /v1/addresses/{address}/utxos`,
      }),
  },
);
