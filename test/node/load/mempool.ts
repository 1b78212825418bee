/** Transactions for the node's mempool: payments, payments that spend the outputs of those, and orphans. */
import { scriptToAddress } from '@kasgres/kaspa';
import { type NodeClient, toTransactionMessage } from '@kasgres/node';
import type { Load } from './load.ts';
import { idOf, outputsOf, type Payment } from './payment.ts';

const PAYMENTS = 12;
const MIN_SOMPI = 200_000_000n;

/** Returns the ids, and the addresses that they spend from or pay to. */
export async function fillMempool(
  node: NodeClient,
  { traffic, wallet, random }: Load,
): Promise<{ ids: string[]; addresses: string[] }> {
  const payments = Array.from({ length: PAYMENTS }, () =>
    traffic.split(wallet.takeStandard(MIN_SOMPI), random.bytes(random.pick([0, 0, 40]))),
  );
  const children = payments.slice(0, 3).flatMap((parent) =>
    outputsOf(parent)
      .slice(0, 1)
      .map((utxo) => traffic.split(utxo)),
  );
  const orphans = [traffic.stranger(), traffic.stranger()];
  const submit = async ({ transaction }: Payment, allowOrphan: boolean): Promise<void> => {
    await node.call('submitTransaction', { transaction: toTransactionMessage(transaction), allowOrphan });
  };
  for (const payment of [...payments, ...children]) await submit(payment, false);
  for (const orphan of orphans) await submit(orphan, true);
  const all = [...payments, ...children, ...orphans];
  const entries = all.flatMap((payment) => [...payment.draft.utxos.map(({ entry }) => entry), ...outputsOf(payment)]);
  const addresses = entries.flatMap(({ scriptPublicKey }) => scriptToAddress(scriptPublicKey, 'kaspasim') ?? []);
  return { ids: all.map(idOf), addresses: [...new Set(addresses)] };
}
