import { countAddressRows, replaceUtxoSet } from '@kasgres/state';
import type { ClientBase } from 'pg';
import { resolveLateInputs } from './late-inputs.ts';

/**
 * Replaces the derived state by the UTXO set of a bootstrap block after a gap, and completes inputs that spend UTXOs of that set. Must run inside
 * the transaction that writes the bootstrap block, after `start_utxos` has its set and the checkpoint is at the block.
 * @param chainTime of the block, Unix milliseconds @param fromTransactionId the least key of a transaction that the set has brought
 */
export async function replaceState(client: ClientBase, chainTime: bigint, fromTransactionId: number): Promise<void> {
  await replaceUtxoSet(client, chainTime);
  await countAddressRows(client, await resolveLateInputs(client, { from: fromTransactionId, preBootstrap: [] }));
}
