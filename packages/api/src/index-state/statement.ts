/**
 * Prepared statements that make the JSON of a response. A response is one statement, and so comes from one state (invariant 9) in one round
 * trip. Statements are compiled once; Postgres keeps their plans by name for each connection.
 */
import type { Database } from '@kasgres/database';
import {
  DummyDriver,
  type Expression,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type RawBuilder,
  sql,
} from 'kysely';
import type { Db } from './sql.ts';

/** Compiles queries, and executes none. */
const compiler = new Kysely<Database>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
});

/** Selects the blue score of the sink within a statement. */
export const sinkBlueScore = sql<bigint>`state.sink_blue_score`;

/** What a statement selects. The body is null if there is a problem. */
interface Content<Response> {
  body: Expression<Response | null>;
  /** The name of a problem that makes the response an error, or null. */
  problem?: Expression<string | null>;
  /** Common table expressions that both use, by name. `state` is one in any case: the version of the checkpoint, and its blue score. */
  tables?: Readonly<Record<string, Expression<unknown>>>;
}

/** Stands for the value of a parameter until a statement is executed. */
class Parameter {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** Selects a parameter of a statement. @param type in SQL */
export type ParameterOf<Parameters> = <Name extends keyof Parameters & string>(
  name: Name,
  type: string,
) => RawBuilder<NonNullable<Parameters[Name]>>;

export interface BoundStatement<Response> {
  /** Of the prepared statement. */
  name: string;
  text: string;
  /** @param version of the state in memory */
  values: (version: bigint | null) => unknown[];
  /** Never set: carries the type of the response. */
  response?: Response;
}

const KNOWN_VERSION = 'known version';

const currentState = sql`
  select checkpoint.version, blocks.blue_score as sink_blue_score from checkpoint join blocks on blocks.id = checkpoint.block_id`;

/** Reads a body within a transaction. */
export async function readJson(db: Db, { body, tables = {} }: Omit<Content<unknown>, 'problem'>): Promise<Buffer> {
  const common = Object.entries({ state: currentState, ...tables }).map(commonTable);
  const { rows } = await sql<{
    body: string;
  }>`with ${sql.join(common)} select (${body})::text as body from state`.execute(db);
  return Buffer.from(rows[0]?.body ?? 'null');
}

export const commonTable = ([name, table]: [string, Expression<unknown>]): RawBuilder<unknown> =>
  sql`${sql.ref(name)} as materialized (${table})`;

/** Has one row with the columns of StatementRow; none while nothing is indexed. */
function compile({ body, problem, tables = {} }: Content<unknown>): { text: string; parameters: readonly unknown[] } {
  const common = Object.entries(tables).map(commonTable);
  const { sql: text, parameters } = sql`
    with state as materialized (${currentState})
    select case when state.version is distinct from ${new Parameter(KNOWN_VERSION)}::bigint then index_state() end as state, content.*
    from state cross join lateral (
      ${common.length === 0 ? sql`` : sql`with ${sql.join(common)}`}
      select ${problem ?? sql`null`}::text as problem, ${body}::json as body
    ) content`.compile(compiler);
  return { text, parameters };
}

/** `state` is null if it is the one in memory. */
export interface StatementRow {
  state: Buffer | null;
  problem: string | null;
  body: Buffer | null;
}

/** Makes statements that differ by a variant, such as the direction of a page. Each is prepared when it is first used. */
export function statementsBy<
  Variant extends { [Name in keyof Variant]: string | boolean },
  Parameters extends object,
  Response,
>(
  name: string,
  build: (parameter: ParameterOf<Parameters>, variant: Variant) => Content<Response>,
): (variant: Variant) => Statement<Parameters, Response> {
  const statements = new Map<string, Statement<Parameters, Response>>();
  return (variant) => {
    const fullName = [name, ...Object.values<string | boolean>(variant).map(nameOf)].join(' ');
    const known = statements.get(fullName);
    if (known !== undefined) return known;
    const statement = new Statement<Parameters, Response>(fullName, (parameter) => build(parameter, variant));
    statements.set(fullName, statement);
    return statement;
  };
}

const MAX_NAME_LENGTH = 63;

/** Short: Postgres knows only the first 63 characters of a name. */
const nameOf = (value: string | boolean): string => (typeof value === 'string' ? value : value ? 'yes' : 'no');

export class Statement<Parameters extends object, Response> {
  readonly #name: string;
  readonly #build: () => Content<Response>;
  #compiled: { text: string; parameters: readonly unknown[] } | undefined;

  constructor(name: string, build: (parameter: ParameterOf<Parameters>) => Content<Response>) {
    if (name.length > MAX_NAME_LENGTH) throw new Error(`the name of a statement is too long: ${name}`);
    this.#name = name;
    this.#build = () => build((parameter, type) => sql`${new Parameter(parameter)}::${sql.raw(type)}`);
  }

  with(parameters: Parameters): BoundStatement<Response> {
    this.#compiled ??= compile(this.#build());
    const { text, parameters: inOrder } = this.#compiled;
    const valueOf = (name: string): unknown => (parameters as Record<string, unknown>)[name];
    return {
      name: this.#name,
      text,
      values: (version) =>
        inOrder.map((value) => {
          if (!(value instanceof Parameter)) return value;
          return value.name === KNOWN_VERSION ? version : valueOf(value.name);
        }),
    };
  }
}
