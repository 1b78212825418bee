import { readFileSync } from 'node:fs';
import { blake2b256, fromHex, toHex } from '@kasgres/kaspa';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { kccTemplateHash, templateOf } from '../template.ts';
import { COLLECTION, COUNTER, OTHER_COLLECTION } from '../testing/chain-programs.ts';
import { formatPush, PUSH_TYPES, readScriptNumber } from './push-values.ts';
import { decodeTemplateEntry, encodeTemplateEntry, type TemplateEntry } from './template-entry.ts';
import { readTemplateNames, stateOf, TEMPLATE_NAMES_FILE, TemplateNameBook } from './template-names.ts';

const entry = (lines: string) => `
templates:
  - template: ${COLLECTION.template}
    name: genesis0 collection
    source: https://example.org/collection
${lines}`;

const FILE = entry(`    pushes:
      - {push: 4, name: step, type: amount}
    required:
      - {push: 0, value: 0a}
      - {push: 7, hash: ${toHex(blake2b256(fromHex('80778e06')))}}
    state: {first: 4, last: 4}
    seen:
      - {network: testnet-10, transaction: ${COLLECTION.revealedBy}}
`);

const template = fromHex(COLLECTION.template);

describe('a file of names', () => {
  test('is read', () => {
    expect(readTemplateNames(FILE)).toEqual({
      problems: [],
      templates: [
        {
          template: Buffer.from(template),
          name: 'genesis0 collection',
          source: 'https://example.org/collection',
          description: undefined,
          pushes: [{ push: 4, name: 'step', type: 'amount' }],
          required: [
            { push: 0, value: Buffer.from([0x0a]), hash: undefined },
            { push: 7, value: undefined, hash: Buffer.from(blake2b256(fromHex('80778e06'))) },
          ],
          state: { first: 4, last: 4 },
          seen: [{ network: 'testnet-10', transactionId: Buffer.from(COLLECTION.revealedBy, 'hex') }],
        },
      ],
    });
  });

  test('may have hashes and values that look like numbers', () => {
    const { templates, problems } = readTemplateNames(
      FILE.replace(COLLECTION.template, '1'.repeat(64))
        .replace('0a}', '02}')
        .replace(/hash: .*}/, 'value: 8077e106}'),
    );
    expect(problems).toEqual([]);
    expect(templates[0] && toHex(templates[0].template)).toBe('1'.repeat(64));
    expect(templates[0]?.required.map(({ value }) => value && toHex(value))).toEqual(['02', '8077e106']);
  });

  test.each([
    ['no YAML', '{', /^1: YAML: cannot be read/],
    ['nothing', '', /^1: file: must be a map$/],
    ['an unknown field', entry('    nmae: x'), /^6: templates.0.nmae: is not a field$/],
    ['no source', FILE.replace(/ +source.*\n/, ''), /^3: templates.0.source: is missing$/],
    ['a short hash', FILE.replace(COLLECTION.template, 'abcd'), /^3: templates.0.template: must have 64 hex digits/],
    ['a control character', FILE.replace('genesis0 collection', '"a\\u202eb"'), /^4: templates.0.name: must not/],
    ['half a character', FILE.replace('genesis0 collection', '"a\\ud800b"'), /^4: templates.0.name: must not/],
    ['a type that does not exist', FILE.replace('amount', 'money'), /^7: templates.0.pushes.0.type: must be one of/],
    ['a push that is no number', FILE.replace('push: 4', 'push: x'), /^7: .*must be a whole number from 0 to 250000$/],
    ['a negative push', FILE.replace('push: 4', 'push: -1'), /^7: .*must be a whole number from 0 to 250000$/],
    ['a constant without a value', FILE.replace(', value: 0a', ''), /^9: .*must have a value or a hash$/],
    ['a state that ends before it begins', FILE.replace('last: 4', 'last: 3'), /^11: .*must not end before it begins$/],
    ['a push twice', FILE.replace('push: 7', 'push: 0'), /^10: templates.0.required.1.push: occurs twice$/],
    ['an entry twice', FILE + FILE.replace('\ntemplates:\n', ''), /^14: templates.1: has the same template/],
    ['a list in place of a text', FILE.replace('genesis0 collection', '[a]'), /^4: templates.0.name: must be a text/],
    ['aliases that multiply', `a: &a [x,x]\nb: &b [*a,*a,*a]\nc: [${'*b,'.repeat(200)}]`, /cannot be read/],
    ['a second document', `${FILE}---\n${FILE}`, /^14: YAML: cannot be read: .*multiple documents/],
    ['deep nesting', '['.repeat(100_000), /cannot be read/],
    ['too many characters', '#'.repeat(4_000_001), /^1: YAML: must not have more than 4000000 characters$/],
  ])('with %s has a problem', (_, yaml, problem) => {
    const { templates, problems } = readTemplateNames(yaml);
    const lines = problems.map(({ line, field, problem: message }) => `${line}: ${field}: ${message}`);
    expect(lines[0]).toMatch(problem);
    expect(templates).toEqual([]);
  });

  test('has all its problems at once', () => {
    const { problems } = readTemplateNames(FILE.replace('push: 4', 'push: x').replace('hash: ', 'hash: z'));
    expect(problems.map(({ line, field }) => [line, field])).toEqual([
      [7, 'templates.0.pushes.0.push'],
      [10, 'templates.0.required.1.hash'],
    ]);
  });
});

