/**
 * Accepted transactions of which the accepting block merges several variants. Only the node knows which one it accepted, and
 * it cannot always say so at once: one non-standard script in a later chain block spoils its response, until that block can be
 * left out. One request asks for a whole chain block, and one that failed is retried when the chain has moved on.
 *
 * Indexing does not depend on these requests: a batch spends a bounded time on them, and a request that takes longer is
 * finished in the background for a later batch. While the node is that slow, batches do not wait at all. Until a response comes,
 * and if the node never tells, `accepted_body` stays null.
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

/** A request that failed so often concerns a script in the chain block itself: the node cannot answer it. */
const MAX_ATTEMPTS = 10;
/** These retries come with the next chain block each, since a script in the block on top is out of the way then; later ones back off. */
const QUICK_ATTEMPTS = 3;
/** What a batch waits for responses, in milliseconds. One takes a few. */
const MAX_WAIT_MS = 5_000;
/**
 * Bounds the memory, in merged blocks that carry a variant, summed over the variants (about 200 bytes each). Beyond it the
 * oldest chain blocks stay unresolved until the indexer restarts. One chain block has at most some 75,000.
 */
const MAX_CARRIERS = 200_000;

interface OpenChainBlock {
  variants: AmbiguousBody[];
  attempts: number;
  /** The count of `#chainMoves` from which on it may be asked for again. */
  dueAt: number;
}

interface Request {
  chainBlock: string;
  startedAt: number;
  sources: Promise<ReadonlyMap<string, string> | undefined>;
  endedAt: Promise<number>;
}

export class AmbiguousBodies {
  readonly #findSources: FindSources;
  readonly #maxWaitMs: number;
  readonly #maxCarriers: number;
  /** By the hash of the chain block, the oldest first. */
  readonly #open = new Map<string, OpenChainBlock>();
  /** Merged blocks that carry an open variant, summed over the variants. */
  #carriers = 0;
  /** The request that an earlier batch did not wait for. */
  #underWay: Request | undefined;
  /** The latest request took, or has taken so far, longer than a batch waits. */
  #isSlow = false;
  /** Batches that moved the chain. Only they can change what the node is able to tell. */
  #chainMoves = 0;

  constructor(findSources: FindSources, { maxWaitMs = MAX_WAIT_MS, maxCarriers = MAX_CARRIERS } = {}) {
    this.#findSources = findSources;
    this.#maxWaitMs = maxWaitMs;
    this.#maxCarriers = maxCarriers;
  }

