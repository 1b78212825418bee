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
  throw new EnvError(
    result.error.issues.map((issue) => {
      const name = issue.path.join('.');
      const isMissing = issue.path.length > 0 && input[name] === undefined;
      return `${name}: ${isMissing ? 'is not set' : issue.message}${describe(schema.shape[name])}`;
    }),
  );
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
