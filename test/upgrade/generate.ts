/**
 * `npm run generate:upgrade` writes the database of this version, which every later version must
 * upgrade: VERSION.sql.gz has its rows and says which migrations made its schema. docs/versions.md
 * says when to run it.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { connect, createKey, upsertTags } from '@kasgres/database';
import { createMigratedDatabase, startTestServer } from '@kasgres/database/testing';
import { NodeClient } from '@kasgres/node';
import { VERSION } from '@kasgres/runtime';
import { cluster } from '../support/cluster.ts';
import { SimulatedDag, startIndexing } from '../support/simulated-dag.ts';
import { untilAtRest } from '../support/until-at-rest.ts';
import { dumpRows } from './rows.ts';

const ROUNDS = 40;

const server = await startTestServer();
const { url, drop } = await createMigratedDatabase(server, 'upgrade');
const { pool, kysely, close } = connect({ url, applicationName: 'kasgres test' });
const dag = await SimulatedDag.start(
  'upgrade',
  undefined,
  { commitsToUtxos: true },
  { reorgRate: 0.05, hostileRate: 0.1 },
);
const node = new NodeClient({ url: dag.server.url });
const indexer = startIndexing(dag, url);

async function mineAndIndex(): Promise<void> {
  dag.mine(ROUNDS);
  await Promise.race([untilAtRest(pool, node), indexer.ended]);
}

await mineAndIndex();
const { rows: addresses } = await pool.query<{ address: string }>(
  'select address from scripts where address is not null order by id limit 3',
);
const tag = { name: 'Harbour Exchange', link: 'https://example.com', labels: ['exchange'] };
await upsertTags(
  pool,
  addresses.map(({ address }) => ({ ...tag, address })),
);
await createKey(kysely, { name: 'upgraded' });
await mineAndIndex();
await indexer.stop();
await cluster({ url }, { depth: 5n, change: true }, 1000);

const { rows: migrations } = await pool.query<{ number: number; name: string; checksum: string }>(
  'select number, name, checksum from migrations order by number',
);
const text = `-- ${JSON.stringify(migrations)}\n${await dumpRows(pool)}`;
const path = join(import.meta.dirname, `${VERSION}.sql.gz`);
await writeFile(path, await promisify(gzip)(text, { level: 9 }));
console.log(`${path}: ${text.length} bytes of SQL`);
await node.close();
dag.stop();
await close();
await drop();
await server.stop();
