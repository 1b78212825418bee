/**
 * The views show of a chain what its node's DAG tells (test/cookbook/history.ts, which reads no
 * database): a chain with reorganisations, red blocks, refused transactions, ids with several
 * variants and scripts without an address. What people add, and clusters, are compared with what
 * was put in.
 */
import { upsertTags } from '@kasgres/database';
import { createTestDatabase, insertCluster, type TestDatabase } from '@kasgres/database/testing';
import type { DagBlock } from '@kasgres/devnet';
import { decodeCoinbasePayload, difficultyFromBits, scriptToAddress, toHex } from '@kasgres/kaspa';
import { NodeClient } from '@kasgres/node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Utxo, known, outpoint, sumOf, readHistory, type Transaction, type History } from '../cookbook/history.ts';
import { atRest, SEED } from '../support/harness.ts';
import { startIndexing, SimulatedDag } from '../support/simulated-dag.ts';

let simulatedDag: SimulatedDag;
let database: TestDatabase;
let oracle: History;

beforeAll(async () => {
  console.log(`SEED=${SEED} (views)`);
  simulatedDag = await SimulatedDag.start(`${SEED} views`);
  const node = new NodeClient({ url: simulatedDag.server.url });
  database = await createTestDatabase();
  simulatedDag.mine(70);
  const indexer = startIndexing(simulatedDag, database.url);
  await atRest(database, node, indexer);
  for (let round = 0; round < 3; round += 1) {
    simulatedDag.mine(12);
    simulatedDag.reorganise();
    await atRest(database, node, indexer);
  }
  simulatedDag.mine(10);
  await atRest(database, node, indexer);
  await indexer.stop();
  await node.close();
  oracle = readHistory(simulatedDag.node);
});
afterAll(async () => {
  simulatedDag.stop();
  await database.drop();
});

type Row = Record<string, unknown>;

async function ask(query: string, values: unknown[] = []): Promise<Row[]> {
  const { rows } = await database.pool.query<Row>(query, values);
  return rows;
}

/** As text that can be compared and read, for any kind of number; times as Unix milliseconds. */
const lineOf = (row: readonly unknown[]): string => row.map(textOf).join(' | ');

function textOf(value: unknown): string {
  if (value instanceof Date) return String(value.getTime());
  const json = JSON.stringify(value ?? null, (_key, part: unknown) => (typeof part === 'bigint' ? String(part) : part));
  return json.replaceAll('"', '');
}

/** The rows of a view, and no others, in any order. */
async function expectRows(query: string, expected: readonly (readonly unknown[])[]): Promise<void> {
  const rows = await ask(query);
  expect(expected.length).toBeGreaterThan(0);
  expect(rows.map((row) => lineOf(Object.values(row))).toSorted()).toEqual(expected.map(lineOf).toSorted());
}

const all = (): Transaction[] => [...oracle.transactions.values()];
const timeOf = (transaction: Transaction | undefined): number | undefined => transaction?.acceptedBy?.time;
const isFrom = (address: string) => (utxo: Utxo | undefined) => utxo?.address === address;

/** By addresses that a transaction touches, each once. */
function* touches(): Generator<{ transaction: Transaction; address: string; received: bigint; sent: bigint }> {
  for (const transaction of all()) {
    const addresses = [...transaction.inputs, ...transaction.outputs].map((utxo) => utxo?.address);
    for (const address of new Set(addresses.filter((one) => one !== undefined))) {
      const received = sumOf(transaction.outputs.filter(isFrom(address)));
      const sent = sumOf(transaction.inputs.filter((utxo) => utxo !== undefined).filter(isFrom(address)));
      yield { transaction, address, received, sent };
    }
  }
}

// Blocks that were seen and that no chain still merges are in an index, and not in what the DAG has
// of now.
const MERGED_OR_NEW = `(merging_block_hash is not null
  or hash in (select encode(hash, 'hex') from public.blocks, public.checkpoint
  where id = block_id or id = any(virtual_merge_set)))`;

/** Address and subsidy. Genesis has none. */
function minerOf({ transactions, parents }: DagBlock): [address: string | undefined, subsidy: bigint | undefined] {
  if (parents.length === 0) return [undefined, undefined];
  const { scriptPublicKey, subsidy } = decodeCoinbasePayload(known(transactions[0]).payload);
  return [scriptToAddress(scriptPublicKey, simulatedDag.node.network.addressPrefix), subsidy];
}

