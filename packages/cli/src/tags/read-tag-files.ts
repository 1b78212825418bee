/** Reads tag files and groups the tags by source: checks every tag, skips those of other chains, and merges duplicates. */
import { extname } from 'node:path';
import type { Attribution, TagSource } from '@kasgres/database';
import type { Network } from '@kasgres/kaspa';
import { checkTag, findOtherCurrency, findTextProblem, MAX_LENGTHS } from './check-tag.ts';
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
  /** Replaces the source that the files name. */
  source?: string;
  /** Overrides the detected format. */
  format?: Format;
}

export interface TagFiles {
  sources: TagSource[];
  /** Number of skipped tags of other chains, by currency. */
  otherCurrencies: Map<string, number>;
  /** Number of skipped tags of transactions. */
  transactionTags: number;
  /** Number of tags that were merged with one of the same source, address and name. */
  merged: number;
}

const READERS = { csv: readCsv, json: readJson, tagpack: readTagPack };

/** Returns the problems of all files instead of the tags if there are any. */
export function readTagFiles(files: readonly TagFile[], options: TagFilesOptions): TagFiles | Problems {
  const problems = new Problems();
  const sources = new Map<string, SourceBuilder>();
  const result = { otherCurrencies: new Map<string, number>(), transactionTags: 0 };
  for (const { file, contents } of files) {
    const text = readText(file, contents, problems);
    if (text === undefined) continue;
    const raw = READERS[options.format ?? formatOf(file, text)](file, text, problems);
    result.transactionTags += raw.transactionTags;
    const problem = findTextProblem(raw.title, MAX_LENGTHS.title);
    if (problem !== undefined) problems.add({ file, line: 1 }, 'title', problem);
    // A file without tags still names a source, whose tags are then removed.
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
  const builders = [...sources.values()];
  return {
    ...result,
    sources: builders.map((source) => source.finish()),
    merged: builders.reduce((sum, { merged }) => sum + merged, 0),
  };
}

function readText(file: string, contents: Uint8Array, problems: Problems): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(contents);
  } catch {
    problems.add({ file, line: 1 }, 'file', 'must be UTF-8 text');
    return undefined;
  }
}

/** Detects the format by the extension, else by the first characters. */
function formatOf(file: string, text: string): Format {
  const ending = extname(file).toLowerCase();
  if (ending === '.csv' || ending === '.tsv') return 'csv';
  if (ending === '.json') return 'json';
  if (ending === '.yaml' || ending === '.yml') return 'tagpack';
  if (/^\s*[[{]/.test(text)) return 'json';
  return /^\s*(%YAML|---|#|\w+:(\s|$))/.test(text) ? 'tagpack' : 'csv';
}

class SourceBuilder {
  readonly name: string;
  readonly #title: string;
  readonly #creators = new Set<string>();
  readonly #attributions = new Map<string, Attribution>();
  merged = 0;

  constructor(name: string, title: string) {
    this.name = name;
    this.#title = title;
  }

  addCreator(creator: string): void {
    if (creator !== '') this.#creators.add(creator);
  }

  add(attribution: Attribution): void {
    const key = `${attribution.address} ${attribution.name}`;
    const other = this.#attributions.get(key);
    if (other !== undefined) this.merged += 1;
    this.#attributions.set(key, other === undefined ? attribution : merge(other, attribution));
  }

  finish(): TagSource {
    return {
      name: this.name,
      title: this.#title,
      creator: [...this.#creators].join(', '),
      attributions: [...this.#attributions.values()],
    };
  }
}

function sourceOf(
  sources: Map<string, SourceBuilder>,
  raw: RawFile,
  tag: RawTag | undefined,
  options: TagFilesOptions,
  problems: Problems,
): SourceBuilder | undefined {
  const before = problems.count;
  const textOf = (field: 'source' | 'creator', otherwise: string): string => {
    const value = tag?.fields[field] ?? '';
    const text = typeof value === 'string' ? value.trim() : '';
    const position = (): { file: string; line: number } => tag?.positionOf(field) ?? { file: raw.file, line: 1 };
    if (typeof value !== 'string') problems.add(position(), field, 'must be a text');
    const found = text === '' ? otherwise : text;
    const problem = findTextProblem(found, MAX_LENGTHS[field]);
    if (problem !== undefined) problems.add(position(), field, problem);
    return found;
  };
  const name = options.source ?? textOf('source', raw.source);
  const creator = textOf('creator', raw.creator);
  if (problems.count > before) return undefined;
  let source = sources.get(name);
  if (source === undefined) {
    source = new SourceBuilder(name, raw.title);
    sources.set(name, source);
  }
  source.addCreator(creator);
  return source;
}

/** Keeps the labels of both, and other fields of the more confident one if it has them. */
function merge(one: Attribution, other: Attribution): Attribution {
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
