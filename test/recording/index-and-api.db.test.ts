/**
 * Steps a real indexer through the checkpoints of a recording, and compares its database, and a real API on it over HTTP, with
 * the recorded answers at each; at the end with the recording's expected.json (where a recording has none, with what follows
 * from its calls). `RECORDING=DIR npm run test:recording`; by default the small recording beside this file.
 */
import { createKey, createTestDatabase, type TestDatabase } from '@kasgres/database';
import { NodeServer } from '@kasgres/devnet';
import { NodeClient } from '@kasgres/node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkInvariant3 } from '../invariants/acceptance.ts';
import { checkInvariant4 } from '../invariants/balances.ts';
import { checkInvariant7 } from '../invariants/completeness.ts';
import { checkInvariant8 } from '../invariants/hashes.ts';
import { untilAtRest } from '../node/at-rest.ts';
import { inParallel } from '../node/compare/in-parallel.ts';
import { type Program, startApi, startIndexer } from '../node/programs.ts';
import { CheckedClient } from './checked-client.ts';
import { compareBlockPages, compareKnownBlocks, compareSingleBlocks } from './compare/blocks.ts';
import { compareColours, compareVirtualChains } from './compare/chain.ts';
import { compareAddresses, compareBalances, compareSupply } from './compare/utxos.ts';
import { compareHashRates, compareTimestamps } from './compare/estimates.ts';
import { compareAddressListing, compareBlockListing, compareTransactionListing } from './compare/listings.ts';
import { compareMempool, compareNetwork, compareTemplates } from './compare/live.ts';
import { compareSpecialCases } from './compare/special.ts';
import type { Findings, Harness } from './compare/harness.ts';
import { compareAcceptance, compareWholeTransactions } from './compare/transactions.ts';
import { recordingDirectory } from './directory.ts';
import { findExpected, readRecording } from './recording.ts';
import { ReplayNode } from './replay-node.ts';
import { StoredReorgs } from './stored-reorgs.ts';
import { storedOracle } from './stored-oracle.ts';
import { OracleCollector } from './oracle.ts';

const recording = await readRecording(recordingDirectory);
const node = new ReplayNode(recording);
const server = await NodeServer.start({ state: node });
const client = new NodeClient({ url: server.url });
const collector = new OracleCollector();
const storedReorgs = new StoredReorgs();

let database: TestDatabase;
let programs: Program[] = [];
let harness: Harness;

beforeAll(async () => {
  database = await createTestDatabase();
  const env = { nodeUrl: server.url, databaseUrl: database.url };
  const indexer = startIndexer(env, { LOG_LEVEL: 'warn' });
  const api = await startApi(env);
  programs = [indexer, api.program];
  const { key } = await createKey(database.kysely, { name: 'recording', rateRu: 1e9 });
  harness = { node, api: new CheckedClient(api.url, key), pool: database.pool };
});

afterAll(async () => {
  await Promise.all(programs.map((program) => program.stop()));
  await client.close();
  server.close();
  await database.drop();
});

const comparisons: Record<string, () => Promise<Findings>> = {
  'every block below the virtual block is stored': () => compareKnownBlocks(harness),
  'virtual chain from every recorded start': () => compareVirtualChains(harness),
  'getBlocks from every recorded low hash': () => compareBlockPages(harness),
  'every block asked for by its hash': () => compareSingleBlocks(harness),
  'colours and merging blocks': () => compareColours(harness),
  'acceptance of every transaction': () => compareAcceptance(harness),
  'every transaction asked for by its id': () => compareWholeTransactions(harness, client),
  'times of DAA scores': () => compareTimestamps(harness),
  'hash rates': () => compareHashRates(harness),
  balances: () => compareBalances(harness),
  'sums and UTXOs of addresses': () => compareAddresses(harness),
  supply: () => compareSupply(harness),
  network: () => compareNetwork(harness),
  mempool: () => compareMempool(harness, client),
  'block templates': () => compareTemplates(harness, client),
};
const compared = new Map<string, number>();

for (const [index, checkpoint] of recording.checkpoints.entries()) {
  describe(checkpoint.name, () => {
    test('the index catches up', async () => {
      if (index > 0) node.moveOn();
      collector.visit(node);
      await untilAtRest(database.pool, client, programs[0]);
      await storedReorgs.visit(checkpoint.name, node.dag.sink.hash, harness.api, database.pool);
    });

    test('the chain is stored with what it accepts, in order; balances, UTXOs and accepted changes agree', async () => {
      expect([...(await checkInvariant3(harness.pool, client)), ...(await checkInvariant4(harness.pool))]).toEqual([]);
    });

    for (const [name, compare] of Object.entries(comparisons)) {
      test(name, async () => {
        const findings = await compare();
        compared.set(name, (compared.get(name) ?? 0) + findings.compared);
        expect(findings.faults).toEqual([]);
      });
    }
  });
}

describe('at the end', () => {
  test('nothing was left without a comparison', () => {
    console.info('compared:', Object.fromEntries(compared));
    const everywhere = Object.keys(comparisons).filter((name) => name !== 'mempool');
    expect(everywhere.filter((name) => (compared.get(name) ?? 0) === 0)).toEqual([]);
  });

  test('every mergeset is complete, and all hashes follow from the rows', async () => {
    expect([...(await checkInvariant7(database.pool)), ...(await checkInvariant8(database.pool))]).toEqual([]);
  });

  test('the database holds what expected.json says', async () => {
    const expected = (await findExpected(recordingDirectory)) ?? collector.oracle(node);
    const { balances, circulatingSupply, counts, txToContainingBlocks, ...exact } = await storedOracle(database.pool);
    expect(expected).toMatchObject({ ...exact, circulatingSupply, counts });
    expect(txToContainingBlocks).toEqual(mapValues(expected.txToContainingBlocks, (blocks) => blocks.toSorted()));
    const named = Object.entries(expected.balances).filter(([, { txCountAtSink }]) => txCountAtSink > 0);
    expect(balances).toEqual(
      mapValues(Object.fromEntries(named), ({ atSink, txCountAtSink }) => ({ atSink, txCountAtSink })),
    );
    expect(storedReorgs.all()).toEqual(expected.reorgs);
  });

  test('the API has the balance that expected.json says of every address', async () => {
    const expected = (await findExpected(recordingDirectory)) ?? collector.oracle(node);
    const wrong: string[] = [];
    await inParallel(Object.entries(expected.balances), async ([address, { atSink }]) => {
      const { body } = await harness.api.get(`/v1/rpc/getBalanceByAddress/${address}`);
      if (body['balance'] !== atSink) wrong.push(`${address}: ${String(body['balance'])}, not ${atSink}`);
    });
    expect(wrong).toEqual([]);
  });

  test.each([
    ['transactions', compareTransactionListing],
    ['blocks', compareBlockListing],
    ['addresses', compareAddressListing],
  ])('every listing of %s leads to what the look-ups show', async (_name, compare) => {
    const { faults, compared } = await compare(harness);
    expect(faults).toEqual([]);
    expect(compared).toBeGreaterThan(5);
  });

  test('what the scenario did on purpose is stored as what it is', async ({ skip }) => {
    const expected = await findExpected(recordingDirectory);
    if (expected === undefined) skip('this recording does not say what it did on purpose');
    else expect(await compareSpecialCases(database.pool, expected.special)).toEqual([]);
  });
});

function mapValues<T, U>(record: Record<string, T>, map: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
}
