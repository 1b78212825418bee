/**
 * Clusters of addresses over HTTP: pages of members, names and who gives them, and why two
 * addresses are together.
 */
import { replaceSources } from '@kasgres/database';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { OTHER_NETWORK, STRANGER } from './accounts.ts';
import { walk } from '../support/listings.ts';
import type { ApiResponse } from '../support/openapi.ts';
import { clusterMembers, listCursors } from './listings.ts';
import { cluster } from '../simulation/clusters-harness.ts';
import { openHarness, type Harness } from './harness.ts';

const TEMPLATE = '/v1/addresses/{address}/cluster';
/** How far below the sink clustering ends here, in blue score. */
const DEPTH = 10n;

interface Attribution {
  source: string;
  name: string;
  addresses: number;
}

interface Cluster {
  id: string;
  size: number;
  balance: string;
  name: string | null;
  link: string;
  labels: string[];
  names: { name: string; addresses: number; attributions: Attribution[] }[];
  clusteredTo: object | null;
}

interface Member {
  address: string;
  balance: string;
  tag: { address: string; name: string } | null;
  automaticLabels: string[];
}

interface Link {
  transactionId: string;
  addresses: [string, string];
}

interface Evidence {
  address: string;
  isSameCluster: boolean;
  links: Link[];
  truncated: boolean;
}

let harness: Harness;
/** The three largest clusters: members in the order of the ring. */
let clusters: string[][];

beforeAll(async () => {
  harness = await openHarness({ rounds: 200 });
  await harness.indexer.stop();
  await cluster(harness.database, { depth: DEPTH });
  const { rows } = await harness.database.pool.query<{ address: string; id: bigint }>(
    'select s.address, c.id from clusters c join scripts s on s.id = c.id order by c.size desc, c.id limit 3',
  );
  const listRing = ({ address, id }: { address: string; id: bigint }): Promise<string[]> =>
    listCursors(harness.database.pool, clusterMembers({ address, scriptId: Number(id) }).items);
  clusters = await Promise.all(rows.map(listRing));
});
afterAll(() => harness.close());

const ask = (address: string, query: Record<string, string | number> = {}): Promise<ApiResponse> =>
  harness.api.getChecked(TEMPLATE, { address }, query);

async function getCluster(address: string): Promise<Cluster> {
  const { json, text } = await ask(address);
  expect(json['cluster'], text).toBeDefined();
  return json['cluster'] as Cluster;
}

const membersOf = (address: string) => ({
  template: TEMPLATE,
  values: { address },
  field: 'members',
  cursorOf: (member: Member) => member.address,
});

/** Addresses that spend with nobody. */
async function listSingles(): Promise<string[]> {
  const { rows } = await harness.database.pool.query<{ address: string }>(`
    select s.address from scripts s join balances b on b.script_id = s.id
    where s.address is not null and cluster_of(s.id) is null order by b.balance desc, s.id
      limit 10`);
  return rows.map(({ address }) => address);
}

const describeAddress = async (address: string): Promise<{ balance: string; automaticLabels: string[] }> =>
  (await harness.api.getChecked('/v1/addresses/{address}', { address })).json['address'] as {
    balance: string;
    automaticLabels: string[];
  };

/** The last block that is as deep as it must be. */
async function getClusteredTo(): Promise<object | undefined> {
  const { rows } = await harness.database.pool.query<object>(
    `select encode(b.hash, 'hex') as hash, b.blue_score::text as "blueScore", b.daa_score::text as "daaScore"
     from chain_blocks c join blocks b on b.id = c.block_id
     where b.blue_score <= (select max(blue_score) - ${DEPTH} from blocks
       where id = (select block_id from checkpoint))
     order by c.index desc limit 1`,
  );
  return rows[0];
}

