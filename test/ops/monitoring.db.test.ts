/**
 * The dashboard and the alerts of ops/ on the metrics of the real programs: every metric that they
 * name is there, and, with a real Prometheus, every query of the dashboard has a result and alerts
 * fire and end. That half is skipped, and said so, where there is none.
 */
import { readFileSync } from 'node:fs';
import { createKey } from '@kasgres/database';
import { createTestDatabase, type TestDatabase, TcpProxy } from '@kasgres/database/testing';
import { NodeClient } from '@kasgres/node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { ApiClient } from '../support/api-client.ts';
import { untilAtRest } from '../support/harness.ts';
import { freePort, type Program, startApi, startIndexer, startProgram } from '../support/programs.ts';
import { SimulatedDag } from '../support/simulated-dag.ts';
import { findPrometheus, Prometheus } from './prometheus.ts';

interface AlertRule {
  alert: string;
  expr: string;
  for?: string;
}
interface Panel {
  title: string;
  targets?: { expr: string }[];
}

const read = (path: string): string => readFileSync(new URL(`../../ops/${path}`, import.meta.url), 'utf8');
const config = parse(read('prometheus/prometheus.yml')) as {
  global: Record<string, string>;
  scrape_configs: { job_name: string; static_configs: { targets: string[] }[] }[];
};
const alerts = parse(read('prometheus/alerts.yml')) as { groups: { rules: AlertRule[] }[] };
const rules = alerts.groups.flatMap((group) => group.rules);
const dashboard = JSON.parse(read('grafana/kasgres.json')) as { panels: Panel[] };
const queries = dashboard.panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })));

const binary = findPrometheus();
if (binary === undefined) {
  console.warn('Skipped in part: no prometheus on the PATH or in PROMETHEUS_BIN (apt-get install prometheus).');
}

let simulatedDag: SimulatedDag;
let toNode: TcpProxy;
let node: NodeClient;
let database: TestDatabase;
let startTheIndexer: () => Program;
let indexer: Program;
let api: Program;
let webhooks: Program;
let client: ApiClient;
let ports: Record<string, number>;

const portOf = (url: string): number => Number(new URL(url).port);

beforeAll(async () => {
  simulatedDag = await SimulatedDag.start('monitoring');
  simulatedDag.mine(30);
  // Its last block may not be the sink, and the sink before it is half an hour old.
  while (!simulatedDag.node.isSynced) simulatedDag.mine(1);
  toNode = await TcpProxy.start(simulatedDag.server.url);
  node = new NodeClient({ url: simulatedDag.server.url });
  database = await createTestDatabase();
  const { key } = await createKey(database.kysely, { name: 'test' });
  const env = { nodeUrl: toNode.url, databaseUrl: database.url };
  // It is restarted, and scraped at the same port.
  const indexerPort = await freePort();
  startTheIndexer = () => startIndexer(env, { METRICS_PORT: String(indexerPort) });
  indexer = startTheIndexer();
  await untilAtRest(database.pool, node, indexer);
  const started = await startApi(env);
  api = started.program;
  webhooks = startProgram('../../packages/webhooks/src/main.ts', env, {});
  ports = {
    'kasgres-indexer': indexerPort,
    'kasgres-api': portOf(await api.metricsUrl()),
    'kasgres-webhooks': portOf(await webhooks.metricsUrl()),
  };
  client = new ApiClient(started.url, key);
  await client.request('/v1/rpc/getCoinSupply');
  await client.request('/v1/rpc/getCoinSupply', { headers: { 'x-api-key': 'wrong' } });
});
afterAll(async () => {
  await webhooks?.stop();
  await api?.stop();
  await indexer?.stop();
  toNode?.stop();
  await node?.close();
  simulatedDag?.stop();
  await database?.drop();
});

