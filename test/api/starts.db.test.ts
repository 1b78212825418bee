/**
 * What the API answers on an index that begins at a pruning point, and on one that has a gap besides: the same as the whole index where
 * it has all that it takes, and words where it has not. The whole index is asked first; then stretches of the chain are cut out of it.
 */
import { toHex } from '@kasgres/kaspa';
import { NodeRpcError } from '@kasgres/node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { IndexReader } from '../../packages/api/src/index-state/state.ts';
import { completeStorageMasses } from '../../packages/api/src/resources/rpc/submitted/storage-masses.ts';
import type { SubmittedTransaction } from '../../packages/api/src/resources/rpc/submitted/transaction.ts';
import { findBusiestOwner } from './busiest-owner.ts';
import { checkedGet, walk } from './checked-get.ts';
import { cutOut } from './cut-out.ts';
import type { HttpAnswer } from './http-client.ts';
import { addresses, addressTransactions, addressUtxos, type Owner } from './listings.ts';
import { faultsOf } from './openapi-validator.ts';
import { openStage, type Stage } from './stage.ts';

/** chain_blocks.index in the whole index: where it is to begin, and the ends of the gap. */
const START = 60;
const AFTER = 120;
const BEFORE = 150;
/** A place of which nothing is cut. */
const LATER = 600;
const UNKNOWN = 'ab'.repeat(32);
const VIRTUAL_CHAIN = '/v1/rpc/getVirtualChainFromBlock';
const BLOCKS = '/v1/rpc/getBlocks';

let stage: Stage;
let owner: Owner;
/** Hashes of the chain, by their places in the whole index. */
let chain: string[];
/** By place in the whole index, what each chain block merges, and what it accepts. */
let merged: string[][];
let accepted: string[][];
/** The sink, and the blocks beside it that are not merged yet. */
let tail: string[];

beforeAll(async () => {
  stage = await openStage({ rounds: 1250 });
  await stage.indexer.stop();
  owner = await findBusiestOwner(stage.database.pool);
  const { rows } = await stage.database.pool.query<{ hash: string; merged: string[]; accepted: string[] }>(
    `select encode(b.hash, 'hex') as hash,
       array(select encode(m.hash, 'hex') from blocks m where m.merging_block_id = b.id) as merged,
       array(select encode(t.transaction_id, 'hex') from transactions t where t.accepting_block_id = b.id) as accepted
     from chain_blocks c join blocks b on b.id = c.block_id order by c.index`,
  );
  chain = rows.map(({ hash }) => hash);
  merged = rows.map((row) => row.merged);
  accepted = rows.map((row) => row.accepted);
  const unmerged = await stage.database.pool.query<{ hash: string }>(
    `select encode(b.hash, 'hex') as hash from checkpoint join blocks b on b.id = any(virtual_merge_set)`,
  );
  tail = [hashAt(chain.length - 1), ...unmerged.rows.map(({ hash }) => hash)];
  await askWhole();
});
afterAll(() => stage?.close());

const hashAt = (place: number): string => chain[place] as string;

async function post(template: string, body: object): Promise<HttpAnswer> {
  const answer = await stage.api.request(template, { body });
  expect(faultsOf('post', template, answer), `${template}: ${answer.text.slice(0, 500)}`).toEqual([]);
  return answer;
}

const get = (template: string, values = {}, query = {}) => checkedGet(stage.api, template, values, query);

/** What is asked of every form of the index. */
interface Asked {
  blocks: Map<string, unknown>;
  details: Map<string, unknown>;
  transactions: Map<string, RestTransaction>;
  state: unknown[];
  history: History['history'];
  hashRate: unknown;
}

interface RestTransaction {
  transactionId: string;
  isAccepted: boolean;
  acceptingBlockHash: string | null;
  confirmations: number;
  blockHashes: string[];
  inputs: { previousOutput: { transactionId: string; index: number; amount: string | null } }[];
  outputs: { spentBy: string | null }[];
}

interface History {
  history: { timestamp: number; balance: string }[];
  gaps?: { from: number; to: number }[];
}

let whole: Asked;

/** Of blocks, and of transactions that they hold. */
async function ask(hashes: readonly string[]): Promise<Asked> {
  const blocks = new Map<string, unknown>();
  const details = new Map<string, unknown>();
  for (const hash of hashes) {
    blocks.set(hash, (await post('/v1/rpc/getBlock', { hash, includeTransactions: true })).json['block']);
    details.set(hash, (await get('/v1/blocks/{hash}', { hash })).json['block']);
  }
  return {
    blocks,
    details,
    transactions: await askTransactions(hashes),
    state: await askState(),
    history: (await askHistory()).history,
    hashRate: (await get('/v1/rpc/estimateNetworkHashesPerSecond')).json,
  };
}

