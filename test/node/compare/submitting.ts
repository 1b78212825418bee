/**
 * What is handed in through the API: signed payments go over the mempool into a template of the API, which comes back as a block, and in
 * the end node and index have both. Refusals come in the node's words.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { scriptToAddress, toHex } from '@kasgres/kaspa';
import type { NodeClient } from '@kasgres/node';
import type { Response, ApiClient } from '../api-client.ts';
import type { Load } from '../load/load.ts';
import { schnorrOwner } from '../load/owner.ts';
import { covenantId, isStandard, type Payment, sign, type Utxo } from '../load/payment.ts';
import { submittedForm } from '../submitted-form.ts';

const SUBMIT_TRANSACTION = '/v1/rpc/submitTransaction';
const LEAST_SOMPI = 1_000_000_000n;
const FEE = 3_000_000n;
/** All bits: the greatest number that a field of 64 bits holds. */
const GREATEST_SEQUENCE = 2n ** 64n - 1n;

const miner = schnorrOwner(new Uint8Array(32).fill(3));

/** Of both versions, with the greatest sequence, a payload, a covenant; each splits a UTXO, so that it has a storage mass. */
export function makePayments(load: Load): Payment[] {
  const [plain, second, founding] = [takeUtxo(load), takeUtxo(load), takeUtxo(load)];
  const small = { amount: 40_000_000n, owner: miner };
  const rest = (utxo: Utxo) => ({ amount: utxo.output.amount - small.amount - FEE, owner: utxo.owner });
  const carried = { index: 0, payout: small };
  const covenant = { authorizingInput: 0, covenantId: covenantId(founding, [carried]) };
  return [
    sign({
      utxos: [plain],
      payouts: [small, rest(plain)],
      sequence: GREATEST_SEQUENCE,
      payload: Buffer.from('by HTTP'),
    }),
    sign({ version: 1, utxos: [second], payouts: [small, rest(second)], sequence: GREATEST_SEQUENCE }),
    sign({ version: 1, utxos: [founding], payouts: [{ ...small, covenant }, rest(founding)] }),
  ];
}

function takeUtxo(load: Load): Utxo {
  for (;;) {
    const utxo = load.wallet.take();
    if (utxo === undefined) throw new Error('the load has no UTXO left');
    if (isStandard(utxo) && utxo.output.amount > LEAST_SOMPI) return utxo;
  }
}

/** Submits each; what the answers should be and are not. */
export async function submitPayments(api: ApiClient, payments: readonly Payment[]): Promise<string[]> {
  const wrong: string[] = [];
  for (const { id, transaction } of payments) {
    const answer = await api.post(SUBMIT_TRANSACTION, { transaction: submittedForm(transaction) });
    if (answer.status !== 200 || answer.body['transactionId'] !== toHex(id)) {
      wrong.push(`submitTransaction ${toHex(id)}: ${JSON.stringify(answer)}`);
    }
  }
  return wrong;
}

/** What the node must refuse, with the words that it has for each. */
export async function compareRefusals(api: ApiClient, load: Load, inMempool: Payment): Promise<string[]> {
  const utxo = takeUtxo(load);
  const payouts = [{ amount: utxo.output.amount - FEE, owner: utxo.owner }];
  const broken = sign({ utxos: [utxo], payouts, broken: true });
  const dear = sign({ utxos: [utxo], payouts: [{ amount: utxo.output.amount + 1n, owner: utxo.owner }] });
  const cases: [Payment, RegExp][] = [
    [inMempool, /is already in the mempool$/],
    [load.traffic.stranger(), /is an orphan where orphan is disallowed$/],
    [broken, /failed to verify the signature script/],
    [dear, /tries to spend \d+ while its total inputs amount is \d+/],
  ];
  const wrong: string[] = [];
  for (const [{ id, transaction }, words] of cases) {
    const answer = await api.post(SUBMIT_TRANSACTION, { transaction: submittedForm(transaction) });
    const message = String(answer.body['message']);
    const isRight = message.startsWith(`The node rejected the request: Rejected transaction ${toHex(id)}: `) && words.test(message);
    if (answer.status !== 400 || !isRight) wrong.push(`a refusal: ${JSON.stringify(answer)}`);
  }
  load.wallet.giveBack(utxo);
  return wrong;
}

/**
 * Mines on a template of the API, whose very text it hands back.
 * @param changed what is handed back instead
 * @returns the answer, and the hash of the node's sink after it
 */
export async function mineThroughApi(
  node: NodeClient,
  api: ApiClient,
  changed = (template: string): string => template,
): Promise<{ answer: Response; sink: string }> {
  const submitted = await api.postText('/v1/rpc/submitBlock', changed(await getTemplate(api)));
  const { sink } = await node.call('getSink', {});
  return { answer: { status: submitted.status, body: JSON.parse(submitted.text) as Response['body'] }, sink };
}

async function getTemplate(api: ApiClient): Promise<string> {
  const payAddress = scriptToAddress(miner.scriptPublicKey, 'kaspasim');
  return (await api.postText('/v1/rpc/getBlockTemplate', JSON.stringify({ payAddress, extraData: 'HTTP' }))).text;
}

const PATIENCE_MS = 20_000;

/** The node gives out one template for a second, whatever comes into its mempool meanwhile. */
export async function untilTemplateHas(api: ApiClient, words: string): Promise<void> {
  const giveUpAt = Date.now() + PATIENCE_MS;
  while (!(await getTemplate(api)).includes(words)) {
    if (Date.now() > giveUpAt) throw new Error(`no template of the node has ${words}`);
    await sleep(100);
  }
}
