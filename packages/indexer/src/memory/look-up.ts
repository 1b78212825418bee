/**
 * Loads from Postgres the rows that an update refers to and the cache lacks: one query per kind, in
 * two round trips; none if the cache is complete.
 */
import { inPipeline, transactionIdIs } from '@kasgres/database';
import { type Hash, HASH_BYTES, type Network, type ScriptPublicKey, scriptToAddress, toHex } from '@kasgres/kaspa';
import type { RpcBlock, RpcTransaction } from '@kasgres/node';
import { getOrInsert } from '@kasgres/state';
import type { ClientBase } from 'pg';
import { envelopeOwners } from '../prepare/envelope-owners.ts';
import { findMiner } from '../prepare/miner.ts';
import { type Memory, scriptKey } from './memory.ts';

export interface LookedUp {
  utxos: Map<number, Map<number, { amount: bigint; script: number }>>;
  hashes: Map<number, Uint8Array>;
  /** Transactions without a row, which are known by pre-bootstrap UTXOs only. */
  preBootstrap: Set<number>;
}

interface LookUp {
  client: ClientBase;
  network: Network;
  memory: Memory;
  lookedUp: LookedUp;
  blocks: RpcBlock[];
  transactions: RpcTransaction[];
}

export async function lookUp(
  client: ClientBase,
  { memory, network }: { memory: Memory; network: Network },
  blocks: Iterable<RpcBlock>,
): Promise<LookedUp> {
  const lookedUp: LookedUp = { utxos: new Map(), hashes: new Map(), preBootstrap: new Set() };
  if (memory.isComplete) return lookedUp;
  const all = [...blocks];
  const transactions = all.flatMap((block) => block.transactions);
  const request = { client, network, memory, lookedUp, blocks: all, transactions };
  await inPipeline(client, [
    () => lookUpBlocks(request),
    () => lookUpTransactions(request),
    () => lookUpScripts(request),
    () => lookUpSubnetworks(request),
  ]);
  // These need the keys of the transactions.
  await inPipeline(client, [() => lookUpUtxos(request), () => lookUpVariants(request)]);
  return lookedUp;
}

async function lookUpBlocks({ client, memory, blocks }: LookUp): Promise<void> {
  const hashes = blocks.flatMap((block) => [block.hash, ...referencesOf(block)]);
  const rows = await queryByHash<{ id: bigint; hash: Buffer }>(client, {
    name: 'lookUp-blocks',
    select: `select b.id, b.hash
               from wanted cross join lateral (select id, hash from blocks
                 where hash = wanted.hash offset 0) b`,
    hashes: hashes.filter((hash) => memory.blocks.get(hash) === undefined),
  });
  for (const row of rows) memory.blocks.set(row.hash, Number(row.id));
}

/** Returns the blocks that a block refers to. */
export function referencesOf({ header, mergeSetBluesHashes, mergeSetRedsHashes }: RpcBlock): Hash[] {
  return [...(header.parentsByLevel[0] ?? []), ...mergeSetBluesHashes, ...mergeSetRedsHashes];
}

async function lookUpTransactions({ client, memory, lookedUp, transactions }: LookUp): Promise<void> {
  const missing: Hash[] = [];
  for (const { transactionId, inputs } of transactions) {
    const key = memory.transactions.get(transactionId);
    if (key === undefined || !memory.utxos.has(key)) missing.push(transactionId);
    for (const { previousOutpoint } of inputs) {
      const { transactionId: previous } = previousOutpoint;
      if (memory.transactions.get(previous) === undefined) missing.push(previous);
    }
  }
  const rows = await queryByHash<{ id: bigint; transaction_id: Buffer; hash: Buffer | null }>(client, {
    name: 'lookUp-transactions',
    select: `select coalesce(t.id, e.id) as id, wanted.hash as transaction_id, t.hash
               from wanted
               left join lateral (
                 select id, hash from transactions t
                  where ${transactionIdIs('t', 'wanted.hash')} offset 0) t on true
               left join lateral (
                 select id from pre_bootstrap_transactions
                   where transaction_id = wanted.hash offset 0) e on true
              where t.id is not null or e.id is not null`,
    hashes: missing,
  });
  for (const row of rows) {
    const key = Number(row.id);
    memory.transactions.set(row.transaction_id, key);
    if (row.hash === null) lookedUp.preBootstrap.add(key);
    else lookedUp.hashes.set(key, row.hash);
  }
}

async function lookUpUtxos({ client, memory, lookedUp, transactions }: LookUp): Promise<void> {
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
  const { rows } = await client.query<{ transaction_id: bigint; index: number; amount: bigint; script_id: bigint }>({
    name: 'lookUp-utxos',
    text: `with wanted as (select * from unnest($1::bigint[], $2::bigint[]) wanted (transaction_id, index))
           select o.transaction_id, o.index, o.amount, o.script_id
             from wanted join transaction_outputs o
               on o.transaction_id = wanted.transaction_id and o.index = wanted.index
                 and o.index >> 4 = wanted.index >> 4
           union all
           select u.transaction_id, u.index, u.amount, u.script_id
             from wanted join bootstrap_utxos u on u.transaction_id = wanted.transaction_id
               and u.index = wanted.index`,
    values: [keys, indexes],
  });
  for (const { transaction_id, index, amount, script_id } of rows) {
    const key = Number(transaction_id);
    getOrInsert(lookedUp.utxos, key, () => new Map()).set(index, { amount, script: Number(script_id) });
  }
}

/**
 * Looks up each variant that is not the first by its hash alone, so that the others of its
 * transaction are never read.
 */
