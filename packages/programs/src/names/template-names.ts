/**
 * Names of templates are data: a YAML file that gives a template a name, a source, and names and
 * types to its pushes. Look-alikes share a template, so an entry may require constants at some
 * pushes. docs/programs.md describes the format.
 */
import { blake2b256, fromHex, type Hash, networks, toHex } from '@kasgres/kaspa';
import { isNode, LineCounter, parseDocument } from 'yaml';
import { z } from 'zod';
import { pushesOf } from '../instructions.ts';
import { type ByteRange, rangeOfPushes } from '../template.ts';
import { PUSH_TYPES, type PushType } from './push-values.ts';
import { findUnsafe } from '../safe-text.ts';

/** The file of names that is published with this package. */
export const TEMPLATE_NAMES_FILE: URL = new URL('../../template-names.yaml', import.meta.url);
/** The source under which the indexer imports it. */
export const SHIPPED_TEMPLATE_SOURCE = 'kasgres';

const MAX_FILE_CHARACTERS = 4_000_000;
const MAX_PUSHES = 250_000;

export interface NamedPush {
  /** The number of the push. */
  push: number;
  name: string;
  type: PushType;
}

export interface RequiredConstant {
  push: number;
  value: Uint8Array | undefined;
  hash: Hash | undefined;
}

export interface NamedTemplate {
  template: Hash;
  name: string;
  /** Where the name and the meaning of the pushes are published, or a link to the chain. */
  source: string;
  description: string | undefined;
  pushes: NamedPush[];
  /**
   * The name applies only to programs that have these values at these pushes, or, for long ones,
   * values with this BLAKE2b-256.
   */
  required: RequiredConstant[];
  /**
   * The numbers of the first and the last push of the state, from which KCC-1's template hash
   * follows.
   */
  state: { first: number; last: number } | undefined;
  /** Transactions that reveal a program of the template. */
  seen: { network: string; transactionId: Hash }[];
}

export interface TemplateNames {
  templates: NamedTemplate[];
  /** Why the file cannot be used; empty if it can. */
  problems: NameProblem[];
}

export interface NameProblem {
  line: number;
  /** Where in the file, such as `templates.0.source`. */
  field: string;
  /** A predicate that says what is wrong, such as `is missing`. */
  problem: string;
}

const mustBe = (what: string) => ({
  error: ({ code, input }: { code?: string; input?: unknown }): string | undefined => {
    if (code === 'unrecognized_keys') return undefined;
    return input === undefined ? 'is missing' : `must be ${what}`;
  },
});
const string = () => z.string(mustBe('a text, not a list or a map'));
const object = <Shape extends z.ZodRawShape>(shape: Shape) => z.strictObject(shape, mustBe('a map'));
const list = <Item extends z.ZodType>(item: Item, most: number) =>
  z.array(item, mustBe('a list')).max(most, `must not have more than ${most} items`);
const text = (most: number) =>
  string()
    .trim()
    .min(1, 'must not be empty')
    .max(most, `must not be longer than ${most} characters`)
    .superRefine((value, context) => {
      const unsafe = findUnsafe(value);
      if (unsafe !== undefined) context.addIssue(`must not contain ${unsafe}`);
    });
const hash = string()
  .regex(/^[0-9a-f]{64}$/, 'must have 64 hex digits in lower case')
  .transform(fromHex);
const push = string()
  .transform((text) => (/^\d{1,6}$/.test(text) ? Number(text) : Number.NaN))
  .refine((number) => number <= MAX_PUSHES, `must be a whole number from 0 to ${MAX_PUSHES}`);

const NETWORKS = networks.map(({ id }) => id);

const namedPush = object({
  push,
  name: string().regex(
    /^[a-z][a-z0-9_]{0,63}$/,
    'must have at most 64 lower-case letters, digits and underscores, a letter first',
  ),
  type: z.enum(PUSH_TYPES, { error: `must be one of ${PUSH_TYPES.join(', ')}` }),
});

const requiredConstant = object({
  push,
  value: string()
    .regex(/^(?:[0-9a-f]{2})*$/, 'must be hex digits in lower case')
    .max(20_000, 'must not be longer than 10,000 bytes: give its hash instead')
    .transform(fromHex)
    .optional(),
  hash: hash.optional(),
})
  .refine(({ value, hash: digest }) => (value === undefined) !== (digest === undefined), 'must have a value or a hash')
  .transform(({ push: number, value, hash: digest }): RequiredConstant => ({ push: number, value, hash: digest }));

const entrySchema = object({
  template: hash,
  name: text(100),
  source: text(500),
  description: text(1_000).optional(),
  pushes: list(namedPush, 1_000).default([]),
  required: list(requiredConstant, 1_000).default([]),
  state: object({ first: push, last: push })
    .refine(({ first, last }) => first <= last, 'must not end before it begins')
    .optional(),
  seen: list(
    object({ network: z.enum(NETWORKS, { error: `must be one of ${NETWORKS.join(', ')}` }), transaction: hash }),
    100,
  ).default([]),
});

const fileSchema = object({ templates: list(entrySchema, 100_000) });

/**
 * Reads a file of names, and finds all its problems, so that it can be corrected in one go. It
 * never throws.
 */
export function readTemplateNames(yaml: string): TemplateNames {
  const parsed = parseYaml(yaml);
  if ('problems' in parsed) return { templates: [], problems: parsed.problems };
  const { lineOf, value } = parsed;
  const { success, data, error } = fileSchema.safeParse(value);
  const issues = success ? findDuplicates(data.templates) : error.issues.flatMap(issuesOf);
  const problems = issues.map(({ path, message }) => ({
    line: lineOf(path),
    field: path.map(String).join('.') || 'file',
    problem: message,
  }));
  if (!success || problems.length > 0) return { templates: [], problems };
  return { templates: data.templates.map(namedTemplateOf), problems };
}

