/**
 * Steps of a chain with reorgs, with rows written by hand: they are those of a naive model, from
 * any block, cut by any limits.
 */
import { createTestDatabase, type TestDatabase } from '@kasgres/database/testing';
import { IndexReader } from '@kasgres/reads';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Change, StepChanges } from './changes.ts';
import { readStep, type Step, type StepRequest } from './read-step.ts';

const MAX_CHAIN_BLOCKS = 100;
const CHAIN_LENGTH = 230;
/** Where branches begin that were the chain once, and their lengths. */
const BRANCHES = [
  [20, 3],
  [90, 1],
  [91, 12],
  [140, 130],
  [200, 40],
] as const;

interface Transaction {
  id: number;
  /** Keys of scripts. */
  paid: number[];
  /** Keys of covenants. */
  covenants: number[];
}

interface Block {
  id: number;
  parent: Block | undefined;
  blueScore: number;
  /** Position on the chain. */
  index: number | undefined;
  /** The transactions that it accepted, if it is or was a chain block. */
  accepted: Transaction[];
}

const hashOf = (id: number): string => id.toString(16).padStart(64, '0');
const covenantIdOf = (key: number): string => `c${key}`.repeat(32);
const addressOf = (key: number): string => `kaspasim:${key}`;
const ADDRESSES = [1, 2, 3, 4];
const COVENANTS = [1, 2];

const blocks: Block[] = [];
const transactions: Transaction[] = [];
const chain: Block[] = [];

function addTransaction(): Transaction {
  const id = transactions.length + 1;
  const paid = ADDRESSES.filter((key) => (id + key) % (key + 1) === 0);
  const transaction = { id, paid, covenants: COVENANTS.filter((key) => id % (3 * key) === 0) };
  transactions.push(transaction);
  return transaction;
}

function addBlock(parent: Block | undefined, index: number | undefined, wasOnChain: boolean): Block {
  const id = blocks.length + 1;
  const count = id % 29 === 0 ? 40 : 1 + ((id * 7) % 4);
  const accepted = wasOnChain ? Array.from({ length: count }, addTransaction) : [];
  const block = { id, parent, blueScore: (parent?.blueScore ?? 0) + 1 + (id % 3), index, accepted };
  blocks.push(block);
  return block;
}

let database: TestDatabase;
let index: IndexReader;

beforeAll(async () => {
  for (let position = 0; position < CHAIN_LENGTH; position += 1) chain.push(addBlock(chain.at(-1), position, true));
  for (const [fork, length] of BRANCHES) {
    let top = chain[fork];
    for (let n = 0; n < length; n += 1) top = addBlock(top, undefined, true);
    addBlock(top, undefined, false);
  }
  database = await createTestDatabase();
  index = new IndexReader(database);
  await database.pool.query("insert into meta (network) values ('simnet')");
  await database.pool.query(
    `insert into checkpoint (block_id, chain_index, next_block_id, next_transaction_id,
       next_script_id, next_subnetwork_id, circulating_sompi, virtual_merge_set, first_catch_up,
       target_blue_score, updated_at)
     values ($1, $2, 1000, 10000, 100, 2, 0, '{}', false, 0, now())`,
    [chain.at(-1)?.id, CHAIN_LENGTH - 1],
  );
  await insertFacts();
  await insertAcceptance();
});
afterAll(() => database.drop());

/** Inserts rows that are given as JSON. */
const insert = (text: string, rows: readonly object[]) => database.pool.query(text, [JSON.stringify(rows)]);

