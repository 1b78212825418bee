/**
 * Reads, streams and webhooks of covenants, programs, lanes and inscriptions: the largest pages,
 * filters that match little, and as many ids as a subscription may have.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type { FloodRequest } from '../../test/api/flood-client.ts';
import {
  type Attack,
  type Attacker,
  type AttackOptions,
  onlyExpects,
  requires,
  RETRY_MS,
  UNANSWERED,
  withKey,
} from './attack.ts';
import { holdStream, repeatCommands } from './streams.ts';
import { changeWebhook, createWebhook } from './webhooks.ts';

const MAX_IDS = 500;
const MAX_WATCHED = 1_000;
const STREAMS = 100;
const WEBHOOKS = 20;
const DELIVERIES = 'deliveries';
const WEBHOOK_EVERY_MS = 10_000;

/** Fills up with ids of no covenant, which cost as much. */
function covenantsOf({ applications }: AttackOptions, count: number): string[] {
  const known = applications.covenants.slice(0, count);
  return [...known, ...Array.from({ length: count - known.length }, () => randomBytes(32).toString('hex'))];
}

const post = (path: string, body: object): FloodRequest => ({ method: 'POST', path, body: JSON.stringify(body) });

const spellingsOf = (tick: string): string[] => [tick, tick.toLowerCase(), tick.toUpperCase()];

function largestReads(options: AttackOptions): FloodRequest[] {
  const { busyCovenants, templates, longPrograms, namespaces, protocols, ticks, holders, transactions } =
    options.applications;
  return [
    '/v1/covenants?limit=100&live_only=true&complete_only=true',
    `/v1/covenants?limit=100&order=created&live_only=true&template=${templates.at(-1)}`,
    '/v1/covenant-events?limit=100',
    '/v1/templates?limit=100',
    '/v1/lanes?limit=100',
    '/v1/network/protocols?interval=hour',
    '/v1/network/protocols?interval=day',
    '/v1/transactions?limit=100&include=programs,tags&include_payload=true',
    `/v1/inscriptions?limit=100&protocol=${protocols.at(-1)}`,
    '/v1/inscriptions?limit=100&operation=none',
    '/v1/inscriptions?limit=100',
    ...busyCovenants.flatMap((id) => [`/v1/covenants/${id}/events?limit=100`, `/v1/covenants/${id}/utxos?limit=100`]),
    ...templates.slice(0, 3).map((hash) => `/v1/templates/${hash}/covenants?limit=100&live_only=true`),
    ...longPrograms.map((hash) => `/v1/programs/${hash}?include=bytes,disassembly&limit=1000`),
    ...namespaces.map((namespace) => `/v1/lanes/${namespace}/transactions?limit=100`),
    ...ticks
      .slice(0, 5)
      .flatMap(spellingsOf)
      .map((tick) => `/v1/inscriptions?limit=100&tick=${encodeURIComponent(tick)}`),
    ...holders.slice(0, 3).map((address) => `/v1/addresses/${address}/covenants?limit=100`),
    ...ticks.slice(0, 3).map((tick) => `/v1/search?q=${encodeURIComponent(tick)}`),
  ]
    .map((path): FloodRequest => ({ path }))
    .concat(
      post('/v1/covenants', { covenantIds: covenantsOf(options, MAX_IDS) }),
      post('/v1/transactions', { transactionIds: transactions.slice(0, 100), include: 'programs' }),
    );
}

/**
 * Half of the streams watch 1,000 covenants each, the others a template. Each has another number of
 * confirmations, which the steps of the others do not have.
 */
async function openStreams(attacker: Attacker): Promise<void> {
  const { options } = attacker;
  const covenants = covenantsOf(options, MAX_WATCHED);
  await attacker.repeat(
    STREAMS,
    async (index) => {
      const watched =
        index % 2 === 0
          ? { covenants }
          : { template: options.applications.templates[index % options.applications.templates.length] };
      const body = JSON.stringify({
        events: ['covenant'],
        confirmations: index + 1,
        from: options.firstBlock,
        ...watched,
      });
      return await holdStream(attacker, '/v1/stream', { 'x-api-key': attacker.key }, body);
    },
    RETRY_MS,
  );
}

/**
 * Webhooks from the first block on, whose receiver closes every connection. They are deleted before
 * they have failed often.
 */
async function renewWebhooks(attacker: Attacker): Promise<void> {
  const { key, options } = attacker;
  const { firstBlock: from, applications } = options;
  const covenants = covenantsOf(options, MAX_WATCHED);
  const server = createServer((socket) => {
    attacker.count(DELIVERIES);
    socket.destroy();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  await attacker.repeat(
    WEBHOOKS,
    async (index) => {
      const watched = index % 2 === 0 ? { covenants } : { template: applications.templates[0] };
      const body = { url, events: ['covenant'], confirmations: 3, from, ...watched };
      const { status, id } = await createWebhook(attacker, key, body);
      await attacker.pause(WEBHOOK_EVERY_MS);
      if (id !== undefined) await changeWebhook(attacker, key, 'DELETE', id);
      return status;
    },
    RETRY_MS,
  );
  server.close();
}

/** Any other status is a fault of the attack or of the API. */
const served = onlyExpects(200, 429, 503, 'error', UNANSWERED);

export const APPLICATIONS: readonly Attack[] = [
  {
    name: 'reads of covenants, programs and inscriptions',
    keys: 1,
    run: (attacker) => attacker.flood(100, withKey(attacker.key, largestReads(attacker.options))),
    findFault: served,
  },
  { name: 'streams of covenants', keys: 1, run: openStreams, findFault: served },
  {
    name: 'WebSocket commands of covenants',
    keys: 1,
    run: (attacker) =>
      repeatCommands(attacker, ['covenant'], { covenants: covenantsOf(attacker.options, MAX_WATCHED) }),
    findFault: requires('200'),
  },
  {
    // 409: too many webhooks, since the deletion of others got no response in time.
    name: 'webhooks of covenants',
    keys: 1,
    run: renewWebhooks,
    findFault: onlyExpects(200, 409, 429, 503, 'error', UNANSWERED, DELIVERIES),
  },
];
