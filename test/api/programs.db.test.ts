/**
 * Programs, templates, `include=programs` and their search, against what follows from the scripts
 * of accepted transactions.
 */
import { replaceTemplateSource } from '@kasgres/database';
import { blake2b256, fromHex, toHex } from '@kasgres/kaspa';
import { disassemble, namesOfUses, shapeOf, templateOf, usesOf } from '@kasgres/programs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { walk } from '../support/listings.ts';
import { APPLICATION_RATE } from '../support/simulated-dag.ts';
import { openHarness, type Harness } from './harness.ts';

let harness: Harness;
let spends: Spend[];

beforeAll(async () => {
  harness = await openHarness({ rounds: 150, simulation: { applicationRate: APPLICATION_RATE } });
  await harness.indexer.stop();
  spends = await listSpends();
});
afterAll(() => harness?.close());

/** An accepted input that spends a P2SH output, in the order of the chain. */
interface Spend {
  transactionId: string;
  input: number;
  script: string;
  signatureScript: string;
  covenantId: string | null;
}

interface Revealed extends Spend {
  bytes: Uint8Array;
  hash: string;
  template: string | null;
}

async function listSpends(): Promise<Spend[]> {
  const { rows } = await harness.database.pool.query<Spend>(`
    select encode(t.transaction_id, 'hex') as "transactionId", i.index as input,
      encode(s.script, 'hex') as script,
      encode(case when t.accepted_variant > 0
        then (variant_input(t.id, t.accepted_variant, i.index)).signature_script
          else i.signature_script end, 'hex')
        as "signatureScript",
      encode(o.covenant_id, 'hex') as "covenantId"
    from chain_blocks c cross join unnest(c.accepted_transactions) with ordinality a (key, place)
    join transactions t on t.id = a.key and t.accepted_variant is not null
      join transaction_inputs i on i.transaction_id = t.id
    join scripts s on s.id = i.script_id and s.type = 'scripthash'
    join transaction_outputs o on o.transaction_id = i.previous_transaction_id
      and o.index = i.previous_index
    order by c.index, a.place, i.index`);
  return rows;
}

function revealedBy(spend: Spend): Revealed {
  const bytes = shapeOf(fromHex(spend.signatureScript)).lastPush ?? new Uint8Array(0);
  const template = templateOf(bytes);
  return { ...spend, bytes, hash: toHex(blake2b256(bytes)), template: template === undefined ? null : toHex(template) };
}

/** The reveals that are kept. */
const kept = (): Revealed[] =>
  spends.map(revealedBy).filter(({ covenantId, bytes }) => covenantId !== null || usesOf(bytes) !== 0);

const read = async (
  template: string,
  values: Record<string, string> = {},
  query: Record<string, string | number> = {},
) => {
  const { status, json } = await harness.api.getChecked(template, values, query);
  expect(status, JSON.stringify(json)).toBe(200);
  return json;
};

test('it shows each program that was revealed, with its bytes and instructions', async () => {
  const byHash = Map.groupBy(kept(), ({ hash }) => hash);
  expect(byHash.size).toBeGreaterThan(3);
  for (const [hash, reveals] of byHash) {
    const [{ bytes, template, transactionId, input } = reveals[0] as Revealed] = reveals;
    const plain = await read('/v1/programs/{hash}', { hash });
    expect(plain['program']).toMatchObject({
      hash,
      length: bytes.length,
      uses: namesOfUses(usesOf(bytes)),
      template,
      isBare: false,
      firstRevealed: { transactionId, source: 'input', index: input },
      spendCount: reveals.length,
    });
    expect(plain['program']).not.toHaveProperty('bytes');
    const { program } = (await read(
      '/v1/programs/{hash}',
      { hash },
      { include: 'disassembly,bytes', limit: 1000 },
    )) as {
      program: {
        bytes: string;
        disassembly: { instructions: { name: string; offset: number }[]; nextOffset: unknown };
      };
    };
    expect(program.bytes).toBe(toHex(bytes));
    const expected = disassemble(bytes, { offset: 0, limit: 1000 });
    expect(program.disassembly.nextOffset).toBe(expected.nextOffset ?? null);
    expect(program.disassembly.instructions.map(({ name, offset }) => [name, offset])).toEqual(
      expected.instructions.map(({ name, offset }) => [name, offset]),
    );
  }
  const { status } = await harness.api.getChecked('/v1/programs/{hash}', { hash: 'ab'.repeat(32) });
  expect(status).toBe(404);
});

