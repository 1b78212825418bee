/**
 * Steps a real indexer through the checkpoints of a recording. At each, the API must respond as the
 * replay of the recorded node does (replay-node.test.ts proves that the replay responds as
 * recorded); at the end, the database must have the oracle's result (oracle.test.ts proves that it
 * is the recorded `expected.json`). `RECORDING=DIR npm run test:recording`; the default is the
 * small recording beside this file.
 */
import { createKey } from '@kasgres/database';
import { createTestDatabase, type TestDatabase } from '@kasgres/database/testing';
import { NodeServer } from '@kasgres/devnet';
import { decodeAddress, scriptToAddress, toHex, type Utxo } from '@kasgres/kaspa';
import { NodeClient, type protocol } from '@kasgres/node';
import { checkInvariant4, checkInvariant7, checkInvariant8 } from '@kasgres/verification';
import type { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listCursors, transactions } from '../api/listings.ts';
import { checkInvariant3 } from '../invariants/acceptance.ts';
import { ApiClient } from '../support/api-client.ts';
import { compareRestBlocks } from '../support/compare/blocks.ts';
import {
  compareCalls,
  type ComparedOp,
  compareMempoolByAddresses,
  compareMempoolEntries,
  compareTemplate,
} from '../support/compare/calls.ts';
import {
  chunks,
  type DagComparison,
  firstDifference,
  holderCursor,
  inParallel,
  type Json,
  readListing,
} from '../support/compare/comparison.ts';
import { readDag } from '../support/compare/node-dag.ts';
import {
  acceptedHashIn,
  compareAcceptance,
  compareTransactions,
  readTransactions,
} from '../support/compare/transactions.ts';
import { compareUtxoState, type UtxoState } from '../support/compare/utxos.ts';
import { untilAtRest } from '../support/harness.ts';
import { sumOf, utxosAtSink } from '../support/oracle.ts';
import { type Program, startApi, startIndexer } from '../support/programs.ts';
import { factsOfReplay, OracleCollector, storedFacts } from './oracle.ts';
import { distinctRequests, exchanges, findExpected, readRecording, recordingDirectory } from './recording.ts';
import { ReplayNode } from './replay-node.ts';

/**
 * Listings of the API against the look-ups of their items: an item must be the same wherever it is
 * shown.
 */
const MAX_IDS = 500;
const MAX_SPAN = 100;
/** The histories of this many addresses are compared. */
const RICHEST = 50;

/** Collects faults and counts what was compared. */
class Findings {
  readonly faults: string[] = [];
  compared = 0;

  compare(subject: string, expected: unknown, actual: unknown): void {
    this.compared += 1;
    const difference = firstDifference(expected, actual);
    if (difference !== undefined) this.faults.push(`${subject}: ${difference}`);
  }
}

async function compareTransactionListing({ api, pool }: { api: ApiClient; pool: Pool }): Promise<Findings> {
  const findings = new Findings();
  const listed = await readListing(api, '/v1/transactions', 'transactions', transactionIdOf);
  findings.compare('ids', await listCursors(pool, transactions().items), listed.map(transactionIdOf));
  for (const some of chunks(listed, MAX_IDS)) {
    findings.compare('look-up of transactions', { transactions: some }, await lookUpTransactions(api, some));
    const [transaction] = some;
    const id = String(transaction?.['transactionId']);
    findings.compare(`look-up of ${id}`, { transaction }, (await api.get(`/v1/transactions/${id}`)).json);
  }
  return findings;
}

/**
 * Compares the listing with the look-ups by spans of DAA scores, which together have every block
 * once.
 */
async function compareBlockListing(api: ApiClient, chainHashes: readonly string[]): Promise<Findings> {
  const findings = new Findings();
  const listed = await readListing(api, '/v1/blocks', 'blocks', hashOf);
  const byHash = new Map(listed.map((block) => [hashOf(block), block]));
  const highest = Math.max(...listed.map(({ daaScore }) => Number(daaScore)));
  const found: string[] = [];
  for (let start = 0; start <= highest; start += MAX_SPAN + 1) {
    const { json } = await api.get(`/v1/blocks/daa-score/${start}/${start + MAX_SPAN}`);
    for (const block of json['blocks'] as Json[]) {
      findings.compare(`block ${hashOf(block)}`, byHash.get(hashOf(block)), block);
      found.push(hashOf(block));
    }
  }
  findings.compare('blocks by DAA score', [...byHash.keys()].toSorted(), [...new Set(found)].toSorted());
  const onChain = await readListing(api, '/v1/blocks?chain_only=true', 'blocks', hashOf);
  findings.compare('chain blocks', chainHashes.toSorted(), onChain.map(hashOf).toSorted());
  return findings;
}

