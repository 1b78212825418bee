/** From files to what each source says: reads them, checks every tag, leaves out those of other chains, unites what is said twice. */
import { extname } from 'node:path';
import type { Attribution, TagSource } from '@kasgres/database';
import type { Network } from '@kasgres/kaspa';
import { checkTag, findOtherCurrency, findTextProblem, MOST } from './check-tag.ts';
import { Problems } from './problems.ts';
import type { RawFile, RawTag } from './raw-tag.ts';
import { readCsv } from './read-csv.ts';
import { readJson } from './read-json.ts';
import { readTagPack } from './read-tagpack.ts';

export const FORMATS = ['csv', 'json', 'tagpack'] as const;
export type Format = (typeof FORMATS)[number];

interface TagFile {
  file: string;
  contents: Uint8Array;
}

export interface TagFilesOptions {
  network: Network;
  /** Instead of what the files name. */
  source?: string;
  /** Instead of what their names and contents look like. */
  format?: Format;
}

export interface TagFiles {
  sources: TagSource[];
  /** Tags of other chains, by currency, which are left out. */
  otherCurrencies: Map<string, number>;
  /** Tags of transactions, which are left out. */
  transactionTags: number;
  /** Tags that a source has twice, with the same address and name. */
  united: number;
}

const READERS = { csv: readCsv, json: readJson, tagpack: readTagPack };

/** Problems of all files, when there are any. */
export function readTagFiles(files: readonly TagFile[], options: TagFilesOptions): TagFiles | Problems {
  const problems = new Problems();
  const sources = new Map<string, SourceInMaking>();
  const result = { otherCurrencies: new Map<string, number>(), transactionTags: 0 };
  for (const { file, contents } of files) {
    const text = readText(file, contents, problems);
    if (text === undefined) continue;
    const raw = READERS[options.format ?? formatOf(file, text)](file, text, problems);
    result.transactionTags += raw.transactionTags;
    const problem = findTextProblem(raw.title, MOST.title);
    if (problem !== undefined) problems.add({ file, line: 1 }, 'title', problem);
    // A source that says nothing any more is one too.
    const isNamed =
      problems.count === 0 && !raw.tags.some(({ fields }) => fields.source !== undefined && fields.source !== '');
    if (isNamed) sourceOf(sources, raw, undefined, options, problems);
    for (const tag of raw.tags) {
      const other = findOtherCurrency(tag);
      if (other !== undefined) {
        result.otherCurrencies.set(other, (result.otherCurrencies.get(other) ?? 0) + 1);
        continue;
      }
      const attribution = checkTag(raw, tag, options.network, problems);
      if (attribution !== undefined) sourceOf(sources, raw, tag, options, problems)?.add(attribution);
    }
  }
  if (problems.count > 0) return problems;
  const made = [...sources.values()];
  return {
    ...result,
    sources: made.map((source) => source.finish()),
    united: made.reduce((sum, { united }) => sum + united, 0),
  };
}

function readText(file: string, contents: Uint8Array, problems: Problems): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(contents);
  } catch {
    problems.add({ file, line: 1 }, 'file', 'must be a text in UTF-8');
    return undefined;
  }
}

/** By the ending of the name, else by the first character. */
function formatOf(file: string, text: string): Format {
  const ending = extname(file).toLowerCase();
  if (ending === '.csv' || ending === '.tsv') return 'csv';
  if (ending === '.json') return 'json';
  if (ending === '.yaml' || ending === '.yml') return 'tagpack';
  if (/^\s*[[{]/.test(text)) return 'json';
  return /^\s*(%YAML|---|#|\w+:(\s|$))/.test(text) ? 'tagpack' : 'csv';
}

class SourceInMaking {
  readonly name: string;
  readonly #title: string;
  readonly #creators = new Set<string>();
  readonly #said = new Map<string, Attribution>();
  united = 0;

  constructor(name: string, title: string) {
    this.name = name;
    this.#title = title;
  }

  addCreator(creator: string): void {
    if (creator !== '') this.#creators.add(creator);
  }

  add(attribution: Attribution): void {
    const key = `${attribution.address} ${attribution.name}`;
    const other = this.#said.get(key);
    if (other !== undefined) this.united += 1;
    this.#said.set(key, other === undefined ? attribution : unite(other, attribution));
  }

  finish(): TagSource {
    return {
      name: this.name,
      title: this.#title,
      creator: [...this.#creators].join(', '),
      attributions: [...this.#said.values()],
    };
  }
}

function sourceOf(
  sources: Map<string, SourceInMaking>,
  raw: RawFile,
  tag: RawTag | undefined,
  options: TagFilesOptions,
  problems: Problems,
): SourceInMaking | undefined {
  const before = problems.count;
  const textOf = (field: 'source' | 'creator', otherwise: string): string => {
    const value = tag?.fields[field] ?? '';
    const text = typeof value === 'string' ? value.trim() : '';
    const place = (): { file: string; line: number } => tag?.placeOf(field) ?? { file: raw.file, line: 1 };
    if (typeof value !== 'string') problems.add(place(), field, 'must be a text');
    const found = text === '' ? otherwise : text;
    const problem = findTextProblem(found, MOST[field]);
    if (problem !== undefined) problems.add(place(), field, problem);
    return found;
  };
  const name = options.source ?? textOf('source', raw.source);
  const creator = textOf('creator', raw.creator);
  if (problems.count > before) return undefined;
  let source = sources.get(name);
  if (source === undefined) {
    source = new SourceInMaking(name, raw.title);
    sources.set(name, source);
  }
  source.addCreator(creator);
  return source;
}

/** All labels; of the rest, what is said with more confidence, and what the other does not say. */
function unite(one: Attribution, other: Attribution): Attribution {
  const [first, second] = other.confidenceLevel > one.confidenceLevel ? [other, one] : [one, other];
  const dates = [one.lastModified, other.lastModified].filter((date) => date !== undefined).sort();
  return {
    ...first,
    link: first.link === '' ? second.link : first.link,
    labels: [...new Set([...one.labels, ...other.labels])],
    category: first.category ?? second.category,
    confidence: first.confidence ?? (second.confidenceLevel === first.confidenceLevel ? second.confidence : undefined),
    lastModified: dates.at(-1),
  };
}
