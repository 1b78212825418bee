/** Look-ups of covenants by id. */
import { hashInput, list, type ParameterOf, requireCaughtUp, Statement, unknownItem } from '@kasgres/reads';
import { sql } from 'kysely';
import { jsonBuildObject } from 'kysely/helpers/postgres';
import { z } from 'zod';
import { statementRoute } from '../../openapi/route.ts';
import { lookUp } from '../shared.ts';
import { covenant } from './schemas.ts';
import { covenantsOfPage, oneCovenant } from './select-covenants.ts';

const MAX_IDS = 500;

const covenantById = new Statement(
  'covenant',
  (parameter: ParameterOf<{ id: Uint8Array }>) => ({
    tables: { page: sql`select id as key from covenants where covenant_id = ${parameter('id', 'bytea')}` },
    problem: sql<string | null>`case when not exists (select from page) then 'unknown' end`,
    body: jsonBuildObject({ covenant: oneCovenant }),
  }),
  { itemsOf: () => 1 },
);

export const getCovenant = statementRoute(
  {
    ...lookUp('Covenant', '/v1/covenants/:covenantId', 'getCovenant'),
    summary: 'One covenant by its id',
    params: z.strictObject({ covenantId: hashInput }),
    response: z.object({ covenant }),
    errors: [404],
  },
  ({ params }, settled) => {
    requireCaughtUp(settled);
    return covenantById.with({ id: params.covenantId });
  },
  { unknown: (state) => unknownItem(state, 'covenant') },
);

const covenantsByIds = new Statement('covenants by ids', (parameter: ParameterOf<{ ids: readonly Uint8Array[] }>) => ({
  tables: {
    page: sql`
      select covenants.id as key, requested.position
      from unnest(${parameter('ids', 'bytea[]')}) with ordinality as requested (id, position)
      join covenants on covenants.covenant_id = requested.id`,
  },
  body: jsonBuildObject({ covenants: covenantsOfPage(sql`order by page.position`) }),
}));

export const getCovenants = statementRoute(
  {
    method: 'POST',
    url: '/v1/covenants',
    operationId: 'getCovenants',
    summary: 'Up to 500 covenants by their ids',
    tag: 'Covenant',
    cost: 0.1,
    countItems: ({ covenantIds }) => covenantIds.length,
    body: z.strictObject({ covenantIds: list(hashInput, MAX_IDS) }),
    response: z.object({
      covenants: z
        .array(covenant)
        .meta({ description: 'In the given order without unknown ones; a repeated id is shown repeatedly' }),
    }),
  },
  ({ body }, settled) => {
    requireCaughtUp(settled);
    return covenantsByIds.with({ ids: body.covenantIds });
  },
);