/** The histories of the richest addresses must add up to their balances. */
async function compareAddressListing(api: ApiClient): Promise<Findings> {
  const findings = new Findings();
  const listed = await readListing(api, '/v1/addresses', 'addresses', holderCursor);
  await inParallel(listed, async (item) => {
    const { json } = await api.get(`/v1/addresses/${String(item['address'])}`);
    const { address, balance, tag } = json['address'] as Json;
    findings.compare(`address ${String(address)}`, item, { address, balance, tag });
  });
  await inParallel(listed.slice(0, RICHEST), (item) => compareHistory(api, item, findings));
  return findings;
}

async function compareHistory(api: ApiClient, { address, balance }: Json, findings: Findings): Promise<void> {
  const path = `/v1/addresses/${String(address)}`;
  const listed = await readListing(api, `${path}/transactions`, 'transactions', transactionIdOf);
  const sum = listed.reduce(
    (total, { isAccepted, balanceChange }) => (isAccepted === true ? total + BigInt(String(balanceChange)) : total),
    0n,
  );
  findings.compare(`sum of the balance changes of ${String(address)}`, balance, String(sum));
  const history = await api.get(`${path}/balance-history?interval=hour`);
  findings.compare(
    `last balance of ${String(address)}`,
    balance,
    (history.json['history'] as Json[]).at(-1)?.['balance'],
  );
  for (const some of chunks(listed, MAX_IDS)) {
    const transactions = some.map(
      ({ amountSent: _sent, amountReceived: _received, balanceChange: _change, ...rest }) => rest,
    );
    findings.compare(`transactions of ${String(address)}`, { transactions }, await lookUpTransactions(api, some));
  }
}

const hashOf = ({ hash }: Json): string => String(hash);
const transactionIdOf = ({ transactionId }: Json): string => String(transactionId);

async function lookUpTransactions(api: ApiClient, listed: readonly Json[]): Promise<Json> {
  return (await api.post('/v1/transactions', { transactionIds: listed.map(transactionIdOf) })).json;
}

/** The UTXOs of this many addresses are read at a checkpoint. */
const ADDRESSES = 50;

const recording = await readRecording(recordingDirectory);
const node = new ReplayNode(recording);
const server = await NodeServer.start({ state: node });
const client = new NodeClient({ url: server.url });
const oracle = new OracleCollector();
const stored = new OracleCollector();

let database: TestDatabase;
let programs: Program[] = [];
let comparison: DagComparison;

beforeAll(async () => {
  database = await createTestDatabase();
  const env = { nodeUrl: server.url, databaseUrl: database.url };
  const indexer = startIndexer(env, { LOG_LEVEL: 'warn' });
  const api = await startApi(env);
  programs = [indexer, api.program];
  const { key } = await createKey(database.kysely, { name: 'recording', rateRu: 1e9 });
  comparison = { node: client, api: new ApiClient(api.url, key, { checked: true }), dag: await readDag(client) };
});

afterAll(async () => {
  await Promise.all(programs.map((program) => program.stop()));
  await client.close();
  server.close();
  await database.drop();
});

const RECORDED_OPS: readonly ComparedOp[] = [
  'getVirtualChainFromBlock',
  'getBlocks',
  'getBlock',
  'getDaaScoreTimestampEstimate',
  'estimateNetworkHashesPerSecond',
  'getCurrentNetwork',
];
const compared = new Map<string, number>();

