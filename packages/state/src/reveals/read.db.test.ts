import { createTestDatabase } from '@kasgres/database/testing';
import { blake2b256, toHex } from '@kasgres/kaspa';
import { expect, onTestFinished, test } from 'vitest';
import { readReveals } from './read.ts';

/**
 * As many as the blocks that a chain block may merge have. A search of its list for each would take
 * a minute.
 */
const ACCEPTED = 100_000;
const READ = 4_000;

test('what many transactions of one chain block reveal is read in one walk of what it accepts', async () => {
  const { pool, drop } = await createTestDatabase();
  onTestFinished(drop);
  const hash = toHex(blake2b256(Buffer.from('51', 'hex')));
  await pool.query(
    `insert into programs (transaction_id, first_seen, spend_count, index, length, uses, is_bare, hash)
     values (1, 0, 1, 0, 1, 1, false, decode('${hash}', 'hex'));
     insert into scripts (id, version, script, type)
       values (1, 0, decode('aa20${hash}87', 'hex'), 'scripthash');
     insert into chain_blocks (index, block_id, blue_score, daa_score, timestamp, chain_time,
       highest_transaction, lowest_transaction, hash, accepted_transactions)
     select 7, 1, 0, 0, 0, 9, ${ACCEPTED}, 1, '', array_agg(id order by id)
       from generate_series(1, ${ACCEPTED}) id;
     insert into transactions (id, transaction_id, hash, version, lock_time, subnetwork_id, gas,
       payload, storage_mass, compute_mass, json_bytes, accepting_index, accepted_variant)
     select id, sha256(int4send(id)), '', 0, 0, 0, 0, '', 0, 0, 0, 7, 0
       from generate_series(1, ${ACCEPTED}) id;
     insert into transaction_inputs (transaction_id, index, previous_transaction_id, previous_index,
       script_id, sig_op_count, compute_budget, sequence, signature_script)
     select id, 0, 0, id, 1, 0, 0, 0, '\\x0151' from generate_series(1, ${ACCEPTED}) id`,
  );
  const client = await pool.connect();
  onTestFinished(() => client.release(true));
  await client.query("set statement_timeout = '1s'");
  const last = Array.from({ length: READ }, (_, i) => ACCEPTED - READ + 1 + i);
  const positions: number[] = [];
  for await (const page of readReveals(client, last.map(BigInt))) {
    for (const { position, chainBlock } of page) {
      positions.push(position);
      expect(chainBlock.index).toBe(7);
    }
  }
  expect(positions.sort((a, b) => a - b)).toEqual(last.map((id) => id - 1));
});
