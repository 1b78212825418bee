/** Builds JSON in Postgres, in the form of responses. */
import { type RawBuilder, sql } from 'kysely';

/** A field that is absent unless a condition holds. */
export class OptionalField<T> {
  readonly condition: RawBuilder<boolean>;
  readonly value: RawBuilder<T>;

  constructor(condition: RawBuilder<boolean>, value: RawBuilder<T>) {
    this.condition = condition;
    this.value = value;
  }
}

export const optional = <T>(condition: RawBuilder<boolean>, value: RawBuilder<T>): OptionalField<T> =>
  new OptionalField(condition, value);

/** The fields of an object in their order. */
export type JsonFields<T> = {
  [Name in keyof T]: undefined extends T[Name]
    ? OptionalField<Exclude<T[Name], undefined>> | RawBuilder<Exclude<T[Name], undefined>>
    : RawBuilder<T[Name]>;
};

type AnyFields = Record<string, RawBuilder<unknown> | OptionalField<unknown>>;

/**
 * Builds an object from a row, which is faster than json_build_object. Each optional field doubles
 * the expression.
 */
export function jsonObject<T>(fields: JsonFields<T>): RawBuilder<T> {
  return objectOf(fields) as RawBuilder<T>;
}

function objectOf(fields: AnyFields): RawBuilder<unknown> {
  const [name, field] = Object.entries(fields).find(([, each]) => each instanceof OptionalField) ?? [];
  if (name === undefined || !(field instanceof OptionalField)) {
    const columns = Object.entries(fields).map(
      ([column, value]) => sql`${value as RawBuilder<unknown>} as ${sql.ref(column)}`,
    );
    return sql`(select to_json(object) from (select ${sql.join(columns)}) object)`;
  }
  const { [name]: _absent, ...without } = fields;
  const present = objectOf({ ...fields, [name]: field.value });
  return sql`case when ${field.condition} then ${present} else ${objectOf(without)} end`;
}

/** Builds an array. @param rows everything of a select after its columns */
export const jsonArray = <T>(item: RawBuilder<T>, rows: RawBuilder<unknown>): RawBuilder<T[]> =>
  sql`(select coalesce(json_agg(listed.item), '[]') from (select ${item} as item ${rows}) listed)`;
