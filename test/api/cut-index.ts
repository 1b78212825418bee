/**
 * An index at rest with the real API, from which a test cuts stretches of the chain. The chain is
 * recorded while it is whole. Every response is checked against openapi.json.
 */
import { inTransaction } from '@kasgres/database';
import { expect } from 'vitest';
import { startAfterGap, startAt } from '../simulation/start-at.ts';
import type { ApiResponse } from '../support/openapi.ts';
import { findBusiestOwner, type Owner } from './listings.ts';
import { openHarness, type Harness } from './harness.ts';

/**
 * chain_blocks.index in the whole index: the first block of the cut index, and the ends of the gap.
 */
export const START = 60;
export const AFTER = 120;
export const BEFORE = 150;
/** A position at which nothing is cut. */
export const LATER = 600;
/** Enough rounds for the default hash rate window of 1,000 blocks to end above the gap. */
const ROUNDS = 1250;

export const UNKNOWN = 'ab'.repeat(32);
export const VIRTUAL_CHAIN = '/v1/rpc/getVirtualChainFromBlock';
export const BLOCKS = '/v1/rpc/getBlocks';

export interface BalanceHistory {
  history: { timestamp: number; balance: string }[];
  gaps?: { from: number; to: number }[];
}

/** By position in the whole index: a chain block, its mergeset, and its accepted transactions. */
interface ChainBlock {
  hash: string;
  merged: string[];
  accepted: string[];
}

export class CutIndex {
  readonly harness: Harness;
  readonly owner: Owner;
  readonly #chain: readonly ChainBlock[];
  /** The sink, and the blocks beside it that are not merged yet. */
  readonly tail: readonly string[];

  static async open(): Promise<CutIndex> {
    const harness = await openHarness({ rounds: ROUNDS });
    await harness.indexer.stop();
    const { pool } = harness.database;
    const { rows: chain } = await pool.query<ChainBlock>(
      `select encode(b.hash, 'hex') as hash,
         array(select encode(m.hash, 'hex') from blocks m
           where m.merging_block_id = b.id) as merged,
         array(select encode(t.transaction_id, 'hex') from transactions t
           where t.accepting_index = c.index) as accepted
       from chain_blocks c join blocks b on b.id = c.block_id order by c.index`,
    );
    const { rows: unmerged } = await pool.query<{ hash: string }>(
      `select encode(b.hash, 'hex') as hash from checkpoint join blocks b on b.id = any(virtual_merge_set)`,
    );
    const tail = [chain.at(-1)?.hash ?? '', ...unmerged.map(({ hash }) => hash)];
    return new CutIndex(harness, await findBusiestOwner(pool), chain, tail);
  }

  private constructor(harness: Harness, owner: Owner, chain: readonly ChainBlock[], tail: readonly string[]) {
    this.harness = harness;
    this.owner = owner;
    this.#chain = chain;
    this.tail = tail;
  }

  get pool() {
    return this.harness.database.pool;
  }

  /**
   * Removes the chain between two blocks, or below one, as if the indexer had bootstrapped at
   * `before`. The positions are those of the index at that time.
   */
  async cut({ after, before }: { after?: number; before: number }): Promise<void> {
    const client = await this.pool.connect();
    const move = (): Promise<void> =>
      after === undefined ? startAt(client, before) : startAfterGap(client, after, before);
    await inTransaction(client, move).finally(() => client.release(true));
  }

  hashAt(place: number): string {
    return this.#chain[place]?.hash as string;
  }

  /** Hashes of the chain. */
  chain(from: number, to?: number): string[] {
    return this.#chain.slice(from, to).map(({ hash }) => hash);
  }

  mergedBy(from: number, to?: number): string[] {
    return this.#chain.slice(from, to).flatMap(({ merged }) => merged);
  }

  acceptedBy(from: number, to?: number): string[] {
    return this.#chain.slice(from, to).flatMap(({ accepted }) => accepted);
  }

  get(template: string, values = {}, query = {}): Promise<ApiResponse> {
    return this.harness.api.getChecked(template, values, query);
  }

  post(path: string, body: object): Promise<ApiResponse> {
    return this.harness.api.postChecked(path, body);
  }

  getBlocksOfScores(start: bigint, end: bigint): Promise<ApiResponse> {
    return this.get('/v1/blocks/daa-score/{start}/{end}', { start: String(start), end: String(end) });
  }

  async getBalanceHistory(): Promise<BalanceHistory> {
    const template = '/v1/addresses/{address}/balance-history';
    const { json } = await this.get(template, { address: this.owner.address }, { interval: 'hour' });
    return json as unknown as BalanceHistory;
  }

  /** Pages getBlocks from a low block up to the sink or to an error. */
  async pageBlocks(lowHash: string): Promise<{ hashes: string[]; end: ApiResponse }> {
    const hashes = [lowHash];
    for (;;) {
      const end = await this.post(BLOCKS, { lowHash: hashes.at(-1) });
      if (end.status !== 200) return { hashes, end };
      const page = end.json['blockHashes'] as string[];
      expect(page[0]).toBe(hashes.at(-1));
      if (page.length === 1) return { hashes, end };
      hashes.push(...page.slice(1));
      if (page.includes(this.tail[0] as string)) return { hashes, end };
    }
  }

  close(): Promise<void> {
    return this.harness.close();
  }
}
