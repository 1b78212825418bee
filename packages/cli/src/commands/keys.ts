/**
 * `kasgres keys` manages the keys of the HTTP API. `create` prints nothing but the key, so that a
 * script can read it.
 */
import {
  type Connection,
  createKey,
  DEFAULT_CONCURRENCY,
  DEFAULT_RATE_RU,
  type KeyRecord,
  type KeyUsage,
  LEAST_COST_RU,
  listKeys,
  listUsage,
  MAX_LIMIT_RU,
  MAX_WINDOW_SECONDS,
  revokeKey,
} from '@kasgres/database';
import { FatalError } from '@kasgres/runtime';
import { Command, Option } from 'commander';
import { z } from 'zod';
import { argument, print, printTable } from '../command-line.ts';
import { findTextProblem } from '../tags/check-tag.ts';
import { withDatabase } from '../with-database.ts';

type Kysely = Connection['kysely'];

const requestUnits = argument(
  z.coerce.number().min(LEAST_COST_RU).max(MAX_LIMIT_RU),
  `a number from ${LEAST_COST_RU}, which a look-up costs, to ${MAX_LIMIT_RU.toLocaleString('en')}`,
);
const positiveInteger = argument(
  z.coerce
    .number()
    .int()
    .min(1)
    .lt(2 ** 31),
  'a whole number above 0',
);
const windowSeconds = argument(
  z.coerce.number().int().min(1).max(MAX_WINDOW_SECONDS),
  `whole seconds from 1 to ${MAX_WINDOW_SECONDS}; longer limits are quotas`,
);
const MAX_NAME_LENGTH = 200;
const keyName = argument(
  z
    .string()
    .regex(/\S/)
    .refine((name) => findTextProblem(name, MAX_NAME_LENGTH) === undefined),
  `a name that is not blank, of at most ${MAX_NAME_LENGTH} characters, without control, bidirectional and invisible characters`,
);
/** In UTC: other forms would be read in the time zone of this machine, or as another day. */
const futureDate = argument(
  z
    .union([z.iso.date(), z.iso.datetime({ offset: true })])
    .transform((text) => new Date(text))
    .pipe(z.date().min(new Date())),
  'a date in the future, such as 2030-01-31',
);

interface CreateOptions {
  rate: number;
  window: number;
  quota?: number;
  period?: 'day' | 'month';
  expires?: Date;
  concurrency: number;
  readOnly: boolean;
}

export function keysCommand(): Command {
  const keys = new Command('keys').description('create, list and revoke API keys, and print their usage');

  keys
    .command('create')
    .description('create a key and print only the key')
    .argument(
      '<name>',
      'owner of the key; several keys may have one name, such as an old one and its replacement',
      keyName,
    )
    .option('--rate <ru>', 'request units per window', requestUnits, DEFAULT_RATE_RU)
    .option('--window <seconds>', `length of the window, at most ${MAX_WINDOW_SECONDS}`, windowSeconds, 1)
    .option('--quota <ru>', 'request units per period (default: no limit)', requestUnits)
    .addOption(
      new Option('--period <period>', 'period of the quota, in UTC (default: "day")').choices(['day', 'month']),
    )
    .option('--expires <date>', 'expiry date, such as 2030-01-31', futureDate)
    .option('--concurrency <n>', 'requests that may be in flight at once', positiveInteger, DEFAULT_CONCURRENCY)
    .option('--read-only', 'forbid submitting transactions and blocks', false)
    .addHelpText(
      'after',
      '\nA request costs 0.1 or 0.5 request units, one for many items more: docs/api.md lists the costs and the headers that report limits.',
    )
    .action((name: string, options: CreateOptions) =>
      withDatabase('keys', ({ kysely }) => create(kysely, name, options)),
    );

  keys
    .command('list')
    .description('list all keys, including revoked ones; the keys themselves are not stored')
    .action(() => withDatabase('keys', ({ kysely }) => list(kysely)));

  keys
    .command('revoke <name-or-id>')
    .description('revoke a key permanently; a running API rejects it within seconds')
    .action((nameOrId: string) => withDatabase('keys', ({ kysely }) => revoke(kysely, nameOrId)));

  keys
    .command('usage [name-or-id]')
    .description('print requests and request units by day (UTC), of one key or of all')
    .action((nameOrId: string | undefined) => withDatabase('keys', ({ kysely }) => printUsage(kysely, nameOrId)));

  return keys;
}

async function create(db: Kysely, name: string, options: CreateOptions): Promise<void> {
  const { rate, window, quota, period, expires, concurrency, readOnly } = options;
  if (period !== undefined && quota === undefined) throw new FatalError('--period needs --quota.');
  const { key } = await createKey(db, {
    name,
    rateRu: rate,
    windowSeconds: window,
    quota: quota === undefined ? undefined : { ru: quota, period: period ?? 'day' },
    concurrency,
    readOnly,
    ...(expires !== undefined && { expiresAt: expires }),
  });
  print(key);
}

async function list(db: Kysely): Promise<void> {
  printTable(await listKeys(db), {
    id: 'id',
    name: 'name',
    rate: ({ rateRu, windowSeconds: seconds }) => `${rateRu} RU / ${seconds} s`,
    quota: ({ quota }) => quota && `${quota.ru} RU / ${quota.period}`,
    state: stateOf,
    'in flight': 'concurrency',
    scope: ({ readOnly }) => (readOnly ? 'read-only' : 'all'),
    created: 'createdAt',
  });
}

async function revoke(db: Kysely, nameOrId: string): Promise<void> {
  const candidates = await findKeys(db, nameOrId);
  const inForce = candidates.filter((key) => key.revokedAt === undefined);
  if (inForce.length > 1) {
    throw new FatalError(
      `Several keys are named ${nameOrId}. Revoke one by its id: ${inForce.map(({ id }) => id).join(', ')}.`,
    );
  }
  const [key] = inForce;
  if (key === undefined || !(await revokeKey(db, key.id))) throw new FatalError(`${nameOrId} is revoked already.`);
  print(`Revoked key ${key.id} (${key.name}).`);
}

async function printUsage(db: Kysely, nameOrId: string | undefined): Promise<void> {
  const keys = nameOrId === undefined ? await listKeys(db) : await findKeys(db, nameOrId);
  const rows: (KeyUsage & Pick<KeyRecord, 'id' | 'name'>)[] = [];
  for (const { id, name } of keys) for (const used of await listUsage(db, id)) rows.push({ id, name, ...used });
  printTable(rows, { id: 'id', name: 'name', day: 'day', requests: 'requests', RU: 'ru' });
}

/** @throws {FatalError} if there is none */
async function findKeys(db: Kysely, nameOrId: string): Promise<KeyRecord[]> {
  const keys = await listKeys(db);
  const found = keys.filter(({ id, name }) => name === nameOrId || String(id) === nameOrId);
  if (found.length === 0)
    throw new FatalError(`There is no key ${nameOrId}. Run \`kasgres keys list\` to see all keys.`);
  return found;
}

function stateOf({ revokedAt, expiresAt }: KeyRecord): string {
  if (revokedAt !== undefined) return 'revoked';
  if (expiresAt === undefined) return 'in force';
  return expiresAt < new Date() ? 'expired' : `until ${expiresAt.toISOString()}`;
}