describe('views of the DAG', () => {
  test('it shows every block in kaspa.blocks', async () => {
    await expectRows(
      `select hash, time, blue_score, daa_score, blue_work, difficulty, nonce, is_chain_block,
              color, selected_parent_hash, merging_block_hash, merged_at, transaction_count,
              pruning_point, miner_address, subsidy_sompi from kaspa.blocks where ${MERGED_OR_NEW}`,
      oracle.blocks.map((block) => [
        block.hash,
        block.header.timestamp,
        block.header.blueScore,
        block.header.daaScore,
        block.header.blueWork,
        difficultyFromBits(block.header.bits),
        block.header.nonce,
        block.chainIndex !== undefined,
        block.mergingBlock && (block.mergingBlock.mergeSetBlues.includes(block) ? 'blue' : 'red'),
        block.selectedParent?.hash,
        block.mergingBlock?.hash,
        block.mergingBlock?.header.timestamp,
        block.transactions.length,
        toHex(block.header.pruningPoint),
        ...minerOf(block),
      ]),
    );
    expect(oracle.blocks.some((block) => block.mergingBlock?.mergeSetReds.includes(block))).toBe(true);
  });

  test('it shows every chain block in kaspa.chain_blocks', async () => {
    await expectRows(
      'select index, hash, time, chain_time, blue_score, accepted_transaction_count, blue_count, red_count from kaspa.chain_blocks',
      oracle.chain.map(({ index, block, time, chainTime, accepted }) => [
        index,
        block.hash,
        time,
        chainTime,
        block.header.blueScore,
        accepted.length,
        block.mergeSetBlues.length,
        block.mergeSetReds.length,
      ]),
    );
  });

  test('it shows the direct parents in kaspa.block_parents', async () => {
    await expectRows(
      `select block_hash, parent_hash from kaspa.block_parents
        where block_hash in (select hash from kaspa.blocks where ${MERGED_OR_NEW})`,
      oracle.blocks.flatMap((block) => block.parents.map((parent) => [block.hash, parent.hash])),
    );
  });

  test('it shows colours and merging blocks in kaspa.mergesets', async () => {
    await expectRows(
      'select chain_block_hash, block_hash, color, chain_index from kaspa.mergesets',
      oracle.chain.flatMap(({ block, index }) => [
        ...block.mergeSetBlues.map(({ hash }) => [block.hash, hash, 'blue', index]),
        ...block.mergeSetReds.map(({ hash }) => [block.hash, hash, 'red', index]),
      ]),
    );
  });

  test('it shows the transactions of each block in kaspa.block_transactions', async () => {
    await expectRows(
      `select block_hash, index, transaction_id from kaspa.block_transactions
        where block_hash in (select hash from kaspa.blocks where ${MERGED_OR_NEW})`,
      oracle.blocks.flatMap(({ hash, transactions }) =>
        transactions.map(({ transactionId }, index) => [hash, index, toHex(transactionId)]),
      ),
    );
  });
});

