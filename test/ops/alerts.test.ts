/**
 * Each alert of ops/ fires when it should, and no other beside it: alerts.test.yml has the cases,
 * Prometheus's own promtool asks them.
 */
import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { findPrometheus } from './prometheus.ts';

const RULES = new URL('../../ops/prometheus/alerts.yml', import.meta.url);
const CASES = new URL('alerts.test.yml', import.meta.url);

const prometheus = findPrometheus();

test('it has a case for every alert', async () => {
  const rules = parse(await readFile(RULES, 'utf8')) as { groups: { rules: { alert: string }[] }[] };
  const cases = await readFile(CASES, 'utf8');
  const alerts = rules.groups.flatMap((group) => group.rules.map(({ alert }) => alert));
  expect(alerts.filter((alert) => !cases.includes(`{alertname="${alert}"`))).toEqual([]);
});

test.skipIf(prometheus === undefined)('it fires alerts as each case expects', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'kasgres-alerts-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  await copyFile(RULES, join(directory, 'alerts.yml'));
  await copyFile(CASES, join(directory, 'alerts.test.yml'));
  const promtool = join(dirname(prometheus as string), 'promtool');
  // Its complaints are on standard output or error, and in the message of the error.
  const { stdout } = await promisify(execFile)(promtool, ['test', 'rules', join(directory, 'alerts.test.yml')]);
  expect(stdout).toContain('SUCCESS');
});
