/**
 * Accepted transactions of which the accepting block merges several bodies. Only the node knows which one it accepted, and
 * it cannot always say so at once: one non-standard script in a later chain block spoils its answer, until that block can be
 * left out. So a question that failed is asked again with the batches that follow.
 */
import { type Hash, toHex } from '@kasgres/kaspa';
import type { ClientBase } from 'pg';

/** Where an accepted id came with several bodies. Hashes and ids are hex. */
export interface AmbiguousBody {
  transaction: number;
  transactionId: string;
  chainBlock: string;
  chainBlockBlueScore: bigint;
  /** Selected parent of the chain block. */
  parent: string;
  /** Number of the body in each merged block that carries the transaction. */
  bodies: ReadonlyMap<string, number>;
}

/** Asks the node which merged block each accepted transaction of a chain block came from; undefined when it cannot tell. */
export type FindSources = (
  chainBlock: Pick<AmbiguousBody, 'chainBlock' | 'chainBlockBlueScore' | 'parent'>,
) => Promise<ReadonlyMap<string, string> | undefined>;

/** A question that failed so often concerns a script in the chain block itself: it has no answer. */
const MAX_QUESTIONS = 10;

export class AmbiguousBodies {
  readonly #findSources: FindSources;
  #open: { ambiguous: AmbiguousBody; questionsLeft: number }[] = [];

  constructor(findSources: FindSources) {
    this.#findSources = findSources;
  }

  /** Takes up what an earlier run left open. */
  async load(client: ClientBase): Promise<void> {
    const { rows } = await client.query<{
      transaction: bigint;
      transaction_id: string;
      chain_block: string;
      blue_score: bigint;
      parent: string;
      bodies: Record<string, number>;
    }>(
      `select t.id as transaction, encode(t.transaction_id, 'hex') as transaction_id, encode(c.hash, 'hex') as chain_block,
              c.blue_score, encode(p.hash, 'hex') as parent, json_object_agg(encode(b.hash, 'hex'), bt.body) as bodies
         from transactions t
         join blocks c on c.id = t.accepting_block_id
         join blocks p on p.id = c.selected_parent_id
         join block_transactions bt on bt.transaction_id = t.id
         join blocks b on b.id = bt.block_id and b.merging_block_id = c.id
        where t.accepted_body is null and t.id in (select transaction_id from transaction_bodies)
        group by t.id, c.id, p.id`,
    );
    for (const row of rows) {
      this.add({
        transaction: Number(row.transaction),
        transactionId: row.transaction_id,
        chainBlock: row.chain_block,
        chainBlockBlueScore: row.blue_score,
        parent: row.parent,
        bodies: new Map(Object.entries(row.bodies)),
      });
    }
  }

  add(ambiguous: AmbiguousBody): void {
    this.#open.push({ ambiguous, questionsLeft: MAX_QUESTIONS });
  }

  /** What these chain blocks accepted is accepted no more. */
  drop(removed: readonly Hash[]): void {
    const names = new Set(removed.map(toHex));
    this.#open = this.#open.filter(({ ambiguous }) => !names.has(ambiguous.chainBlock));
  }

  /** @returns the number of the accepted body, by transaction key, where the node could tell now */
  async settle(): Promise<Map<number, number>> {
    const settled = new Map<number, number>();
    for (const open of this.#open) {
      const { ambiguous } = open;
      const source = (await this.#findSources(ambiguous))?.get(ambiguous.transactionId);
      const body = source === undefined ? undefined : ambiguous.bodies.get(source);
      open.questionsLeft = body === undefined ? open.questionsLeft - 1 : 0;
      if (body !== undefined) settled.set(ambiguous.transaction, body);
    }
    this.#open = this.#open.filter(({ questionsLeft }) => questionsLeft > 0);
    return settled;
  }
}