describe('views of transactions', () => {
  const SEEN = `transaction_id in (select transaction_id from kaspa.block_transactions
    where block_hash in (select hash from kaspa.blocks where ${MERGED_OR_NEW}))`;

  test('it shows accepted and unaccepted transactions in kaspa.transactions', async () => {
    await expectRows(
      `select transaction_id, accepted_at, is_coinbase, acceptance, accepting_block_hash, accepting_blue_score,
              case when acceptance = 'accepted' then fee_sompi end, payload, chain_index
         from kaspa.transactions where ${SEEN}`,
      all().map((transaction) => [
        transaction.id,
        timeOf(transaction),
        transaction.isCoinbase,
        transaction.acceptedBy === undefined ? 'not accepted' : 'accepted',
        transaction.acceptedBy?.block.hash,
        transaction.acceptedBy?.block.header.blueScore,
        transaction.acceptedBy && transaction.fee,
        toHex(transaction.body.payload),
        transaction.acceptedBy?.index,
      ]),
    );
    expect(all().some(({ acceptedBy }) => acceptedBy === undefined)).toBe(true);
  });

  test('it shows the hash of the accepted transaction variant', async () => {
    const accepted = oracle.chain.flatMap(({ block }) => block.accepted ?? []);
    const several = new Set(
      accepted
        .map(({ transaction }) => transaction)
        .filter(({ transactionId, hash }) =>
          known(oracle.transactions.get(toHex(transactionId))).blocks.some(({ transactions }) =>
            transactions.some(
              (other) => toHex(other.transactionId) === toHex(transactionId) && toHex(other.hash) !== toHex(hash),
            ),
          ),
        ),
    );
    expect(several.size).toBeGreaterThan(0);
    const rows = await ask(
      `select k.transaction_id, k.hash from kaspa.transactions k
        join public.transactions t on t.id = k.transaction_key
          where t.accepted_variant is not null`,
    );
    const hashes = new Map(
      accepted.map(({ transaction }) => [toHex(transaction.transactionId), toHex(transaction.hash)]),
    );
    expect(rows.length).toBeGreaterThan(accepted.length / 2);
    for (const row of rows)
      expect(row['hash'], String(row['transaction_id'])).toBe(hashes.get(String(row['transaction_id'])));
  });

  test('it shows kaspa.accepted_transactions in the order of acceptance', async () => {
    const rows = await ask(
      'select chain_index, index, accepting_block_hash, accepted_at, transaction_id, fee_sompi from kaspa.accepted_transactions order by chain_index, index',
    );
    const expected = oracle.chain.flatMap(({ index, block, time, accepted }) =>
      accepted.map(({ id, fee }, place) => [index, place, block.hash, time, id, fee]),
    );
    expect(rows.map((row) => lineOf(Object.values(row)))).toEqual(expected.map(lineOf));
  });

  test('it shows every input in kaspa.inputs', async () => {
    await expectRows(
      `select transaction_id, index, previous_transaction_id, previous_index, address, amount_sompi,
        covenant_id, is_accepted, accepted_at from kaspa.inputs
        where ${SEEN}`,
      all().flatMap((transaction) =>
        transaction.inputs.map((utxo, index) => {
          const { previousOutpoint } = known(transaction.body.inputs[index]);
          return [
            transaction.id,
            index,
            toHex(previousOutpoint.transactionId),
            previousOutpoint.index,
            utxo?.address,
            utxo?.amount,
            utxo?.covenantId,
            transaction.acceptedBy !== undefined,
            timeOf(transaction),
          ];
        }),
      ),
    );
  });

  test('it shows every output with its spender in kaspa.outputs', async () => {
    await expectRows(
      `select transaction_id, index, address, script, amount_sompi, is_accepted, accepted_at,
        spent_by, is_coinbase from kaspa.outputs where ${SEEN}`,
      all().flatMap((transaction) =>
        transaction.outputs.map((utxo) => [
          transaction.id,
          utxo.index,
          utxo.address,
          toHex(utxo.scriptPublicKey.script),
          utxo.amount,
          transaction.acceptedBy !== undefined,
          timeOf(transaction),
          oracle.spentBy.get(outpoint(utxo))?.id,
          transaction.isCoinbase,
        ]),
      ),
    );
  });
});

