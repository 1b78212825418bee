/**
 * `kasgres analysts` manages SQL logins. `create` prints nothing but a URL, which psql, DBeaver,
 * Metabase and Grafana accept.
 */
import {
  ANALYST_NAME,
  createAnalyst,
  DEFAULT_ANALYST_CONNECTIONS,
  DEFAULT_TIMEOUT_SECONDS,
  listAnalysts,
  removeAnalyst,
} from '@kasgres/database';
import { libpqUrl } from '@kasgres/runtime';
import { Command } from 'commander';
import { z } from 'zod';
import { argument, print, printMessage, printTable } from '../command-line.ts';
import { withDatabase } from '../with-database.ts';

interface CreateOptions {
  timeout: number;
  connections: number;
}

const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, min: 60, h: 3600 };

const loginName = argument(
  z.string().regex(ANALYST_NAME),
  'at most 63 lower-case letters, digits and _, not beginning with a digit, pg_ or kasgres_',
);
const duration = argument(
  z
    .string()
    .regex(/^\d+(s|min|h)?$/)
    .transform((text) => Number.parseInt(text, 10) * (UNIT_SECONDS[text.replace(/^\d+/, '') || 's'] as number))
    .pipe(z.number().min(1).max(86_400)),
  'a time from 1s to 24h, such as 60s or 5min',
);
const connectionCount = argument(z.coerce.number().int().min(1).max(1000), 'a whole number from 1 to 1000');

export function analystsCommand(): Command {
  const analysts = new Command('analysts').description('create, list and remove SQL logins that read schema kaspa');

  analysts
    .command('create')
    .description('create a login and print only its URL')
    .argument('<name>', 'name of the login', loginName)
    .option('--timeout <time>', 'time limit of a statement', duration, DEFAULT_TIMEOUT_SECONDS)
    .option(
      '--connections <number>',
      'maximum number of open connections',
      connectionCount,
      DEFAULT_ANALYST_CONNECTIONS,
    )
    .addHelpText('after', '\ndocs/sql.md describes what it can read, its limits, and how to connect.')
    .action((name: string, { timeout, connections }: CreateOptions) =>
      withDatabase('analysts', async ({ pool }, url) => {
        const newAnalyst = { name, timeoutSeconds: timeout, connections };
        const password = await createAnalyst(pool, newAnalyst, (text) => printMessage(`WARNING: ${text}`));
        print(urlOfLogin(url, name, password));
      }),
    );

  analysts
    .command('list')
    .description('list all analyst logins, including those made by hand')
    .action(() =>
      withDatabase('analysts', async ({ pool }) => {
        printTable(await listAnalysts(pool), {
          login: 'name',
          timeout: ({ timeoutSeconds }) => `${timeoutSeconds} s`,
          connections: ({ connections }) => (connections === -1 ? 'no limit' : connections),
          created: ({ createdAt }) => createdAt ?? 'by hand',
        });
      }),
    );

  analysts
    .command('remove <name>')
    .description('terminate its sessions and remove the login')
    .option('--drop-owned', 'drop the objects that it owns in all databases of the server')
    .action((name: string, { dropOwned }: { dropOwned?: true }) =>
      withDatabase('analysts', async ({ pool }, url) => {
        await removeAnalyst({ pool, url }, name, { dropsOwned: dropOwned === true });
        print(`Removed ${name}.`);
      }),
    );

  return analysts;
}

/** Keeps server, database and encryption of the URL. */
function urlOfLogin(databaseUrl: string, login: string, password: string): string {
  const url = new URL(libpqUrl(databaseUrl));
  url.username = login;
  url.password = password;
  return url.toString();
}