function namedTemplateOf({ seen, description, state, ...entry }: z.output<typeof entrySchema>): NamedTemplate {
  return {
    ...entry,
    description,
    state,
    seen: seen.map(({ network, transaction }) => ({ network, transactionId: transaction })),
  };
}

interface Issue {
  path: PropertyKey[];
  message: string;
}

interface ParsedYaml {
  value: unknown;
  /** Returns the line of a field, or of the entry that does not have it. */
  lineOf: (path: PropertyKey[]) => number;
}

/** Reads every scalar as the text that it is, since a hash or a constant may look like a number. */
function parseYaml(yaml: string): ParsedYaml | { problems: NameProblem[] } {
  if (yaml.length > MAX_FILE_CHARACTERS) {
    return { problems: [unreadable(1, `must not have more than ${MAX_FILE_CHARACTERS} characters`)] };
  }
  const lineCounter = new LineCounter();
  try {
    const document = parseDocument(yaml, { lineCounter, schema: 'failsafe', prettyErrors: false });
    const lineAt = (offset: number): number => lineCounter.linePos(offset).line;
    if (document.errors.length > 0) {
      const problems = document.errors.map(({ pos, message }) =>
        unreadable(lineAt(pos[0]), `cannot be read: ${message}`),
      );
      return { problems };
    }
    const lineOf = (path: PropertyKey[]): number => {
      const keys = path.map((key) => (typeof key === 'symbol' ? String(key) : key));
      for (let length = keys.length; length > 0; length--) {
        const node = document.getIn(keys.slice(0, length), true);
        if (isNode(node) && node.range) return lineAt(node.range[0]);
      }
      return 1;
    };
    return { value: document.toJS({ maxAliasCount: 100 }), lineOf };
  } catch (error) {
    // Nesting that exhausts the stack, or aliases that multiply.
    return { problems: [unreadable(1, `cannot be read: ${error instanceof Error ? error.message : String(error)}`)] };
  }
}

function unreadable(line: number, problem: string): NameProblem {
  return { line, field: 'YAML', problem };
}

function issuesOf(issue: z.core.$ZodIssue): Issue[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ path: [...issue.path, key], message: 'is not a field' }));
  }
  return [issue];
}

/**
 * Finds entries of one template that nothing tells apart, and pushes that are named or required
 * twice.
 */
function findDuplicates(templates: readonly z.output<typeof entrySchema>[]): Issue[] {
  const seen = new Set<string>();
  return templates.flatMap(({ template, pushes, required }, index) => {
    const issues: Issue[] = [];
    const constants = required.map(({ push: number, value, hash: digest }) => {
      return `${number}=${value === undefined ? '' : toHex(value)}#${digest === undefined ? '' : toHex(digest)}`;
    });
    const key = [toHex(template), ...constants.sort()].join();
    if (seen.has(key)) {
      issues.push({
        path: ['templates', index],
        message: 'has the same template and required constants as another entry',
      });
    }
    seen.add(key);
    for (const [field, named] of Object.entries({ pushes, required })) {
      const numbers = named.map(({ push: number }) => number);
      const twice = numbers.findIndex((number, at) => numbers.indexOf(number) < at);
      if (twice >= 0) issues.push({ path: ['templates', index, field, twice, 'push'], message: 'occurs twice' });
    }
    return issues;
  });
}

/**
 * Names programs by the entries of files. The entry with the most required constants that a program
 * has wins.
 */
export class TemplateNameBook {
  readonly #byTemplate = new Map<string, NamedTemplate[]>();

  constructor(templates: readonly NamedTemplate[]) {
    for (const named of templates) {
      const key = toHex(named.template);
      const entries = this.#byTemplate.get(key);
      if (entries === undefined) this.#byTemplate.set(key, [named]);
      else entries.push(named);
    }
    for (const entries of this.#byTemplate.values()) entries.sort((a, b) => b.required.length - a.required.length);
  }

  /** Returns the entries of a template, those with the most required constants first. */
  entriesOf(template: Hash): readonly NamedTemplate[] {
    return this.#byTemplate.get(toHex(template)) ?? [];
  }

  /** Returns the entry that applies to a program. */
  find(program: Uint8Array, template: Hash): NamedTemplate | undefined {
    return this.entriesOf(template).find(({ required }) => hasConstants(program, required));
  }
}

function hasConstants(program: Uint8Array, required: NamedTemplate['required']): boolean {
  const missing = new Map(required.map((constant) => [constant.push, constant]));
  if (missing.size === 0) return true;
  for (const { index, value } of pushesOf(program)) {
    const wanted = missing.get(index);
    if (wanted === undefined) continue;
    if (!isConstant(value, wanted)) return false;
    missing.delete(index);
    if (missing.size === 0) return true;
  }
  return false;
}

function isConstant(found: Uint8Array, { value, hash: digest }: RequiredConstant): boolean {
  if (value !== undefined) return Buffer.compare(found, value) === 0;
  return digest !== undefined && Buffer.compare(blake2b256(found), digest) === 0;
}

/** Returns where the state of a program is, according to its name; undefined if that is unknown. */
export function stateOf(program: Uint8Array, { state }: Pick<NamedTemplate, 'state'>): ByteRange | undefined {
  return state && rangeOfPushes(program, state.first, state.last);
}
