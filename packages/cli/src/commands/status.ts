// `kasgres status`: how far the index is.

import { checkSchema, connect } from '@kasgres/database';

const ANSWER_WITHIN_MS = 3_000;

/** Prints what the API says, or the database where no API answers. Returns 0 when there is something to print. */
export async function printStatus(
  apiUrl: string,
  getDatabaseUrl: () => Promise<string>,
  asJson: boolean,
): Promise<number> {
  const status = (await askApi(apiUrl)) ?? {
    api: `does not answer at ${apiUrl}`,
    ...(await askDatabase(await getDatabaseUrl())),
  };
  process.stdout.write(asJson ? `${JSON.stringify(status, null, 2)}\n` : plainLines(status));
  return 0;
}

async function askApi(apiUrl: string): Promise<Record<string, unknown> | undefined> {
  try {
    const answer = await fetch(`${apiUrl}/v1/status`, { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });
    return answer.ok ? ((await answer.json()) as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

const CHECKPOINT = `
  select meta.network, encode(blocks.hash, 'hex') as sink, blocks.blue_score::text as "sinkBlueScore",
    checkpoint.target_blue_score::text as "nodeSinkBlueScore", checkpoint.first_catch_up as "firstCatchUp",
    checkpoint.seconds_left as "secondsLeft", checkpoint.updated_at as "updatedAt",
    (select count(*)::integer from gaps) as gaps
  from meta
  left join checkpoint on true
  left join blocks on blocks.id = checkpoint.block_id`;

async function askDatabase(databaseUrl: string): Promise<Record<string, unknown>> {
  const database = connect({ url: databaseUrl, max: 1, applicationName: 'kasgres status' });
  try {
    await checkSchema(database.pool);
    const { rows } = await database.pool.query<Record<string, unknown>>(CHECKPOINT);
    return rows[0] ?? { network: null };
  } finally {
    await database.close();
  }
}

function plainLines(status: Record<string, unknown>): string {
  const width = Math.max(...Object.keys(status).map((name) => name.length));
  const lines = Object.entries(status).map(([name, value]) => `${name.padEnd(width)}  ${valueText(value)}\n`);
  return lines.join('');
}

function valueText(value: unknown): string {
  if (value === null) return 'not known';
  if (value instanceof Date) return value.toISOString();
  return typeof value === 'object' ? JSON.stringify(value) : `${value as string | number | boolean}`;
}
