/** The API as a Fastify plugin: common hooks, then the resources. */
import Fastify, { type FastifyInstance, type FastifyPluginAsync } from 'fastify';
import { docsRoutes } from './docs/docs.ts';
import { explorerRoutes } from './explorer/explorer.ts';
import { createPageReader } from './explorer/page-data.ts';
import { refuseUnknownRoutes } from './explorer/unknown-routes.ts';
import { requireUncompressedBody } from './http/compression.ts';
import { useErrorEnvelope } from './http/error-envelope.ts';
import { serializeLargeResponses } from './http/large-responses.ts';
import { validatorCompiler } from './http/validation.ts';
import { requireKey } from './limits/authentication.ts';
import { Pacer } from './limits/pacer.ts';
import { collectOperations } from './openapi/document.ts';
import type { ApiPlugin } from './openapi/route.ts';
import { getAddress, getAddresses, getAddressTag } from './resources/addresses/address.ts';
import { getAddressBalanceHistory } from './resources/addresses/balance-history.ts';
import { getBalanceByAddress, getBalancesByAddresses } from './resources/addresses/balances.ts';
import { getAddressCluster } from './resources/addresses/cluster/routes.ts';
import { listAddresses } from './resources/addresses/list.ts';
import { listAddressTransactions } from './resources/addresses/transactions.ts';
import { getUtxosByAddresses, listAddressUtxos } from './resources/addresses/utxos.ts';
import { getBlockTemplate } from './resources/block-template.ts';
import { getBlocksByDaaScore } from './resources/blocks/daa-score.ts';
import { getBlocks } from './resources/blocks/get-blocks.ts';
import { listBlocks } from './resources/blocks/list.ts';
import { getBlock, getBlockDetails } from './resources/blocks/rest-blocks.ts';
import { getCovenant, getCovenants } from './resources/covenants/covenant.ts';
import { listCovenantEvents, listNewestCovenantEvents } from './resources/covenants/events.ts';
import { listAddressCovenants, listCovenants, listTemplateCovenants } from './resources/covenants/list.ts';
import { listCovenantUtxos } from './resources/covenants/utxos.ts';
import { getDaaScoreTimestampEstimate } from './resources/chain/daa-score-timestamps.ts';
import { estimateNetworkHashesPerSecond } from './resources/chain/hash-rate.ts';
import { getVirtualChainFromBlock } from './resources/chain/virtual-chain.ts';
import { getMempoolEntriesByAddresses, getMempoolEntry, mempoolListings } from './resources/mempool/routes.ts';
import {
  getBlockCount,
  getBlockDagInfo,
  getCoinSupply,
  getCurrentNetwork,
  getFeeEstimate,
  getInfo,
  getSeqCommitLaneProof,
  getServerInfo,
  getSink,
  getSinkBlueScore,
  getSubnetwork,
} from './resources/rpc/state.ts';
import { submitBlock, submitTransaction } from './resources/rpc/submit.ts';
import { listInscriptions } from './resources/inscriptions/list.ts';
import { getLane, listLanes } from './resources/lanes/lanes.ts';
import { listLaneTransactions } from './resources/lanes/transactions.ts';
import { getDag } from './resources/blocks/dag.ts';
import { listBlockTransactions } from './resources/blocks/transactions.ts';
import { getPendingTransaction } from './resources/mempool/pending.ts';
import { getMempool } from './resources/mempool/summary.ts';
import { getDistribution } from './resources/network/distribution.ts';
import { getNetworkHistory } from './resources/network/history.ts';
import { getMiners } from './resources/network/miners.ts';
import { getNetworkProtocols } from './resources/network/protocols.ts';
import { getNetwork } from './resources/network/network.ts';
import { getProgram } from './resources/programs/program.ts';
import { getTemplate, listTemplates } from './resources/programs/templates.ts';
import { getCirculatingSupply, getMaxSupply } from './resources/network/supply.ts';
import { search } from './resources/search/search.ts';
import { getStatus } from './resources/status.ts';
import { listTags } from './resources/tags.ts';
import { getTransactionsAcceptance } from './resources/transactions/acceptance.ts';
import { getTransactionMass } from './resources/transactions/mass.ts';
import { getTransaction, getTransactions, listTransactions } from './resources/transactions/rest/routes.ts';
import { restServerRoutes } from './rest-server/routes.ts';
import { createStreamToken, getStream, postStream } from './stream/routes.ts';
import { openWebSocket } from './stream/websocket.ts';
import type { Services } from './services.ts';
import {
  createWebhook,
  listWebhooks,
  getWebhook,
  updateWebhook,
  deleteWebhook,
  rotateWebhookSecret,
  testWebhook,
  replayWebhook,
  listWebhookDeliveries,
} from './webhooks/routes.ts';

