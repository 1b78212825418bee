/**
 * Balances and supply. The node's are those of its virtual block, one step ahead of the chain: they are recorded, one block is mined
 * on the node's template, whose mergeset is what the virtual block would have merged, and compared then (DESIGN.md §6).
 */
import type { NodeClient, protocol } from '@kasgres/node';
import type { ApiClient } from '../api-client.ts';
import { meet } from '../differences.ts';
import { expectedUtxo } from '../expected.ts';
import { firstDifference } from './first-difference.ts';
import { chunks, inParallel } from './in-parallel.ts';
import { walk } from './walk.ts';

export interface Utxos {
  balances: Map<string, bigint>;
  /** By address; none for an address that holds nothing. */
  utxos: Map<string, protocol.AddressUtxo[]>;
  maxSompi: bigint;
  circulatingSompi: bigint;
  /** The node's largest supply since its start is its supply now: it was started after the last reorganisation. */
  isSupplyExact: boolean;
}

const ADDRESSES_AT_ONCE = 500;
const UTXO_ADDRESSES_AT_ONCE = 100;
/** The API refuses to answer with more. */
const MOST_UTXOS = 10_000;

export async function recordUtxos(
  node: NodeClient,
  addresses: readonly string[],
  { isSupplyExact }: { isSupplyExact: boolean },
): Promise<Utxos> {
  const balances = new Map<string, bigint>();
  for (const some of chunks(addresses, ADDRESSES_AT_ONCE)) {
    const { entries } = await node.call('getBalancesByAddresses', { addresses: some });
    for (const { address, balance } of entries) balances.set(address, balance);
  }
  const utxos = new Map<string, protocol.AddressUtxo[]>();
  for (const some of chunks(addresses, ADDRESSES_AT_ONCE)) {
    const { entries } = await node.call('getUtxosByAddresses', { addresses: some });
    for (const [address, ofAddress] of Map.groupBy(entries, (entry) => entry.address)) utxos.set(address, ofAddress);
  }
  const { maxSompi, circulatingSompi } = await node.call('getCoinSupply', {});
  return { balances, utxos, maxSompi, circulatingSompi, isSupplyExact };
}

/** @param now what the node says after the block was mined, to tell where that differs */
export async function compareBalances(api: ApiClient, { balances }: Utxos, now: Utxos): Promise<string[]> {
  const wrong: string[] = [];
  await inParallel([...balances], async ([address, balance]) => {
    const answer = await api.get(`/v1/rpc/getBalanceByAddress/${address}`);
    if (now.balances.get(address) !== balance) meet('virtualAndSink');
    const difference = firstDifference({ status: 200, body: { balance: String(balance) } }, answer);
    if (difference !== undefined) wrong.push(`balance of ${address}: ${difference}`);
  });
  return wrong;
}

/** Many addresses in one request: the answer has them in the order asked, each once. */
export async function compareBalancesTogether(api: ApiClient, { balances }: Utxos): Promise<string[]> {
  const wrong: string[] = [];
  for (const some of chunks([...balances], ADDRESSES_AT_ONCE)) {
    const addresses = some.map(([address]) => address);
    const entries = some.map(([address, balance]) => ({ address, balance: String(balance) }));
    const answer = await api.post('/v1/rpc/getBalancesByAddresses', {
      addresses: [...addresses, ...addresses.slice(0, 3)],
    });
    const difference = firstDifference({ status: 200, body: { entries } }, answer);
    if (difference !== undefined) wrong.push(`balances of ${addresses.length} addresses: ${difference}`);
  }
  return wrong;
}

type UtxoJson = ReturnType<typeof expectedUtxo>;

/** Every UTXO with all its fields; by address in the order asked. */
export async function compareUtxos(api: ApiClient, { balances, utxos }: Utxos): Promise<string[]> {
  const wrong: string[] = [];
  for (const addresses of chunks([...balances.keys()], UTXO_ADDRESSES_AT_ONCE)) {
    const expected = addresses.flatMap((address) => utxos.get(address) ?? []).map(expectedUtxo);
    const answer = await api.post('/v1/rpc/getUtxosByAddresses', { addresses });
    if (expected.length > MOST_UTXOS && answer.status === 400) {
      meet('utxoBound');
      continue;
    }
    const actual = (answer.body['entries'] ?? []) as UtxoJson[];
    if (JSON.stringify(expected) !== JSON.stringify(actual)) meet('utxoOrder');
    const difference =
      firstDifference({ status: 200, count: expected.length }, { status: answer.status, count: actual.length }) ??
      firstDifference(orderOf(expected), orderOf(actual)) ??
      firstDifference(byOutpoint(expected), byOutpoint(actual));
    if (difference !== undefined) wrong.push(`UTXOs of ${addresses.length} addresses: ${difference}`);
  }
  return wrong;
}

