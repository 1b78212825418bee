/** getCurrentNetwork, getCoinSupply, getSink and getSinkBlueScore, which follow from the checkpoint alone. */
import { MAX_SOMPI } from '@kasgres/kaspa';
import { z } from 'zod';
import { requireCaughtUp } from '../index-state/state.ts';
import { indexRoute } from '../route.ts';
import { decimal, hash, sompi } from '../schemas/values.ts';

export const getCurrentNetwork = indexRoute(
  {
    method: 'GET',
    url: '/v1/rpc/getCurrentNetwork',
    operationId: 'getCurrentNetwork',
    summary: 'Name of the network',
    tag: 'Node RPC Proxy',
    cost: 0.1,
    response: z.object({ network: z.enum(['mainnet', 'testnet', 'simnet', 'devnet']) }),
  },
  async ({ state }) => ({ network: state.network.name }),
);

export const getCoinSupply = indexRoute(
  {
    method: 'GET',
    url: '/v1/rpc/getCoinSupply',
    operationId: 'getCoinSupply',
    summary: 'Circulating and maximum supply',
    tag: 'Node RPC Proxy',
    cost: 0.1,
    response: z.object({
      maxSompi: sompi,
      circulatingSompi: sompi.meta({ description: 'Sum of all UTXOs at the sink' }),
    }),
  },
  async ({ state }) => {
    requireCaughtUp(state);
    return { maxSompi: String(MAX_SOMPI), circulatingSompi: String(state.circulatingSompi) };
  },
);

export const getSink = indexRoute(
  {
    method: 'GET',
    url: '/v1/rpc/getSink',
    operationId: 'getSink',
    summary: 'Hash of the sink: the highest indexed chain block',
    tag: 'Node RPC Proxy',
    cost: 0.1,
    response: z.object({ sink: hash }),
  },
  async ({ state }) => ({ sink: state.sinkHash }),
);

export const getSinkBlueScore = indexRoute(
  {
    method: 'GET',
    url: '/v1/rpc/getSinkBlueScore',
    operationId: 'getSinkBlueScore',
    summary: 'Blue score of the sink',
    tag: 'Node RPC Proxy',
    cost: 0.1,
    response: z.object({ blueScore: decimal }),
  },
  async ({ state }) => ({ blueScore: String(state.sinkBlueScore) }),
);
