/**
 * Request bodies of about 1 MiB that are expensive to validate: any kind of value at any position
 * of a schema, and texts that match none.
 */

/** The subset of JSON Schema that openapi.json uses in requests. */
export interface Schema {
  type?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
  pattern?: string;
  maxItems?: number;
  maxLength?: number;
  maxProperties?: number;
  additionalProperties?: unknown;
  minimum?: number;
  enum?: unknown[];
}

export interface HostileBody {
  name: string;
  text: string;
}

/** A little below the limit, to leave room around the value. */
const BYTES = 2 ** 20 - 4096;

/** Joins as many items as fit by commas. */
function fill(partOf: (index: number) => string, open = '[', close = ']', bytes = BYTES): string {
  const parts: string[] = [];
  let length = 0;
  for (let index = 0; ; index += 1) {
    const part = partOf(index);
    length += part.length + 1;
    if (length > bytes) return open + parts.join(',') + close;
    parts.push(part);
  }
}

const nest = (open: string, close: string, bytes = BYTES): string => {
  const depth = Math.floor(bytes / (open.length + close.length));
  return open.repeat(depth) + close.repeat(depth);
};

/** 16-bit, so that no table of sizes grows in step with them. */
const scattered = (index: number): number => (index * 2_654_435_761) % 2 ** 32;

/** JSON values that match no schema of the API. */
const VALUES: Record<string, string> = {
  'empty objects': fill(() => '{}'),
  'empty arrays': fill(() => '[]'),
  'arrays of arrays': fill(() => '[[],[[]]]'),
  'empty strings': fill(() => '""'),
  zeros: fill(() => '0'),
  nulls: fill(() => 'null'),
  'long numbers': fill(() => '18446744073709551615'),
  'objects with one field, all different': fill((index) => `{"a${index}":0}`),
  'objects with numbers as names': fill((index) => `{"${scattered(index)}":0}`),
  'unknown fields': fill((index) => `"a${index}":0`, '{', '}'),
  'unknown fields of numbers': fill((index) => `"${scattered(index)}":0`, '{', '}'),
  'one unknown field with a long name': `{"${'x'.repeat(BYTES)}":0}`,
  'unknown fields with escaped names': fill((index) => `"\\u0001\\ud800\\"${index}":0`, '{', '}'),
  'the same field again and again': fill(() => '"a":{}', '{', '}'),
  prototypes: fill(() => '{"__proto__":{},"constructor":{"prototype":{}}}'),
  'a deep array': nest('[', ']'),
  'deep objects': nest('{"a":', '}').replace('}', '0}'),
  'a string of hex': `"${'ab'.repeat(BYTES / 2)}"`,
  'a string of digits': `"${'9'.repeat(BYTES)}"`,
  'an address without end': `"kaspasim:${'q'.repeat(BYTES)}"`,
  'a string of escapes': `"${'\\u0000'.repeat(BYTES / 6)}"`,
  'a string of quotes': `"${'\\"'.repeat(BYTES / 2)}"`,
  'a string of backslashes': `"${'\\\\'.repeat(BYTES / 2)}"`,
  'a string of wide characters': `"${'€'.repeat(BYTES / 3)}"`,
  'a number without end': '9'.repeat(BYTES),
  'a fraction without end': `0.${'9'.repeat(BYTES)}`,
  'a negative number': `-${'9'.repeat(1000)}`,
};

/**
 * Values for positions that expect neither a list nor the whole body; the other values cost the
 * same at any position.
 */
const FOR_OTHER_PLACES = new Set([
  'empty objects',
  'unknown fields',
  'unknown fields with escaped names',
  'a string of hex',
  'a string of digits',
  'an address without end',
  'a string of escapes',
  'a number without end',
]);

/** Returns as many items as the schema allows, none of which matches. */
function fullLists({ items, maxItems = 0 }: Schema): Record<string, string> {
  const of = (item: string) => fill((index) => (index < maxItems ? item : ' '.repeat(BYTES)));
  const most = Math.floor(BYTES / Math.max(maxItems, 1)) - 8;
  return {
    'a full list of empty objects': of('{}'),
    'a full list of nulls': of('null'),
    'a full list of long strings': of(`"${'f'.repeat(Math.min(most, 1000))}"`),
    'a full list of addresses with a wrong checksum': of(`"kaspasim:${'q'.repeat(Math.min(Math.max(most, 61), 61))}"`),
    'a full list of objects with unknown fields': of(fill((index) => `"a${index}":0`, '{', '}', Math.min(most, 500))),
    'a full list of lists': of(fill(() => '[]', '[', ']', Math.min(most, 1000))),
    ...(items?.properties && {
      'a full list of items whose fields are all wrong': of(
        `{${Object.keys(items.properties)
          .map((name) => `"${name}":[]`)
          .join(',')}}`,
      ),
    }),
    ...Object.fromEntries(
      Object.entries(items?.properties ?? {}).flatMap(([name, property]) =>
        property.type === 'array'
          ? [[`a full list of items with lists in ${name}`, of(`{"${name}":[${'{},'.repeat(most / 4)}{}]}`)]]
          : [],
      ),
    ),
  };
}