/** The names of all series, as Prometheus stores them. */
async function listSeries(): Promise<Set<string>> {
  const names = new Set<string>();
  for (const port of Object.values(ports)) {
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    for (const [name] of text.matchAll(/^[a-z_][a-z0-9_]*(?=[{ ])/gm)) names.add(name);
  }
  return names;
}

const namesIn = (expression: string): string[] => expression.match(/\b(?:kasgres|process|nodejs)_[a-z0-9_]+/g) ?? [];

describe('names', () => {
  test('it names every metric by program and unit', async () => {
    const ours = [...(await listSeries())].filter((name) => !/^(process|nodejs)_/.test(name));
    expect(ours.filter((name) => !/^kasgres_(indexer|api|webhooks)_[a-z_]+$/.test(name))).toEqual([]);
  });

  test('it exports every metric that dashboards and alerts use', async () => {
    const known = await listSeries();
    const wanted = [...queries, ...rules].flatMap(({ expr }) => namesIn(expr));
    expect(wanted.length).toBeGreaterThan(queries.length);
    expect(wanted.filter((name) => !known.has(name))).toEqual([]);
  });
});

test('it has a runbook entry for every alert', () => {
  const runbook =
    readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8').split('## Runbook')[1] ?? '';
  expect(rules.map(({ alert }) => alert).filter((alert) => !runbook.includes(`\`${alert}\``))).toEqual([]);
});

describe.skipIf(binary === undefined)('in Prometheus', () => {
  let prometheus: Prometheus;

  beforeAll(async () => {
    // As in the repository, but for the ports, and quicker.
    config.global = { scrape_interval: '500ms', evaluation_interval: '500ms' };
    for (const job of config.scrape_configs) job.static_configs = [{ targets: [`127.0.0.1:${ports[job.job_name]}`] }];
    for (const rule of rules) if (rule.for !== undefined) rule.for = '1s';
    prometheus = await Prometheus.start(binary as string, {
      'prometheus.yml': stringify(config),
      'alerts.yml': stringify(alerts),
    });
  });
  afterAll(async () => await prometheus?.stop());

  test('it scrapes the programs', async () => {
    for (const job of Object.keys(ports)) {
      const ask = () => prometheus.query(`up{job="${job}"} == 1`);
      await expect.poll(ask, { timeout: 30_000, message: job }).toHaveLength(1);
    }
  });

  test('it returns a result for every query of the dashboard', async () => {
    for (const { title, expr } of queries) {
      const ask = () => prometheus.query(expr.replaceAll('$__rate_interval', '1m'));
      // Rates need two scrapes.
      await expect.poll(ask, { timeout: 30_000, message: `${title}: ${expr}` }).not.toEqual([]);
    }
  });

  test('it evaluates every alert, and none fires in normal operation', async () => {
    for (const { alert } of rules) {
      const ask = async () => (await prometheus.rules()).find(({ name }) => name === alert);
      await expect.poll(ask, { timeout: 30_000 }).toMatchObject({ health: 'ok' });
    }
    await expect.poll(() => prometheus.firing(), { timeout: 30_000 }).toEqual([]);
  });

  test('it fires the node alerts while the node is gone', async () => {
    toNode.refuse();
    const expected = ['KasgresApiNodeAway', 'KasgresNodeAway'];
    const away = async () => (await prometheus.firing()).filter((name) => expected.includes(name)).toSorted();
    await expect.poll(away, { timeout: 60_000 }).toEqual(expected);
    toNode.pass();
    await expect.poll(away, { timeout: 60_000 }).toEqual([]);
  });

  test('it fires the gap alert after a gap was recorded', async () => {
    await database.pool.query(
      `insert into gaps (after_block_hash, before_block_hash, reason) select hash, hash,
        'A test wrote this.' from blocks limit 1`,
    );
    await indexer.stop();
    indexer = startTheIndexer();
    await expect.poll(() => prometheus.firing(), { timeout: 60_000 }).toContain('KasgresGapRecorded');
  });

  test('it fires the alert on a stopped program', async () => {
    await api.stop();
    await expect.poll(() => prometheus.firing(), { timeout: 60_000 }).toContain('KasgresProgramDown');
  });
});
