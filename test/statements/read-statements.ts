/**
 * Reads the SQL statements of the programs from their sources, with the types that the code gives to parameters and rows.
 * TypeScript's own checker resolves constants, imports, helper functions that return SQL, and unions of literal types.
 */
import {
  type CallExpression,
  type Expression,
  isArrayLiteralExpression,
  isArrowFunction,
  isAsExpression,
  isBlock,
  isCallExpression,
  isConditionalExpression,
  isElementAccessExpression,
  isFunctionDeclaration,
  isIdentifier,
  isNoSubstitutionTemplateLiteral,
  isNumericLiteral,
  isObjectLiteralExpression,
  isParameterDeclaration,
  isParenthesizedExpression,
  isPropertyAccessExpression,
  isPropertyAssignment,
  isReturnStatement,
  isSatisfiesExpression,
  isShorthandPropertyAssignment,
  isStringLiteral,
  isTemplateExpression,
  isVariableDeclaration,
  type Node,
  type ObjectLiteralExpression,
} from 'typescript/unstable/ast';
import { API, type Checker, type Project, type Symbol as TypeSymbol, type Type } from 'typescript/unstable/sync';

export interface Statement {
  /** `packages/indexer/src/apply/apply.ts:82` */
  location: string;
  /** One text for each combination of the alternatives that the code can choose from; empty if it is only known at run time. */
  texts: string[];
  /** The columns of a row and their types in TypeScript; undefined if the code ignores the rows. */
  columns: Readonly<Record<string, string>> | undefined;
  /** The types of the values in TypeScript; undefined if they are only known at run time. */
  parameters: readonly string[] | undefined;
}

/** More alternatives of one statement than this are a mistake of the reader. */
const MAX_ALTERNATIVES = 64;

const ROOT = new URL('../../', import.meta.url).pathname;

/** The sources of the programs, except the API's, whose statements Kysely types. */
const CHECKED_SOURCES = /^packages\/(?!api\/)[a-z]+\/src\/(?!.*(?:\.test\.ts$|\/testing\/|\/generated\/))/;

/** Returns the statements that `query()` is called with. */
function readStatements(): Statement[] {
  const api = new API({ cwd: ROOT });
  try {
    const project = api.updateSnapshot({ openProjects: [`${ROOT}tsconfig.json`] }).getProjects()[0];
    if (project === undefined) throw new Error('TypeScript finds no project');
    const paths = project.program.getSourceFileNames().filter((name) => name.startsWith(ROOT));
    return paths
      .filter((path) => CHECKED_SOURCES.test(path.slice(ROOT.length)))
      .flatMap((path) => statementsOf(project, path));
  } finally {
    api.close();
  }
}

function statementsOf(project: Project, path: string): Statement[] {
  const file = project.program.getSourceFile(path);
  if (file === undefined) return [];
  const reader = new Reader(project);
  const statements: Statement[] = [];
  const visit = (node: Node): void => {
    if (
      isCallExpression(node) &&
      isPropertyAccessExpression(node.expression) &&
      node.expression.name.text === 'query'
    ) {
      const line = file.text.slice(0, node.expression.name.getStart(file)).split('\n').length;
      const statement = reader.read(node);
      if (statement !== undefined) statements.push({ location: `${path.slice(ROOT.length)}:${line}`, ...statement });
    }
    node.forEachChild(visit);
  };
  visit(file);
  return statements;
}

/** The arguments of a function whose body is being evaluated, by the symbol of the parameter. */
type Scope = ReadonlyMap<number, Expression>;

const NO_SCOPE: Scope = new Map();

class Reader {
  readonly #project: Project;
  readonly #checker: Checker;

  constructor(project: Project) {
    this.#project = project;
    this.#checker = project.checker;
  }

