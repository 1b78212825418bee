import { type AddressPrefix, getNetwork, scriptToAddress } from '@kasgres/kaspa';
import { describe, expect, test } from 'vitest';
import { Problems } from './tag-file.ts';
import { readTagFiles, type TagFiles, type TagFilesOptions } from './read-tag-files.ts';

function addressOf(number: number, prefix: AddressPrefix = 'kaspa'): string {
  const script = Buffer.alloc(34, number);
  script[0] = 0x20;
  script[33] = 0xac;
  return scriptToAddress({ version: 0, script }, prefix) as string;
}

const ONE = addressOf(1);
const TWO = addressOf(2);
const OTHER_NETWORK = addressOf(1, 'kaspatest');

type Files = Record<string, string | Uint8Array>;

function readAll(files: Files, options: Partial<TagFilesOptions> = {}): TagFiles | Problems {
  return readTagFiles(
    Object.entries(files).map(([file, contents]) => ({ file, contents: Buffer.from(contents) })),
    { network: getNetwork('mainnet'), ...options },
  );
}

function read(files: Files, options?: Partial<TagFilesOptions>): TagFiles {
  const found = readAll(files, options);
  if (found instanceof Problems) throw new Error(found.report());
  return found;
}

function problemsOf(files: Files, options?: Partial<TagFilesOptions>): string[] {
  const found = readAll(files, options);
  return found instanceof Problems ? found.lines : [];
}

const NOTHING_MORE = {
  link: '',
  labels: [],
  category: undefined,
  confidence: undefined,
  confidenceLevel: 50,
  lastModified: undefined,
};

describe('CSV', () => {
  test('every column', () => {
    const text = `address,name,link,labels,category,confidence,creator,lastmod
${ONE}, Harbour ,https://example.org/a?b=c,exchange;hot wallet|exchange,exchange,forensic,Ann,2026-1-31
`;
    expect(read({ 'dir/names.csv': text }).sources).toEqual([
      {
        name: 'names.csv',
        title: '',
        creator: 'Ann',
        attributions: [
          {
            address: ONE,
            name: 'Harbour',
            link: 'https://example.org/a?b=c',
            labels: ['exchange', 'hot wallet'],
            category: 'exchange',
            confidence: 'forensic',
            confidenceLevel: 50,
            lastModified: '2026-01-31',
          },
        ],
      },
    ]);
  });

  test('two columns suffice, in any order, with any line ending and a byte order mark', () => {
    expect(read({ 'a.csv': `\uFEFFName;ADDRESS\r\n"A; B";${ONE}\r\n\r\nC;${TWO}` }).sources[0]?.attributions).toEqual([
      { ...NOTHING_MORE, address: ONE, name: 'A; B' },
      { ...NOTHING_MORE, address: TWO, name: 'C' },
    ]);
  });

  test('each row may have its own source', () => {
    const { sources } = read({
      'a.csv': `address,name,source,creator\n${ONE},A,one,Ann\n${TWO},B,one,Bob\n${ONE},C,two,\n`,
    });
    expect(sources.map(({ name, creator, attributions }) => [name, creator, attributions.length])).toEqual([
      ['one', 'Ann, Bob', 2],
      ['two', '', 1],
    ]);
  });

  test.each([
    ['', '1: header: is missing'],
    ['name,link\n', '1: address: is missing among the columns'],
    ['address,link\n', '1: name: is missing among the columns'],
    ['address,name,name\n', '1: name: occurs twice'],
    ['address,name,lables\n', '1: "lables": is not a column of tags'],
    ['address,name,label\n', '1: label: is ambiguous'],
    [`address,name\n${ONE},A\n${TWO}\n`, '3: line: has 1 values, the header names 2 columns'],
    [`address,name\n${ONE},A\n${TWO},"B\n`, '3: CSV: cannot be read from here'],
    [`address,name\n${ONE},"A\nB"\n${TWO},\n`, '2: name: must not contain control characters'],
    [`address,name\n\n${ONE},A\n\n${TWO},\n`, '5: name: is missing'],
  ])('%j is refused with its line', (text, words) => {
    expect(problemsOf({ 'a.csv': text })[0]).toContain(`a.csv:${words}`);
  });
});

