/**
 * The environment of a program: one zod schema per program says which variables there are, what they mean and what they
 * default to. Reading reports every problem at once; the documentation of the variables comes from the same schema.
 */
import { z } from 'zod';

export type EnvSchema = z.ZodObject<Record<string, z.ZodType>>;

/** Variables that are missing or wrong, all of them. Starting again cannot help: exit code 1. */
export class EnvError extends Error {
  override readonly name = 'EnvError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`The environment is not usable:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
    this.problems = problems;
  }
}

/**
 * Checks the variables that the schema names and returns their parsed values. A variable set to the empty string counts as
 * unset, as docker-compose and shells write it. Values are never part of a problem's text: they may be secrets.
 * @throws {EnvError}
 */
export function readEnv<Schema extends EnvSchema>(
  schema: Schema,
  variables: Readonly<Record<string, string | undefined>>,
): z.infer<Schema> {
  const input: Record<string, string> = {};
  for (const name of Object.keys(schema.shape)) {
    const value = variables[name];
    if (value !== undefined && value !== '') input[name] = value;
  }
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  const problems = result.error.issues.map(({ code, path, message }) => {
    const name = path.join('.');
    const field = schema.shape[name];
    const isMissing = path.length > 0 && input[name] === undefined && code !== 'custom';
    const expected = code === 'custom' || code === 'invalid_format' ? undefined : findExpected(field);
    return `${name}: ${isMissing ? 'is not set' : (expected ?? message)}${describe(field)}`;
  });
  // A number may be wrong in two ways, with the same text for both.
  throw new EnvError([...new Set(problems)]);
}

/** The address of a Postgres database. */
export const postgresUrl = () =>
  z.url({
    protocol: /^postgres(ql)?$/,
    error: 'must be an address such as postgres://user:password@host:port/database',
  });

/** Returns what a number or one of several words must be; zod's own messages name its types ("expected number, received NaN"). */
function findExpected(field: z.ZodType | undefined): string | undefined {
  if (field instanceof z.ZodDefault || field instanceof z.ZodPrefault || field instanceof z.ZodOptional) {
    return findExpected(field.def.innerType as z.ZodType);
  }
  if (field instanceof z.ZodEnum) return `must be one of ${field.options.join(', ')}`;
  if (field instanceof z.ZodBigInt) return `must be a whole number${formatRange(field.minValue, field.maxValue)}`;
  if (!(field instanceof z.ZodNumber)) return undefined;
  const isWhole = field.isInt;
  return `must be a ${isWhole ? 'whole ' : ''}number${formatRange(bound(field.minValue), bound(field.maxValue))}`;
}

/** Whole numbers are bounded by what a double can hold, which is not worth saying. */
const bound = (value: number | null): number | null =>
  value === null || Math.abs(value) >= Number.MAX_SAFE_INTEGER ? null : value;

function formatRange(least: number | bigint | null, greatest: number | bigint | null): string {
  if (least !== null && greatest !== null) return ` from ${least} to ${greatest}`;
  if (least !== null) return ` of at least ${least}`;
  return greatest === null ? '' : ` of at most ${greatest}`;
}

/** A variable with a form of its own. What `parse` throws is told among the other problems, so it must not repeat the value. */
export function parsed<T>(parse: (text: string) => T) {
  return z
    .string()
    .min(1)
    .transform((text, context) => {
      try {
        return parse(text);
      } catch (error) {
        context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : String(error) });
        return z.NEVER;
      }
    });
}

/** Rows of a markdown table, one per variable: name, default, meaning. The description is the schema's `.describe(…)`. */
export function documentEnv(schema: EnvSchema): string {
  const rows = Object.entries(schema.shape).map(([name, field]) => {
    const text = (field.description ?? '').replaceAll('|', '\\|');
    return `| \`${name}\` | ${describeDefault(field)} | ${text} |`;
  });
  return ['| Variable | Default | Meaning |', '|---|---|---|', ...rows, ''].join('\n');
}

function describe(field: z.ZodType | undefined): string {
  return field?.description === undefined ? '' : ` (${field.description})`;
}

function describeDefault(field: z.ZodType): string {
  if (!field.safeParse(undefined).success) return 'required';
  const value = findDefault(field);
  return value === undefined ? 'unset' : `\`${formatDefault(value)}\``;
}

/** The default as it was written into the schema, under whatever wraps it. */
function findDefault(field: z.ZodType): unknown {
  if (field instanceof z.ZodDefault || field instanceof z.ZodPrefault) return field.def.defaultValue;
  if (field instanceof z.ZodPipe) return findDefault(field.def.in as z.ZodType);
  if (field instanceof z.ZodOptional) return findDefault(field.def.innerType as z.ZodType);
  return undefined;
}

function formatDefault(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
