/**
 * Responses of the API for blocks and transactions that a hostile miner made, compared with what
 * the node accepted.
 */
import type { DagTransaction } from '@kasgres/devnet';
import { scriptToAddress, toHex } from '@kasgres/kaspa';
import { expect } from 'vitest';
import type { HostileMiner } from '../node/load/hostile-miner.ts';
import type { ApiClient } from './api-client.ts';

const MAX_RESPONSE_BYTES = 2 ** 20;
const MAX_INT64 = 2n ** 63n - 1n;
const MAX_ADDRESSES = 40;
// oxlint-disable-next-line no-control-regex -- These are what no text from the chain may have.
const INVISIBLE = /[\u0000-\u001F\u007F-\u009F\u200B-\u200F\u2028-\u202E\u2060-\u2069\uFEFF]/;

type Json = Record<string, unknown>;

/**
 * Expects 200, a response of the schema within 1 MiB, and what the node says, for every `every`-th
 * block and transaction.
 */
export async function expectShown(api: ApiClient, miner: HostileMiner, every = 1): Promise<void> {
  for (const [number, hash] of miner.blocks.entries()) if (number % every === 0) await expectBlock(api, hash);
  const addresses = new Set<string>();
  let number = 0;
  for (const [id, transaction] of miner.mined) {
    number += 1;
    if (number % every !== 0) continue;
    await expectTransaction(api, id, transaction, miner);
    for (const { scriptPublicKey } of transaction.outputs) {
      const address = scriptToAddress(scriptPublicKey, 'kaspasim');
      if (address !== undefined && addresses.size < MAX_ADDRESSES) addresses.add(address);
    }
  }
  for (const address of addresses) {
    await read(api, '/v1/addresses/{address}', { address });
    await read(api, '/v1/addresses/{address}/transactions', { address });
    await readRest(api, `/rest/addresses/${address}/full-transactions-page?resolve_previous_outpoints=light`);
  }
}

async function expectBlock(api: ApiClient, hash: string): Promise<void> {
  const { block } = (await read(api, '/v1/blocks/{hash}', { hash })) as { block: Json };
  const { extraText = null } = (block['miner'] ?? {}) as { extraText?: string | null };
  expect(extraText ?? '', hash).not.toMatch(INVISIBLE);
  await read(api, '/v1/blocks/{hash}/transactions', { hash });
  await readRest(api, `/rest/blocks/${hash}?includeTransactions=true`);
}

async function expectTransaction(
  api: ApiClient,
  id: string,
  transaction: DagTransaction,
  miner: HostileMiner,
): Promise<void> {
  const { transaction: shown } = (await read(api, '/v1/transactions/{transactionId}', { transactionId: id })) as {
    transaction: Json & { outputs: Json[]; fee: string | null; blockHashes: string[] };
  };
  const isAccepted = miner.accepted.has(id);
  expect({ id, isAccepted: shown['isAccepted'] }).toEqual({ id, isAccepted });
  expect(shown.outputs.map(({ amount, scriptPublicKey }) => [amount, scriptPublicKey])).toEqual(
    transaction.outputs.map(({ amount, scriptPublicKey: { script } }) => [String(amount), toHex(script)]),
  );
  expect(BigInt(shown.fee ?? 0) >= 0n && BigInt(shown.fee ?? 0) <= MAX_INT64, `fee of ${id}`).toBe(true);
  if (isAccepted) expect(shown.fee, id).not.toBeNull();
  await readRest(api, `/rest/transactions/${id}?resolve_previous_outpoints=light`);
}

async function read(api: ApiClient, template: string, values: Record<string, string>): Promise<Json> {
  const { status, text, json } = await api.getChecked(template, values);
  expectRightSize(`${template} ${JSON.stringify(values)}`, status, text);
  return json;
}

async function readRest(api: ApiClient, path: string): Promise<void> {
  const { status, text } = await api.get(path);
  expectRightSize(path, status, text);
}

function expectRightSize(path: string, status: number, text: string): void {
  expect.soft({ path, status }).toEqual({ path, status: 200 });
  expect.soft(text.length, path).toBeLessThanOrEqual(MAX_RESPONSE_BYTES);
}