describe('JSON', () => {
  test('a list of tags', () => {
    const tag = { address: ONE, name: 'A', labels: ['x', 'y'], confidence: 80, lastmod: '2026-01-31T10:00:00Z' };
    const text = JSON.stringify([tag, { address: TWO, name: 'B', labels: 'x;y', confidence: 'web_crawl' }]);
    expect(read({ 'a.json': text }).sources).toMatchObject([
      {
        name: 'a.json',
        attributions: [
          { labels: ['x', 'y'], confidence: '80', confidenceLevel: 80, lastModified: '2026-01-31' },
          { labels: ['x', 'y'], confidence: 'web_crawl', confidenceLevel: 20 },
        ],
      },
    ]);
  });

  test('the response of /rest/addresses/names, whose first entry is a dummy', () => {
    const names = [
      { address: 'kaspa:', name: '' },
      { address: ONE, name: 'A' },
      { address: TWO, name: 'B' },
    ];
    expect(read({ names: JSON.stringify(names) }).sources).toEqual([
      {
        name: 'names',
        title: '',
        creator: '',
        attributions: names.slice(1).map((tag) => ({ ...NOTHING_MORE, ...tag })),
      },
    ]);
  });

  test('an object with source, title and creator', () => {
    const tags = [{ address: ONE, name: 'A' }];
    expect(
      read({ 'a.json': JSON.stringify({ source: 'desk', title: 'Our desk', creator: 'Ann', tags }) }).sources,
    ).toEqual([
      { name: 'desk', title: 'Our desk', creator: 'Ann', attributions: [{ ...NOTHING_MORE, address: ONE, name: 'A' }] },
    ]);
  });

  test.each([
    ['[\n{"address": 1,\n"name": 2}]', ['2: address: must be a text, not 1', '3: name: must be a text, not 2']],
    ['[\n{},\n]', ['3: JSON: cannot be read']],
    ['', ['1: JSON: cannot be read']],
    ['7', ['1: file: must be a list of tags']],
    ['{\n"tags": 7}', ['2: tags: must be a list']],
    [
      '{"creator": 7,\n"tag": []}',
      ['2: "tag": is not a field of a file of tags', '1: creator: must be a text', '1: tags: must be a list'],
    ],
    ['[\n7]', ['2: tags: must be objects, not 7']],
    ['{\n"title": "a\u202Eb",\n"tags": []}', ['2: title: must not contain bidirectional']],
    [
      `[{"address": "${ONE}",\n"name": "A",\n"label": "B",\n"labels": [1]}]`,
      ['3: "label": is not a field of a tag', '4: labels: must be texts, not [1]'],
    ],
  ])('%j is refused with its lines', (text, words) => {
    const problems = problemsOf({ 'a.json': text });
    for (const part of words) expect(problems.join('\n')).toContain(`a.json:${part}`);
    expect(problems).toHaveLength(words.length);
  });
});

