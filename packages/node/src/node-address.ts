/** Addresses of nodes in the configuration. */
import type { Network } from '@kasgres/kaspa';

export interface NodeAddress {
  /** An IPv6 address has brackets. */
  host: string;
  port: number;
}

/** Parses `grpc://host:port` or `host:port`. Throws a TypeError that does not contain the value. */
export function parseNodeAddress(url: string): NodeAddress {
  const address = findNodeAddress(url);
  if (address !== undefined) return address;
  throw new TypeError("the node's address must look like grpc://host:port");
}

/**
 * Parses addresses that are separated by commas. Throws a TypeError with the positions of malformed
 * ones. It does not contain the values, since a misplaced value may be a secret.
 */
export function parseNodeUrls(list: string): string[] {
  const urls = list.split(',').map((url) => url.trim());
  const wrong = urls.flatMap((url, index) => (findNodeAddress(url) === undefined ? [index + 1] : []));
  if (wrong.length === 0) return urls;
  const which = urls.length === 1 ? 'the address' : `of ${urls.length} addresses, number ${wrong.join(' and ')}`;
  throw new TypeError(`${which} must look like grpc://host:port`);
}

/** Parses a single address. Throws a TypeError that does not contain the value. */
export function parseNodeUrl(url: string): string {
  const urls = parseNodeUrls(url);
  if (urls.length > 1) throw new TypeError('one address is expected, not several');
  return urls[0] as string;
}

/** Returns the p2p address of a node that uses the default port of its network. */
export function p2pUrlOf(nodeUrl: string, { p2pPort }: Pick<Network, 'p2pPort'>): string {
  return `grpc://${parseNodeAddress(nodeUrl).host}:${p2pPort}`;
}

/** Returns `host:port`, the name of a node in logs and metrics. Throws as `parseNodeAddress`. */
export function nameOfNode(url: string): string {
  const { host, port } = parseNodeAddress(url);
  return `${host}:${port}`;
}

/**
 * Accepts nothing besides host and port: nodes have no users, and a part of a password that is not
 * encoded could be in the place of the host.
 */
function findNodeAddress(url: string): NodeAddress | undefined {
  const text = url.includes('://') ? url : `grpc://${url}`;
  const parsed = URL.canParse(text) ? new URL(text) : undefined;
  if (parsed?.protocol !== 'grpc:' || parsed.hostname === '' || parsed.port === '') return undefined;
  if (!/^grpc:\/\/[^/?#@]+\/?$/.test(parsed.href)) return undefined;
  return { host: parsed.hostname, port: Number(parsed.port) };
}