  /** Resumes what an earlier run left open, the latest chain blocks if there are too many. */
  async load(client: ClientBase): Promise<void> {
    const { rows } = await client.query<{
      transaction: bigint;
      transaction_id: string;
      chain_block: string;
      blue_score: bigint;
      parent: string;
      bodies: Record<string, number>;
    }>(
      `with open as (
         select id, transaction_id, accepting_block_id from transactions
          where accepted_body is null and accepting_block_id is not null and id in (select transaction_id from transaction_bodies)
       ), carriers as (
         select t.id, t.transaction_id, c.id as chain_block_id, c.blue_score, b.hash, bt.body
           from open t
           join blocks c on c.id = t.accepting_block_id
           join block_transactions bt on bt.transaction_id = t.id
           join blocks b on b.id = bt.block_id and b.merging_block_id = c.id
       ), latest as (
         select chain_block_id, sum(count(*)) over (order by blue_score desc) as total
           from carriers group by chain_block_id, blue_score
       )
       select t.id as transaction, encode(t.transaction_id, 'hex') as transaction_id, encode(c.hash, 'hex') as chain_block,
              c.blue_score, encode(p.hash, 'hex') as parent, json_object_agg(encode(t.hash, 'hex'), t.body) as bodies
         from carriers t
         join latest on latest.chain_block_id = t.chain_block_id and total <= $1
         join blocks c on c.id = t.chain_block_id
         join blocks p on p.id = c.selected_parent_id
        group by t.id, t.transaction_id, c.hash, c.blue_score, p.hash
        order by c.blue_score`,
      [this.#maxCarriers],
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
    const open = this.#open.get(ambiguous.chainBlock);
    if (open === undefined) this.#open.set(ambiguous.chainBlock, { variants: [ambiguous], attempts: 0, dueAt: 0 });
    else open.variants.push(ambiguous);
    this.#carriers += ambiguous.bodies.size;
    for (const oldest of this.#open.keys()) {
      if (this.#carriers <= this.#maxCarriers) return;
      this.#forget(oldest);
    }
  }

  #forget(chainBlock: string): void {
    this.#carriers -= countCarriers(this.#open.get(chainBlock)?.variants ?? []);
    this.#open.delete(chainBlock);
  }

  /** What these chain blocks accepted is accepted no more. */
  drop(removed: readonly Hash[]): void {
    for (const hash of removed) this.#forget(toHex(hash));
  }

  /**
   * Asks the node for what is due, one chain block after the other, for a bounded time.
   * @param chainMoved whether the batch adds chain blocks
   * @returns the number of the accepted body, by transaction key, where the node could tell now
   */
  async settle(chainMoved: boolean): Promise<Map<number, number>> {
    const settled = new Map<number, number>();
    if (chainMoved) this.#chainMoves += 1;
    if (this.#open.size === 0) return settled;
    const endsAt = performance.now() + this.#maxWaitMs;
    for (;;) {
      this.#underWay ??= this.#askNext();
      if (this.#underWay === undefined) return settled;
      const { chainBlock, sources, startedAt } = this.#underWay;
      const response = await within(sources, this.#isSlow ? 0 : endsAt - performance.now());
      if (response === PENDING) {
        this.#isSlow ||= performance.now() - startedAt >= this.#maxWaitMs;
        return settled;
      }
      this.#isSlow = (await this.#underWay.endedAt) - startedAt >= this.#maxWaitMs;
      this.#underWay = undefined;
      this.#take(chainBlock, response, settled);
    }
  }

  #askNext(): Request | undefined {
    for (const [chainBlock, { variants, dueAt }] of this.#open) {
      const [first] = variants;
      if (first === undefined || dueAt > this.#chainMoves) continue;
      const startedAt = performance.now();
      const sources = this.#findSources(first);
      // A rejection is handled where `settle` awaits the sources, which may be a batch later.
      const endedAt = sources.then(
        () => performance.now(),
        () => performance.now(),
      );
      return { chainBlock, startedAt, sources, endedAt };
    }
    return undefined;
  }

  /** A chain block that was undone meanwhile is not open; one that came back has the same sources. */
  #take(chainBlock: string, sources: ReadonlyMap<string, string> | undefined, settled: Map<number, number>): void {
    const open = this.#open.get(chainBlock);
    if (open === undefined) return;
    const before = countCarriers(open.variants);
    open.variants = open.variants.filter(({ transaction, transactionId, bodies }) => {
      const source = sources?.get(transactionId);
      const body = source === undefined ? undefined : bodies.get(source);
      if (body !== undefined) settled.set(transaction, body);
      return body === undefined;
    });
    this.#carriers -= before - countCarriers(open.variants);
    open.attempts += 1;
    open.dueAt = this.#chainMoves + 2 ** Math.max(0, open.attempts - QUICK_ATTEMPTS);
    if (open.variants.length === 0 || open.attempts === MAX_ATTEMPTS) this.#forget(chainBlock);
  }
}

function countCarriers(variants: readonly AmbiguousBody[]): number {
  return variants.reduce((sum, { bodies }) => sum + bodies.size, 0);
}

const PENDING = Symbol('pending');

/** @returns `PENDING` if the promise takes longer */
async function within<T>(promise: Promise<T>, ms: number): Promise<T | typeof PENDING> {
  const { promise: elapsed, resolve } = Promise.withResolvers<typeof PENDING>();
  const timer = setTimeout(() => resolve(PENDING), Math.max(0, ms));
  try {
    return await Promise.race([promise, elapsed]);
  } finally {
    clearTimeout(timer);
  }
}
