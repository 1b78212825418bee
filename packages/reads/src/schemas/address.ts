/**
 * Addresses in requests, which must be of the indexed network, and the schemas of tags and labels.
 */
import { decodeAddress, type Network } from '@kasgres/kaspa';
import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import { badRequest } from '../http/errors.ts';
import type { ParameterOf } from '../index-state/statement.ts';
import { address } from './values.ts';

/** @throws HttpError 400 for an address of another network */
export function requireNetwork(network: Network, address: string, path: string): void {
  if (decodeAddress(address).prefix !== network.addressPrefix) {
    throw badRequest({ path, message: `is not an address of ${network.name}` });
  }
}

/** @throws HttpError 400 for the first item of a field that is an address of another network */
export function requireNetworkOfAll(network: Network, addresses: readonly string[], path = 'addresses'): void {
  for (const [index, address] of addresses.entries()) requireNetwork(network, address, `${path}.${index}`);
}

/** @throws HttpError 400 for a cursor that is an address of another network */
export function requireNetworkOfCursor(
  network: Network,
  query: { starting_after?: string | undefined; ending_before?: string | undefined },
): void {
  for (const path of ['starting_after', 'ending_before'] as const) {
    const cursor = query[path];
    if (cursor !== undefined) requireNetwork(network, cursor, path);
  }
}

/** Parameters of a statement about an address. */
export interface AddressParameters {
  address: string;
}

/** Selects the key of the script of an address; null if it was never seen. */
export const scriptIdOf = (parameter: ParameterOf<AddressParameters>): RawBuilder<bigint | null> => sql`(
  select id from scripts where address = ${parameter('address', 'text')})`;

export const addressTag = z
  .object({
    address,
    name: z.string(),
    link: z.string().meta({ description: 'Page with more information, or empty' }),
    labels: z.array(z.string()),
    isGuessed: z.literal(true).optional().meta({
      description:
        'Only if the address has no tag itself: the name is that of its cluster, which other addresses have. Not in the response of getAddressTag',
    }),
  })
  .meta({ id: 'AddressTag' });

export type AddressTagJson = z.infer<typeof addressTag>;

/** Labels by measured behaviour (docs/labels.md), which are never part of a tag. */
export const automaticLabels = z.array(z.string()).meta({
  description:
    'Measured behaviour of the address on the chain, sorted: `dormant`, `dust-sweeper`, `exchange-like`, `miner`, `reused`; later versions may add others. They do not identify the owner',
});
