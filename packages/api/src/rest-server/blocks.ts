/** Blocks and the virtual chain in the forms of kaspa-rest-server. */
import { fromHex } from '@kasgres/kaspa';
import { badRequest, notFound } from '../http/errors.ts';
import { readBlocks } from '../resources/blocks/get-blocks.ts';
import { blockDetailsByHash } from '../resources/blocks/rest-blocks.ts';
import { readVirtualChain } from '../resources/chain/virtual-chain.ts';
import type { BlockJson } from '../schemas/block.ts';
import { type Call, get, hashOf, isTrue, numberOf, PAGE_COST, read, readAll, type RestRoute, run } from './call.ts';
import { toBlock, toChainTransaction } from './forms.ts';
import * as queries from './queries.ts';
import { readTransactions } from './transactions.ts';

/** Of the virtual chain: blue scores of a response. */
const LIMITS = [10, 100];

interface BlockOptions {
  withTransactions: boolean;
  withColor?: boolean;
}

async function readBlock(call: Call, hash: string, { withTransactions, withColor = false }: BlockOptions) {
  const { network } = await call.services.index.getSettledState();
  const window = network.difficultyWindowBlueScores;
  const statement = blockDetailsByHash({ includeTransactions: withTransactions, withTags: false }).with({
    hash: fromHex(hash),
    window,
  });
  const block = (await run(call, statement))?.block;
  if (block === undefined) return undefined;
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
  const hashes = await read(call, (db) => queries.listBlocksAt(db, name, blueScore));
  const withTransactions = isTrue(call.query['includeTransactions']);
  const blocks = await Promise.all(hashes.map((hash) => readBlock(call, hash, { withTransactions })));
  return blocks.filter((block) => block !== undefined);
}

async function readBlockPage(call: Call) {
  const page = {
    lowHash: hashOf(call.query['lowHash'], 'lowHash'),
    includeBlocks: isTrue(call.query['includeBlocks']),
    includeTransactions: isTrue(call.query['includeBlocks']) && isTrue(call.query['includeTransactions']),
  };
  const { blockHashes, blocks } = JSON.parse(String(await readAll(call, (reading) => readBlocks(reading, page)))) as {
    blockHashes: string[];
    blocks: BlockJson[];
  };
  return { blockHashes, blocks: blocks.map((block) => ({ ...toBlock(block), extra: null })) };
}

async function readChain(call: Call) {
  const limit = numberOf(call, 'limit', { fallback: 10, maximum: 100 });
  if (!LIMITS.includes(limit)) throw badRequest({ path: 'limit', message: `must be ${LIMITS.join(' or ')}` });
  if (call.query['blueScoreGte'] === undefined) throw badRequest({ path: 'blueScoreGte', message: 'is required' });
  const start = numberOf(call, 'blueScoreGte');
  if (start % limit !== 0) throw badRequest({ path: 'blueScoreGte', message: `must be divisible by ${limit}` });
  const withCoinbases = call.query['includeCoinbase']?.toLowerCase() !== 'false';
  const isResolved = isTrue(call.query['resolveInputs']);

  const blocks = await read(call, (db) => queries.listChainBlocks(db, start, start + limit));
  const found = await readTransactions(call, blocks.flatMap(({ ids }) => ids).map(fromHex), {
    inputs: true,
    outputs: true,
    resolve: isResolved ? 'full' : 'no',
  });
  const transactions = new Map(found.map((transaction) => [transaction.transaction_id, transaction]));
  return blocks
    .map(({ hash, blueScore, daaScore, timestamp, ids }) => ({
      hash,
      blue_score: blueScore,
      daa_score: daaScore,
      timestamp,
      transactions: ids
        .map((id) => transactions.get(id))
        .filter((transaction) => transaction !== undefined)
        .filter(({ inputs }) => withCoinbases || inputs !== null)
        .map(toChainTransaction),
    }))
    .filter((block) => block.transactions.length > 0);
}

export const blockRoutes: readonly RestRoute[] = [
  get('/blocks', readBlockPage, PAGE_COST),
  get('/blocks/:hash', async (call) => {
    const hash = Buffer.from(hashOf(call.params['hash'], 'hash')).toString('hex');
    const withTransactions = call.query['includeTransactions']?.toLowerCase() !== 'false';
    const block = await readBlock(call, hash, { withTransactions, withColor: isTrue(call.query['includeColor']) });
    if (block === undefined) throw notFound('Block not found');
    return withTransactions ? block : { ...block, transactions: null };
  }),
  get('/blocks-from-bluescore', readBlocksAt),
  get('/virtual-chain', readChain, PAGE_COST),
  get(
    '/info/get-vscp-from-block',
    async (call) => {
      const startHash = hashOf(call.query['startHash'], 'startHash');
      const includeAcceptedTransactionIds = call.query['includeAcceptedTransactionIds']?.toLowerCase() !== 'false';
      return readAll(call, (reading) => readVirtualChain(reading, { startHash, includeAcceptedTransactionIds }));
    },
    PAGE_COST,
  ),
];