describe('views of state', () => {
  test('it shows the UTXOs at the sink in kaspa.utxos', async () => {
    await expectRows(
      'select transaction_id, index, address, amount_sompi, block_daa_score, is_coinbase from kaspa.utxos',
      oracle.utxos.map(({ transactionId, index, address, amount, acceptedBy }) => [
        transactionId,
        index,
        address,
        amount,
        acceptedBy.block.header.daaScore,
        known(oracle.transactions.get(transactionId)).isCoinbase,
      ]),
    );
  });

  test('it shows balances and activity in kaspa.addresses', async () => {
    const accepted = [...touches()].filter(({ transaction }) => transaction.acceptedBy !== undefined);
    await expectRows(
      `select address, balance_sompi, utxo_count, transaction_count, receiving_count, sending_count,
              coinbase_count, received_sompi, sent_sompi, first_seen, last_seen, tag, cluster
                from kaspa.addresses where transaction_count > 0`,
      [...Map.groupBy(accepted, ({ address }) => address)].map(([address, touched]) => {
        const utxos = oracle.utxos.filter((utxo) => utxo.address === address);
        const times = touched.map(({ transaction }) => known(transaction.acceptedBy).chainTime);
        return [
          address,
          sumOf(utxos),
          utxos.length,
          touched.length,
          touched.filter(({ received }) => received > 0n).length,
          touched.filter(({ sent }) => sent > 0n).length,
          touched.filter(({ transaction }) => transaction.isCoinbase).length,
          touched.reduce((sum, { received }) => sum + received, 0n),
          touched.reduce((sum, { sent }) => sum + sent, 0n),
          Math.min(...times),
          Math.max(...times),
          null,
          null,
        ];
      }),
    );
  });

  test('it shows the transactions of each address in kaspa.address_transactions', async () => {
    await expectRows(
      `select address, transaction_id, accepted_at, is_accepted, received_sompi, sent_sompi,
        change_sompi from kaspa.address_transactions
        where address is not null and is_accepted`,
      [...touches()]
        .filter(({ transaction }) => transaction.acceptedBy !== undefined)
        .map(({ transaction, address, received, sent }) => [
          address,
          transaction.id,
          timeOf(transaction),
          true,
          received,
          sent,
          received - sent,
        ]),
    );
  });

  test('it returns balances_at as balance_at of each address', async () => {
    const addresses = [...new Set([...touches()].map(({ address }) => address)), 'kaspasim:nobody'];
    const moments = oracle.chain.flatMap(({ chainTime }) => [chainTime - 1, chainTime]).slice(0, 12);
    for (const moment of [...moments, 0]) {
      const rows = await ask(
        `select address, set.balance_sompi::text as together, kaspa.balance_at(address, at)::text as alone
           from to_timestamp($2 / 1000::double precision) at
             cross join lateral kaspa.balances_at($1, at) set`,
        // Outputs without an address have a null.
        [[...addresses, null], moment],
      );
      expect(rows).toHaveLength(addresses.length);
      expect(rows.filter(({ together, alone }) => together !== alone)).toEqual([]);
    }
  });

  test('it shows the DAA score of spent UTXOs and its time', async () => {
    const accepted = all().filter(({ acceptedBy }) => acceptedBy !== undefined);
    const byId = new Map(accepted.map((transaction) => [transaction.id, known(transaction.acceptedBy)]));
    const rows = await ask(
      `select previous_transaction_id as id, utxo_daa_score::int as score,
        kaspa.time_of_daa_score(utxo_daa_score) as time
         from kaspa.inputs where is_accepted`,
    );
    expect(rows.length).toBeGreaterThan(50);
    for (const { id, score, time } of rows) {
      const { block } = known(byId.get(String(id)));
      expect([score, (time as Date).getTime()]).toEqual([
        Number(block.header.daaScore),
        Number(block.header.timestamp),
      ]);
    }
    expect(await ask('select kaspa.time_of_daa_score(1000000000) as above')).toEqual([{ above: null }]);
  });

  test('it returns balance_at before, at and after blocks, also where block times decrease', async () => {
    const byAddress = Map.groupBy(
      [...touches()].filter(({ transaction }) => transaction.acceptedBy !== undefined),
      ({ address }) => address,
    );
    const busiest = [...byAddress].toSorted(([, a], [, b]) => b.length - a.length).slice(0, 15);
    for (const [address, touched] of busiest) {
      const moments = touched.flatMap(({ transaction }) => {
        const time = known(transaction.acceptedBy).chainTime;
        return [time - 1, time, time + 1, time + 1_234_567];
      });
      const rows = await ask(
        `select m as moment, kaspa.balance_at($1,
          to_timestamp(m / 1000::double precision)) as balance from unnest($2::bigint[]) m`,
        [address, moments],
      );
      for (const { moment, balance } of rows) {
        const until = touched.filter(({ transaction }) => known(transaction.acceptedBy).chainTime <= Number(moment));
        const expected = until.reduce((sum, { received, sent }) => sum + received - sent, 0n);
        expect(String(balance), `${address} at ${String(moment)}`).toBe(String(expected));
      }
    }
    expect(await ask(`select kaspa.balance_at('kaspasim:nobody', now()) as balance`)).toEqual([{ balance: '0' }]);
    for (const early of ['1999-01-01', '-infinity'])
      expect(await ask(`select kaspa.balance_at('kaspasim:nobody', '${early}') as balance`)).toEqual([
        { balance: null },
      ]);
    expect(await ask(`select balance_sompi from kaspa.balances_at(array['kaspasim:nobody'], '-infinity')`)).toEqual([
      { balance_sompi: null },
    ]);
    expect(await ask(`select kaspa.balance_at('kaspasim:nobody', 'infinity') as balance`)).toEqual([{ balance: '0' }]);
  });
});

