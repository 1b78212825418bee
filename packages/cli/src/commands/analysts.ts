/** `kasgres analysts` manages SQL logins. `create` prints nothing but a URL, which psql, DBeaver, Metabase and Grafana accept. */
import {
  ANALYST_NAME,
  createAnalyst,
  DEFAULT_ANALYST_CONNECTIONS,
  DEFAULT_TIMEOUT_SECONDS,
  listAnalysts,
  removeAnalyst,
} from '@kasgres/database';
import { Command, InvalidArgumentError } from 'commander';
import { print, textTable } from '../output.ts';
import { withDatabase } from '../with-database.ts';

interface CreateOptions {
  timeout: number;
  connections: number;
}

const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, min: 60, h: 3600 };

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
        const password = await createAnalyst(pool, newAnalyst, warn);
        print(urlOfLogin(url, name, password));
      }),
    );

  analysts
    .command('list')
    .description('list all analyst logins, including those made by hand')
    .action(() =>
      withDatabase('analysts', async ({ pool }) => {
        const rows = (await listAnalysts(pool)).map(({ name, timeoutSeconds, connections, createdAt }) => [
          name,
          `${timeoutSeconds} s`,
          connections === -1 ? 'no limit' : connections,
          createdAt ?? 'by hand',
        ]);
        print(textTable(['login', 'timeout', 'connections', 'created'], rows));
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
  const url = new URL(databaseUrl);
  url.protocol = 'postgres:';
  url.username = login;
  url.password = password;
  return url.toString();
}

function loginName(text: string): string {
  if (ANALYST_NAME.test(text)) return text;
  throw new InvalidArgumentError('Expected lower-case letters, digits and _, not beginning with pg_ or kasgres_.');
}

function duration(text: string): number {
  const [, number, unit = 's'] = /^(\d+)(s|min|h)?$/.exec(text) ?? [];
  const seconds = Number(number) * (UNIT_SECONDS[unit] ?? Number.NaN);
  if (seconds >= 1 && seconds <= 86_400) return seconds;
  throw new InvalidArgumentError('Expected a time from 1s to 24h, such as 60s or 5min.');
}

function connectionCount(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1 && count <= 1000) return count;
  throw new InvalidArgumentError('Expected a whole number from 1 to 1000.');
}

function warn(text: string): void {
  process.stderr.write(`WARNING: ${text}\n`);
}
