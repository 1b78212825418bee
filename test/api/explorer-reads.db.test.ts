/**
 * Reads of explorers beyond single items: search, the network, its history, miners, rewards, the
 * DAG. Compared with the simulated node.
 */
import { createdEntries, type DagBlock, sinkAnticone } from '@kasgres/devnet';
import { subsidyAt, getNetwork, toHex } from '@kasgres/kaspa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { blockOn, payment, scriptOf, siblings } from '@kasgres/devnet/testing';
import { walk } from '../support/listings.ts';
import { PARAMS } from '../support/simulated-dag.ts';
import { type Harness, openHarness } from './harness.ts';

let harness: Harness;
let chain: readonly DagBlock[];
let sink: DagBlock;

beforeAll(async () => {
  harness = await openHarness({ rounds: 400 });
  await harness.atRest();
  ({ chainBlocks: chain, sink } = harness.simulatedDag.node.dag);
});
afterAll(() => harness.close());

type Json = Record<string, unknown>;

const get = async (template: string, values: Record<string, string> = {}, query: Record<string, string> = {}) =>
  (await harness.api.getChecked(template, values, query)).json as Json;

const search = async (q: string, limit?: number) =>
  (await get('/v1/search', {}, { q, ...(limit !== undefined && { limit: String(limit) }) }))['results'] as Json[];

async function one<Row extends object>(text: string): Promise<Row> {
  const { rows } = await harness.database.pool.query<Row>(text);
  return rows[0] as Row;
}

describe('search', () => {
  test('finds blocks by hash, in any form, and by a prefix of eight digits', async () => {
    const block = chain.at(-5) as DagBlock;
    for (const q of [block.hash, ` 0x${block.hash.toUpperCase()} `, block.hash.slice(0, 8), block.hash.slice(0, 33)]) {
      expect(await search(q)).toContainEqual(
        expect.objectContaining({ type: 'block', id: block.hash, matched: 'hash', isChainBlock: true }),
      );
    }
    expect(await search(block.hash.slice(0, 7))).not.toContainEqual(expect.objectContaining({ type: 'block' }));
  });

  test('finds blocks by score, the chain block first', async () => {
    const { header, hash } = chain.at(-20) as DagBlock;
    const [first, ...others] = await search(String(header.blueScore), 20);
    expect(first).toMatchObject({ type: 'block', id: hash, matched: 'blueScore', isChainBlock: true });
    expect(
      others.filter(({ matched }) => matched === 'blueScore').every(({ isChainBlock }) => isChainBlock === false),
    ).toBe(true);
    expect(await search(String(header.daaScore), 20)).toContainEqual(
      expect.objectContaining({
        id: hash,
        matched: String(header.blueScore) === String(header.daaScore) ? 'blueScore' : 'daaScore',
      }),
    );
    // Both scores of genesis are zero.
    expect((await search('0')).filter(({ id }) => id === chain[0]?.hash)).toHaveLength(1);
    const { score, id } = await one<{ score: string; id: string }>(
      "select daa_score::text as score, encode(hash, 'hex') as id from blocks where daa_score <> blue_score limit 1",
    );
    expect(await search(score, 20)).toContainEqual(expect.objectContaining({ id, matched: 'daaScore' }));
  });

  test('finds transactions, addresses with and without prefix, and tags by the beginning of their names', async () => {
    const { id } = await one<{ id: string }>(
      "select encode(transaction_id, 'hex') as id from transactions where fee > 0 limit 1",
    );
    expect(await search(id)).toEqual([
      expect.objectContaining({ type: 'transaction', id, isAccepted: true, isPending: false }),
    ]);
    const { address, balance } = await one<{ address: string; balance: string }>(
      'select address, balance::text as balance from scripts join balances on script_id = id where balance > 0 limit 1',
    );
    for (const q of [address, address.slice('kaspasim:'.length), address.toUpperCase()]) {
      expect(await search(q)).toContainEqual(
        expect.objectContaining({ type: 'address', id: address, balance, label: null }),
      );
    }
    for (const q of [address.slice(0, 20), address.slice('kaspasim:'.length, 24).toUpperCase()])
      expect(await search(q)).toEqual([expect.objectContaining({ type: 'address', id: address, balance })]);
    expect(await search(address.slice(0, 'kaspasim:qq'.length))).toEqual([]);
    expect(await search(address.slice('kaspasim:'.length, 'kaspasim:'.length + 7))).toEqual([]);
    expect(await search(`kaspa:${address.slice('kaspasim:'.length, 20)}`)).toEqual([]);
    const { start, ids } = await one<{ start: string; ids: string[] }>(
      `select left(address, 13) as start, array_agg(address order by address collate "C") as ids
         from scripts where address is not null group by 1 having count(*) > 1 limit 1`,
    );
    expect((await search(start, 20)).map(({ id: found }) => found)).toEqual(ids.slice(0, 20));
    await harness.database.pool.query("insert into tags (address, name, labels) values ($1, 'Über Pool', '{pool}')", [
      address,
    ]);
    expect(await search('üBER')).toEqual([
      { type: 'tag', id: 'Über Pool', label: 'Über Pool', labels: ['pool'], address, addressCount: 1 },
    ]);
    expect(await search(address)).toContainEqual(expect.objectContaining({ type: 'address', label: 'Über Pool' }));
    await harness.database.pool.query("update tags set name = 'dev/ops'");
    for (const q of ['dev/ops', 'dev/', 'https://explorer.example/tags/dev%2Fops', 'explorer.example/tags/dev%2Fops']) {
      expect(await search(q)).toEqual([expect.objectContaining({ type: 'tag', id: 'dev/ops' })]);
    }
    expect(await search('ops')).toEqual([]);
    await harness.database.pool.query('delete from tags');
    expect(await search('üBER')).toEqual([]);
  });

  test('shows an address that was never seen, and a transaction of the mempool', async () => {
    const never = 'kaspasim:qzgprqydp4ct77pxza79wemj2acmph2pn3xhscaf4s6t3hfj2y8rk3qnkjdmg';
    expect(await search(never)).toEqual([
      { type: 'address', id: never, label: null, balance: '0', transactionCount: 0 },
    ]);
    const entries = (
      await harness.node.call('getMempoolEntries', { includeOrphanPool: false, filterTransactionPool: false })
    ).entries;
    const pending = entries[0]?.transaction?.verboseData?.transactionId;
    if (pending === undefined) throw new Error('the mempool is empty');
    const known = await one<{ count: bigint }>(
      `select count(*) from transactions where transaction_id = '\\x${pending}'`,
    );
    if (Number(known.count) === 0) {
      expect(await search(pending)).toEqual([
        { type: 'transaction', id: pending, label: null, blockTime: null, isAccepted: false, isPending: true },
      ]);
    }
  });

  test.each([
    ['', 400],
    ['a'.repeat(201), 400],
    ['%00', 400],
    ['zz', 200],
    // A NUL in a part of a URL.
    ['https://explorer.example/blocks/%2500', 200],
  ])('responds to %j with %i', async (q, status) => {
    expect((await harness.api.request(`/v1/search?q=${q}`)).status).toBe(status);
    expect((await harness.api.request(`/v1/search?q=ab&limit=21`)).status).toBe(400);
  });
});

