/**
 * The responses of the API on an index that begins at a pruning point: those of the whole index if
 * the data suffices, else an error that says what is missing. The responses of the whole index are
 * read first; then everything before the start is removed from it.
 */
import { toHex } from '@kasgres/kaspa';
import { NodeRpcError } from '@kasgres/node';
import { IndexReader } from '@kasgres/reads';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { completeStorageMasses } from '../../packages/api/src/resources/rpc/submitted/storage-masses.ts';
import type { SubmittedTransaction } from '../../packages/api/src/resources/rpc/submitted/transaction.ts';
import { walk } from '../support/listings.ts';
import { askAround, expectAsWhole, type Responses, type RestTransaction } from './as-whole.ts';
import { BEFORE, BLOCKS, CutIndex, LATER, START, UNKNOWN, VIRTUAL_CHAIN } from './cut-index.ts';
import { addressTransactions } from './listings.ts';

/** Changes rows so that a transaction of a block was also accepted before the bootstrap block. */
async function carryAgain({ pool }: CutIndex) {
  const { rows } = await pool.query<{
    id: bigint;
    transaction_id: Buffer;
    accepting_index: bigint;
    accepted_variant: number;
    block_hash: string;
    id_below: string;
    address: string;
    script_id: bigint;
  }>(
    `select t.id, t.transaction_id, t.accepting_index, t.accepted_variant,
      encode(b.hash, 'hex') as block_hash, s.address,
       (select encode(transaction_id, 'hex') from transactions lower where lower.id < t.id
         order by id desc limit 1) as id_below,
       s.id as script_id
     from transactions t join block_transactions c on c.transaction_id = t.id
       join blocks b on b.id = c.block_id
       join address_transactions a on a.transaction_id = t.id join scripts s on s.id = a.script_id
     where t.subnetwork_id = 0 and t.accepting_index is not null and s.address is not null
       and (select count(*) from block_transactions d where d.transaction_id = t.id) = 1
     order by t.id offset 200 limit 1`,
  );
  const [row] = rows;
  if (row === undefined) throw new Error('no block holds a payment that is in no other');
  await pool.query('insert into pre_bootstrap_transactions values ($1, $2)', [row.id, row.transaction_id]);
  await pool.query('update transactions set accepting_index = null, accepted_variant = null where id = $1', [row.id]);
  return {
    transactionId: toHex(row.transaction_id),
    blockHash: row.block_hash,
    idBelow: row.id_below,
    owner: { address: row.address, scriptId: Number(row.script_id) },
    undo: async () => {
      await pool.query('delete from pre_bootstrap_transactions where id = $1', [row.id]);
      await pool.query('update transactions set accepting_index = $2, accepted_variant = $3 where id = $1', [
        row.id,
        row.accepting_index,
        row.accepted_variant,
      ]);
    },
  };
}

let index: CutIndex;
let whole: Responses;

beforeAll(async () => {
  index = await CutIndex.open();
  whole = await askAround(index, [START, BEFORE, LATER]);
});
afterAll(() => index?.close());

test('the comparison reports no difference for a complete index', async () => {
  const { headers, json } = await index.get('/v1/blocks', {}, { limit: 1 });
  expect(headers.has('x-kasgres-gaps')).toBe(false);
  expect(json).toHaveProperty('blocks');
  expect((await index.get('/v1/blocks/{hash}', { hash: UNKNOWN })).json['message']).toBe('Unknown block');
  expect((await index.get('/v1/transactions/{transactionId}', { transactionId: UNKNOWN })).json['message']).toBe(
    'Unknown transaction',
  );
});

