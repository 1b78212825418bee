/** Where a node is, as the operator writes it. */

export interface NodeAddress {
  /** With brackets where it is an IPv6 address. */
  host: string;
  port: number;
}

/** `grpc://host:port` or `host:port`. Throws TypeError that says what is wrong. */
export function parseNodeAddress(url: string): NodeAddress {
  const text = url.includes('://') ? url : `grpc://${url}`;
  const parsed = URL.canParse(text) ? new URL(text) : undefined;
  if (parsed?.protocol !== 'grpc:' || parsed.hostname === '' || parsed.port === '' || !/^\/?$/.test(parsed.pathname)) {
    throw new TypeError(`the node's address must look like grpc://host:port, not ${JSON.stringify(url)}`);
  }
  return { host: parsed.hostname, port: Number(parsed.port) };
}