test('the network has the scores of the sink, its reward, and the counts of the rows', async () => {
  const network = await get('/v1/network');
  const simnet = getNetwork('simnet');
  const counts = await one<Json>(
    `select (select sum(cardinality(merge_set_blues || merge_set_reds))::text from blocks
      where is_chain_block) as "blockCount",
       (select count(*)::text from transactions
         where accepting_index is not null and subnetwork_id <> 1) as "transactionCount",
       (select count(*)::text from balances join scripts on id = script_id
         where balance > 0 and address is not null) as "addressCount",
       (select sum(amount)::text from utxos) as "circulatingSompi"`,
  );
  expect(network).toMatchObject({
    network: 'simnet',
    sink: sink.hash,
    blueScore: String(sink.header.blueScore),
    daaScore: String(sink.header.daaScore),
    timestamp: Number(sink.header.timestamp),
    blockReward: String(subsidyAt(simnet, BigInt(sink.header.daaScore)).subsidy),
    nextReward: '4400000000',
    countedFrom: Number(simnet.genesisTimestamp),
    ...counts,
  });
  expect(network['mempoolSize']).toBeGreaterThanOrEqual(0);
  const { block } = (await get('/v1/blocks/{hash}', { hash: sink.hash })) as { block: Json };
  expect(block['subsidy']).toBe(network['blockReward']);
  const circulating = await harness.api.request('/v1/network/supply/circulating');
  expect(circulating.headers.get('content-type')).toContain('text/plain');
  expect(circulating.text.replace('.', '').replace(/^0+/, '')).toBe(network['circulatingSompi']);
  expect((await harness.api.request('/v1/network/supply/max')).text).toBe('29000000000.00000000');
});