describe('the members', () => {
  test('the test data has large clusters', () => {
    expect(clusters).toHaveLength(3);
    expect(clusters[0]?.length).toBeGreaterThan(5);
  });

  test.each([1, 2, 3, 7, 100])('are listed once from the root on, from any member, %i per page', async (limit) => {
    for (const ring of clusters) {
      const walked = await walk(harness.api, membersOf(ring.at(-1) ?? ''), limit);
      expect(walked.map(({ address }) => address)).toEqual(ring);
    }
  });

  test('it lists members with balance, tag and activity', async () => {
    const [ring = []] = clusters;
    const members = await walk(harness.api, membersOf(ring[0] ?? ''), 100);
    let sum = 0n;
    for (const member of members) {
      const { balance, automaticLabels } = await describeAddress(member.address);
      expect(member).toEqual({ address: member.address, balance, tag: null, automaticLabels });
      sum += BigInt(balance);
    }
    expect(await getCluster(ring[1] ?? '')).toEqual({
      id: ring[0],
      size: ring.length,
      balance: String(sum),
      name: null,
      link: '',
      labels: [],
      names: [],
      clusteredTo: await getClusteredTo(),
    });
  });

  test('it refuses members of another cluster as cursors', async () => {
    const [[address = ''] = [], [other = ''] = []] = clusters;
    const [single = ''] = await listSingles();
    for (const cursor of [other, single, STRANGER]) {
      expect((await ask(address, { starting_after: cursor })).status).toBe(404);
      expect((await ask(address, { ending_before: cursor })).status).toBe(404);
    }
  });

  test('it returns an empty page behind the last member and before the root', async () => {
    const [ring = []] = clusters;
    const nobody = { members: [], metadata: { hasMore: false, count: 0 } };
    const address = ring[0] ?? '';
    expect((await ask(address, { starting_after: ring.at(-1) ?? '' })).json).toMatchObject(nobody);
    expect((await ask(address, { ending_before: address })).json).toMatchObject(nobody);
  });
});

describe('an address without a cluster', () => {
  test.each(['seen', 'never seen'])('it is a cluster with one member: %s', async (kind) => {
    const [single = ''] = await listSingles();
    const address = kind === 'seen' ? single : STRANGER;
    const { balance, automaticLabels } = await describeAddress(address);
    expect((await ask(address)).json).toEqual({
      cluster: {
        id: address,
        size: 1,
        balance,
        name: null,
        link: '',
        labels: [],
        names: [],
        clusteredTo: await getClusteredTo(),
      },
      members: [{ address, balance, tag: null, automaticLabels }],
      metadata: { hasMore: false, count: 1 },
      evidence: null,
      changeSuggestions: [],
    });
    expect(await walk(harness.api, membersOf(address), 1)).toHaveLength(1);
    expect((await ask(address, { starting_after: clusters[0]?.[0] ?? '' })).status).toBe(404);
  });
});

const evidenceFor = async (address: string, other: string): Promise<Evidence> =>
  (await ask(address, { evidence_for: other })).json['evidence'] as Evidence;

/** Whom a transaction takes UTXOs from, by the transactions' own endpoint. */
async function spendersOf(transactionId: string): Promise<Set<string | null>> {
  const { json } = await harness.api.getChecked('/v1/transactions/{transactionId}', { transactionId });
  const { isAccepted, inputs } = json['transaction'] as {
    isAccepted: boolean;
    inputs: { previousOutput: { scriptPublicKeyAddress: string | null } }[];
  };
  expect(isAccepted).toBe(true);
  return new Set(inputs.map(({ previousOutput }) => previousOutput.scriptPublicKeyAddress));
}

