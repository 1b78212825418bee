/**
 * GET /v1/addresses/{address}/transactions: transactions that spend from or pay to an address,
 * newest first.
 */
import { Readable } from 'node:stream';
import {
  addressInput,
  type AddressParameters,
  badRequest,
  hashInput,
  hasTransactionId,
  type JsonFields,
  type ParameterOf,
  requireCaughtUp,
  requireNetwork,
  scriptIdOf,
  sompi,
  sompiDelta,
  statementsBy,
  text,
  transactionIdOf,
} from '@kasgres/reads';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { sql } from 'kysely';
import { jsonBuildObject } from 'kysely/helpers/postgres';
import { z } from 'zod';
import { cursorOf, keyPage, type PageParameters, pageProblems, type PageStart, startOf } from '../../pages/key-page.ts';
import { pageQuery } from '../../pages/page-query.ts';
import { qualityOf } from '../../http/accept.ts';
import { callerOf } from '../../http/request-identity.ts';
import { beginResponse } from '../../http/respond.ts';
import { requireTimeRange } from '../../pages/time-range.ts';
import { type ApiPlugin, statementRoute } from '../../openapi/route.ts';
import { listing, page, PAGE_COST } from '../shared.ts';
import { joinAmounts } from './amounts.ts';
import { chargeAsRead } from '../../limits/charge-as-read.ts';
import { csvOf, MAX_CSV_ROWS, rowReader, ROWS_PER_PAGE } from './history-csv.ts';
import {
  filterBy,
  type FilterShape,
  type HistoryFilter,
  historyFilter,
  isFiltered,
  shapeOf,
  timedTables,
} from './history-filter.ts';
import type { Services } from '../../services.ts';
import { restTransaction, transactionFlags } from '../transactions/rest/schemas.ts';
import { addPrograms, includeParts, type Parts, partsOf, tagOfParts } from '../transactions/rest/programs.ts';
import { tagsByAddress, tagsOfPage } from '../transactions/rest/tags.ts';
import { boundByBytes, restTransactions } from '../transactions/rest/select-transactions.ts';

const addressTransaction = restTransaction
  .extend({
    amountSent: sompi.meta({ description: 'Sum of the UTXOs of the address that it spends' }),
    amountReceived: sompi.meta({ description: 'Sum of the outputs that pay the address' }),
    balanceChange: sompiDelta.meta({
      description: '`amountReceived` less `amountSent`; effective only while accepted',
    }),
  })
  .meta({ id: 'AddressTransaction' });

type Amounts = Record<'amountSent' | 'amountReceived' | 'balanceChange', string>;

const amounts: JsonFields<Amounts> = {
  amountSent: text('amounts.sent'),
  amountReceived: text('amounts.received'),
  balanceChange: sql`(amounts.received - amounts.sent)::text`,
};

interface Variant extends FilterShape, Parts {
  start: PageStart;
}

interface Parameters extends PageParameters, AddressParameters {
  from?: number | undefined;
  to?: number | undefined;
  minimum?: bigint | undefined;
}

const transactionPage = statementsBy(
  'address transactions',
  (parameter: ParameterOf<Parameters>, { start, includePayload, withTags, withPrograms, ...shape }: Variant) => {
    const scriptId = sql`(select id from script)`;
    const ofScript = sql`script_id = ${scriptId}`;
    const { where, filter } = filterBy(shape, parameter('minimum', 'numeric'));
    const range = { from: parameter('from', 'bigint'), to: parameter('to', 'bigint') };
    const { tables, items, metadata, ...parts } = keyPage(parameter, start, {
      table: 'script_deltas',
      column: 'transaction_id',
      isRepeated: true,
      where: sql.join([ofScript, ...where], sql` and `),
      filter: filter && { condition: filter, cursorOf: transactionIdOf },
      bound: boundByBytes(includePayload),
      cursorKey: sql`(
        select id from transactions
        where ${hasTransactionId('transactions', parameter('cursor', 'bytea'))} and exists (
          select from script_deltas touch
            where touch.transaction_id = transactions.id and touch.script_id = ${scriptId}
              offset 0))`,
    });
    return {
      ...parts,
      tables: {
        script: sql`select ${scriptIdOf(parameter)} as id`,
        ...(shape.isTimed && timedTables(range, scriptId)),
        ...tables,
      },
      body: jsonBuildObject({
        transactions: restTransactions(items, {
          includePayload,
          withPrograms,
          more: amounts,
          joins: joinAmounts(scriptId),
        }),
        metadata,
        ...(withTags && { tags: tagsOfPage(items) }),
      }),
    };
  },
  (variant) => ({ itemsOf: isFiltered(variant) ? undefined : ({ limit }) => limit }),
);