test('the history sums to the network, forwards and backwards', async () => {
  const { history, hasMore } = (await get('/v1/network/history', {}, { interval: 'minute', from: '0' })) as {
    history: (Json & { start: number; blocks: number; transactions: number })[];
    hasMore: boolean;
  };
  expect(hasMore).toBe(false);
  const network = await get('/v1/network');
  const sum = (name: 'blocks' | 'transactions') => String(history.reduce((total, each) => total + each[name], 0));
  expect({ blockCount: sum('blocks'), transactionCount: sum('transactions') }).toEqual({
    blockCount: network['blockCount'],
    transactionCount: network['transactionCount'],
  });
  expect(history.map(({ isOpen }) => isOpen)).toEqual(history.map((_, i) => i === history.length - 1));
  expect(history.at(-1)?.['supply']).toBe(network['circulatingSompi']);
  const { start } = history.at(-1) as { start: number };
  const before = (await get('/v1/network/history', {}, { interval: 'minute', to: String(start) }))['history'];
  expect(before).toEqual(history.slice(0, -1).slice(-100));
  expect((await harness.api.request('/v1/network/history?from=2&to=1')).status).toBe(400);
  expect((await harness.api.request('/v1/network/history?interval=week')).status).toBe(400);
});

test('the distribution has every address with a balance in its tier', async () => {
  const { tiers } = (await get('/v1/network/distribution')) as {
    tiers: { from: string; to: string | null; addresses: number; balance: string }[];
  };
  const { rows } = await harness.database.pool.query<{ balance: bigint }>(
    'select balance from balances join scripts on id = script_id where balance > 0 and address is not null',
  );
  for (const { from, to, addresses, balance } of tiers) {
    const inTier = rows.filter((row) => row.balance >= BigInt(from) && (to === null || row.balance < BigInt(to)));
    expect({ addresses, balance: BigInt(balance) }).toEqual({
      addresses: inTier.length,
      balance: inTier.reduce((total, row) => total + row.balance, 0n),
    });
  }
  expect(tiers.filter(({ addresses }) => addresses > 0).length).toBeGreaterThan(1);
});

test('miners have the blocks that the chain merged, and what coinbases pay', async () => {
  const { miners, blocks } = (await get('/v1/miners', {}, { interval: 'week' })) as {
    blocks: number;
    miners: { address: string; blocks: number; redBlocks: number; share: number; rewards: string }[];
  };
  const merged = chain.flatMap((block) => [...block.mergeSet]).filter(({ header }) => header.parentsByLevel.length > 0);
  expect(blocks).toBe(merged.length);
  expect(miners.reduce((sum, each) => sum + each.blocks, 0)).toBe(merged.length);
  expect(miners.reduce((sum, each) => sum + each.redBlocks, 0)).toBe(
    chain.flatMap((block) => [...block.mergeSetReds]).length,
  );
  const { paid } = await one<{ paid: string }>(
    `select sum(amount)::text as paid from transaction_outputs o
      join block_transactions b on b.transaction_id = o.transaction_id and b.index = 0
     join blocks on blocks.id = b.block_id and is_chain_block`,
  );
  expect(String(miners.reduce((sum, each) => sum + BigInt(each.rewards), 0n))).toBe(paid);
  expect(miners.map((each) => each.blocks)).toEqual(
    miners.map((each) => each.blocks).toSorted((one, other) => other - one),
  );
});

interface Rewarded {
  hash: string;
  miner: { address: string; scriptPublicKey: string } | null;
  subsidy: string | null;
  fees: string | null;
  redReward: string | null;
  reward: string | null;
  rewardTransactionId: string | null;
}

const rewardOf = async (hash: string) => (await get('/v1/blocks/{hash}', { hash }))['block'] as Rewarded;

