/** GET /v1/addresses/{address}/tag: the tag of an address, else of its cluster. */
import { findClusterTag, findOwnTag, type Tag } from '@kasgres/database';
import { addressToScript } from '@kasgres/kaspa';
import { z } from 'zod';
import { notFound } from '../../http/errors.ts';
import { type Reading, requireCaughtUp } from '../../index-state/state.ts';
import { indexRoute } from '../../route.ts';
import { addressTag, requireNetwork } from '../../schemas/address.ts';
import { addressInput } from '../../schemas/values.ts';

export async function findTag({ db, state }: Reading, address: string): Promise<Tag | undefined> {
  const own = await findOwnTag(db, address);
  if (own !== undefined) return own;
  requireCaughtUp(state);
  const ofCluster = await findClusterTag(db, addressToScript(address));
  return ofCluster && { ...ofCluster, address };
}

export const getAddressTag = indexRoute(
  {
    method: 'GET',
    url: '/v1/addresses/:address/tag',
    operationId: 'getAddressTag',
    summary: 'Tag of an address, else of its cluster',
    tag: 'Address',
    cost: 0.1,
    tagOf: 'content',
    params: z.strictObject({ address: addressInput }),
    response: z.object({ tag: addressTag }),
    errors: [404],
  },
  async (reading, { params: { address } }) => {
    requireNetwork(reading.state.network, address, 'address');
    const tag = await findTag(reading, address);
    if (tag === undefined) throw notFound('This address has no tag');
    return { tag };
  },
);
