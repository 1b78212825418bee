/**
 * Asks Postgres for what the memory does not know of an update, before rows are made of it: one query a kind, for all that
 * is missing at once. Skipped while the memory knows everything there is.
 */
import { type Hash, type ScriptPublicKey, toHex } from '@kasgres/kaspa';
import type { RpcBlock, RpcTransaction } from '@kasgres/node';
import type { ClientBase } from 'pg';
import { type Memory, scriptKey } from './memory.ts';

const HASH_BYTES = 32;

/** UTXOs and hashes of transactions that are older than the memory, for one batch. */
export class LookedUp {
  readonly #utxos = new Map<number, Map<number, { amount: bigint; script: number }>>();
  readonly #hashes = new Map<number, Uint8Array>();
  readonly #earlier = new Set<number>();

  findUtxo(key: number, index: number): { amount: bigint; script: number } | undefined {
    return this.#utxos.get(key)?.get(index);
  }

  findHash(key: number): Uint8Array | undefined {
    return this.#hashes.get(key);
  }

  /** Whether the transaction is known by UTXOs from before a start only, and has no row of its own. */
  isPreBootstrap(key: number): boolean {
    return this.#earlier.has(key);
  }

  addUtxo(key: number, index: number, utxo: { amount: bigint; script: number }): void {
    const outputs = this.#utxos.get(key) ?? new Map<number, { amount: bigint; script: number }>();
    this.#utxos.set(key, outputs.set(index, utxo));
  }

  addHash(key: number, hash: Uint8Array): void {
    this.#hashes.set(key, hash);
  }

  addPreBootstrap(key: number): void {
    this.#earlier.add(key);
  }
}

/** @param blocks every block of the update, with its transactions */
export async function lookUp(client: ClientBase, memory: Memory, blocks: Iterable<RpcBlock>): Promise<LookedUp> {
  const lookedUp = new LookedUp();
  if (memory.isComplete) return lookedUp;
  const all = [...blocks];
  await lookUpBlocks(client, memory, all);
  const transactions = all.flatMap((block) => block.transactions);
  await lookUpTransactions(client, memory, lookedUp, transactions);
  await lookUpUtxos(client, memory, lookedUp, transactions);
  await lookUpVariants(client, memory, lookedUp, transactions);
  await lookUpScripts(client, memory, transactions);
  await lookUpSubnetworks(client, memory, transactions);
  return lookedUp;
}

async function lookUpBlocks(client: ClientBase, memory: Memory, blocks: RpcBlock[]): Promise<void> {
  const unknown = new HashSet();
  for (const block of blocks) {
    const parents = block.header.parentsByLevel[0] ?? [];
    for (const hash of [block.hash, ...parents, ...block.mergeSetBluesHashes, ...block.mergeSetRedsHashes]) {
      if (memory.blocks.get(hash) === undefined) unknown.add(hash);
    }
  }
  const found = await queryByHash<{ id: bigint; hash: Buffer }>(
    client,
    'select b.id, b.hash from wanted join blocks b on b.hash = wanted.hash',
    unknown,
  );
  for (const row of found) memory.blocks.set(row.hash, Number(row.id));
}

/** Keys of the transactions and of those whose UTXOs they spend. */
async function lookUpTransactions(
  client: ClientBase,
  memory: Memory,
  lookedUp: LookedUp,
  transactions: RpcTransaction[],
): Promise<void> {
  const unknown = new HashSet();
  for (const { transactionId, inputs } of transactions) {
    const key = memory.transactions.get(transactionId);
    if (key === undefined || !memory.utxos.has(key)) unknown.add(transactionId);
    for (const { previousOutpoint } of inputs) {
      if (memory.transactions.get(previousOutpoint.transactionId) === undefined) {
        unknown.add(previousOutpoint.transactionId);
      }
    }
  }
  const found = await queryByHash<{ id: bigint; transaction_id: Buffer; hash: Buffer | null }>(
    client,
    `select coalesce(t.id, e.id) as id, wanted.hash as transaction_id, t.hash
       from wanted
       left join transactions t on t.transaction_id = wanted.hash
       left join earlier_transactions e on e.transaction_id = wanted.hash
      where t.id is not null or e.id is not null`,
    unknown,
  );
  for (const row of found) {
    const key = Number(row.id);
    memory.transactions.set(row.transaction_id, key);
    if (row.hash === null) lookedUp.addPreBootstrap(key);
    else lookedUp.addHash(key, row.hash);
  }
}

