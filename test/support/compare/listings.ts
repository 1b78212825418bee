/** Listings of the API against the look-ups of their items: an item must be the same wherever it is shown. */
import type { Pool } from 'pg';
import { listCursors, transactions } from '../../api/listings.ts';
import type { ApiClient } from '../api-client.ts';
import { chunks, firstDifference, holderCursor, inParallel, type Json, readListing } from './comparison.ts';

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

export async function compareTransactionListing({ api, pool }: { api: ApiClient; pool: Pool }): Promise<Findings> {
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

/** Compares the listing with the look-ups by spans of DAA scores, which together have every block once. */
export async function compareBlockListing(api: ApiClient, chainHashes: readonly string[]): Promise<Findings> {
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
export async function compareAddressListing(api: ApiClient): Promise<Findings> {
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