async function lookUpVariants({ client, memory, lookedUp, transactions }: LookUp): Promise<void> {
  const missing = new Map<string, { key: number; hash: Hash }>();
  for (const { transactionId, hash } of transactions) {
    const key = memory.transactions.get(transactionId);
    if (key === undefined || memory.variants.get(hash) !== undefined) continue;
    const first = memory.findHash(key) ?? lookedUp.hashes.get(key);
    if (first !== undefined && Buffer.compare(first, hash) !== 0) missing.set(latin1(hash), { key, hash });
  }
  if (missing.size === 0) return;
  const wanted = [...missing.values()];
  // It has no name, so that it is planned for the present size of the table.
  const { rows } = await client.query<{ position: number; variant: number | null; last: number | null }>(
    `select wanted.position::integer as position, known.variant, latest.variant as last
       from unnest($1::bigint[]) with ordinality wanted (key, position)
       left join lateral (
         select variant from transaction_variants
          where hash = substring($2::bytea
            from (wanted.position::integer - 1) * ${HASH_BYTES} + 1 for ${HASH_BYTES}) offset 0
       ) known on true
       left join lateral (
         select variant from transaction_variants where transaction_id = wanted.key
           order by variant desc limit 1) latest on true
      where latest.variant is not null`,
    [wanted.map(({ key }) => key), Buffer.from([...missing.keys()].join(''), 'latin1')],
  );
  for (const { position, variant, last } of rows) {
    const { key, hash } = wanted[position - 1] as (typeof wanted)[number];
    if (variant !== null) memory.variants.set(hash, variant);
    // The cache may be ahead of what is committed.
    if (last !== null && memory.lastVariants.get(key) === undefined) memory.lastVariants.set(key, last);
  }
}

/** A script with an address is found by its address, any other one by its digest. */
async function lookUpScripts({ client, memory, network, blocks, transactions }: LookUp): Promise<void> {
  const missing = new Map<string, ScriptPublicKey>();
  const see = (scriptPublicKey: ScriptPublicKey): void => {
    const key = scriptKey(scriptPublicKey);
    if (memory.scripts.get(key) === undefined) missing.set(key, scriptPublicKey);
  };
  for (const transaction of transactions) {
    for (const { scriptPublicKey } of transaction.outputs) see(scriptPublicKey);
    for (const owner of envelopeOwners(transaction)) see(owner);
  }
  for (const block of blocks) {
    const miner = findMiner(block);
    if (miner !== undefined) see(miner.scriptPublicKey);
  }
  if (missing.size === 0) return;
  const addresses: string[] = [];
  const withoutAddress: Buffer[] = [];
  for (const scriptPublicKey of missing.values()) {
    const address = scriptToAddress(scriptPublicKey, network.addressPrefix);
    if (address === undefined) withoutAddress.push(Buffer.from(scriptPublicKey.script));
    else addresses.push(address);
  }
  const { rows } = await client.query<{ id: bigint; version: number; script: Buffer }>({
    name: 'lookUp-scripts',
    text: `select s.*
             from unnest($1::text[]) wanted (address)
            cross join lateral (select id, version, script from scripts
              where address = wanted.address offset 0) s
            union all
           select s.*
             from unnest($2::bytea[]) wanted (script)
            cross join lateral (
              select id, version, script from scripts
                where address is null and sha256(script) = sha256(wanted.script) offset 0) s`,
    values: [addresses, withoutAddress],
  });
  for (const row of rows) memory.scripts.set(scriptKey(row), Number(row.id));
}

async function lookUpSubnetworks({ client, memory, transactions }: LookUp): Promise<void> {
  const missing = new Map<string, Buffer>();
  for (const { subnetworkId } of transactions) {
    const name = toHex(subnetworkId);
    if (memory.subnetworks.get(name) === undefined) missing.set(name, Buffer.from(subnetworkId));
  }
  if (missing.size === 0) return;
  const { rows } = await client.query<{ id: bigint; subnetwork_id: Buffer }>({
    name: 'lookUp-subnetworks',
    text: 'select id, subnetwork_id from subnetworks where subnetwork_id = any($1::bytea[])',
    values: [[...missing.values()]],
  });
  for (const row of rows) memory.subnetworks.set(toHex(row.subnetwork_id), Number(row.id));
}

interface QueryByHash {
  name: string;
  /**
   * Reads a relation `wanted (hash)`. With `offset 0` each look-up uses the index, however many
   * hashes or rows Postgres expects.
   */
  select: string;
  hashes: readonly Hash[];
}

/** The hashes travel as one bytea, since an array of bytea would travel as text. */
async function queryByHash<Row extends object>(
  client: ClientBase,
  { name, select, hashes }: QueryByHash,
): Promise<Row[]> {
  if (hashes.length === 0) return [];
  const distinct = new Set(hashes.map(latin1));
  const { rows } = await client.query<Row>({
    name,
    // Postgres expects few rows of an array, so that the generic plan costs no more than one for
    // these hashes, and is kept.
    text: `with wanted as (
             select hash
               from unnest(array(
                 select substring($1::bytea from n * ${HASH_BYTES} + 1 for ${HASH_BYTES})
                   from generate_series(0, length($1::bytea) / ${HASH_BYTES} - 1) n)) hash
           ) ${select}`,
    values: [Buffer.from([...distinct].join(''), 'latin1')],
  });
  return rows;
}

/** Returns a character for each byte. */
function latin1(hash: Hash): string {
  return Buffer.from(hash.buffer, hash.byteOffset, hash.length).toString('latin1');
}
