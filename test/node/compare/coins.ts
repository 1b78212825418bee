/**
 * Balances and supply. The node's are those of its virtual block, one step ahead of the chain: they are recorded, one block is mined
 * on the node's template, whose mergeset is what the virtual block would have merged, and compared then (DESIGN.md §6).
 */
import type { NodeClient } from '@kasgres/node';
import type { ApiClient } from '../api-client.ts';
import { meet } from '../differences.ts';
import { firstDifference } from './first-difference.ts';
import { chunks, inParallel } from './in-parallel.ts';

export interface Coins {
  balances: Map<string, bigint>;
  maxSompi: bigint;
  circulatingSompi: bigint;
  /** The node's largest supply since its start is its supply now: it was started after the last reorganisation. */
  isSupplyExact: boolean;
}

const ADDRESSES_AT_ONCE = 500;

export async function recordCoins(
  node: NodeClient,
  addresses: readonly string[],
  { isSupplyExact }: { isSupplyExact: boolean },
): Promise<Coins> {
  const balances = new Map<string, bigint>();
  for (const some of chunks(addresses, ADDRESSES_AT_ONCE)) {
    const { entries } = await node.call('getBalancesByAddresses', { addresses: some });
    for (const { address, balance } of entries) balances.set(address, balance);
  }
  const { maxSompi, circulatingSompi } = await node.call('getCoinSupply', {});
  return { balances, maxSompi, circulatingSompi, isSupplyExact };
}

/** @param now what the node says after the block was mined, to tell where that differs */
export async function compareBalances(api: ApiClient, { balances }: Coins, now: Coins): Promise<string[]> {
  const wrong: string[] = [];
  await inParallel([...balances], async ([address, balance]) => {
    const answer = await api.get(`/v1/rpc/getBalanceByAddress/${address}`);
    if (now.balances.get(address) !== balance) meet('virtualAndSink');
    const difference = firstDifference({ status: 200, body: { balance: String(balance) } }, answer);
    if (difference !== undefined) wrong.push(`balance of ${address}: ${difference}`);
  });
  return wrong;
}

export async function compareSupply(
  api: ApiClient,
  { maxSompi, circulatingSompi, isSupplyExact }: Coins,
): Promise<string[]> {
  const answer = await api.get('/v1/rpc/getCoinSupply');
  const ofApi = BigInt(String(answer.body['circulatingSompi']));
  const isBelow = !isSupplyExact && ofApi < circulatingSompi;
  if (isBelow) meet('supplyMaximum');
  const expected = { maxSompi: String(maxSompi), circulatingSompi: String(isBelow ? ofApi : circulatingSompi) };
  const difference = firstDifference({ status: 200, body: expected }, answer);
  return difference === undefined ? [] : [`supply: ${difference}`];
}

/** Nobody imported tags: every address is without one. */
export async function compareTags(api: ApiClient, addresses: readonly string[]): Promise<string[]> {
  const wrong: string[] = [];
  await inParallel(addresses, async (address) => {
    const answer = await api.get(`/v1/addresses/${address}/tag`);
    const difference = firstDifference(
      { status: 404, body: { statusCode: 404, message: answer.body['message'] } },
      answer,
    );
    if (difference !== undefined) wrong.push(`tag of ${address}: ${difference}`);
  });
  return wrong;
}