test('it pages the instructions of a program', async () => {
  const longest = kept().reduce((a, b) => (Math.abs(b.bytes.length - 500) < Math.abs(a.bytes.length - 500) ? b : a));
  const all: unknown[] = [];
  for (let offset: number | null = 0; offset !== null; ) {
    const { program } = (await read(
      '/v1/programs/{hash}',
      { hash: longest.hash },
      { include: 'disassembly', offset, limit: 50 },
    )) as {
      program: { disassembly: { instructions: unknown[]; nextOffset: number | null; instructionCount: number } };
    };
    expect(program.disassembly.instructions.length).toBeLessThanOrEqual(50);
    all.push(...program.disassembly.instructions);
    expect(program.disassembly.instructionCount).toBe(shapeOf(longest.bytes).instructionCount);
    offset = program.disassembly.nextOffset;
  }
  expect(all).toHaveLength(shapeOf(longest.bytes).instructionCount);
});

test('it lists templates by spends, with their names, and the covenants of each', async () => {
  const byTemplate = Map.groupBy(
    kept().filter(({ template }) => template !== null),
    ({ template }) => template,
  );
  const [busiest] = [...byTemplate].toSorted(([, a], [, b]) => b.length - a.length);
  const template = busiest?.[0] ?? '';
  await replaceTemplateSource(harness.database.pool, {
    name: 'names.yaml',
    checksum: '',
    entries: [
      {
        template: fromHex(template),
        entry: {
          name: 'Counter',
          source: 'https://example.com/counter',
          pushes: [{ push: 0, name: 'count', type: 'int' }],
          required: [],
          seen: [],
        },
      },
    ],
  });
  const listed = await walk<{ template: string; spendCount: number; programCount: number; names: { name: string }[] }>(
    harness.api,
    { template: '/v1/templates', field: 'templates', cursorOf: (item) => `${item.spendCount}:${item.template}` },
    2,
  );
  expect(listed.map(({ template: each, spendCount, programCount }) => [each, spendCount, programCount])).toEqual(
    [...byTemplate]
      .map(([each, reveals]) => [each, reveals.length, new Set(reveals.map(({ hash }) => hash)).size] as const)
      .toSorted(([a, spendsOfA], [b, spendsOfB]) => spendsOfB - spendsOfA || ((a ?? '') < (b ?? '') ? 1 : -1)),
  );
  const name = {
    name: 'Counter',
    source: 'https://example.com/counter',
    description: null,
    importedFrom: 'names.yaml',
  };
  expect(listed.find((each) => each.template === template)?.names).toEqual([name]);
  expect(await read('/v1/templates/{hash}', { hash: template })).toMatchObject({
    template: { template, names: [{ ...name, pushes: [{ push: 0, name: 'count', type: 'int' }], state: null }] },
  });
  const { covenants } = (await read('/v1/templates/{hash}/covenants', { hash: template }, { limit: 100 })) as {
    covenants: { template: string }[];
  };
  const details = listed.find((each) => each.template === template) as unknown as { covenantCount: number };
  expect(covenants).toHaveLength(Math.min(details.covenantCount, 100));
  expect(new Set(covenants.map((each) => each.template))).toEqual(new Set([template]));
  for (const path of ['/v1/templates/{hash}', '/v1/templates/{hash}/covenants']) {
    expect((await harness.api.getChecked(path, { hash: 'ab'.repeat(32) })).status).toBe(404);
  }
});

interface Transaction {
  transactionId: string;
  isAccepted: boolean;
  payload?: string;
  inputs: { program?: { hash: string } | null; previousOutput: { scriptPublicKey: string | null } }[];
  outputs: { covenant?: { covenantId: string }; covenantEvent?: string | null }[];
  protocols?: unknown[];
  decodedPayload?: unknown;
}