async function insertFacts(): Promise<void> {
  await insert(
    `insert into scripts (id, version, script, type, address)
     select id, 0, '', 'pubkey', address
       from jsonb_to_recordset($1) as row (id bigint, address text)`,
    ADDRESSES.map((id) => ({ id, address: addressOf(id) })),
  );
  await insert(
    `insert into covenants (id, event_count, balance, first_seen, last_seen, utxo_count, is_complete, covenant_id)
     select id, 0, 0, 0, 0, 0, true, decode(hex, 'hex')
       from jsonb_to_recordset($1) as row (id bigint, hex text)`,
    COVENANTS.map((id) => ({ id, hex: covenantIdOf(id) })),
  );
  await insert(
    `insert into blocks (id, timestamp, bits, daa_score, blue_score, selected_parent_id, version,
       transaction_count, is_chain_block, nonce, blue_work, hash, hash_merkle_root,
       accepted_id_merkle_root, utxo_commitment, pruning_point, parents_by_level, merge_set_blues,
       merge_set_reds)
     select id, 0, 0, 0, score, parent, 1, 0, on_chain, 0, score, decode(hash, 'hex'), '', '', '',
       '', '', '{}', '{}'
     from jsonb_to_recordset($1) as row (id bigint, score bigint, parent bigint,
       on_chain boolean, hash text)`,
    blocks.map(({ id, parent, blueScore, index: position }) => ({
      id,
      score: blueScore,
      parent: parent?.id,
      on_chain: position !== undefined,
      hash: hashOf(id),
    })),
  );
  await insert(
    `insert into transactions (id, transaction_id, hash, version, lock_time, subnetwork_id, gas,
      payload, storage_mass, compute_mass, json_bytes)
     select id, decode(hash, 'hex'), '', 0, 0, 0, 0, '', 0, 0, 0
       from jsonb_to_recordset($1) as row (id bigint, hash text)`,
    transactions.map(({ id }) => ({ id, hash: hashOf(id) })),
  );
  await insert(
    `insert into transaction_outputs (transaction_id, index, amount, script_id)
     select id, script, 1, script from jsonb_to_recordset($1) as row (id bigint, script bigint)`,
    transactions.flatMap(({ id, paid }) => paid.map((script) => ({ id, script }))),
  );
}

const eventsOf = ({ accepted }: Block) =>
  accepted.flatMap(({ id, covenants }, position) => covenants.map((covenant) => ({ id, covenant, position })));

async function insertAcceptance(): Promise<void> {
  await insert(
    `insert into chain_blocks (index, block_id, daa_score, timestamp, accepted_transactions,
       chain_time, highest_transaction, lowest_transaction, hash, blue_score)
     select index, id, 0, 0, accepted, 0, 0, 0, decode(hash, 'hex'), score
     from jsonb_to_recordset($1) as row (index bigint, id bigint, score bigint,
       accepted bigint[], hash text)`,
    chain.map(({ id, index: position, blueScore, accepted }) => ({
      index: position,
      id,
      score: blueScore,
      accepted: accepted.map((transaction) => transaction.id),
      hash: hashOf(id),
    })),
  );
  await insert(
    `insert into covenant_events (covenant_id, chain_index, transaction_id, position, kind)
     select covenant, index, id, position, 'transition'
     from jsonb_to_recordset($1) as row (covenant bigint, index bigint, id bigint,
       position integer)`,
    chain.flatMap((block) => eventsOf(block).map((event) => ({ ...event, index: block.index }))),
  );
  await insert(
    `insert into removed_chain_blocks (block_id, accepted_transactions, covenant_events)
     select id, accepted, events
       from jsonb_to_recordset($1) as row (id bigint, accepted bigint[], events jsonb)`,
    blocks
      .filter(({ index: position, accepted }) => position === undefined && accepted.length > 0)
      .map((block) => ({
        id: block.id,
        accepted: block.accepted.map(({ id }) => id),
        events: eventsOf(block).map(({ id, covenant }) => [id, covenantIdOf(covenant), 'transition', null]),
      })),
  );
}

interface Limits {
  transactions: number;
  changes: number;
}

interface Wanted {
  addresses: number[] | 'all' | undefined;
  covenants: number[] | 'all' | undefined;
  confirmations: number[];
}

/** The chain blocks whose transactions a step lists, by the name of the list. */
type Lists = Map<string, Block[]>;

function pathOf(start: Block): { off: Block[]; fork: Block } {
  const off: Block[] = [];
  let fork = start;
  for (; fork.index === undefined; fork = fork.parent as Block) off.push(fork);
  return { off, fork };
}

function listsOf(start: Block, taken: readonly Block[], confirmations: readonly number[]): Lists {
  const removed = taken.filter((block) => block.index === undefined);
  const added = taken.filter((block) => block.index !== undefined);
  const top = added.at(-1)?.blueScore ?? Number.NEGATIVE_INFINITY;
  const isConfirmed = (block: Block, number: number): boolean =>
    block.blueScore <= top - number && (block.blueScore > start.blueScore - number || added.includes(block));
  return new Map([
    ['reverted', removed],
    ['accepted', added],
    ...confirmations.map(
      (number) => [`confirmed ${number}`, chain.filter((block) => isConfirmed(block, number))] as const,
    ),
  ]);
}

const isIn = (wanted: number[] | 'all' | undefined) => (key: number) =>
  wanted === 'all' || wanted?.includes(key) === true;

