/**
 * Which addresses a webhook may reach. Its owner chooses the URL, so an attempt must not reach what
 * only this machine can (SSRF): private networks, metadata services of clouds, and the machine
 * itself. WEBHOOK_ALLOW lists exceptions.
 */
import ipaddr from 'ipaddr.js';
import type { FoundAddress } from './names.ts';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
export type AllowedRange = [Address, number];

/** Global unicast addresses. Everything outside is reserved, or leads elsewhere. */
const GLOBAL_IPV6: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3];
const NAT64: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('64:ff9b::'), 96];
/** Azure gives machines their configuration at a public address. */
const METADATA: AllowedRange[] = [[ipaddr.IPv4.parse('168.63.129.16'), 32]];

/** Postgres takes no NUL, parsers drop tabs and line breaks, and UTF-8 has no half of a pair. */
const NOT_STORED = /[\p{Cc}\p{Cs}]/u;

/**
 * The URL or its address is refused. The message is for the owner of the webhook; the reason, for
 * the operator alone.
 */
export class TargetError extends Error {
  override name = 'TargetError';
  readonly reason: string | undefined;

  constructor(message: string, reason?: string) {
    super(message);
    this.reason = reason;
  }
}

export interface Target {
  url: URL;
  /** The addresses that were checked: those to connect to. */
  addresses: readonly FoundAddress[];
}

/** Parses WEBHOOK_ALLOW: addresses and CIDR ranges. @throws Error for anything else */
export const parseAllowed = (text: string): AllowedRange[] =>
  text.split(',').map((part) => {
    const range = part.trim();
    // Other forms of IPv4, such as 10.1, are likely mistakes.
    const [host = ''] = range.split('/');
    if (!host.includes(':') && !ipaddr.IPv4.isValidFourPartDecimal(host)) {
      // Without the value: it may be a secret that belongs to another variable.
      throw new Error('expected addresses such as 10.0.0.1 or ranges such as 10.0.0.0/8, separated by commas');
    }
    if (range.includes('/')) return ipaddr.parseCIDR(range);
    const address = ipaddr.parse(range);
    return [address, address.kind() === 'ipv4' ? 32 : 128];
  });

/**
 * Checks what can be checked without a look-up of the name.
 * @throws TargetError
 */
export function checkUrl(text: string, allowed: readonly AllowedRange[]): URL {
  if (NOT_STORED.test(text)) throw new TargetError('must not have control characters');
  const url = URL.parse(text);
  if (url === null) throw new TargetError('must be a URL such as https://example.org/kasgres');
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && allowed.length > 0)) {
    throw new TargetError('must begin with https://');
  }
  if (url.username !== '' || url.password !== '') throw new TargetError('must not have a user name or password');
  // The standard port of the protocol is an empty text here.
  if (url.port !== '' && Number(url.port) < 1024) {
    throw new TargetError(`must have port ${url.protocol === 'https:' ? 443 : 80}, or 1024 or above`);
  }
  const literal = hostOf(url);
  if (ipaddr.isValid(literal)) requireReachable(url, literal, allowed);
  return url;
}

/**
 * Resolves the name and checks every address, since any of them might be used.
 * @throws TargetError if one of them is refused, or the name has none. The message is the same for
 * both: it would tell which names exist in the network of this program
 */
export async function resolveTarget(
  text: string,
  allowed: readonly AllowedRange[],
  lookUp: (host: string) => Promise<readonly FoundAddress[]>,
): Promise<Target> {
  const url = checkUrl(text, allowed);
  const host = hostOf(url);
  if (ipaddr.isValid(host)) {
    return { url, addresses: [{ address: host, family: ipaddr.parse(host).kind() === 'ipv4' ? 4 : 6 }] };
  }
  const addresses = await lookUp(host);
  try {
    if (addresses.length === 0) throw new TargetError('it cannot be resolved');
    for (const { address } of addresses) requireReachable(url, address, allowed);
  } catch (error) {
    if (!(error instanceof TargetError)) throw error;
    throw new TargetError(`the name ${host} leads to no address that webhooks may reach`, error.message);
  }
  return { url, addresses };
}

/** Without the brackets of IPv6. */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');

function requireReachable(url: URL, text: string, allowed: readonly AllowedRange[]): void {
  const address = ipaddr.parse(text);
  const unwrapped = unwrap(address);
  if ([address, unwrapped].some((one) => isWithin(one, allowed))) return;
  if (url.protocol !== 'https:') throw new TargetError('must begin with https://');
  if (!isGlobal(unwrapped)) {
    throw new TargetError(`the address ${text} is not reachable over the internet; WEBHOOK_ALLOW lists exceptions`);
  }
}

/** Returns the IPv4 address that an IPv6 address leads to, or the address itself. */
function unwrap(address: Address): Address {
  if (!(address instanceof ipaddr.IPv6)) return address;
  if (address.isIPv4MappedAddress()) return address.toIPv4Address();
  const bytes = address.toByteArray();
  if (address.match(NAT64)) return new ipaddr.IPv4(bytes.slice(12));
  if (address.range() === '6to4') return new ipaddr.IPv4(bytes.slice(2, 6));
  return address;
}

const isGlobal = (address: Address): boolean =>
  address.range() === 'unicast' &&
  (address instanceof ipaddr.IPv4 ? !isWithin(address, METADATA) : address.match(GLOBAL_IPV6));

const isWithin = (address: Address, ranges: readonly AllowedRange[]): boolean =>
  ranges.some(([range, bits]) => range.kind() === address.kind() && address.match(range, bits));
