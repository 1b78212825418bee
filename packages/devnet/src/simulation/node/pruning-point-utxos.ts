/**
 * The unspent outputs at the pruning point: after its own acceptance of its mergeset, while what it holds itself is for the next chain block
 * to accept. Follows the pruning point from genesis on.
 */
import { isCoinbase, type Utxo } from '@kasgres/kaspa';
import type { DagBlock } from '../../dag/dag.ts';
import { createdEntries, outpointKey, type UtxoEntry } from '../../economy/utxo.ts';

export class PruningPointUtxos {
  private readonly entries = new Map<string, UtxoEntry>();
  private ordered: readonly Utxo[] = [];

  /** Applies the chain blocks above, up to the new pruning point. */
  advance(chainBlocks: readonly DagBlock[]): void {
    for (const { header, accepted = [] } of chainBlocks) {
      for (const { transaction } of accepted) {
        for (const { previousOutpoint } of transaction.inputs) this.entries.delete(outpointKey(previousOutpoint));
        for (const entry of createdEntries(transaction, Number(header.daaScore), isCoinbase(transaction))) {
          this.entries.set(entry.key, entry);
        }
      }
    }
    this.ordered = [...this.entries].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => entry);
  }

  /** Returns the UTXOs in the order in which a node serves them: by transaction id, then by index as little-endian bytes. */
  inOrder(): readonly Utxo[] {
    return this.ordered;
  }
}
