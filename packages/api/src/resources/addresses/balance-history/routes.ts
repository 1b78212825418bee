/** GET /v1/addresses/{address}/balance-history: the balance at the end of each hour, day or month. */
import type { Database } from '@kasgres/database';
import type { Kysely } from 'kysely';
import { z } from 'zod';
import { respondFromIndex } from '../../../index-state/answer.ts';
import { type Reading, requireCaughtUp } from '../../../index-state/state.ts';
import { requireNetwork } from '../../../schemas/address.ts';
import { answers, UNDER_KEY } from '../../../schemas/responses.ts';
import { addressInput, sompi, timestamp } from '../../../schemas/values.ts';
import type { ApiPlugin } from '../../../services.ts';
import { listGaps } from '../../chain/parts.ts';
import { findScriptId } from '../find-script.ts';
import { hourOf, INTERVALS, type Interval, numberings, toMilliseconds } from './intervals.ts';
import { type Change, toHistory } from './to-history.ts';

/** Hours of more than a year, and days of 27 years. */
const MAX_INTERVALS = 10_000;

const params = z.strictObject({ address: addressInput });

const query = z.strictObject({
  interval: z.enum(INTERVALS).default('day').meta({ description: 'In UTC' }),
});

const balanceHistory = z.object({
  history: z
    .array(
      z.object({
        timestamp: timestamp.meta({
          description: 'End of the interval, which is the start of the next one: Unix time in milliseconds',
        }),
        balance: sompi,
      }),
    )
    .meta({
      description: `From the interval of the first change to that of the sink, oldest first, those without a change too; the newest ${MAX_INTERVALS} of them where they are more. An accepting block counts at the latest time of the chain up to it, since its own may run backwards. What the address held where the index begins, if not at genesis, is its first change. Intervals that end in a gap of the index are left out.`,
    }),
  gaps: z
    .array(
      z.object({
        from: timestamp.meta({ description: 'Time of the last block before the gap' }),
        to: timestamp.meta({ description: 'Time of the first block after it' }),
      }),
    )
    .optional()
    .meta({
      description:
        'Only where the time from the first interval on has gaps of the index: what changed the balance in them is not known one by one, and shows as one change in the interval in which a gap ends',
    }),
});

/** The first hour that changed the balance. */
async function findFirstHour(db: Kysely<Database>, scriptId: bigint): Promise<number | undefined> {
  const row = await db
    .selectFrom('balance_changes')
    .select('hour')
    .where('script_id', '=', scriptId)
    .where('change', '<>', 0n)
    .orderBy('hour')
    .limit(1)
    .executeTakeFirst();
  return row?.hour;
}

/** From an hour on, ascending. */
function listChanges(db: Kysely<Database>, scriptId: bigint, fromHour: number): Promise<Change[]> {
  return db
    .selectFrom('balance_changes')
    .select(['hour', 'change'])
    .where('script_id', '=', scriptId)
    .where('hour', '>=', fromHour)
    .where('change', '<>', 0n)
    .orderBy('hour')
    .execute();
}

/** With the chain_time of the sink, whose hour is the last one. */
async function getLatest(reading: Reading, scriptId: bigint): Promise<{ balance: bigint; chainTime: bigint }> {
  const { balance, chain_time } = await reading.db
    .selectFrom('balances')
    .innerJoin('chain_blocks', (join) => join.on('chain_blocks.index', '=', reading.state.sinkChainIndex))
    .select(['balances.balance', 'chain_blocks.chain_time'])
    .where('balances.script_id', '=', scriptId)
    .executeTakeFirstOrThrow();
  return { balance, chainTime: chain_time };
}

/** What is older than the answer is never read: the balance now, less the changes since, is the balance then. */
async function getHistory(
  reading: Reading,
  address: string,
  interval: Interval,
): Promise<z.infer<typeof balanceHistory>> {
  const { db, state } = reading;
  requireNetwork(state.network, address, 'address');
  requireCaughtUp(state);
  const scriptId = await findScriptId(db, address);
  const firstHour = scriptId === undefined ? undefined : await findFirstHour(db, scriptId);
  if (scriptId === undefined || firstHour === undefined) return { history: [] };

  const { ofHour, firstHour: firstHourOf } = numberings[interval];
  const { balance, chainTime } = await getLatest(reading, scriptId);
  const last = ofHour(hourOf(chainTime));
  const first = Math.max(ofHour(firstHour), last - MAX_INTERVALS + 1);
  const changes = await listChanges(db, scriptId, firstHourOf(first));
  const begin = toMilliseconds(firstHourOf(first));
  const gaps = (await listGaps(reading)).filter(({ before }) => before.chainTime > begin);
  const unknown = gaps.map(({ after, before }) => ({ from: Number(after.chainTime), to: Number(before.chainTime) }));
  return {
    history: toHistory({ interval, first, last, changes, balance, unknown }),
    ...(gaps.length > 0 && {
      gaps: gaps.map(({ after, before }) => ({ from: Number(after.timestamp), to: Number(before.timestamp) })),
    }),
  };
}

export const balanceHistoryRoutes: ApiPlugin = async (app, { index }) => {
  app.get(
    '/v1/addresses/:address/balance-history',
    {
      config: { cost: 0.1 },
      schema: {
        operationId: 'getAddressBalanceHistory',
        summary: 'The balance of an address at the end of each hour, day or month',
        tags: ['Address'],
        params,
        querystring: query,
        response: answers(balanceHistory, 304, ...UNDER_KEY, 400),
      },
    },
    (request, reply) =>
      respondFromIndex(index, request, reply, (reading) =>
        getHistory(reading, request.params.address, request.query.interval),
      ),
  );
};
