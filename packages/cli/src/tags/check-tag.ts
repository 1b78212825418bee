/** Checks a tag before it is written: its address, texts, link, confidence and date. */
import type { Attribution } from '@kasgres/database';
import { AddressError, decodeAddress, type Network } from '@kasgres/kaspa';
import { type Problems, quoted } from './problems.ts';
import type { Field, RawFile, RawTag } from './raw-tag.ts';

/** Maximum lengths in characters. The longest label of GraphSense's public TagPacks has 214. */
export const MAX_LENGTHS = {
  title: 300,
  address: 200,
  name: 300,
  label: 100,
  labels: 50,
  link: 500,
  category: 100,
  source: 200,
  creator: 200,
} as const;

/** GraphSense's taxonomy of confidence (graphsense-tagpack-tool, src/tagpack/db/confidence.csv), as levels from 0 to 100. */
const CONFIDENCE_LEVELS: Readonly<Record<string, number>> = {
  override: 100,
  ownership: 100,
  ledger_immanent: 100,
  manual_transaction: 90,
  service_api: 70,
  forensic_investigation: 70,
  authority_data: 60,
  trusted_provider: 50,
  service_data: 50,
  forensic: 50,
  untrusted_transaction: 40,
  web_crawl: 20,
  heuristic: 10,
  unknown: 5,
};

/** GraphSense's level for a TagPack without a confidence. */
export const UNKNOWN_CONFIDENCE_LEVEL = 5;

/** Returns undefined for a text that is neither one of the ids nor a whole number from 0 to 100. */
function findConfidenceLevel(text: string): number | undefined {
  if (/^\d{1,3}$/.test(text)) return Number(text) <= 100 ? Number(text) : undefined;
  return Object.hasOwn(CONFIDENCE_LEVELS, text) ? CONFIDENCE_LEVELS[text] : undefined;
}

const OUR_CURRENCIES = new Set(['KAS', 'KASPA']);

/** Returns the currency of a tag of another chain. The address decides for a tag without a currency. */
export function findOtherCurrency({ fields }: RawTag): string | undefined {
  const currency = [fields.network, fields.currency].find((text) => typeof text === 'string' && text.trim() !== '');
  if (typeof currency !== 'string') return undefined;
  const name = currency.trim().toUpperCase();
  return OUR_CURRENCIES.has(name) ? undefined : name;
}

/** Returns undefined if there is a problem. */
export function checkTag(file: RawFile, tag: RawTag, network: Network, problems: Problems): Attribution | undefined {
  const before = problems.count;
  const check = new TagCheck(file, tag, problems);
  const address = check.address(network);
  const name = check.name();
  const link = check.link();
  const labels = check.labels();
  const category = check.text('category', MAX_LENGTHS.category);
  const confidence = check.confidence();
  const lastModified = check.date();
  if (problems.count > before) return undefined;
  return {
    address,
    name,
    link,
    labels,
    category: category === '' ? undefined : category,
    confidence: confidence.text === '' ? undefined : confidence.text,
    confidenceLevel: confidence.level,
    lastModified,
  };
}

/** Checks a text that is not a field of a tag, such as the title of a file. */
export function findTextProblem(text: string, most: number): string | undefined {
  if (/\p{Cc}/u.test(text)) return `must not contain control characters: ${quoted(text)}`;
  if (Array.from(text).length > most) return `must not be longer than ${most} characters: ${quoted(text)}`;
  return undefined;
}

class TagCheck {
  readonly #file: RawFile;
  readonly #tag: RawTag;
  readonly #problems: Problems;

  constructor(file: RawFile, tag: RawTag, problems: Problems) {
    this.#file = file;
    this.#tag = tag;
    this.#problems = problems;
  }

  report(field: Field, what: string): void {
    this.#problems.add(this.#tag.positionOf(field), this.#file.nameOf(field), what);
  }

  /** Returns the trimmed text; empty if it is missing. */
  text(field: Field, most: number): string {
    const value = this.#tag.fields[field] ?? '';
    if (typeof value !== 'string') {
      this.report(field, `must be a text, not ${quoted(value)}`);
      return '';
    }
    return this.#checked(field, value, most);
  }

  name(): string {
    const before = this.#problems.count;
    const name = this.text('name', MAX_LENGTHS.name);
    if (name === '' && this.#problems.count === before) this.report('name', 'is missing; it must name the owner');
    return name;
  }

  address(network: Network): string {
    const before = this.#problems.count;
    const address = this.text('address', MAX_LENGTHS.address);
    if (this.#problems.count > before) return '';
    if (address === '') {
      this.report('address', `is missing; expected an address of ${network.name}`);
      return '';
    }
    try {
      const { prefix } = decodeAddress(address);
      if (prefix !== network.addressPrefix) {
        this.report(
          'address',
          `is not an address of ${network.name}, which begins with ${network.addressPrefix}: ${quoted(address)}`,
        );
      }
    } catch (error) {
      if (!(error instanceof AddressError)) throw error;
      const reason = error.message.charAt(0).toLowerCase() + error.message.slice(1);
      this.report('address', `is not an address of ${network.name} (${reason}): ${quoted(address)}`);
    }
    return address;
  }

  link(): string {
    const link = this.text('link', MAX_LENGTHS.link);
    if (link === '' || isWebAddress(link)) return link;
    if (this.#file.linksAreUrls)
      this.report('link', `must be a URL that begins with http:// or https://: ${quoted(link)}`);
    return '';
  }

  labels(): string[] {
    const value = this.#tag.fields.labels ?? [];
    if (!Array.isArray(value) || value.some((label) => typeof label !== 'string')) {
      this.report('labels', `must be texts, not ${quoted(value)}`);
      return [];
    }
    const labels = (value as string[])
      .map((label) => this.#checked('labels', label, MAX_LENGTHS.label))
      .filter(Boolean);
    const distinct = [...new Set(labels)];
    if (distinct.length > MAX_LENGTHS.labels)
      this.report('labels', `must be at most ${MAX_LENGTHS.labels}, not ${distinct.length}`);
    return distinct;
  }

  confidence(): { text: string; level: number } {
    const value = this.#tag.fields.confidence ?? '';
    const text = typeof value === 'number' ? String(value) : value;
    const level = typeof text === 'string' ? findConfidenceLevel(text.trim()) : undefined;
    if (typeof text === 'string' && level !== undefined) return { text: text.trim(), level };
    if (text !== '') {
      this.report(
        'confidence',
        `must be a whole number from 0 to 100 or one of GraphSense's ids, such as service_data: ${quoted(value)}`,
      );
    }
    return { text: '', level: this.#file.defaultConfidenceLevel };
  }

  /** Returns the day of a date or a time, as `2026-01-31`. */
  date(): string | undefined {
    const value = this.#tag.fields.lastmod ?? '';
    if (value === '') return undefined;
    const [, year = '', month = '', day = ''] =
      (typeof value === 'string' && /^(\d{4})-(\d{1,2})-(\d{1,2})(?:$|[Tt\s])/.exec(value.trim())) || [];
    const date = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
    const time = Date.parse(`${date}T00:00:00Z`);
    if (Number.isNaN(time) || new Date(time).toISOString().slice(0, 10) !== date) {
      this.report('lastmod', `must be a date, such as 2026-01-31: ${quoted(value)}`);
    }
    return date;
  }

  #checked(field: Field, value: string, most: number): string {
    const text = value.trim();
    const problem = findTextProblem(text, most);
    if (problem !== undefined) this.report(field, problem);
    return text;
  }
}

function isWebAddress(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text);
}