const withoutUses = ({ protocols: _protocols, decodedPayload: _decoded, ...rest }: Transaction): unknown => ({
  ...rest,
  inputs: rest.inputs.map(({ program: _program, ...input }) => input),
  outputs: rest.outputs.map(({ covenantEvent: _event, ...output }) => output),
});

test('it adds programs, covenant events and protocols to transactions, and nothing without the parameter', async () => {
  const byTransaction = Map.groupBy(spends.map(revealedBy), ({ transactionId }) => transactionId);
  const transactionIds = [...byTransaction.keys()].slice(-100);
  const { json } = await harness.api.postChecked('/v1/transactions', { transactionIds, include: 'programs' });
  const { json: plain } = await harness.api.postChecked('/v1/transactions', { transactionIds });
  const transactions = json['transactions'] as Transaction[];
  expect(transactions.map(withoutUses)).toEqual(plain['transactions']);
  const events = await kindsOfEvents();
  for (const { transactionId, inputs, outputs, protocols, decodedPayload } of transactions) {
    for (const { input, hash, template } of byTransaction.get(transactionId) ?? []) {
      expect(inputs[input]?.program).toEqual({ hash, template });
    }
    for (const { covenant, covenantEvent } of outputs) {
      expect(covenantEvent).toBe(covenant === undefined ? null : events.get(`${transactionId}:${covenant.covenantId}`));
    }
    expect(protocols).toBeInstanceOf(Array);
    expect(decodedPayload).toBeDefined();
  }
  const [first] = transactions as [Transaction];
  const one = await read(
    '/v1/transactions/{transactionId}',
    { transactionId: first.transactionId },
    { include: 'programs' },
  );
  expect(one).toEqual({ transaction: first });
  const withAll = await read(
    '/v1/transactions/{transactionId}',
    { transactionId: first.transactionId },
    { include: 'programs,tags', include_payload: 'true' },
  );
  expect(withAll).toMatchObject({ transaction: first, tags: {} });
  expect((withAll['transaction'] as Transaction).payload).toBeDefined();
});

async function kindsOfEvents(): Promise<Map<string, string>> {
  const { rows } = await harness.database.pool.query<{ id: string; kind: string }>(`
    select encode(t.transaction_id, 'hex') || ':' || encode(c.covenant_id, 'hex') as id, kind
    from covenant_events e join transactions t on t.id = e.transaction_id
      join covenants c on c.id = e.covenant_id`);
  return new Map(rows.map(({ id, kind }) => [id, kind]));
}

test('it adds them in every listing of transactions', async () => {
  const { rows } = await harness.database.pool.query<{ block: string; address: string; score: string }>(`
    select encode(b.hash, 'hex') as block, b.daa_score::text as score,
      (select address from scripts where address is not null order by id limit 1) as address
    from blocks b where b.is_chain_block order by b.id desc limit 1 offset 5`);
  const [{ block, address, score } = { block: '', address: '', score: '' }] = rows;
  const listings: [string, Record<string, string>][] = [
    ['/v1/transactions', {}],
    ['/v1/blocks/{hash}/transactions', { hash: block }],
    ['/v1/addresses/{address}/transactions', { address }],
    ['/v1/blocks/daa-score/{start}/{end}', { start: score, end: score }],
  ];
  for (const [path, values] of listings) {
    const transactions = (await read(path, values, { include: 'programs' }))['transactions'] as Transaction[];
    expect(transactions.length, path).toBeGreaterThan(0);
    expect(transactions.map(withoutUses)).toEqual((await read(path, values))['transactions']);
    for (const transaction of transactions) expect(transaction).toHaveProperty('protocols');
  }
  for (const include of ['program', 'programs,programs', 'tags,programs,tags', '', ',']) {
    expect((await harness.api.getChecked('/v1/transactions', {}, { include })).status, include).toBe(400);
  }
});

