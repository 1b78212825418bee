/**
 * Looks up names without the threads of the system's resolver: there are few of them for all of the
 * program, and a look-up cannot leave one. So a name whose server does not respond delays nothing
 * else, and its look-up ends with the signal.
 */
import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import ipaddr from 'ipaddr.js';

export interface FoundAddress {
  address: string;
  family: 4 | 6;
}

export interface NameOptions {
  hostsFile?: string;
  resolverFile?: string;
  /** Instead of the name servers of the system. */
  servers?: readonly string[];
}

const HOSTS_FILE =
  process.platform === 'win32'
    ? join(process.env['SystemRoot'] ?? 'C:\\Windows', 'System32', 'drivers', 'etc', 'hosts')
    : '/etc/hosts';
const RESOLVER_FILE = '/etc/resolv.conf';
const TIMEOUT_MS = 2000;
const TRIES = 2;
/** As many as the system's resolver tries. */
const MAX_DOMAINS = 6;

/**
 * Returns the addresses of the hosts file, or else those of the name servers; none if the name has
 * none, or the signal is aborted before they are known.
 */
export async function lookUpName(
  host: string,
  signal: AbortSignal,
  { hostsFile = HOSTS_FILE, resolverFile = RESOLVER_FILE, servers }: NameOptions = {},
): Promise<FoundAddress[]> {
  const name = host.toLowerCase().replace(/\.$/, '');
  const listed = await listInHostsFile(name, hostsFile);
  if (listed.length > 0) return listed;
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES });
  if (servers !== undefined) resolver.setServers(servers);
  const cancel = (): void => resolver.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    const domains = host.endsWith('.') ? [] : await listSearchDomains(resolverFile);
    for (const candidate of [name, ...domains.map((domain) => `${name}.${domain}`)]) {
      if (signal.aborted) return [];
      const found = await resolveBoth(resolver, candidate);
      if (found.length > 0) return found;
    }
    return [];
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

/** One family suffices: some name servers do not respond for the other one. */
async function resolveBoth(resolver: Resolver, name: string): Promise<FoundAddress[]> {
  const [four, six] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  return [...addressesOf(four, 4), ...addressesOf(six, 6)];
}

const addressesOf = (result: PromiseSettledResult<string[]>, family: 4 | 6): FoundAddress[] =>
  result.status === 'fulfilled' ? result.value.map((address) => ({ address, family })) : [];

const linesOf = async (file: string): Promise<string[][]> => {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text.split('\n').map((line) =>
    line
      .replace(/[#;].*/, '')
      .trim()
      .split(/\s+/),
  );
};

async function listInHostsFile(name: string, file: string): Promise<FoundAddress[]> {
  const found = (await linesOf(file)).filter(
    ([address = '', ...names]) => ipaddr.isValid(address) && names.some((one) => one.toLowerCase() === name),
  );
  return found.map(([address = '']) => ({ address, family: ipaddr.parse(address).kind() === 'ipv4' ? 4 : 6 }));
}

/** The last line of one of these words applies. */
async function listSearchDomains(file: string): Promise<string[]> {
  const found = (await linesOf(file)).findLast(([word]) => word === 'search' || word === 'domain') ?? [];
  return found.slice(1, 1 + MAX_DOMAINS).filter((domain) => domain !== '.');
}