/** Yields every position of a schema with a function that puts JSON there in a whole body. */
function* placesOf(
  schema: Schema,
  path: string,
  wrap: (json: string) => string,
): Generator<{ path: string; schema: Schema; wrap: (json: string) => string }> {
  yield { path, schema, wrap };
  for (const variant of schema.anyOf ?? []) {
    if (variant.type === 'object') yield* placesOf(variant, path, wrap);
  }
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const others = Object.entries(schema.properties ?? {})
      .filter(([other]) => other !== name)
      .map(([other, value]) => `"${other}":${plainValue(value)},`);
    yield* placesOf(property, `${path}.${name}`, (json) => wrap(`{${others.join('')}"${name}":${json}}`));
  }
  if (schema.items) yield* placesOf(schema.items, `${path}[]`, (json) => wrap(`[${json}]`));
}

/** Returns JSON of the right type, mostly valid. */
function plainValue(schema: Schema): string {
  const [first] = schema.anyOf ?? [];
  if (first !== undefined) return plainValue(first);
  if (schema.type === 'object') {
    const fields = Object.entries(schema.properties ?? {}).map(([name, value]) => `"${name}":${plainValue(value)}`);
    return `{${fields.join(',')}}`;
  }
  if (schema.type === 'array') return '[]';
  if (schema.type === 'boolean') return 'false';
  if (schema.type === 'integer') return '1';
  const LENGTHS = [64, 40, 20];
  const length = LENGTHS.find((digits) => schema.pattern?.includes(`{${digits}}`));
  return `"${'0'.repeat(length ?? (schema.pattern?.includes('{4}') ? 4 : schema.pattern?.includes('\\d') ? 1 : 0))}"`;
}

const TEXTS: Record<string, string> = {
  'a deep array that does not end': '['.repeat(BYTES),
  'deep objects that do not end': '{"a":'.repeat(BYTES / 5),
  'a string that does not end': `{"a":"${'x'.repeat(BYTES)}`,
  'escapes that do not end': `{"a":"${'\\"'.repeat(BYTES / 2)}`,
  'escapes that do not end, behind a long number': `{"a":1111111111111111,"b":"${'\\"'.repeat(BYTES / 2)}`,
  'escapes before an escaped line break, behind a long number': `{"a":1111111111111111,"b":"${'\\"'.repeat(BYTES / 2)}\\\n"}`,
  'strings that begin again and again, behind a long number': `{"a":1111111111111111,${'"\\'.repeat(BYTES / 2)}`,
  'only spaces': ' '.repeat(BYTES),
  'a value behind spaces': `{"a":${' '.repeat(BYTES)}1234567890123456789}`,
  'commas and spaces': `[${' , '.repeat(BYTES / 3)}]`,
  'numbers and spaces': `[${fill(() => '1234567890123456789   ', '', '')}]`,
  'digits and signs': `[${'1-'.repeat(BYTES / 2)}]`,
  'numbers as names': fill(() => '1234567890123456789:0', '{', '}'),
  'bytes that are no UTF-8': '\u{80}'.repeat(BYTES / 2),
  'a prototype behind everything': `{"a":${fill(() => '0', '[', ']', 120_000)},"__proto__":{}}`,
};

/** Returns the hostile bodies for the schema of a request. */
export function* hostileBodies(schema: Schema): Generator<HostileBody> {
  for (const [name, text] of Object.entries(TEXTS)) yield { name, text };
  for (const { path, schema: place, wrap } of placesOf(schema, 'body', (json) => json)) {
    const values = path === 'body' || place.type === 'array' ? { ...VALUES, ...fullLists(place) } : pick(VALUES);
    for (const [name, json] of Object.entries(values)) yield { name: `${path}: ${name}`, text: wrap(json) };
  }
}

const pick = (values: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).filter(([name]) => FOR_OTHER_PLACES.has(name)));
