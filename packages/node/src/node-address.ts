/** Where nodes are, as the operator writes it. */
import type { Network } from '@kasgres/kaspa';

export interface NodeAddress {
  /** With brackets where it is an IPv6 address. */
  host: string;
  port: number;
}

/** `grpc://host:port` or `host:port`. Throws TypeError that says what is wrong. */
export function parseNodeAddress(url: string): NodeAddress {
  const address = findNodeAddress(url);
  if (address !== undefined) return address;
  throw new TypeError(`the node's address must look like grpc://host:port, not ${JSON.stringify(url)}`);
}

/**
 * The addresses of one node or, separated by commas, of several. Throws TypeError that names everything that is wrong by its
 * place, and repeats none of it: a mistaken value may be a secret.
 */
export function parseNodeUrls(list: string): string[] {
  const urls = list.split(',').map((url) => url.trim());
  const wrong = urls.flatMap((url, index) => (findNodeAddress(url) === undefined ? [index + 1] : []));
  if (wrong.length === 0) return urls;
  const which = urls.length === 1 ? 'the address' : `of ${urls.length} addresses, number ${wrong.join(' and ')}`;
  throw new TypeError(`${which} must look like grpc://host:port`);
}

/** One address. Throws TypeError that repeats nothing of it. */
export function parseNodeUrl(url: string): string {
  const urls = parseNodeUrls(url);
  if (urls.length > 1) throw new TypeError('one address is wanted, not several');
  return urls[0] as string;
}

/** Where a node speaks to its peers, if it does at its network's port. */
export function p2pUrlOf(nodeUrl: string, { p2pPort }: Pick<Network, 'p2pPort'>): string {
  return `grpc://${parseNodeAddress(nodeUrl).host}:${p2pPort}`;
}

/** `host:port`, as logs and metrics name a node. Throws as `parseNodeAddress`. */
export function nameOfNode(url: string): string {
  const { host, port } = parseNodeAddress(url);
  return `${host}:${port}`;
}

function findNodeAddress(url: string): NodeAddress | undefined {
  const text = url.includes('://') ? url : `grpc://${url}`;
  const parsed = URL.canParse(text) ? new URL(text) : undefined;
  if (parsed?.protocol !== 'grpc:' || parsed.hostname === '' || parsed.port === '' || !/^\/?$/.test(parsed.pathname)) {
    return undefined;
  }
  return { host: parsed.hostname, port: Number(parsed.port) };
}
