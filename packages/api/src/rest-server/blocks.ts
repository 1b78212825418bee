/** Blocks and the virtual chain in the forms of kaspa-rest-server. */
import { fromHex, type Network } from '@kasgres/kaspa';
import { badRequest, type BlockJson, notFound, runWithin } from '@kasgres/reads';
import { toJsonArray } from '../http/json-array.ts';
import { readBlocks } from '../resources/blocks/get-blocks.ts';
import { blockDetailsByHash, type BlockDetailsJson } from '../resources/blocks/rest-blocks.ts';
import { readVirtualChain } from '../resources/chain/virtual-chain.ts';
import { PAGE_COST } from '../resources/shared.ts';
import { tooLargeFor } from '../resources/transactions/rest/select-transactions.ts';
import { type Call, flagOf, get, hashOf, numberOf, read, readStatement, type RestRoute } from './call.ts';
import { BLOCKS, forEachItem, jsonOf } from './convert.ts';
import { toBlock, toChainTransaction, type TransactionForm } from './forms.ts';
import * as queries from './queries.ts';
import { forEachTransaction } from './transactions.ts';

/** The numbers of blue scores that a response of the virtual chain may have. */
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
  const options = { withTransactions: flagOf(call, 'includeTransactions') };
  return read(call, async (reading) => {
    const hashes = (await queries.listBlocksAt(reading.db, name, blueScore)).map(fromHex);
    // Anybody can mine many large blocks with one blue score.
    const isWithin =
      !options.withTransactions || (await runWithin(reading, queries.totalSizeOfBlocks.with({ hashes })));
    if (isWithin === undefined) throw tooLargeFor('includeTransactions');
    const blocks: Buffer[] = [];
    for (const hash of hashes) {
      const found = await runWithin(reading, blockStatement(hash, reading.state.network, options));
      if (found === undefined) continue;
      await reading.slices.forEach([found], ({ block }) => blocks.push(jsonOf(toBlockWithExtra(block, options))));
    }
    return toJsonArray(blocks);
  });
}

async function readBlock(call: Call) {
  const hash = hashOf(call.params['hash'], 'hash');
  const options = {
    withTransactions: flagOf(call, 'includeTransactions', true),
    withColor: flagOf(call, 'includeColor'),
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
    includeBlocks: flagOf(call, 'includeBlocks'),
    includeTransactions: flagOf(call, 'includeBlocks') && flagOf(call, 'includeTransactions'),
  };
  return read(call, async (reading) => {
    const blocks: Buffer[] = [];
    const json = await readBlocks(reading, page);
    const { blockHashes } = (await forEachItem(json, BLOCKS, reading.slices, (block) => {
      blocks.push(jsonOf({ ...toBlock(block as BlockJson), extra: null }));
    })) as { blockHashes: string[] };
    const before = Buffer.from(`{"blockHashes":${JSON.stringify(blockHashes)},"blocks":`);
    return Buffer.concat([before, toJsonArray(blocks), Buffer.from('}')]);
  });
}

async function readChain(call: Call) {
  const limit = numberOf(call, 'limit', { fallback: 10, maximum: 100 });
  if (!LIMITS.includes(limit)) throw badRequest({ path: 'limit', message: `must be ${LIMITS.join(' or ')}` });
  if (call.query['blueScoreGte'] === undefined) throw badRequest({ path: 'blueScoreGte', message: 'is required' });
  const start = numberOf(call, 'blueScoreGte');
  if (start % limit !== 0) throw badRequest({ path: 'blueScoreGte', message: `must be divisible by ${limit}` });
  const withCoinbases = flagOf(call, 'includeCoinbase', true);
  const resolve = flagOf(call, 'resolveInputs') ? 'full' : 'no';

  return read(call, async (reading) => {
    const blocks = await queries.listChainBlocks(reading.db, start, start + limit);
    const ids = blocks.flatMap((block) => block.ids).map(fromHex);
    const form: TransactionForm = { inputs: true, outputs: true, resolve };
    const transactions = new Map<string, Buffer>();
    await forEachTransaction(reading, { ids, path: 'limit', form }, (transaction) => {
      const { transaction_id: id, inputs } = transaction;
      if (withCoinbases || inputs !== null) transactions.set(id, jsonOf(toChainTransaction(transaction)));
    });
    const shown = blocks.flatMap(({ ids: accepted, hash, blueScore, daaScore, timestamp }) => {
      const found = accepted.map((id) => transactions.get(id)).filter((transaction) => transaction !== undefined);
      const fields = JSON.stringify({ hash, blue_score: blueScore, daa_score: daaScore, timestamp });
      const before = Buffer.from(`${fields.slice(0, -1)},"transactions":`);
      return found.length === 0 ? [] : [Buffer.concat([before, toJsonArray(found), Buffer.from('}')])];
    });
    return toJsonArray(shown);
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
      const includeAcceptedTransactionIds = flagOf(call, 'includeAcceptedTransactionIds', true);
      return read(call, (reading) => readVirtualChain(reading, { startHash, includeAcceptedTransactionIds }));
    },
    PAGE_COST,
  ),
];
