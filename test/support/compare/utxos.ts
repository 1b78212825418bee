/**
 * Balances, UTXOs and the supply of the API. A node responds for its virtual block, one step ahead
 * of the chain: its state is read first, one block is mined on its template, whose mergeset is the
 * one of that virtual block, and then the API is compared.
 */
import { MAX_SOMPI } from '@kasgres/kaspa';
import type { NodeClient, protocol } from '@kasgres/node';
import type { ApiClient } from '../api-client.ts';
import {
  chunks,
  type Comparison,
  firstDifference,
  holderCursor,
  inParallel,
  type Json,
  readListing,
  tolerate,
} from './comparison.ts';
import { expectedUtxo } from './expected.ts';

export interface UtxoState {
  balances: Map<string, bigint>;
  /** By address. Addresses without UTXOs may be left out. */
  utxos: Map<string, protocol.AddressUtxo[]>;
  circulatingSompi: bigint;
  /** False if the node may have counted blocks that were reorganised away since it started. */
  isSupplyExact: boolean;
}

const MAX_ADDRESSES = 500;
const MAX_UTXO_ADDRESSES = 100;
/** The API refuses to list more in one response. */
const MAX_UTXOS = 10_000;

export async function readUtxoState(
  node: NodeClient,
  addresses: readonly string[],
  { isSupplyExact }: { isSupplyExact: boolean },
): Promise<UtxoState> {
  const balances = new Map<string, bigint>();
  const utxos = new Map<string, protocol.AddressUtxo[]>();
  for (const some of chunks(addresses, MAX_ADDRESSES)) {
    const { entries } = await node.call('getBalancesByAddresses', { addresses: some });
    for (const { address, balance } of entries) balances.set(address, balance);
    const listed = (await node.call('getUtxosByAddresses', { addresses: some })).entries;
    for (const [address, ofAddress] of Map.groupBy(listed, (entry) => entry.address)) utxos.set(address, ofAddress);
  }
  const { circulatingSompi } = await node.call('getCoinSupply', {});
  return { balances, utxos, circulatingSompi, isSupplyExact };
}

/**
 * Mines a block with `mine`, waits until it is indexed, and compares all of the state.
 * @param addressless sompi of the scripts without an address
 */
export async function compareStateAfterBlock(
  { node, api }: Comparison,
  addresses: readonly string[],
  options: { isSupplyExact: boolean; mine: () => Promise<unknown>; addressless: () => Promise<bigint> },
): Promise<string[]> {
  const state = await readUtxoState(node, addresses, options);
  const { virtualParentHashes } = await node.call('getBlockDagInfo', {});
  await options.mine();
  const { sink } = await node.call('getSink', {});
  const { block } = await node.call('getBlock', { hash: sink, includeTransactions: false });
  const parents = block?.header?.parents[0]?.parentHashes ?? [];
  const fault = firstDifference(virtualParentHashes.toSorted(), parents.toSorted());
  if (fault !== undefined) return [`another block was mined meanwhile: ${fault}`];
  const now = await readUtxoState(node, addresses, options);
  for (const [address, balance] of state.balances) {
    if (now.balances.get(address) !== balance) tolerate('virtualAndSink');
  }
  return [...(await compareUtxoState(api, state)), ...(await compareRichList(api, state, await options.addressless()))];
}

/** Compares every balance and UTXO, alone and together, and the supply. */
export async function compareUtxoState(api: ApiClient, state: UtxoState): Promise<string[]> {
  const faults = [
    compareBalances(api, state),
    compareBalancesTogether(api, state),
    compareUtxos(api, state),
    compareUtxoListings(api, state),
    compareSupply(api, state),
  ];
  return (await Promise.all(faults)).flat();
}

async function compareBalances(api: ApiClient, { balances }: UtxoState): Promise<string[]> {
  const faults: string[] = [];
  await inParallel([...balances], async ([address, balance]) => {
    const response = await api.get(`/v1/rpc/getBalanceByAddress/${address}`);
    const difference = firstDifference({ status: 200, json: { balance: String(balance) } }, statusAndJson(response));
    if (difference !== undefined) faults.push(`balance of ${address}: ${difference}`);
  });
  return faults;
}

/**
 * A request of many addresses gets an entry for each, in the requested order, also for one that is
 * there twice.
 */
export async function compareBalancesTogether(api: ApiClient, { balances }: UtxoState): Promise<string[]> {
  const faults: string[] = [];
  for (const some of chunks([...balances], MAX_ADDRESSES)) {
    const addresses = some.map(([address]) => address);
    const entries = some.map(([address, balance]) => ({ address, balance: String(balance) }));
    const body = { addresses: [...addresses, ...addresses.slice(0, 3)] };
    const response = await api.post('/v1/rpc/getBalancesByAddresses', body);
    const difference = firstDifference(
      { status: 200, json: { entries: [...entries, ...entries.slice(0, 3)] } },
      statusAndJson(response),
    );
    if (difference !== undefined) faults.push(`balances of ${addresses.length} addresses: ${difference}`);
  }
  return faults;
}