describe('evidence', () => {
  test('it leads from member to member by transactions that spend from both', async () => {
    const all = new Map<string, Link>();
    for (const [from = '', ...others] of clusters) {
      for (const [a, b] of [...others.map((other) => [from, other]), ...others.map((other) => [other, others[0]])]) {
        const { links, ...rest } = await evidenceFor(a ?? '', b ?? '');
        expect(rest).toEqual({ address: b, isSameCluster: true, truncated: false });
        let at = a;
        for (const link of links) {
          expect(link.addresses[0]).toBe(at);
          at = link.addresses[1];
          expect(at).not.toBe(link.addresses[0]);
          all.set(JSON.stringify(link), link);
        }
        expect(at).toBe(b);
      }
    }
    // One for each merge: with fewer, not all are tied together; with more, some tie nothing.
    expect(all.size).toBeGreaterThanOrEqual(clusters.flat().length - clusters.length);
    for (const { transactionId, addresses } of all.values()) {
      const spenders = await spendersOf(transactionId);
      expect([...addresses].filter((address) => !spenders.has(address))).toEqual([]);
    }
  });

  test('it is denied for another cluster, an address without a cluster and an unseen address', async () => {
    const [[address = ''] = [], [other = ''] = []] = clusters;
    const [single = '', second = ''] = await listSingles();
    for (const [a, b] of [
      [address, other],
      [address, single],
      [single, address],
      [single, second],
      [single, STRANGER],
      [STRANGER, address],
    ] as const) {
      expect(await evidenceFor(a, b)).toEqual({ address: b, isSameCluster: false, links: [], truncated: false });
    }
    expect(await evidenceFor(STRANGER, STRANGER)).toMatchObject({ isSameCluster: true, links: [] });
  });

  test('it is null unless requested', async () => {
    expect((await ask(clusters[0]?.[0] ?? '')).json['evidence']).toBeNull();
  });
});

test.each([
  [OTHER_NETWORK, {}, 'address'],
  ['kaspasim:', {}, 'address'],
  [STRANGER, { evidence_for: OTHER_NETWORK }, 'evidence_for'],
  [STRANGER, { evidence_for: 'somebody' }, 'evidence_for'],
  [STRANGER, { evidence_for: '' }, 'evidence_for'],
  [STRANGER, { starting_after: OTHER_NETWORK }, 'starting_after'],
  [STRANGER, { ending_before: 'x' }, 'ending_before'],
  [STRANGER, { limit: 101 }, 'limit'],
  [STRANGER, { evidence: STRANGER }, 'evidence'],
])('%s with %j is refused, and the field named', async (address, query, path) => {
  const { status, json } = await ask(address, query);
  expect(status).toBe(400);
  expect(json['details']).toMatchObject([{ path }]);
});

/** A source and what it says. */
const source = (name: string, said: [address: string, name: string, confidenceLevel: number][]) => ({
  name,
  title: `Tags of ${name}`,
  creator: `${name} & Co.`,
  attributions: said.map(([address, owner, confidenceLevel]) => ({
    address,
    name: owner,
    link: `https://example.org/${encodeURIComponent(owner)}`,
    labels: [name],
    category: 'exchange',
    confidence: 'ownership',
    confidenceLevel,
    lastModified: '2026-01-31',
  })),
});

