/**
 * How good the clusters of an index are, where it is known who owns which address: of a chain that a load generator made, which wrote that
 * down as JSON (gzip): { kind: { owner: [address, …] } }, other fields aside. Clusters everything anew first.
 *
 *   DATABASE_URL=postgres://… node bench/cluster-truth.ts truth.json.gz
 *
 * bench/README.md has figures; what precision and sensitivity mean here stands in test/simulation/cluster-figures.ts.
 */
import { readFile } from 'node:fs/promises';
import { performance } from 'node:perf_hooks';
import { gunzipSync } from 'node:zlib';
import { clusterStep, openClusteringDatabase } from '@kasgres/indexer';
import { z } from 'zod';
import { figuresOf } from '../test/simulation/clusters-harness.ts';

const oracleFile = z.record(z.string(), z.unknown()).transform((fields) => {
  const owners = new Map<string, string>();
  for (const [kind, value] of Object.entries(fields)) {
    const addresses = z.record(z.string(), z.array(z.string())).safeParse(value);
    for (const [owner, list] of Object.entries(addresses.data ?? {})) {
      for (const address of list) owners.set(address, `${kind} ${owner}`);
    }
  }
  return owners;
});

const [file = ''] = process.argv.slice(2);
const owners = oracleFile.parse(JSON.parse(gunzipSync(await readFile(file)).toString()));
// An owner with one address may not be listed.
const ownerOf = (address: string): string => owners.get(address) ?? address;

const database = openClusteringDatabase(process.env['DATABASE_URL'] ?? '');
const { pool } = database;
await pool.query(
  'truncate clustering, clusters, cluster_members, cluster_merges, held_merges, change_links, cluster_names, tag_marks',
);
const client = await pool.connect();
const begun = performance.now();
let [transactions, merges, longest] = [0, 0, 0];
for (let isBusy = true; isBusy; ) {
  const stepBegun = performance.now();
  const step = await clusterStep(client, { depth: 0n, sizeLimit: 1_000_000n, change: false }, 1_000);
  longest = Math.max(longest, performance.now() - stepBegun);
  transactions += step.transactions;
  merges += step.merges;
  ({ isBusy } = step);
}
const seconds = (performance.now() - begun) / 1_000;
client.release();
console.log(
  `${transactions} accepted transactions in ${seconds.toFixed(1)} s: ${Math.round(transactions / seconds)} a second; ${merges} merges; ` +
    `longest step ${Math.round(longest)} ms`,
);

const clusters = await pool.query<{ addresses: string[] }>(
  `select array_agg(s.address) as addresses from cluster_members m join scripts s on s.id = m.script_id group by cluster_of(m.script_id)`,
);
const spending = await pool.query<{ addresses: string[]; keys: string[] | null }>(
  `select array_agg(distinct s.address) as addresses, array_agg(distinct s.address) filter (where s.type <> 'scripthash') as keys
     from transactions t join transaction_inputs i on i.transaction_id = t.id join scripts s on s.id = i.script_id
    where t.accepting_block_id is not null and s.address is not null group by t.id`,
);
const sets = clusters.rows.map(({ addresses }) => addresses);
const say = (what: string, inputs: readonly (readonly string[])[]): void => {
  const { precision, sensitivity, knowable } = figuresOf(sets, ownerOf, inputs);
  console.log(`${what}: precision ${precision.toFixed(4)}, sensitivity ${sensitivity.toFixed(4)} of ${knowable} pairs`);
};
console.log(`${sets.length} clusters of ${sets.flat().length} addresses`);
say(
  'single keys',
  spending.rows.map(({ keys }) => keys ?? []),
);
say(
  'script hashes counted as if they could be known',
  spending.rows.map(({ addresses }) => addresses),
);
await database.close();