/** Compares all fields of every UTXO; the addresses must come in the requested order. */
export async function compareUtxos(api: ApiClient, { balances, utxos }: UtxoState): Promise<string[]> {
  const faults: string[] = [];
  for (const addresses of chunks([...balances.keys()], MAX_UTXO_ADDRESSES)) {
    const expected = addresses.flatMap((address) => utxos.get(address) ?? []).map(expectedUtxo);
    const { status, json } = await api.post('/v1/rpc/getUtxosByAddresses', { addresses });
    if (expected.length > MAX_UTXOS && status === 400) {
      tolerate('utxoBound');
      continue;
    }
    const actual = (json['entries'] ?? []) as Json[];
    if (JSON.stringify(expected) !== JSON.stringify(actual)) tolerate('utxoOrder');
    const difference = firstDifference(
      { status: 200, count: expected.length, order: orderOf(expected), entries: byOutpoint(expected) },
      { status, count: actual.length, order: orderOf(actual), entries: byOutpoint(actual) },
    );
    if (difference !== undefined) faults.push(`UTXOs of ${addresses.length} addresses: ${difference}`);
  }
  return faults;
}

/**
 * Returns the addresses in their order. An address that comes back after another one is listed
 * twice.
 */
const orderOf = (entries: readonly Json[]): unknown[] =>
  entries.map(({ address }) => address).filter((address, index, all) => address !== all[index - 1]);

const byOutpoint = (entries: readonly Json[]): Record<string, Json> =>
  Object.fromEntries(entries.map((entry) => [JSON.stringify(entry['outpoint']), entry]));

async function compareSupply(api: ApiClient, { circulatingSompi, isSupplyExact }: UtxoState): Promise<string[]> {
  const { status, json } = await api.get('/v1/rpc/getCoinSupply');
  const actual = BigInt(String(json['circulatingSompi']));
  const isBelow = !isSupplyExact && actual < circulatingSompi;
  if (isBelow) tolerate('supplyMaximum');
  const expected = { maxSompi: String(MAX_SOMPI), circulatingSompi: String(isBelow ? actual : circulatingSompi) };
  const difference = firstDifference({ status: 200, json: expected }, { status, json });
  return difference === undefined ? [] : [`supply: ${difference}`];
}

/** Compares the pages of each address's UTXOs, and the sums of the address. */
async function compareUtxoListings(api: ApiClient, { balances, utxos }: UtxoState): Promise<string[]> {
  const faults: string[] = [];
  await inParallel([...utxos], async ([address, ofAddress]) => {
    const listed = await readListing(api, `/v1/addresses/${address}/utxos`, 'utxos', nameOf);
    const { json } = await api.get(`/v1/addresses/${address}`);
    const { balance, utxoCount } = (json['address'] ?? {}) as Json;
    const expected = {
      listed: byName(ofAddress.map(expectedRestUtxo)),
      listedCount: ofAddress.length,
      balance: String(balances.get(address)),
      utxoCount: ofAddress.length,
    };
    const actual = { listed: byName(listed), listedCount: listed.length, balance, utxoCount: Number(utxoCount) };
    const difference = firstDifference(expected, actual);
    if (difference !== undefined) faults.push(`UTXOs of ${address}: ${difference}`);
  });
  return faults;
}

const nameOf = ({ transactionId, index }: Json): string => `${String(transactionId)}:${String(index)}`;

const byName = (utxos: readonly Json[]): Json => Object.fromEntries(utxos.map((utxo) => [nameOf(utxo), utxo]));

function expectedRestUtxo({ outpoint, utxoEntry }: protocol.AddressUtxo): Json {
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
 * The rich list has the node's balances, in order; together with `addressless` sompi they are the
 * whole supply.
 */
async function compareRichList(api: ApiClient, { balances }: UtxoState, addressless: bigint): Promise<string[]> {
  const listed = await readListing(api, '/v1/addresses', 'addresses', holderCursor);
  const amounts = listed.map(({ balance }) => BigInt(String(balance)));
  const held = [...balances].filter(([, sompi]) => sompi > 0n);
  const { json } = await api.get('/v1/rpc/getCoinSupply');
  const difference = firstDifference(
    {
      balances: Object.fromEntries(held.map(([address, sompi]) => [address, String(sompi)])),
      isSorted: true,
      supply: json['circulatingSompi'],
    },
    {
      balances: Object.fromEntries(listed.map(({ address, balance }) => [String(address), balance])),
      isSorted: amounts.every((amount, index) => amount <= (amounts[index - 1] ?? amount)),
      supply: String(amounts.reduce((sum, amount) => sum + amount, addressless)),
    },
  );
  return difference === undefined ? [] : [`rich list: ${difference}`];
}

const statusAndJson = ({ status, json }: { status: number; json: Json }) => ({ status, json });