/** In the order of openapi.json. */
const OPERATIONS_WITH_KEY: readonly ApiPlugin[] = [
  getVirtualChainFromBlock,
  getBlocks,
  getMempoolEntry,
  mempoolListings,
  getMempoolEntriesByAddresses,
  getBlockTemplate,
  getTransactionsAcceptance,
  getDaaScoreTimestampEstimate,
  getAddressTag,
  estimateNetworkHashesPerSecond,
  getBalanceByAddress,
  getCurrentNetwork,
  getCoinSupply,
  getBlock,
  getBlockDagInfo,
  getBlockCount,
  getSink,
  getSinkBlueScore,
  getBalancesByAddresses,
  getUtxosByAddresses,
  getFeeEstimate,
  getInfo,
  getServerInfo,
  getSubnetwork,
  getSeqCommitLaneProof,
  submitTransaction,
  submitBlock,
  listBlocks,
  getBlockDetails,
  listBlockTransactions,
  getBlocksByDaaScore,
  listAddresses,
  getAddresses,
  getAddress,
  listAddressUtxos,
  getAddressBalanceHistory,
  getAddressCluster,
  listTags,
  listTransactions,
  getTransaction,
  getTransactions,
  listAddressTransactions,
  listLanes,
  getLane,
  listLaneTransactions,
  listInscriptions,
  listCovenants,
  getCovenants,
  getCovenant,
  listCovenantUtxos,
  listCovenantEvents,
  listNewestCovenantEvents,
  listAddressCovenants,
  getProgram,
  listTemplates,
  getTemplate,
  listTemplateCovenants,
  search,
  getNetwork,
  getNetworkHistory,
  getNetworkProtocols,
  getCirculatingSupply,
  getMaxSupply,
  getDistribution,
  getMiners,
  getDag,
  getMempool,
  getPendingTransaction,
  getTransactionMass,
  getStream,
  postStream,
  createStreamToken,
  openWebSocket,
  createWebhook,
  listWebhooks,
  getWebhook,
  updateWebhook,
  deleteWebhook,
  rotateWebhookSecret,
  testWebhook,
  replayWebhook,
  listWebhookDeliveries,
];

export const api: FastifyPluginAsync<Services> = async (app, services) => {
  app.setValidatorCompiler(validatorCompiler);
  const operations = collectOperations(app);
  useErrorEnvelope(app);
  refuseUnknownRoutes(app, services);
  serializeLargeResponses(app, services.turns);

  const serveWithoutKey = (open: FastifyInstance): void => {
    open.addHook('onRequest', async (_request, reply) => services.anonymousPacer.wait(reply.raw));
    open.addHook('preParsing', async (request) => requireUncompressedBody(request));
  };
  await app.register(async (open) => {
    serveWithoutKey(open);
    await open.register(getStatus, services);
  });
  await app.register(async (withKey) => {
    requireKey(withKey, services);
    for (const operation of OPERATIONS_WITH_KEY) await withKey.register(operation, services);
    await withKey.register(restServerRoutes, services);
  });
  await app.register(async (open) => {
    serveWithoutKey(open);
    await open.register(docsRoutes, { operations, services });
  });
  const { explorer } = services;
  if (explorer === undefined) return;
  await app.register(async (open) => {
    serveWithoutKey(open);
    const readPage = services.isAnonymousAllowed ? createPageReader(app) : undefined;
    await open.register(explorerRoutes, { files: explorer, readPage });
  });
};

/**
 * Returns the document that the API serves at /openapi.json. It needs no services, since routes use
 * them only for responses.
 */
export async function generateDocument(): Promise<object> {
  const app = Fastify();
  await app.register(api, { anonymousPacer: new Pacer({ perSecond: 1, burst: 1 }) } as Services);
  const response = await app.inject('/openapi.json');
  await app.close();
  return response.json<object>();
}
