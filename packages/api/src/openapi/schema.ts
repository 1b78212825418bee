/**
 * Converts zod schemas to the JSON schemas of the document: schemas with an id become components.
 */
import { z } from 'zod';

type JsonSchema = z.core.JSONSchema.BaseSchema;

const COMPONENTS = '#/components/schemas/';

/** Returns every schema with an id. All of them are used in responses. */
export function describeComponents(): Record<string, JsonSchema> {
  const { schemas } = z.toJSONSchema(z.globalRegistry, { io: 'output', uri: (id) => `${COMPONENTS}${id}` });
  const byName = Object.entries(schemas).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(byName.map(([id, schema]) => [id, withoutNames(schema)]));
}

/**
 * Converts the schema of a request (`input`) or a response (`output`), with references to
 * components.
 */
export function describeSchema(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const text = JSON.stringify(z.toJSONSchema(schema, { io, unrepresentable: 'any' }));
  return withoutNames(JSON.parse(text.replaceAll('#/$defs/', COMPONENTS)) as JsonSchema);
}

function withoutNames(schema: JsonSchema): JsonSchema {
  const { $schema: _schema, $id: _id, $defs: _definitions, id: _name, ...rest } = schema;
  return rest;
}

export function describeParameters(
  schema: z.ZodType | undefined,
  location: 'path' | 'query',
  examples: Record<string, unknown> = {},
): object[] {
  if (schema === undefined) return [];
  const { properties = {}, required = [] } = describeSchema(schema, 'input');
  return Object.entries(properties as Record<string, JsonSchema>).map(([name, { description, ...property }]) => ({
    name,
    in: location,
    required: required.includes(name),
    description,
    schema: property,
    ...(name in examples && { example: examples[name] }),
  }));
}
