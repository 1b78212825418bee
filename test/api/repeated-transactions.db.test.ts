/**
 * Anybody can mine accepted payments of others again and again, and transactions that claim to
 * spend what others own. Responses have at most 16 of the blocks of a transaction with their
 * number, and the accepted spender of an output regardless of how many others there are.
 */
import { assembleBlock, type DagTransaction, withDerived } from '@kasgres/devnet';
import { NATIVE_SUBNETWORK, type Outpoint } from '@kasgres/kaspa';
import { verifyState } from '@kasgres/state';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { acceptedHashIn, compareTransactions, readTransactions } from '../support/compare/transactions.ts';
import { type Harness, openHarness } from './harness.ts';

const COPIES = 24;
const CLAIMS = 8;

let harness: Harness;
/**
 * Payments to one address, each mined in COPIES further blocks. The second one's first output is
 * spent by an accepted transaction.
 */
let payments: { id: string; key: bigint }[];

beforeAll(async () => {
  harness = await openHarness({ rounds: 80 });
  const { rows } = await harness.database.pool.query<{ id: string; key: bigint; is_spent: boolean }>(
    `select encode(t.transaction_id, 'hex') as id, t.id as key, spent.is_spent
       from transactions t
      cross join lateral (
        select exists (select from transaction_inputs i
          join transactions s on s.id = i.transaction_id
                        where i.previous_transaction_id = t.id and i.previous_index = 0
                          and s.accepting_index is not null) as is_spent) spent
      where t.subnetwork_id = 0 and t.accepting_index is not null
        and not exists (select from transaction_variants b where b.transaction_id = t.id)
      order by t.id`,
  );
  payments = [rows.find(({ is_spent }) => !is_spent), rows.find(({ is_spent }) => is_spent)].filter(
    (row) => row !== undefined,
  );
  await mineAgain(
    harness,
    payments.map(({ id }) => id),
  );
  await harness.atRest();
});
afterAll(() => harness.close());

/**
 * Mines blocks that contain these transactions again, and others that claim to spend their first
 * outputs.
 */
async function mineAgain({ simulatedDag: { node }, atRest }: Harness, ids: readonly string[]): Promise<void> {
  const { consensus, dag } = node;
  const all = [...dag.allBlocks()].flatMap(({ transactions }) => transactions);
  const copied = ids.map((id) => all.find(({ transactionId }) => Buffer.from(transactionId).toString('hex') === id));
  if (copied.some((transaction) => transaction === undefined)) throw new Error('the payments are not in the DAG');
  const again = copied as DagTransaction[];
  const script = again[0]?.outputs[0]?.scriptPublicKey;
  if (script === undefined) throw new Error('a payment without an output');
  const mine = (payments: readonly DagTransaction[], nonce: number): void => {
    const miner = { scriptPublicKey: script, extraData: new Uint8Array(0) };
    const body = { virtual: consensus.virtual, miner, timestamp: node.now(), nonce: BigInt(nonce) };
    node.receive(assembleBlock(consensus, { ...body, payments }));
  };
  for (let mined = 0; mined < COPIES; mined += 1) {
    for (const payment of again) mine([payment], mined);
    if (mined < CLAIMS) mine(claimsOf(again, BigInt(mined + 1)), mined);
    harness.simulatedDag.mine(1);
    if (mined % 8 === 0) await atRest();
  }
}

const claimsOf = (spent: readonly DagTransaction[], sequence: bigint): DagTransaction[] =>
  spent.map(({ transactionId }) => claim({ transactionId, index: 0 }, sequence));

/** Pays more than there is, so that nobody can accept it. */
function claim(previousOutpoint: Outpoint, sequence: bigint): DagTransaction {
  return withDerived({
    version: 0,
    inputs: [{ previousOutpoint, signatureScript: new Uint8Array(0), sequence, sigOpCount: 1, computeBudget: 0 }],
    outputs: [
      { amount: 10n ** 17n, scriptPublicKey: { version: 0, script: Uint8Array.of(0x51) }, covenant: undefined },
    ],
    lockTime: 0n,
    subnetworkId: NATIVE_SUBNETWORK,
    gas: 0n,
    payload: new Uint8Array(0),
    storageMass: 10_000n,
  });
}

interface Shown {
  blockHashes: string[];
  blockCount: number;
  acceptingBlockHash: string;
  outputs: { spentBy: string | null; isSpent: boolean }[];
}

async function show(id: string | undefined): Promise<Shown> {
  const { json } = await harness.api.get(`/v1/transactions/${id}`);
  return json['transaction'] as Shown;
}

test('every transaction is shown as the node has it', async () => {
  const dag = await readTransactions(
    harness.node,
    harness.database.pool,
    acceptedHashIn(harness.simulatedDag.node.dag),
  );
  expect(await compareTransactions(harness.api, dag)).toEqual([]);
});

test('a transaction in many blocks is shown with 16 of them and their number', async () => {
  for (const { id, key } of payments) {
    const { blockHashes, blockCount } = await show(id);
    const { rows } = await harness.database.pool.query<{ hash: string; is_accepting: boolean }>(
      `select encode(b.hash, 'hex') as hash, b.merging_block_id = c.block_id as is_accepting
         from block_transactions bt join blocks b on b.id = bt.block_id
           join transactions t on t.id = bt.transaction_id
         join chain_blocks c on c.index = t.accepting_index where bt.transaction_id = $1`,
      [key],
    );
    expect(blockCount).toBe(rows.length);
    expect(blockCount).toBeGreaterThanOrEqual(COPIES);
    expect(blockHashes).toHaveLength(16);
    expect(blockHashes).toEqual(
      expect.arrayContaining(rows.filter(({ is_accepting }) => is_accepting).map(({ hash }) => hash)),
    );
  }
});

test('an output that many claim to spend has its accepted spender, or else one that is not', async () => {
  const [unspent, spent] = await Promise.all(payments.map(({ id }) => show(id)));
  expect(unspent?.outputs[0]).toMatchObject({ spentBy: expect.any(String) as string, isSpent: false });
  expect(spent?.outputs[0]?.isSpent).toBe(true);
  const { rows } = await harness.database.pool.query<{ id: string | null; claims: number }>(
    `select o.spent_by as id,
      (select count(*)::int from kaspa.inputs i
        where i.previous_transaction_id = o.transaction_id and i.previous_index = 0) as claims
       from kaspa.outputs o where o.transaction_id = any($1) and o.index = 0
         order by o.transaction_key`,
    [payments.map(({ id }) => id)],
  );
  expect(rows.map(({ claims }) => claims > CLAIMS - 1)).toEqual([true, true]);
  expect(new Set(rows.map(({ id }) => id))).toEqual(new Set([spent?.outputs[0]?.spentBy, null]));
});

test('the counts and spenders that are kept equal those of the rows', async () => {
  const { rows } = await harness.database.pool.query<{ repeated: number; contested: number }>(
    'select (select count(*)::int from repeated_transactions) as repeated, (select count(*)::int from contested_outputs) as contested',
  );
  expect(rows[0]?.repeated).toBeGreaterThanOrEqual(2);
  expect(rows[0]?.contested).toBeGreaterThanOrEqual(2);
  expect(await verifyState(harness.database.pool, 4)).toEqual([]);
});
