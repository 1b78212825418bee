/**
 * The UTXOs of an address, page by page, against plain accounting over the DAG of the simulated
 * node.
 */
import { toHex } from '@kasgres/kaspa';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Accounts, openAccounts, someAddresses, STRANGER } from './accounts.ts';
import { walk } from '../support/listings.ts';
import { openHarness, type Harness } from './harness.ts';

const TEMPLATE = '/v1/addresses/{address}/utxos';

let harness: Harness;
let accounts: Accounts;

beforeAll(async () => {
  harness = await openHarness({ rounds: 300 });
  accounts = await openAccounts(harness);
});
afterAll(() => harness.close());

interface RestUtxo {
  transactionId: string;
  index: number;
}

const cursorOf = ({ transactionId, index }: RestUtxo): string => `${transactionId}:${index}`;
const byOutpoint = (a: RestUtxo, b: RestUtxo): number => (cursorOf(a) < cursorOf(b) ? -1 : 1);

const utxosOf = (address: string) => ({ template: TEMPLATE, values: { address }, field: 'utxos', cursorOf });

async function read(address: string, query: Record<string, string | number> = {}): Promise<RestUtxo[]> {
  const { json } = await harness.api.getChecked(TEMPLATE, { address }, { limit: 100, ...query });
  return json['utxos'] as RestUtxo[];
}

test('it lists the UTXOs of an address, newest transactions first', async () => {
  for (const address of someAddresses(accounts, 8)) {
    const listed = await walk(harness.api, utxosOf(address), 19);
    const expected = accounts.utxos(address).map((utxo) => ({
      transactionId: toHex(utxo.outpoint.transactionId),
      index: utxo.outpoint.index,
      amount: String(utxo.amount),
      blockDaaScore: String(utxo.blockDaaScore),
      isCoinbase: utxo.isCoinbase,
      scriptPublicKey: toHex(utxo.scriptPublicKey.script),
    }));
    expect(listed.toSorted(byOutpoint)).toEqual(expected.toSorted(byOutpoint));
    const { rows } = await harness.database.pool.query<{ place: string }>(
      `select encode(t.transaction_id, 'hex') || ':' || u.index as place from utxos u, transactions t
       where t.id = u.transaction_id and u.script_id in (select id from scripts where address = $1)
       order by t.id desc, u.index desc`,
      [address],
    );
    expect(listed.map(cursorOf)).toEqual(rows.map(({ place }) => place));
  }
});

test('it continues a listing of UTXOs after any output of the address, spent or never accepted', async () => {
  const { rows } = await harness.database.pool.query<{ address: string; id: string; index: number; accepted: boolean }>(
    `select s.address, encode(t.transaction_id, 'hex') as id, o.index, t.accepting_index is not null as accepted
     from transaction_outputs o join transactions t on t.id = o.transaction_id
       join scripts s on s.id = o.script_id
     where s.address is not null and t.id % 5 = 0
       and not exists (select from utxos u
         where u.transaction_id = o.transaction_id and u.index = o.index)`,
  );
  const onOnePage = rows.filter(({ address }) => accounts.utxos(address).length <= 100);
  expect(new Set(onOnePage.map(({ accepted }) => accepted))).toEqual(new Set([true, false]));
  for (const { address, id, index } of onOnePage.slice(0, 60)) {
    const cursor = `0x${id.toUpperCase()}:${index}`;
    const before = await read(address, { ending_before: cursor });
    const behind = await read(address, { starting_after: cursor });
    expect([...before, ...behind]).toEqual(await read(address));
  }
});

test('it refuses cursors of other addresses, unknown outputs and malformed cursors', async () => {
  const [address = '', other = ''] = accounts.holders;
  const [first] = (await read(address)) as [RestUtxo];
  const cases: [string, string, number][] = [
    [other, cursorOf(first), 404],
    [STRANGER, cursorOf(first), 404],
    [address, `${first.transactionId}:2147483648`, 404],
    [address, `${first.transactionId}:9999999999`, 404],
    [address, `${'ab'.repeat(32)}:0`, 404],
    [address, first.transactionId, 400],
    [address, `${first.transactionId}:`, 400],
    [address, `${first.transactionId}:-1`, 400],
    [address, `${first.transactionId}:0:0`, 400],
  ];
  for (const [holder, cursor, status] of cases) {
    const response = await harness.api.getChecked(TEMPLATE, { address: holder }, { starting_after: cursor });
    expect(response.status, cursor).toBe(status);
  }
});

test('it lists no UTXOs for an unseen address', async () => {
  const { json } = await harness.api.getChecked(TEMPLATE, { address: STRANGER });
  expect(json).toEqual({ utxos: [], metadata: { hasMore: false, count: 0 } });
});

test('it continues a listing of UTXOs after the UTXO of the cursor is spent', async () => {
  const [address = ''] = accounts.holders.toSorted((a, b) => accounts.utxos(b).length - accounts.utxos(a).length);
  const before = (await walk(harness.api, utxosOf(address), 100)).map(cursorOf);
  let now: Set<string>;
  let spent: number;
  do {
    harness.simulatedDag.mine(5);
    await harness.atRest();
    now = new Set((await walk(harness.api, utxosOf(address), 100)).map(cursorOf));
    // In the middle, so that there is something on both of its sides.
    spent = before.findIndex((utxo, place) => place > 3 && place < before.length - 3 && !now.has(utxo));
  } while (spent === -1);
  const cursor = before[spent] ?? '';
  const stillThere = (utxos: readonly string[]) => utxos.filter((utxo) => now.has(utxo));
  const wereThere = (utxos: readonly RestUtxo[]) => utxos.map(cursorOf).filter((utxo) => before.includes(utxo));
  const behind = wereThere(await read(address, { starting_after: cursor }));
  expect(behind.length).toBeGreaterThan(0);
  expect(behind).toEqual(stillThere(before.slice(spent + 1)).slice(0, behind.length));
  const ahead = wereThere(await read(address, { ending_before: cursor }));
  expect(ahead.length).toBeGreaterThan(0);
  expect(ahead).toEqual(stillThere(before.slice(0, spent)).slice(-ahead.length));
});