async function askTransactions(hashes: readonly string[]): Promise<Map<string, RestTransaction>> {
  const { rows } = await stage.database.pool.query<{ id: string }>(
    `select distinct encode(t.transaction_id, 'hex') as id
     from transactions t join block_transactions c on c.transaction_id = t.id join blocks b on b.id = c.block_id
     where encode(b.hash, 'hex') = any($1)`,
    [hashes],
  );
  const found = new Map<string, RestTransaction>();
  for (let from = 0; from < rows.length; from += 500) {
    const transactionIds = rows.slice(from, from + 500).map(({ id }) => id);
    const { json } = await post('/v1/transactions', { transactionIds, includePayload: true });
    for (const transaction of json['transactions'] as RestTransaction[])
      found.set(transaction.transactionId, transaction);
  }
  return found;
}

/** What is the same wherever the index begins. */
async function askState(): Promise<unknown[]> {
  const { address } = owner;
  return [
    (await get('/v1/rpc/getCoinSupply')).json,
    (await get('/v1/rpc/getBalanceByAddress/{address}', { address })).json,
    (await post('/v1/rpc/getUtxosByAddresses', { addresses: await listOwners() })).json,
    await walk(stage.api, addressUtxos(owner), 50),
    await walk(stage.api, addresses(), 100),
    (await post('/v1/rpc/getDaaScoreTimestampEstimate', { daaScores: ['900', '901', '99999999'] })).json,
  ];
}

/** Everybody who holds something, covenants among it. */
async function listOwners(): Promise<string[]> {
  const { rows } = await stage.database.pool.query<{ address: string }>(
    `select s.address from balances b join scripts s on s.id = b.script_id
     where b.balance > 0 and s.address is not null order by s.id limit 1000`,
  );
  return rows.map(({ address }) => address);
}

const blocksOfScores = (start: bigint, end: bigint) =>
  get('/v1/blocks/daa-score/{start}/{end}', { start: String(start), end: String(end) });

async function askHistory(): Promise<History> {
  const template = '/v1/addresses/{address}/balance-history';
  return (await get(template, { address: owner.address }, { interval: 'hour' })).json as unknown as History;
}

/** Blocks around the places that the cuts are made at, the ones beside the chain among them. */
const around = (place: number): string[] => [hashAt(place), ...merged.slice(place + 1, place + 20).flat()];

async function askWhole(): Promise<void> {
  whole = await ask([...new Set([...around(START), ...around(BEFORE), ...around(LATER)])]);
}

/** Of one that was accepted in a stretch: what is its own. */
const ownOf = ({ transactionId, inputs, outputs }: RestTransaction): unknown => [
  transactionId,
  inputs.length,
  outputs.map(({ spentBy: _spender, ...output }) => output),
];

async function expectAsWhole(places: readonly number[]): Promise<void> {
  const hashes = [...new Set(places.flatMap(around))];
  const now = await ask(hashes);
  for (const hash of hashes) {
    expect(now.blocks.get(hash), hash).toEqual(whole.blocks.get(hash));
    expect(now.details.get(hash), hash).toEqual(whole.details.get(hash));
  }
  expect(now.state).toEqual(whole.state);
  expect(now.hashRate).toEqual(whole.hashRate);
  for (const [id, transaction] of now.transactions) {
    const before = whole.transactions.get(id) as RestTransaction;
    if (transaction.acceptingBlockHash !== null) expect(transaction).toEqual(before);
    else expect(ownOf(transaction)).toEqual(ownOf(before));
  }
}

/** Every block of getBlocks from a low block on, page after page, up to the sink or to a refusal. */
async function pageBlocks(lowHash: string): Promise<{ hashes: string[]; end: HttpAnswer }> {
  const hashes = [lowHash];
  for (;;) {
    const end = await post(BLOCKS, { lowHash: hashes.at(-1) });
    if (end.status !== 200) return { hashes, end };
    const page = end.json['blockHashes'] as string[];
    expect(page[0]).toBe(hashes.at(-1));
    if (page.length === 1) return { hashes, end };
    hashes.push(...page.slice(1));
    if (page.includes(tail[0] as string)) return { hashes, end };
  }
}

