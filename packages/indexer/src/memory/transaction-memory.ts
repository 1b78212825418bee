/**
 * The hashes of first variants and the outputs of the latest transactions. Keys are dense and grow,
 * so the oldest chunks are evicted.
 */

/** Few, so that a chunk of transactions with thousands of outputs each stays small, too. */
const CHUNK_TRANSACTIONS = 2_048;
/** Bounds transactions with few or no outputs, which take memory all the same. */
const TRANSACTIONS_PER_OUTPUT = 3 / 4;
const HASH_BYTES = 32;

interface Chunk {
  hashes: Uint8Array;
  /** The position of each transaction's first output, and at last the number of outputs. */
  firstOutput: Uint32Array;
  amounts: BigInt64Array;
  scripts: Float64Array;
  transactions: number;
  outputs: number;
}

export class TransactionMemory {
  forgot = false;
  readonly #maxOutputs: number;
  /** Key of the first transaction in #chunks[0]. */
  #base: number;
  #chunks: Chunk[] = [];
  #outputs = 0;

  /**
   * @param nextKey key of the first transaction that will be added; each later one is one higher
   */
  constructor(nextKey: number, maxOutputs: number) {
    this.#base = nextKey;
    this.#maxOutputs = maxOutputs;
  }

  has(key: number): boolean {
    return this.#find(key) !== undefined;
  }

  findHash(key: number): Uint8Array | undefined {
    const chunk = this.#find(key);
    if (chunk === undefined) return undefined;
    const at = ((key - this.#base) % CHUNK_TRANSACTIONS) * HASH_BYTES;
    return chunk.hashes.subarray(at, at + HASH_BYTES);
  }

  findOutput(key: number, index: number): { amount: bigint; script: number } | undefined {
    const chunk = this.#find(key);
    if (chunk === undefined) return undefined;
    const position = (key - this.#base) % CHUNK_TRANSACTIONS;
    const at = (chunk.firstOutput[position] as number) + index;
    if (at >= (chunk.firstOutput[position + 1] as number)) return undefined;
    return { amount: chunk.amounts[at] as bigint, script: chunk.scripts[at] as number };
  }

  add(hash: Uint8Array): void {
    let chunk = this.#chunks.at(-1);
    if (chunk === undefined || chunk.transactions === CHUNK_TRANSACTIONS) {
      chunk = newChunk();
      this.#chunks.push(chunk);
    }
    chunk.hashes.set(hash, chunk.transactions * HASH_BYTES);
    chunk.transactions += 1;
    chunk.firstOutput[chunk.transactions] = chunk.outputs;
  }

  addOutput(amount: bigint, script: number): void {
    const chunk = this.#chunks.at(-1) as Chunk;
    if (chunk.outputs === chunk.amounts.length) growOutputs(chunk);
    chunk.amounts[chunk.outputs] = amount;
    chunk.scripts[chunk.outputs] = script;
    chunk.outputs += 1;
    chunk.firstOutput[chunk.transactions] = chunk.outputs;
    this.#outputs += 1;
  }

  evict(keepFrom: number): void {
    const maxTransactions = this.#maxOutputs * TRANSACTIONS_PER_OUTPUT;
    const isFull = (): boolean =>
      this.#outputs > this.#maxOutputs || this.#chunks.length * CHUNK_TRANSACTIONS > maxTransactions;
    while (isFull() && this.#base + CHUNK_TRANSACTIONS <= keepFrom) {
      const oldest = this.#chunks.shift() as Chunk;
      this.#outputs -= oldest.outputs;
      this.#base += CHUNK_TRANSACTIONS;
      this.forgot = true;
    }
  }

  #find(key: number): Chunk | undefined {
    const position = key - this.#base;
    const chunk = this.#chunks[Math.floor(position / CHUNK_TRANSACTIONS)];
    return chunk !== undefined && position % CHUNK_TRANSACTIONS < chunk.transactions ? chunk : undefined;
  }
}

function newChunk(): Chunk {
  return {
    hashes: new Uint8Array(CHUNK_TRANSACTIONS * HASH_BYTES),
    firstOutput: new Uint32Array(CHUNK_TRANSACTIONS + 1),
    amounts: new BigInt64Array(CHUNK_TRANSACTIONS * 2),
    scripts: new Float64Array(CHUNK_TRANSACTIONS * 2),
    transactions: 0,
    outputs: 0,
  };
}

function growOutputs(chunk: Chunk): void {
  const amounts = new BigInt64Array(chunk.amounts.length * 2);
  amounts.set(chunk.amounts);
  chunk.amounts = amounts;
  const scripts = new Float64Array(chunk.scripts.length * 2);
  scripts.set(chunk.scripts);
  chunk.scripts = scripts;
}
