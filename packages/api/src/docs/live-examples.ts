/** Examples from this index and its node for the page at /docs, so that they can be executed. */
import type { IndexState } from '@kasgres/reads';
import { sleep } from '@kasgres/runtime';
import { sql } from 'kysely';
import { type ExampleRequest, exampleRequests } from '../openapi/example-requests.ts';
import type { Services } from '../services.ts';

/**
 * These keep the example of the committed document: a signed payment cannot be made up, and not
 * every node implements the last two.
 */
const COMMITTED = ['getTransactionMass', 'submitTransaction', 'submitBlock', 'getSubnetwork', 'getSeqCommitLaneProof'];
/** These do, too, if the chain has no user lane. */
const OF_LANES = ['getLane', 'listLaneTransactions'];
/** These do, if it has no covenant, or no program. */
const OF_COVENANTS = ['getCovenants', 'getCovenant', 'listCovenantUtxos', 'listCovenantEvents'];
const OF_PROGRAMS = ['getProgram', 'getTemplate', 'listTemplateCovenants'];

/** Chain blocks; few reorgs are deeper. */
const BELOW_SINK = 5n;
/** Chain blocks, and accepted transactions of each, that are searched for a payment. */
const CHAIN_BLOCKS = 60n;
const TRANSACTIONS_PER_BLOCK = 20;
const RECIPIENTS_OF = 50;
const LATEST_COVENANTS = 100;
/** Addresses with more UTXOs have long responses. */
const MANY_UTXOS = 1000;
/** UTXOs of a covenant that are searched for an address: any number may have none. */
const UTXOS_OF_COVENANT = 100;
/** Without a sample within this time, the examples have no pending transaction. */
const MEMPOOL_MS = 2000;

/**
 * Returns requests by operationId, or undefined if the index is empty or in the first catch-up,
 * when most operations are a 503.
 */
export async function findExampleRequests(services: Services): Promise<Record<string, ExampleRequest> | undefined> {
  const found = await services.statusIndex.readIfAny(async (db, state) => {
    if (state === undefined || state.firstCatchUp) return undefined;
    const { rows } = await landmarks(state).execute(db);
    return rows[0] && { ...rows[0], sink: state.sinkHash };
  });
  if (found === undefined || found.address === null) return undefined;
  const { address, transactionId, blockHash, daaScore } = found;
  const late = sleep(MEMPOOL_MS).then(() => undefined);
  const mempool = await Promise.race([services.mempool.get().then(findPayment), late]).catch(() => undefined);
  const requests = exampleRequests({
    ...found,
    address,
    taggedAddress: found.taggedAddress ?? address,
    member: found.member ?? address,
    otherMember: found.otherMember ?? undefined,
    unknownTransactionId: 'ab'.repeat(32),
    early: { blockHash, daaScore: String(daaScore) },
    covenantId: found.covenantId ?? '',
    covenantAddress: found.covenantAddress ?? address,
    programHash: found.programHash ?? '',
    template: found.template ?? '',
    namespace: found.namespace ?? '',
    mempoolTransactionId: mempool?.transactionId ?? transactionId,
    mempoolAddress: mempool?.address ?? address,
    payment: {},
  });
  const committed = [
    ...COMMITTED,
    ...(found.namespace === null ? OF_LANES : []),
    ...(found.covenantId === null ? OF_COVENANTS : []),
    ...(found.programHash === null || found.template === null ? OF_PROGRAMS : []),
  ];
  for (const operationId of committed) delete requests[operationId];
  // The mempool rarely has orphans.
  requests['getMempoolEntriesOfPools'] = { body: { includeOrphanPool: true, filterTransactionPool: false } };
  return requests;
}

interface Landmarks {
  transactionId: string;
  blockHash: string;
  daaScore: bigint;
  address: string | null;
  taggedAddress: string | null;
  member: string | null;
  otherMember: string | null;
  covenantId: string | null;
  covenantAddress: string | null;
  programHash: string | null;
  template: string | null;
  namespace: string | null;
}

