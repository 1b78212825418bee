/** The API as a Fastify plugin: what holds for every request, then the resources. It opens nothing: main.ts and the tests do. */
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { docsRoutes } from './docs/docs.ts';
import { requireKey } from './http/authentication.ts';
import { useErrorEnvelope } from './http/error-envelope.ts';
import { serializeLargeResponses } from './http/large-responses.ts';
import { refuseUnknownRoutes } from './http/unknown-routes.ts';
import { refuseUnknownQueries, serializerCompiler, validatorCompiler } from './http/validation.ts';
import { collectRoutes, describeApi } from './openapi/document.ts';
import { balanceRoutes } from './resources/addresses/balance.ts';
import { balanceHistoryRoutes } from './resources/addresses/balance-history/routes.ts';
import { clusterRoutes } from './resources/addresses/cluster/routes.ts';
import { addressRoutes } from './resources/addresses/get-address.ts';
import { listAddressesRoutes } from './resources/addresses/list.ts';
import { tagRoutes } from './resources/addresses/tag.ts';
import { addressUtxosRoutes } from './resources/addresses/utxos.ts';
import { addressTransactionsRoutes } from './resources/addresses/transactions.ts';
import { blockTemplateRoutes } from './resources/block-template.ts';
import { getBlocksRoutes } from './resources/blocks/get-blocks.ts';
import { daaScoreBlocksRoutes } from './resources/blocks/rest/daa-score.ts';
import { getBlockRoutes } from './resources/blocks/rest/get-block.ts';
import { listBlocksRoutes } from './resources/blocks/rest/list.ts';
import { daaScoreTimestampRoutes } from './resources/chain/daa-score-timestamps.ts';
import { hashRateRoutes } from './resources/chain/hash-rate.ts';
import { virtualChainRoutes } from './resources/chain/virtual-chain.ts';
import { mempoolRoutes } from './resources/mempool/routes.ts';
import { networkRoutes } from './resources/network.ts';
import { rpcRoutes } from './resources/rpc/routes.ts';
import { statusRoutes } from './resources/status.ts';
import { listTagsRoutes } from './resources/tags.ts';
import { acceptanceRoutes } from './resources/transactions/acceptance.ts';
import { listTransactionsRoutes } from './resources/transactions/rest/list.ts';
import { lookUpTransactionsRoutes } from './resources/transactions/rest/look-up.ts';
import type { ApiPlugin, Services } from './services.ts';

/** In the order of api-spec.md §4. */
const UNDER_KEY: readonly ApiPlugin[] = [
  virtualChainRoutes,
  getBlocksRoutes,
  mempoolRoutes,
  blockTemplateRoutes,
  acceptanceRoutes,
  daaScoreTimestampRoutes,
  tagRoutes,
  hashRateRoutes,
  balanceRoutes,
  networkRoutes,
  rpcRoutes,
  listBlocksRoutes,
  getBlockRoutes,
  daaScoreBlocksRoutes,
  listAddressesRoutes,
  addressRoutes,
  addressUtxosRoutes,
  balanceHistoryRoutes,
  clusterRoutes,
  listTagsRoutes,
  listTransactionsRoutes,
  lookUpTransactionsRoutes,
  addressTransactionsRoutes,
];

export const api: FastifyPluginAsync<Services> = async (app, services) => {
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  const routes = collectRoutes(app);
  // What was refused, or needs no key, costs nothing.
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('x-request-cost-ru', '0');
  });
  useErrorEnvelope(app);
  refuseUnknownRoutes(app, services);
  refuseUnknownQueries(app);
  serializeLargeResponses(app, services.turns);

  const paceAnonymous = async (_: FastifyRequest, reply: FastifyReply): Promise<void> =>
    services.anonymousPacer.wait(reply.raw);
  await app.register(async (open) => {
    open.addHook('onRequest', paceAnonymous);
    await open.register(statusRoutes, services);
  });
  await app.register(async (underKey) => {
    requireKey(underKey, services);
    for (const resource of UNDER_KEY) await underKey.register(resource, services);
  });
  await app.register(async (open) => {
    open.addHook('onRequest', paceAnonymous);
    await open.register(docsRoutes, { document: describeApi(routes), services });
  });
};
