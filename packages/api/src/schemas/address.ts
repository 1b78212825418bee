/** Addresses of other networks are well-formed, and refused. */
import { decodeAddress, type Network } from '@kasgres/kaspa';
import { badRequest } from '../http/errors.ts';
import type { PageQuery } from '../pages/page-query.ts';

/** @throws HttpError 400 that names the field, for the address of another network */
export function requireNetwork(network: Network, address: string, path: string): void {
  if (decodeAddress(address).prefix !== network.addressPrefix) {
    throw badRequest({ path, message: `is not an address of ${network.name}` });
  }
}

/** @throws HttpError 400 that names the first place of the field `addresses` with an address of another network */
export function requireNetworkOfAll(network: Network, addresses: readonly string[]): void {
  for (const [place, address] of addresses.entries()) requireNetwork(network, address, `addresses.${place}`);
}

/** @throws HttpError 400 for a cursor that is the address of another network */
export function requireNetworkOfCursor(network: Network, query: PageQuery<string>): void {
  for (const path of ['starting_after', 'ending_before'] as const) {
    const cursor = query[path];
    if (cursor !== undefined) requireNetwork(network, cursor, path);
  }
}
