/** zod schemas as the JSON schemas of an OpenAPI document: those with an id stand once, among the components. */
import { z } from 'zod';

export type JsonSchema = z.core.JSONSchema.BaseSchema;

const COMPONENTS = '#/components/schemas/';

/** Every schema with an id; all of them are parts of answers. */
export function describeComponents(): Record<string, JsonSchema> {
  const { schemas } = z.toJSONSchema(z.globalRegistry, { io: 'output', uri: (id) => `${COMPONENTS}${id}` });
  return Object.fromEntries(Object.entries(schemas).map(([id, schema]) => [id, strip(schema)]));
}

/** A schema of a request (`input`) or an answer (`output`), which refers to the components. */
export function describeSchema(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const text = JSON.stringify(z.toJSONSchema(schema, { io, unrepresentable: 'any' }));
  return strip(JSON.parse(text.replaceAll('#/$defs/', COMPONENTS)) as JsonSchema);
}

/** Without what names a schema that stands alone. */
function strip(schema: JsonSchema): JsonSchema {
  const { $schema: _schema, $id: _id, $defs: _definitions, id: _name, ...rest } = schema;
  return rest;
}
