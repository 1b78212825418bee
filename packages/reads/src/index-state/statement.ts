/**
 * Prepared statements that make the JSON of a response. A response is one statement, and so comes
 * from one state (invariant 9) in one round trip. Statements are compiled once; Postgres keeps
 * their plans by name for each connection.
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

/** The row that a statement selects. The body is null if there is a problem. */
interface Content<Response> {
  body: Expression<Response | null>;
  /** The name of a problem that makes the response an error, or null. */
  problem?: Expression<string | null>;
  /**
   * Common table expressions that both use, by name. `state` is one in any case: the version of the
   * checkpoint, and its blue score.
   */
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

/** A statement with the parameters of a request. */
export interface BoundStatement<Response> {
  statement: AnyStatement;
  parameters: object;
  /** Never set: carries the type of the response. */
  response?: Response;
}

/** A prepared statement and its values. */
export interface StatementQuery {
  name: string;
  text: string;
  values: unknown[];
}

/** The part of a statement that its execution needs. */
export interface AnyStatement {
  readonly name: string;
  /**
   * Returns how many items a small read has, which may share an execution with others; undefined if
   * it must run alone.
   */
  itemsOf(request: object): number | undefined;
  queryOf(requests: readonly object[], version: bigint | null): StatementQuery;
}

const KNOWN_VERSION = 'known version';

const currentState = sql`
  select checkpoint.version, blocks.blue_score as sink_blue_score from checkpoint
    join blocks on blocks.id = checkpoint.block_id`;

/** Reads a body within a transaction. */
export async function readJson(db: Db, { body, tables = {} }: Omit<Content<unknown>, 'problem'>): Promise<Buffer> {
  const common = Object.entries({ state: currentState, ...tables }).map(commonTable);
  const { rows } = await sql<{
    body: string;
  }>`with ${sql.join(common)} select (${body})::text as body from state`.execute(db);
  return Buffer.from(rows[0]?.body ?? 'null');
}

interface Compiled {
  text: string;
  parameters: readonly unknown[];
}

export const commonTable = ([name, table]: [string, Expression<unknown>]): RawBuilder<unknown> =>
  sql`${sql.ref(name)} as materialized (${table})`;

const contentOf = ({ body, problem, tables = {} }: Content<unknown>): RawBuilder<unknown> => {
  const common = Object.entries(tables).map(commonTable);
  return sql`lateral (
      ${common.length === 0 ? sql`` : sql`with ${sql.join(common)}`}
      select ${problem ?? sql`null`}::text as problem, ${body}::json as body
    ) content`;
};

const isUnknownState = sql`state.version is distinct from ${new Parameter(KNOWN_VERSION)}::bigint`;

/** Has one row with the columns of StatementRow; none while nothing is indexed. */
function compile(content: Content<unknown>): Compiled {
  const { sql: text, parameters } = sql`
    with state as materialized (${currentState})
    select case when ${isUnknownState} then index_state() end as state, content.*
    from state cross join ${contentOf(content)}`.compile(compiler);
  return { text, parameters };
}

/**
 * Has one row for each item of the parameters, which are arrays, in their order. Only the first one
 * has a state.
 * @param types of the items; parameters that the content does not use are left out
 */
function compileTogether(content: Content<unknown>, types: ReadonlyMap<string, string>): Compiled {
  const { sql: ofContent } = contentOf(content).compile(compiler);
  const used = [...types].filter(([name]) => ofContent.includes(`"given"."${name}"`));
  const arrays = used.map(([name, type]) => sql`${new Parameter(name)}::${sql.raw(type)}[]`);
  const names = used.map(([name]) => sql.ref(name));
  const { sql: text, parameters } = sql`
    with state as materialized (${currentState})
    select case when given.position = 1 and ${isUnknownState}
      then index_state() end as state, content.*
    from state cross join unnest(${sql.join(arrays)})
      with ordinality as given (${sql.join([...names, sql.ref('position')])})
    cross join ${contentOf(content)}
    order by given.position`.compile(compiler);
  return { text, parameters };
}

/** `state` is null if it is the one in memory. */
export interface StatementRow {
  state: Buffer | null;
  problem: string | null;
  body: Buffer | null;
}

/**
 * Makes statements that differ by a variant, such as the direction of a page. Each is prepared when
 * it is first used.
 */
export function statementsBy<
  Variant extends { [Name in keyof Variant]: string | boolean },
  Parameters extends object,
  Response,
>(
  name: string,
  build: (parameter: ParameterOf<Parameters>, variant: Variant) => Content<Response>,
  optionsOf?: (variant: Variant) => StatementOptions<Parameters>,
): (variant: Variant) => Statement<Parameters, Response> {
  const statements = new Map<string, Statement<Parameters, Response>>();
  return (variant) => {
    const fullName = [name, ...Object.values<string | boolean>(variant).map(nameOf)].join(' ');
    const known = statements.get(fullName);
    if (known !== undefined) return known;
    const statement = new Statement<Parameters, Response>(
      fullName,
      (parameter) => build(parameter, variant),
      optionsOf?.(variant),
    );
    statements.set(fullName, statement);
    return statement;
  };
}

const MAX_NAME_LENGTH = 63;

/** Ends the name of a query that serves several requests. */
const TOGETHER = ', together';

/** Short: Postgres knows only the first 63 characters of a name. */
const nameOf = (value: string | boolean): string => (typeof value === 'string' ? value : value ? 'yes' : 'no');

interface StatementOptions<Parameters> {
  /**
   * For small reads by keys: the number of items, by which they share executions (shared-reads.ts).
   * No parameter may be an array.
   */
  itemsOf?: ((parameters: Parameters) => number) | undefined;
}

const valueOf = (request: object | undefined, { name }: Parameter): unknown =>
  (request as Record<string, unknown> | undefined)?.[name];

export class Statement<Parameters extends object, Response> implements AnyStatement {
  readonly name: string;
  readonly #build: (parameter: ParameterOf<Parameters>) => Content<Response>;
  readonly #itemsOf: StatementOptions<Parameters>['itemsOf'];
  #alone: Compiled | undefined;
  #together: Compiled | undefined;