test('it adds them to transactions of the mempool, whose covenants have no events yet', async () => {
  const request = { includeOrphanPool: false, filterTransactionPool: false };
  const { entries } = await harness.node.call('getMempoolEntries', request);
  let programs = 0;
  for (const { transaction: found } of entries) {
    const path = { transactionId: found?.verboseData?.transactionId ?? '' };
    const { transaction } = (await read('/v1/mempool/{transactionId}', path, { include: 'programs' })) as {
      transaction: Transaction;
    };
    expect({ transaction: withoutUses(transaction) }).toEqual(await read('/v1/mempool/{transactionId}', path));
    expect(transaction.protocols).toBeInstanceOf(Array);
    expect(transaction.decodedPayload).toBeDefined();
    for (const { covenantEvent } of transaction.outputs) expect(covenantEvent).toBeNull();
    for (const { program, previousOutput } of transaction.inputs) {
      if (program === null || program === undefined) continue;
      programs++;
      expect(previousOutput.scriptPublicKey).toBe(`aa20${program.hash}87`);
    }
    const withPayload = await read('/v1/mempool/{transactionId}', path, {
      include: 'programs',
      include_payload: 'true',
    });
    expect(withPayload).toMatchObject({ transaction });
    expect((withPayload['transaction'] as Transaction).payload).toBeDefined();
  }
  expect(programs).toBeGreaterThan(0);
});

test('it decodes payloads of any bytes', async () => {
  const { pool } = harness.database;
  const { rows } = await pool.query<{ id: string; key: bigint }>(
    `select encode(transaction_id, 'hex') as id, id as key from transactions
      where subnetwork_id <> 1 and accepting_index is not null order by id desc limit 1`,
  );
  const [{ id, key } = { id: '', key: 0n }] = rows;
  const decode = async (payload: Buffer) => {
    await pool.query('update transactions set payload = $1 where id = $2', [payload, key]);
    const { transaction } = (await read(
      '/v1/transactions/{transactionId}',
      { transactionId: id },
      { include: 'programs' },
    )) as {
      transaction: Transaction;
    };
    expect(transaction).not.toHaveProperty('payload');
    return { protocols: transaction.protocols, decoded: transaction.decodedPayload };
  };
  const transfer = { p: 'krc-20', op: 'transfer', tick: 'TEST', amt: '1', to: 'x' };
  expect(await decode(Buffer.from(JSON.stringify(transfer)))).toEqual({
    protocols: [{ protocol: 'krc-20', source: 'payload', operation: 'transfer', tick: 'TEST', body: transfer }],
    decoded: { text: JSON.stringify(transfer), json: transfer },
  });
  expect(await decode(Buffer.from('hello'))).toEqual({ protocols: [], decoded: { text: 'hello', json: null } });
  for (const payload of [Buffer.from([0xff, 0xfe]), Buffer.alloc(0), Buffer.alloc(65_537, 'a')]) {
    expect((await decode(payload)).decoded).toBeNull();
  }
  const deep = Buffer.from('['.repeat(10_000));
  expect(await decode(deep)).toEqual({ protocols: [], decoded: { text: deep.toString(), json: null } });
  expect((await decode(Buffer.from('"\\ud800\\u0000"'))).decoded).toMatchObject({ json: '\ud800\0' });
});

const search = async (q: string) =>
  ((await read('/v1/search', {}, { q, limit: 20 }))['results'] as { type: string; id: string; matched?: string }[]).map(
    ({ type, id }) => `${type} ${id}`,
  );

