/**
 * Reads the SQL statements of the programs from their sources, with the types that the code gives
 * to parameters and rows. TypeScript's own checker resolves constants, imports, helper functions
 * that return SQL, and unions of literal types.
 */
import * as ts from 'typescript/unstable/ast';
import { API, type Checker, type Project, type Symbol as TypeSymbol, type Type } from 'typescript/unstable/sync';

export interface Statement {
  /** `packages/indexer/src/apply/apply.ts:82` */
  location: string;
  /**
   * One text for each combination of the alternatives that the code can choose from; empty if it is
   * only known at run time.
   */
  texts: string[];
  /** The columns of a row and their types in TypeScript; undefined if the code ignores the rows. */
  columns: Readonly<Record<string, string>> | undefined;
  /** The types of the values in TypeScript; undefined if they are only known at run time. */
  parameters: readonly string[] | undefined;
}

/** More alternatives of one statement than this are a mistake of the reader. */
const MAX_ALTERNATIVES = 64;

const ROOT = new URL('../../', import.meta.url).pathname;

/** The output of this file. */
export interface Read {
  /** The statements that `query()` is called with. */
  statements: Statement[];
  /**
   * The columns of the rows of Kysely's SQL by the location of `execute()`, whose texts record.ts
   * records.
   */
  executed: Record<string, Statement['columns']>;
}

/** The sources of the programs. */
const CHECKED_SOURCES = /^packages\/[a-z]+\/src\/(?!.*(?:\.test\.ts$|\/testing\/|\/generated\/))/;

/**
 * The arguments of a function whose body is being evaluated, by the symbol of the parameter, each
 * with the scope of its call.
 */
type Scope = ReadonlyMap<number, { argument: ts.Expression; scope: Scope }>;

const NO_SCOPE: Scope = new Map();

function readStatements(): Read {
  const api = new API({ cwd: ROOT });
  try {
    const project = api.updateSnapshot({ openProjects: [`${ROOT}tsconfig.json`] }).getProjects()[0];
    if (project === undefined) throw new Error('TypeScript finds no project');
    const paths = project.program.getSourceFileNames().filter((name) => name.startsWith(ROOT));
    const checked = paths.filter((path) => CHECKED_SOURCES.test(path.slice(ROOT.length)));
    const reader = new Reader(project);
    return { statements: checked.flatMap((path) => reader.read(path)), executed: reader.executed };
  } finally {
    api.close();
  }
}

class Reader {
  readonly executed: Read['executed'] = {};
  readonly #project: Project;
  readonly #checker: Checker;

  constructor(project: Project) {
    this.#project = project;
    this.#checker = project.checker;
  }

  read(path: string): Statement[] {
    const statements: Statement[] = [];
    const file = this.#project.program.getSourceFile(path);
    const visit = (node: ts.Node): void => {
      node.forEachChild(visit);
      if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return;
      const { name } = node.expression;
      if (name.text !== 'query' && name.text !== 'execute') return;
      const line = file?.text.slice(0, name.getStart(file)).split('\n').length;
      const location = `${path.slice(ROOT.length)}:${line}`;
      const statement = name.text === 'query' ? this.#statement(node) : undefined;
      if (statement !== undefined) statements.push({ location, ...statement });
      const row = name.text === 'execute' ? this.#rowOf(node.expression.expression) : undefined;
      const columns = row === undefined ? undefined : this.#columns(row);
      // Without a type, the code ignores the rows.
      if (columns !== undefined && Object.keys(columns).length > 0) this.executed[location] = columns;
    };
    file?.forEachChild(visit);
    return statements;
  }