test('the published file has no problem, and names programs of testnet-10', () => {
  const { templates, problems } = readTemplateNames(readFileSync(TEMPLATE_NAMES_FILE, 'utf8'));
  expect(problems).toEqual([]);
  expect(templates.length).toBeGreaterThan(100);
  for (const { name, seen } of templates) expect(seen.length, name).toBeGreaterThan(0);
  const book = new TemplateNameBook(templates);
  expect(book.find(COLLECTION.bytes, template)?.name).toBe('genesis0 collection');
  expect(book.find(COUNTER.bytes, fromHex(COUNTER.template))?.name).toBe('PURE');
});

test('an entry is the same after it has been JSON', () => {
  const { templates } = readTemplateNames(readFileSync(TEMPLATE_NAMES_FILE, 'utf8'));
  for (const named of [...templates, ...readTemplateNames(FILE).templates]) {
    const stored = JSON.parse(JSON.stringify(encodeTemplateEntry(named))) as TemplateEntry;
    expect(decodeTemplateEntry(named.template, stored)).toEqual(named);
  }
});

describe('a program', () => {
  const { templates } = readTemplateNames(FILE);
  const book = new TemplateNameBook(templates);

  test('has the name of its template if it has the required constants', () => {
    expect(book.find(COLLECTION.bytes, template)?.name).toBe('genesis0 collection');
    expect(book.find(OTHER_COLLECTION.bytes, template)?.name).toBe('genesis0 collection');
    expect(book.find(COUNTER.bytes, fromHex(COUNTER.template))).toBeUndefined();
  });

  test('that only looks like one has none', () => {
    const lookAlike = fromHex(toHex(COLLECTION.bytes).replace('80778e06', '80778e07'));
    expect(templateOf(lookAlike)).toEqual(templateOf(COLLECTION.bytes));
    expect(book.find(lookAlike, template)).toBeUndefined();
    expect(book.entriesOf(template)).toHaveLength(1);
  });

  test('has the name with the most constants', () => {
    const general = readTemplateNames(entry('')).templates.map((named) => ({ ...named, name: 'any' }));
    const both = new TemplateNameBook([...general, ...templates]);
    expect(both.find(COLLECTION.bytes, template)?.name).toBe('genesis0 collection');
    expect(both.find(fromHex(toHex(COLLECTION.bytes).replace(/^010a/, '010b')), template)?.name).toBe('any');
  });

  test('has one KCC-1 template hash in all its states', () => {
    const [named] = templates;
    if (named === undefined) throw new Error('no name');
    const hashes = [COLLECTION, OTHER_COLLECTION].map(({ bytes }) => {
      const state = stateOf(bytes, named);
      return state && kccTemplateHash(bytes, state);
    });
    expect(hashes[0]).toBeDefined();
    expect(hashes[0]).toEqual(hashes[1]);
    expect(stateOf(COLLECTION.bytes, { state: undefined })).toBeUndefined();
  });
});

describe('a push as text', () => {
  test.each([
    ['', 'int', '0'],
    ['01', 'int', '1'],
    ['81', 'int', '-1'],
    ['ff00', 'int', '255'],
    ['ff80', 'int', '-255'],
    ['00e1f505', 'amount', '100000000'],
    ['a00f000000000000', 'int', '4000'],
    ['ffffffffffffff7f', 'int', '9223372036854775807'],
    ['000000000000000000', 'int', '000000000000000000'],
    ['00', 'bool', 'false'],
    ['0080', 'bool', 'false'],
    ['8000', 'bool', 'true'],
    ['01', 'bool', 'true'],
    ['5445535400000000', 'text', 'TEST'],
    ['54e2', 'text', '54e2'],
    ['0a', 'text', '0a'],
    ['', 'text', ''],
    ['ab', 'hash', 'ab'],
  ] as const)('%s of type %s is %s', (value, type, text) => {
    expect(formatPush(fromHex(value), type)).toBe(text);
  });

  test('has no character that changes how a page reads', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), fc.constantFrom(...PUSH_TYPES), (value, type) => {
        expect(formatPush(value, type)).toMatch(/^[\x20-\x7e]*$/);
      }),
    );
  });

  test('is the number that it encodes', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n) + 1n, max: 2n ** 63n - 1n }), (number) => {
        const bytes = Buffer.alloc(8);
        bytes.writeBigUInt64LE(number < 0n ? -number | (1n << 63n) : number);
        expect(readScriptNumber(bytes)).toBe(number);
      }),
    );
  });
});
