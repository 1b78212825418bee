import { createTestDatabase } from '@kasgres/database/testing';
import { blake2b256, toHex } from '@kasgres/kaspa';
import { templateOf } from '@kasgres/programs';
import type { ClientBase } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { CandidateTransactions } from '../first-catch-up/candidate-transactions.ts';
import { programs } from './programs.ts';
import { rebuildPrograms } from './rebuild.ts';

/** OP_1; OP_TXINPUTCOUNT OP_1 OP_EQUAL, which is introspection. */
const PLAIN = '51';
const NOTABLE = 'b35187';
const bytes = (hex: string): Buffer => Buffer.from(hex, 'hex');
const hashOf = (program: string): string => toHex(blake2b256(bytes(program)));
const templateHashOf = (program: string): string => toHex(templateOf(bytes(program)) ?? new Uint8Array());

async function readReveals(client: ClientBase, candidates?: CandidateTransactions): Promise<object[]> {
  await client.query(`truncate ${programs.tables?.emptied?.join(', ')}`);
  await rebuildPrograms(client, candidates);
  const { rows } = await client.query<object>('select * from found_reveals order by transaction_id, index');
  return rows;
}

test('what a first catch-up saw gives the same reveals as all rows', async () => {
  const { pool, drop } = await createTestDatabase();
  onTestFinished(drop);
  const client = await pool.connect();
  onTestFinished(() => client.release(true));
  // By key: 10 was accepted twice, 11 in its second variant, 12 is not accepted, 13 spends a
  // covenant, 14 does not, 15 reveals another program than it spends, 16 has a variant that became
  // known later.
  await client.query(
    `insert into scripts (id, version, script, type)
     select id, 0, decode('aa20' || hash || '87', 'hex'), 'scripthash'
       from (values (1, '${hashOf(NOTABLE)}'), (2, '${hashOf(PLAIN)}')) scripts (id, hash);
     insert into chain_blocks (index, block_id, blue_score, daa_score, timestamp, chain_time,
       highest_transaction, lowest_transaction, hash, accepted_transactions)
     values (7, 1, 0, 0, 0, 9, 16, 1, '', '{16, 10, 11, 13, 14, 15}');
     insert into transactions (id, transaction_id, hash, version, lock_time, subnetwork_id, gas,
       payload, storage_mass, compute_mass, json_bytes, fee, accepting_index, accepted_variant)
     select id, sha256(int4send(id)), '', 0, 0, 0, 0, '', 0, 0, 0, 3,
            case when id <> 12 then 7 end, case id when 12 then null when 11 then 1 else 0 end
       from generate_series(10, 16) id;
     insert into transaction_outputs (transaction_id, index, amount, script_id, covenant_id)
     values (5, 20, 1, 2, sha256('covenant')), (5, 21, 1, 2, null);
     insert into transaction_inputs (transaction_id, index, previous_transaction_id, previous_index,
       script_id, sig_op_count, compute_budget, sequence, signature_script)
     select id, 0, 5, previous_index, script_id, 0, 0, 0,
            decode(case when id in (13, 14) then '01${PLAIN}' else '03${NOTABLE}' end, 'hex')
       from (values (10, 1, 1), (11, 2, 1), (12, 3, 1), (13, 20, 2), (14, 21, 2), (15, 4, 2), (16, 5, 1))
         inputs (id, previous_index, script_id);
     insert into transaction_variant_inputs (transaction_id, variant, index, signature_script,
       sig_op_count, compute_budget) values (11, 1, 0, '\\x03${NOTABLE}', 0, 0);
     insert into possible_reveals (transaction_id, index, variant, length, uses, hash, template)
     select id, 0, variant, length, uses, decode(hash, 'hex'), decode(template, 'hex')
       from (values (10, 0), (10, 0), (11, 0), (11, 1), (12, 0), (15, 0), (16, 0)) seen (id, variant)
      cross join (values (3, 1, '${hashOf(NOTABLE)}', '${templateHashOf(NOTABLE)}')) notable (length, uses, hash, template)
     union all
     select id, 0, 0, 1, 0, '\\x${hashOf(PLAIN)}', '\\x${templateHashOf(PLAIN)}' from (values (13), (14)) seen (id)`,
  );
  const candidates = new CandidateTransactions(false);
  candidates.hasCovenants = true;
  candidates.unsettled.add(16);
  const expected = await readReveals(client);
  expect(expected).toMatchObject(
    [10, 11, 13, 16].map((key) => ({ transaction_id: BigInt(key), chain_index: 7n, fee: 3n })),
  );
  expect(await readReveals(client, candidates)).toEqual(expected);
});