/** Coins whose transactions are known by their ids alone, and the transactions of a stretch that left none. */
async function listEarlier(): Promise<{ withCoins: string[] }> {
  const { rows } = await stage.database.pool.query<{ id: string }>(
    `select encode(transaction_id, 'hex') as id from earlier_transactions e
     where not exists (select from transactions t where t.id = e.id) order by id limit 20`,
  );
  return { withCoins: rows.map(({ id }) => id) };
}

test('a whole index admits nothing', async () => {
  const { headers, json } = await get('/v1/blocks', {}, { limit: 1 });
  expect(headers.has('x-kasgres-gaps')).toBe(false);
  expect(json).toHaveProperty('blocks');
  expect((await get('/v1/blocks/{hash}', { hash: UNKNOWN })).json['message']).toBe('Unknown block');
  expect((await get('/v1/transactions/{transactionId}', { transactionId: UNKNOWN })).json['message']).toBe(
    'Unknown transaction',
  );
});

describe('an index that begins at a pruning point', () => {
  let start: string;
  let spentBefore: string[];

  beforeAll(async () => {
    await cutOut(stage.database.pool, { before: START });
    start = hashAt(START);
    const { withCoins } = await listEarlier();
    spentBefore = accepted
      .slice(1, START)
      .flat()
      .filter((id) => !withCoins.includes(id));
  });

  test('has blocks, transactions, coins, balances, the supply and the hash rate of the whole one', async () => {
    const { rows } = await stage.database.pool.query('select from earlier_blocks');
    expect(rows.length).toBeGreaterThan(0);
    await expectAsWhole([START, BEFORE, LATER]);
  });

  test('shows the id of every coin that is spent', async () => {
    const { rows } = await stage.database.pool.query<{ id: string }>(
      `select encode(t.transaction_id, 'hex') as id
       from transaction_inputs i join earlier_transactions e on e.id = i.previous_transaction_id
         join transactions t on t.id = i.transaction_id
       where t.accepting_block_id is not null limit 50`,
    );
    expect(rows.length).toBeGreaterThan(5);
    const transactionIds = rows.map(({ id }) => id);
    const { json } = await post('/v1/transactions', { transactionIds });
    for (const transaction of json['transactions'] as RestTransaction[]) {
      for (const { previousOutput } of transaction.inputs) {
        expect(previousOutput.transactionId).toMatch(/^[0-9a-f]{64}$/);
        expect(previousOutput.amount).not.toBeNull();
      }
    }
  });

  test('takes a transaction of which a coin was left for accepted, with the confirmations since the start', async () => {
    const { withCoins } = await listEarlier();
    const [since = ''] = accepted[START + 5] ?? [];
    const [spent = ''] = spentBefore;
    const transactionIds = [since, ...withCoins.slice(0, 2), spent];
    const { json } = await post('/v1/transactions/acceptance', { transactionIds });
    const { rows } = await stage.database.pool.query<{ below: bigint }>(
      `select sink.blue_score - s.blue_score as below from checkpoint p join blocks sink on sink.id = p.block_id,
         starts join blocks s on s.id = starts.block_id`,
    );
    const confirmations = Number(rows[0]?.below);
    expect(json['transactions']).toEqual([
      expect.objectContaining({ transactionId: since, acceptingBlockHash: hashAt(START + 5), isAccepted: true }),
      ...withCoins
        .slice(0, 2)
        .map((transactionId) => ({ transactionId, isAccepted: true, acceptingBlockHash: null, confirmations })),
      { transactionId: spent, isAccepted: false, acceptingBlockHash: null, confirmations: 0 },
    ]);
  });

  test('shows such a transaction where a block carries it again, in look-ups and among the accepted ones', async () => {
    const again = await carryAgain();
    const { json } = await get('/v1/transactions/{transactionId}', { transactionId: again.transactionId });
    expect(json['transaction']).toMatchObject({
      isAccepted: true,
      acceptingBlockHash: null,
      acceptingBlockBlueScore: null,
      blockHashes: [again.blockHash],
    });
    const next = await get('/v1/transactions', {}, { accepted_only: 'true', limit: 1, ending_before: again.idBelow });
    expect(next.json['transactions']).toMatchObject([{ transactionId: again.transactionId }]);
    const ofAddress = await walk(stage.api, addressTransactions(again.owner, true), 100);
    expect((ofAddress as { transactionId: string }[]).map(({ transactionId }) => transactionId)).toContain(
      again.transactionId,
    );
    await again.undo();
  });

  test('pages through coins from before the start, by their outpoints', async () => {
    const { rows } = await stage.database.pool.query<{ cursor: string; address: string }>(
      `select encode(e.transaction_id, 'hex') || ':' || u.index as cursor, s.address
       from start_utxos u join earlier_transactions e on e.id = u.transaction_id join scripts s on s.id = u.script_id
       where s.address is not null and not exists (select from utxos where transaction_id = u.transaction_id and index = u.index)
       limit 1`,
    );
    const { address, cursor } = rows[0] as { address: string; cursor: string };
    const template = '/v1/addresses/{address}/utxos';
    expect((await get(template, { address }, { starting_after: cursor })).status).toBe(200);
    // A start behind a gap replaces the coins of this one: what was spent since is found by its spender.
    const client = await stage.database.pool.connect();
    await client.query('create table kept as select * from start_utxos');
    await client.query('delete from start_utxos');
    expect((await get(template, { address }, { starting_after: cursor })).status).toBe(200);
    await client.query('insert into start_utxos select * from kept');
    await client.query('drop table kept');
    client.release();
    const other = `${cursor.slice(0, 64)}:9999`;
    expect((await get(template, { address }, { starting_after: other })).status).toBe(404);
  });

  test('shows the covenants of coins from before the start', async () => {
    const { rows } = await stage.database.pool.query<{ address: string; id: string; index: number }>(
      `update start_utxos u set covenant_id = decode($1, 'hex')
       from (select u.transaction_id, u.index, s.address, e.transaction_id as id
             from utxos u join scripts s on s.id = u.script_id join earlier_transactions e on e.id = u.transaction_id
             where s.address is not null and not exists (select from transactions t where t.id = e.id) limit 1) held
       where held.transaction_id = u.transaction_id and held.index = u.index
       returning held.address, encode(held.id, 'hex') as id, held.index::integer`,
      [UNKNOWN],
    );
    const [{ address, id: transactionId, index }] = rows as [(typeof rows)[0]];
    const { json } = await post('/v1/rpc/getUtxosByAddresses', { addresses: [address] });
    expect(json['entries']).toContainEqual(
      expect.objectContaining({
        outpoint: { transactionId, index },
        utxoEntry: expect.objectContaining({ covenantId: UNKNOWN }) as unknown,
      }),
    );
    await stage.database.pool.query(`update start_utxos set covenant_id = null where covenant_id = decode($1, 'hex')`, [
      UNKNOWN,
    ]);
  });

  test('computes storage masses from coins of the start', async () => {
    const { rows } = await stage.database.pool.query<{ transaction_id: Buffer; index: bigint; script: Buffer }>(
      `select e.transaction_id, u.index, s.script
       from start_utxos u join earlier_transactions e on e.id = u.transaction_id join scripts s on s.id = u.script_id
       where not exists (select from transactions t where t.id = e.id) limit 1`,
    );
    const [coin] = rows;
    const spender = (index: number): SubmittedTransaction => ({
      version: 0,
      inputs: [
        {
          previousOutpoint: { transactionId: coin?.transaction_id as Buffer, index },
          signatureScript: Uint8Array.of(0x41),
          sequence: 0n,
          sigOpCount: 1,
          computeBudget: 0,
        },
      ],
      outputs: [
        { amount: 100_000n, scriptPublicKey: { version: 0, script: coin?.script as Buffer }, covenant: undefined },
      ],
      lockTime: 0n,
      subnetworkId: new Uint8Array(20),
      gas: 0n,
      payload: new Uint8Array(0),
      storageMass: undefined,
    });
    const node = {
      connected: true,
      call: () => Promise.reject(new NodeRpcError('getMempoolEntry', `Transaction ${UNKNOWN} not found`)),
    };
    const services = { index: new IndexReader(stage.database.kysely), node };
    const [completed] = await completeStorageMasses(services, [spender(Number(coin?.index))]);
    expect(completed?.storageMass).toBeGreaterThan(0n);
    await expect(completeStorageMasses(services, [spender(9999)])).rejects.toMatchObject({ statusCode: 400 });
  });

  test('leads from its start to the sink, by blocks and by the chain', async () => {
    expect((await post(BLOCKS, {})).json['blockHashes']).toEqual(
      (await post(BLOCKS, { lowHash: start })).json['blockHashes'],
    );
    const { hashes, end } = await pageBlocks(start);
    expect(end.status).toBe(200);
    expect(new Set(hashes)).toEqual(new Set([...merged.slice(START + 1).flat(), ...tail]));
    expect(hashes.length).toBe(new Set(hashes).size);
    const { json } = await post(VIRTUAL_CHAIN, { startHash: start, includeAcceptedTransactionIds: true });
    const added = json['addedChainBlockHashes'] as string[];
    expect(added).toEqual(chain.slice(START + 1, START + 1 + added.length));
    const groups = json['acceptedTransactionIds'] as { acceptedTransactionIds: string[] }[];
    expect(groups[0]?.acceptedTransactionIds.toSorted()).toEqual(accepted[START + 1]?.toSorted());
  });

  test('says of a block that it knows by its hash that it is before the index, and of one that it does not, that it may be', async () => {
    const { rows } = await stage.database.pool.query<{ hash: string }>(
      `select encode(hash, 'hex') as hash from earlier_blocks where hash <> decode($1, 'hex') limit 1`,
      [hashAt(0)],
    );
    const known = rows[0]?.hash as string;
    const before = { statusCode: 409, message: `The block is before what is indexed, which begins with ${start}` };
    const rate = '/v1/rpc/estimateNetworkHashesPerSecond';
    expect((await post(BLOCKS, { lowHash: known })).json).toEqual(before);
    expect((await post(VIRTUAL_CHAIN, { startHash: known, includeAcceptedTransactionIds: false })).json).toEqual(
      before,
    );
    expect((await get(rate, {}, { startHash: known })).json).toEqual(before);
    const hint = `it may be before what is indexed, which begins with block ${start} (/v1/status has more)`;
    const notFound = { statusCode: 404, message: `Unknown block; ${hint}` };
    expect((await post(BLOCKS, { lowHash: UNKNOWN })).json).toEqual(notFound);
    expect((await post('/v1/rpc/getBlock', { hash: known })).json).toEqual(notFound);
    expect((await get('/v1/blocks/{hash}', { hash: known })).json).toEqual(notFound);
  });

  test('says of a transaction whose coins it has that it was before, and of others that they may be', async () => {
    const { withCoins } = await listEarlier();
    const template = '/v1/transactions/{transactionId}';
    expect((await get(template, { transactionId: withCoins[0] })).json).toEqual({
      statusCode: 404,
      message: 'This transaction was accepted before what is indexed: nothing is known of it but coins that it made',
    });
    expect((await get(template, { transactionId: spentBefore[0] })).json).toEqual({
      statusCode: 404,
      message: `Unknown transaction; it may be before what is indexed, which begins with block ${start} (/v1/status has more)`,
    });
  });

  test('a window of the hash rate that reaches below the start is refused', async () => {
    const rate = '/v1/rpc/estimateNetworkHashesPerSecond';
    const large = await get(rate, {}, { windowSize: 10_000 });
    expect(large.status).toBe(409);
    expect(large.json['message']).toContain(`below block ${start}`);
    expect((await get(rate, {}, { startHash: hashAt(START + 50) })).status).toBe(409);
  });

  test('times before the start are between genesis and it; blocks with such scores are refused', async () => {
    const { rows } = await stage.database.pool.query<{ daa_score: bigint; timestamp: bigint }>(
      'select daa_score, timestamp from chain_blocks order by index limit 1',
    );
    const [first] = rows as [{ daa_score: bigint; timestamp: bigint }];
    const half = first.daa_score / 2n;
    const template = '/v1/rpc/getDaaScoreTimestampEstimate';
    const { json } = await post(template, { daaScores: ['0', String(half), String(first.daa_score)] });
    const [genesis, middle, atStart] = (json['timestamps'] as string[]).map(BigInt) as [bigint, bigint, bigint];
    expect(genesis).toBe(1_633_687_894_966n);
    expect(atStart).toBe(first.timestamp);
    expect(middle).toBeGreaterThan(genesis);
    expect(middle).toBeLessThan(atStart);

    expect((await blocksOfScores(half, half + 1n)).json).toEqual({
      statusCode: 409,
      message: `What is indexed begins with block ${start}, at DAA score ${first.daa_score}`,
    });
    expect((await blocksOfScores(first.daa_score, first.daa_score + 10n)).status).toBe(200);
  });

  test('the history of a balance begins with what was held at the start', async () => {
    const { history, gaps } = await askHistory();
    expect(gaps).toBeUndefined();
    expect(history).toEqual(whole.history.slice(-history.length));
    expect(history.length).toBeLessThan(whole.history.length);
  });

  test('the status tells where it begins, and a second start at a block that the chain has is no gap', async () => {
    const { pool } = stage.database;
    await pool.query(
      `insert into starts (chain_index, block_id, utxo_count, utxo_sompi) select index, block_id, 7, 1 from chain_blocks where index = 10`,
    );
    const { json } = await get('/v1/status');
    expect(json).toMatchObject({
      firstBlock: start,
      starts: [{ hash: start }, { hash: hashAt(START + 10), utxoCount: 7 }],
      gaps: [],
      utxoSetLoad: null,
    });
    const body = { startHash: start, includeAcceptedTransactionIds: false };
    const added = (await post(VIRTUAL_CHAIN, body)).json['addedChainBlockHashes'] as string[];
    expect(added.slice(0, 20)).toEqual(chain.slice(START + 1, START + 21));
    await pool.query('delete from starts where chain_index = 10');
  });
});