/** The changes that a step has of a list, as texts. */
const addressesOf = (listed: readonly Block[], { addresses }: Wanted): string[] =>
  listed.flatMap((block) =>
    block.accepted.flatMap(({ id, paid }) =>
      paid.filter(isIn(addresses)).map((key) => `${hashOf(block.id)} ${hashOf(id)} ${addressOf(key)}`),
    ),
  );
const covenantsOf = (listed: readonly Block[], { covenants: wanted }: Wanted): string[] =>
  listed.flatMap((block) =>
    block.accepted.flatMap(({ id, covenants }) =>
      covenants.filter(isIn(wanted)).map((key) => `${hashOf(block.id)} ${hashOf(id)} ${covenantIdOf(key)}`),
    ),
  );

type End = 'all' | 'transactions' | 'changes' | 'blocks';

/** Returns the blocks of the step, and why it ends. */
function modelStep(start: Block, upTo: Block | undefined, wanted: Wanted, limits: Limits): [Block[], End] {
  const { off, fork } = pathOf(start);
  const highest = upTo === undefined ? CHAIN_LENGTH : Number(pathOf(upTo).fork.index);
  const following = [...off, ...chain.slice(Number(fork.index) + 1, highest + 1)];
  const isForAll = wanted.addresses === 'all' || wanted.covenants === 'all';
  for (const length of following.keys()) {
    const listed = [...listsOf(start, following.slice(0, length + 1), wanted.confirmations).values()].flat();
    const sum = listed.reduce((count, { accepted }) => count + accepted.length, 0);
    const changes = addressesOf(listed, wanted).length + covenantsOf(listed, wanted).length;
    if (length === MAX_CHAIN_BLOCKS) return [following.slice(0, length), 'blocks'];
    if (length > 0 && sum > limits.transactions) return [following.slice(0, length), 'transactions'];
    if (length > 0 && !isForAll && changes > limits.changes) return [following.slice(0, length), 'changes'];
  }
  return [following, 'all'];
}

function textsOf<Kind extends Change & { transactionId: string }>(
  changes: StepChanges<Kind> | undefined,
  nameOf: (change: Kind) => string,
): Map<string, string[]> | undefined {
  if (changes === undefined) return undefined;
  const texts = (list: readonly Kind[]) =>
    list.map((change) => `${change.acceptingBlockHash} ${change.transactionId} ${nameOf(change)}`);
  return new Map([
    ['reverted', texts(changes.reverted)],
    ['accepted', texts(changes.accepted)],
    ...Array.from(changes.confirmed, ([number, list]) => [`confirmed ${number}`, texts(list)] as const),
  ]);
}

const outlineOf = (step: Step) => ({
  from: step.from,
  to: step.to,
  blueScore: step.blueScore,
  isCaughtUp: step.isCaughtUp,
  removed: step.removed,
  added: step.added.map(({ hash, acceptedTransactionIds: ids }) => [hash, ids]),
  addresses: textsOf(step.changes, ({ address }) => address),
  covenants: textsOf(step.covenants, ({ covenantId }) => covenantId),
});

function modelOutline(start: Block, taken: readonly Block[], wanted: Wanted, withIds: boolean) {
  const lists = listsOf(start, taken, wanted.confirmations);
  const textsOfLists = (texts: (listed: readonly Block[], wanted: Wanted) => string[]) =>
    new Map(Array.from(lists, ([name, listed]) => [name, texts(listed, wanted)]));
  const last = taken.at(-1) as Block;
  const reached = last.index === undefined ? (last.parent as Block) : last;
  return {
    from: hashOf(start.id),
    to: hashOf(reached.id),
    blueScore: BigInt(reached.blueScore),
    isCaughtUp: reached === chain.at(-1),
    removed: (lists.get('reverted') ?? []).map(({ id }) => hashOf(id)),
    added: (lists.get('accepted') ?? []).map(({ id, accepted }) => [
      hashOf(id),
      withIds ? accepted.map((transaction) => hashOf(transaction.id)) : undefined,
    ]),
    addresses: wanted.addresses && textsOfLists(addressesOf),
    covenants: wanted.covenants && textsOfLists(covenantsOf),
  };
}

const wantedOf = (keys: number[]) =>
  fc.oneof(fc.constant(undefined), fc.constant('all' as const), fc.subarray(keys, { minLength: 1 }));

const requests = fc.record({
  start: fc.oneof(fc.nat(CHAIN_LENGTH - 1), fc.integer({ min: CHAIN_LENGTH, max: CHAIN_LENGTH + 190 })),
  upTo: fc.option(fc.nat(CHAIN_LENGTH + 190), { nil: undefined }),
  withIds: fc.boolean(),
  wanted: fc.record({
    addresses: wantedOf(ADDRESSES),
    covenants: wantedOf(COVENANTS),
    confirmations: fc.subarray([1, 7, 60, 400]),
  }),
  limits: fc.record({ transactions: fc.integer({ min: 1, max: 600 }), changes: fc.integer({ min: 1, max: 400 }) }),
});

