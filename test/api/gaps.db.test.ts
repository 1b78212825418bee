/**
 * The responses of the API on an index that begins at a pruning point and has a gap besides: the
 * same as the whole index where it has all that it takes, and words where it has not. The whole
 * index is asked first; then what is before the start, and the gap, are cut out of it.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Responses, askAround, expectAsWhole } from './as-whole.ts';
import { AFTER, type BalanceHistory, BEFORE, BLOCKS, CutIndex, LATER, START, VIRTUAL_CHAIN } from './cut-index.ts';

let index: CutIndex;
let whole: Responses;
let after: string;
let before: string;
const inTheWay = () => ({
  statusCode: 409,
  message: `The chain is not indexed between ${after} and ${before}: continue from the latter`,
});

beforeAll(async () => {
  index = await CutIndex.open();
  whole = await askAround(index, [BEFORE, LATER]);
  await index.cut({ before: START });
  await index.cut({ after: AFTER - START, before: BEFORE - START });
  [after, before] = [index.hashAt(AFTER), index.hashAt(BEFORE)];
});
afterAll(() => index?.close());

test('it serves the same blocks, transactions, UTXOs, balances, supply and hash rate as an index without a gap', async () => {
  await expectAsWhole(index, whole, [BEFORE, LATER]);
});

test('it names the gap in every response that depends on it', async () => {
  const { address } = index.owner;
  const responses = [
    await index.get('/v1/blocks', {}, { limit: 1 }),
    await index.get('/v1/blocks/{hash}', { hash: after }),
    await index.get('/v1/addresses/{address}', { address }),
    await index.get('/v1/rpc/getCoinSupply'),
    await index.post('/v1/rpc/getBlock', { hash: before }),
  ];
  for (const { status, headers } of responses) {
    expect(status).toBe(200);
    expect(headers.get('x-kasgres-gaps')).toBe('1');
  }
  const etag = responses[3]?.headers.get('etag') as string;
  const unchanged = await index.harness.api.request('/v1/rpc/getCoinSupply', { headers: { 'if-none-match': etag } });
  expect(unchanged.status).toBe(304);
  expect(unchanged.headers.get('x-kasgres-gaps')).toBe('1');
  const unknown = await index.get('/v1/blocks/{hash}', { hash: index.hashAt(AFTER + 2) });
  expect(unknown.json['message']).toBe(
    `Unknown block: it may be before the first indexed block, ${index.hashAt(START)}, or in a gap (see /v1/status)`,
  );
  expect(unknown.headers.get('x-kasgres-gaps')).toBe('1');
});

test('it ends the virtual chain before the gap, and continues it after the gap', async () => {
  const chainFrom = (startHash: string) =>
    index.post(VIRTUAL_CHAIN, { startHash, includeAcceptedTransactionIds: true });
  const { json } = await chainFrom(index.hashAt(AFTER - 5));
  expect(json['addedChainBlockHashes']).toEqual(index.chain(AFTER - 4, AFTER + 1));
  expect(json['acceptedTransactionIds']).toHaveLength(5);
  const withoutIds = await index.post(VIRTUAL_CHAIN, {
    startHash: index.hashAt(START),
    includeAcceptedTransactionIds: false,
  });
  expect(withoutIds.json['addedChainBlockHashes']).toEqual(index.chain(START + 1, AFTER + 1));
  expect((await chainFrom(after)).json).toEqual(inTheWay());
  const behind = (await chainFrom(before)).json['addedChainBlockHashes'] as string[];
  expect(behind).toEqual(index.chain(BEFORE + 1, BEFORE + 1 + behind.length));
});

test('it ends pages of blocks before the gap, and continues them after the gap', async () => {
  const below = await index.pageBlocks(index.hashAt(START));
  expect(below.end.json).toEqual(inTheWay());
  expect(new Set(below.hashes)).toEqual(new Set([...index.mergedBy(START + 1, AFTER + 1), after]));
  const above = await index.pageBlocks(before);
  expect(above.end.status).toBe(200);
  expect(new Set(above.hashes)).toEqual(new Set([...index.mergedBy(BEFORE + 1), ...index.tail]));
});

test('it leads from a block that left the chain before the gap back to the chain, and no further', async () => {
  const { pool } = index;
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
  const { json } = await index.post(VIRTUAL_CHAIN, { startHash: side, includeAcceptedTransactionIds: false });
  expect(json).toMatchObject({ removedChainBlockHashes: [side], addedChainBlockHashes: [] });
  expect((await index.post(BLOCKS, { lowHash: side })).json).toEqual(inTheWay());

  // One whose selected parent is in the gap.
  await pool.query(
    `update blocks set selected_parent_id = (select id from pre_bootstrap_blocks limit 1)
      where hash = decode($1, 'hex')`,
    [side],
  );
  expect((await index.post(BLOCKS, { lowHash: side })).json).toEqual({
    statusCode: 409,
    message: `The block is before the first indexed block or in a gap: the indexed segments of the chain begin with ${index.hashAt(START)} and ${before}`,
  });
  await pool.query('update blocks set selected_parent_id = $2 where id = $1', [
    kept[0]?.id,
    kept[0]?.selected_parent_id,
  ]);
});

test('it refuses a stream from below the gap or before the first block, and names the first usable block', async () => {
  for (const from of [after, index.hashAt(START)]) {
    const response = await index.harness.api.get(`/v1/stream?from=${from}`);
    expect({ status: response.status, json: response.json }).toEqual({ status: 409, json: inTheWay() });
  }
  const { rows } = await index.pool.query<{ hash: string }>(
    "select encode(hash, 'hex') as hash from pre_bootstrap_blocks limit 1",
  );
  const earlier = await index.harness.api.get(`/v1/stream?from=${rows[0]?.hash}`);
  expect(earlier.status).toBe(409);
  expect(earlier.json['message']).toContain(before);
});

test('it refuses a hash rate window that reaches into the gap', async () => {
  const template = '/v1/rpc/estimateNetworkHashesPerSecond';
  const large = await index.get(template, {}, { windowSize: 10_000 });
  expect(large.status).toBe(409);
  expect(large.json['message']).toContain(`begins with block ${before}`);
  const lower = await index.get(template, {}, { startHash: after });
  expect(lower.status).toBe(409);
  expect(lower.json['message']).toContain(`begins with block ${index.hashAt(START)}`);
});

test('it estimates times within the gap between those of its ends, and refuses blocks with such DAA scores', async () => {
  const { rows } = await index.pool.query<{ daa_score: bigint; timestamp: bigint }>(
    'select daa_score, timestamp from chain_blocks where index in ($1::bigint, $1::bigint + 1) order by index',
    [AFTER - START],
  );
  const [lower, upper] = rows as [(typeof rows)[0], (typeof rows)[0]];
  const score = (lower.daa_score + upper.daa_score) / 2n;
  const { json } = await index.post('/v1/rpc/getDaaScoreTimestampEstimate', { daaScores: [String(score)] });
  const [time] = (json['timestamps'] as string[]).map(BigInt) as [bigint];
  expect(time).toBeGreaterThan(lower.timestamp);
  expect(time).toBeLessThan(upper.timestamp);

  const refusal = {
    statusCode: 409,
    message: `The chain is not indexed between ${after}, at DAA score ${lower.daa_score}, and ${before}, at DAA score ${upper.daa_score}`,
  };
  expect((await index.getBlocksOfScores(score, score)).json).toEqual(refusal);
  expect((await index.getBlocksOfScores(lower.daa_score, lower.daa_score + 1n)).json).toEqual(refusal);
  expect((await index.getBlocksOfScores(upper.daa_score - 1n, upper.daa_score)).json).toEqual(refusal);
  expect((await index.getBlocksOfScores(lower.daa_score - 10n, lower.daa_score)).status).toBe(200);
  expect((await index.getBlocksOfScores(upper.daa_score, upper.daa_score + 10n)).status).toBe(200);
});

test('it omits hours that end in the gap from a balance history, and names the gap', async () => {
  const { rows } = await index.pool.query<{ timestamp: bigint; chain_time: bigint }>(
    'select timestamp, chain_time from chain_blocks where index in ($1::bigint, $1::bigint + 1) order by index',
    [AFTER - START],
  );
  const { history, gaps } = await index.getBalanceHistory();
  const [after, before] = rows.map(({ timestamp }) => Number(timestamp));
  expect(gaps).toEqual([{ from: after, to: before }]);
  const [from, to] = rows.map(({ chain_time }) => Number(chain_time)) as [number, number];
  const [first] = history as [BalanceHistory['history'][0]];
  const wanted = whole.history.filter(
    ({ timestamp }) => timestamp >= first.timestamp && !(timestamp > from && timestamp <= to),
  );
  expect(history).toEqual(wanted);
  expect(whole.history.length - wanted.length).toBeGreaterThan(5);
});

test('it reports the gap and both bootstrap blocks in the status', async () => {
  const { json } = await index.get('/v1/status');
  expect(json).toMatchObject({
    firstBlock: index.hashAt(START),
    starts: [{ hash: index.hashAt(START) }, { hash: before }],
    gaps: [{ afterBlock: after, beforeBlock: before, reason: 'The node had pruned it' }],
  });
  const [gap] = json['gaps'] as Record<string, number | string>[];
  expect(Number(gap?.['beforeBlueScore'])).toBeGreaterThan(Number(gap?.['afterBlueScore']));
  expect(Number(gap?.['beforeTimestamp'])).toBeGreaterThan(Number(gap?.['afterTimestamp']));
  expect(Math.abs(Date.now() - Number(gap?.['recordedAt']))).toBeLessThan(600_000);
});

test('a bootstrap block on top of the previous chain block has a gap before it if its mergeset is missing', async () => {
  const { pool } = index;
  const select = `select selected_parent_id from blocks where hash = decode($1, 'hex')`;
  const { rows } = await pool.query<{ selected_parent_id: bigint }>(select, [before]);
  await pool.query(
    `update blocks set selected_parent_id = (select id from blocks where hash = decode($2, 'hex'))
      where hash = decode($1, 'hex')`,
    [before, after],
  );
  expect((await index.post(BLOCKS, { lowHash: after })).json).toEqual(inTheWay());
  await pool.query(`update blocks set selected_parent_id = $2 where hash = decode($1, 'hex')`, [
    before,
    rows[0]?.selected_parent_id,
  ]);
});