/**
 * Finds items by keys and indexes only: an accepted transaction, which is a payment if there is a
 * recent one; a recently paid address with a balance, preferably with several transactions, else
 * one with a large balance; a tagged address; the root of a cluster and the member before it in the
 * ring, which has a long path to the root; the covenant that was seen last, preferably a live one.
 */
function landmarks({ sinkChainIndex }: IndexState) {
  const highest = sinkChainIndex > BELOW_SINK ? sinkChainIndex - BELOW_SINK : sinkChainIndex;
  return sql<Landmarks>`
    with accepted as materialized (
      select t.id, t.transaction_id, c.block_id,
        row_number() over (order by t.subnetwork_id = 1, c.index desc, t.id) as rank
      from chain_blocks c
        cross join lateral unnest(c.accepted_transactions[1:${sql.lit(TRANSACTIONS_PER_BLOCK)}]) as accepted (id)
        join transactions t on t.id = accepted.id
      where c.index between ${highest - CHAIN_BLOCKS} and ${highest}
    ), recipient as (
      select s.address
      from accepted
        cross join lateral (
          select script_id from transaction_outputs where transaction_id = accepted.id
            order by index limit 4
        ) o
        join balances p on p.script_id = o.script_id
        join scripts s on s.id = o.script_id
      where rank <= ${RECIPIENTS_OF} and p.balance > 0 and p.utxo_count between 1 and ${MANY_UTXOS}
        and s.address is not null
      order by p.transaction_count > 2 desc, accepted.id desc
      limit 1
    ), rich as (
      select s.address
      from (select script_id, utxo_count from balances where balance > 0
        order by balance desc, script_id desc limit 100) p
        join scripts s on s.id = p.script_id
      where s.address is not null
      order by p.utxo_count
      limit 1
    ), members as (
      select last.address as member, root.address as other
      from (select id from clusters where size between 2 and 1000 limit 1) c
        join cluster_members m on m.script_id = c.id
        join scripts root on root.id = c.id
        join scripts last on last.id = m.previous_id
      where root.address is not null and last.address is not null
    ), covenant as (
      select covenant_id
      from (select covenant_id, utxo_count, last_seen from covenants
        order by last_seen desc, covenant_id desc limit ${LATEST_COVENANTS}) latest
      order by utxo_count > 0 desc, last_seen desc, covenant_id desc
      limit 1
    )
    select encode(accepted.transaction_id, 'hex') as "transactionId",
      encode(b.hash, 'hex') as "blockHash", b.daa_score as "daaScore",
      coalesce((select address from recipient), (select address from rich)) as address,
      (select address from tags order by address limit 1) as "taggedAddress", members.member,
      members.other as "otherMember", encode(covenant.covenant_id, 'hex') as "covenantId",
      (select s.address
       from (select script_id from utxos where covenant_id = covenant.covenant_id
         limit ${UTXOS_OF_COVENANT}) u
         join scripts s on s.id = u.script_id
       where s.address is not null limit 1) as "covenantAddress",
      (select encode(hash, 'hex') from programs order by hash limit 1) as "programHash",
      (select encode(template, 'hex') from program_templates
        order by spend_count desc, template desc limit 1) as template,
      (select lane_namespace(s.subnetwork_id) from lanes l
        join subnetworks s on s.id = l.subnetwork_id
       order by l.last_seen desc, l.subnetwork_id desc limit 1) as namespace
    from accepted
      join blocks b on b.id = accepted.block_id
      left join members on true
      left join covenant on true
    where rank = 1`;
}

type MempoolSample = Awaited<ReturnType<Services['mempool']['get']>>;

function findPayment({ transactions }: MempoolSample): { transactionId: string; address: string } | undefined {
  for (const { id: transactionId, paid } of transactions.values()) {
    let address = '';
    paid.forEach((of) => {
      address ||= of;
    });
    if (address !== '') return { transactionId, address };
  }
  return undefined;
}