for (const [index, checkpoint] of recording.checkpoints.entries()) {
  const count = (name: string, number: number) => compared.set(name, (compared.get(name) ?? 0) + number);

  describe(`at checkpoint ${checkpoint.name}`, () => {
    test('the index catches up with the replayed node', async () => {
      if (index > 0) node.nextCheckpoint();
      await untilAtRest(database.pool, client, programs[0]);
      if (exchanges(checkpoint, 'getBlockDagInfo').length > 0) {
        oracle.visit(checkpoint.name, factsOfReplay(node));
        stored.visit(checkpoint.name, await storedFacts(database.pool));
      }
      const { rows } = await database.pool.query<{ hash: string }>(`select encode(hash, 'hex') as hash from blocks`);
      const dag = await readDag(client);
      const mergedByVirtual = new Set(node.tail().map(({ hash }) => hash));
      for (const hash of dag.blocks.keys()) {
        const isMerged = dag.mergedBy.has(hash) || mergedByVirtual.has(hash);
        if (!isMerged && hash !== dag.sink.hash && hash !== dag.genesis) dag.blocks.delete(hash);
      }
      comparison = { ...comparison, dag, indexed: new Set(rows.map(({ hash }) => hash)) };
    });

    test('the index has the accepted transactions of the node, and balances that follow from them', async () => {
      expect([...(await checkInvariant3(database.pool, client)), ...(await checkInvariant4(database.pool))]).toEqual(
        [],
      );
    });

    test.each(RECORDED_OPS)('the API responds to the recorded requests of %s like the replayed node', async (op) => {
      const requests = distinctRequests(checkpoint, op).filter(
        (request) =>
          // The API has no minConfirmationCount.
          !('minConfirmationCount' in request && (request.minConfirmationCount ?? 0n) > 0n),
      );
      count(op, requests.length);
      expect(await compareCalls(comparison, op, requests)).toEqual([]);
    });

    test('every block is listed, and the recorded ones are looked up as the replayed node shows them', async () => {
      const hashes = (['getBlock', 'getCurrentBlockColor', 'getBlockRewardInfo'] as const).flatMap((op) =>
        distinctRequests<'getBlock' | 'getCurrentBlockColor' | 'getBlockRewardInfo'>(checkpoint, op).map(
          ({ hash }) => hash,
        ),
      );
      count('blocks', hashes.length);
      expect(await compareRestBlocks(comparison, new Set(hashes))).toEqual([]);
    });

    test('every transaction has the acceptance of the replayed chain', async () => {
      expect(await compareAcceptance(comparison)).toEqual([]);
    });

    test('every transaction is looked up with the inputs, outputs and blocks of the replayed DAG', async () => {
      const transactions = await readTransactions(client, database.pool, acceptedHashIn(node.dag));
      count('transactions', transactions.ids.length);
      expect(await compareTransactions(comparison.api, transactions)).toEqual([]);
    });

    test('balances, UTXOs and the supply are those of plain accounting', async () => {
      const state = stateAtSink();
      count('addresses', state.balances.size);
      expect(await compareUtxoState(comparison.api, state)).toEqual([]);
    });

    test('balances of malformed and foreign addresses are refused', async () => {
      for (const { address } of distinctRequests(checkpoint, 'getBalanceByAddress')) {
        if (address === '' || isOurs(address)) continue;
        const { status } = await comparison.api.get(`/v1/rpc/getBalanceByAddress/${encodeURIComponent(address)}`);
        expect(status, address).toBe(400);
      }
    });

    test('mempool entries are those of the replayed node', async () => {
      const ids = distinctRequests(checkpoint, 'getMempoolEntry').map(({ txId }) => txId);
      const wellFormed = [...new Set(ids.filter((id) => /^[0-9a-f]{64}$/.test(id)))];
      const addresses = distinctRequests(checkpoint, 'getMempoolEntriesByAddresses').flatMap(
        (request) => request.addresses,
      );
      const ours = [...new Set(addresses.filter(isOurs))];
      expect(await compareMempoolEntries(comparison, wellFormed)).toEqual([]);
      expect(await compareMempoolByAddresses(comparison, ours)).toEqual([]);
    });

    test('block templates are those of the replayed node', async () => {
      const good = new Set(exchanges(checkpoint, 'getBlockTemplate').map(({ request }) => JSON.stringify(request)));
      const requests = distinctRequests(checkpoint, 'getBlockTemplate');
      count('templates', requests.length);
      for (const recorded of requests) {
        const request = { payAddress: recorded.payAddress, extraData: recorded.extraData };
        const faults = good.has(JSON.stringify(recorded))
          ? await compareTemplate(comparison, request)
          : await compareCalls(comparison, 'getBlockTemplate', [request]);
        expect(faults).toEqual([]);
      }
    });
  });
}

