/**
 * Requests which variant was accepted if a mergeset carries several. A non-standard script in a
 * later chain block makes the request fail until that block can be left out. No batch waits long
 * for a slow node: `accepted_variant` is null until a later batch knows the variant.
 */
import { type Hash, toHex } from '@kasgres/kaspa';
import { sleep } from '@kasgres/runtime';
import type { ClientBase } from 'pg';

/**
 * An accepted transaction that the mergeset carries in several variants. Hashes and ids are hex.
 */
export interface AmbiguousVariant {
  transaction: number;
  transactionId: string;
  chainBlock: string;
  chainBlockBlueScore: bigint;
  parent: string;
  /** The variant in each merged block that carries the transaction. */
  variants: ReadonlyMap<string, number>;
}

/**
 * Requests the merged block of each accepted transaction of a chain block; undefined if the node
 * cannot tell.
 */
export type FindSources = (
  chainBlock: Pick<AmbiguousVariant, 'chainBlock' | 'chainBlockBlueScore' | 'parent'>,
) => Promise<ReadonlyMap<string, string> | undefined>;

/**
 * After this many failures the script is in the chain block itself, and the node can never tell.
 */
const MAX_ATTEMPTS = 10;
/**
 * The first retries follow each chain block, so that a script in the block on top is left out;
 * later ones back off.
 */
const QUICK_ATTEMPTS = 3;
/**
 * The time that a batch waits; responses take a few milliseconds each. At the tip, everything waits
 * for the batch.
 */
const MAX_WAIT_MS = { catchUp: 5_000, tip: 1_000 };
/**
 * Requests begin in this first part of the wait, so that many quick responses do not use up all of
 * it.
 */
const REQUESTING_SHARE = 1 / 2;
/**
 * Bounds on the blocks that carry open variants (about 200 bytes each) and their chain blocks,
 * beyond which the oldest stay unresolved.
 */
const MAX_CARRIERS = 200_000;
const MAX_CHAIN_BLOCKS = 2_000;
/**
 * A restart looks for unresolved transactions in this many chain blocks, more than pass while one
 * is retried at the tip.
 */
const RELOADED_CHAIN_BLOCKS = 250;

interface OpenChainBlock {
  variants: AmbiguousVariant[];
  attempts: number;
  /** The value of `#chainMoves` at which it may be requested again. */
  dueAt: number;
}

interface FinishedRequest {
  chainBlock: string;
  sources: ReadonlyMap<string, string> | undefined;
  tookMs: number;
}

interface Request {
  startedAt: number;
  response: Promise<FinishedRequest>;
}

export class AmbiguousVariants {
  readonly #findSources: FindSources;
  readonly #maxWaitMs: { catchUp: number; tip: number };
  readonly #maxCarriers: number;
  readonly #maxChainBlocks: number;
  readonly #open = new Map<string, OpenChainBlock>();
  #carriers = 0;
  /** A request that an earlier batch did not wait for. */
  #inFlight: Request | undefined;
  #isSlow = false;
  #chainMoves = 0;

  constructor(
    findSources: FindSources,
    { maxWaitMs = MAX_WAIT_MS, maxCarriers = MAX_CARRIERS, maxChainBlocks = MAX_CHAIN_BLOCKS } = {},
  ) {
    this.#findSources = findSources;
    this.#maxWaitMs = maxWaitMs;
    this.#maxCarriers = maxCarriers;
    this.#maxChainBlocks = maxChainBlocks;
  }

