/**
 * Inscriptions follow the chain through reorgs: they are what the decoders find in what the node's
 * chain accepts.
 */
import { p2shOf } from '@kasgres/devnet';
import { toHex, type ScriptPublicKey } from '@kasgres/kaspa';
import { decodeInscriptions, revealedProgram } from '@kasgres/programs';
import { backfillInscriptions } from '@kasgres/state';
import type { Pool } from 'pg';
import { expect, test } from 'vitest';
import { scriptOf } from '@kasgres/devnet/testing';
import { checkInvariant4 } from '@kasgres/verification';
import { atRest, createHarness, expectRight } from '../support/harness.ts';
import { envelope, pay } from '../support/inscribed-payments.ts';
import { mineRewards } from '../support/lane-payments.ts';
import { startIndexing, type SimulatedDag } from '../support/simulated-dag.ts';

const mint = (tick: string): string => JSON.stringify({ p: 'krc-20', op: 'mint', tick });

const DEEP = '['.repeat(10_000);
const PAYLOADS = [
  mint('KASP'),
  mint('kasp'),
  'kasplex',
  'ciph_msg:1:bcast:Kaspa:hello',
  'ciph_msg:1:bcast:a\u202eb:hidden',
  'k:1:post:hello',
  `{"p":"krc-20","op":"mint","tick":"KASP","x":${DEEP}`,
  '{"p":"krc-20","op":"mint","tick":"\\u0000\\ud800"}',
  'nothing of a protocol',
  '\u0000',
];

/** `transaction input script protocol operation tick` of each. */
type Line = string;

async function inscriptionsOf(pool: Pool): Promise<Line[]> {
  const { rows } = await pool.query<{ line: Line }>(
    `select concat_ws(' ', encode(t.transaction_id, 'hex'), i.input, encode(s.script, 'hex'),
      k.protocol, k.operation, k.tick) as line
     from inscriptions i join inscription_kinds k on k.id = i.kind_id
       join transactions t on t.id = i.transaction_id
     join scripts s on s.id = i.owner_script_id`,
  );
  return rows.map(({ line }) => line).toSorted();
}

interface Expected {
  lines: Line[];
  /** `protocol transactions` over all hours. */
  counts: Map<string, number>;
}

function expectedOf({ node }: SimulatedDag): Expected {
  const scripts = new Map<string, ScriptPublicKey>();
  const lines: Line[] = [];
  const counts = new Map<string, number>();
  for (const { transaction } of node.dag.chainBlocks.flatMap(({ accepted = [] }) => accepted)) {
    const id = toHex(transaction.transactionId);
    for (const [index, { scriptPublicKey }] of transaction.outputs.entries())
      scripts.set(`${id}:${index}`, scriptPublicKey);
    const spent = transaction.inputs.map(({ previousOutpoint: { transactionId, index } }) =>
      scripts.get(`${toHex(transactionId)}:${index}`),
    );
    const programs = transaction.inputs.map(
      ({ signatureScript }, i) => spent[i] && revealedProgram(spent[i], signatureScript),
    );
    const found = decodeInscriptions({ payload: transaction.payload, programs, sender: spent[0] });
    for (const { source, owner, protocol, isDecodable, operation = '', tick = '' } of found) {
      const input = source === 'payload' ? -1 : source.input;
      lines.push(
        [
          id,
          input,
          toHex(owner?.script ?? new Uint8Array(0)),
          protocol,
          isDecodable ? operation : 'undecodable',
          tick,
        ].join(' '),
      );
    }
    for (const protocol of new Set(found.map((each) => each.protocol)))
      counts.set(protocol, (counts.get(protocol) ?? 0) + 1);
  }
  return { lines: lines.toSorted(), counts };
}

async function expectInscriptions(pool: Pool, simulatedDag: SimulatedDag): Promise<number> {
  const { lines, counts } = expectedOf(simulatedDag);
  expect(await inscriptionsOf(pool)).toEqual(lines);
  const { rows } = await pool.query<{ protocol: string; count: number }>(
    'select protocol, sum(transactions)::integer as count from protocol_hours group by 1',
  );
  expect(new Map(rows.map(({ protocol, count }) => [protocol, count]))).toEqual(counts);
  expect(await checkInvariant4(pool)).toEqual([]);
  return lines.length;
}

test('inscriptions follow the chain through reorgs, and other decoders make them again', {
  timeout: 300_000,
}, async () => {
  const harness = await createHarness('inscriptions');
  const { simulatedDag, database, node } = harness;
  const { pool } = database;
  mineRewards(simulatedDag, 60);
  const indexer = startIndexing(simulatedDag, database.url);
  await atRest(database, node, indexer);
  let most = 0;
  for (let round = 0; round < 8; round += 1) {
    // The sender of this one has no output.
    const program = envelope(100 + round, 'kasplex', mint(`TICK${'ABCDEFGH'[round]}`));
    pay(simulatedDag, { to: p2shOf(program) });
    for (const payload of PAYLOADS.slice(round % 3)) pay(simulatedDag, { payload: Buffer.from(payload) });
    pay(simulatedDag, { program, payload: Buffer.from(mint('KASP')), to: scriptOf(4) });
    simulatedDag.mine(1);
    await atRest(database, node, indexer);
    most = Math.max(most, await expectInscriptions(pool, simulatedDag));
    if (round % 2 === 1) simulatedDag.reorganise(2 + 3 * round);
    await atRest(database, node, indexer);
    await expectInscriptions(pool, simulatedDag);
  }
  await indexer.stop();
  expect(most).toBeGreaterThan(20);
  expect(new Set(expectedOf(simulatedDag).lines.map((line) => line.split(' ')[1]))).toEqual(new Set(['-1', '0']));
  await expectRight(harness);

  const before = await inscriptionsOf(pool);
  // As earlier decoders would have left it, which read no programs and named a protocol otherwise.
  await pool.query('update inscription_decoders set version = 0');
  await pool.query(`update inscription_kinds set protocol = 'old' where protocol = 'kasia'`);
  await pool.query(`delete from inscriptions where input >= 0`);
  await pool.query('delete from protocol_hours');
  await pool.query(
    'insert into protocol_hours (hour, protocol, transactions, fees) select * from count_protocol_hours()',
  );
  const client = await pool.connect();
  try {
    while (await backfillInscriptions(client));
  } finally {
    client.release();
  }
  expect(await inscriptionsOf(pool)).toEqual(before);
  expect((await pool.query(`select from inscription_kinds where protocol = 'old'`)).rowCount).toBe(0);
  expect(await checkInvariant4(pool)).toEqual([]);
});