describe('and has a gap', () => {
  let after: string;
  let before: string;
  const inTheWay = () => ({
    statusCode: 409,
    message: `The chain is not indexed between ${after} and ${before}: go on from the latter`,
  });

  beforeAll(async () => {
    await cutOut(stage.database.pool, { after: AFTER - START, before: BEFORE - START });
    [after, before] = [hashAt(AFTER), hashAt(BEFORE)];
  });

  test('has blocks, transactions, coins, balances, the supply and the hash rate of the whole one', async () => {
    await expectAsWhole([BEFORE, LATER]);
  });

  test('every answer from it says so', async () => {
    const { address } = owner;
    const answers = [
      await get('/v1/blocks', {}, { limit: 1 }),
      await get('/v1/blocks/{hash}', { hash: after }),
      await get('/v1/addresses/{address}', { address }),
      await get('/v1/rpc/getCoinSupply'),
      await post('/v1/rpc/getBlock', { hash: before }),
    ];
    for (const { status, headers } of answers) {
      expect(status).toBe(200);
      expect(headers.get('x-kasgres-gaps')).toBe('1');
    }
    const etag = answers[3]?.headers.get('etag') as string;
    const unchanged = await stage.api.request('/v1/rpc/getCoinSupply', { headers: { 'if-none-match': etag } });
    expect(unchanged.status).toBe(304);
    expect(unchanged.headers.get('x-kasgres-gaps')).toBe('1');
    const unknown = await get('/v1/blocks/{hash}', { hash: hashAt(AFTER + 2) });
    expect(unknown.json['message']).toBe(
      `Unknown block; it may be before what is indexed, which begins with block ${hashAt(START)}, or in a gap (/v1/status has more)`,
    );
    expect(unknown.headers.has('x-kasgres-gaps')).toBe(false);
  });

  test('the virtual chain ends before it, and goes on behind it', async () => {
    const chainFrom = (startHash: string) => post(VIRTUAL_CHAIN, { startHash, includeAcceptedTransactionIds: true });
    const { json } = await chainFrom(hashAt(AFTER - 5));
    expect(json['addedChainBlockHashes']).toEqual(chain.slice(AFTER - 4, AFTER + 1));
    expect(json['acceptedTransactionIds']).toHaveLength(5);
    const withoutIds = await post(VIRTUAL_CHAIN, { startHash: hashAt(START), includeAcceptedTransactionIds: false });
    expect(withoutIds.json['addedChainBlockHashes']).toEqual(chain.slice(START + 1, AFTER + 1));
    expect((await chainFrom(after)).json).toEqual(inTheWay());
    const behind = (await chainFrom(before)).json['addedChainBlockHashes'] as string[];
    expect(behind).toEqual(chain.slice(BEFORE + 1, BEFORE + 1 + behind.length));
  });

  test('blocks by the page end before it, and go on behind it', async () => {
    const below = await pageBlocks(hashAt(START));
    expect(below.end.json).toEqual(inTheWay());
    expect(new Set(below.hashes)).toEqual(new Set([...merged.slice(START + 1, AFTER + 1).flat(), after]));
    const above = await pageBlocks(before);
    expect(above.end.status).toBe(200);
    expect(new Set(above.hashes)).toEqual(new Set([...merged.slice(BEFORE + 1).flat(), ...tail]));
  });

  test('a block that left the chain before the gap leads back to it, and no further', async () => {
    const { pool } = stage.database;
    const { rows } = await pool.query<{ hash: string }>(
      `select encode(b.hash, 'hex') as hash from blocks b join chain_blocks c on c.block_id = b.merging_block_id
       where not b.is_chain_block and c.index between 10 and $1 limit 1`,
      [AFTER - START],
    );
    const side = rows[0]?.hash as string;
    const parent = "(select id from blocks where hash = decode($2, 'hex'))";
    const { rows: kept } = await pool.query<{ id: bigint; selected_parent_id: bigint }>(
      `select id, selected_parent_id from blocks where hash = decode($1, 'hex')`,
      [side],
    );
    await pool.query(`update blocks set selected_parent_id = ${parent} where hash = decode($1, 'hex')`, [side, after]);
    const { json } = await post(VIRTUAL_CHAIN, { startHash: side, includeAcceptedTransactionIds: false });
    expect(json).toMatchObject({ removedChainBlockHashes: [side], addedChainBlockHashes: [] });
    expect((await post(BLOCKS, { lowHash: side })).json).toEqual(inTheWay());

    // One whose selected parent is in the gap.
    await pool.query(
      `update blocks set selected_parent_id = (select id from earlier_blocks limit 1) where hash = decode($1, 'hex')`,
      [side],
    );
    expect((await post(BLOCKS, { lowHash: side })).json).toEqual({
      statusCode: 409,
      message: `The block is before what is indexed, or in a gap: the parts of the chain that are indexed begin with ${hashAt(START)} and ${before}`,
    });
    await pool.query('update blocks set selected_parent_id = $2 where id = $1', [
      kept[0]?.id,
      kept[0]?.selected_parent_id,
    ]);
  });

  test('a window of the hash rate that reaches into the gap is refused', async () => {
    const template = '/v1/rpc/estimateNetworkHashesPerSecond';
    const large = await get(template, {}, { windowSize: 10_000 });
    expect(large.status).toBe(409);
    expect(large.json['message']).toContain(`below block ${before}`);
    const lower = await get(template, {}, { startHash: after });
    expect(lower.status).toBe(409);
    expect(lower.json['message']).toContain(`below block ${hashAt(START)}`);
  });

  test('times in the gap are between those of its ends; blocks with such scores are refused', async () => {
    const { rows } = await stage.database.pool.query<{ daa_score: bigint; timestamp: bigint }>(
      'select daa_score, timestamp from chain_blocks where index in ($1::bigint, $1::bigint + 1) order by index',
      [AFTER - START],
    );
    const [lower, upper] = rows as [(typeof rows)[0], (typeof rows)[0]];
    const score = (lower.daa_score + upper.daa_score) / 2n;
    const { json } = await post('/v1/rpc/getDaaScoreTimestampEstimate', { daaScores: [String(score)] });
    const [time] = (json['timestamps'] as string[]).map(BigInt) as [bigint];
    expect(time).toBeGreaterThan(lower.timestamp);
    expect(time).toBeLessThan(upper.timestamp);

    const refusal = {
      statusCode: 409,
      message: `The chain is not indexed between ${after}, at DAA score ${lower.daa_score}, and ${before}, at DAA score ${upper.daa_score}`,
    };
    expect((await blocksOfScores(score, score)).json).toEqual(refusal);
    expect((await blocksOfScores(lower.daa_score, lower.daa_score + 1n)).json).toEqual(refusal);
    expect((await blocksOfScores(upper.daa_score - 1n, upper.daa_score)).json).toEqual(refusal);
    expect((await blocksOfScores(lower.daa_score - 10n, lower.daa_score)).status).toBe(200);
    expect((await blocksOfScores(upper.daa_score, upper.daa_score + 10n)).status).toBe(200);
  });

  test('the history of a balance has no hours that end in the gap, and tells of it', async () => {
    const { rows } = await stage.database.pool.query<{ timestamp: bigint }>(
      'select timestamp from chain_blocks where index in ($1::bigint, $1::bigint + 1) order by index',
      [AFTER - START],
    );
    const [from, to] = rows.map(({ timestamp }) => Number(timestamp)) as [number, number];
    const { history, gaps } = await askHistory();
    expect(gaps).toEqual([{ from, to }]);
    const [first] = history as [History['history'][0]];
    const wanted = whole.history.filter(
      ({ timestamp }) => timestamp >= first.timestamp && !(timestamp > from && timestamp <= to),
    );
    expect(history).toEqual(wanted);
    expect(whole.history.length - wanted.length).toBeGreaterThan(5);
  });

  test('the status tells of the gap and of both starts', async () => {
    const { json } = await get('/v1/status');
    expect(json).toMatchObject({
      firstBlock: hashAt(START),
      starts: [{ hash: hashAt(START) }, { hash: before }],
      gaps: [{ afterBlock: after, beforeBlock: before, reason: 'The node had pruned it' }],
    });
    const [gap] = json['gaps'] as Record<string, number | string>[];
    expect(Number(gap?.['beforeBlueScore'])).toBeGreaterThan(Number(gap?.['afterBlueScore']));
    expect(Number(gap?.['beforeTimestamp'])).toBeGreaterThan(Number(gap?.['afterTimestamp']));
    expect(Math.abs(Date.now() - Number(gap?.['recordedAt']))).toBeLessThan(600_000);
  });

  test('a chain whose start has the block before it as its selected parent, but not what it merges, has a gap there', async () => {
    const { pool } = stage.database;
    const select = `select selected_parent_id from blocks where hash = decode($1, 'hex')`;
    const { rows } = await pool.query<{ selected_parent_id: bigint }>(select, [before]);
    await pool.query(
      `update blocks set selected_parent_id = (select id from blocks where hash = decode($2, 'hex')) where hash = decode($1, 'hex')`,
      [before, after],
    );
    expect((await post(BLOCKS, { lowHash: after })).json).toEqual(inTheWay());
    await pool.query(`update blocks set selected_parent_id = $2 where hash = decode($1, 'hex')`, [
      before,
      rows[0]?.selected_parent_id,
    ]);
  });
});