test('it finds covenants, programs, templates, names, ticks and lanes', async () => {
  const { pool } = harness.database;
  const { rows } = await pool.query<{ covenant: string; program: string; template: string }>(`
    select (select encode(covenant_id, 'hex') from covenants order by id limit 1) as covenant,
      (select encode(hash, 'hex') from programs order by hash limit 1) as program,
      (select encode(template, 'hex') from program_templates order by id limit 1) as template`);
  const [found = { covenant: '', program: '', template: '' }] = rows;
  for (const [type, id] of Object.entries(found)) {
    for (const q of [id, `0x${id.toUpperCase()}`, id.slice(0, 12), `https://example.com/${type}s/${id}`]) {
      expect(await search(q)).toContain(`${type} ${id}`);
    }
  }
  await pool.query(`update programs set kcc_template = sha256('kcc')`);
  const kcc = toHex(
    (await pool.query<{ hash: Buffer }>(`select sha256('kcc') as hash`)).rows[0]?.hash ?? Buffer.alloc(0),
  );
  expect((await search(kcc)).every((result) => result.startsWith('template '))).toBe(true);
  expect(await search(kcc)).toContain(`template ${found.template}`);
  await replaceTemplateSource(pool, {
    name: 'more.yaml',
    checksum: '',
    entries: [{ template: fromHex(found.template), entry: { name: 'Vault of Zeno', source: 'x' } }],
  });
  expect(await search('vault OF')).toContain(`template ${found.template}`);
  expect(await search('zeno')).not.toContain(`template ${found.template}`);
  await pool.query(
    `with kinds as (
      insert into inscription_kinds (protocol, operation, tick)
        values ('krc-20', 'mint', 'Zzz9'), ('krc-20', 'list', 'Zzz9') returning id)
      insert into inscriptions (transaction_id, owner_script_id, kind_id, input)
        select 0, 0, id, -1 from kinds`,
  );
  expect(await search('zZZ9')).toEqual(['tick Zzz9']);
  await pool.query(`
    insert into subnetworks (id, subnetwork_id)
      values (999, decode('71717137' || repeat('00', 16), 'hex'));
    insert into lanes (subnetwork_id, transaction_count, fees, gas, first_seen, last_seen)
      values (999, 1, 0, 0, 0, 0)`);
  for (const q of ['71717137', '0x71717137', 'qqq7']) expect(await search(q)).toContain('lane 71717137');
});

/** A program of a size that the simulation does not make, in the place of one that it has. */
test('it charges bytes and instructions by their size', async () => {
  let [{ hash } = { hash: '' }] = kept();
  const costOf = async (query: string) => {
    const { headers } = await harness.api.get(`/v1/programs/${hash}${query}`);
    return headers.get('x-request-cost-ru');
  };
  expect(await costOf('')).toBe('0.1');
  expect(await costOf('?include=bytes')).toBe('0.1');
  const { pool } = harness.database;
  const bytes = Buffer.alloc(100_000, 0x61);
  await pool.query(
    `update transaction_inputs i set signature_script = '\\x4ea0860100'::bytea || $2
     from programs p where p.hash = $1 and i.transaction_id = p.transaction_id
       and i.index = p.index`,
    [Buffer.from(hash, 'hex'), bytes],
  );
  await pool.query('update programs set hash = $2 where hash = $1', [
    Buffer.from(hash, 'hex'),
    Buffer.from(blake2b256(bytes)),
  ]);
  hash = toHex(blake2b256(bytes));
  expect(await costOf('?include=bytes')).toBe('0.4');
  expect(await costOf('?include=bytes,disassembly&limit=1000')).toBe('0.5');
});

test('it shows no bytes of a transaction of which retention forgot the accepted variant, unless they have the hash', async () => {
  const [changed, ...others] = kept();
  const { hash, transactionId, input, bytes } = others.find((reveal) => reveal.hash !== changed?.hash) as Revealed;
  const { pool } = harness.database;
  await pool.query(
    `update transactions set accepting_index = null, accepted_variant = null where transaction_id = decode($1, 'hex')`,
    [transactionId],
  );
  const shown = async (): Promise<unknown> =>
    (await read('/v1/programs/{hash}', { hash }, { include: 'bytes,disassembly' }))['program'];
  expect(await shown()).toMatchObject({ bytes: toHex(bytes), disassembly: {} });
  // A variant that was never accepted may reveal any program.
  await pool.query(
    `update transaction_inputs set signature_script = signature_script || '\\x51' where index = $1
      and transaction_id = (select id from transactions where transaction_id = decode($2, 'hex'))`,
    [input, transactionId],
  );
  expect(await shown()).toMatchObject({ hash, firstRevealed: { transactionId }, bytes: null, disassembly: null });
});