describe('names', () => {
  let ring: string[];
  let ownLess: string;

  beforeAll(async () => {
    [ring = []] = clusters;
    ownLess = ring[4] ?? '';
    const [a = '', b = '', c = '', d = ''] = ring;
    const [single = ''] = await listSingles();
    await replaceSources(harness.database.pool, [
      source('harbour', [
        [a, 'Harbour', 80],
        [b, 'Harbour', 80],
        [single, 'Somebody', 30],
      ]),
    ]);
    expect((await getCluster(ownLess)).name).toBe('Harbour');
    const { status, json } = await harness.api.getChecked('/v1/addresses/{address}/tag', { address: ownLess });
    const clusterTag = { name: 'Harbour', link: 'https://example.org/Harbour', labels: ['harbour'], address: ownLess };
    expect([status, json['tag']]).toEqual([200, clusterTag]);
    const tagIn = async (address: string) =>
      (await harness.api.getChecked('/v1/addresses/{address}', { address })).json['address'] as { tag: object };
    expect((await tagIn(ownLess)).tag).toEqual({ ...clusterTag, isGuessed: true });
    expect((await tagIn(a)).tag).not.toHaveProperty('isGuessed');
    await replaceSources(harness.database.pool, [
      source('rumour', [
        [b, 'Casino', 20],
        [c, 'Casino', 20],
        [d, 'Harbour', 20],
      ]),
    ]);
  });

  test('it shows all names that disagree, with their sources and counts, and chooses none', async () => {
    const { name, link, labels, names } = await getCluster(ownLess);
    expect({ name, link, labels }).toEqual({ name: null, link: '', labels: [] });
    const said = { category: 'exchange', confidence: 'ownership' };
    const byHarbour = {
      ...said,
      source: 'harbour',
      creator: 'harbour & Co.',
      name: 'Harbour',
      link: 'https://example.org/Harbour',
      labels: ['harbour'],
      confidenceLevel: 80,
    };
    const byRumour = { ...said, source: 'rumour', creator: 'rumour & Co.', labels: ['rumour'], confidenceLevel: 20 };
    const casino = { ...byRumour, name: 'Casino', link: 'https://example.org/Casino', addresses: 1 };
    const alsoHarbour = { ...byRumour, name: 'Harbour', link: 'https://example.org/Harbour', addresses: 1 };
    expect(names).toEqual([
      // Who says otherwise of a member with that name is shown beside it.
      { name: 'Harbour', addresses: 3, attributions: [{ ...byHarbour, addresses: 2 }, casino, alsoHarbour] },
      { name: 'Casino', addresses: 1, attributions: [casino] },
    ]);
  });

  test('it gives a member without a tag no tag from names that disagree', async () => {
    const { status } = await harness.api.getChecked('/v1/addresses/{address}/tag', { address: ownLess });
    expect(status).toBe(404);
    const members = await walk(harness.api, membersOf(ownLess), 100);
    const tagged = members.flatMap(({ address, tag }) => (tag === null ? [] : [[address, tag.address, tag.name]]));
    const [a, b, c, d] = ring;
    expect(tagged).toEqual([
      [a, a, 'Harbour'],
      [b, b, 'Harbour'],
      [c, c, 'Casino'],
      [d, d, 'Harbour'],
    ]);
  });

  test('it names an address without a cluster by its tag', async () => {
    const [single = ''] = await listSingles();
    expect(await getCluster(single)).toMatchObject({
      id: single,
      size: 1,
      name: 'Somebody',
      link: 'https://example.org/Somebody',
      labels: ['harbour'],
      names: [{ name: 'Somebody', addresses: 1, attributions: [{ source: 'harbour', addresses: 1 }] }],
    });
  });

  test('it changes the entity tag when a name changes', async () => {
    const path = `/v1/addresses/${ownLess}/cluster`;
    const etag = (await harness.api.request(path)).headers.get('etag') ?? '';
    const again = () => harness.api.request(path, { headers: { 'if-none-match': etag } });
    expect((await again()).status).toBe(304);
    await replaceSources(harness.database.pool, [source('rumour', [])]);
    expect((await again()).status).toBe(200);
    expect(await getCluster(ownLess)).toMatchObject({ name: 'Harbour', names: [{ name: 'Harbour', addresses: 2 }] });
  });
});

test('it lists links of the weaker change heuristic from both sides, newest first, outside the cluster', async () => {
  const { pool } = harness.database;
  const [single = '', other = ''] = await listSingles();
  await pool.query(
    `insert into change_links (transaction_id, script_id, change_script_id, chain_index)
     select t.id, a.id, b.id, 0
       from scripts a, scripts b, (select id from transactions order by id limit 150) t
     where a.address = $1 and b.address = $2`,
    [single, other],
  );
  const { rows } = await pool.query<{ id: string }>(
    `select encode(t.transaction_id, 'hex') as id from change_links c join transactions t on t.id = c.transaction_id
     order by c.transaction_id desc limit 100`,
  );
  for (const [asked, shown, isChange] of [
    [single, other, true],
    [other, single, false],
  ] as const) {
    const { json } = await ask(asked);
    expect(json['changeSuggestions']).toEqual(rows.map(({ id }) => ({ address: shown, transactionId: id, isChange })));
    expect(json['cluster']).toMatchObject({ id: asked, size: 1 });
  }
});
