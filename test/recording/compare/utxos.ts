/**
 * Balances and supply. The node's are of its virtual block, ours of the sink. The difference is what the virtual block accepts,
 * and that is known exactly where it has the sink as its only parent (then it accepts all of the sink's own transactions: they
 * are valid on top of the sink's own view, or the sink would not be on the chain) and where the block was recorded that was
 * made of this very virtual block. So the node's answer, with these transactions taken back, is what ours must be.
 */
import { acceptedBy } from '@kasgres/devnet';
import {
  addressToScript,
  decodeAddress,
  MAX_SOMPI,
  type ScriptPublicKey,
  scriptToAddress,
  toHex,
  type TransactionOutput,
  type Utxo,
} from '@kasgres/kaspa';
import type { Response, ApiClient } from '../../node/api-client.ts';
import { inParallel } from '../../node/compare/in-parallel.ts';
import { utxosAtSink, scriptKey, sumOf } from '../utxos.ts';
import { Findings, requests, type Harness } from './harness.ts';

/** Of which the UTXOs are read over HTTP, too. */
const ADDRESSES_AT_A_CHECKPOINT = 50;

/** Every recorded balance over HTTP. Nothing is compared where it is not known what the virtual block accepts. */
export async function compareBalances(harness: Harness): Promise<Findings> {
  const findings = new Findings();
  const changes = changesByVirtual(harness);
  await inParallel(changes === undefined ? [] : recordedBalances(harness), async ({ address, balance }) => {
    const change = changes?.get(scriptKey(addressToScript(address))) ?? 0n;
    const answer = await harness.api.get(`/v1/rpc/getBalanceByAddress/${address}`);
    // The node takes the addresses of other networks, too.
    const isOurs = decodeAddress(address).prefix === harness.node.network.addressPrefix;
    const wanted = isOurs ? { body: { balance: String(balance - change) } } : { status: 400 };
    findings.compare(`balance of ${address}`, answer, wanted);
  });
  for (const { request, response } of requests(harness, 'getBalanceByAddress')) {
    if (response.error === undefined || request.address === '') continue;
    const answer = await harness.api.get(`/v1/rpc/getBalanceByAddress/${encodeURIComponent(request.address)}`);
    findings.compare(`balance of ${request.address}`, answer, { status: 400 });
  }
  return findings;
}

/**
 * Addresses that held something at some time, as many at every checkpoint, by plain accounting over the recorded chain: their sums, and
 * their UTXOs page by page. (That the same accounting gives the recorded getUtxosByAddresses, at the virtual block, is the replay's own test.)
 */
export async function compareAddresses({ node, api }: Harness): Promise<Findings> {
  const { dag, network } = node;
  const addressOf = (script: ScriptPublicKey) => scriptToAddress(script, network.addressPrefix);
  const unspent = Map.groupBy(utxosAtSink(dag).all(), ({ scriptPublicKey }) => addressOf(scriptPublicKey));
  const accepted = dag.chainBlocks.flatMap((block) => acceptedBy(block));
  const paid = accepted.flatMap(({ transaction }) =>
    transaction.outputs.map((output) => addressOf(output.scriptPublicKey)),
  );
  const findings = new Findings();
  const addresses = [...new Set(paid)].filter((address) => address !== undefined);
  const step = Math.ceil(addresses.length / ADDRESSES_AT_A_CHECKPOINT);
  const some = addresses.filter((_, place) => place % step === 0);
  await inParallel(some, async (address) => {
    const utxos = unspent.get(address) ?? [];
    const summed = await api.get(`/v1/addresses/${address}`);
    const { balance, utxoCount } = (summed.body['address'] ?? {}) as Record<string, unknown>;
    summed.body = { balance, utxoCount };
    findings.compare(`sums of ${address}`, summed, {
      body: { balance: String(sumOf(utxos)), utxoCount: utxos.length },
    });
    const listed = await listUtxos(api, address);
    findings.compare(`utxos of ${address}`, listed, { body: { utxos: utxos.map(toRestUtxo).toSorted(byOutpoint) } });
  });
  return findings;
}

