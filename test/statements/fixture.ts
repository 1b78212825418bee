/**
 * A small index of a simulated chain that has something of everything, and the API on it in this
 * process.
 */
import { Admission, createMetrics, createServer, createServices, MemoryWindows, openDatabase } from '@kasgres/api';
import { createKey, replaceTemplateSource, upsertTags } from '@kasgres/database';
import { createTestDatabase } from '@kasgres/database/testing';
import { NodeClient } from '@kasgres/node';
import { createLogger, createRegistry } from '@kasgres/runtime';
import { secretBoxOpener } from '@kasgres/webhooks';
import type { Pool } from 'pg';
import { findExampleRequests } from '../../packages/api/src/docs/live-examples.ts';
import { cluster } from '../support/cluster.ts';
import { SimulatedDag, startIndexing } from '../support/simulated-dag.ts';
import { untilAtRest } from '../support/until-at-rest.ts';

const ROUNDS = 120;
const REORG_DEPTH = 3;
const CLUSTERING = { depth: 5n, change: true };
const TAG = { name: 'Harbour Exchange', link: 'https://example.com', labels: ['exchange'] };

/** Has every field of an entry. */
const toEntry = (template = '') => ({
  template: Buffer.from(template, 'hex'),
  entry: {
    name: 'Harbour vault',
    source: 'https://example.com',
    description: 'A vault',
    pushes: [{ push: 0, name: 'owner', type: 'bytes' }],
    required: [{ push: 0, hash: 'ab'.repeat(32) }],
    state: { first: 0, last: 0 },
    seen: [{ network: 'simnet', transaction: 'ab'.repeat(32) }],
  },
});

/** Below all landmarks but the earliest block. */
const RECORD_GAP = `
  insert into bootstrap_blocks (chain_index, block_id, utxo_count, utxo_sompi) select index,
    block_id, 0, 0 from chain_blocks where index = 5;
  insert into gaps (after_block_hash, before_block_hash, reason) select
    (select hash from chain_blocks where index = 4),
      (select hash from chain_blocks where index = 5), 'a test'`;

export type Fixture = Awaited<ReturnType<typeof openFixture>>;

export async function openFixture() {
  const dag = await SimulatedDag.start('statements', undefined, undefined, { applicationRate: 1 });
  const database = await createTestDatabase();
  const { pool, url } = database;
  dag.mine(ROUNDS);
  const indexer = startIndexing(dag, url);
  const node = new NodeClient({ url: dag.server.url });
  const untilIndexed = (): Promise<void> => Promise.race([untilAtRest(pool, node), indexer.ended]);
  await untilIndexed();
  dag.reorganise(REORG_DEPTH);
  await untilIndexed();
  await indexer.stop();
  dag.pay(3);
  await cluster(database, CLUSTERING, 1000);
  const landmarks = await findLandmarks(pool);
  await replaceTemplateSource(pool, { name: 'names', checksum: '', entries: [toEntry(landmarks.templates[0])] });
  await upsertTags(
    pool,
    landmarks.addresses.map((address) => ({ ...TAG, address })),
  );

  const logger = createLogger({ name: 'api', level: 'silent' });
  // All but the first of several requests wait for the only slot for responses, and may share an
  // execution.
  const api = openDatabase({ url, max: 4, onIdleError: () => undefined });
  const windows = new MemoryWindows();
  const admission = new Admission({ database: api.kysely, unknownKeysDatabase: api.kysely, windows, logger });
  const openSecrets = secretBoxOpener({ secretKey: Buffer.alloc(32), dataDir: '' });
  const services = createServices({
    admission,
    readDatabase: api,
    readConnections: 1,
    statusDatabase: api,
    node,
    databaseUrl: url,
    logger,
    webhooks: { database: api, openSecrets, allowed: [] },
  });
  const server = await createServer({ services, logger, metrics: createMetrics(createRegistry('statements')) });
  const { id: keyId, key } = await createKey(database.kysely, { name: 'statements', rateRu: 1e9 });
  const examples = await findExampleRequests(services);
  if (examples === undefined) throw new Error('the index is empty');
  return {
    api,
    database,
    admission,
    services,
    keyId,
    examples,
    landmarks,
    send: async (method: string, path: string, { body, accept }: { body?: object | undefined; accept?: string }) => {
      const request = server.inject({
        method: method.toUpperCase() as 'GET',
        url: path,
        headers: { 'x-api-key': key, ...(accept !== undefined && { accept }) },
        ...(body && { payload: body }),
      });
      // A response that breaks off has no status.
      return await request.then(
        ({ statusCode, headers, body: text }) => ({
          status: statusCode,
          text,
          headers: new Headers(headers as Record<string, string>),
        }),
        (error: unknown) => ({ status: 0, text: String(error), headers: new Headers() }),
      );
    },
    /** Lets the index look as if blocks were missing. */
    recordGap: async () => {
      await pool.query(RECORD_GAP);
      services.status.forget();
    },
    close: async () => {
      await server.close();
      await Promise.all([api.close(), node.close()]);
      dag.stop();
      await database.drop();
    },
  };
}

