/** Invariant 3: for every chain block, the accepted transactions stored equal the node's list, in order; `kasgres verify` checks the order alone. */
import { checkAcceptance } from '@kasgres/cli';
import type { Connection } from '@kasgres/database';
import { toHex, type Hash } from '@kasgres/kaspa';
import { type NodeClient, NodeRpcError } from '@kasgres/node';

/** A pool, or a connection with a transaction. */
type Queryable = Pick<Connection['pool'], 'query'>;

/** What the check asks of the node: a real one, a simulated one or a recording. */
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
    select t.transaction_id from unnest(c.accepted_transactions) with ordinality accepted (id, place)
    left join transactions t on t.id = accepted.id order by accepted.place
  ) as accepted
  from chain_blocks c join blocks b on b.id = c.block_id
  where c.index > $1 order by c.index limit ${PAGE}`;

/** Where a start is after a gap, another stretch of the chain begins. */
const SELECT_GAPS = `
  select s.chain_index from starts s join blocks b on b.id = s.block_id
  where b.hash in (select before_block_hash from gaps) order by s.chain_index`;

/** Transactions whose own row disagrees with the lists of the chain blocks: the last of these, if a gap is between two. */
const SELECT_MARKED_OTHERWISE = `
  with listed as (select unnest(accepted_transactions) as id, index, block_id from chain_blocks),
  last as (select distinct on (id) id, block_id from listed order by id, index desc)
  select encode(t.transaction_id, 'hex') as transaction_id
  from last full join transactions t on t.id = last.id
  where last.block_id is distinct from t.accepting_block_id`;

/**
 * The chain must be at rest meanwhile. Stretches before a gap are compared as far as the node still has them on its chain; of the last one
 * it must have everything that it has not pruned.
 * @returns what is wrong, one sentence each; empty when the invariant holds
 */
export async function checkInvariant3(db: Queryable, node: ChainSource): Promise<string[]> {
  const stretches = await storedStretches(db);
  const wrong: string[] = [];
  for (const [place, stretch] of stretches.entries()) {
    wrong.push(...(await compare(stretch, node, place === stretches.length - 1)));
  }
  const { rows } = await db.query<{ transaction_id: string }>(SELECT_MARKED_OTHERWISE);
  return [
    ...(stretches.length === 0 ? ['no chain block is stored'] : wrong),
    ...rows.map((row) => `transaction ${row.transaction_id} is not marked with the block that accepts it`),
    ...(await checkAcceptance(db)),
  ];
}

async function storedStretches(db: Queryable): Promise<ChainRow[][]> {
  const { rows: gaps } = await db.query<{ chain_index: bigint }>(SELECT_GAPS);
  const begins = new Set(gaps.map((row) => row.chain_index));
  const stretches: ChainRow[][] = [];
  let last = -1n;
  for (;;) {
    const { rows } = await db.query<ChainRow>(SELECT_CHAIN, [last]);
    if (rows.length === 0) return stretches;
    for (const row of rows) {
      if (stretches.length === 0 || begins.has(row.index)) stretches.push([]);
      stretches.at(-1)?.push(row);
      last = row.index;
    }
  }
}

/** With the node's chain, from the lowest block of the stretch that it has. */
async function compare(stretch: readonly ChainRow[], node: ChainSource, isLast: boolean): Promise<string[]> {
  const top = stretch.at(-1);
  if (!isLast && (top === undefined || (await isOnNode(node, top)) !== 'on its chain')) return [];
  const [first, ...stored] = stretch.slice(await findPlaceOnNode(stretch, node));
  if (first === undefined || (await isOnNode(node, first)) !== 'on its chain') {
    return ['the chain is not on that of the node'];
  }
  const known = await nodeChain(node, first.hash);
  const wrong: string[] = [];
  if (isLast && known.length !== stored.length) {
    wrong.push(`${stored.length} chain blocks are stored after the first that the node has, it has ${known.length}`);
  }
  for (const [place, { hash, accepted }] of (isLast ? known : known.slice(0, stored.length)).entries()) {
    const row = stored[place];
    if (row === undefined || toHex(row.hash) !== toHex(hash)) {
      wrong.push(`chain block ${toHex(hash)} is not stored at its place`);
    } else if (!sameHashes(row.accepted, accepted)) {
      wrong.push(`chain block ${toHex(hash)} accepts other transactions, or in another order, than the node says`);
    }
  }
  return wrong;
}

/** A node that has pruned has every block of its chain above some block, and none below: where that is. */
async function findPlaceOnNode(stretch: readonly ChainRow[], node: ChainSource): Promise<number> {
  let [from, to] = [0, stretch.length];
  // Mostly it has all.
  let isFirst = true;
  while (from < to) {
    const place = isFirst ? from : Math.floor((from + to) / 2);
    isFirst = false;
    const row = stretch[place];
    if (row === undefined) return place;
    if ((await isOnNode(node, row)) === 'not there') from = place + 1;
    else to = place;
  }
  return from;
}

async function isOnNode(node: ChainSource, { hash }: ChainRow): Promise<'on its chain' | 'beside it' | 'not there'> {
  try {
    const answer = await node.getVirtualChainFromBlock({ startHash: hash, includeAcceptedTransactionIds: false });
    return answer.removedChainBlockHashes.length === 0 ? 'on its chain' : 'beside it';
  } catch (error) {
    if (error instanceof NodeRpcError && (error.kind === 'unknown-block' || error.kind === 'pruned'))
      return 'not there';
    throw error;
  }
}

async function nodeChain(node: ChainSource, firstHash: Hash): Promise<ChainBlock[]> {
  const chain: ChainBlock[] = [];
  for (;;) {
    const startHash = chain.at(-1)?.hash ?? firstHash;
    const answer = await node.getVirtualChainFromBlock({ startHash, includeAcceptedTransactionIds: true });
    if (answer.addedChainBlockHashes.length === 0) return chain;
    for (const { acceptingBlockHash, acceptedTransactionIds } of answer.acceptedTransactionIds) {
      chain.push({ hash: acceptingBlockHash, accepted: acceptedTransactionIds });
    }
  }
}

function sameHashes(left: readonly Hash[], right: readonly Hash[]): boolean {
  return Buffer.compare(Buffer.concat(left), Buffer.concat(right)) === 0;
}
