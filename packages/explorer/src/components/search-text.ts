/** Texts of the search box that the API finds nothing for. */

const NETWORKS: Readonly<Record<string, string>> = {
  kaspa: 'mainnet',
  kaspatest: 'a testnet',
  kaspasim: 'simnet',
  kaspadev: 'a devnet',
};

const isOf = (prefix: string, network: string): boolean =>
  prefix === 'kaspa' ? network === 'mainnet' : network.startsWith(prefix.slice('kaspa'.length));

/**
 * Returns why a text matches nothing, if it is known; undefined otherwise.
 * @param network the name of that of this explorer
 */
export function explainNothing(text: string, network: string | undefined): string | undefined {
  const [, prefix = '', payload = ''] = /\b(kaspa(?:test|sim|dev)?):([a-z0-9]*)/i.exec(text.toLowerCase()) ?? [];
  const of = NETWORKS[prefix];
  if (of === undefined || network === undefined) return undefined;
  if (!isOf(prefix, network)) return `This is an address of ${of}, and this explorer shows ${network}.`;
  if (payload.length >= MIN_ADDRESS_LENGTH) return 'This is no valid address: check it for a typing error.';
  return undefined;
}

/** The least length of an address without its prefix. */
const MIN_ADDRESS_LENGTH = 61;
/** Shorter beginnings match too much. */
const MIN_LENGTH = 4;

/** Returns the name of a protocol that a text may be, or that a URL of its page has. */
export function protocolOf(text: string): string | undefined {
  const [, inUrl] = /[?&]protocol=([^&#]*)/.exec(text) ?? [];
  const name = (inUrl ?? text).toLowerCase();
  return /^[a-z0-9_-]{1,32}$/.test(name) ? name : undefined;
}

/** The items that pages show shortened, by the first part of their paths. */
export const SHORTENED: Readonly<Record<string, string>> = {
  blocks: 'block',
  transactions: 'transaction',
  addresses: 'address',
  covenants: 'covenant',
  programs: 'program',
  templates: 'template',
};

/**
 * Returns the paths of blocks, transactions, addresses and others that a shortened text such as
 * `kaspa:qz1234…abcdef` means.
 */
export function matchShortened(text: string, paths: readonly string[]): string[] {
  // The number of an output leads to its transaction.
  const [start = '', end = ''] = text
    .trim()
    .toLowerCase()
    .replace('...', '…')
    .replace(/(?<=….*):\d+$/, '')
    .split('…');
  if (!/^[a-z0-9:]+$/.test(start) || !/^[a-z0-9]*$/.test(end)) return [];
  const own = start.replace(/^kaspa(?:test|sim|dev)?:/, '');
  if (own.length < MIN_LENGTH) return [];
  const matches = paths.filter((path) => {
    const [, kind = '', id] = /^\/(\w+)\/([^/]+)$/.exec(path) ?? [];
    if (!Object.hasOwn(SHORTENED, kind) || id === undefined || !id.endsWith(end)) return false;
    return id.startsWith(start) || id.slice(id.indexOf(':') + 1).startsWith(start);
  });
  return [...new Set(matches)].slice(0, MAX_MATCHES);
}

const MAX_MATCHES = 10;
