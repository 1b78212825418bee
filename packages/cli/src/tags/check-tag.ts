/** Checks a tag before it is written: its address, texts, link, confidence and date. */
import { DEFAULT_CONFIDENCE_LEVEL } from '@kasgres/database';
import { AddressError, decodeAddress, type Network } from '@kasgres/kaspa';
import { findUnsafe } from '@kasgres/programs';
import { z } from 'zod';
import { quoted } from './quoted.ts';

/** Maximum lengths in characters. The longest label of GraphSense's public TagPacks has 214. */
export const MAX_LENGTHS = {
  title: 300,
  address: 200,
  name: 300,
  label: 100,
  link: 500,
  category: 100,
  actor: 200,
  source: 200,
  creator: 200,
};
const MAX_LABELS = 50;

/**
 * GraphSense's taxonomy of confidence (graphsense-tagpack-tool, src/tagpack/db/confidence.csv), as
 * levels from 0 to 100.
 */
const CONFIDENCE_LEVELS = new Map([
  ['override', 100],
  ['ownership', 100],
  ['ledger_immanent', 100],
  ['manual_transaction', 90],
  ['service_api', 70],
  ['forensic_investigation', 70],
  ['authority_data', 60],
  ['trusted_provider', 50],
  ['service_data', 50],
  ['forensic', 50],
  ['untrusted_transaction', 40],
  ['web_crawl', 20],
  ['heuristic', 10],
  ['unknown', 5],
]);

/** GraphSense's level for a TagPack without a confidence. */
const UNKNOWN_CONFIDENCE_LEVEL = 5;

const OUR_CURRENCIES = new Set(['KAS', 'KASPA']);

/** Returns what is wrong with a text, as a predicate. */
export function findTextProblem(text: string, most: number): string | undefined {
  const unsafe = findUnsafe(text);
  if (unsafe !== undefined) return `must not contain ${unsafe}: ${quoted(text)}`;
  if (Array.from(text).length > most) return `must not be longer than ${most} characters: ${quoted(text)}`;
  return undefined;
}

type TextField = Exclude<keyof typeof MAX_LENGTHS, 'title' | 'label'>;

const anyText = z.string({ error: ({ input }) => `must be a text, not ${quoted(input)}` });

/**
 * A trimmed text, empty if it is missing. `findProblem` runs on a text without such characters that
 * is not too long.
 */
const text = (field: TextField, findProblem: (text: string) => string | undefined = () => undefined) =>
  anyText
    .trim()
    .superRefine((value, context) => {
      const problem = findTextProblem(value, MAX_LENGTHS[field]) ?? findProblem(value);
      if (problem !== undefined) context.addIssue(problem);
    })
    .prefault('');

const labels = z
  .custom<string[]>((value) => Array.isArray(value) && value.every((label) => typeof label === 'string'), {
    error: ({ input }) => `must be texts, not ${quoted(input)}`,
  })
  .transform((texts, context) => {
    const distinct = [...new Set(texts.map((label) => label.trim()).filter(Boolean))];
    for (const label of distinct) {
      const problem = findTextProblem(label, MAX_LENGTHS.label);
      if (problem !== undefined) context.addIssue(problem);
    }
    if (distinct.length > MAX_LABELS) context.addIssue(`must be at most ${MAX_LABELS}, not ${distinct.length}`);
    return distinct;
  })
  .prefault([]);

const describeConfidence = ({ input }: { input?: unknown }): string =>
  `must be a whole number from 0 to 100 or one of GraphSense's ids, such as service_data: ${quoted(input)}`;

const confidence = z
  .union([z.string().trim(), z.number().transform(String)], { error: describeConfidence })
  .refine((id) => id === '' || findConfidenceLevel(id) !== undefined, { error: describeConfidence })
  .prefault('');

/** Returns undefined for a text that is neither one of the ids nor a whole number from 0 to 100. */
function findConfidenceLevel(id: string): number | undefined {
  if (/^\d{1,3}$/.test(id)) return Number(id) <= 100 ? Number(id) : undefined;
  return CONFIDENCE_LEVELS.get(id);
}

/**
 * Returns the lower-case form of a text or a boolean, which YAML may parse from the same word;
 * empty for anything else.
 */
export const wordOf = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'boolean' ? String(value).trim().toLowerCase() : '';