  /** Returns undefined if the call takes no SQL but an object such as a COPY stream. */
  read(call: CallExpression): Omit<Statement, 'location'> | undefined {
    const [first, second] = call.arguments;
    if (first === undefined) return undefined;
    const config = this.#objectLiteral(first);
    const text = config === undefined ? first : propertyOf(config, 'text');
    if (text === undefined || !this.#isText(text)) return undefined;
    return {
      texts: [...new Set(this.#evaluate(text, NO_SCOPE) ?? [])],
      columns: this.#columns(call),
      parameters: this.#parameters(config === undefined ? second : propertyOf(config, 'values')),
    };
  }

  #isText(expression: Expression): boolean {
    const type = this.#checker.getTypeAtLocation(expression);
    return type !== undefined && this.#checker.isTypeAssignableTo(type, this.#checker.getStringType());
  }

  #objectLiteral(expression: Expression): ObjectLiteralExpression | undefined {
    const value = unwrap(expression);
    if (isObjectLiteralExpression(value)) return value;
    const initializer = isIdentifier(value) ? this.#initializer(value) : undefined;
    return initializer === undefined ? undefined : this.#objectLiteral(initializer);
  }

  #columns(call: CallExpression): Readonly<Record<string, string>> | undefined {
    const [argument] = call.typeArguments ?? [];
    const type = argument === undefined ? undefined : this.#checker.getTypeFromTypeNode(argument);
    if (type === undefined || type.isTypeParameter() || this.#checker.getIndexInfosOfType(type).length > 0)
      return undefined;
    const properties = this.#checker.getPropertiesOfType(type);
    return Object.fromEntries(properties.map((property) => [property.name, this.#nameOf(this.#typeOf(property))]));
  }

  #parameters(values: Expression | undefined): readonly string[] | undefined {
    if (values === undefined) return [];
    const list = unwrap(values);
    if (isArrayLiteralExpression(list)) {
      return list.elements.map((element) => this.#nameOf(this.#checker.getTypeAtLocation(element)));
    }
    const type = this.#checker.getTypeAtLocation(list);
    if (type === undefined || !this.#checker.isTupleType(type) || !type.isTypeReference()) return undefined;
    return this.#checker.getTypeArguments(type).map((element) => this.#nameOf(element));
  }

  #typeOf(symbol: TypeSymbol): Type | undefined {
    return this.#checker.getTypeOfSymbol(symbol);
  }

  /** Returns the name of a type without null, undefined and literals: `bigint`, `string[]`, `Buffer`. */
  #nameOf(type: Type | undefined): string {
    if (type === undefined) return 'unknown';
    const present = this.#checker.getNonNullableType(type) ?? type;
    const members = present.isUnionType() ? present.getTypes() : [present];
    const names = members.map((member) => this.#memberName(this.#checker.getBaseTypeOfLiteralType(member) ?? member));
    return [...new Set(names)].sort().join(' | ');
  }

  #memberName(type: Type): string {
    if (this.#checker.isArrayLikeType(type) && type.isTypeReference() && !isBytes(type)) {
      const elements = this.#checker.getTypeArguments(type).map((element) => this.#nameOf(element));
      const distinct = [...new Set(elements)].sort();
      return distinct.length === 1 && !distinct[0]?.includes('|') ? `${distinct[0]}[]` : `(${distinct.join(' | ')})[]`;
    }
    if (isBytes(type)) return 'Buffer';
    return type.getAliasSymbol() === undefined
      ? this.#checker.typeToString(type)
      : this.#checker.typeToString(this.#checker.getApparentType(type) ?? type).toLowerCase();
  }

  /** Returns every text that an expression can be, or undefined if that is only known at run time. */
  #evaluate(expression: Expression, scope: Scope): string[] | undefined {
    const value = unwrap(expression);
    if (isStringLiteral(value) || isNoSubstitutionTemplateLiteral(value) || isNumericLiteral(value))
      return [value.text];
    if (isTemplateExpression(value)) {
      let texts: string[] | undefined = [value.head.text];
      for (const span of value.templateSpans) {
        const parts = this.#evaluate(span.expression, scope);
        if (parts === undefined) return undefined;
        texts = texts.flatMap((before) => parts.map((part) => `${before}${part}${span.literal.text}`));
        if (texts.length > MAX_ALTERNATIVES) return undefined;
      }
      return texts;
    }
    if (isConditionalExpression(value)) {
      const [one, other] = [this.#evaluate(value.whenTrue, scope), this.#evaluate(value.whenFalse, scope)];
      return one === undefined || other === undefined ? undefined : [...one, ...other];
    }
    if (isCallExpression(value)) return this.#evaluateCall(value, scope);
    if (isIdentifier(value)) {
      const symbol = this.#symbolOf(value);
      const argument = symbol && scope.get(symbol.id);
      if (argument !== undefined) return this.#evaluate(argument, NO_SCOPE);
      const initializer = this.#initializer(value);
      return (initializer && this.#evaluate(initializer, scope)) ?? this.#literals(value);
    }
    if (isPropertyAccessExpression(value) || isElementAccessExpression(value)) {
      const object = this.#objectLiteral(value.expression);
      if (object === undefined) return this.#literals(value);
      const name = isPropertyAccessExpression(value) ? value.name.text : undefined;
      const chosen = object.properties.filter(isPropertyAssignment).filter((property) => {
        return name === undefined || nameOfProperty(property.name) === name;
      });
      const texts = chosen.map((property) => this.#evaluate(property.initializer, scope));
      return texts.includes(undefined) ? this.#literals(value) : texts.flatMap((some) => some ?? []);
    }
    return this.#literals(value);
  }

  /** Evaluates a function whose body is one expression, with the arguments of the call. */
  #evaluateCall(call: CallExpression, scope: Scope): string[] | undefined {
    const declaration = this.#declaration(call.expression);
    const callee = declaration && isVariableDeclaration(declaration) ? declaration.initializer : declaration;
    if (callee === undefined || !(isArrowFunction(callee) || isFunctionDeclaration(callee))) return undefined;
    const { body } = callee;
    const statements = body !== undefined && isBlock(body) ? body.statements : undefined;
    const last = statements?.length === 1 ? statements[0] : undefined;
    const result =
      statements === undefined ? body : last !== undefined && isReturnStatement(last) ? last.expression : undefined;
    if (result === undefined) return undefined;
    const inner = new Map(scope);
    for (const [index, parameter] of callee.parameters.entries()) {
      const symbol = isParameterDeclaration(parameter) ? this.#checker.getSymbolAtLocation(parameter.name) : undefined;
      const argument = call.arguments[index] ?? parameter.initializer;
      if (symbol !== undefined && argument !== undefined) inner.set(symbol.id, argument);
    }
    return this.#evaluate(result as Expression, inner);
  }

  /** Returns the values of a literal type or of a union of them. */
  #literals(expression: Expression): string[] | undefined {
    const type = this.#checker.getTypeAtLocation(expression);
    const members = type?.isUnionType() ? type.getTypes() : type === undefined ? [] : [type];
    const values = members.map((member) => (member.isLiteralType() ? String(member.value) : undefined));
    return values.length === 0 || values.includes(undefined)
      ? undefined
      : values.filter((value) => value !== undefined);
  }

  #symbolOf(expression: Expression): TypeSymbol | undefined {
    const symbol = this.#checker.getSymbolAtLocation(expression);
    if (symbol === undefined) return undefined;
    const declared = symbol.valueDeclaration === undefined ? this.#checker.getAliasedSymbol(symbol) : symbol;
    return declared;
  }

  #declaration(expression: Expression): Node | undefined {
    return this.#symbolOf(expression)?.valueDeclaration?.resolve(this.#project);
  }

  #initializer(expression: Expression): Expression | undefined {
    const declaration = this.#declaration(expression);
    return declaration !== undefined && isVariableDeclaration(declaration) ? declaration.initializer : undefined;
  }
}

function unwrap(expression: Expression): Expression {
  if (isAsExpression(expression) || isSatisfiesExpression(expression) || isParenthesizedExpression(expression)) {
    return unwrap(expression.expression);
  }
  return expression;
}

function propertyOf(object: ObjectLiteralExpression, name: string): Expression | undefined {
  for (const property of object.properties) {
    if (isPropertyAssignment(property) && nameOfProperty(property.name) === name) return property.initializer;
    if (isShorthandPropertyAssignment(property) && nameOfProperty(property.name) === name) {
      return property.name as Expression;
    }
  }
  return undefined;
}

function nameOfProperty(name: Node): string | undefined {
  if (isIdentifier(name)) return name.text;
  return isStringLiteral(name) ? name.text : undefined;
}

function isBytes(type: Type): boolean {
  return ['Buffer', 'Uint8Array'].includes(type.getSymbol()?.name ?? '');
}

// The checker's synchronous API hangs inside a Vitest worker, so the test runs this file as a process.
process.stdout.write(JSON.stringify(readStatements()));