const filterOf = ({ accepted_only: acceptedOnly, from, to, direction, min_amount }: Query): HistoryFilter => ({
  acceptedOnly,
  from,
  to,
  direction,
  min_amount,
});

const query = pageQuery(hashInput, { ...transactionFlags, ...historyFilter, include: includeParts });

type Query = z.output<typeof query>;

const CSV = 'text/csv';

const transactionListing = statementRoute(
  {
    ...listing('Address', '/v1/addresses/:address/transactions', 'listAddressTransactions'),
    summary: 'Transactions that spend from or pay to an address, newest first',
    description: `With \`accept: text/csv\` the response is a CSV of up to ${MAX_CSV_ROWS} rows, without \`limit\` and cursors; it is read in chunks, so that later rows may show a later state of the chain than that of the headers. Every ${ROWS_PER_PAGE} rows cost as much as a page, charged as they are read: the response waits for the rate. If the quota is used up, or the rate allows nothing for long, it ends with a line \`incomplete: …\` and a closed connection. \`from\` and \`to\` refer to the time of acceptance; the order stays that of first writing.`,
    tagOf: ({ query }) => tagOfParts(query.include),
    alternativeType: CSV,
    params: z.strictObject({ address: addressInput }),
    query,
    response: page({
      transactions: z.array(addressTransaction).meta({ description: 'Newest first' }),
      tags: tagsByAddress.optional(),
    }),
    finishOf: ({ query: { include, include_payload: includePayload } }) => addPrograms(include, includePayload),
  },
  ({ params: { address }, query: given }, settled) => {
    requireNetwork(settled.network, address, 'address');
    requireTimeRange(given);
    requireCaughtUp(settled);
    const variant = {
      start: startOf(given),
      ...partsOf(given.include_payload, given.include),
      ...shapeOf(filterOf(given)),
    };
    return transactionPage(variant).with({
      address,
      limit: given.limit,
      cursor: cursorOf(given),
      from: given.from,
      to: given.to,
      minimum: given.min_amount,
    });
  },
  pageProblems,
);

function prefersCsv({ headers: { accept } }: FastifyRequest): boolean {
  const quality = qualityOf(accept, CSV);
  return quality > 0 && quality >= qualityOf(accept, 'application/json');
}

/** A request that prefers CSV gets the whole history. */
export const listAddressTransactions: ApiPlugin = async (app, services) => {
  app.addHook('preHandler', (request, reply, done) => {
    if (prefersCsv(request)) sendCsv(services, request, reply).catch((error: unknown) => reply.send(error));
    else done();
  });
  await app.register(transactionListing, services);
};

/**
 * Resolves when the response begins. Fastify would take a client that leaves before its end for a
 * failure of the request.
 */
async function sendCsv(services: Services, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const { address } = request.params as { address: string };
  const settled = await services.index.getSettledState();
  requireNetwork(settled.network, address, 'address');
  const given = request.query as Query;
  requireTimeRange(given);
  for (const path of ['starting_after', 'ending_before'] as const) {
    if (given[path] !== undefined)
      throw badRequest({ path, message: 'is not possible in text/csv, which has no pages' });
  }
  requireCaughtUp(settled);
  if (await beginResponse(services.index, request, reply, CSV)) return void reply.send();
  reply.header('content-disposition', 'attachment; filename="transactions.csv"').type(`${CSV}; charset=utf-8`);
  // Fastify responds to a HEAD at once and reads the stream to its end, so the whole history
  // would be read after the request has ended.
  const isHead = request.method === 'HEAD';
  const payment = {
    charge: (pages: number) => chargeAsRead(services.admission, request, pages * PAGE_COST, () => !reply.raw.destroyed),
    maxPages: Math.max(Math.floor((request.apiKey?.bucket.rateRu ?? 0) / PAGE_COST), 1),
  };
  const readRows = rowReader(services.index, address, filterOf(given), callerOf(request));
  void reply.send(isHead ? Readable.from([]) : csvOf(readRows, payment));
}