describe('an index that begins at a pruning point', () => {
  let start: string;
  /** Transactions from before: those of which UTXOs are left, and those of which none are. */
  let withUtxos: string[];
  let spentBefore: string[];

  beforeAll(async () => {
    await index.cut({ before: START });
    start = index.hashAt(START);
    withUtxos = await listEarlier(index);
    spentBefore = index.acceptedBy(1, START).filter((id) => !withUtxos.includes(id));
  });

  test('it serves the same blocks, transactions, UTXOs, balances, supply and hash rate as an index without a gap', async () => {
    const { rows } = await index.pool.query('select from pre_bootstrap_blocks');
    expect(rows.length).toBeGreaterThan(0);
    await expectAsWhole(index, whole, [START, BEFORE, LATER]);
  });

  test('has the outpoint of every input', async () => {
    const { rows } = await index.pool.query<{ id: string }>(
      `select encode(t.transaction_id, 'hex') as id
       from transaction_inputs i
         join pre_bootstrap_transactions e on e.id = i.previous_transaction_id
         join transactions t on t.id = i.transaction_id
       where t.accepting_index is not null limit 50`,
    );
    expect(rows.length).toBeGreaterThan(5);
    const transactionIds = rows.map(({ id }) => id);
    const { json } = await index.post('/v1/transactions', { transactionIds });
    for (const transaction of json['transactions'] as RestTransaction[]) {
      for (const { previousOutput } of transaction.inputs) {
        expect(previousOutput.transactionId).toMatch(/^[0-9a-f]{64}$/);
        expect(previousOutput.amount).not.toBeNull();
      }
    }
  });

  test('names the covenant of a pre-bootstrap UTXO that an input spends', async () => {
    const { rows } = await index.pool.query<{ id: string; covenants: (string | null)[] }>(
      `select i.transaction_id as id, array_agg(i.covenant_id order by i.index) as covenants
       from kaspa.inputs i left join bootstrap_utxos u
         on u.transaction_id = i.previous_transaction_key and u.index = i.previous_index
       where i.is_accepted group by i.transaction_id having count(u.covenant_id) > 0 limit 5`,
    );
    expect(rows.length).toBeGreaterThan(0);
    for (const { id, covenants } of rows) {
      const { json } = await index.harness.api.get(`/rest/transactions/${id}`);
      expect((json['inputs'] as { covenant_id: string | null }[]).map((input) => input.covenant_id)).toEqual(covenants);
    }
  });

  test('treats a pre-bootstrap transaction with a UTXO as accepted, with confirmations since the bootstrap block', async () => {
    const [since = ''] = index.acceptedBy(START + 5, START + 6);
    const [spent = ''] = spentBefore;
    const transactionIds = [since, ...withUtxos.slice(0, 2), spent];
    const { json } = await index.post('/v1/transactions/acceptance', { transactionIds });
    const { rows } = await index.pool.query<{ below: bigint }>(
      `select sink.blue_score - s.blue_score as below from checkpoint p join blocks sink on sink.id = p.block_id,
         bootstrap_blocks join blocks s on s.id = bootstrap_blocks.block_id`,
    );
    const confirmations = Number(rows[0]?.below);
    expect(json['transactions']).toEqual([
      expect.objectContaining({ transactionId: since, acceptingBlockHash: index.hashAt(START + 5), isAccepted: true }),
      ...withUtxos
        .slice(0, 2)
        .map((transactionId) => ({ transactionId, isAccepted: true, acceptingBlockHash: null, confirmations })),
      { transactionId: spent, isAccepted: false, acceptingBlockHash: null, confirmations: 0 },
    ]);
    const rest = await index.harness.api.request('/rest/transactions/acceptance', { body: { transactionIds } });
    expect(rest.json).toMatchObject([
      { accepted: true, acceptingBlockHash: index.hashAt(START + 5) },
      { accepted: true, acceptingBlockHash: null, acceptingBlueScore: null, acceptingTimestamp: null },
      { accepted: true, acceptingBlockHash: null },
      { accepted: false },
    ]);
  });

  test('returns such a transaction if a block contains it again, in look-ups and among accepted ones', async () => {
    const again = await carryAgain(index);
    const { json } = await index.get('/v1/transactions/{transactionId}', { transactionId: again.transactionId });
    expect(json['transaction']).toMatchObject({
      isAccepted: true,
      acceptingBlockHash: null,
      acceptingBlockBlueScore: null,
      blockHashes: [again.blockHash],
    });
    const next = await index.get(
      '/v1/transactions',
      {},
      { accepted_only: 'true', limit: 1, ending_before: again.idBelow },
    );
    expect(next.json['transactions']).toMatchObject([{ transactionId: again.transactionId }]);
    const ofAddress = await walk(index.harness.api, addressTransactions(again.owner, true), 100);
    expect((ofAddress as { transactionId: string }[]).map(({ transactionId }) => transactionId)).toContain(
      again.transactionId,
    );
    const rest = async (acceptance: string) => {
      const path = `/rest/addresses/${again.owner.address}/full-transactions-page?limit=500&acceptance=${acceptance}`;
      const found = (await index.harness.api.get(path)).json as unknown as { transaction_id: string }[];
      return found.map(({ transaction_id: id }) => id);
    };
    expect(await rest('accepted')).toContain(again.transactionId);
    expect(await rest('rejected')).not.toContain(again.transactionId);
    await again.undo();
  });

  test('pages through pre-bootstrap UTXOs by outpoint', async () => {
    const { rows } = await index.pool.query<{ cursor: string; address: string }>(
      `select encode(e.transaction_id, 'hex') || ':' || u.index as cursor, s.address
       from bootstrap_utxos u join pre_bootstrap_transactions e on e.id = u.transaction_id
         join scripts s on s.id = u.script_id
       where s.address is not null
         and not exists (select from utxos
           where transaction_id = u.transaction_id and index = u.index)
       limit 1`,
    );
    const { address, cursor } = rows[0] as { address: string; cursor: string };
    const template = '/v1/addresses/{address}/utxos';
    expect((await index.get(template, { address }, { starting_after: cursor })).status).toBe(200);
    // A start behind a gap replaces the UTXOs of this one: what was spent since is found by its
    // spender.
    const client = await index.pool.connect();
    await client.query('create table kept as select * from bootstrap_utxos');
    await client.query('delete from bootstrap_utxos');
    expect((await index.get(template, { address }, { starting_after: cursor })).status).toBe(200);
    await client.query('insert into bootstrap_utxos select * from kept');
    await client.query('drop table kept');
    client.release();
    const other = `${cursor.slice(0, 64)}:9999`;
    expect((await index.get(template, { address }, { starting_after: other })).status).toBe(404);
  });

  test('has the covenants of pre-bootstrap UTXOs', async () => {
    const { rows } = await index.pool.query<{ address: string; id: string; output_index: number }>(
      `update utxos u set covenant_id = decode($1, 'hex')
       from (select u.transaction_id, u.index, s.address, e.transaction_id as id
             from utxos u join scripts s on s.id = u.script_id
               join pre_bootstrap_transactions e on e.id = u.transaction_id
             where s.address is not null
               and not exists (select from transactions t where t.id = e.id) limit 1) held
       where held.transaction_id = u.transaction_id and held.index = u.index
       returning held.address, encode(held.id, 'hex') as id, held.index::integer as output_index`,
      [UNKNOWN],
    );
    const [{ address, id: transactionId, output_index }] = rows as [(typeof rows)[0]];
    const { json } = await index.post('/v1/rpc/getUtxosByAddresses', { addresses: [address] });
    expect(json['entries']).toContainEqual(
      expect.objectContaining({
        outpoint: { transactionId, index: output_index },
        utxoEntry: expect.objectContaining({ covenantId: UNKNOWN }) as unknown,
      }),
    );
    await index.pool.query(`update utxos set covenant_id = null where covenant_id = decode($1, 'hex')`, [UNKNOWN]);
  });

  test('computes storage masses from pre-bootstrap UTXOs', async () => {
    const { rows } = await index.pool.query<{ transaction_id: Buffer; index: bigint; script: Buffer }>(
      `select e.transaction_id, u.index, s.script
       from bootstrap_utxos u join pre_bootstrap_transactions e on e.id = u.transaction_id
         join scripts s on s.id = u.script_id
       where not exists (select from transactions t where t.id = e.id) limit 1`,
    );
    const [utxo] = rows;
    const spender = (outputIndex: number): SubmittedTransaction => ({
      version: 0,
      inputs: [
        {
          previousOutpoint: { transactionId: utxo?.transaction_id as Buffer, index: outputIndex },
          signatureScript: Uint8Array.of(0x41),
          sequence: 0n,
          sigOpCount: 1,
          computeBudget: 0,
        },
      ],
      outputs: [
        { amount: 100_000n, scriptPublicKey: { version: 0, script: utxo?.script as Buffer }, covenant: undefined },
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
    const services = { index: new IndexReader(index.harness.database), node };
    const [completed] = await completeStorageMasses(services, [spender(Number(utxo?.index))]);
    expect(completed?.storageMass).toBeGreaterThan(0n);
    await expect(completeStorageMasses(services, [spender(9999)])).rejects.toMatchObject({ statusCode: 400 });
  });

  test('pages from its bootstrap block to the sink, by blocks and by the chain', async () => {
    expect((await index.post(BLOCKS, {})).json['blockHashes']).toEqual(
      (await index.post(BLOCKS, { lowHash: start })).json['blockHashes'],
    );
    const { hashes, end } = await index.pageBlocks(start);
    expect(end.status).toBe(200);
    expect(new Set(hashes)).toEqual(new Set([...index.mergedBy(START + 1), ...index.tail]));
    expect(hashes.length).toBe(new Set(hashes).size);
    const { json } = await index.post(VIRTUAL_CHAIN, { startHash: start, includeAcceptedTransactionIds: true });
    const added = json['addedChainBlockHashes'] as string[];
    expect(added).toEqual(index.chain(START + 1, START + 1 + added.length));
    const groups = json['acceptedTransactionIds'] as { acceptedTransactionIds: string[] }[];
    expect(groups[0]?.acceptedTransactionIds.toSorted()).toEqual(index.acceptedBy(START + 1, START + 2).toSorted());
  });

  test('reports that a block known by hash is before the index, and that an unknown one may be', async () => {
    const { rows } = await index.pool.query<{ hash: string }>(
      `select encode(hash, 'hex') as hash from pre_bootstrap_blocks where hash <> decode($1, 'hex') limit 1`,
      [index.hashAt(0)],
    );
    const known = rows[0]?.hash as string;
    const before = { statusCode: 409, message: `The block is before the first indexed block, ${start}` };
    const rate = '/v1/rpc/estimateNetworkHashesPerSecond';
    expect((await index.post(BLOCKS, { lowHash: known })).json).toEqual(before);
    expect((await index.post(VIRTUAL_CHAIN, { startHash: known, includeAcceptedTransactionIds: false })).json).toEqual(
      before,
    );
    expect((await index.get(rate, {}, { startHash: known })).json).toEqual(before);
    const hint = `it may be before the first indexed block, ${start} (see /v1/status)`;
    const notFound = { statusCode: 404, message: `Unknown block: ${hint}` };
    expect((await index.post(BLOCKS, { lowHash: UNKNOWN })).json).toEqual(notFound);
    expect((await index.post('/v1/rpc/getBlock', { hash: known })).json).toEqual(notFound);
    expect((await index.get('/v1/blocks/{hash}', { hash: known })).json).toEqual(notFound);
  });

  test('reports that a transaction known by its UTXOs is before the index, and that an unknown one may be', async () => {
    const template = '/v1/transactions/{transactionId}';
    expect((await index.get(template, { transactionId: withUtxos[0] })).json).toEqual({
      statusCode: 404,
      message: 'The transaction was accepted before the indexed blocks: only UTXOs of it are known',
    });
    expect((await index.get(template, { transactionId: spentBefore[0] })).json).toEqual({
      statusCode: 404,
      message: `Unknown transaction: it may be before the first indexed block, ${start} (see /v1/status)`,
    });
  });

  test('refuses a hash rate window that reaches below the bootstrap block', async () => {
    const rate = '/v1/rpc/estimateNetworkHashesPerSecond';
    const large = await index.get(rate, {}, { windowSize: 10_000 });
    expect(large.status).toBe(409);
    expect(large.json['message']).toContain(`begins with block ${start}`);
    expect((await index.get(rate, {}, { startHash: index.hashAt(START + 50) })).status).toBe(409);
  });

  test('estimates times before the bootstrap block, and refuses blocks with such DAA scores', async () => {
    const { rows } = await index.pool.query<{ daa_score: bigint; timestamp: bigint }>(
      'select daa_score, timestamp from chain_blocks order by index limit 1',
    );
    const [first] = rows as [{ daa_score: bigint; timestamp: bigint }];
    const half = first.daa_score / 2n;
    const template = '/v1/rpc/getDaaScoreTimestampEstimate';
    const { json } = await index.post(template, { daaScores: ['0', String(half), String(first.daa_score)] });
    const [genesis, middle, atStart] = (json['timestamps'] as string[]).map(BigInt) as [bigint, bigint, bigint];
    expect(genesis).toBe(1_633_687_894_966n);
    expect(atStart).toBe(first.timestamp);
    expect(middle).toBeGreaterThan(genesis);
    expect(middle).toBeLessThan(atStart);

    expect((await index.getBlocksOfScores(half, half + 1n)).json).toEqual({
      statusCode: 409,
      message: `The first indexed block, ${start}, has DAA score ${first.daa_score}: start there or above`,
    });
    expect((await index.getBlocksOfScores(first.daa_score, first.daa_score + 10n)).status).toBe(200);
  });

  test('begins a balance history with the balance at the bootstrap block', async () => {
    const { history, gaps } = await index.getBalanceHistory();
    expect(gaps).toBeUndefined();
    expect(history).toEqual(whole.history.slice(-history.length));
    expect(history.length).toBeLessThan(whole.history.length);
  });

  test('has a status with its bootstrap block; a second one at an indexed chain block is not a gap', async () => {
    const { pool } = index;
    await pool.query(
      `insert into bootstrap_blocks (chain_index, block_id, utxo_count, utxo_sompi) select index,
        block_id, 7, 1 from chain_blocks where index = 10`,
    );
    const { json } = await index.get('/v1/status');
    expect(json).toMatchObject({
      firstBlock: start,
      starts: [{ hash: start }, { hash: index.hashAt(START + 10), utxoCount: 7 }],
      gaps: [],
      utxoSetLoad: null,
    });
    const body = { startHash: start, includeAcceptedTransactionIds: false };
    const added = (await index.post(VIRTUAL_CHAIN, body)).json['addedChainBlockHashes'] as string[];
    expect(added.slice(0, 20)).toEqual(index.chain(START + 1, START + 21));
    await pool.query('delete from bootstrap_blocks where chain_index = 10');
  });
});

/** UTXOs whose transactions are known by their ids alone. */
async function listEarlier({ pool }: CutIndex): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `select encode(transaction_id, 'hex') as id from pre_bootstrap_transactions e
     where not exists (select from transactions t where t.id = e.id) order by id limit 20`,
  );
  return rows.map(({ id }) => id);
}
