/**
 * What the indexer remembers of the transactions it wrote last, by key: the hash of body 0 and the outputs. Keys are dense
 * and grow, so this is a row of chunks, of which the oldest can be forgotten. Only facts that never
 * change are kept (an id commits to its outputs), so a reorg leaves this memory right.
 */
const CHUNK_TRANSACTIONS = 16_384;
const HASH_BYTES = 32;

interface Chunk {
  hashes: Uint8Array;
  /** Where a transaction's outputs begin, and the end of the last one's. */
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

  /** @param nextKey key of the first transaction that will be added; each later one is one higher */
  constructor(nextKey: number, maxOutputs: number) {
    this.#base = nextKey;
    this.#maxOutputs = maxOutputs;
  }

  has(key: number): boolean {
    return this.#find(key) !== undefined;
  }

  /** Hash of body 0, or undefined when it is not remembered. */
  findHash(key: number): Uint8Array | undefined {
    const chunk = this.#find(key);
    if (chunk === undefined) return undefined;
    const at = ((key - this.#base) % CHUNK_TRANSACTIONS) * HASH_BYTES;
    return chunk.hashes.subarray(at, at + HASH_BYTES);
  }

  /** The UTXO, or undefined when the transaction is not remembered or has no such output. */
  findOutput(key: number, index: number): { amount: bigint; script: number } | undefined {
    const chunk = this.#find(key);
    if (chunk === undefined) return undefined;
    const place = (key - this.#base) % CHUNK_TRANSACTIONS;
    const at = (chunk.firstOutput[place] as number) + index;
    if (at >= (chunk.firstOutput[place + 1] as number)) return undefined;
    return { amount: chunk.amounts[at] as bigint, script: chunk.scripts[at] as number };
  }

  /** Adds the transaction of the next key; its outputs follow by addOutput. */
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

  /** Adds an output to the transaction that was added last. */
  addOutput(amount: bigint, script: number): void {
    const chunk = this.#chunks.at(-1) as Chunk;
    if (chunk.outputs === chunk.amounts.length) growOutputs(chunk);
    chunk.amounts[chunk.outputs] = amount;
    chunk.scripts[chunk.outputs] = script;
    chunk.outputs += 1;
    chunk.firstOutput[chunk.transactions] = chunk.outputs;
    this.#outputs += 1;
  }

  /** Forgets the oldest transactions if there are too many; those from key `keepFrom` on stay in any case. */
  evict(keepFrom: number): void {
    while (this.#outputs > this.#maxOutputs && this.#base + CHUNK_TRANSACTIONS <= keepFrom) {
      const oldest = this.#chunks.shift() as Chunk;
      this.#outputs -= oldest.outputs;
      this.#base += CHUNK_TRANSACTIONS;
      this.forgot = true;
    }
  }

  #find(key: number): Chunk | undefined {
    const place = key - this.#base;
    const chunk = this.#chunks[Math.floor(place / CHUNK_TRANSACTIONS)];
    return chunk !== undefined && place % CHUNK_TRANSACTIONS < chunk.transactions ? chunk : undefined;
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
