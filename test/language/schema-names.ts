/**
 * Finds retired words in the names of the schema: tables, columns, views, functions, types, indexes
 * and constraints.
 */
import { readRetiredWords, retiredWordFinder } from './retired-words.ts';

/** The last section of docs/glossary.md, whose words are retired in the schema only. */
const SECTION = '\n## Names of the schema\n';

/** Public names, an HTTP body, and the time at which an interval starts. */
const EXEMPT = /^(?:kaspa\.starts(?:\.\w+)?|webhook_deliveries\.body|network_intervals\.start)$/;

/**
 * `comment on` names everything but indexes and constraints: a test requires a comment of every
 * table, column and function.
 */
const NAMES = [
  /\bcomment on (?:table|column|view|function|aggregate|type) ([\w.]+)/g,
  /\bcreate (?:or replace |unique |unlogged )*(?:table|index|view|function|aggregate|type|trigger) ([\w.]+)/g,
  /\bconstraint (\w+)/g,
  /\brename (?:(?:column|constraint) \w+ )?to (\w+)/g,
];

/**
 * Returns the words of the glossary that are retired everywhere, without those of the schema's
 * section.
 */
export const withoutSchemaSection = (glossary: string): string => glossary.split(SECTION, 1)[0] as string;

/** Returns a function that finds names with retired words in SQL, each as `name: word`. */
export function schemaNameFinder(glossary: string): (sql: string) => string[] {
  const [general, section] = glossary.split(SECTION);
  if (general === undefined || section === undefined)
    throw new Error(`docs/glossary.md lacks the section ${SECTION.trim()}`);
  if (readRetiredWords(section).length === 0) throw new Error('no word is retired in names of the schema');
  const find = retiredWordFinder(glossary);
  return (sql) =>
    namesOf(sql)
      .filter((name) => !EXEMPT.test(name))
      .flatMap((name) => find(name).map((word) => `${name}: ${word}`));
}

function namesOf(sql: string): string[] {
  return [...new Set(NAMES.flatMap((pattern) => [...sql.matchAll(pattern)].map(([, name = '']) => name)))];
}
