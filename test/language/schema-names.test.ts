import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { schemaNameFinder, withoutSchemaSection } from './schema-names.ts';

const glossary = readFileSync(new URL('../../docs/glossary.md', import.meta.url), 'utf8');
const migration = readFileSync(new URL('../../migrations/0001_schema.sql', import.meta.url), 'utf8');
const find = schemaNameFinder(glossary);

test.each([
  ['a table', 'create table transaction_bodies (', 'transaction_bodies: bodies'],
  ['an unlogged table', 'create unlogged table start_utxos (', 'start_utxos: start'],
  ['a column', "comment on column transactions.accepted_body is '';", 'transactions.accepted_body: body'],
  ['an index', 'create unique index earlier_blocks_hash on blocks (hash);', 'earlier_blocks_hash: earlier'],
  ['a constraint', 'constraint starts_pkey primary key (id)', 'starts_pkey: starts'],
  ['a function', 'create function next_place_after(bigint) returns bigint', 'next_place_after: place'],
  ['a view', "comment on view kaspa.coins is '';", 'kaspa.coins: coins'],
  ['a new name', 'alter table a rename column b to tag_marks;', 'tag_marks: marks'],
])('the language check finds a retired word in the name of %s', (_of, planted, fault) => {
  expect(find(planted)).toContain(fault);
  expect(find(`${migration}\n${planted}`)).toContain(fault);
});

test('the language check ignores public names, the body of a request and the start of an interval', () => {
  expect(
    find(`create view kaspa.starts as select 1;
comment on column kaspa.starts.started_at is '';
comment on column webhook_deliveries.body is '';
comment on column network_intervals.start is '';
create table coinbases (`),
  ).toEqual([]);
});

test('words that are retired in the schema may be used elsewhere', () => {
  expect(withoutSchemaSection(glossary)).not.toContain('`earlier`');
  expect(() => schemaNameFinder(withoutSchemaSection(glossary))).toThrow('lacks the section');
});
