/** GET /v1/dag: a window of the DAG, for a picture of it. */
import {
  badRequest,
  dagBlock,
  dagBlockFields,
  type DagBlockJson,
  decimal,
  hash,
  hashInput,
  hex,
  joinMerging,
  jsonArray,
  jsonObject,
  type ParameterOf,
  statementsBy,
  uint64Input,
  unknownItem,
} from '@kasgres/reads';
import { type RawBuilder, sql } from 'kysely';
import { jsonBuildObject } from 'kysely/helpers/postgres';
import { z } from 'zod';
import { statementRoute } from '../../openapi/route.ts';
import { queryNumber } from '../../pages/page-query.ts';
import { lookUp, toStoredScore } from '../shared.ts';

const MAX_SPAN = 300;
const DEFAULT_SPAN = 150;
const MAX_BLOCKS = 1000;

interface Parameters {
  from?: bigint | undefined;
  to?: bigint | undefined;
  around?: Uint8Array | undefined;
  span: number;
}

type Window = 'range' | 'around' | 'latest';

const blocksOfWindow = statementsBy('dag', (parameter: ParameterOf<Parameters>, { window }: { window: Window }) => {
  const span = parameter('span', 'bigint');
  const sinkScore = sql`(select daa_score from blocks where id = (select block_id from checkpoint))`;
  const ends: Record<Window, RawBuilder<unknown>> = {
    range: sql`select ${parameter('from', 'bigint')} as first, ${parameter('to', 'bigint')} as last`,
    around: sql`
        select greatest(daa_score - ${span} / 2, 0) as first,
          daa_score - ${span} / 2 + ${span} as last
        from blocks where hash = ${parameter('around', 'bytea')}`,
    latest: sql`
        select greatest(max(daa_score) - ${span}, 0) as first, max(daa_score) as last
        from (select daa_score from blocks where daa_score >= ${sinkScore}) newest`,
  };
  return {
    tables: {
      ends: ends[window],
      found: sql`
          select * from blocks
          where daa_score >= (select first from ends) and daa_score <= (select last from ends)
          order by daa_score, hash limit ${sql.lit(MAX_BLOCKS + 1)}`,
    },
    problem: sql<string | null>`case when not exists (select from ends) then 'unknown' end`,
    body: jsonBuildObject({
      sink: sql<string>`(select ${hex('hash')} from blocks where id = (select block_id from checkpoint))`,
      from: sql<string>`(select first::text from ends)`,
      to: sql<string>`(select last::text from ends)`,
      truncated: sql<boolean>`(select count(*) > ${sql.lit(MAX_BLOCKS)} from found)`,
      blocks: jsonArray(
        jsonObject<DagBlockJson>(dagBlockFields),
        sql`from (select * from found order by daa_score, hash limit ${sql.lit(MAX_BLOCKS)}) block ${joinMerging}
              order by block.daa_score, block.hash`,
      ),
    }),
  };
});

/** The other end of a range of which one end is given is `span` away. */
function rangeOf({ from, to, span }: { from?: bigint | undefined; to?: bigint | undefined; span: bigint }) {
  if (from === undefined) return { from: to === undefined || to < span ? 0n : to - span, to: to ?? span };
  return { from, to: to ?? from + span };
}

export const getDag = statementRoute(
  {
    ...lookUp('Network', '/v1/dag', 'getDag'),
    cost: 0.5,
    summary: 'A window of the DAG: its blocks with their parents and colours',
    description: `Blocks of a range of DAA scores (\`from\` and \`to\`, or one of them and \`span\`), of scores around a block (\`around\`, \`span\`), or the latest ones. At most ${MAX_BLOCKS} blocks.`,
    query: z.strictObject({
      from: uint64Input.optional().meta({ description: 'First DAA score' }),
      to: uint64Input.optional().meta({ description: `Last DAA score, at most ${MAX_SPAN} above \`from\`` }),
      around: hashInput.optional().meta({ description: 'A block in the middle of the window' }),
      span: queryNumber(1, MAX_SPAN, `DAA scores of the window; ${DEFAULT_SPAN} by default`).optional(),
    }),
    response: z.object({
      sink: hash,
      from: decimal.meta({ description: 'First DAA score of the window' }),
      to: decimal.meta({ description: 'Last DAA score of the window' }),
      truncated: z.boolean().meta({ description: 'Whether the window has more blocks, of the highest DAA scores' }),
      blocks: z.array(dagBlock).meta({ description: 'By DAA score, then by hash' }),
    }),
    errors: [404],
  },
  ({ query: { from, to, around, span = DEFAULT_SPAN } }) => {
    if (from === undefined && to === undefined) {
      return blocksOfWindow({ window: around === undefined ? 'latest' : 'around' }).with({ around, span });
    }
    if (around !== undefined) throw badRequest({ path: 'around', message: 'cannot be used together with from and to' });
    const range = rangeOf({ from, to, span: BigInt(span) });
    if (range.to < range.from || range.to - range.from > BigInt(MAX_SPAN)) {
      throw badRequest({ path: 'to', message: `must be from, or at most ${MAX_SPAN} above it` });
    }
    return blocksOfWindow({ window: 'range' }).with({
      from: toStoredScore(range.from),
      to: toStoredScore(range.to),
      span,
    });
  },
  { unknown: (state) => unknownItem(state, 'block') },
);