describe('rollups', () => {
  test.each([
    ['network_minutes', 60_000],
    ['network_hours', 3_600_000],
    ['network_days', 86_400_000],
  ])('%s', async (view, length) => {
    // The start merges and accepts nothing.
    const intervals = Map.groupBy(oracle.chain, ({ chainTime }) => Math.floor(chainTime / length) * length);
    const seen = new Set<string>();
    let supply = 0n;
    const expected = [...intervals].map(([start, blocks]) => {
      const merged = blocks.flatMap(({ block }) => block.mergeSet);
      const reds = blocks.flatMap(({ block }) => block.mergeSetReds);
      const accepted = blocks.flatMap((block) => block.accepted);
      const payments = accepted.filter(({ isCoinbase }) => !isCoinbase);
      const minted = accepted.reduce((sum, { inputs, outputs }) => sum + sumOf(outputs) - sumOf(inputs.map(known)), 0n);
      const active = new Set(
        accepted.flatMap(({ inputs, outputs }) => [...inputs, ...outputs].map((utxo) => known(utxo).script)),
      );
      const fresh = [...active].filter((script) => !seen.has(script));
      for (const script of fresh) seen.add(script);
      supply += minted;
      return [
        start,
        blocks.length,
        merged.length,
        reds.length,
        payments.length,
        payments.reduce((sum, { fee }) => sum + fee, 0n),
        payments.reduce((sum, { outputs }) => sum + sumOf(outputs), 0n),
        minted,
        supply,
        active.size,
        fresh.length,
      ];
    });
    await expectRows(
      `select start, chain_blocks, blocks, red_blocks, transactions, fees_sompi, volume_sompi,
              minted_sompi, supply_sompi, active_addresses, new_addresses from kaspa.${view}`,
      expected,
    );
  });

  test('it derives difficulty and red_share from the merged blocks', async () => {
    const rows = await ask('select difficulty, red_share, red_blocks, blocks from kaspa.network_days where blocks > 0');
    for (const { difficulty, red_share: share, red_blocks: reds, blocks } of rows) {
      expect(Number(difficulty)).toBeCloseTo(1, 5);
      expect(Number(share)).toBeCloseTo(Number(reds) / Number(blocks), 6);
    }
  });
});

describe('tags and clusters', () => {
  test('it shows tags, the cluster of an address, its name and its members', async () => {
    const scripts = await ask(`select id, address from public.scripts where address is not null order by id limit 6`);
    const addresses = scripts.map(({ address }) => String(address));
    const [own = '', root = '', member = '', lone = ''] = addresses;
    const owner = { name: 'Harbour Exchange', link: 'https://example.com', labels: ['exchange'] };
    await upsertTags(database.pool, [{ address: own, name: 'Somebody', link: '', labels: ['person'] }]);
    const members = [1, 2, 0].map((place) => known(scripts[place])['id'] as bigint);
    await insertCluster(database.pool, members, owner);

    await expectRows(
      `select address, tag, labels, cluster from kaspa.addresses
        where address = any('{${[own, root, member, lone].join()}}')`,
      [
        [own, 'Somebody', ['person'], root],
        [root, owner.name, owner.labels, root],
        [member, owner.name, owner.labels, root],
        [lone, null, [], null],
      ],
    );
    await expectRows('select cluster, address from kaspa.cluster_members', [
      [root, root],
      [root, member],
      [root, own],
    ]);
    await expectRows('select cluster, size, name, link, labels from kaspa.clusters', [
      [root, 3, owner.name, owner.link, owner.labels],
    ]);
    await expectRows('select address, name, link, labels from kaspa.tags', [[own, 'Somebody', '', ['person']]]);
    await expectRows('select address, name from kaspa.attributions', [[own, 'Somebody']]);
  });
});

test('it keeps times exact to the millisecond and amounts to the sompi', async () => {
  const [row] = await ask(
    `select count(*) filter (where extract(epoch from to_timestamp(ms / 1000::double precision)) * 1000 <> ms) as wrong
       from generate_series(1750000000000, 1750000100000) as ms`,
  );
  expect(row).toEqual({ wrong: 0n });
  const inexact = await ask(
    'select amount_kas from kaspa.outputs where amount_kas * 100000000 <> amount_sompi or scale(amount_kas) <> 8',
  );
  expect(inexact).toEqual([]);
});

test('it shows the sink in the one row of kaspa.index_status', async () => {
  await expectRows(
    'select network, sink, blue_score, time, circulating_sompi, first_catch_up from kaspa.index_status',
    [
      [
        'simnet',
        oracle.sink.block.hash,
        oracle.sink.block.header.blueScore,
        oracle.sink.time,
        sumOf(oracle.utxos),
        false,
      ],
    ],
  );
  await expectRows('select chain_index, block_hash, utxo_count from kaspa.starts', [
    [0, known(oracle.chain[0]).block.hash, 0],
  ]);
  expect(await ask('select * from kaspa.gaps')).toEqual([]);
});
