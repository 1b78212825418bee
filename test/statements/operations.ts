/**
 * Sends requests to every operation of openapi.json and of /rest, and compares the responses with
 * openapi.json.
 */
import { readFileSync } from 'node:fs';
import type { ExampleRequest } from '@kasgres/api';
import { faultsOf, type Method, unseenProperties } from '../support/openapi.ts';
import type { Fixture } from './fixture.ts';
import { EVERY_REQUEST, type Recorder } from './recorder.ts';
import {
  cursorOf,
  type Document,
  isListing,
  type Operation,
  othersOf,
  urlOf,
  type Variant,
  variantsOf,
} from './requests.ts';
import { belowGapOf, extrasOf, restExamples, valuesOf } from './values.ts';

/** They ask only the node, do not end, or write: programs.ts calls the functions behind them. */
const NO_REQUESTS = /stream|WebSocket|submit|webhook|postTransactions$|postTransactionsMass/i;

/**
 * Statuses of requests whose statements are sent before it is known: this chain is short, and its
 * node is simulated.
 */
const STATUSES: Readonly<Record<string, number>> = {
  estimateNetworkHashesPerSecond: 409,
  getSubnetwork: 400,
  getSeqCommitLaneProof: 400,
  getTransactionMass: 400,
  getInfoHealth: 503,
};

const LARGE_PAGE = 100;

interface Route {
  area: string;
  method: string;
  path: string;
  operation: Operation;
  examples: readonly Variant[];
}

const readJson = (path: string): unknown => JSON.parse(readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8'));

/** Returns how responses differ from openapi.json, and which of its properties no response has. */
export async function recordOperations(
  fixture: Fixture,
  recorder: Recorder,
): Promise<{ faults: string[]; unseen: string[] }> {
  const { landmarks, send } = fixture;
  const faults: string[] = [];
  const bodies = new Map<string, unknown[]>();
  const ask = async ({ area, method, path, operation: { operationId } }: Route, { label, ...request }: Variant) => {
    const url = urlOf(path, request, valuesOf(landmarks, path));
    const response = await recorder.record(`${area}/${operationId}`, label, () => send(method, url, request));
    const { status, headers, text } = response;
    if (status !== (STATUSES[operationId] ?? 200)) faults.push(`${method} ${url}: ${status} ${text.slice(0, 200)}`);
    if (headers.get('content-type')?.startsWith('application/json') !== true) return {};
    const json = JSON.parse(text) as Record<string, unknown>;
    if (area === 'rest') return json;
    faults.push(
      ...faultsOf(method as Method, path, { ...response, json }).map((fault) => `${method} ${url}: ${fault}`),
    );
    const key = `${method} ${path}`;
    if (status === 200) bodies.set(key, [...(bodies.get(key) ?? []), json]);
    return json;
  };

  await recorder.record(EVERY_REQUEST, '', () => send('get', '/v1/rpc/getSink', {}));
  const routes = [...routesOf(fixture), ...(await restRoutesOf(fixture))];
  const extras = extrasOf(fixture);
  for (const route of routes) {
    const { path, operation } = route;
    for (const { label, ...example } of route.examples) {
      const values = valuesOf(landmarks, path);
      const cursor = cursorOf(path, await ask(route, { ...example, label }));
      const cursors = cursor === undefined ? [] : [cursor];
      const all = { ...values, starting_after: cursors, ending_before: cursors };
      for (const variant of variantsOf(operation, example, all)) await ask(route, variant);
      const together = othersOf(path, example, values).map((other) => ({ ...other, label: 'several at once' }));
      await Promise.all([{ ...example, label }, ...together].map((request) => ask(route, request)));
    }
    for (const extra of extras[operation.operationId] ?? []) await ask(route, extra);
  }
  recorder.pause();
  await fixture.recordGap();
  for (const [operationId, variant] of Object.entries(belowGapOf(landmarks))) {
    const route = routes.find(({ operation }) => operation.operationId === operationId);
    if (route !== undefined) await ask(route, variant);
  }
  return { faults, unseen: unseenProperties(bodies) };
}

function routesOf({ examples }: Fixture): Route[] {
  const { operations: committed } = readJson('packages/api/src/generated/examples.json') as {
    operations: Record<string, ExampleRequest>;
  };
  return routesIn(readJson('openapi.json') as Document).map(({ method, path, operation }) => {
    const { operationId, tags: [tag = ''] = [] } = operation;
    const example = examples[operationId] ?? committed[operationId] ?? {};
    const isPage = isListing(path) && example.body === undefined;
    const page = isPage ? { ...example, query: { ...example.query, limit: LARGE_PAGE } } : example;
    return {
      area: tag.toLowerCase().replaceAll(' ', '-'),
      method,
      path,
      operation,
      examples: [{ ...page, label: '' }],
    };
  });
}

async function restRoutesOf({ landmarks, send }: Fixture): Promise<Route[]> {
  const examples = restExamples(landmarks);
  const { text } = await send('get', '/rest/openapi.json', {});
  return routesIn(JSON.parse(text) as Document).map(({ method, path, operation }) => ({
    area: 'rest',
    method,
    path: `/rest${path}`,
    operation,
    examples: examples[path] ?? [{ label: '' }],
  }));
}

function routesIn({ paths }: Document): Pick<Route, 'method' | 'path' | 'operation'>[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { operationId }]) => !NO_REQUESTS.test(operationId))
      .map(([method, operation]) => ({ method, path, operation })),
  );
}
