/**
 * The environment of a program: one zod schema declares the variables, their meanings and their
 * defaults. Reading reports every problem at once; the documentation of the variables is generated
 * from the same schema.
 */
import { z } from 'zod';
import { checkCertificateFiles, formProblemOf, readDatabaseUrl } from './database-url.ts';
import { FatalError } from './run-program.ts';

export type EnvSchema = z.ZodObject<Record<string, z.ZodType>>;

/** Names every variable that is missing or wrong. */
export class EnvError extends FatalError {
  override readonly name = 'EnvError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`The environment is not usable:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
    this.problems = problems;
  }
}

type Variables = Readonly<Record<string, string | undefined>>;

/** Returns the value of a variable without whitespace around it; undefined if nothing is left. */
export const findValue = (variables: Variables, name: string): string | undefined =>
  variables[name]?.trim() || undefined;

/**
 * Checks the variables of the schema and returns their parsed values. Whitespace around a value,
 * such as the carriage return of a file from Windows, does not count. A variable without a value
 * counts as unset, as docker-compose and shells write it. Problems never contain values, which may
 * be secrets.
 * @param replaced names of former variables and of those that replace them; it is an error to set a
 * former one
 * @throws EnvError
 */
export function readEnv<Schema extends EnvSchema>(
  schema: Schema,
  variables: Variables,
  replaced: Readonly<Record<string, string>> = {},
): z.infer<Schema> {
  const isSet = (name: string): boolean => findValue(variables, name) !== undefined;
  const names = Object.keys(schema.shape).filter(isSet);
  const input = Object.fromEntries(names.map((name) => [name, findValue(variables, name)]));
  const result = schema.safeParse(input);
  const former = Object.keys(replaced).filter(isSet);
  if (result.success && former.length === 0) return result.data;
  const problems = (result.error?.issues ?? []).map(({ code, path, message }) => {
    const name = path.join('.');
    const field = schema.shape[name];
    const isMissing = path.length > 0 && input[name] === undefined && code !== 'custom';
    const expected = code === 'custom' || code === 'invalid_format' ? undefined : findExpected(field);
    return `${name}: ${isMissing ? 'is not set' : (expected ?? message)}${describe(field)}`;
  });
  problems.push(...former.map((name) => `${name}: no longer exists, set ${replaced[name]} instead`));
  // A number can violate two rules that have the same text.
  throw new EnvError([...new Set(problems)]);
}

/**
 * Prints what `readEnv` would report, as a JSON array: a parent process collects the problems of
 * several programs.
 */
export function printEnvProblems(...args: Parameters<typeof readEnv>): void {
  process.stdout.write(JSON.stringify(findEnvProblems(...args)));
}

function findEnvProblems(...args: Parameters<typeof readEnv>): readonly string[] {
  try {
    readEnv(...args);
    return [];
  } catch (error) {
    if (error instanceof EnvError) return error.problems;
    throw error;
  }
}

/** Commands replace the user and the password of an address, so it has them in one place only. */
export const postgresUrl = () =>
  z
    .url({ protocol: /^postgres(ql)?$/, abort: true, error: ({ input }) => formProblemOf(String(input)) })
    .refine((url) => new URL(url).host !== '', {
      error: 'must name a host; the host of a socket directory is its path, such as %2Fvar%2Frun%2Fpostgresql',
    })
    .superRefine((url, context) => {
      try {
        checkCertificateFiles(readDatabaseUrl(url));
      } catch (error) {
        context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : String(error) });
      }
    });

/**
 * Describes the valid values of a number or an enum; zod's own messages name its types ("expected
 * number, received NaN").
 */
function findExpected(field: z.ZodType | undefined): string | undefined {
  if (field instanceof z.ZodDefault || field instanceof z.ZodPrefault || field instanceof z.ZodOptional) {
    return findExpected(field.def.innerType as z.ZodType);
  }
  if (field instanceof z.ZodCodec && field.def.out instanceof z.ZodBoolean) return 'must be true or false';
  if (field instanceof z.ZodEnum) return `must be one of ${field.options.join(', ')}`;
  if (field instanceof z.ZodBigInt) return `must be a whole number${formatRange(field.minValue, field.maxValue)}`;
  if (!(field instanceof z.ZodNumber)) return undefined;
  const isWhole = field.isInt;
  return `must be a ${isWhole ? 'whole ' : ''}number${formatRange(bound(field.minValue), bound(field.maxValue))}`;
}

/** Hides the bounds that zod gives every whole number. */
const bound = (value: number | null): number | null =>
  value === null || Math.abs(value) >= Number.MAX_SAFE_INTEGER ? null : value;

function formatRange(least: number | bigint | null, greatest: number | bigint | null): string {
  if (least !== null && greatest !== null) return ` from ${least} to ${greatest}`;
  if (least !== null) return ` of at least ${least}`;
  return greatest === null ? '' : ` of at most ${greatest}`;
}

/**
 * Declares a variable with a custom format. The errors of `parse` are reported, so they must not
 * contain the value.
 */
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

/**
 * Returns a markdown table with a row per variable: name, default, meaning (the schema's
 * `.describe(…)`).
 */
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

/** Returns the default as written in the schema, below any wrappers. */
function findDefault(field: z.ZodType): unknown {
  if (field instanceof z.ZodDefault || field instanceof z.ZodPrefault) return field.def.defaultValue;
  if (field instanceof z.ZodPipe) return findDefault(field.def.in as z.ZodType);
  if (field instanceof z.ZodOptional) return findDefault(field.def.innerType as z.ZodType);
  return undefined;
}

function formatDefault(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
