/** Transactions for the node's mempool: payments, payments that spend the outputs of those, and orphans. */
import { scriptToAddress, toHex } from '@kasgres/kaspa';
import { type NodeClient, toTransactionMessage } from '@kasgres/node';
import type { Load } from './load.ts';
import { isStandard, type Payment } from './payment.ts';

export interface MempoolContent {
  ids: string[];
  /** Addresses that they spend from or pay to. */
  addresses: string[];
}

const PAYMENTS = 12;
const LEAST_SOMPI = 200_000_000n;

export async function fillMempool(node: NodeClient, load: Load): Promise<MempoolContent> {
  const { traffic, wallet, random } = load;
  const payments: Payment[] = [];
  while (payments.length < PAYMENTS) {
    const utxo = wallet.take();
    if (utxo === undefined) throw new Error('the load has no UTXO left');
    if (isStandard(utxo) && utxo.output.amount > LEAST_SOMPI) {
      payments.push(traffic.standard(utxo, random.bytes(random.pick([0, 0, 40]))));
    }
  }
  const children = payments.slice(0, 3).flatMap(({ makes }) => makes.slice(0, 1).map((utxo) => traffic.standard(utxo)));
  const orphans = [traffic.stranger(), traffic.stranger()];
  for (const { transaction } of [...payments, ...children]) {
    await node.call('submitTransaction', { transaction: toTransactionMessage(transaction), allowOrphan: false });
  }
  for (const { transaction } of orphans) {
    await node.call('submitTransaction', { transaction: toTransactionMessage(transaction), allowOrphan: true });
  }
  const all = [...payments, ...children, ...orphans];
  const utxos = all.flatMap(({ plan, makes }) => [...plan.utxos, ...makes]);
  const addresses = utxos.flatMap(({ owner }) => scriptToAddress(owner.scriptPublicKey, 'kaspasim') ?? []);
  return { ids: all.map(({ id }) => toHex(id)), addresses: [...new Set(addresses)] };
}