async function lookUpUtxos(
  client: ClientBase,
  memory: Memory,
  lookedUp: LookedUp,
  transactions: RpcTransaction[],
): Promise<void> {
  const keys: number[] = [];
  const indexes: number[] = [];
  for (const transaction of transactions) {
    for (const { previousOutpoint } of transaction.inputs) {
      const key = memory.transactions.get(previousOutpoint.transactionId);
      if (key === undefined || memory.utxos.has(key)) continue;
      keys.push(key);
      indexes.push(previousOutpoint.index);
    }
  }
  if (keys.length === 0) return;
  const { rows } = await client.query<{ transaction_id: bigint; index: bigint; amount: bigint; script_id: bigint }>({
    name: 'lookUp-utxos',
    text: `with wanted as (select * from unnest($1::bigint[], $2::bigint[]) wanted (transaction_id, index))
           select o.transaction_id, o.index::bigint, o.amount, o.script_id
             from wanted join transaction_outputs o on o.transaction_id = wanted.transaction_id and o.index = wanted.index
           union all
           select u.transaction_id, u.index, u.amount, u.script_id
             from wanted join start_utxos u on u.transaction_id = wanted.transaction_id and u.index = wanted.index`,
    values: [keys, indexes],
  });
  for (const row of rows) {
    lookedUp.addUtxo(Number(row.transaction_id), Number(row.index), {
      amount: row.amount,
      script: Number(row.script_id),
    });
  }
}

/** Where a transaction came again with another body, the bodies that it has already. */
async function lookUpVariants(
  client: ClientBase,
  memory: Memory,
  lookedUp: LookedUp,
  transactions: RpcTransaction[],
): Promise<void> {
  const keys = new Set<number>();
  for (const { transactionId, hash } of transactions) {
    const key = memory.transactions.get(transactionId);
    if (key === undefined || memory.variants.get(key) !== undefined) continue;
    const first = memory.findHash(key) ?? lookedUp.findHash(key);
    if (first !== undefined && Buffer.compare(first, hash) !== 0) keys.add(key);
  }
  if (keys.size === 0) return;
  const { rows } = await client.query<{ transaction_id: bigint; hash: Buffer }>(
    'select transaction_id, hash from transaction_bodies where transaction_id = any($1::bigint[]) order by transaction_id, body',
    [[...keys]],
  );
  const byKey = Map.groupBy(rows, (row) => Number(row.transaction_id));
  for (const key of keys) {
    memory.variants.set(
      key,
      (byKey.get(key) ?? []).map(({ hash }) => hash),
    );
  }
}

async function lookUpScripts(client: ClientBase, memory: Memory, transactions: RpcTransaction[]): Promise<void> {
  const unknown = new Map<string, ScriptPublicKey>();
  for (const { outputs } of transactions) {
    for (const { scriptPublicKey } of outputs) {
      const key = scriptKey(scriptPublicKey);
      if (memory.scripts.get(key) === undefined) unknown.set(key, scriptPublicKey);
    }
  }
  if (unknown.size === 0) return;
  const scripts = [...unknown.values()].map(({ script }) => Buffer.from(script));
  const { rows } = await client.query<{ id: bigint; version: number; script: Buffer }>({
    name: 'lookUp-scripts',
    text: `select s.id, s.version, s.script
             from unnest($1::bytea[]) wanted (script) join scripts s on s.script = wanted.script`,
    values: [scripts],
  });
  for (const row of rows) memory.scripts.set(scriptKey(row), Number(row.id));
}

async function lookUpSubnetworks(client: ClientBase, memory: Memory, transactions: RpcTransaction[]): Promise<void> {
  const unknown = new Map<string, Buffer>();
  for (const { subnetworkId } of transactions) {
    const name = toHex(subnetworkId);
    if (memory.subnetworks.get(name) === undefined) unknown.set(name, Buffer.from(subnetworkId));
  }
  if (unknown.size === 0) return;
  const { rows } = await client.query<{ id: bigint; subnetwork_id: Buffer }>({
    name: 'lookUp-subnetworks',
    text: 'select id, subnetwork_id from subnetworks where subnetwork_id = any($1::bytea[])',
    values: [[...unknown.values()]],
  });
  for (const row of rows) memory.subnetworks.set(toHex(row.subnetwork_id), Number(row.id));
}

/** Distinct hashes. */
class HashSet {
  readonly #hashes = new Map<string, Hash>();

  get size(): number {
    return this.#hashes.size;
  }

  add(hash: Hash): void {
    this.#hashes.set(Buffer.from(hash.buffer, hash.byteOffset, hash.length).toString('latin1'), hash);
  }

  /** All of them, one after the other. */
  concat(): Buffer {
    return Buffer.concat([...this.#hashes.values()]);
  }
}

/** Runs a query over a relation `wanted (hash)`. The hashes travel as one bytea: an array of bytea would travel as text. */
async function queryByHash<Row extends object>(client: ClientBase, select: string, wanted: HashSet): Promise<Row[]> {
  if (wanted.size === 0) return [];
  const { rows } = await client.query<Row>({
    text: `with wanted as (
             select substring($1::bytea from n * ${HASH_BYTES} + 1 for ${HASH_BYTES}) as hash
               from generate_series(0, length($1::bytea) / ${HASH_BYTES} - 1) n
           ) ${select}`,
    values: [wanted.concat()],
  });
  return rows;
}
