/** Addresses of other networks are well-formed, and refused. */
import { decodeAddress, type Network } from '@kasgres/kaspa';
import { badRequest } from '../http/errors.ts';

/** @throws HttpError 400 that names the field, for the address of another network */
export function requireNetwork(network: Network, address: string, path: string): void {
  if (decodeAddress(address).prefix !== network.addressPrefix) {
    throw badRequest({ path, message: `is not an address of ${network.name}` });
  }
}
