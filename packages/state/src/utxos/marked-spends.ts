/**
 * Finds which transactions of a batch spend UTXOs of covenants, and outputs whose script is a
 * program. The statement that deletes the rows of spent UTXOs says which have a mark, so a chain
 * without any needs no other one.
 */
import type { Hash, Sompi } from '@kasgres/kaspa';
import type { AcceptedTransaction, Utxo } from '../state-changes.ts';
import { OutpointMap } from './outpoint-map.ts';

type MarkableUtxo = Pick<Utxo, 'transaction' | 'index' | 'amount' | 'covenantId'>;

export interface MarkedUtxo extends MarkableUtxo {
  /** The program that its script is. */
  bareProgram: BareProgram | undefined;
}

export interface BareProgram {
  hash: Hash;
  uses: number;
}

/** The part of an accepted transaction that is kept. */
export interface Spender extends Pick<AcceptedTransaction, 'key' | 'chainBlock' | 'position' | 'spent'> {
  fee: Sompi;
}

export interface MarkedSpend {
  spender: Spender;
  input: number;
  utxo: MarkedUtxo;
}

export class MarkedSpends {
  /** UTXOs of removed chain blocks: those that they created and left, and those that they spent. */
  readonly removed: MarkedUtxo[] = [];
  readonly restored: MarkedUtxo[] = [];
  /** The deletion of spent rows, which must be sent before `find` is called. */
  deletion: Promise<readonly MarkedUtxo[]> | undefined;
  readonly #spenders: Spender[] = [];
  readonly #marked = new OutpointMap<MarkedUtxo>();
  #found: Promise<readonly MarkedSpend[]> | undefined;

  addSpender(transaction: AcceptedTransaction): void {
    const { key, chainBlock, position, spent } = transaction;
    if (spent.length > 0) this.#spenders.push({ key, chainBlock, position, spent, fee: feeOf(transaction) });
  }

  /** Marks a UTXO that the batch creates, or that a removed chain block spent. */
  mark({ transaction, index, amount, covenantId }: MarkableUtxo, bareProgram?: BareProgram): void {
    this.#marked.add({ transaction, index, amount, covenantId, bareProgram });
  }

  /** Returns the spends in the order of acceptance, and of inputs. */
  find(): Promise<readonly MarkedSpend[]> {
    return (this.#found ??= this.#find());
  }

  async #find(): Promise<readonly MarkedSpend[]> {
    for (const utxo of (await this.deletion) ?? []) this.#marked.add(utxo);
    if (this.#marked.isEmpty) return [];
    return this.#spenders.flatMap((spender) =>
      spender.spent.flatMap((outpoint, input) => {
        const utxo = this.#marked.get(outpoint);
        return utxo === undefined ? [] : [{ spender, input, utxo }];
      }),
    );
  }
}

/** Returns inputs minus outputs; 0 for a coinbase. */
export function feeOf({ isCoinbase, deltas }: Pick<AcceptedTransaction, 'isCoinbase' | 'deltas'>): Sompi {
  let fee = 0n;
  if (!isCoinbase) for (const { sent, received } of deltas.values()) fee += sent - received;
  return fee;
}
