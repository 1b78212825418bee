/** GET /v1/covenants/{covenantId}/utxos: UTXOs of a covenant at the sink. */
import {
  hashInput,
  hex,
  jsonArray,
  jsonObject,
  type ParameterOf,
  requireCaughtUp,
  statementsBy,
  text,
  unknownItem,
} from '@kasgres/reads';
import { sql } from 'kysely';
import { jsonBuildObject } from 'kysely/helpers/postgres';
import { z } from 'zod';
import { statementRoute } from '../../openapi/route.ts';
import {
  cursorOf,
  type PageParameters,
  pageParts,
  pageProblems,
  type PageStart,
  rowsOf,
  startOf,
} from '../../pages/key-page.ts';
import { pageQuery } from '../../pages/page-query.ts';
import { findOutput, outpointInput, type OutpointParameters, restUtxo } from '../addresses/utxos.ts';
import { listing, page } from '../shared.ts';

interface Parameters extends Omit<PageParameters, 'cursor'>, OutpointParameters {
  covenantId: Uint8Array;
}

/**
 * Reads a range of the index utxos_covenant_id, without an equality, as other listings of UTXOs do.
 */
const utxoPage = statementsBy(
  'utxos of a covenant',
  (parameter: ParameterOf<Parameters>, { start }: { start: PageStart }) => {
    const limit = parameter('limit', 'bigint');
    const covenantId = sql`(select covenant_id from covenant)`;
    const [behind, within, order] = start === 'before' ? [sql`>`, sql`<=`, sql`asc`] : [sql`<`, sql`>=`, sql`desc`];
    const from =
      start === 'first'
        ? sql`covenant_id <= ${covenantId}`
        : sql`(covenant_id, transaction_id, index) ${behind} (
          ${covenantId}, (select key from cursor), (select index from cursor))`;
    const { items, metadata, problem } = pageParts(limit, start);
    return {
      problem: sql<string | null>`
        case when not exists (select from covenant) then 'unknown'
          else ${problem ?? sql`null`} end`,
      tables: {
        covenant: sql`select covenant_id from covenants where covenant_id = ${parameter('covenantId', 'bytea')}`,
        ...(start !== 'first' && { cursor: sql`${findOutput(parameter, sql`o.covenant_id = ${covenantId}`)} limit 1` }),
        page: sql`
          select held.*, held.ordinality as position from unnest(${rowsOf(sql`
            select utxos from utxos where ${from} and covenant_id ${within} ${covenantId}
            order by covenant_id ${order}, transaction_id ${order}, index ${order}
              limit ${limit} + 1`)})
            with ordinality as held`,
      },
      body: jsonBuildObject({
        utxos: jsonArray(
          jsonObject<z.infer<typeof restUtxo>>({
            transactionId: sql`encode(coalesce(transactions.transaction_id, earlier.transaction_id), 'hex')`,
            index: sql`page.index`,
            amount: text('page.amount'),
            blockDaaScore: text('page.block_daa_score'),
            isCoinbase: sql`page.is_coinbase`,
            scriptPublicKey: hex('scripts.script'),
          }),
          sql`
            from page
            join scripts on scripts.id = page.script_id
            left join transactions on transactions.id = page.transaction_id
            left join pre_bootstrap_transactions earlier on earlier.id = page.transaction_id
            ${items}`,
        ),
        metadata,
      }),
    };
  },
  () => ({ itemsOf: ({ limit }) => limit }),
);

export const listCovenantUtxos = statementRoute(
  {
    ...listing('Covenant', '/v1/covenants/:covenantId/utxos', 'listCovenantUtxos'),
    summary: 'UTXOs of a covenant at the sink, newest transaction first',
    params: z.strictObject({ covenantId: hashInput }),
    query: pageQuery(outpointInput, {}),
    response: page({ utxos: z.array(restUtxo).meta({ description: 'Newest transaction first' }) }),
  },
  ({ params: { covenantId }, query }, settled) => {
    requireCaughtUp(settled);
    return utxoPage({ start: startOf(query) }).with({ covenantId, limit: query.limit, ...cursorOf(query) });
  },
  { ...pageProblems, unknown: (state) => unknownItem(state, 'covenant') },
);