async function expectRewards(merging: DagBlock): Promise<void> {
  const [coinbase] = merging.transactions;
  const paid = (coinbase?.outputs ?? []).map(({ amount, scriptPublicKey }) => ({
    amount,
    script: toHex(scriptPublicKey.script),
  }));
  const blues = await Promise.all(merging.mergeSetBlues.map(({ hash }) => rewardOf(hash)));
  const reds = await Promise.all(merging.mergeSetReds.map(({ hash }) => rewardOf(hash)));
  const rewarded = blues.filter(({ subsidy }) => subsidy !== null);
  expect(paid.slice(0, rewarded.length)).toEqual(
    rewarded.map(({ subsidy, fees, miner }) => ({
      amount: BigInt(subsidy as string) + BigInt(fees as string),
      script: miner?.scriptPublicKey,
    })),
  );
  const forReds = reds.reduce((sum, { subsidy, fees }) => sum + BigInt(subsidy as string) + BigInt(fees as string), 0n);
  expect(paid.slice(rewarded.length).map(({ amount }) => amount)).toEqual(forReds === 0n ? [] : [forReds]);
  for (const red of reds) expect(red).toMatchObject({ reward: '0', redReward: '0' });
  const own = await rewardOf(merging.hash);
  if (merging === sink)
    expect(own).toMatchObject({ fees: null, redReward: null, reward: null, rewardTransactionId: null });
  else {
    expect(own.redReward).toBe(String(forReds));
    expect(own.reward).toBe(String(BigInt(own.subsidy as string) + BigInt(own.fees as string) + forReds));
  }
  const [accepted] = [...blues, ...reds];
  const totals = await one<{ fees: string }>(
    `select coalesce(sum(fee), 0)::text as fees from transactions t join chain_blocks c on c.index = t.accepting_index
     where c.hash = '\\x${merging.hash}' and t.subnetwork_id <> 1`,
  );
  expect(String([...blues, ...reds].reduce((sum, { fees }) => sum + BigInt(fees ?? 0), 0n))).toBe(totals.fees);
  if (accepted !== undefined && accepted.fees !== null) expect(accepted.rewardTransactionId).toMatch(/^[0-9a-f]{64}$/);
}

test('blocks are rewarded as the coinbases of their merging blocks pay', async () => {
  for (const merging of chain.slice(1).filter((_, i) => i % 7 === 0 || chain[i + 1]?.mergeSetReds.length))
    await expectRewards(merging);
  expect(chain.some((block) => block.mergeSetReds.length > 0)).toBe(true);
});

test('the DAG has each block of a window once, with its parents', async () => {
  const merged = chain.flatMap((block) => [...block.mergeSet]);
  const known = new Map(
    [...merged, sink, ...sinkAnticone(harness.simulatedDag.node.dag)].map((block) => [block.hash, block]),
  );
  const { daaScore } = (chain.at(-40) as DagBlock).header;
  const [from, to] = [BigInt(daaScore), BigInt(daaScore) + 60n];
  const window = (await get('/v1/dag', {}, { from: String(from), to: String(to) })) as {
    blocks: (Json & { hash: string })[];
    truncated: boolean;
  };
  const expected = [...known.values()]
    .filter(({ header }) => BigInt(header.daaScore) >= from && BigInt(header.daaScore) <= to)
    .sort(
      (one, other) =>
        Number(BigInt(one.header.daaScore) - BigInt(other.header.daaScore)) || (one.hash < other.hash ? -1 : 1),
    );
  expect(window.truncated).toBe(false);
  expect(window.blocks.map(({ hash }) => hash)).toEqual(expected.map(({ hash }) => hash));
  expect(window.blocks).toEqual(
    expected.map((block): unknown =>
      expect.objectContaining({
        parentHashes:
          block.header.parentsByLevel[0]?.map((parent) => (typeof parent === 'string' ? parent : toHex(parent))) ?? [],
        isChainBlock: block.chainIndex !== undefined,
        mergingBlockHash: block.mergingBlock?.hash ?? null,
      }),
    ),
  );
  for (const end of [`from=${from}`, `to=${to}`]) {
    expect(await get('/v1/dag', {}, Object.fromEntries(new URLSearchParams(`${end}&span=60`)))).toEqual(window);
  }
  expect(await get('/v1/dag', {}, { to: '9' })).toMatchObject({ from: '0', to: '9' });
  const latest = (await get('/v1/dag'))['blocks'] as { hash: string }[];
  expect(latest.map(({ hash }) => hash)).toContain(sink.hash);
  const around = (await get('/v1/dag', {}, { around: sink.hash, span: '10' }))['blocks'] as { hash: string }[];
  expect(around.map(({ hash }) => hash)).toContain(sink.hash);
  for (const query of [
    'from=5&to=4',
    `around=${sink.hash}&to=9`,
    'from=1&to=302',
    `around=${'ab'.repeat(32)}&from=1&to=2`,
    'span=301',
  ]) {
    expect((await harness.api.request(`/v1/dag?${query}`)).status).toBe(400);
  }
  expect((await harness.api.request(`/v1/dag?around=${'ab'.repeat(32)}`)).status).toBe(404);
});

