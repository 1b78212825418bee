/**
 * The UTXOs that accepted transactions leave, by plain accounting over a DAG: at the sink, and at the virtual block, of which a
 * node's balances, UTXOs and supply speak.
 */
import { type AcceptedTransaction, acceptedBy, type Dag } from '@kasgres/devnet';
import { isCoinbase, type Outpoint, type ScriptPublicKey, toHex, type Utxo } from '@kasgres/kaspa';

export class Utxos {
  private readonly unspent = new Map<string, Utxo>();

  /** Takes in what a chain block (or the virtual block) accepts. */
  accept(accepted: readonly AcceptedTransaction[], blockDaaScore: bigint): void {
    for (const { transaction } of accepted) {
      for (const { previousOutpoint } of transaction.inputs) this.spend(previousOutpoint);
      for (const [index, output] of transaction.outputs.entries()) {
        const outpoint = { transactionId: transaction.transactionId, index };
        this.unspent.set(outpointKey(outpoint), {
          outpoint,
          amount: output.amount,
          scriptPublicKey: output.scriptPublicKey,
          blockDaaScore,
          isCoinbase: isCoinbase(transaction),
          covenantId: output.covenant?.covenantId,
        });
      }
    }
  }

  all(): Utxo[] {
    return [...this.unspent.values()];
  }

  of(script: ScriptPublicKey): Utxo[] {
    const key = scriptKey(script);
    return this.all().filter((utxo) => scriptKey(utxo.scriptPublicKey) === key);
  }

  private spend(outpoint: Outpoint): void {
    const key = outpointKey(outpoint);
    if (!this.unspent.delete(key)) throw new Error(`an accepted transaction spends ${key}, which does not exist`);
  }
}

/** Everything that the chain accepts up to and including the sink. */
export function utxosAtSink(dag: Dag): Utxos {
  const utxos = new Utxos();
  for (const block of dag.chainBlocks) utxos.accept(acceptedBy(block), block.header.daaScore);
  return utxos;
}

export function sumOf(utxos: readonly Utxo[]): bigint {
  return utxos.reduce((sum, { amount }) => sum + amount, 0n);
}

export function scriptKey({ version, script }: ScriptPublicKey): string {
  return `${version}:${toHex(script)}`;
}

function outpointKey({ transactionId, index }: Outpoint): string {
  return `${toHex(transactionId)}:${index}`;
}
