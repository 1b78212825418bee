/** GET /v1/lanes and GET /v1/lanes/{namespace}: user lanes by their accepted transactions. */
import { jsonArray, type ParameterOf, requireCaughtUp, Statement, statementsBy } from '@kasgres/reads';
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
  keysInOrder,
  startOf,
} from '../../pages/key-page.ts';
import { pageQuery } from '../../pages/page-query.ts';
import { listing, lookUp, page } from '../shared.ts';
import {
  isNamespace,
  lane,
  laneJson,
  laneKeyOf,
  type LaneParameters,
  namespaceInput,
  subnetworkOf,
  unknownLane,
} from './schemas.ts';

interface Cursor {
  subnetwork: Uint8Array;
  /** With a time, the cursor is a fixed position, even if the lane is used again. */
  lastSeen: bigint | undefined;
}

const cursorInput = z
  .string()
  .transform((text, context): Cursor => {
    const [, digits, namespace = ''] = /^(?:(\d{1,15}):)?(.*)$/s.exec(text) ?? [];
    if (!isNamespace(namespace)) {
      context.addIssue({ code: 'custom', message: 'must be lastSeen:namespace, or a namespace of 8 hex digits' });
    }
    return { subnetwork: subnetworkOf(namespace), lastSeen: digits === undefined ? undefined : BigInt(digits) };
  })
  .meta({
    pattern: '^(?:\\d{1,15}:)?(?:0x)?[0-9a-fA-F]{8}$',
    description:
      '`lastSeen:namespace` of an item: the page begins right after it, even if the lane is used again meanwhile. A plain `namespace` denotes its current position',
  });

type LanePageParameters = Omit<PageParameters, 'cursor'> & Partial<LaneParameters> & { lastSeen?: bigint | undefined };

/**
 * Reads a range of the index lanes_last_seen, and sorts the lanes of each time by namespaces, since
 * keys of subnetworks differ from index to index. A lane that a reorg removed keeps the position of
 * its time.
 */
const lanePage = statementsBy(
  'lanes',
  (parameter: ParameterOf<LanePageParameters>, { start }: { start: PageStart }) => {
    const limit = parameter('limit', 'bigint');
    const [behind, order] = start === 'before' ? [sql`>`, sql`asc`] : [sql`<`, sql`desc`];
    const time = sql`(select last_seen from cursor)`;
    const from =
      start === 'first'
        ? sql``
        : sql`where last_seen ${behind}= ${time}
          and (last_seen, subnetwork.id) ${behind} (${time}, ${parameter('subnetwork', 'bytea')})`;
    const { items, metadata, ...parts } = pageParts(limit, start);
    return {
      ...parts,
      tables: {
        ...(start !== 'first' && {
          cursor: sql`
            select case when last_seen is not null then key end as key, last_seen
            from (
              select id::integer as key, coalesce(${parameter('lastSeen', 'bigint')}, (
                select last_seen from lanes
                  where lanes.subnetwork_id = subnetworks.id)) as last_seen
              from subnetworks where subnetwork_id = ${parameter('subnetwork', 'bytea')}) named`,
        }),
        page: keysInOrder(sql`
          select subnetwork_id
          from lanes
          cross join lateral (
            select subnetworks.subnetwork_id as id from subnetworks
              where subnetworks.id = lanes.subnetwork_id offset 0) subnetwork
          ${from}
          order by last_seen ${order}, subnetwork.id ${order} limit ${limit} + 1`),
      },
      body: jsonBuildObject({
        lanes: jsonArray(
          laneJson,
          sql`from page join lanes on lanes.subnetwork_id = page.key
            join subnetworks on subnetworks.id = page.key ${items}`,
        ),
        metadata,
      }),
    };
  },
);

export const listLanes = statementRoute(
  {
    ...listing('Lane', '/v1/lanes', 'listLanes'),
    summary: 'User lanes, the last used first',
    tagOf: 'content',
    query: pageQuery(cursorInput, {}),
    response: page({ lanes: z.array(lane).meta({ description: 'The last used first' }) }),
  },
  ({ query }, settled) => {
    requireCaughtUp(settled);
    return lanePage({ start: startOf(query) }).with({ limit: query.limit, ...cursorOf(query) });
  },
  pageProblems,
);

const laneByNamespace = new Statement('lane', (parameter: ParameterOf<LaneParameters>) => ({
  tables: { lane: sql`select ${laneKeyOf(parameter)} as key` },
  problem: sql<string | null>`case when (select key from lane) is null then 'unknown' end`,
  body: jsonBuildObject({
    lane: sql<z.infer<typeof lane>>`(
      select ${laneJson} from lane join lanes on lanes.subnetwork_id = lane.key
        join subnetworks on subnetworks.id = lane.key)`,
  }),
}));

export const getLane = statementRoute(
  {
    ...lookUp('Lane', '/v1/lanes/:namespace', 'getLane'),
    summary: 'One user lane by its namespace',
    tagOf: 'content',
    params: z.strictObject({ namespace: namespaceInput }),
    response: z.object({ lane }),
    errors: [404],
  },
  ({ params }, settled) => {
    requireCaughtUp(settled);
    return laneByNamespace.with({ subnetwork: params.namespace });
  },
  { unknown: unknownLane },
);
