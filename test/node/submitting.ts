/** Submits signed payments through the API, and the block that the API's template makes of them. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { UtxoEntry } from '@kasgres/devnet';
import { scriptToAddress } from '@kasgres/kaspa';
import type { NodeClient } from '@kasgres/node';
import type { ApiClient, ApiResponse } from '../support/api-client.ts';
import { submittedForm } from '../support/compare/expected.ts';
import type { Load } from './load/load.ts';
import { IDLE_MINER } from './load/miner.ts';
import { covenantId, idOf, type Payment, sign } from './load/payment.ts';
import { draftOf } from './load/traffic.ts';

const MIN_SOMPI = 1_000_000_000n;
const SMALL_SOMPI = 40_000_000;
const FEE_SOMPI = 3_000_000;
/** The greatest 64-bit number. */
const MAX_SEQUENCE = 2n ** 64n - 1n;
const TEMPLATE_DEADLINE_MS = 20_000;

/** Returns payments of both versions, with a payload, a covenant and, since each splits a UTXO, a storage mass. */
export function createPayments({ keys, wallet }: Load): Payment[] {
  const [plain, second, founding] = [takeUtxo(wallet), takeUtxo(wallet), takeUtxo(wallet)];
  const small = { amount: SMALL_SOMPI, scriptPublicKey: IDLE_MINER };
  const covenant = { authorizingInput: 0, covenantId: covenantId(founding, small) };
  const outputs = (utxo: UtxoEntry) => [small, restOf(utxo, SMALL_SOMPI + FEE_SOMPI)];
  return [
    draftOf(plain, outputs(plain), { sequence: MAX_SEQUENCE, payload: Buffer.from('by HTTP') }),
    draftOf(second, outputs(second), { version: 1, sequence: MAX_SEQUENCE }),
    draftOf(founding, [{ ...small, covenant }, ...outputs(founding).slice(1)], { version: 1 }),
  ].map((draft) => sign(keys, draft));
}

function takeUtxo(wallet: Load['wallet']): UtxoEntry {
  return wallet.takeStandard(MIN_SOMPI);
}

/** Returns an output to the owner of a UTXO with its amount, less some sompi. */
function restOf({ amount, scriptPublicKey }: UtxoEntry, lessSompi: number) {
  return { amount: Number(amount) - lessSompi, scriptPublicKey };
}

export async function submitPayments(api: ApiClient, payments: readonly Payment[]): Promise<string[]> {
  const wrong: string[] = [];
  for (const payment of payments) {
    const response = await submitPayment(api, payment);
    if (response.status !== 200 || response.json['transactionId'] !== idOf(payment)) {
      wrong.push(`submitTransaction ${idOf(payment)}: ${JSON.stringify(response)}`);
    }
  }
  return wrong;
}

function submitPayment(api: ApiClient, { transaction }: Payment): Promise<ApiResponse> {
  return api.post('/v1/rpc/submitTransaction', { transaction: submittedForm(transaction) });
}

/** Submits transactions that the node must refuse, and compares its messages. */
export async function compareRefusals(
  api: ApiClient,
  { keys, wallet, traffic }: Load,
  inMempool: Payment,
): Promise<string[]> {
  const utxo = takeUtxo(wallet);
  const cases: [Payment, RegExp][] = [
    [inMempool, /is already in the mempool$/],
    [traffic.stranger(), /is an orphan where orphan is disallowed$/],
    [sign(keys, draftOf(utxo, [restOf(utxo, FEE_SOMPI)]), { isBroken: true }), /failed to verify the signature script/],
    [sign(keys, draftOf(utxo, [restOf(utxo, -1)])), /tries to spend \d+ while its total inputs amount is \d+/],
  ];
  const wrong: string[] = [];
  for (const [payment, reason] of cases) {
    const response = await submitPayment(api, payment);
    const message = String(response.json['message']);
    const start = `The node rejected the request: Rejected transaction ${idOf(payment)}: `;
    if (response.status !== 400 || !message.startsWith(start) || !reason.test(message))
      wrong.push(`a refusal: ${JSON.stringify(response)}`);
  }
  wallet.giveBack(utxo);
  return wrong;
}

/** Submits the exact text of a template of the API, or the result of `change`. Returns the response and the node's sink. */
export async function mineThroughApi(
  node: NodeClient,
  api: ApiClient,
  change = (template: string): string => template,
): Promise<{ response: ApiResponse; sink: string }> {
  const response = await api.post('/v1/rpc/submitBlock', change(await getTemplate(api)));
  return { response, sink: (await node.call('getSink', {})).sink };
}

async function getTemplate(api: ApiClient): Promise<string> {
  const payAddress = scriptToAddress(IDLE_MINER, 'kaspasim');
  return (await api.post('/v1/rpc/getBlockTemplate', { payAddress, extraData: 'HTTP' })).text;
}

/** Waits for a template with this text: the node keeps a template for a second, also if its mempool changes. */
export async function untilTemplateHas(api: ApiClient, text: string): Promise<void> {
  const deadline = Date.now() + TEMPLATE_DEADLINE_MS;
  while (!(await getTemplate(api)).includes(text)) {
    if (Date.now() > deadline) throw new Error(`no template of the node has ${text}`);
    await sleep(100);
  }
}