describe('TagPack', () => {
  const HEADER = 'title: Test pack\ncreator: A team\n';

  test('tags inherit fields of the header and override them', () => {
    const text = `---
title: Harbour wallets
creator: A team
description: |
  Several
  lines
confidence: service_data
is_cluster_definer: true
is_public: true
currency: KAS
category: exchange
label: Harbour
lastmod: 2021-11-12
source: https://example.org/proof
actor: harbour
tags:
- address: ${ONE}
- address: ${TWO}
  label: 7000
  abuse: scam
  category: market
  concepts: [hosting, market]
  confidence: ownership
  source: A book
  context: '{"a": 1}'
  lastmod: 2022-10-1 10:00:00
`;
    expect(read({ 'pack.yaml': text }).sources).toEqual([
      {
        name: 'Harbour wallets (A team)',
        title: 'Harbour wallets',
        creator: 'A team',
        attributions: [
          {
            address: ONE,
            name: 'Harbour',
            link: 'https://example.org/proof',
            labels: ['exchange'],
            category: 'exchange',
            confidence: 'service_data',
            confidenceLevel: 50,
            lastModified: '2021-11-12',
            actor: 'harbour',
          },
          {
            address: TWO,
            name: '7000',
            link: '',
            labels: ['hosting', 'market', 'scam'],
            category: 'market',
            confidence: 'ownership',
            confidenceLevel: 100,
            lastModified: '2022-10-01',
            actor: 'harbour',
          },
        ],
      },
    ]);
  });

  test('anchors, aliases and merge keys, as YAML 1.1 and 1.2 have them', () => {
    for (const version of ['%YAML 1.1\n---\n', '']) {
      const text = `${version}${HEADER}tags:
- &first
  address: ${ONE}
  label: &name Harbour
  concepts: &kinds [exchange]
  lastmod: 2021-11-12
- <<: *first
  address: ${TWO}
- address: ${addressOf(3)}
  label: *name
  concepts: *kinds
`;
      expect(read({ 'pack.yaml': text }).sources[0]?.attributions).toMatchObject([
        { address: ONE, name: 'Harbour', labels: ['exchange'], lastModified: '2021-11-12' },
        { address: TWO, name: 'Harbour', labels: ['exchange'], lastModified: '2021-11-12' },
        { address: addressOf(3), name: 'Harbour', labels: ['exchange'], lastModified: undefined },
      ]);
    }
  });

  test('a TagPack without a confidence has the level of `unknown`, as in GraphSense', () => {
    const { sources } = read({ 'pack.yml': `${HEADER}label: A\ntags:\n- address: ${ONE}\n` });
    expect(sources[0]?.attributions[0]).toMatchObject({ confidence: undefined, confidenceLevel: 5 });
  });

  test('tags of other chains and of transactions are skipped and counted', () => {
    const text = `${HEADER}label: A
currency: BTC
tags:
- address: 1Archive1n2C579dMsAu3iC6tWzuQJz8dN
- address: '0xFA8E3920daF271daB92Be9B87d9998DDd94FEF08'
  currency: ETH
- address: 0xFA8E3920daF271daB92Be9B87d9998DDd94FEF08
  network: eth
- tx_hash: 4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b
- address: ${ONE}
  currency: kas
- address: ${TWO}
  currency: USDT
  network: KAS
`;
    const { sources, otherCurrencies, transactionTags } = read({ 'pack.yaml': text });
    expect(sources[0]?.attributions.map(({ address }) => address)).toEqual([ONE, TWO]);
    expect(otherCurrencies).toEqual(
      new Map([
        ['BTC', 1],
        ['ETH', 2],
      ]),
    );
    expect(transactionTags).toBe(1);
  });

  test('a TagPack of another chain is a source without attributions', () => {
    const { sources } = read({ 'pack.yaml': `${HEADER}label: A\ncurrency: BTC\ntags:\n- address: 1Archive\n` });
    expect(sources).toMatchObject([{ name: 'Test pack (A team)', attributions: [] }]);
  });

  test('the header may be nested below `header`', () => {
    const text = `header:\n  title: T\n  creator: C\n  label: A\nlastmod: 2021-11-12\ntags:\n- address: ${ONE}\n`;
    expect(read({ 'pack.yaml': text }).sources).toMatchObject([
      { name: 'T (C)', attributions: [{ name: 'A', lastModified: '2021-11-12' }] },
    ]);
  });

  test.each([
    ['- 1\n', '1: file: must be a TagPack'],
    ['creator: A\ntags: []\n', '1: title: is missing in the header'],
    ['title: A\ntags: []\n', '1: creator: is missing in the header'],
    [HEADER, '1: tags: is missing in the header'],
    [`${HEADER}tags: 7\n`, '3: tags: must be a list'],
    [`${HEADER}tags:\n- 7\n`, '4: tags: must be tags with an address'],
    [`${HEADER}colour: red\ntags: []\n`, '3: "colour": is not a field of a TagPack'],
    [`${HEADER}tags:\n- address: ${ONE}\n  label: A\n  lable: B\n`, '6: "lable": is not a field of a tag'],
    [`${HEADER}tags:\n- address: ${ONE}\n`, '4: label: is missing'],
    [`${HEADER}tags:\n- address: ${ONE}\n  label:\n`, '5: label: has no value'],
    [`${HEADER}tags:\n- label: A\n`, '4: address: is missing'],
    [`${HEADER}label: A\nconfidence: sure\ntags:\n- address: ${ONE}\n`, '4: confidence: must be'],
    [`${HEADER}label: A\ntags:\n- address: ${ONE}\n  lastmod: tomorrow\n`, '6: lastmod: must be a date'],
    [`${HEADER}label: A\ntags:\n- address: ${ONE}\n  concepts: exchange\n`, '6: concepts: must be texts'],
    [`${HEADER}label: {a: b}\ntags:\n- address: ${ONE}\n`, '3: label: must be a text'],
    [`${HEADER}label: A\ntags:\n- address: ${ONE}\n  tx_hash: 00\n`, '5: tx_hash: cannot be combined'],
    [`${HEADER}title: B\n`, '3: YAML: cannot be read'],
    [`${HEADER}tags:\n- address: ${ONE}\n   label: A\n`, '4: YAML: cannot be read'],
    [`${HEADER}label: A\ntags:\n- address: *nobody\n`, '5: YAML: has no anchor &nobody'],
    [`header: !include header.yaml\ntags: []\n`, '1: header: must contain the fields of the header'],
    [`${HEADER}is_public: false\ntags: []\n`, '3: is_public: must be true'],
    ['header:\n  title: T\n  creator: C\n  is_public: false\ntags: []\n', '4: is_public: must be true'],
    ['x: &x\n  is_public: false\ntitle: T\ncreator: C\nheader:\n  <<: *x\ntags: []\n', '5: is_public: must be true'],
    ['creator: C\ntitle: [T]\ntags: []\n', '2: title: must be a text'],
    ['header:\n  title: T\n  creator: [C]\ntags: []\n', '3: creator: must be a text'],
    ['header:\n  title: T\n  creator: C\n  tags: 7\n', '4: tags: must be a list'],
    ['label: A\nheader:\n  creator: C\ntags: []\n', '2: title: is missing in the header'],
    ['creator: C\ntitle: a\u202Eb\ntags: []\n', '2: title: must not contain bidirectional'],
    [`header:\n  creator: C\n  title: ${'x'.repeat(250)}\ntags: []\n`, '3: source: must not be longer'],
    ['header:\n  title: T\n  creator: c\u202Eb\ntags: []\n', '3: creator: must not contain bidirectional'],
  ])('%j is refused with its line', (text, words) => {
    expect(problemsOf({ 'pack.yaml': text }).join('\n')).toContain(`pack.yaml:${words}`);
  });
});