test('transactions of a block come in its order, contained or accepted', async () => {
  const block = chain.slice(0, -1).findLast(({ transactions }) => transactions.length > 3) as DagBlock;
  for (const relation of ['contained', 'accepted']) {
    const { rows } = await harness.database.pool.query<{ id: string }>(
      relation === 'contained'
        ? `select encode(t.transaction_id, 'hex') as id from block_transactions c join blocks b on b.id = c.block_id
           join transactions t on t.id = c.transaction_id where b.hash = '\\x${block.hash}'
             order by c.index`
        : `select encode(t.transaction_id, 'hex') as id from chain_blocks c
          cross join unnest(accepted_transactions) with ordinality a (id, n)
           join transactions t on t.id = a.id where c.hash = '\\x${block.hash}' order by a.n`,
    );
    const listing = {
      template: '/v1/blocks/{hash}/transactions',
      values: { hash: block.hash },
      query: { relation },
      field: 'transactions',
      cursorOf: ({ transactionId }: { transactionId: string }) => transactionId,
    };
    for (const limit of [1, 3, 100]) {
      const walked = await walk(harness.api, listing, limit);
      expect(walked.map(({ transactionId }) => transactionId)).toEqual(rows.map(({ id }) => id));
    }
    expect(rows.length).toBeGreaterThan(0);
  }
  const unknown = 'ab'.repeat(32);
  expect((await harness.api.request(`/v1/blocks/${unknown}/transactions`)).status).toBe(404);
  expect((await harness.api.request(`/v1/blocks/${block.hash}/transactions?starting_after=${unknown}`)).status).toBe(
    404,
  );
});

test('a cursor of accepted transactions survives a reorg that removes the block from the chain', async () => {
  const { pool } = harness.database;
  const { rows } = await pool.query<{ hash: string; id: string }>(
    `select encode(c.hash, 'hex') as hash, encode(t.transaction_id, 'hex') as id from chain_blocks c
       join transactions t on t.id = c.accepted_transactions[1] order by c.index desc limit 1`,
  );
  const [sink] = rows as [{ hash: string; id: string }];
  const path = `/v1/blocks/${sink.hash}/transactions?relation=accepted`;
  const ask = async (cursor: string) => await harness.api.request(`${path}&starting_after=${cursor}`);
  // As a reorg leaves it.
  await pool.query(`begin;
    create table reverted as select * from chain_blocks order by index desc limit 1;
    insert into removed_chain_blocks select block_id, accepted_transactions from reverted
    on conflict (block_id) do update set accepted_transactions = excluded.accepted_transactions;
    delete from chain_blocks where index = (select index from reverted);
    commit`);
  try {
    const after = await ask(sink.id);
    expect(after.status).toBe(200);
    expect(after.json).toMatchObject({ transactions: [], metadata: { hasMore: false, count: 0 } });
    expect((await ask('ab'.repeat(32))).status).toBe(404);
  } finally {
    await pool.query('begin; insert into chain_blocks select * from reverted; drop table reverted; commit');
  }
  expect((await ask(sink.id)).status).toBe(200);
});

test('several addresses at once are as one by one, in the given order', async () => {
  const { rows } = await harness.database.pool.query<{ address: string }>(
    'select address from scripts where address is not null order by id limit 12',
  );
  const addresses = [
    ...rows.map(({ address }) => address),
    'kaspasim:qzgprqydp4ct77pxza79wemj2acmph2pn3xhscaf4s6t3hfj2y8rk3qnkjdmg',
    rows[0]?.address as string,
  ];
  const { json } = await harness.api.postChecked('/v1/addresses', { addresses });
  const singly = await Promise.all(
    addresses.map(async (address) => (await get('/v1/addresses/{address}', { address }))['address']),
  );
  expect(json['addresses']).toEqual(singly);
});

const sum = (amounts: readonly (string | null)[]): bigint =>
  amounts.reduce((total, amount) => total + BigInt(amount ?? 0), 0n);

