/** Submits signed payments through the API, and the block that the API's template makes of them. */
import { setTimeout as sleep } from 'node:timers/promises';
import { scriptToAddress, toHex } from '@kasgres/kaspa';
import type { NodeClient } from '@kasgres/node';
import type { ApiClient, ApiResponse } from '../support/api-client.ts';

import type { Load } from './load/load.ts';
import { schnorrOwner } from './load/owner.ts';
import { covenantId, isStandard, type Payment, sign, type Utxo } from './load/payment.ts';
import { submittedForm } from '../support/compare/expected.ts';

const SUBMIT_TRANSACTION = '/v1/rpc/submitTransaction';
const MIN_SOMPI = 1_000_000_000n;
const FEE = 3_000_000n;
/** The greatest 64-bit number. */
const MAX_SEQUENCE = 2n ** 64n - 1n;

const miner = schnorrOwner(new Uint8Array(32).fill(3));

/** Returns payments of both versions, with a payload, a covenant and, since each splits a UTXO, a storage mass. */
export function createPayments(load: Load): Payment[] {
  const [plain, second, founding] = [takeUtxo(load), takeUtxo(load), takeUtxo(load)];
  const small = { amount: 40_000_000n, owner: miner };
  const rest = (utxo: Utxo) => ({ amount: utxo.output.amount - small.amount - FEE, owner: utxo.owner });
  const carried = { index: 0, payout: small };
  const covenant = { authorizingInput: 0, covenantId: covenantId(founding, [carried]) };
  return [
    sign({
      utxos: [plain],
      payouts: [small, rest(plain)],
      sequence: MAX_SEQUENCE,
      payload: Buffer.from('by HTTP'),
    }),
    sign({ version: 1, utxos: [second], payouts: [small, rest(second)], sequence: MAX_SEQUENCE }),
    sign({ version: 1, utxos: [founding], payouts: [{ ...small, covenant }, rest(founding)] }),
  ];
}

function takeUtxo(load: Load): Utxo {
  for (;;) {
    const utxo = load.wallet.take();
    if (utxo === undefined) throw new Error('the wallet of the load is empty');
    if (isStandard(utxo) && utxo.output.amount > MIN_SOMPI) return utxo;
  }
}

export async function submitPayments(api: ApiClient, payments: readonly Payment[]): Promise<string[]> {
  const wrong: string[] = [];
  for (const { id, transaction } of payments) {
    const response = await api.post(SUBMIT_TRANSACTION, { transaction: submittedForm(transaction) });
    if (response.status !== 200 || response.json['transactionId'] !== toHex(id)) {
      wrong.push(`submitTransaction ${toHex(id)}: ${JSON.stringify(response)}`);
    }
  }
  return wrong;
}

/** Submits transactions that the node must refuse, and compares its messages. */
export async function compareRefusals(api: ApiClient, load: Load, inMempool: Payment): Promise<string[]> {
  const utxo = takeUtxo(load);
  const payouts = [{ amount: utxo.output.amount - FEE, owner: utxo.owner }];
  const wrongSignature = sign({ utxos: [utxo], payouts, broken: true });
  const overspent = sign({ utxos: [utxo], payouts: [{ amount: utxo.output.amount + 1n, owner: utxo.owner }] });
  const cases: [Payment, RegExp][] = [
    [inMempool, /is already in the mempool$/],
    [load.traffic.stranger(), /is an orphan where orphan is disallowed$/],
    [wrongSignature, /failed to verify the signature script/],
    [overspent, /tries to spend \d+ while its total inputs amount is \d+/],
  ];
  const wrong: string[] = [];
  for (const [{ id, transaction }, reason] of cases) {
    const response = await api.post(SUBMIT_TRANSACTION, { transaction: submittedForm(transaction) });
    const message = String(response.json['message']);
    const isRight =
      message.startsWith(`The node rejected the request: Rejected transaction ${toHex(id)}: `) && reason.test(message);
    if (response.status !== 400 || !isRight) wrong.push(`a refusal: ${JSON.stringify(response)}`);
  }
  load.wallet.giveBack(utxo);
  return wrong;
}

/** Submits the exact text of a template of the API, or what `change` makes of it. Returns the response and the node's sink. */
export async function mineThroughApi(
  node: NodeClient,
  api: ApiClient,
  change = (template: string): string => template,
): Promise<{ response: ApiResponse; sink: string }> {
  const response = await api.post('/v1/rpc/submitBlock', change(await getTemplate(api)));
  return { response, sink: (await node.call('getSink', {})).sink };
}

async function getTemplate(api: ApiClient): Promise<string> {
  const payAddress = scriptToAddress(miner.scriptPublicKey, 'kaspasim');
  return (await api.post('/v1/rpc/getBlockTemplate', { payAddress, extraData: 'HTTP' })).text;
}

const TEMPLATE_DEADLINE_MS = 20_000;

/** Waits for a template with this text: the node keeps a template for a second, also if its mempool changes. */
export async function untilTemplateHas(api: ApiClient, text: string): Promise<void> {
  const deadline = Date.now() + TEMPLATE_DEADLINE_MS;
  while (!(await getTemplate(api)).includes(text)) {
    if (Date.now() > deadline) throw new Error(`no template of the node has ${text}`);
    await sleep(100);
  }
}
