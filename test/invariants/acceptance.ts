/**
 * Invariant 3: the accepted transactions of every chain block equal the node's list, in order.
 * `kasgres verify` checks only the order.
 */
import type { Connection } from '@kasgres/database';
import { toHex, type Hash } from '@kasgres/kaspa';
import { type NodeClient, NodeRpcError } from '@kasgres/node';
import { checkAcceptance } from '@kasgres/verification';

/** A pool, or a connection with a transaction. */
type Queryable = Pick<Connection['pool'], 'query'>;

export type ChainSource = Pick<NodeClient, 'getVirtualChainFromBlock'>;

interface ChainRow {
  index: bigint;
  hash: Buffer;
  accepted: Buffer[];
}

interface ChainBlock {
  hash: Hash;
  accepted: Hash[];
}

const PAGE = 1000;

const SELECT_CHAIN = `
  select c.index, b.hash, array(
    select t.transaction_id from unnest(c.accepted_transactions)
      with ordinality accepted (id, position)
    left join transactions t on t.id = accepted.id order by accepted.position
  ) as accepted
  from chain_blocks c join blocks b on b.id = c.block_id
  where c.index > $1 order by c.index limit ${PAGE}`;

/** A segment of the chain begins at a bootstrap block after a gap. */
const SELECT_GAPS = `
  select s.chain_index from bootstrap_blocks s join blocks b on b.id = s.block_id
  where b.hash in (select before_block_hash from gaps) order by s.chain_index`;

/** Transactions whose row disagrees with the last list of a chain block that has them. */
const SELECT_OTHER_ACCEPTING_BLOCK = `
  with listed as (select unnest(accepted_transactions) as id, index from chain_blocks),
  last as (select distinct on (id) id, index from listed order by id, index desc)
  select encode(t.transaction_id, 'hex') as transaction_id
  from last full join transactions t on t.id = last.id
  where last.index is distinct from t.accepting_index`;

/**
 * Returns the faults, one sentence each. The chain must be at rest. Segments before a gap are
 * compared if the node still has them on its chain; of the last segment it must have everything
 * above its pruning point.
 */
export async function checkInvariant3(db: Queryable, node: ChainSource): Promise<string[]> {
  const segments = await storedSegments(db);
  const wrong: string[] = [];
  for (const [position, segment] of segments.entries()) {
    wrong.push(...(await compare(segment, node, position === segments.length - 1)));
  }
  const { rows } = await db.query<{ transaction_id: string }>(SELECT_OTHER_ACCEPTING_BLOCK);
  return [
    ...(segments.length === 0 ? ['no chain block is stored'] : wrong),
    ...rows.map((row) => `transaction ${row.transaction_id} does not name the block that accepts it`),
    ...(await checkAcceptance(db)),
  ];
}

async function storedSegments(db: Queryable): Promise<ChainRow[][]> {
  const { rows: gaps } = await db.query<{ chain_index: bigint }>(SELECT_GAPS);
  const begins = new Set(gaps.map((row) => row.chain_index));
  const segments: ChainRow[][] = [];
  let last = -1n;
  for (;;) {
    const { rows } = await db.query<ChainRow>(SELECT_CHAIN, [last]);
    if (rows.length === 0) return segments;
    for (const row of rows) {
      if (segments.length === 0 || begins.has(row.index)) segments.push([]);
      segments.at(-1)?.push(row);
      last = row.index;
    }
  }
}

/** Compares a segment with the node's chain, from the lowest block that the node has. */
async function compare(segment: readonly ChainRow[], node: ChainSource, isLast: boolean): Promise<string[]> {
  const top = segment.at(-1);
  if (!isLast && (top === undefined || (await isOnNode(node, top)) !== 'on its chain')) return [];
  const stored = [...segment];
  let first = stored.shift();
  while (first !== undefined && (await isOnNode(node, first)) === 'unknown') first = stored.shift();
  if (first === undefined || (await isOnNode(node, first)) !== 'on its chain') {
    return ['the stored chain is not on the chain of the node'];
  }
  const known = await nodeChain(node, first.hash);
  const wrong: string[] = [];
  if (isLast && known.length !== stored.length) {
    wrong.push(`${stored.length} chain blocks are stored after the first that the node has, it has ${known.length}`);
  }
  for (const [position, { hash, accepted }] of (isLast ? known : known.slice(0, stored.length)).entries()) {
    const row = stored[position];
    if (row === undefined || toHex(row.hash) !== toHex(hash)) {
      wrong.push(`chain block ${toHex(hash)} is not stored at its index`);
    } else if (!sameHashes(row.accepted, accepted)) {
      wrong.push(`chain block ${toHex(hash)} accepts other transactions, or in another order, than the node says`);
    }
  }
  return wrong;
}

async function isOnNode(node: ChainSource, { hash }: ChainRow): Promise<'on its chain' | 'off its chain' | 'unknown'> {
  try {
    const response = await node.getVirtualChainFromBlock({ startHash: hash, includeAcceptedTransactionIds: false });
    return response.removedChainBlockHashes.length === 0 ? 'on its chain' : 'off its chain';
  } catch (error) {
    if (error instanceof NodeRpcError && (error.kind === 'unknown-block' || error.kind === 'pruned')) return 'unknown';
    throw error;
  }
}

async function nodeChain(node: ChainSource, firstHash: Hash): Promise<ChainBlock[]> {
  const chain: ChainBlock[] = [];
  for (;;) {
    const startHash = chain.at(-1)?.hash ?? firstHash;
    const response = await node.getVirtualChainFromBlock({ startHash, includeAcceptedTransactionIds: true });
    if (response.addedChainBlockHashes.length === 0) return chain;
    for (const { acceptingBlockHash, acceptedTransactionIds } of response.acceptedTransactionIds) {
      chain.push({ hash: acceptingBlockHash, accepted: acceptedTransactionIds });
    }
  }
}

function sameHashes(left: readonly Hash[], right: readonly Hash[]): boolean {
  return Buffer.compare(Buffer.concat(left), Buffer.concat(right)) === 0;
}