function packWith(address: string): string {
  return `title: T\ncreator: C\nlabel: A\ntags:\n- address: ${address}\n`;
}

describe('any format', () => {
  const csv = (fields: Record<string, string>): Files => {
    const tag = { address: ONE, name: 'A', ...fields };
    return { 'a.csv': `${Object.keys(tag).join()}\n${Object.values(tag).join()}\n` };
  };

  test.each([
    [{ address: OTHER_NETWORK }, 'address: is not an address of mainnet, which begins with kaspa:'],
    [
      { address: `${ONE.slice(0, -1)}q` },
      'address: is not an address of mainnet (the checksum of the address is wrong)',
    ],
    [
      { address: '1Archive1n2C579dMsAu3iC6tWzuQJz8dN' },
      'address: is not an address of mainnet (the address has no prefix)',
    ],
    [{ address: ' ' }, 'address: is missing'],
    [{ name: '\0' }, 'name: must not contain control characters'],
    [{ name: 'exchange \u202Eecnanib' }, 'name: must not contain bidirectional control characters (U+202E)'],
    [{ labels: '\u2067hot' }, 'labels: must not contain bidirectional control characters'],
    [{ name: 'ex\u200Bchange' }, 'name: must not contain invisible characters (U+200B): "ex\u200Bchange"'],
    [{ name: 'ex\u200Echange' }, 'name: must not contain bidirectional control characters (U+200E)'],
    [{ labels: 'h\u2064ot' }, 'labels: must not contain invisible characters (U+2064)'],
    [{ category: 'ex\uFEFFchange' }, 'category: must not contain invisible characters (U+FEFF)'],
    [{ actor: 'a\u00ADb' }, 'actor: must not contain invisible characters (U+00AD)'],
    [{ creator: 'a\u200Db' }, 'creator: must not contain invisible characters (U+200D)'],
    [{ source: 'a\u3164' }, 'source: must not contain invisible characters (U+3164)'],
    [{ link: 'https://example.org/\u2060' }, 'link: must not contain invisible characters (U+2060)'],
    [{ name: 'a\u{E0041}' }, 'name: must not contain invisible characters (U+E0041)'],
    [{ name: 'x'.repeat(301) }, 'name: must not be longer than 300 characters'],
    [{ labels: 'x'.repeat(101) }, 'labels: must not be longer than 100 characters'],
    [{ labels: Array.from({ length: 51 }, (_, n) => `label ${n}`).join(';') }, 'labels: must be at most 50, not 51'],
    [{ link: 'example.org' }, 'link: must be a URL that begins with http:// or https://'],
    [{ link: 'javascript:alert(1)' }, 'link: must be a URL that begins with http:// or https://'],
    [{ link: 'https://' }, 'link: must be a URL that begins with http:// or https://'],
    [{ category: '\u001b[31m' }, 'category: must not contain control characters'],
    [{ confidence: '101' }, 'confidence: must be a whole number from 0 to 100'],
    [{ confidence: 'constructor' }, 'confidence: must be a whole number from 0 to 100'],
    [{ lastmod: '2026-02-30' }, 'lastmod: must be a date'],
    [{ lastmod: '31.1.2026' }, 'lastmod: must be a date'],
    [{ source: 'x'.repeat(201) }, 'source: must not be longer than 200 characters'],
    [{ creator: '\0' }, 'creator: must not contain control characters'],
  ])('%j is refused', (fields, words) => {
    expect(problemsOf(csv(fields))[0]).toContain(`a.csv:2: ${words}`);
  });

  test('it accepts a byte order mark, other scripts, combining marks and emoji', () => {
    const name = 'Ünï e\u0301 交易所 בורסה सेवा ❤\uFE0F 👍🏽 🇨🇭';
    const contents = `\uFEFFaddress,name\n${ONE},${name}\n`;
    expect(read({ 'a.csv': contents }).sources[0]?.attributions[0]?.name).toBe(name);
  });

  test('it accepts texts of the maximum length', () => {
    const fields = {
      name: '€'.repeat(300),
      labels: Array.from({ length: 50 }, (_, n) => `${n}`.padStart(100, 'x')).join(';'),
    };
    expect(read(csv(fields)).sources[0]?.attributions[0]?.labels).toHaveLength(50);
  });

  test('a problem in one file fails all, and every problem is listed', () => {
    const files = { 'good.csv': `address,name\n${ONE},A\n`, 'bad.csv': `address,name\nnone,A\n${ONE},\n` };
    expect(problemsOf(files)).toHaveLength(2);
  });

  test('it lists the first hundred problems and counts all', () => {
    const found = readAll({ 'a.csv': `address,name\n${'none,A\n'.repeat(1234)}` });
    const lines = found instanceof Problems ? found.report().split('\n') : [];
    expect(lines).toHaveLength(102);
    expect(lines.slice(-2)).toEqual(['… and 1,134 more', '1,234 problems. Nothing was written.']);
  });

  test('it merges attributions of the same source, address and name', () => {
    const tags = [
      {
        address: ONE,
        name: 'A',
        labels: ['x', 'y'],
        confidence: 10,
        link: 'https://low.example',
        lastmod: '2026-01-31',
      },
      { address: ONE, name: 'A', labels: ['y', 'z'], confidence: 90, category: 'c', lastmod: '2026-01-30' },
      { address: ONE, name: 'B' },
    ];
    const { sources, merged } = read({ 'a.json': JSON.stringify(tags) });
    expect(merged).toBe(1);
    expect(sources[0]?.attributions).toEqual([
      {
        address: ONE,
        name: 'A',
        link: 'https://low.example',
        labels: ['x', 'y', 'z'],
        category: 'c',
        confidence: '90',
        confidenceLevel: 90,
        lastModified: '2026-01-31',
      },
      { ...NOTHING_MORE, address: ONE, name: 'B' },
    ]);
  });

  test('several files of one source are one source', () => {
    const { sources } = read({ 'part1.yaml': packWith(ONE), 'part2.yaml': packWith(TWO) });
    expect(sources.map(({ name, attributions }) => [name, attributions.length])).toEqual([['T (C)', 2]]);
  });

  test('--source applies to all tags', () => {
    const files = {
      'a.csv': `address,name,source\n${ONE},A,one\n`,
      'b.json': JSON.stringify([{ address: TWO, name: 'B' }]),
    };
    expect(read(files, { source: 'mine' }).sources).toMatchObject([{ name: 'mine', attributions: [{}, {}] }]);
  });

  test.each([
    ['names', `address,name\n${ONE},A\n`],
    ['names', `[{"address": "${ONE}", "name": "A"}]`],
    ['names', packWith(ONE)],
    ['NAMES.TSV', `address\tname\n${ONE}\tA\n`],
  ])('it detects the format of %s: %j', (file, text) => {
    expect(read({ [file]: text }).sources[0]?.attributions).toMatchObject([{ address: ONE, name: 'A' }]);
  });

  test('--format overrides the detected format', () => {
    expect(problemsOf({ 'a.csv': '[]' }, { format: 'json' })).toEqual([]);
    expect(problemsOf({ 'a.json': '[]' }, { format: 'csv' })).not.toEqual([]);
  });

  test('it rejects files that are not UTF-8', () => {
    expect(problemsOf({ 'a.csv': Uint8Array.of(0xff, 0xfe, 0x41, 0x00) })).toEqual([
      'a.csv:1: file: must be UTF-8 text',
    ]);
  });
});