  constructor(
    name: string,
    build: (parameter: ParameterOf<Parameters>) => Content<Response>,
    { itemsOf }: StatementOptions<Parameters> = {},
  ) {
    if (name.length + (itemsOf === undefined ? 0 : TOGETHER.length) > MAX_NAME_LENGTH)
      throw new Error(`the name of a statement is too long: ${name}`);
    this.name = name;
    this.#build = build;
    this.#itemsOf = itemsOf;
  }

  with(parameters: Parameters): BoundStatement<Response> {
    return { statement: this, parameters };
  }

  itemsOf(request: object): number | undefined {
    return this.#itemsOf?.(request as Parameters);
  }

  /**
   * Returns a query with one row for each request, in their order. Only a small read serves
   * several.
   * @param version of the state in memory
   */
  queryOf(requests: readonly object[], version: bigint | null): StatementQuery {
    const [first] = requests;
    const isAlone = requests.length === 1;
    const { text, parameters } = isAlone ? this.#compileAlone() : this.#compileTogether();
    const values = parameters.map((value) => {
      if (!(value instanceof Parameter)) return value;
      if (value.name === KNOWN_VERSION) return version;
      return isAlone ? valueOf(first, value) : requests.map((request) => valueOf(request, value));
    });
    return { name: isAlone ? this.name : this.name + TOGETHER, text, values };
  }

  #compileAlone(): Compiled {
    this.#alone ??= compile(this.#build((name, type) => sql`${new Parameter(name)}::${sql.raw(type)}`));
    return this.#alone;
  }

  #compileTogether(): Compiled {
    if (this.#together === undefined) {
      const types = new Map<string, string>();
      const content = this.#build((name, type) => {
        types.set(name, type);
        return sql`${sql.ref(`given.${name}`)}`;
      });
      this.#together = compileTogether(content, types);
    }
    return this.#together;
  }
}