/** The addresses as they come; one that comes twice with another between is here twice. */
const orderOf = (entries: readonly UtxoJson[]): unknown[] =>
  entries.map(({ address }) => address).filter((address, place, all) => address !== all[place - 1]);

const byOutpoint = (entries: readonly UtxoJson[]): Record<string, UtxoJson> =>
  Object.fromEntries(entries.map((entry) => [JSON.stringify(entry['outpoint']), entry]));

export async function compareSupply(
  api: ApiClient,
  { maxSompi, circulatingSompi, isSupplyExact }: Utxos,
): Promise<string[]> {
  const answer = await api.get('/v1/rpc/getCoinSupply');
  const ofApi = BigInt(String(answer.body['circulatingSompi']));
  const isBelow = !isSupplyExact && ofApi < circulatingSompi;
  if (isBelow) meet('supplyMaximum');
  const expected = { maxSompi: String(maxSompi), circulatingSompi: String(isBelow ? ofApi : circulatingSompi) };
  const difference = firstDifference({ status: 200, body: expected }, answer);
  return difference === undefined ? [] : [`supply: ${difference}`];
}

/** The pages of each address's UTXOs, and what they add up to. */
export async function compareUtxoListings(api: ApiClient, { utxos }: Utxos): Promise<string[]> {
  const wrong: string[] = [];
  await inParallel([...utxos], async ([address, utxos]) => {
    const expected = Object.fromEntries(utxos.map((utxo) => [nameOf(utxo.outpoint), expectedRestUtxo(utxo)]));
    const listed = await walk(api, `/v1/addresses/${address}/utxos`, 'utxos', (utxo) => nameOf(utxo as Outpoint));
    const shown = Object.fromEntries(listed.map((utxo) => [nameOf(utxo as Outpoint), utxo]));
    const difference = firstDifference(expected, shown);
    if (difference !== undefined) wrong.push(`UTXOs of ${address}: ${difference}`);
    if (listed.length !== utxos.length) wrong.push(`UTXOs of ${address}: ${listed.length} of ${utxos.length}`);
    const { body } = await api.get(`/v1/addresses/${address}`);
    const { utxoCount } = (body['address'] ?? {}) as { utxoCount?: unknown };
    if (Number(utxoCount) !== utxos.length)
      wrong.push(`${address} has ${utxos.length} UTXOs, not ${String(utxoCount)}`);
  });
  return wrong;
}

type Outpoint = { transactionId: string; index: number };

const nameOf = (outpoint: Outpoint | undefined): string => `${outpoint?.transactionId}:${outpoint?.index}`;

function expectedRestUtxo({ outpoint, utxoEntry }: protocol.AddressUtxo): Record<string, unknown> {
  return {
    transactionId: outpoint?.transactionId,
    index: outpoint?.index,
    amount: String(utxoEntry?.amount),
    blockDaaScore: String(utxoEntry?.blockDaaScore),
    isCoinbase: utxoEntry?.isCoinbase,
    scriptPublicKey: utxoEntry?.scriptPublicKey?.scriptPublicKey,
  };
}

/**
 * The rich list has every address that holds something, with the node's balance, the richest first; and with what scripts without an
 * address hold, it is the whole supply.
 * @param withoutAddress sompi
 */
export async function compareRichList(api: ApiClient, { balances }: Utxos, withoutAddress: bigint): Promise<string[]> {
  const wrong: string[] = [];
  const listed = await walk(
    api,
    '/v1/addresses',
    'addresses',
    ({ balance, address }) => `${String(balance)}:${String(address)}`,
  );
  const expected = Object.fromEntries(
    [...balances].filter(([, sompi]) => sompi > 0n).map(([a, sompi]) => [a, String(sompi)]),
  );
  const difference = firstDifference(
    expected,
    Object.fromEntries(listed.map(({ address, balance }) => [String(address), balance])),
  );
  if (difference !== undefined) wrong.push(`rich list: ${difference}`);
  const amounts = listed.map(({ balance }) => BigInt(String(balance)));
  if (amounts.some((amount, place) => amount > (amounts[place - 1] ?? amount))) wrong.push('rich list: not in order');
  const sum = amounts.reduce((total, amount) => total + amount, withoutAddress);
  const { body } = await api.get('/v1/rpc/getCoinSupply');
  if (String(sum) !== body['circulatingSompi'])
    wrong.push(`rich list: adds up to ${sum}, the supply to ${JSON.stringify(body)}`);
  return wrong;
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