test('the mempool has what the node has, by fee rate', async () => {
  const mempool = (await get('/v1/mempool')) as {
    size: number;
    fees: { transactions: number; from: number; to: number | null }[];
    newest: { transactionId: string; outputSum: string; fee: string; mass: string }[];
  };
  const { entries } = await harness.node.call('getMempoolEntries', {
    includeOrphanPool: false,
    filterTransactionPool: false,
  });
  expect(mempool.size).toBe(entries.length);
  expect(mempool.fees.reduce((sum, { transactions }) => sum + transactions, 0)).toBe(entries.length);
  expect(entries.length).toBeGreaterThan(0);
  for (const { transactionId, fee, outputSum, mass } of mempool.newest) {
    const entry = entries.find(({ transaction }) => transaction?.verboseData?.transactionId === transactionId);
    expect(fee).toBe(String(entry?.fee));
    expect(outputSum).toBe(String(entry?.transaction?.outputs.reduce((sum, { amount }) => sum + amount, 0n)));
    const { json: rpc } = await harness.api.post('/v1/rpc/getMempoolEntry', { transactionId });
    const { transaction: whole } = rpc['mempoolEntry'] as { transaction: Json };
    expect((await harness.api.post('/v1/transactions/mass', { transaction: whole })).json).toMatchObject({ mass });
    const { transaction } = (await get('/v1/mempool/{transactionId}', { transactionId })) as {
      transaction: {
        fee: string;
        inputs: { previousOutput: { amount: string | null } }[];
        outputs: { amount: string }[];
      };
    };
    expect(transaction).toMatchObject({ blockTime: null, isAccepted: false });
    expect(transaction).not.toHaveProperty('payload');
    const withPayload = await get('/v1/mempool/{transactionId}', { transactionId }, { include_payload: 'true' });
    expect(withPayload['transaction']).toHaveProperty('payload', whole['payload']);
    const spent = transaction.inputs.map(({ previousOutput }) => previousOutput.amount);
    if (spent.every((amount) => amount !== null)) {
      expect(sum(spent) - sum(transaction.outputs.map(({ amount }) => amount))).toBe(BigInt(transaction.fee));
    }
  }
  expect((await harness.api.request(`/v1/mempool/${'ab'.repeat(32)}`)).status).toBe(404);
});

test('the mass of a transaction is what the node computes', async () => {
  const { entries } = await harness.node.call('getMempoolEntries', {
    includeOrphanPool: false,
    filterTransactionPool: false,
  });
  let weighed = 0;
  for (const { transaction } of entries) {
    const id = transaction?.verboseData?.transactionId ?? '';
    const { json } = await harness.api.post('/v1/rpc/getMempoolEntry', { transactionId: id });
    const { transaction: submitted } = json['mempoolEntry'] as {
      transaction: Json & { mass: string; verboseData: { computeMass: string } };
    };
    const { json: mass, status } = await harness.api.post('/v1/transactions/mass', { transaction: submitted });
    expect(status).toBe(200);
    expect(mass).toMatchObject({ computeMass: submitted.verboseData.computeMass, storageMass: submitted.mass });
    weighed += 1;
  }
  expect(weighed).toBeGreaterThan(0);
});

test('the fee of a transaction is that of the copy whose inputs exist, not of an earlier one in the mergeset', async () => {
  const { node } = harness.simulatedDag;
  for (let made = 0; made < 2 * PARAMS.coinbaseMaturity; made += 1) node.receive(blockOn(node, { miner: scriptOf(7) }));
  const [utxo] = node.consensus.utxos.utxosOf(scriptOf(7));
  const parent = payment(utxo, scriptOf(8), 50_000);
  const [output] = createdEntries(parent, node.consensus.virtual.daaScore, false);
  const child = payment(output, scriptOf(9), 70_000);
  const grandchild = payment(createdEntries(child, node.consensus.virtual.daaScore, false)[0], scriptOf(10), 90_000);
  const merged = siblings(node, [[child], [grandchild], [parent], [grandchild], [child], [grandchild], []]);
  for (const block of merged) node.receive(block);
  for (let made = 0; made < 3; made += 1) node.receive(blockOn(node));
  await harness.atRest();
  const fees = await Promise.all(merged.map(async ({ hash }) => (await rewardOf(toHex(hash))).fees));
  expect(fees).toEqual(['0', '0', '50000', '0', '70000', '90000', '0']);
  const merging = node.dag.chainBlocks.at(-3) as DagBlock;
  expect(merging.mergeSetBlues.length + merging.mergeSetReds.length).toBe(merged.length);
  await expectRewards(merging);
});