  /** Returns undefined if the call takes no SQL but an object such as a COPY stream. */
  #statement({
    arguments: [first, second],
    typeArguments,
  }: ts.CallExpression): Omit<Statement, 'location'> | undefined {
    const config = first && this.#objectLiteral(first);
    const text = config === undefined ? first : propertyOf(config, 'text');
    const type = text && this.#checker.getTypeAtLocation(text);
    if (text === undefined || type === undefined) return undefined;
    if (!this.#checker.isTypeAssignableTo(type, this.#checker.getStringType())) return undefined;
    return {
      texts: [...new Set(this.#evaluate(text, NO_SCOPE))],
      columns: this.#columns(typeArguments?.[0] && this.#checker.getTypeFromTypeNode(typeArguments[0])),
      parameters: this.#parameters(config === undefined ? second : propertyOf(config, 'values')),
    };
  }

  /** Returns the type of the rows of a template of SQL. */
  #rowOf(expression: ts.Expression): Type | undefined {
    const type = this.#checker.getTypeAtLocation(expression);
    const isTemplate = type?.isTypeReference() === true && type.getSymbol()?.name === 'RawBuilder';
    return isTemplate ? this.#checker.getTypeArguments(type)[0] : undefined;
  }

  #columns(type: Type | undefined): Statement['columns'] {
    if (type === undefined || type.isTypeParameter() || this.#checker.getIndexInfosOfType(type).length > 0)
      return undefined;
    const properties = this.#checker.getPropertiesOfType(type);
    return Object.fromEntries(
      properties.map((property) => [property.name, this.#nameOf(this.#checker.getTypeOfSymbol(property))]),
    );
  }

  #parameters(values: ts.Expression | undefined): Statement['parameters'] {
    if (values === undefined) return [];
    const list = unwrap(values);
    if (ts.isArrayLiteralExpression(list)) {
      return list.elements.map((element) => this.#nameOf(this.#checker.getTypeAtLocation(element)));
    }
    const type = this.#checker.getTypeAtLocation(list);
    if (type === undefined || !this.#checker.isTupleType(type) || !type.isTypeReference()) return undefined;
    return this.#checker.getTypeArguments(type).map((element) => this.#nameOf(element));
  }

  /**
   * Returns the name of a type without null, undefined and literals: `bigint`, `string[]`,
   * `Buffer`.
   */
  #nameOf(type: Type | undefined): string {
    if (type === undefined) return 'unknown';
    const present = this.#checker.getNonNullableType(type) ?? type;
    const members = present.isUnionType() ? present.getTypes() : [present];
    return union(members.map((member) => this.#memberName(this.#checker.getBaseTypeOfLiteralType(member) ?? member)));
  }

  #memberName(type: Type): string {
    // A number of a kind, such as `DaaScore`, is an intersection.
    if (type.isIntersectionType()) return this.#nameOf(type.getTypes()[0]);
    if (['Buffer', 'Uint8Array'].includes(type.getSymbol()?.name ?? '')) return 'Buffer';
    if (this.#checker.isArrayLikeType(type) && type.isTypeReference()) {
      const element = union(this.#checker.getTypeArguments(type).map((argument) => this.#nameOf(argument)));
      return element.includes('|') ? `(${element})[]` : `${element}[]`;
    }
    return type.getAliasSymbol() === undefined
      ? this.#checker.typeToString(type)
      : this.#checker.typeToString(this.#checker.getApparentType(type) ?? type).toLowerCase();
  }

  /**
   * Returns every text that an expression can be, or undefined if that is only known at run time.
   */
  #evaluate(expression: ts.Expression, scope: Scope): string[] | undefined {
    const value = unwrap(expression);
    if (ts.isStringLiteral(value) || ts.isNoSubstitutionTemplateLiteral(value) || ts.isNumericLiteral(value))
      return [value.text];
    if (ts.isTemplateExpression(value)) {
      let texts = [value.head.text];
      for (const span of value.templateSpans) {
        const parts = this.#evaluate(span.expression, scope);
        if (parts === undefined || texts.length * parts.length > MAX_ALTERNATIVES) return undefined;
        texts = texts.flatMap((before) => parts.map((part) => `${before}${part}${span.literal.text}`));
      }
      return texts;
    }
    if (ts.isConditionalExpression(value)) {
      return all([this.#evaluate(value.whenTrue, scope), this.#evaluate(value.whenFalse, scope)]);
    }
    if (ts.isCallExpression(value)) return this.#evaluateCall(value, scope);
    if (ts.isIdentifier(value)) {
      const given = scope.get(this.#symbolOf(value)?.id ?? 0);
      if (given !== undefined) return this.#evaluate(given.argument, given.scope);
      const initializer = this.#initializer(value);
      return (initializer && this.#evaluate(initializer, scope)) ?? this.#literals(value);
    }
    if (ts.isPropertyAccessExpression(value) || ts.isElementAccessExpression(value)) {
      const name = ts.isPropertyAccessExpression(value) ? value.name.text : undefined;
      const properties = this.#objectLiteral(value.expression)?.properties.filter(ts.isPropertyAssignment);
      const chosen = properties?.filter((property) => name === undefined || nameOfProperty(property.name) === name);
      const texts = chosen && all(chosen.map(({ initializer }) => this.#evaluate(initializer, scope)));
      return texts ?? this.#literals(value);
    }
    return this.#literals(value);
  }

  /** Evaluates a function whose body is one expression, with the arguments of the call. */
  #evaluateCall(call: ts.CallExpression, scope: Scope): string[] | undefined {
    const declaration = this.#declaration(call.expression);
    const callee = declaration && ts.isVariableDeclaration(declaration) ? declaration.initializer : declaration;
    if (callee === undefined || !(ts.isArrowFunction(callee) || ts.isFunctionDeclaration(callee))) return undefined;
    const { body } = callee;
    const [only, ...others] = body !== undefined && ts.isBlock(body) ? body.statements : [];
    const returned = only !== undefined && ts.isReturnStatement(only) ? only.expression : undefined;
    const result = body !== undefined && ts.isBlock(body) ? returned : body;
    if (result === undefined || others.length > 0) return undefined;
    const inner = new Map(scope);
    for (const [index, parameter] of callee.parameters.entries()) {
      const symbol = this.#checker.getSymbolAtLocation(parameter.name);
      const argument = call.arguments[index] ?? parameter.initializer;
      if (symbol !== undefined && argument !== undefined) inner.set(symbol.id, { argument, scope });
    }
    return this.#evaluate(result, inner);
  }

  /** Returns the values of a literal type or of a union of them. */
  #literals(expression: ts.Expression): string[] | undefined {
    const type = this.#checker.getTypeAtLocation(expression);
    const members = type?.isUnionType() ? type.getTypes() : type === undefined ? [] : [type];
    const values = all(members.map((member) => (member.isLiteralType() ? [String(member.value)] : undefined)));
    return values?.length === 0 ? undefined : values;
  }

  #objectLiteral(expression: ts.Expression): ts.ObjectLiteralExpression | undefined {
    const value = unwrap(expression);
    if (ts.isObjectLiteralExpression(value)) return value;
    const initializer = ts.isIdentifier(value) ? this.#initializer(value) : undefined;
    return initializer && this.#objectLiteral(initializer);
  }

  #symbolOf(expression: ts.Expression): TypeSymbol | undefined {
    const symbol = this.#checker.getSymbolAtLocation(expression);
    return symbol?.valueDeclaration === undefined ? symbol && this.#checker.getAliasedSymbol(symbol) : symbol;
  }

  #declaration(expression: ts.Expression): ts.Node | undefined {
    return this.#symbolOf(expression)?.valueDeclaration?.resolve(this.#project);
  }

  #initializer(expression: ts.Expression): ts.Expression | undefined {
    const declaration = this.#declaration(expression);
    return declaration !== undefined && ts.isVariableDeclaration(declaration) ? declaration.initializer : undefined;
  }
}

/** Returns the items of all lists, or undefined if a list is missing. */
function all<T>(lists: readonly (readonly T[] | undefined)[]): T[] | undefined {
  return lists.includes(undefined) ? undefined : lists.flatMap((list) => list ?? []);
}

const union = (names: readonly string[]): string => [...new Set(names)].sort().join(' | ');

function unwrap(expression: ts.Expression): ts.Expression {
  const isWrapper = ts.isAsExpression(expression) || ts.isSatisfiesExpression(expression);
  return isWrapper || ts.isParenthesizedExpression(expression) ? unwrap(expression.expression) : expression;
}

function propertyOf({ properties }: ts.ObjectLiteralExpression, name: string): ts.Expression | undefined {
  for (const property of properties) {
    if (ts.isSpreadAssignment(property) || nameOfProperty(property.name) !== name) continue;
    if (ts.isPropertyAssignment(property)) return property.initializer;
    if (ts.isShorthandPropertyAssignment(property)) return property.name as ts.Expression;
  }
  return undefined;
}

function nameOfProperty(name: ts.Node): string | undefined {
  return ts.isIdentifier(name) || ts.isStringLiteral(name) ? name.text : undefined;
}

// The checker's synchronous API hangs inside a Vitest worker, so the test runs this file as a
// process.
process.stdout.write(JSON.stringify(readStatements()));