  /**
   * Loads the unresolved transactions of the latest chain blocks. Reads what these merge, and so
   * nothing that grows with the index.
   */
  async load(client: ClientBase): Promise<void> {
    const { rows } = await client.query<
      Omit<AmbiguousVariant, 'transaction' | 'variants'> & { transaction: bigint; variants: Record<string, number> }
    >(
      `with latest as materialized (select index, block_id, accepted_transactions from chain_blocks
        order by index desc limit $2),
       open as materialized (
         select t.id, t.transaction_id, latest.block_id as chain_block_id
           from latest
          cross join lateral unnest(latest.accepted_transactions) accepted (id)
          cross join lateral (select id, transaction_id, accepting_index, accepted_variant
            from transactions where id = accepted.id offset 0) t
          where exists (select from transaction_variants b where b.transaction_id = accepted.id)
            and t.accepting_index = latest.index and t.accepted_variant is null
       ), carriers as (
         select open.id, open.transaction_id, c.id as chain_block_id, c.blue_score,
           merged.hash, bt.variant
           from (select distinct chain_block_id from open) accepting
           join blocks c on c.id = accepting.chain_block_id
           join blocks merged on merged.id = any (c.merge_set_blues || c.merge_set_reds)
           join block_transactions bt on bt.block_id = merged.id
           join open on open.chain_block_id = c.id and open.id = bt.transaction_id
       ), bounded as (
         select chain_block_id, sum(count(*)) over (order by blue_score desc) as total
           from carriers group by chain_block_id, blue_score
       )
       select t.id as transaction, encode(t.transaction_id, 'hex') as "transactionId",
              encode(c.hash, 'hex') as "chainBlock", c.blue_score as "chainBlockBlueScore",
              encode(p.hash, 'hex') as parent,
              json_object_agg(encode(t.hash, 'hex'), t.variant) as variants
         from carriers t
         join bounded on bounded.chain_block_id = t.chain_block_id and total <= $1
         join blocks c on c.id = t.chain_block_id
         join blocks p on p.id = c.selected_parent_id
        group by t.id, t.transaction_id, c.hash, c.blue_score, p.hash
        order by c.blue_score`,
      [this.#maxCarriers, RELOADED_CHAIN_BLOCKS],
    );
    for (const row of rows) {
      this.add({ ...row, transaction: Number(row.transaction), variants: new Map(Object.entries(row.variants)) });
    }
  }

  add(ambiguous: AmbiguousVariant): void {
    const open = this.#open.get(ambiguous.chainBlock);
    if (open === undefined) this.#open.set(ambiguous.chainBlock, { variants: [ambiguous], attempts: 0, dueAt: 0 });
    else open.variants.push(ambiguous);
    this.#carriers += ambiguous.variants.size;
    for (const oldest of this.#open.keys()) {
      if (this.#carriers <= this.#maxCarriers && this.#open.size <= this.#maxChainBlocks) return;
      this.#forget(oldest);
    }
  }

  #forget(chainBlock: string): void {
    this.#carriers -= countCarriers(this.#open.get(chainBlock)?.variants ?? []);
    this.#open.delete(chainBlock);
  }

  drop(removed: readonly Hash[]): void {
    for (const hash of removed) this.#forget(toHex(hash));
  }

  /**
   * Returns the accepted variant by transaction key, as far as the node could tell.
   * @param chainMoved whether the batch adds chain blocks
   */
  async settle(chainMoved: boolean, atTip: boolean): Promise<Map<number, number>> {
    const settled = new Map<number, number>();
    if (chainMoved) this.#chainMoves += 1;
    if (this.#open.size === 0) return settled;
    const maxWaitMs = atTip ? this.#maxWaitMs.tip : this.#maxWaitMs.catchUp;
    const waitsUntil = performance.now() + maxWaitMs;
    const requestsUntil = performance.now() + maxWaitMs * REQUESTING_SHARE;
    while ((this.#inFlight ??= performance.now() < requestsUntil ? this.#requestNext() : undefined) !== undefined) {
      const { startedAt, response } = this.#inFlight;
      const finished = await within(response, this.#isSlow ? 0 : waitsUntil - performance.now());
      if (finished === undefined) {
        this.#isSlow ||= performance.now() - startedAt >= maxWaitMs;
        break;
      }
      this.#isSlow = finished.tookMs >= maxWaitMs;
      this.#inFlight = undefined;
      this.#take(finished, settled);
    }
    return settled;
  }

  /**
   * Requests the latest chain block first, since those that the node can never tell about collect
   * below.
   */
  #requestNext(): Request | undefined {
    for (const [chainBlock, { variants, dueAt }] of [...this.#open].reverse()) {
      const [first] = variants;
      if (first === undefined || dueAt > this.#chainMoves) continue;
      const startedAt = performance.now();
      const response = this.#findSources(first).then((sources) => ({
        chainBlock,
        sources,
        tookMs: performance.now() - startedAt,
      }));
      // A rejection is handled where `settle` awaits the response, which may be a batch later.
      response.catch(() => undefined);
      return { startedAt, response };
    }
    return undefined;
  }

  /**
   * Ignores the response for a chain block that was removed meanwhile; one that was added again has
   * the same sources.
   */
  #take({ chainBlock, sources }: FinishedRequest, settled: Map<number, number>): void {
    const open = this.#open.get(chainBlock);
    if (open === undefined) return;
    const before = countCarriers(open.variants);
    open.variants = open.variants.filter(({ transaction, transactionId, variants }) => {
      const source = sources?.get(transactionId);
      const variant = source === undefined ? undefined : variants.get(source);
      if (variant !== undefined) settled.set(transaction, variant);
      return variant === undefined;
    });
    this.#carriers -= before - countCarriers(open.variants);
    open.attempts += 1;
    open.dueAt = this.#chainMoves + 2 ** Math.max(0, open.attempts - QUICK_ATTEMPTS);
    if (open.variants.length === 0 || open.attempts === MAX_ATTEMPTS) this.#forget(chainBlock);
  }
}

function countCarriers(variants: readonly AmbiguousVariant[]): number {
  return variants.reduce((sum, each) => sum + each.variants.size, 0);
}

async function within<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  const late = new AbortController();
  try {
    return await Promise.race([promise, sleep(Math.max(0, ms), late.signal).then(() => undefined)]);
  } finally {
    late.abort();
  }
}
