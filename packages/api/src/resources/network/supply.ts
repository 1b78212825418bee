/** GET /v1/network/supply/…: the supply as plain text, as sites that list currencies ask for it. */
import { MAX_SOMPI, SOMPI_PER_KAS } from '@kasgres/kaspa';
import { requireCaughtUp } from '@kasgres/reads';
import { z } from 'zod';
import { stateRoute } from '../../openapi/route.ts';
import { lookUp } from '../shared.ts';

/** With all eight decimals. */
const toKas = (amount: bigint): string =>
  `${amount / SOMPI_PER_KAS}.${String(amount % SOMPI_PER_KAS).padStart(8, '0')}`;

const kas = z.string().regex(/^\d+\.\d{8}$/);

export const getCirculatingSupply = stateRoute(
  {
    ...lookUp('Network', '/v1/network/supply/circulating', 'getCirculatingSupply'),
    summary: 'Circulating supply in KAS, as plain text',
    responseType: 'text/plain',
    response: kas.meta({ description: 'Sum of all UTXOs at the sink, in KAS with eight decimals' }),
  },
  (state) => {
    requireCaughtUp(state);
    return toKas(state.circulatingSompi);
  },
);

export const getMaxSupply = stateRoute(
  {
    ...lookUp('Network', '/v1/network/supply/max', 'getMaxSupply'),
    summary: 'Maximum supply in KAS, as plain text',
    description:
      'The constant that nodes report as their maximum: an upper limit of amounts. All subsidies together are a little less, since they are rounded for each month and block, and blocks that are not rewarded mint nothing.',
    responseType: 'text/plain',
    response: kas.meta({ description: 'In KAS with eight decimals' }),
  },
  () => toKas(MAX_SOMPI),
);
