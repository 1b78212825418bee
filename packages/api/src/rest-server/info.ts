/** The network in the forms of kaspa-rest-server. */
import { createHash } from 'node:crypto';
import { MAX_SOMPI, type Network, SOMPI_PER_KAS } from '@kasgres/kaspa';
import { badRequest, type IndexState, notFound, requireCaughtUp } from '@kasgres/reads';
import { required } from '../node/node-calls.ts';
import { emissionOf } from '../resources/network/network.ts';
import { PAGE_COST } from '../resources/shared.ts';
import {
  type Call,
  flagOf,
  get,
  type Handler,
  nodeOf,
  plain,
  rangeOf,
  read,
  readState,
  type RestRoute,
  toKas,
} from './call.ts';
import * as network from './network-queries.ts';

/** The fields of the original's market data that pages read. A chain has no prices. */
const NO_MARKET_DATA = {
  current_price: { usd: null },
  market_cap: { usd: null },
  market_cap_rank: null,
  total_volume: { usd: null },
  price_change_percentage_24h: null,
  last_updated: null,
};

/** Responds with a value that only a market knows. */
const unknownToChain =
  (name: string): Handler =>
  async (call) =>
    flagOf(call, 'stringOnly') ? plain(call, 'null') : { [name]: null };

/** The sum of all subsidies, which they use on mainnet only. The node has a higher constant. */
const MAINNET_MAX_SOMPI = 28_704_035_605n * SOMPI_PER_KAS;

const maxSompiOf = ({ name }: Network): bigint => (name === 'mainnet' ? MAINNET_MAX_SOMPI : MAX_SOMPI);

/**
 * They estimate hash rates as the difficulty, which is that of one block, times two times blocks
 * per second.
 */
const hashesPerDifficulty = ({ crescendo, targetTimePerBlockMs }: Network, daaScore: number): number => {
  const isBefore = crescendo !== undefined && daaScore < crescendo.activationDaaScore;
  return 2000 / (isBefore ? crescendo.targetTimePerBlockMsBefore : targetTimePerBlockMs);
};

const hashed = (text: string): string => createHash('sha256').update(text).digest('hex');

async function readBlockDag(call: Call) {
  const info = await nodeOf(call).call('getBlockDagInfo', {});
  const {
    networkName,
    blockCount,
    headerCount,
    tipHashes,
    difficulty,
    pastMedianTime,
    virtualParentHashes,
    pruningPointHash,
    virtualDaaScore,
    sink,
  } = info;
  return {
    networkName,
    blockCount: String(blockCount),
    headerCount: String(headerCount),
    tipHashes,
    difficulty,
    pastMedianTime: String(pastMedianTime),
    virtualParentHashes,
    pruningPointHash,
    virtualDaaScore: String(virtualDaaScore),
    sink,
  };
}

async function readHashRates(
  call: Call,
  { fallback, range }: { fallback: network.Resolution; range?: { from: number; to: number } },
) {
  const text = call.query['resolution'] ?? fallback;
  const allowed = range === undefined ? network.resolutions : network.resolutions.slice(0, 2);
  const resolution = allowed.find((each) => each === text);
  if (resolution === undefined)
    throw badRequest({ path: 'resolution', message: `must be one of ${allowed.join(', ')}` });
  return read(call, async ({ db, state }) => {
    const rates = await network.listHashRates(db, { resolution, ...range });
    return rates.map(({ hashesPerSecond, blueScore, daaScore, timestamp }) => ({
      daaScore,
      blueScore,
      timestamp,
      date_time: new Date(timestamp).toISOString().replace('Z', '+00:00'),
      bits: null,
      difficulty: Math.floor(hashesPerSecond / hashesPerDifficulty(state.network, daaScore)),
      hashrate_kh: Math.floor(hashesPerSecond / 1000),
    }));
  });
}

/** Seconds or blue scores at ten a second that the index or the node may be behind. */
const TOLERANCE_SECONDS = 300;

async function readHealth(call: Call) {
  const { sinkBlueScore, sinkTimestamp, network: indexed } = await call.services.index.getState();
  const node = nodeOf(call);
  const [info, sink] = await Promise.all([node.call('getInfo', {}), node.call('getSinkBlueScore', {})]).catch(() => []);
  const lag = Math.max(Math.round((Date.now() - Number(sinkTimestamp)) / 1000), 0);
  const difference = sink === undefined ? null : Math.abs(Number(sink.blueScore - sinkBlueScore));
  const tolerated = (TOLERANCE_SECONDS * 1000) / indexed.targetTimePerBlockMs;
  const isSynced = lag < TOLERANCE_SECONDS && difference !== null && difference < tolerated;
  if (!isSynced || !info?.isSynced) call.reply.code(503);
  return {
    kaspadServers:
      info === undefined || sink === undefined
        ? []
        : [
            {
              kaspadHost: 'KASPAD_HOST_1',
              serverVersion: info.serverVersion,
              isUtxoIndexed: info.isUtxoIndexed,
              isSynced: info.isSynced,
              p2pId: hashed(info.p2pId),
              blueScore: Number(sink.blueScore),
            },
          ],
    database: {
      isSynced,
      blueScore: Number(sinkBlueScore),
      blueScoreDiff: difference,
      acceptedTxBlockTime: Number(sinkTimestamp),
      acceptedTxBlockTimeDiff: lag,
    },
  };
}