describe('while the UTXO set of a start is being loaded', () => {
  beforeAll(async () => {
    const { pool } = stage.database;
    await pool.query(`insert into utxo_set_load values (true, decode($1, 'hex'), 1234567, 5, '')`, [UNKNOWN]);
  });

  test('an index that is there goes on answering, and its status says so', async () => {
    expect((await get('/v1/rpc/getSink')).status).toBe(200);
    expect((await get('/v1/status')).json['utxoSetLoad']).toEqual({ pruningPoint: UNKNOWN, utxoCount: 1_234_567 });
  });

  test('one that is not there yet says what it waits for', async () => {
    const { pool } = stage.database;
    await pool.query('create table kept as select * from checkpoint');
    await pool.query('delete from checkpoint');
    const { status, json, headers } = await stage.api.request('/v1/rpc/getSink');
    expect({ status, json }).toEqual({
      status: 503,
      json: {
        statusCode: 503,
        message: `Nothing is indexed yet: the UTXO set of the pruning point ${UNKNOWN} is being loaded, 1234567 coins so far`,
      },
    });
    expect(headers.get('retry-after')).toBe('5');
    expect((await get('/v1/status')).json).toMatchObject({ sink: null, utxoSetLoad: { utxoCount: 1_234_567 } });
    await pool.query('delete from utxo_set_load');
    expect((await stage.api.request('/v1/rpc/getSink')).json['message']).toBe('Nothing is indexed yet');
    await pool.query('insert into checkpoint select * from kept');
    await pool.query('drop table kept');
  });
});

