/**
 * The example request of each operation, for the chain of the committed document or for the indexed
 * one.
 */

export interface ExampleRequest {
  path?: Record<string, string>;
  query?: Record<string, string | number | boolean>;
  body?: object;
}

/** Items of a chain that the requests refer to. */
export interface ExampleChain {
  address: string;
  taggedAddress: string;
  /** Belongs to a cluster together with `otherMember`, if there is a cluster. */
  member: string;
  otherMember: string | undefined;
  /** Accepted, and no coinbase. */
  transactionId: string;
  unknownTransactionId: string;
  /** A chain block some blocks below the sink. */
  blockHash: string;
  sink: string;
  daaScore: bigint;
  /** A chain block before the first payments. */
  early: { blockHash: string; daaScore: string };
  covenantId: string;
  /** An address with a UTXO of a covenant. */
  covenantAddress: string;
  /** The hash of a program, and a template. */
  programHash: string;
  template: string;
  /** The namespace of a user lane. */
  namespace: string;
  mempoolTransactionId: string;
  mempoolAddress: string;
  /** A payment that was not submitted yet, in the form of submitTransaction. */
  payment: object;
}

/**
 * Returns requests by operationId, in the order in which they can be sent: the last two change the
 * state of the node.
 */
export function exampleRequests(chain: ExampleChain): Record<string, ExampleRequest> {
  const { address, transactionId, blockHash, sink, daaScore, early, namespace } = chain;
  const { covenantId, mempoolTransactionId, mempoolAddress } = chain;
  const ids = [transactionId, chain.unknownTransactionId];
  return {
    getStatus: {},

    getVirtualChainFromBlock: { body: { startHash: blockHash, includeAcceptedTransactionIds: true } },
    getBlocks: { body: { lowHash: sink, includeBlocks: true, includeTransactions: false } },
    getMempoolEntry: { body: { transactionId: mempoolTransactionId } },
    getMempoolEntriesByAddresses: { body: { addresses: [mempoolAddress] } },
    getBlockTemplate: { body: { payAddress: address, extraData: 'my pool' } },
    getTransactionsAcceptance: { body: { transactionIds: ids } },
    getDaaScoreTimestampEstimate: { body: { daaScores: [String(daaScore), String(daaScore + 100_000n)] } },
    getAddressTag: { path: { address: chain.taggedAddress } },
    estimateNetworkHashesPerSecond: { query: { windowSize: 1000 } },
    getBalanceByAddress: { path: { address } },
    getCoinSupply: {},
    getCurrentNetwork: {},

    listAddresses: { query: { limit: 2 } },
    getAddress: { path: { address } },
    listAddressTransactions: { path: { address }, query: { limit: 2, accepted_only: true } },
    listAddressUtxos: { path: { address }, query: { limit: 2 } },
    getAddressBalanceHistory: { path: { address }, query: { interval: 'day' } },
    getAddressCluster: {
      path: { address: chain.member },
      query: { limit: 2, ...(chain.otherMember !== undefined && { evidence_for: chain.otherMember }) },
    },
    listTags: { query: { limit: 2 } },
    getAddresses: { body: { addresses: [address, chain.taggedAddress] } },
    listBlocks: { query: { limit: 2, chain_only: true } },
    getBlockDetails: { path: { hash: blockHash }, query: { include_transactions: false } },
    listBlockTransactions: { path: { hash: blockHash }, query: { limit: 1, relation: 'contained' } },
    getBlocksByDaaScore: { path: { start: early.daaScore, end: early.daaScore } },
    listTransactions: { query: { limit: 2, include_payload: true } },
    getTransactions: { body: { transactionIds: ids, includePayload: false } },
    getTransaction: { path: { transactionId } },

    listCovenants: { query: { limit: 2 } },
    getCovenants: { body: { covenantIds: [covenantId, chain.unknownTransactionId] } },
    getCovenant: { path: { covenantId } },
    listCovenantUtxos: { path: { covenantId }, query: { limit: 1 } },
    listCovenantEvents: { path: { covenantId }, query: { limit: 1 } },
    listNewestCovenantEvents: { query: { limit: 1 } },
    listAddressCovenants: { path: { address: chain.covenantAddress }, query: { limit: 1 } },
    getProgram: { path: { hash: chain.programHash }, query: { include: 'bytes,disassembly', limit: 3 } },
    listTemplates: { query: { limit: 2 } },
    getTemplate: { path: { hash: chain.template } },
    listTemplateCovenants: { path: { hash: chain.template }, query: { limit: 1 } },

    listLanes: { query: { limit: 2 } },
    getLane: { path: { namespace } },
    listInscriptions: { query: { limit: 2 } },
    listLaneTransactions: { path: { namespace }, query: { limit: 1 } },

    search: { query: { q: blockHash.slice(0, 12), limit: 5 } },
    getNetwork: {},
    getNetworkHistory: { query: { interval: 'minute' } },
    getNetworkProtocols: { query: { interval: 'day' } },
    getCirculatingSupply: {},
    getMaxSupply: {},
    getDistribution: {},
    getMiners: { query: { interval: 'hour' } },
    getDag: { query: { around: early.blockHash, span: 4 } },
    getMempool: {},
    getTransactionMass: { body: { transaction: chain.payment } },
    getPendingTransaction: { path: { transactionId: mempoolTransactionId } },

    getBlock: { body: { hash: early.blockHash, includeTransactions: true } },
    getBlockDagInfo: {},
    getBlockCount: {},
    getSink: {},
    getSinkBlueScore: {},
    getBalancesByAddresses: { body: { addresses: [address, mempoolAddress] } },
    getUtxosByAddresses: { body: { addresses: [address] } },
    getMempoolEntries: {},
    getMempoolEntriesOfPools: { body: { includeOrphanPool: true, filterTransactionPool: true } },
    getFeeEstimate: {},
    getInfo: {},
    getServerInfo: {},
    getSeqCommitLaneProof: { body: { blockHash: sink, laneKey: 'ab'.repeat(32) } },
    getSubnetwork: { body: { subnetworkId: `01${'0'.repeat(38)}` } },
    createWebhook: { body: { url: 'https://example.com/kaspa', addresses: [address], confirmations: 100 } },
    listWebhooks: {},
    getWebhook: { path: { id: '1' } },
    updateWebhook: { path: { id: '1' }, body: { status: 'disabled' } },
    rotateWebhookSecret: { path: { id: '1' } },
    testWebhook: { path: { id: '1' } },
    replayWebhook: { path: { id: '1' }, body: { from: blockHash } },
    listWebhookDeliveries: { path: { id: '1' }, query: { limit: 1 } },
    deleteWebhook: { path: { id: '1' } },
    submitTransaction: { body: { transaction: chain.payment } },
    // The body is made from the response of getBlockTemplate.
    submitBlock: {},
  };
}
