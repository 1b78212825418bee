/** The tag of an address: its own, else that of the cluster it belongs to. */
import { findClusterTag, findOwnTag, type Tag } from '@kasgres/database';
import { addressToScript } from '@kasgres/kaspa';
import { z } from 'zod';
import { notFound } from '../../http/errors.ts';
import { respondByContent } from '../../index-state/answer.ts';
import { type Reading, requireCaughtUp } from '../../index-state/state.ts';
import { requireNetwork } from '../../schemas/address.ts';
import { answers, UNDER_KEY } from '../../schemas/responses.ts';
import { addressTag } from '../../schemas/tag.ts';
import { addressInput } from '../../schemas/values.ts';
import type { ApiPlugin } from '../../services.ts';

const params = z.strictObject({ address: addressInput });

export async function findTag({ db, state }: Reading, address: string): Promise<Tag | undefined> {
  const own = await findOwnTag(db, address);
  if (own !== undefined) return own;
  requireCaughtUp(state);
  const ofCluster = await findClusterTag(db, addressToScript(address));
  return ofCluster && { ...ofCluster, address };
}

export const tagRoutes: ApiPlugin = async (app, { index }) => {
  app.get(
    '/v1/addresses/:address/tag',
    {
      config: { cost: 0.1 },
      schema: {
        operationId: 'getAddressTag',
        summary: 'Whose address this is, as far as it is known',
        tags: ['Address'],
        params,
        response: answers(z.object({ tag: addressTag }), 304, ...UNDER_KEY, 400, 404),
      },
    },
    (request, reply) =>
      respondByContent(index, request, reply, async (reading) => {
        const { address } = request.params;
        requireNetwork(reading.state.network, address, 'address');
        const tag = await findTag(reading, address);
        if (tag === undefined) throw notFound('This address has no tag');
        return { tag };
      }),
  );
};
