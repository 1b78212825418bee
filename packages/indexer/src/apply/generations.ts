/**
 * Generations: the partitions of what grows with the chain. A batch that begins at the first chain
 * block of a generation, or above it, takes its keys. Partitions are made before they are needed.
 */
import type { ClientBase } from 'pg';
import type { Checkpoint } from '../prepare/batch.ts';

/** As in the migration. */
export const DEFAULT_LENGTH = 100_000_000n;
const KEYS = 2 ** 36;

export const firstKeyOf = (generation: number): number => generation * KEYS;

interface Generation {
  generation: number;
  /** chain_blocks.index. */
  firstIndex: number;
  endIndex: number;
}

export class Generations {
  readonly #client: ClientBase;
  /** Returns the number of chain blocks of the next generation. */
  readonly #nextLength: () => Promise<bigint>;
  /** In order; never empty. */
  readonly #all: Generation[];

  /** @param client must not be in a transaction whenever a method is called */
  static async load(
    client: ClientBase,
    nextLength: () => Promise<bigint> = () => Promise.resolve(DEFAULT_LENGTH),
  ): Promise<Generations> {
    const { rows } = await client.query<Generation>(
      `select generation, first_index::float8 as "firstIndex", end_index::float8 as "endIndex"
        from generations order by generation`,
    );
    return new Generations(client, nextLength, rows);
  }

  private constructor(client: ClientBase, nextLength: () => Promise<bigint>, all: Generation[]) {
    if (all.length === 0) throw new Error('this database has no partitions');
    this.#client = client;
    this.#nextLength = nextLength;
    this.#all = all;
  }

  /** Makes generations until the last one has this chain block. */
  async makeFor(chainIndex: number): Promise<void> {
    for (let last = this.#last; last.endIndex <= chainIndex; last = this.#last) {
      const firstIndex = last.endIndex;
      const endIndex = firstIndex + Number(await this.#nextLength());
      const generation = last.generation + 1;
      await this.#client.query('select make_generation($1, $2, $3)', [generation, firstIndex, endIndex]);
      this.#all.push({ generation, firstIndex, endIndex });
    }
  }

  /** Makes the next generation when a tenth of the last one is left. */
  async makeAhead(chainIndex: number): Promise<void> {
    const { firstIndex, endIndex } = this.#last;
    await this.makeFor(chainIndex + Math.ceil((endIndex - firstIndex) / 10));
  }

  /** Returns the checkpoint with the first keys of the generation if a new one begins after it. */
  begin(checkpoint: Checkpoint): Checkpoint | undefined {
    const { nextBlockId, nextTransactionId } = checkpoint;
    const begun = this.#all.findLast(({ firstIndex }) => firstIndex <= checkpoint.chainIndex + 1);
    const key = firstKeyOf(begun?.generation ?? 0);
    if (nextBlockId >= key && nextTransactionId >= key) return undefined;
    return {
      ...checkpoint,
      nextBlockId: Math.max(key, nextBlockId),
      nextTransactionId: Math.max(key, nextTransactionId),
    };
  }

  /**
   * Ends the last generation earlier if it is more than twice as long as the next one would be:
   * after `RETENTION` was set or shortened. Reads all its chain blocks and locks them, so it must
   * run before the chain is followed.
   */
  async shorten(chainIndex: number): Promise<void> {
    const last = this.#last;
    const length = Number(await this.#nextLength());
    const end = Math.max(last.firstIndex + length, chainIndex + 1 + Math.ceil(length / 10));
    if (last.endIndex - last.firstIndex <= 2 * length || end >= last.endIndex) return;
    await this.#client.query('select end_generation($1, $2)', [last.generation, end]);
    last.endIndex = end;
  }

  get #last(): Generation {
    return this.#all.at(-1) as Generation;
  }
}