const pack = (fields: string, header = ''): Record<string, string> => ({
  'pack.yaml': `title: Pack\ncreator: A team\ncurrency: KAS\n${header}tags:\n- address: ${ONE}\n  label: Harbour\n${fields}`,
});
const attributionOf = (files: Record<string, string>): unknown => read(files).sources[0]?.attributions[0];

describe('fields of TagPacks that limit a claim', () => {
  test('a tag may name its address only, and an actor', () => {
    expect(attributionOf(pack('  is_cluster_definer: false\n  actor: harbour\n'))).toMatchObject({
      namesCluster: false,
      actor: 'harbour',
    });
    expect(attributionOf(pack('', 'is_cluster_definer: False\n'))).toMatchObject({ namesCluster: false });
    expect(attributionOf(pack('  is_cluster_definer: true\n'))).not.toHaveProperty('namesCluster');
    expect(attributionOf(pack('  tag_type: actor\n'))).toMatchObject({ name: 'Harbour' });
  });

  test('an empty cell of CSV limits nothing', () => {
    const header = 'address,name,actor,is_cluster_definer,tag_type\n';
    expect(attributionOf({ 'a.csv': `${header}${ONE},Harbour,,,\n` })).not.toHaveProperty('namesCluster');
    expect(attributionOf({ 'a.csv': `${header}${ONE},Harbour,,false,actor\n` })).toMatchObject({
      namesCluster: false,
    });
  });

  test('of two tags of one owner, the actor is kept, and the limit of the more confident one', () => {
    const header = 'address,name,confidence,actor,is_cluster_definer\n';
    const [plain, limited] = [`${ONE},Harbour,90,,`, `${ONE},Harbour,90,harbour,false`];
    const less = limited.replace('90', '10');
    for (const rows of [
      [plain, limited],
      [limited, plain],
    ]) {
      expect(attributionOf({ 'a.csv': header + rows.join('\n') })).toMatchObject({
        actor: 'harbour',
        namesCluster: false,
      });
    }
    for (const rows of [
      [plain, less],
      [less, plain],
    ]) {
      const merged = attributionOf({ 'a.csv': header + rows.join('\n') });
      expect(merged).toMatchObject({ actor: 'harbour' });
      expect(merged).not.toHaveProperty('namesCluster');
    }
  });

  test('what cannot be honoured is refused by name', () => {
    expect(() => read(pack('  is_cluster_definer: maybe\n'))).toThrow(/is_cluster_definer: must be true or false/);
    expect(() => read(pack('  tag_type: event\n'))).toThrow(/tag_type: must be actor/);
    for (const word of ['false', 'no', 'Off', 'n', '0', '"false"', '[]']) {
      expect(() => read(pack('', `is_public: ${word}\n`)), word).toThrow(/is_public: must be true/);
    }
    expect(() => read(pack('', 'is_public: false\nheader:\n  is_public: true\n'))).toThrow(/is_public: must be true/);
    expect(() => read(pack('  network: [BTC]\n'))).toThrow(/network: must be a text/);
  });
});
