/** Blocks and the virtual chain in the forms of kaspa-rest-server. */
import { fromHex, type Network } from '@kasgres/kaspa';
import { badRequest, notFound } from '../http/errors.ts';
import { runWithin } from '../index-state/state.ts';
import { readBlocks } from '../resources/blocks/get-blocks.ts';
import { blockDetailsByHash, type BlockDetailsJson } from '../resources/blocks/rest-blocks.ts';
import { readVirtualChain } from '../resources/chain/virtual-chain.ts';
import type { BlockJson } from '../schemas/block.ts';
import { PAGE_COST } from '../resources/shared.ts';
import { type Call, get, hashOf, isTrue, numberOf, read, readStatement, type RestRoute } from './call.ts';
import { toBlock, toChainTransaction } from './forms.ts';
import * as queries from './queries.ts';
import { readTransactions } from './transactions.ts';

/** Of the virtual chain: blue scores of a response. */
const LIMITS = [10, 100];

interface BlockOptions {
  withTransactions: boolean;
  withColor?: boolean;
}

const blockStatement = (
  hash: Uint8Array,
  { difficultyWindowBlueScores: window }: Network,
  { withTransactions }: BlockOptions,
) => blockDetailsByHash({ includeTransactions: withTransactions, withTags: false }).with({ hash, window });

function toBlockWithExtra(block: BlockDetailsJson, { withColor = false }: BlockOptions) {
  const { miner, isChainBlock } = block;
  const color = withColor ? (isChainBlock ? 'blue' : block.color) : null;
  return {
    ...toBlock(block),
    extra: { color, minerAddress: miner?.address ?? null, minerInfo: miner?.extraText ?? null },
  };
}

/** The names are those of the parameters, of which one is given. */
const BLUE_SCORES = ['blueScore', 'blueScoreGte', 'blueScoreLt'] as const;

async function readBlocksAt(call: Call) {
  const given = BLUE_SCORES.filter((name) => call.query[name] !== undefined);
  const [name] = given;
  if (name === undefined || given.length > 1)
    throw badRequest({ path: 'blueScore', message: `needs exactly one of ${BLUE_SCORES.join(', ')}` });
  const blueScore = BigInt(numberOf(call, name));
  const options = { withTransactions: isTrue(call.query['includeTransactions']) };
  return read(call, async (reading) => {
    const blocks: object[] = [];
    for (const hash of await queries.listBlocksAt(reading.db, name, blueScore)) {
      const found = await runWithin(reading, blockStatement(fromHex(hash), reading.state.network, options));
      if (found !== undefined) blocks.push(toBlockWithExtra(found.block, options));
    }
    return blocks;
  });
}

async function readBlock(call: Call) {
  const hash = hashOf(call.params['hash'], 'hash');
  const options = {
    withTransactions: call.query['includeTransactions']?.toLowerCase() !== 'false',
    withColor: isTrue(call.query['includeColor']),
  };
  const network = await call.services.index.getNetwork();
  return readStatement(call, blockStatement(hash, network, options), (found) => {
    if (found === undefined) throw notFound('Block not found');
    const block = toBlockWithExtra(found.block, options);
    return options.withTransactions ? block : { ...block, transactions: null };
  });
}

async function readBlockPage(call: Call) {
  const page = {
    lowHash: hashOf(call.query['lowHash'], 'lowHash'),
    includeBlocks: isTrue(call.query['includeBlocks']),
    includeTransactions: isTrue(call.query['includeBlocks']) && isTrue(call.query['includeTransactions']),
  };
  return read(call, async (reading) => {
    const { blockHashes, blocks } = JSON.parse(String(await readBlocks(reading, page))) as {
      blockHashes: string[];
      blocks: BlockJson[];
    };
    return { blockHashes, blocks: blocks.map((block) => ({ ...toBlock(block), extra: null })) };
  });
}

async function readChain(call: Call) {
  const limit = numberOf(call, 'limit', { fallback: 10, maximum: 100 });
  if (!LIMITS.includes(limit)) throw badRequest({ path: 'limit', message: `must be ${LIMITS.join(' or ')}` });
  if (call.query['blueScoreGte'] === undefined) throw badRequest({ path: 'blueScoreGte', message: 'is required' });
  const start = numberOf(call, 'blueScoreGte');
  if (start % limit !== 0) throw badRequest({ path: 'blueScoreGte', message: `must be divisible by ${limit}` });
  const withCoinbases = call.query['includeCoinbase']?.toLowerCase() !== 'false';
  const resolve = isTrue(call.query['resolveInputs']) ? 'full' : 'no';

  return read(call, async (reading) => {
    const blocks = await queries.listChainBlocks(reading.db, start, start + limit);
    const ids = blocks.flatMap((block) => block.ids).map(fromHex);
    const found = await readTransactions(reading, ids, { inputs: true, outputs: true, resolve });
    const transactions = new Map(found.map((transaction) => [transaction.transaction_id, transaction]));
    return blocks
      .map((block) => ({
        hash: block.hash,
        blue_score: block.blueScore,
        daa_score: block.daaScore,
        timestamp: block.timestamp,
        transactions: block.ids
          .map((id) => transactions.get(id))
          .filter((transaction) => transaction !== undefined)
          .filter(({ inputs }) => withCoinbases || inputs !== null)
          .map(toChainTransaction),
      }))
      .filter((block) => block.transactions.length > 0);
  });
}

export const blockRoutes: readonly RestRoute[] = [
  get('/blocks', readBlockPage, PAGE_COST),
  get('/blocks/:hash', readBlock),
  get('/blocks-from-bluescore', readBlocksAt),
  get('/virtual-chain', readChain, PAGE_COST),
  get(
    '/info/get-vscp-from-block',
    async (call) => {
      const startHash = hashOf(call.query['startHash'], 'startHash');
      const includeAcceptedTransactionIds = call.query['includeAcceptedTransactionIds']?.toLowerCase() !== 'false';
      return read(call, (reading) => readVirtualChain(reading, { startHash, includeAcceptedTransactionIds }));
    },
    PAGE_COST,
  ),
];