interface Landmarks {
  /** The busiest, and those of a cluster. */
  addresses: string[];
  members: string[];
  /** In no cluster, but with supposed change. */
  unclustered: string;
  /** The lowest chain block that a reorg removed. */
  removed: string;
  /** A chain block below the sink, and the first one that is not genesis. */
  blockHash: string;
  chainIndex: bigint;
  daaScore: number;
  blueScore: number;
  early: string;
  /** The first ones have inscriptions. */
  transactionIds: string[];
  covenantIds: string[];
  programs: string[];
  templates: string[];
  namespaces: string[];
  /** An address with inscriptions, and the tick of one. */
  inscriber: string;
  tick: string;
}

async function findLandmarks(pool: Pool): Promise<Landmarks> {
  const { rows } = await pool.query<Landmarks>(
    `select
       array(select s.address from scripts s join balances b on b.script_id = s.id
         where s.address is not null
         order by b.transaction_count desc, s.id limit 3) as addresses,
       array(select s.address from cluster_members m join scripts s on s.id = m.script_id
         where s.address is not null
         and m.script_id in (select id from clusters) or m.parent_id is not null order by s.id
           limit 3) as members,
       (select s.address from scripts s where s.address is not null and cluster_of(s.id) is null
         order by exists (select from change_links l where l.script_id = s.id) desc, s.id desc
           limit 1) as unclustered,
       (select encode(b.hash, 'hex') from removed_chain_blocks r join blocks b on b.id = r.block_id
         order by b.id limit 1) as removed,
       (select encode(hash, 'hex') from chain_blocks where index = 1) as early,
       encode(c.hash, 'hex') as "blockHash", c.index as "chainIndex",
       b.daa_score::float8 as "daaScore", c.blue_score::float8 as "blueScore",
       array(select encode(t.transaction_id, 'hex') from transactions t
         where t.accepting_index is not null
         order by (select min(input) from inscriptions i where i.transaction_id = t.id), t.id
           limit 3) as "transactionIds",
       array(select encode(covenant_id, 'hex') from covenants order by id limit 3) as "covenantIds",
       array(select encode(hash, 'hex') from programs order by id limit 3) as programs,
       array(select encode(template, 'hex') from program_templates order by id
         limit 3) as templates,
       array(select lane_namespace(s.subnetwork_id) from lanes l
         join subnetworks s on s.id = l.subnetwork_id
         order by s.id limit 3) as namespaces,
       (select s.address from inscriptions i join scripts s on s.id = i.owner_script_id
         where s.address is not null and i.input < 0
         order by i.transaction_id limit 1) as inscriber,
       (select tick from inscription_kinds where tick <> '' order by tick limit 1) as tick
     from chain_blocks c join blocks b on b.id = c.block_id
     where c.index = (select chain_index - 3 from checkpoint)`,
  );
  if (rows[0] === undefined) throw new Error('the chain is too short');
  return rows[0];
}
