/**
 * Requests which variant was accepted if a mergeset carries several. A non-standard script in a later chain block makes the request fail until
 * that block can be left out. No batch waits long for a slow node: `accepted_body` is null until a later batch knows the variant.
 */
import { type Hash, toHex } from '@kasgres/kaspa';
import { sleep } from '@kasgres/runtime';
import type { ClientBase } from 'pg';

/** An accepted transaction that the mergeset carries in several variants. Hashes and ids are hex. */
export interface AmbiguousVariant {
  transaction: number;
  transactionId: string;
  chainBlock: string;
  chainBlockBlueScore: bigint;
  parent: string;
  /** The variant in each merged block that carries the transaction. */
  variants: ReadonlyMap<string, number>;
}

/** Requests the merged block of each accepted transaction of a chain block; undefined if the node cannot tell. */
export type FindSources = (
  chainBlock: Pick<AmbiguousVariant, 'chainBlock' | 'chainBlockBlueScore' | 'parent'>,
) => Promise<ReadonlyMap<string, string> | undefined>;

/** After this many failures the script is in the chain block itself, and the node can never tell. */
const MAX_ATTEMPTS = 10;
/** The first retries follow each chain block, so that a script in the block on top is left out; later ones back off. */
const QUICK_ATTEMPTS = 3;
/** The time that a batch waits; responses take a few milliseconds each. */
const MAX_WAIT_MS = 5_000;
/** Bound on the blocks that carry open variants (about 200 bytes each), beyond which the oldest stay unresolved until the indexer restarts. */
const MAX_CARRIERS = 200_000;

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
  readonly #maxWaitMs: number;
  readonly #maxCarriers: number;
  readonly #open = new Map<string, OpenChainBlock>();
  #carriers = 0;
  /** A request that an earlier batch did not wait for. */
  #inFlight: Request | undefined;
  #isSlow = false;
  #chainMoves = 0;

  constructor(findSources: FindSources, { maxWaitMs = MAX_WAIT_MS, maxCarriers = MAX_CARRIERS } = {}) {
    this.#findSources = findSources;
    this.#maxWaitMs = maxWaitMs;
    this.#maxCarriers = maxCarriers;
  }

  /** Loads the unresolved transactions of earlier runs, from the latest chain blocks within the bound. */
  async load(client: ClientBase): Promise<void> {
    const { rows } = await client.query<
      Omit<AmbiguousVariant, 'transaction' | 'variants'> & { transaction: bigint; variants: Record<string, number> }
    >(
      `with open as (
         select id, transaction_id, accepting_index from transactions
          where accepted_body is null and accepting_index is not null and id in (select transaction_id from transaction_bodies)
       ), carriers as (
         select t.id, t.transaction_id, c.block_id as chain_block_id, c.blue_score, b.hash, bt.body
           from open t
           join chain_blocks c on c.index = t.accepting_index
           join block_transactions bt on bt.transaction_id = t.id
           join blocks b on b.id = bt.block_id and b.merging_block_id = c.block_id
       ), latest as (
         select chain_block_id, sum(count(*)) over (order by blue_score desc) as total
           from carriers group by chain_block_id, blue_score
       )
       select t.id as transaction, encode(t.transaction_id, 'hex') as "transactionId", encode(c.hash, 'hex') as "chainBlock",
              c.blue_score as "chainBlockBlueScore", encode(p.hash, 'hex') as parent, json_object_agg(encode(t.hash, 'hex'), t.body) as variants
         from carriers t
         join latest on latest.chain_block_id = t.chain_block_id and total <= $1
         join blocks c on c.id = t.chain_block_id
         join blocks p on p.id = c.selected_parent_id
        group by t.id, t.transaction_id, c.hash, c.blue_score, p.hash
        order by c.blue_score`,
      [this.#maxCarriers],
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
      if (this.#carriers <= this.#maxCarriers) return;
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

  /** Returns the accepted variant by transaction key, as far as the node could tell. @param chainMoved whether the batch adds chain blocks */
  async settle(chainMoved: boolean): Promise<Map<number, number>> {
    const settled = new Map<number, number>();
    if (chainMoved) this.#chainMoves += 1;
    if (this.#open.size === 0) return settled;
    const waitsUntil = performance.now() + this.#maxWaitMs;
    while ((this.#inFlight ??= this.#requestNext()) !== undefined) {
      const { startedAt, response } = this.#inFlight;
      const finished = await within(response, this.#isSlow ? 0 : waitsUntil - performance.now());
      if (finished === undefined) {
        this.#isSlow ||= performance.now() - startedAt >= this.#maxWaitMs;
        break;
      }
      this.#isSlow = finished.tookMs >= this.#maxWaitMs;
      this.#inFlight = undefined;
      this.#take(finished, settled);
    }
    return settled;
  }

  #requestNext(): Request | undefined {
    for (const [chainBlock, { variants, dueAt }] of this.#open) {
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

  /** Ignores the response for a chain block that was removed meanwhile; one that was added again has the same sources. */
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
