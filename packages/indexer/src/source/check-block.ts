/**
 * Checks that a block is complete and matches its hash (invariant 10): a node that prunes or syncs
 * may return a header alone.
 */
import {
  type Crescendo,
  type Hash,
  type Header,
  headerHash,
  MAX_SOMPI,
  merkleRoot,
  toHex,
  type Transaction,
  transactionHash,
  transactionHashBeforeCrescendo,
  transactionId,
} from '@kasgres/kaspa';
import type { RpcBlock } from '@kasgres/node';

/** The range of signed 64-bit columns, far beyond every score. */
const MAX_SCORE = 2n ** 63n - 1n;
/** The greatest time of JavaScript and more than 270,000 years, which Postgres can still show. */
const MAX_TIMESTAMP = 8_640_000_000_000_000n;
/**
 * The exponent in `bits` of the largest target, 2^255. With a larger one, the difficulty would be
 * no finite number, which SQL refuses.
 */
const MAX_EXPONENT = 0x20;
/**
 * More than consensus allows: a level for each bit of a hash, and 16 direct parents, or 64 on
 * simnet.
 */
const MAX_LEVELS = 256;
const MAX_PARENTS = 256;

/**
 * Returns the predicate of a sentence about the fault. Before Crescendo, blocks commit to
 * transactions without their storage masses.
 */
export function findFault(block: RpcBlock, crescendo?: Crescendo): string | undefined {
  if (block.isHeaderOnly) return 'has only its header';
  if (block.transactions.length === 0) return 'has no transactions';
  const outOfRange = findOutOfRange(block.header);
  if (outOfRange !== undefined) return outOfRange;
  if (!sameBytes(headerHash(block.header), block.hash)) return 'has a header that does not hash to its name';
  const isBeforeCrescendo = crescendo !== undefined && block.header.daaScore < crescendo.activationDaaScore;
  const root = merkleRoot(
    block.transactions.map((transaction) =>
      isBeforeCrescendo ? transactionHashBeforeCrescendo(transaction) : transaction.hash,
    ),
  );
  if (!sameBytes(root, block.header.hashMerkleRoot)) return 'has transactions that do not give its merkle root';
  for (const transaction of block.transactions) {
    const matches =
      sameBytes(transactionHash(transaction), transaction.hash) &&
      sameBytes(transactionId(transaction), transaction.transactionId);
    if (!matches) return `has a transaction that does not hash to its name, ${toHex(transaction.transactionId)}`;
    if (createsTooMuch(transaction)) {
      return `has a transaction that creates more than the maximum supply, ${toHex(transaction.transactionId)}`;
    }
  }
  return findMergeSetFault(block);
}

function findOutOfRange({ blueScore, daaScore, timestamp, bits, parentsByLevel }: Header): string | undefined {
  if (blueScore > MAX_SCORE || daaScore > MAX_SCORE) return 'has a score out of range';
  if (timestamp < 0n || timestamp > MAX_TIMESTAMP) return 'has a timestamp out of range';
  if (bits >>> 24 > MAX_EXPONENT) return 'has a target out of range';
  if (parentsByLevel.length > MAX_LEVELS) return `has more than ${MAX_LEVELS} levels of parents`;
  if (parentsByLevel.some(({ length }) => length > MAX_PARENTS)) return `has more than ${MAX_PARENTS} parents`;
  return undefined;
}

/** Consensus limits the outputs of a transaction without knowledge of the chain. */
function createsTooMuch({ outputs }: Transaction): boolean {
  let total = 0n;
  for (const { amount } of outputs) total += amount;
  return total > MAX_SOMPI;
}

/**
 * Checks the node's verbose data as far as a block alone allows. The mergesets of chain blocks are
 * checked against blue score and blue work, too (block-set.ts), and `kasgres verify` recomputes all
 * of them.
 */
function findMergeSetFault({ header, selectedParentHash, ...block }: RpcBlock): string | undefined {
  const { mergeSetBluesHashes: blues, mergeSetRedsHashes: reds } = block;
  const [parents] = header.parentsByLevel;
  if (parents === undefined || parents.length === 0) {
    return blues.length + reds.length === 0 ? undefined : 'has a mergeset and no parents';
  }
  if (blues[0] === undefined || !sameBytes(blues[0], selectedParentHash)) {
    return 'has a mergeset that does not begin with its selected parent';
  }
  const isParent = parents.some((parent) => sameBytes(parent, selectedParentHash));
  if (!isParent) return 'has a selected parent that is not among its parents';
  // No parent is in the past of another one.
  const merged = new Set([...blues, ...reds].map(latin1));
  if (merged.size !== blues.length + reds.length) return 'merges a block twice';
  return parents.every((parent) => merged.has(latin1(parent))) ? undefined : 'does not merge one of its parents';
}

function latin1(hash: Hash): string {
  return Buffer.from(hash.buffer, hash.byteOffset, hash.length).toString('latin1');
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}
