/** Asks Postgres for the types of a statement, and compares them with those of the code. */
import type { ClientBase, Submittable } from 'pg';

/** How `connect` of packages/database decodes a type, and what it encodes as one. */
const TYPES: Readonly<Record<string, { column: string; parameters: readonly string[] }>> = {
  int8: { column: 'bigint', parameters: ['bigint', 'number', 'string'] },
  int4: { column: 'number', parameters: ['number', 'bigint'] },
  int2: { column: 'number', parameters: ['number'] },
  float8: { column: 'number', parameters: ['number'] },
  numeric: { column: 'string', parameters: ['string', 'bigint', 'number'] },
  bool: { column: 'boolean', parameters: ['boolean'] },
  text: { column: 'string', parameters: ['string'] },
  name: { column: 'string', parameters: ['string'] },
  bytea: { column: 'Buffer', parameters: ['Buffer'] },
  timestamptz: { column: 'Date', parameters: ['Date', 'string'] },
  date: { column: 'string', parameters: ['string'] },
  oid: { column: 'number', parameters: ['number', 'bigint'] },
  tid: { column: 'string', parameters: ['string'] },
  jsonb: { column: 'string', parameters: ['string'] },
  xid8: { column: 'string', parameters: ['string'] },
};

type Name = (oid: number) => string;

/** Returns a function that returns the name of a type. Values of an enumeration are text. */
export async function readTypeNames(client: ClientBase): Promise<Name> {
  const { rows } = await client.query<{ oid: number; name: string }>(
    `select oid, case typcategory when 'E' then 'text' else typname end as name from pg_type
     union all select typarray, '_text' from pg_type where typcategory = 'E'`,
  );
  const names = new Map(rows.map(({ oid, name }) => [oid, name]));
  return (oid) => names.get(oid) ?? String(oid);
}

export interface Description {
  /** Names of Postgres types: `int8`, `_text`. */
  parameters: string[];
  columns: Map<string, string>;
}

/**
 * Asks Postgres for the types of a statement without running it. Throws the error of Postgres if
 * the statement does not compile.
 */
export async function describeStatement(client: ClientBase, nameOf: Name, text: string): Promise<Description> {
  await client.query('savepoint described');
  try {
    return await new Promise((resolve, reject) => {
      const described: Description = { parameters: [], columns: new Map() };
      client.query({
        submit: (connection: unknown) => {
          const protocol = connection as ProtocolConnection;
          protocol.once('parameterDescription', ({ dataTypeIDs }) => (described.parameters = dataTypeIDs.map(nameOf)));
          protocol.parse({ text, name: '', types: [] });
          protocol.describe({ type: 'S', name: '' });
          protocol.sync();
        },
        handleRowDescription: ({ fields }: { fields: { name: string; dataTypeID: number }[] }) => {
          described.columns = new Map(fields.map(({ name, dataTypeID }) => [name, nameOf(dataTypeID)]));
        },
        handleError: reject,
        handleReadyForQuery: () => resolve(described),
      } as Submittable);
    });
  } finally {
    await client.query('rollback to described');
  }
}

/**
 * The part of the connection that `pg` passes to a Submittable; pg-cursor and pg-copy-streams use
 * it, too.
 */
interface ProtocolConnection {
  parse(query: { text: string; name: string; types: [] }): void;
  describe(message: { type: 'S'; name: string }): void;
  sync(): void;
  once(event: 'parameterDescription', listener: (message: { dataTypeIDs: number[] }) => void): void;
}

export function parameterDifferences(parameters: readonly string[] | undefined, described: Description): string[] {
  if (parameters === undefined) return [];
  const expected = described.parameters;
  if (parameters.length !== expected.length) return [`${parameters.length} values for ${expected.length} parameters`];
  return parameters
    .map((given, index) => ({ given, type: expected[index] ?? '', name: `$${index + 1}` }))
    .filter(({ given, type }) => !isParameter(given, type))
    .map(({ given, type, name }) => `${name} is ${type}, not ${given}`);
}

export function columnDifferences(
  columns: Readonly<Record<string, string>> | undefined,
  described: Description,
): string[] {
  if (columns === undefined) return [];
  const names = [...new Set([...Object.keys(columns), ...described.columns.keys()])];
  return names
    .map((name) => ({ name, given: columns[name] ?? 'not declared', type: described.columns.get(name) ?? 'no column' }))
    .filter(({ given, type }) => !isColumn(given, type))
    .map(({ name, given, type }) => `${name} is ${type}, not ${given}`);
}

function isColumn(given: string, type: string): boolean {
  if (type.startsWith('_')) return given.endsWith('[]') && isColumn(given.slice(0, -2), type.slice(1));
  // Objects have any name.
  if (type === 'json') return !Object.values(TYPES).some(({ column }) => column === given);
  return given === TYPES[type]?.column;
}

function isParameter(given: string, type: string): boolean {
  const members = given
    .replace(/^\((.*)\)\[\]$/, '$1')
    .replace(/\[\]$/, '')
    .split(' | ');
  if (given === 'null') return true;
  if (given.endsWith('[]') !== type.startsWith('_')) return given === 'null' || given === 'undefined';
  return members.every((member) => TYPES[type.replace(/^_/, '')]?.parameters.includes(member));
}
