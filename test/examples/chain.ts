/** The simulated chain of the examples in openapi.json, the same in every run. */
import type { ExampleChain } from '@kasgres/api';
import { upsertTags } from '@kasgres/database';
import { toHex } from '@kasgres/kaspa';
import { NodeClient } from '@kasgres/node';
import { toMempoolEntry } from '../../packages/api/src/resources/mempool/to-mempool-entry.ts';
import { openHarness, type Harness } from '../api/harness.ts';
import { cluster } from '../simulation/clusters-harness.ts';
import { SimulatedDag } from '../support/simulated-dag.ts';

/** Enough for the hash rate, whose window is 1,000 blocks. */
const ROUNDS = 1000;
const SEED = 'api';
/** The clustering depth of the network. */
const CLUSTER_DEPTH = 100n;

/** Opens an index with two payments in the mempool. The indexer is stopped, so that nothing changes. */
export async function openChain(): Promise<Harness & { chain: ExampleChain }> {
  const harness = await openHarness({ rounds: ROUNDS });
  await harness.indexer.stop();
  const payment = await nextPayment();
  harness.simulatedDag.pay(2);
  const [entry] = harness.simulatedDag.node.mempool.ready();
  const { entries } = await harness.node.call('getMempoolEntries', {});
  const receiver = entries[0]?.transaction?.outputs[0]?.verboseData?.scriptPublicKeyAddress;
  if (entry === undefined || receiver === undefined) throw new Error('nothing is in the mempool');
  const address = await findAddress(harness);
  await cluster(harness.database, { depth: CLUSTER_DEPTH });
  const members = await findMembers(harness);
  await upsertTags(harness.database.pool, [
    { address, name: 'Harbour Exchange', link: 'https://example.com/harbour-exchange', labels: ['exchange'] },
    { address: members.otherMember, name: 'Lighthouse Pool', link: '', labels: ['pool'] },
  ]);
  const { transactionId, ...position } = await findPosition(harness);
  return {
    ...harness,
    chain: {
      address,
      taggedAddress: address,
      ...members,
      transactionId,
      unknownTransactionId: 'ab'.repeat(32),
      ...position,
      early: await findEarlyBlock(harness),
      mempoolTransactionId: toHex(entry.transaction.transactionId),
      mempoolAddress: receiver,
      payment,
    },
  };
}

/** Returns the third payment of an identical network; the harness makes the first two. */
async function nextPayment(): Promise<object> {
  const twin = await SimulatedDag.start(SEED);
  const node = new NodeClient({ url: twin.server.url });
  try {
    twin.mine(ROUNDS);
    twin.pay(3);
    const last = [...twin.node.mempool.ready()].at(-1);
    if (last === undefined) throw new Error('nobody pays');
    const { entry } = await node.call('getMempoolEntry', { txId: toHex(last.transaction.transactionId) });
    if (entry === undefined) throw new Error('the payment is not in the mempool');
    return withoutVerboseData(toMempoolEntry(entry).transaction);
  } finally {
    await node.close();
    twin.stop();
  }
}

/** Removes the fields that a node derives from the others. */
function withoutVerboseData(value: object): object {
  return JSON.parse(JSON.stringify(value), (key, part: unknown) =>
    key === 'verboseData' ? undefined : part,
  ) as object;
}

async function findAddress({ database }: Harness): Promise<string> {
  const { rows } = await database.pool.query<{ address: string }>(`
    select s.address from scripts s join balances b on b.script_id = s.id
    where s.address is not null and b.balance > 0 and b.utxo_count between 2 and 3 and b.transaction_count >= 5
    order by b.transaction_count, s.address limit 1`);
  const [row] = rows;
  if (row === undefined) throw new Error('no address has a small history');
  return row.address;
}

interface Members {
  /** The last and the first of a few addresses that belong together. */
  member: string;
  otherMember: string;
}

/** Returns the first and the last member of a cluster of three or four. */
async function findMembers({ database }: Harness): Promise<Members> {
  const { rows } = await database.pool.query<Members>(`
    select last.address as member, root.address as "otherMember"
    from clusters c
      join cluster_members m on m.script_id = c.id
      join scripts root on root.id = c.id
      join scripts last on last.id = m.previous_id
    where c.size between 3 and 4
    order by root.address limit 1`);
  const [row] = rows;
  if (row === undefined) throw new Error('no cluster has three or four members');
  return row;
}

type Position = Pick<ExampleChain, 'transactionId' | 'blockHash' | 'sink' | 'daaScore'>;

async function findPosition({ database }: Harness): Promise<Position> {
  const { rows } = await database.pool.query<Position>(`
    select encode(t.transaction_id, 'hex') as "transactionId", encode(b.hash, 'hex') as "blockHash",
      encode(sink.hash, 'hex') as sink, b.daa_score as "daaScore"
    from chain_blocks c
      join blocks b on b.id = c.block_id
      join checkpoint p on c.index = p.chain_index - 2
      join blocks sink on sink.id = p.block_id
      join transactions t on t.accepting_block_id = b.id
    where t.subnetwork_id <> 1
    order by cardinality(b.merge_set_blues), t.transaction_id limit 1`);
  const [row] = rows;
  if (row === undefined) throw new Error('the block accepts no payment');
  return row;
}

async function findEarlyBlock({ database }: Harness): Promise<ExampleChain['early']> {
  const { rows } = await database.pool.query<ExampleChain['early']>(`
    select encode(b.hash, 'hex') as "blockHash", b.daa_score::text as "daaScore"
    from chain_blocks c join blocks b on b.id = c.block_id where c.index = 10`);
  const [row] = rows;
  if (row === undefined) throw new Error('the chain is too short');
  return row;
}
