/** Invariant 3: for every chain block, the accepted transactions stored equal the node's list, in order. */
import type { Connection } from '@kasgres/database';
import { toHex, type Hash } from '@kasgres/kaspa';
import type { NodeClient } from '@kasgres/node';

/** A pool, or a connection with a transaction. */
type Queryable = Pick<Connection['pool'], 'query'>;

/** What the check asks of the node: a real one, a simulated one or a recording. */
export type ChainSource = Pick<NodeClient, 'getVirtualChainFromBlock'>;

interface ChainRow {
  index: bigint;
  hash: Buffer;
  accepted: Buffer[];
}

const PAGE = 1000;

const SELECT_CHAIN = `
  select c.index, b.hash, array(
    select t.transaction_id from unnest(c.accepted_transactions) with ordinality accepted (id, place)
    left join transactions t on t.id = accepted.id order by accepted.place
  ) as accepted
  from chain_blocks c join blocks b on b.id = c.block_id
  where c.index > $1 order by c.index limit ${PAGE}`;

/** Transactions whose own row disagrees with the lists of the chain blocks. */
const SELECT_MARKED_OTHERWISE = `
  with listed as (select unnest(accepted_transactions) as id, block_id from chain_blocks)
  select encode(t.transaction_id, 'hex') as transaction_id
  from listed full join (select * from transactions where accepting_block_id is not null) t on t.id = listed.id
  where listed.block_id is distinct from t.accepting_block_id`;

/** What is wrong, one sentence each; empty when the invariant holds. The chain must be at rest meanwhile. */
export async function checkInvariant3(db: Queryable, node: ChainSource): Promise<string[]> {
  const wrong: string[] = [];
  const stored = await storedChain(db);
  const [first] = stored;
  if (first === undefined) return ['no chain block is stored'];
  const known = await nodeChain(node, first.hash);
  if (known.length !== stored.length - 1) {
    wrong.push(`${stored.length - 1} chain blocks are stored after the first, the node has ${known.length}`);
  }
  for (const [place, { hash, accepted }] of known.entries()) {
    const row = stored[place + 1];
    if (row === undefined || toHex(row.hash) !== toHex(hash)) {
      wrong.push(`chain block ${toHex(hash)} is not stored at its place`);
    } else if (!sameHashes(row.accepted, accepted)) {
      wrong.push(`chain block ${toHex(hash)} accepts other transactions, or in another order, than the node says`);
    }
  }
  const { rows } = await db.query<{ transaction_id: string }>(SELECT_MARKED_OTHERWISE);
  return [
    ...wrong,
    ...rows.map((row) => `transaction ${row.transaction_id} is not marked with the block that accepts it`),
  ];
}

async function storedChain(db: Queryable): Promise<ChainRow[]> {
  const chain: ChainRow[] = [];
  for (;;) {
    const { rows } = await db.query<ChainRow>(SELECT_CHAIN, [chain.at(-1)?.index ?? -1n]);
    if (rows.length === 0) return chain;
    chain.push(...rows);
  }
}

async function nodeChain(node: ChainSource, firstHash: Hash): Promise<{ hash: Hash; accepted: Hash[] }[]> {
  const chain: { hash: Hash; accepted: Hash[] }[] = [];
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