/** The day of a date or a time, as `2026-01-31`. */
const date = z
  .unknown()
  .transform((value, context) => {
    if (value === '') return undefined;
    const [, ...parts] =
      (typeof value === 'string' && /^(\d{4})-(\d{1,2})-(\d{1,2})(?:$|[Tt\s])/.exec(value.trim())) || [];
    const day = parts.map((part) => part.padStart(2, '0')).join('-');
    if (!z.iso.date().safeParse(day).success) context.addIssue(`must be a date, such as 2026-01-31: ${quoted(value)}`);
    return day;
  })
  .prefault('');

const FIELDS = {
  address: text('address'),
  name: text('name', (name) => (name === '' ? 'is missing; it must name the owner' : undefined)),
  link: text('link'),
  labels,
  category: text('category'),
  confidence,
  source: text('source'),
  creator: text('creator'),
  lastmod: date,
  currency: anyText.optional(),
  network: anyText.optional(),
  actor: text('actor'),
  is_cluster_definer: z
    .unknown()
    .transform((value, context) => {
      const word = wordOf(value ?? true);
      if (word !== 'true' && word !== 'false') context.addIssue(`must be true or false: ${quoted(value)}`);
      return word !== 'false';
    })
    .optional(),
  tag_type: z
    .unknown()
    .refine((value) => value === undefined || wordOf(value) === 'actor', {
      error: ({ input }) => `must be actor, since tags of events and mentions name no owner: ${quoted(input)}`,
    })
    .optional(),
};

export type Field = keyof typeof FIELDS;
export const FIELD_NAMES = Object.keys(FIELDS) as Field[];

/**
 * Returns the schema of a tag: an attribution, and the source and creator if the tag names them.
 */
export function tagSchema(network: Network, isTagPack: boolean) {
  const defaultLevel = isTagPack ? UNKNOWN_CONFIDENCE_LEVEL : DEFAULT_CONFIDENCE_LEVEL;
  return z
    .object({
      ...FIELDS,
      address: text('address', (address) => findAddressProblem(address, network)),
      // GraphSense allows any text as a link, such as a book or a person.
      link: text('link', (link) => (isTagPack ? undefined : findLinkProblem(link))),
    })
    .transform(
      ({ address, name, link, labels, source, creator, actor, is_cluster_definer: namesCluster, ...rest }) => ({
        source,
        creator,
        attribution: {
          address,
          name,
          link: findLinkProblem(link) === undefined ? link : '',
          labels,
          category: rest.category || undefined,
          confidence: rest.confidence || undefined,
          confidenceLevel: findConfidenceLevel(rest.confidence) ?? defaultLevel,
          lastModified: rest.lastmod,
          ...(actor !== '' && { actor }),
          ...(namesCluster === false && { namesCluster }),
        },
      }),
    );
}

function findAddressProblem(address: string, { name, addressPrefix }: Network): string | undefined {
  if (address === '') return `is missing; expected an address of ${name}`;
  try {
    if (decodeAddress(address).prefix === addressPrefix) return undefined;
    return `is not an address of ${name}, which begins with ${addressPrefix}: ${quoted(address)}`;
  } catch (error) {
    if (!(error instanceof AddressError)) throw error;
    const reason = error.message.charAt(0).toLowerCase() + error.message.slice(1);
    return `is not an address of ${name} (${reason}): ${quoted(address)}`;
  }
}

function findLinkProblem(link: string): string | undefined {
  if (link === '' || (/^https?:\/\//i.test(link) && URL.canParse(link))) return undefined;
  return `must be a URL that begins with http:// or https://: ${quoted(link)}`;
}

/**
 * Returns the currency of a tag of another chain. The address decides for a tag without a currency.
 */
export function findOtherCurrency({ fields }: RawTag): string | undefined {
  const currency = [fields.network, fields.currency].find((value) => typeof value === 'string' && value.trim() !== '');
  if (typeof currency !== 'string') return undefined;
  const name = currency.trim().toUpperCase();
  return OUR_CURRENCIES.has(name) ? undefined : name;
}

export interface RawTag {
  /**
   * Texts, and a list of texts for the labels. Other values are problems. A missing or empty field
   * may be null.
   */
  fields: Readonly<Partial<Record<Field, unknown>>>;
  /** Returns the line of the field, or of the tag if it does not have the field. */
  lineOf: (field: Field) => number;
}