describe('at the end of the recording', () => {
  test('every kind of request was compared', () => {
    console.info('compared:', Object.fromEntries(compared));
    expect([...compared.values()]).not.toContain(0);
  });

  test('every mergeset is complete, and all hashes follow from the rows', async () => {
    expect([...(await checkInvariant7(database.pool)), ...(await checkInvariant8(database.pool))]).toEqual([]);
  });

  test('the database has the chain, acceptance, reorgs, balances and counts of the oracle', () => {
    expect(stored.result()).toEqual(oracle.result());
  });

  test('the API has the balance of every address that expected.json names', async () => {
    const { balances } = (await findExpected(recordingDirectory)) ?? oracle.result();
    const wrong: string[] = [];
    await inParallel(Object.entries(balances), async ([address, { atSink }]) => {
      const { json } = await comparison.api.get(`/v1/rpc/getBalanceByAddress/${address}`);
      if (json['balance'] !== atSink) wrong.push(`${address}: ${String(json['balance'])}, not ${atSink}`);
    });
    expect(wrong).toEqual([]);
  });

  test.each([
    ['transactions', () => compareTransactionListing({ api: comparison.api, pool: database.pool })],
    [
      'blocks',
      () =>
        compareBlockListing(
          comparison.api,
          node.dag.chainBlocks.map(({ hash }) => hash),
        ),
    ],
    ['addresses', () => compareAddressListing(comparison.api)],
  ])('every listing of %s shows the same as the look-ups', async (_name, compare) => {
    const { faults, compared: number } = await compare();
    expect(faults).toEqual([]);
    expect(number).toBeGreaterThan(5);
  });

  test('the special cases that the scenario created on purpose are stored as such', async ({ skip }) => {
    const expected = await findExpected(recordingDirectory);
    if (expected === undefined) skip('this recording does not name its special cases');
    else expect(await compareSpecialCases(database.pool, expected.special)).toEqual([]);
  });
});

function isOurs(address: string): boolean {
  try {
    return decodeAddress(address).prefix === node.network.addressPrefix;
  } catch {
    return false;
  }
}

/**
 * Returns the expected state of up to ADDRESSES addresses that were ever paid, some of which hold
 * nothing.
 */
function stateAtSink(): UtxoState {
  const unspent = utxosAtSink(node.dag).all();
  const byAddress = Map.groupBy(unspent, ({ scriptPublicKey }) =>
    scriptToAddress(scriptPublicKey, node.network.addressPrefix),
  );
  const step = Math.ceil(comparison.dag.addresses.length / ADDRESSES);
  const accepted = comparison.dag.addresses.filter((_, index) => index % step === 0);
  return {
    balances: new Map(accepted.map((address) => [address, sumOf(byAddress.get(address) ?? [])])),
    utxos: new Map(
      accepted.map((address) => [address, (byAddress.get(address) ?? []).map((utxo) => toMessage(address, utxo))]),
    ),
    circulatingSompi: sumOf(unspent),
    isSupplyExact: true,
  };
}

function toMessage(address: string, utxo: Utxo): protocol.AddressUtxo {
  const { outpoint, amount, scriptPublicKey, blockDaaScore, isCoinbase, covenantId } = utxo;
  return {
    $typeName: 'protowire.RpcUtxosByAddressesEntry',
    address,
    outpoint: { transactionId: toHex(outpoint.transactionId), index: outpoint.index },
    utxoEntry: {
      amount,
      scriptPublicKey: { version: scriptPublicKey.version, scriptPublicKey: toHex(scriptPublicKey.script) },
      blockDaaScore,
      isCoinbase,
      covenantId: covenantId === undefined ? '' : toHex(covenantId),
    },
  } as unknown as protocol.AddressUtxo;
}

interface Special {
  redBlocks?: string[];
  /** Transactions in several blocks. */
  dupTxs?: string[];
  /** Pairs that spend the same UTXO. */
  conflicts?: [string, string][];
  /** Two blocks, and the coinbase id that both carry. */
  sameCoinbase?: [string, string, string][];
  covenants?: { covenantId: string; txs: string[] };
  nonstandard?: { scripts: string[]; txs: string[]; spends: string[] };
}