const sendSupply = (call: Call, sompi: bigint): string => {
  const supply = toKas(sompi);
  return plain(call, flagOf(call, 'in_billion') ? (supply / 1e9).toFixed(2) : String(supply));
};

const sendCirculating: Handler = (call) =>
  readState(call, (state) => {
    requireCaughtUp(state);
    return sendSupply(call, state.circulatingSompi);
  });

const toBucket = ({ feerate, estimatedSeconds }: { feerate: number; estimatedSeconds: number }) => ({
  feerate,
  estimatedSeconds,
});

function toHalving(call: Call, state: IndexState) {
  const { nextReward, nextRewardAt } = emissionOf(state);
  if (nextReward === null || nextRewardAt === null) throw notFound('There is no subsidy left to fall');
  const halving = {
    nextHalvingTimestamp: Math.floor(nextRewardAt / 1000),
    nextHalvingDate: `${new Date(nextRewardAt).toISOString().slice(0, 19).replace('T', ' ')} UTC`,
    nextHalvingAmount: toKas(BigInt(nextReward)),
  };
  const { field } = call.query;
  if (field === undefined) return halving;
  if (!Object.hasOwn(halving, field))
    throw badRequest({ path: 'field', message: `must be one of ${Object.keys(halving).join(', ')}` });
  return plain(call, String(halving[field as keyof typeof halving]));
}

export const infoRoutes: readonly RestRoute[] = [
  get('/info/blockdag', readBlockDag),
  get('/info/network', readBlockDag),
  get('/info/coinsupply', (call) =>
    readState(call, (state) => {
      requireCaughtUp(state);
      return { circulatingSupply: String(state.circulatingSompi), maxSupply: String(maxSompiOf(state.network)) };
    }),
  ),
  get('/info/coinsupply/circulating', sendCirculating),
  get('/info/coinsupply/total', sendCirculating),
  get('/info/coinsupply/max', (call) => readState(call, ({ network }) => sendSupply(call, maxSompiOf(network)))),
  get('/info/blockreward', (call) =>
    readState(call, (state) => {
      const reward = toKas(BigInt(emissionOf(state).blockReward));
      return flagOf(call, 'stringOnly') ? plain(call, reward.toFixed(2)) : { blockreward: reward };
    }),
  ),
  get('/info/halving', (call) => readState(call, (state) => toHalving(call, state))),
  get('/info/hashrate', async (call) => {
    const { difficulty, virtualDaaScore } = await nodeOf(call).call('getBlockDagInfo', {});
    const factor = hashesPerDifficulty(await call.services.index.getNetwork(), Number(virtualDaaScore));
    const hashrate = (difficulty * factor) / 1e12;
    return flagOf(call, 'stringOnly') ? plain(call, hashrate.toFixed(1)) : { hashrate };
  }),
  get('/info/hashrate/max', (call) =>
    read(call, async ({ db, state }) => {
      const highest = await network.findHighestHashRate(db);
      if (highest === undefined) throw notFound('Nothing is indexed yet');
      const { hashesPerSecond, hash, blueScore, daaScore, timestamp } = highest;
      return {
        hashrate: hashesPerSecond / 1e12,
        blockheader: {
          hash,
          timestamp: new Date(timestamp).toISOString().replace('Z', ''),
          difficulty: Math.floor(hashesPerSecond / hashesPerDifficulty(state.network, daaScore)),
          daaScore: String(daaScore),
          blueScore: String(blueScore),
        },
      };
    }),
  ),
  get('/info/hashrate/history', (call) => readHashRates(call, { fallback: '1h' }), PAGE_COST),
  get(
    '/info/hashrate/history/:date',
    (call) => readHashRates(call, { fallback: '15m', range: rangeOf(call, 'date') }),
    PAGE_COST,
  ),
  get('/info/virtual-chain-blue-score', (call) =>
    readState(call, ({ sinkBlueScore }) => ({ blueScore: Number(sinkBlueScore) })),
  ),
  get('/info/kaspad', async (call) => {
    const { mempoolSize, serverVersion, isUtxoIndexed, isSynced, p2pId } = await nodeOf(call).call('getInfo', {});
    return { mempoolSize: String(mempoolSize), serverVersion, isUtxoIndexed, isSynced, p2pIdHashed: hashed(p2pId) };
  }),
  get('/info/fee-estimate', async (call) => {
    const { estimate } = await nodeOf(call).call('getFeeEstimate', {});
    const { priorityBucket, normalBuckets, lowBuckets } = required(estimate, 'estimate');
    return {
      priorityBucket: toBucket(required(priorityBucket, 'priority bucket')),
      normalBuckets: normalBuckets.map(toBucket),
      lowBuckets: lowBuckets.map(toBucket),
    };
  }),
  get('/info/health', readHealth),
  get('/info/price', unknownToChain('price')),
  get('/info/market-data', async () => NO_MARKET_DATA),
  get('/info/marketcap', unknownToChain('marketcap')),
];
