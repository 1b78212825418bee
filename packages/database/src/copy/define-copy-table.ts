/**
 * One definition of the columns that COPY writes to a table gives the type of a row and the calls
 * that encode it. A definition is compiled once into straight-line code: it is as fast as calls
 * written by hand, and a loop over the columns takes a third longer.
 */
import type { Kind } from '@kasgres/kaspa';
import type { SelectType } from 'kysely';
import type { DB } from '../generated/database.ts';
import { CopyBuffer, type FieldType, type RowEncoder } from './copy-buffer.ts';

/** A column that takes values of type `Value` and is read back from Postgres as `Stored`. */
export interface CopyColumn<in Value, out Stored> {
  readonly fieldType: FieldType;
  /** The type in Postgres, as `format_type` names it. A text column may also be an enum. */
  readonly postgresType: string;
  readonly isNullable: boolean;
  /** Exists for the compiler only. */
  readonly convert?: (value: Value) => Stored;
}

function column<Value, Stored>(fieldType: FieldType, postgresType: string): CopyColumn<Value, Stored> {
  return { fieldType, postgresType, isNullable: false };
}

/** A key, an index or a count: a safe integer that is not negative, in a bigint column. */
export const key = column<number, bigint>('key', 'bigint');
export const bigint = column<bigint, bigint>('bigint', 'bigint');
export const integer = column<number, number>('integer', 'integer');
export const smallint = column<number, number>('smallint', 'smallint');
export const boolean = column<boolean, boolean>('boolean', 'boolean');
/** An integer that is not negative, in a numeric column. */
export const numeric = column<bigint, string>('numeric', 'numeric');
export const bytea = column<Uint8Array, Buffer>('bytea', 'bytea');
export const text = column<string, string>('text', 'text');
export const keys = column<readonly number[], bigint[]>('keys', 'bigint[]');
export const texts = column<readonly string[], string[]>('texts', 'text[]');

/** Allows null, and undefined as null. */
export function nullable<Value, Stored>(
  inner: CopyColumn<Value, Stored>,
): CopyColumn<Value | null | undefined, Stored | null> {
  return { fieldType: inner.fieldType, postgresType: inner.postgresType, isNullable: true };
}

/** Takes keys of another table, and values that were given the kind of the column before. */
export function reference<Target extends string, Role extends string>(): CopyColumn<
  Kind<number, Target | Role>,
  bigint
> {
  return key;
}

type Columns = Readonly<Record<string, CopyColumn<never, unknown>>>;

/**
 * Columns of a table of the schema: each must exist there, with the type that its values are read
 * back as.
 */
type ColumnsOf<Table extends keyof DB> = {
  readonly [Name in keyof DB[Table]]?: CopyColumn<never, Stored<DB[Table][Name]>>;
};
/** Enums are written as text. */
type Stored<Column> = SelectType<Column> extends infer Value ? (Value extends string ? string : Value) : never;

type ValueOf<Column> = Column extends CopyColumn<infer Value, unknown> ? Value : never;
/**
 * Numbers are of the kind of the column's name unless its definition says otherwise, so that two
 * columns cannot be swapped.
 */
type Named<Value, Name extends string> = Value extends readonly (infer Item)[]
  ? readonly Named<Item, Name>[]
  : Value extends number | bigint
    ? 'kind' extends keyof Value
      ? Value
      : Kind<Value, Name>
    : Value;
export type CopyRow<Definition> = {
  readonly [Name in keyof Definition & string]: Named<ValueOf<Definition[Name]>, Name>;
};

export interface CopyTable<Row> {
  readonly name: string;
  readonly columns: Columns;
  /** Returns an empty buffer for rows of this table. */
  readonly createBuffer: () => CopyBuffer<Row>;
}

export type CopyRowOf<Table> = Table extends CopyTable<infer Row> ? Row : never;

/** Defines which columns of a table of the schema COPY writes. */
export function defineCopyTable<Table extends keyof DB, const Definition extends ColumnsOf<Table>>(
  name: Table,
  columns: Definition,
): CopyTable<CopyRow<Definition>> {
  return defineTemporaryCopyTable(name, columns as Columns) as CopyTable<CopyRow<Definition>>;
}

/** Defines the columns of a table that is not part of the schema. */
export function defineTemporaryCopyTable<const Definition extends Columns>(
  name: string,
  columns: Definition,
): CopyTable<CopyRow<Definition>> {
  const names = Object.keys(columns);
  const encode = compileEncoder(columns) as RowEncoder<CopyRow<Definition>>;
  return { name, columns, createBuffer: () => new CopyBuffer(name, names, encode) };
}

function compileEncoder(columns: Columns): RowEncoder<never> {
  const statements = Object.entries(columns).map(([name, { fieldType, isNullable }]) => {
    if (!/^[a-z_]+$/.test(name)) throw new Error(`COPY column ${JSON.stringify(name)} is not a plain identifier`);
    const write = `to.${fieldType}(row.${name});`;
    return isNullable ? `if (row.${name} == null) to.null(); else ${write}` : write;
  });
  // oxlint-disable-next-line typescript/no-implied-eval -- The source consists of checked names of the definition alone.
  return new Function('to', 'row', ['to.row();', ...statements].join('\n')) as RowEncoder<never>;
}
