/**
 * Follows covenant events as their owner would: keeps those that the chain accepts, from nothing
 * but the messages of a stream or of a webhook.
 */
import type { Schema, StreamEvent } from './client.ts';

type CovenantChange = Schema<'CovenantChange'>;

export class CovenantFollower {
  /**
   * The events that the chain accepts since the stream began, in the order of acceptance, each as
   * `described`.
   */
  readonly accepted = new Map<string, string>();
  readonly confirmed = new Map<string, string>();
  readonly faults: string[] = [];
  reverted = 0;
  readonly #confirmations: number | undefined;
  readonly #removed = new Set<string>();

  /** @param confirmations that the subscription asks for */
  constructor(confirmations?: number) {
    this.#confirmations = confirmations;
  }

  apply({ events }: { events: readonly StreamEvent[] }): void {
    let rank = 0;
    for (const { event, data } of events) {
      const status = 'status' in data ? data.status : 'of the chain';
      const rankNow = ['reverted', 'accepted', 'confirmed', 'of the chain'].indexOf(status);
      if (rankNow < rank) this.faults.push(`${event} comes after what follows it in a step`);
      rank = rankNow;
      if (event === 'chain') this.#onChain(data);
      else if (event === 'covenant' && data.acceptingBlockHash !== null) this.#onEvent(data);
    }
    for (const [name, event] of this.accepted) {
      if (this.#removed.has(blockOf(event))) this.faults.push(`${name} is not reverted with its block`);
    }
  }

  #onChain({ removed, added }: Schema<'ChainChange'>): void {
    for (const hash of removed) this.#removed.add(hash);
    for (const { hash } of added) this.#removed.delete(hash);
  }

  #onEvent(event: CovenantChange): void {
    const name = `${event.covenantId} ${event.transactionId}`;
    const described = describe(event);
    if (event.status === 'accepted') {
      if (this.accepted.has(name)) this.faults.push(`${name} is accepted twice`);
      this.accepted.set(name, described);
    } else if (event.status === 'reverted') {
      this.reverted += 1;
      const before = this.accepted.get(name);
      // Events that were accepted before the stream began are not known here.
      if (before !== undefined && before !== described) this.faults.push(`${before} is reverted as ${described}`);
      this.accepted.delete(name);
    } else {
      const before = this.accepted.get(name);
      if (before !== undefined && before !== described) this.faults.push(`${before} is confirmed as ${described}`);
      if (event.confirmations < (this.#confirmations ?? Number.POSITIVE_INFINITY)) {
        this.faults.push(`${name} is confirmed after ${event.confirmations}`);
      }
      this.confirmed.set(name, described);
    }
  }
}

type Described = Pick<CovenantChange, 'covenantId' | 'transactionId' | 'template' | 'acceptingBlockHash'> & {
  kind: string;
};

/** Texts are compared, and so every field is. */
export const describe = ({ covenantId, transactionId, kind, template, acceptingBlockHash }: Described): string =>
  [acceptingBlockHash, covenantId, transactionId, kind, template].join(' ');

const blockOf = (described: string): string => described.slice(0, 64);
