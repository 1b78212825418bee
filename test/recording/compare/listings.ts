/** Every listing to its end, against the look-ups of its items: the same thing must be the same wherever it is shown. */
import { isDeepStrictEqual } from 'node:util';
import type { ApiClient } from '../../node/api-client.ts';
import { firstDifference } from '../../node/compare/first-difference.ts';
import { chunks, inParallel } from '../../node/compare/in-parallel.ts';
import { walk } from '../../node/compare/walk.ts';
import { listCursors, transactions } from '../../api/listings.ts';
import { Findings, type Harness } from './harness.ts';

type Json = Record<string, unknown>;

const MAX_IDS = 500;
const MAX_SPAN = 100;
/** Of which the histories are read. */
const RICHEST = 50;

export async function compareTransactionListing({ api, pool }: Harness): Promise<Findings> {
  const findings = new Findings();
  const listed = await walk(api, '/v1/transactions', 'transactions', transactionIdOf);
  expectEqual(findings, 'ids', listed.map(transactionIdOf), await listCursors(pool, transactions().items));
  for (const some of chunks(listed, MAX_IDS)) {
    const body = { transactionIds: some.map(transactionIdOf) };
    findings.compare('look-up of transactions', await api.post('/v1/transactions', body), {
      body: { transactions: some },
    });
  }
  await inParallel(
    listed.filter((_, place) => place % MAX_IDS === 0),
    async (transaction) => {
      const id = transactionIdOf(transaction);
      findings.compare(`look-up of ${id}`, await api.get(`/v1/transactions/${id}`), { body: { transaction } });
    },
  );
  return findings;
}

/** By stretches of DAA scores, which hold every block once. */
export async function compareBlockListing({ api, node }: Harness): Promise<Findings> {
  const findings = new Findings();
  const listed = await walk(api, '/v1/blocks', 'blocks', hashOf);
  const byHash = new Map(listed.map((block) => [hashOf(block), block]));
  const highest = Math.max(...listed.map(({ daaScore }) => Number(daaScore)));
  const met = new Set<string>();
  for (let start = 0; start <= highest; start += MAX_SPAN + 1) {
    const { body } = await api.get(`/v1/blocks/daa-score/${start}/${start + MAX_SPAN}`);
    for (const block of body['blocks'] as Json[]) {
      expectEqual(findings, `block ${hashOf(block)}`, block, byHash.get(hashOf(block)));
      met.add(hashOf(block));
    }
  }
  expectEqual(findings, 'blocks by DAA score', [...met].toSorted(), [...byHash.keys()].toSorted());
  const onChain = await walk(api, '/v1/blocks?chain_only=true', 'blocks', hashOf);
  const wanted = node.dag.chainBlocks.map(({ hash }) => hash).toSorted();
  expectEqual(findings, 'chain blocks', onChain.map(hashOf).toSorted(), wanted);
  return findings;
}

/** The richest also with all they sent and received, which must add up to what they hold. */
export async function compareAddressListing({ api }: Harness): Promise<Findings> {
  const findings = new Findings();
  const listed = await walk(
    api,
    '/v1/addresses',
    'addresses',
    ({ balance, address }) => `${String(balance)}:${String(address)}`,
  );
  await inParallel(listed, async (item) => {
    const { body } = await api.get(`/v1/addresses/${String(item['address'])}`);
    const { address, balance, tag } = body['address'] as Json;
    expectEqual(findings, `address ${String(address)}`, { address, balance, tag }, item);
  });
  await inParallel(listed.slice(0, RICHEST), (item) => compareHistory(api, item, findings));
  return findings;
}

async function compareHistory(api: ApiClient, { address, balance }: Json, findings: Findings): Promise<void> {
  const path = `/v1/addresses/${String(address)}/transactions`;
  const listed = await walk(api, path, 'transactions', transactionIdOf);
  const sum = listed.reduce(
    (sum, { isAccepted, balanceChange }) => (isAccepted === true ? sum + BigInt(String(balanceChange)) : sum),
    0n,
  );
  expectEqual(findings, `sum of the changes of ${String(address)}`, String(sum), balance);
  const history = await api.get(`/v1/addresses/${String(address)}/balance-history?interval=hour`);
  const last = (history.body['history'] as Json[]).at(-1);
  expectEqual(findings, `last balance of ${String(address)}`, last?.['balance'], balance);
  for (const some of chunks(listed, MAX_IDS)) {
    const transactions = some.map(
      ({ amountSent: _sent, amountReceived: _received, balanceChange: _change, ...rest }) => rest,
    );
    const body = { transactionIds: transactions.map(transactionIdOf) };
    findings.compare(`transactions of ${String(address)}`, await api.post('/v1/transactions', body), {
      body: { transactions },
    });
  }
}

const hashOf = ({ hash }: Json): string => String(hash);
const transactionIdOf = ({ transactionId }: Json): string => String(transactionId);

function expectEqual(findings: Findings, what: string, found: unknown, wanted: unknown): void {
  const fault = isDeepStrictEqual(found, wanted) ? [] : [`${what}: ${firstDifference(wanted, found)}`];
  findings.add(fault, 1);
}
