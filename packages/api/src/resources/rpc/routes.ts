/** The endpoints under /v1/rpc beyond the specification's. */
import type { ApiPlugin } from '../../services.ts';
import { rpcBalancesRoutes } from './balances.ts';
import { rpcBlockRoutes } from './block.ts';
import { rpcDagInfoRoutes } from './dag-info.ts';
import { rpcFeeEstimateRoutes } from './fee-estimate.ts';
import { rpcNodeInfoRoutes } from './node-info.ts';
import { rpcSinkRoutes } from './sink.ts';
import { submitBlockRoutes } from './submit-block.ts';
import { submitTransactionRoutes } from './submit-transaction.ts';
import { rpcUtxosRoutes } from './utxos.ts';

const ROUTES: readonly ApiPlugin[] = [
  rpcBlockRoutes,
  rpcDagInfoRoutes,
  rpcSinkRoutes,
  rpcBalancesRoutes,
  rpcUtxosRoutes,
  rpcFeeEstimateRoutes,
  rpcNodeInfoRoutes,
  submitTransactionRoutes,
  submitBlockRoutes,
];

export const rpcRoutes: ApiPlugin = async (app, services) => {
  for (const routes of ROUTES) await app.register(routes, services);
};
