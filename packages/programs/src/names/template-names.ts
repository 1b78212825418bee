/**
 * Names of templates are data: a YAML file that gives a template a name, a source, and names and types to its pushes. Look-alikes share a
 * template, so an entry may require constants at some pushes. docs/programs.md describes the format.
 */
import { blake2b256, fromHex, type Hash, networks, toHex } from '@kasgres/kaspa';
import { parseDocument } from 'yaml';
import { z } from 'zod';
import { pushesOf } from '../instructions.ts';
import { type ByteRange, rangeOfPushes } from '../template.ts';
import { PUSH_TYPES, type PushType } from './push-values.ts';

/** The file of names that is published with this package. */
export const TEMPLATE_NAMES_FILE: URL = new URL('../../template-names.yaml', import.meta.url);

const MAX_FILE_CHARACTERS = 4_000_000;
const MAX_PROBLEMS = 20;
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
  /** The name applies only to programs that have these values at these pushes, or, for long ones, values with this BLAKE2b-256. */
  required: RequiredConstant[];
  /** The numbers of the first and the last push of the state, from which KCC-1's template hash follows. */
  state: { first: number; last: number } | undefined;
  /** Transactions that reveal a program of the template. */
  seen: { network: string; transactionId: Hash }[];
}

export interface TemplateNames {
  templates: NamedTemplate[];
  /** Why the file cannot be used, one sentence each; empty if it can. */
  problems: string[];
}

/** Control characters, and what changes the direction of text or cannot be seen. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

const text = (most: number) =>
  z
    .string()
    .trim()
    .min(1)
    .max(most)
    .refine((value) => !UNSAFE.test(value), 'must not contain control or bidirectional characters');
const hash = z
  .string()
  .regex(/^[0-9a-f]{64}$/, 'must have 64 hex digits in lower case')
  .transform(fromHex);
const push = z
  .string()
  .regex(/^\d{1,6}$/, 'must be a number')
  .transform(Number)
  .refine((number) => number <= MAX_PUSHES, `must be at most ${MAX_PUSHES}`);

const entrySchema = z.strictObject({
  template: hash,
  name: text(100),
  source: text(500),
  description: text(1_000).optional(),
  pushes: z
    .array(z.strictObject({ push, name: z.string().regex(/^[a-z][a-z0-9_]{0,63}$/), type: z.enum(PUSH_TYPES) }))
    .max(1_000)
    .default([]),
  required: z
    .array(
      z
        .strictObject({
          push,
          value: z
            .string()
            .regex(/^(?:[0-9a-f]{2})*$/, 'must be hex digits in lower case')
            .max(20_000)
            .transform(fromHex)
            .optional(),
          hash: hash.optional(),
        })
        .refine(
          ({ value, hash: digest }) => (value === undefined) !== (digest === undefined),
          'must have a value or a hash',
        )
        .transform(
          ({ push: number, value, hash: digest }): RequiredConstant => ({ push: number, value, hash: digest }),
        ),
    )
    .max(1_000)
    .default([]),
  state: z
    .strictObject({ first: push, last: push })
    .refine(({ first, last }) => first <= last, 'must not end before it begins')
    .optional(),
  seen: z
    .array(z.strictObject({ network: z.enum(networks.map(({ id }) => id)), transaction: hash }))
    .max(100)
    .default([]),
});

const fileSchema = z.strictObject({ templates: z.array(entrySchema).max(100_000) });

/** Reads a file of names. It never throws. */
export function readTemplateNames(yaml: string): TemplateNames {
  const parsed = parseYaml(yaml);
  if ('problems' in parsed) return { templates: [], problems: parsed.problems };
  const { success, data, error } = fileSchema.safeParse(parsed.value);
  if (!success) return { templates: [], problems: describeIssues(error.issues) };
  const templates = data.templates.map(
    ({ seen, description, state, ...entry }): NamedTemplate => ({
      ...entry,
      description,
      state,
      seen: seen.map(({ network, transaction }) => ({ network, transactionId: transaction })),
    }),
  );
  const problems = findDuplicates(templates);
  return { templates: problems.length > 0 ? [] : templates, problems };
}

/** Reads every scalar as the text that it is, since a hash or a constant may look like a number. */
function parseYaml(yaml: string): { value: unknown } | { problems: string[] } {
  if (yaml.length > MAX_FILE_CHARACTERS)
    return { problems: [`the file has more than ${MAX_FILE_CHARACTERS} characters`] };
  try {
    const document = parseDocument(yaml, { schema: 'failsafe', prettyErrors: false, logLevel: 'silent' });
    if (document.errors.length > 0) {
      return { problems: document.errors.slice(0, MAX_PROBLEMS).map(({ message }) => `cannot be read: ${message}`) };
    }
    return { value: document.toJS({ maxAliasCount: 100 }) };
  } catch (error) {
    // Nesting that exhausts the stack, or aliases that multiply.
    return { problems: [`cannot be read: ${error instanceof Error ? error.message : String(error)}`] };
  }
}

function describeIssues(issues: readonly { path: PropertyKey[]; message: string }[]): string[] {
  return issues
    .slice(0, MAX_PROBLEMS)
    .map(({ path, message }) => `${path.map(String).join('.') || 'the file'}: ${message}`);
}

/** Finds entries of one template that nothing tells apart, and pushes that are named or required twice. */
function findDuplicates(templates: readonly NamedTemplate[]): string[] {
  const problems: string[] = [];
  const seen = new Set<string>();
  for (const { template, name, pushes, required } of templates) {
    const constants = required.map(({ push: number, value, hash: digest }) => {
      return `${number}=${value === undefined ? '' : toHex(value)}#${digest === undefined ? '' : toHex(digest)}`;
    });
    const key = [toHex(template), ...constants.sort()].join();
    if (seen.has(key)) problems.push(`${name}: another entry has the same template and required constants`);
    seen.add(key);
    for (const numbers of [pushes.map((named) => named.push), required.map((constant) => constant.push)]) {
      if (new Set(numbers).size < numbers.length) problems.push(`${name}: a push occurs twice`);
    }
  }
  return problems.slice(0, MAX_PROBLEMS);
}

/** Names programs by the entries of files. The entry with the most required constants that a program has wins. */
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
