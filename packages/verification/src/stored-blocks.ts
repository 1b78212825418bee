/**
 * Rebuilds blocks from stored rows, page by page, for invariant 8. It decodes by the comments of
 * the schema (migrations/0001_schema.sql), not with the code that encoded the rows.
 */
import {
  type Crescendo,
  type Hash,
  type Header,
  type ScriptPublicKey,
  toHex,
  transactionHashBeforeCrescendo,
} from '@kasgres/kaspa';
import { pagesByKey, type Queryable } from '@kasgres/state';
import { findCrescendo } from './queries.ts';
import { EVERYTHING, type From } from './since.ts';
import { storedVariants, type VariantKey } from './stored-transactions.ts';

interface StoredBlock {
  id: bigint;
  hash: Hash;
  header: Header;
  /** The hashes of the block's transactions in order; null where the variant is not stored. */
  merkleLeaves: (Hash | null)[];
  /** As stored with the block. */
  miner: { scriptPublicKey: ScriptPublicKey; subsidy: bigint } | undefined;
  coinbasePayload: Uint8Array | null;
}

/** A row of numeric columns comes as text. */
interface BlockRow extends Omit<Header, 'parentsByLevel' | 'bits' | 'nonce' | 'blueWork'> {
  id: bigint;
  hash: Buffer;
  bits: bigint;
  nonce: string;
  blueWork: string;
  higherParents: Buffer;
  directParents: Buffer[];
  transactionHashes: (Buffer | null)[];
  subsidy: bigint | null;
  minerVersion: number | null;
  minerScript: Buffer | null;
  coinbasePayload: Buffer | null;
}

/** A block may have some 2,000 transactions. */
const PAGE = 250;

const SELECT = `
  select b.id, b.hash, b.version, b.parents_by_level as "higherParents",
    b.hash_merkle_root as "hashMerkleRoot", b.accepted_id_merkle_root as "acceptedIdMerkleRoot",
    b.utxo_commitment as "utxoCommitment", b.timestamp, b.bits, b.nonce, b.daa_score as "daaScore",
    b.blue_work as "blueWork", b.blue_score as "blueScore",
    b.pruning_point as "pruningPoint", array(
      select coalesce(parent.hash, earlier.hash) from block_parents p
      left join blocks parent on parent.id = p.parent_id
      left join pre_bootstrap_blocks earlier on earlier.id = p.parent_id
      where p.block_id = b.id and (parent.id is not null or earlier.id is not null) order by p.index
    ) as "directParents",
    array(
      select coalesce(variant.hash, case when bt.variant = 0 then t.hash end)
      from block_transactions bt
      left join transactions t on t.id = bt.transaction_id
      left join transaction_variants variant on variant.transaction_id = bt.transaction_id
        and variant.variant = bt.variant
      where bt.block_id = b.id order by bt.index
    ) as "transactionHashes",
    b.subsidy, miner.version as "minerVersion", miner.script as "minerScript",
    (
      select t.payload from block_transactions bt join transactions t on t.id = bt.transaction_id
      where bt.block_id = b.id and bt.index = 0
    ) as "coinbasePayload"
  from blocks b left join scripts miner on miner.id = b.miner_script_id where b.id > $1`;

const ORDER = `order by b.id limit ${PAGE}`;

/** A pre-bootstrap block that is merged after all keeps its key. */
const SELECT_PRE_BOOTSTRAP = `${SELECT}
  and b.id < $2 and b.merging_block_id in (select block_id from chain_blocks
    where index >= $3) ${ORDER}`;

export async function* storedBlocks(db: Queryable, from: From): AsyncGenerator<StoredBlock> {
  const crescendo = await findCrescendo(db);
  yield* rebuild(db, crescendo, pagesByKey(db, `${SELECT} ${ORDER}`, from.blockId - 1n));
  if (from === EVERYTHING) return;
  const bounds = [from.blockId, from.chainIndex];
  yield* rebuild(db, crescendo, pagesByKey(db, SELECT_PRE_BOOTSTRAP, EVERYTHING.blockId, bounds));
}

async function* rebuild(
  db: Queryable,
  crescendo: Crescendo | undefined,
  pages: AsyncIterable<BlockRow[]>,
): AsyncGenerator<StoredBlock> {
  const isOld = (row: BlockRow): boolean => crescendo !== undefined && row.daaScore < crescendo.activationDaaScore;
  for await (const rows of pages) {
    const leaves = await leavesBeforeCrescendo(db, rows.filter(isOld));
    for (const row of rows) yield toStoredBlock(row, isOld(row) ? leaves : new Map());
  }
}

/** Variants with a storage mass, which a block before Crescendo does not commit to. */
const SELECT_WITH_MASS = `
  select distinct bt.transaction_id as id, bt.variant
  from block_transactions bt
  left join transactions t on t.id = bt.transaction_id
  left join transaction_variants variant on variant.transaction_id = bt.transaction_id
    and variant.variant = bt.variant
  where bt.block_id = any($1) and coalesce(variant.storage_mass, t.storage_mass) <> 0`;

/** Returns the merkle leaves of transactions with a storage mass, by stored hash. */
async function leavesBeforeCrescendo(db: Queryable, blocks: readonly BlockRow[]): Promise<Map<string, Hash>> {
  const leaves = new Map<string, Hash>();
  if (blocks.length === 0) return leaves;
  const { rows } = await db.query<VariantKey>(SELECT_WITH_MASS, [blocks.map(({ id }) => id)]);
  for await (const { hash, transaction } of storedVariants(db, rows)) {
    leaves.set(toHex(hash), transactionHashBeforeCrescendo(transaction));
  }
  return leaves;
}

function toStoredBlock(row: BlockRow, leaves: ReadonlyMap<string, Hash>): StoredBlock {
  const { id, hash, bits, nonce, blueWork, higherParents, directParents, transactionHashes, ...others } = row;
  const { subsidy, minerVersion, minerScript, coinbasePayload, ...rest } = others;
  const header: Header = {
    ...rest,
    // Genesis has no parents on any level.
    parentsByLevel: directParents.length === 0 ? [] : [directParents, ...unpackLevels(higherParents)],
    bits: Number(bits),
    nonce: BigInt(nonce),
    blueWork: BigInt(blueWork),
  };
  const merkleLeaves = transactionHashes.map((stored) => stored && (leaves.get(toHex(stored)) ?? stored));
  const miner =
    subsidy === null || minerVersion === null || minerScript === null
      ? undefined
      : { scriptPublicKey: { version: minerVersion, script: minerScript }, subsidy };
  return { id, hash, header, merkleLeaves, miner, coinbasePayload };
}

/** Runs of: number of levels, number of parents (both u16 LE), the parents' hashes. */
function unpackLevels(packed: Buffer): Hash[][] {
  const levels: Hash[][] = [];
  for (let at = 0; at < packed.length; ) {
    const parents: Hash[] = [];
    const levelCount = packed.readUInt16LE(at);
    const end = at + 4 + 32 * packed.readUInt16LE(at + 2);
    for (at += 4; at < end; at += 32) parents.push(packed.subarray(at, at + 32));
    for (let level = 0; level < levelCount; level += 1) levels.push(parents);
  }
  return levels;
}