/**
 * Returns the special cases of the scenario (`special` in expected.json) that the database does not
 * have.
 */
async function compareSpecialCases(pool: Pool, special: Special): Promise<string[]> {
  const query = async (sql: string, values: unknown[]): Promise<string[]> => {
    const { rows } = await pool.query<{ name: string }>(sql, values);
    return rows.map(({ name }) => name);
  };
  const conflicts = special.conflicts ?? [];
  const sameCoinbase = special.sameCoinbase ?? [];
  const { covenants, nonstandard } = special;
  const faults = await Promise.all([
    query(NOT_RED, [special.redBlocks ?? []]),
    query(NOT_IN_SEVERAL, [special.dupTxs ?? []]),
    query(NO_CONFLICT, [conflicts.map(([first]) => first), conflicts.map(([, second]) => second)]),
    query(COINBASE_NOT_IN, [sameCoinbase.map(([first]) => first), sameCoinbase.map(([, , id]) => id)]),
    query(COINBASE_NOT_IN, [sameCoinbase.map(([, second]) => second), sameCoinbase.map(([, , id]) => id)]),
    query(NO_COVENANT, [covenants?.txs ?? [], covenants?.covenantId ?? '']),
    query(NOT_ACCEPTED, [[...(nonstandard?.txs ?? []), ...(nonstandard?.spends ?? [])]]),
    query(NOT_NON_STANDARD, [nonstandard?.scripts ?? []]),
  ]);
  return faults.flat();
}

const NOT_RED = `
  select 'block ' || hash || ' is not red' as name from unnest($1::text[]) as wanted (hash)
  where not exists (select from blocks b
    where b.hash = decode(wanted.hash, 'hex') and not b.is_blue)`;

const NOT_IN_SEVERAL = `
  select 'transaction ' || id || ' is not in several blocks' as name
    from unnest($1::text[]) as wanted (id)
  where (select count(*) from block_transactions bt join transactions t on t.id = bt.transaction_id
    where t.transaction_id = decode(wanted.id, 'hex')) < 2`;

/** Both must be there with the UTXO that they share, and at most one be accepted. */
const NO_CONFLICT = `
  select 'no conflict between ' || a || ' and ' || b as name
    from unnest($1::text[], $2::text[]) as wanted (a, b)
  where not exists (
    select from transactions ta join transaction_inputs ia on ia.transaction_id = ta.id
    join transaction_inputs ib on ib.previous_transaction_id = ia.previous_transaction_id
      and ib.previous_index = ia.previous_index
    join transactions tb on tb.id = ib.transaction_id
    where ta.transaction_id = decode(wanted.a, 'hex')
      and tb.transaction_id = decode(wanted.b, 'hex')
      and (ta.accepting_index is null or tb.accepting_index is null)
  )`;

const COINBASE_NOT_IN = `
  select 'coinbase ' || id || ' is not in block ' || block as name
    from unnest($1::text[], $2::text[]) as wanted (block, id)
  where not exists (
    select from block_transactions bt join blocks b on b.id = bt.block_id
      join transactions t on t.id = bt.transaction_id
    where b.hash = decode(wanted.block, 'hex') and t.transaction_id = decode(wanted.id, 'hex')
      and bt.index = 0
  )`;

const NO_COVENANT = `
  select 'transaction ' || id || ' has no output of the covenant' as name
    from unnest($1::text[]) as wanted (id)
  where not exists (
    select from transactions t join transaction_outputs o on o.transaction_id = t.id
    where t.transaction_id = decode(wanted.id, 'hex') and o.covenant_id = decode($2, 'hex')
  )`;

const NOT_ACCEPTED = `
  select 'transaction ' || id || ' is not accepted' as name from unnest($1::text[]) as wanted (id)
  where not exists (
    select from transactions t
      where t.transaction_id = decode(wanted.id, 'hex') and t.accepting_index is not null
  )`;

const NOT_NON_STANDARD = `
  select 'script ' || script || ' is not stored as non-standard' as name
    from unnest($1::text[]) as wanted (script)
  where not exists (
    select from scripts s where s.script = decode(wanted.script, 'hex') and s.type = 'nonstandard'
      and s.address is null
  )`;
