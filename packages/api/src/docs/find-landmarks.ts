/** Finds the items of the indexed chain and of the mempool that examples refer to, by keys and indexes only. */
import { type RawBuilder, sql } from 'kysely';
import type { IndexState, Reading } from '../index-state/state.ts';
import type { Services } from '../services.ts';
import type { ExampleChain } from './example-requests.ts';

type Landmarks = Omit<ExampleChain, 'payment'>;

/** Chain blocks; few reorgs are deeper. */
const BELOW_SINK = 5n;
/** Chain blocks, and accepted transactions of each, that are searched for a payment. */
const CHAIN_BLOCKS = 60n;
const TRANSACTIONS_PER_BLOCK = 20;
/** Transactions whose recipients are considered. */
const RECIPIENTS_OF = 50;
/** Addresses with more UTXOs have long responses. */
const MANY_UTXOS = 1000;
/** A larger mempool is not loaded for an example. */
const MANY_ENTRIES = 1000;
const NODE_DEADLINE_MS = 2000;

/** Returns undefined if the index is empty or in the first catch-up, when most operations are a 503. */
export async function findLandmarks({ statusIndex: index, node }: Services): Promise<Landmarks | undefined> {
  const found = await index.readIfAny(async (db, state, slices) => {
    if (state === undefined || state.firstCatchUp) return undefined;
    const reading = { db, state, slices };
    const position = await findPosition(reading);
    const address = position && (await findAddress(reading));
    if (position === undefined || address === undefined) return undefined;
    return { ...position, address, tagged: await findTagged(reading), ...(await findMembers(reading)) };
  });
  if (found === undefined) return undefined;
  const { tagged, member, otherMember, ...position } = found;
  const mempool = await findInMempool(node).catch(() => undefined);
  const { address, transactionId, blockHash, daaScore } = position;
  return {
    ...position,
    taggedAddress: tagged ?? address,
    member: member ?? address,
    otherMember,
    unknownTransactionId: 'ab'.repeat(32),
    early: { blockHash, daaScore: String(daaScore) },
    mempoolTransactionId: mempool?.transactionId ?? transactionId,
    mempoolAddress: mempool?.address ?? address,
  };
}

type Position = Pick<Landmarks, 'transactionId' | 'blockHash' | 'sink' | 'daaScore'>;

/** Finds a chain block and a transaction that it accepts: a payment if there is a recent one. */
async function findPosition({ db, state }: Reading): Promise<Position | undefined> {
  const { rows } = await sql<Omit<Position, 'sink'>>`
    select encode(t.transaction_id, 'hex') as "transactionId", encode(b.hash, 'hex') as "blockHash", b.daa_score as "daaScore"
    from (${recentlyAccepted(state)} limit 1) recent
      join transactions t on t.id = recent.id
      join blocks b on b.id = recent.block_id`.execute(db);
  const [row] = rows;
  return row && { ...row, sink: state.sinkHash };
}

/** Finds a recently paid address with a balance, preferably with several transactions; else one with a large balance. */
async function findAddress({ db, state }: Reading): Promise<string | undefined> {
  const { rows } = await sql<{ address: string }>`
    select s.address
    from (${recentlyAccepted(state)} limit ${RECIPIENTS_OF}) recent
      cross join lateral (select script_id from transaction_outputs where transaction_id = recent.id order by index limit 4) o
      join balances p on p.script_id = o.script_id
      join scripts s on s.id = o.script_id
    where p.balance > 0 and p.utxo_count between 1 and ${MANY_UTXOS} and s.address is not null
    order by p.transaction_count > 2 desc, recent.id desc
    limit 1`.execute(db);
  if (rows[0] !== undefined) return rows[0].address;
  const rich = await sql<{ address: string }>`
    select s.address
    from (select script_id, utxo_count from balances where balance > 0 order by balance desc, script_id desc limit 100) p
      join scripts s on s.id = p.script_id
    where s.address is not null
    order by p.utxo_count
    limit 1`.execute(db);
  return rich.rows[0]?.address;
}

/** Selects transactions that the latest chain blocks accept: payments before coinbases, newest first. */
function recentlyAccepted({ sinkChainIndex }: IndexState): RawBuilder<unknown> {
  const highest = sinkChainIndex > BELOW_SINK ? sinkChainIndex - BELOW_SINK : sinkChainIndex;
  return sql`
    select t.id, c.block_id
    from chain_blocks c
      cross join lateral unnest(c.accepted_transactions[1:${sql.lit(TRANSACTIONS_PER_BLOCK)}]) as accepted (id)
      join transactions t on t.id = accepted.id
    where c.index between ${highest - CHAIN_BLOCKS} and ${highest}
    order by t.subnetwork_id = 1, c.index desc, t.id`;
}

async function findTagged({ db }: Reading): Promise<string | undefined> {
  const row = await db.selectFrom('tags').select('address').orderBy('address').limit(1).executeTakeFirst();
  return row?.address;
}

interface Members {
  member: string;
  otherMember: string;
}

/** Finds the root of a cluster and the member before it in the ring, which has a long path to the root. */
async function findMembers({ db }: Reading): Promise<Partial<Members>> {
  const { rows } = await sql<Members>`
    select last.address as member, root.address as "otherMember"
    from (select id from clusters where size between 2 and 1000 limit 1) c
      join cluster_members m on m.script_id = c.id
      join scripts root on root.id = c.id
      join scripts last on last.id = m.previous_id
    where root.address is not null and last.address is not null`.execute(db);
  return rows[0] ?? {};
}

async function findInMempool(node: Services['node']): Promise<{ transactionId: string; address: string } | undefined> {
  const options = { deadlineMs: NODE_DEADLINE_MS };
  const { mempoolSize } = await node.call('getInfo', {}, options);
  if (mempoolSize === 0n || mempoolSize > MANY_ENTRIES) return undefined;
  const { entries } = await node.call('getMempoolEntries', {}, options);
  for (const { transaction } of entries) {
    const transactionId = transaction?.verboseData?.transactionId;
    const address = transaction?.outputs[0]?.verboseData?.scriptPublicKeyAddress;
    if (transactionId !== undefined && address !== undefined) return { transactionId, address };
  }
  return undefined;
}