/** A transaction that a block carries becomes one that was accepted before the start as well. */
async function carryAgain() {
  const { pool } = stage.database;
  const { rows } = await pool.query<{
    id: bigint;
    transaction_id: Buffer;
    accepting_block_id: bigint;
    accepted_body: number;
    block_hash: string;
    id_below: string;
    address: string;
    script_id: bigint;
  }>(
    `select t.id, t.transaction_id, t.accepting_block_id, t.accepted_body, encode(b.hash, 'hex') as block_hash, s.address,
       (select encode(transaction_id, 'hex') from transactions lower where lower.id < t.id order by id desc limit 1) as id_below,
       s.id as script_id
     from transactions t join block_transactions c on c.transaction_id = t.id join blocks b on b.id = c.block_id
       join address_transactions a on a.transaction_id = t.id join scripts s on s.id = a.script_id
     where t.subnetwork_id = 0 and t.accepting_block_id is not null and s.address is not null
       and (select count(*) from block_transactions d where d.transaction_id = t.id) = 1
     order by t.id offset 200 limit 1`,
  );
  const [row] = rows;
  if (row === undefined) throw new Error('no block holds a payment that is in no other');
  await pool.query('insert into earlier_transactions values ($1, $2)', [row.id, row.transaction_id]);
  await pool.query('update transactions set accepting_block_id = null, accepted_body = null where id = $1', [row.id]);
  return {
    transactionId: toHex(row.transaction_id),
    blockHash: row.block_hash,
    idBelow: row.id_below,
    owner: { address: row.address, scriptId: Number(row.script_id) },
    undo: async () => {
      await pool.query('delete from earlier_transactions where id = $1', [row.id]);
      await pool.query('update transactions set accepting_block_id = $2, accepted_body = $3 where id = $1', [
        row.id,
        row.accepting_block_id,
        row.accepted_body,
      ]);
    },
  };
}