const toRequest = ({ addresses, covenants, confirmations }: Wanted): Omit<StepRequest, 'withIds'> => ({
  addresses: Array.isArray(addresses) ? addresses.map(addressOf) : addresses,
  covenants: Array.isArray(covenants) ? { ids: covenants.map(covenantIdOf), templates: [] } : covenants,
  confirmations,
});

test('steps from any block are those of the model, and end where their transactions or changes are too many', async () => {
  const ends = new Map<End, number>();
  let removing = 0;
  await fc.assert(
    fc.asyncProperty(requests, async ({ start, upTo, withIds, wanted, limits }) => {
      let block = blocks[start] as Block;
      const last = upTo === undefined ? undefined : blocks[upTo];
      const given = { ...toRequest(wanted), withIds, limits, ...(last && { upTo: hashOf(last.id) }) };
      for (let count = 0; count < 3; count += 1) {
        const { step, state } = await readStep(index, hashOf(block.id), given, 'test');
        const [taken, end] = modelStep(block, last, wanted, limits);
        expect(step && outlineOf(step)).toEqual(
          taken.length === 0 ? undefined : modelOutline(block, taken, wanted, withIds),
        );
        if (step === undefined) return;
        expect(step.hasBalances).toBe(step.to === state.sinkHash);
        ends.set(end, (ends.get(end) ?? 0) + 1);
        if (step.removed.length > 0) removing += 1;
        block = blocks[Number.parseInt(step.to, 16) - 1] as Block;
      }
    }),
    { numRuns: 150, seed: 1 },
  );
  expect(Object.fromEntries(ends)).toEqual({
    all: expect.any(Number) as number,
    transactions: expect.any(Number) as number,
    changes: expect.any(Number) as number,
    blocks: expect.any(Number) as number,
  });
  expect(removing).toBeGreaterThan(50);
});

/**
 * Returns how many blocks a step from the first block has whose changes are those of one address.
 */
async function lengthOf(request: Partial<StepRequest>, from = 1): Promise<number> {
  const given = { withIds: false, addresses: [addressOf(1)], covenants: undefined, confirmations: [], ...request };
  const { step } = await readStep(index, hashOf(from), given, 'test');
  return (step?.removed.length ?? 0) + (step?.added.length ?? 0);
}

test('a step of all addresses or covenants has no limit of changes, nor one without either', async () => {
  const limits = { transactions: 10_000, changes: 1 };
  expect(await lengthOf({ limits })).toBe(1);
  expect(await lengthOf({ limits, addresses: 'all' })).toBe(MAX_CHAIN_BLOCKS);
  expect(await lengthOf({ limits, covenants: 'all' })).toBe(MAX_CHAIN_BLOCKS);
  expect(await lengthOf({ limits, addresses: undefined })).toBe(MAX_CHAIN_BLOCKS);
  expect(await lengthOf({})).toBe(MAX_CHAIN_BLOCKS);
});

test('an unknown block is a 404, and up to an unknown block there is no step', async () => {
  await expect(lengthOf({}, 9999)).rejects.toMatchObject({ statusCode: 404 });
  expect(await lengthOf({ upTo: hashOf(9999) })).toBe(0);
});

test('a step ends at a gap, from where the chain cannot be followed', async () => {
  const [first, lower, upper] = [0, 149, 150].map((position) => chain[position]) as [Block, Block, Block];
  await insert(
    `insert into bootstrap_blocks (chain_index, block_id, utxo_count, utxo_sompi)
     select index, id, 0, 0 from jsonb_to_recordset($1) as row (index bigint, id bigint)`,
    [first, upper],
  );
  await database.pool.query(
    "insert into gaps (after_block_hash, before_block_hash, reason) values (decode($1, 'hex'), decode($2, 'hex'), 'pruned')",
    [hashOf(lower.id), hashOf(upper.id)],
  );
  // A reader that has never seen a gap meets this one.
  await database.pool.query('update checkpoint set version = version + 1');
  expect(await lengthOf({}, chain[140]?.id)).toBe(9);
  expect(await lengthOf({}, upper.id)).toBe(CHAIN_LENGTH - 151);
  await expect(lengthOf({}, lower.id)).rejects.toMatchObject({ statusCode: 409 });
});
