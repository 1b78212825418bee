/**
 * Follows a stream as a wallet would: keeps the virtual chain, what it accepts, and balances, from
 * nothing but the messages.
 */
import type { Schema, StreamStep } from './client.ts';

export class StreamFollower {
  /** Up to the sink. */
  readonly chain: string[];
  readonly accepted = new Map<string, string[]>();
  /** Acceptances by address and transaction, each with its block. */
  readonly balances: Map<string, bigint>;
  readonly confirmed = new Set<string>();
  readonly faults: string[] = [];
  readonly #applied = new Map<string, string>();
  removedBlocks = 0;

  /** @param chain from the first indexed block to the one that the stream begins at */
  constructor(chain: readonly string[], balances: Map<string, bigint>) {
    this.chain = [...chain];
    this.balances = balances;
  }

  apply({ events, cursor }: StreamStep): void {
    for (const { event, data } of events) {
      if (event === 'chain') this.#onChain(data);
      else if (event === 'address' && data.acceptingBlockHash !== null) this.#onAddress(data);
    }
    if (cursor !== undefined && events.some(({ event }) => event === 'chain') && this.chain.at(-1) !== cursor) {
      this.faults.push(`the step ends at ${cursor}, but the chain at ${this.chain.at(-1)}`);
    }
  }

  #onChain({ removed, added }: Schema<'ChainChange'>): void {
    for (const hash of removed) {
      if (this.chain.at(-1) !== hash) this.faults.push(`${hash} is removed, but is not the top`);
      this.chain.pop();
      this.accepted.delete(hash);
      this.removedBlocks += 1;
    }
    for (const { hash, selectedParentHash, acceptedTransactionIds = [] } of added) {
      if (this.chain.at(-1) !== selectedParentHash)
        this.faults.push(`${hash} is added above another block than its selected parent`);
      this.chain.push(hash);
      this.accepted.set(hash, acceptedTransactionIds);
    }
  }

  #onAddress(change: Schema<'AddressChange'>): void {
    const { address, transactionId, status, balanceChange, acceptingBlockHash, balance } = change;
    const name = `${address} ${transactionId}`;
    if (status === 'accepted') {
      if (this.#applied.has(name)) this.faults.push(`${name} is accepted twice`);
      this.#applied.set(name, acceptingBlockHash);
      this.#add(address, BigInt(balanceChange));
    } else if (status === 'reverted') {
      if (this.#applied.has(name) && this.#applied.get(name) !== acceptingBlockHash)
        this.faults.push(`${name} is reverted with another block`);
      this.#applied.delete(name);
      this.#add(address, -BigInt(balanceChange));
    } else {
      this.confirmed.add(name);
      return;
    }
    if (balance === null) this.#stated.delete(address);
    else this.#stated.set(address, balance);
  }

  readonly #stated = new Map<string, string>();

  /** The balance of each address whose latest message stated one. */
  get stated(): ReadonlyMap<string, string> {
    return this.#stated;
  }

  #add(address: string, change: bigint): void {
    this.balances.set(address, (this.balances.get(address) ?? 0n) + change);
  }
}
