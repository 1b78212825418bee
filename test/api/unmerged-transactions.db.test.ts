/** The API also counts transactions of blocks that are not merged yet, which `balances` lacks. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Accounts, openAccounts } from './accounts.ts';
import { openHarness, type Harness } from './harness.ts';

let harness: Harness;
let accounts: Accounts;

beforeAll(async () => {
  harness = await openHarness({ rounds: 100 });
  // The end of the first catch-up counts all transactions, so blocks must follow it.
  for (let round = 0; round < 3; round += 1) {
    harness.simulatedDag.mine(4);
    await harness.atRest();
  }
  accounts = await openAccounts(harness);
});
afterAll(() => harness.close());

test('the number of transactions of an address contains those of blocks that are not merged yet', async () => {
  const { rows } = await harness.database.pool.query<{ address: string }>(
    `select distinct address from unmerged_touches, unnest(script_ids) script_id join scripts on id = script_id
      where address is not null`,
  );
  const addresses = rows.map(({ address }) => address);
  expect(addresses).not.toEqual([]);
  const expected = addresses.map((address) => accounts.transactions(address).size);
  const { json } = await harness.api.postChecked('/v1/addresses', { addresses });
  const together = json['addresses'] as { transactionCount: number }[];
  expect(together.map(({ transactionCount }) => transactionCount)).toEqual(expected);
  for (const [i, address] of addresses.entries()) {
    const alone = await harness.api.getChecked('/v1/addresses/{address}', { address });
    expect(alone.json['address']).toEqual(together[i]);
    const found = await harness.api.getChecked('/v1/search', {}, { q: address });
    expect(found.json['results']).toMatchObject([{ transactionCount: expected[i] }]);
    const counted = await harness.api.request(`/rest/addresses/${address}/transactions-count`);
    expect(counted.json).toMatchObject({ total: expected[i] });
  }
});
