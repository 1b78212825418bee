/** `kasgres analysts`: logins for people with SQL. A login is shown once, as a URL that psql, DBeaver, Metabase and Grafana take, and alone. */
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
  const analysts = new Command('analysts').description('make, list and remove logins that read schema kaspa in SQL');

  analysts
    .command('create')
    .description('make a login and print its URL, and nothing else')
    .argument('<name>', 'of the login', loginName)
    .option('--timeout <time>', 'how long a statement may take', duration, DEFAULT_TIMEOUT_SECONDS)
    .option('--connections <number>', 'connections open at once', connectionCount, DEFAULT_ANALYST_CONNECTIONS)
    .addHelpText('after', '\ndocs/sql.md has what it sees, what its limits are, and how to connect.')
    .action((name: string, { timeout, connections }: CreateOptions) =>
      withDatabase('analysts', async ({ pool }, url) => {
        const newAnalyst = { name, timeoutSeconds: timeout, connections };
        const password = await createAnalyst(pool, newAnalyst, warn);
        print(urlOfLogin(url, name, password));
      }),
    );

  analysts
    .command('list')
    .description('every login that is an analyst, also one that was made by hand')
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
    .description('end its sessions and remove the login')
    .option('--drop-owned', 'drop what it owns, in each database of the server')
    .action((name: string, { dropOwned }: { dropOwned?: true }) =>
      withDatabase('analysts', async ({ pool }, url) => {
        await removeAnalyst({ pool, url }, name, { dropsOwned: dropOwned === true });
        print(`Removed ${name}.`);
      }),
    );

  return analysts;
}

/** The same server and database, with whatever the address says of encryption. */
function urlOfLogin(databaseUrl: string, login: string, password: string): string {
  const url = new URL(databaseUrl);
  url.protocol = 'postgres:';
  url.username = login;
  url.password = password;
  return url.toString();
}

function loginName(text: string): string {
  if (ANALYST_NAME.test(text)) return text;
  throw new InvalidArgumentError(
    'Expected lower-case letters, digits and _, and no name that begins with pg_ or kasgres_.',
  );
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