interface RestUtxo {
  transactionId: string;
  index: number;
}

const toRestUtxo = ({ outpoint, amount, blockDaaScore, isCoinbase, scriptPublicKey }: Utxo) => ({
  transactionId: toHex(outpoint.transactionId),
  index: outpoint.index,
  amount: String(amount),
  blockDaaScore: String(blockDaaScore),
  isCoinbase,
  scriptPublicKey: toHex(scriptPublicKey.script),
});

const placeOf = ({ transactionId, index }: RestUtxo): string => `${transactionId}:${index}`;
const byOutpoint = (a: RestUtxo, b: RestUtxo): number => (placeOf(a) < placeOf(b) ? -1 : 1);

/** All pages as one answer, by outpoint; or the first answer that is an error. */
async function listUtxos(api: ApiClient, address: string): Promise<Response> {
  const utxos: RestUtxo[] = [];
  for (;;) {
    const last = utxos.at(-1);
    const cursor = last === undefined ? '' : `&starting_after=${placeOf(last)}`;
    const page = await api.get(`/v1/addresses/${address}/utxos?limit=100${cursor}`);
    if (page.status !== 200) return page;
    utxos.push(...(page.body['utxos'] as RestUtxo[]));
    if (!(page.body['metadata'] as { hasMore: boolean }).hasMore) {
      return { status: 200, body: { utxos: utxos.toSorted(byOutpoint) } };
    }
  }
}

/** The node's supply is the most that it ever saw: after a reorganisation it may be higher than what there is. */
export async function compareSupply(harness: Harness): Promise<Findings> {
  const findings = new Findings();
  const changes = changesByVirtual(harness);
  for (const { response } of changes === undefined ? [] : requests(harness, 'getCoinSupply')) {
    const change = [...(changes?.values() ?? [])].reduce((sum, sompi) => sum + sompi, 0n);
    const most = response.circulatingSompi - change;
    const answer = await harness.api.get('/v1/rpc/getCoinSupply');
    const { circulatingSompi } = answer.body as { circulatingSompi?: string };
    const isLess = harness.node.mayHaveSeenMoreSompi && BigInt(circulatingSompi ?? most) < most;
    const body = { maxSompi: String(MAX_SOMPI), circulatingSompi: isLess ? circulatingSompi : String(most) };
    findings.compare('supply', answer, { body });
  }
  return findings;
}

function recordedBalances(harness: Harness): { address: string; balance: bigint }[] {
  const several = requests(harness, 'getBalancesByAddresses').flatMap(({ response }) => response.entries);
  const single = requests(harness, 'getBalanceByAddress')
    .filter(({ response }) => response.error === undefined)
    .map(({ request, response }) => ({ address: request.address, balance: response.balance }));
  const byAddress = new Map([...several, ...single].map(({ address, balance }) => [address, balance]));
  return [...byAddress].map(([address, balance]) => ({ address, balance }));
}

/** What the virtual block changes, in sompi, by script. */
function changesByVirtual({ node }: Harness): Map<string, bigint> | undefined {
  const changes = new Map<string, bigint>();
  const add = ({ scriptPublicKey, amount }: TransactionOutput, sign: bigint) => {
    const key = scriptKey(scriptPublicKey);
    changes.set(key, (changes.get(key) ?? 0n) + sign * amount);
  };
  const accepted = node.acceptedByVirtual();
  for (const { transaction } of accepted ?? []) {
    for (const { previousOutpoint } of transaction.inputs) {
      const made = node.dag.findTransaction(toHex(previousOutpoint.transactionId))?.outputs[previousOutpoint.index];
      if (made === undefined) throw new Error('the virtual block accepts what spends a UTXO that was never made');
      add(made, -1n);
    }
    for (const output of transaction.outputs) add(output, 1n);
  }
  return accepted && changes;
}
