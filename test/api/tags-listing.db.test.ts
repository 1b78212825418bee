/** The listing of tags: what was written, in the order of bytes, for any names. */
import { type Tag, upsertTags } from '@kasgres/database';
import { scriptToAddress } from '@kasgres/kaspa';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { OTHER_NETWORK, STRANGER } from './accounts.ts';
import { walk } from '../support/listings.ts';
import { openHarness, type Harness } from './harness.ts';

/**
 * Alike but for case, accents and blanks, which other orders than that of bytes pass over; some
 * that are equal.
 */
const NAMES = [
  'exchange',
  'Exchange',
  'ex change',
  'Éxchange',
  'exchange',
  'Zebra',
  'ägypten',
  '鲸鱼',
  '🐋',
  'a_b',
  'ab',
  'aB',
];
const LABELS = [[], ['exchange'], ['exchange', 'cold wallet'], ['pool', 'pool'], ['ÜBER, 100%'], ['Exchange']];

let harness: Harness;
let tags: Tag[];

beforeAll(async () => {
  harness = await openHarness({ rounds: 10 });
  tags = Array.from({ length: 75 }, (_, place) => ({
    address: addressNumber(place),
    name: NAMES[place % NAMES.length] ?? '',
    link: place % 3 === 0 ? `https://example.org/${place}` : '',
    labels: LABELS[place % LABELS.length] ?? [],
  }));
  await upsertTags(harness.database.pool, tags);
  tags.sort((a, b) => compareBytes(a.name, b.name) || compareBytes(a.address, b.address));
});
afterAll(() => harness.close());

function addressNumber(place: number): string {
  const script = Buffer.from(`20${(place * 7919).toString(16).padStart(64, 'ab')}ac`, 'hex');
  return scriptToAddress({ version: 0, script }, harness.simulatedDag.node.network.addressPrefix) as string;
}

const compareBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

const tagsWith = (label: string, some: readonly Tag[]): Tag[] => some.filter(({ labels }) => labels.includes(label));

const listing = (query: Record<string, string> = {}) => ({
  template: '/v1/tags',
  query,
  field: 'tags',
  cursorOf: ({ address }: Tag) => address,
});

test.each([1, 7, 75, 100])('it lists every tag once, by name and address, %i per page', async (limit) => {
  expect(await walk(harness.api, listing(), limit)).toEqual(tags);
});

test.each(['exchange', 'cold wallet', 'pool', 'ÜBER, 100%', 'Exchange', 'nobody has this'])(
  'it lists the tags with the label %s',
  async (label) => {
    expect(await walk(harness.api, listing({ label }), 4)).toEqual(tagsWith(label, tags));
  },
);

test('a tag without the label is a valid cursor', async () => {
  const place = tags.findIndex((tag, index) => index > 20 && !tag.labels.includes('exchange'));
  const cursor = tags[place]?.address ?? '';
  const behind = await harness.api.getChecked('/v1/tags', {}, { label: 'exchange', limit: 3, starting_after: cursor });
  expect(behind.json['tags']).toEqual(tagsWith('exchange', tags.slice(place)).slice(0, 3));
  const before = await harness.api.getChecked('/v1/tags', {}, { label: 'exchange', limit: 3, ending_before: cursor });
  expect(before.json['tags']).toEqual(tagsWith('exchange', tags.slice(0, place)).slice(-3));
});

test.each([
  [{ starting_after: STRANGER }, 404],
  [{ ending_before: OTHER_NETWORK }, 400],
  [{ starting_after: 'exchange' }, 400],
  [{ label: '' }, 400],
  [{ label: 'a\0b' }, 400],
  [{ name: '' }, 400],
  [{ owner: 'exchange' }, 400],
])('%j is refused', async (query, status) => {
  expect((await harness.api.getChecked('/v1/tags', {}, query as Record<string, string>)).status).toBe(status);
});

test('tags of one name are those with exactly this name', async () => {
  const { name } = tags[tags.length >> 1] as (typeof tags)[number];
  const { json } = await harness.api.getChecked('/v1/tags', {}, { name, limit: 100 });
  expect(json['tags']).toEqual(tags.filter((tag) => tag.name === name).slice(0, 100));
  expect((await harness.api.getChecked('/v1/tags', {}, { name: `${name}?` })).json['tags']).toEqual([]);
});

test('a changed tag changes the listing and its entity tag without a new block', async () => {
  const path = '/v1/tags?label=pool';
  const first = await harness.api.request(path);
  const ask = () => harness.api.request(path, { headers: { 'if-none-match': first.headers.get('etag') ?? '' } });
  expect((await ask()).status).toBe(304);
  const [changed] = first.json['tags'] as [Tag];
  await upsertTags(harness.database.pool, [{ ...changed, name: 'zzz renamed', labels: ['miner'] }]);
  const after = await ask();
  expect(after.json['tags']).toEqual((first.json['tags'] as Tag[]).slice(1));
  expect(await walk(harness.api, listing({ label: 'miner' }), 10)).toEqual([
    { ...changed, name: 'zzz renamed', labels: ['miner'] },
  ]);
});
