/**
 * Reads tag files and groups the tags by source: checks every tag, skips those of other chains, and
 * merges duplicates.
 */
import { basename, extname } from 'node:path';
import type { Attribution, TagSource } from '@kasgres/database';
import type { Network } from '@kasgres/kaspa';
import { type Field, findOtherCurrency, findTextProblem, MAX_LENGTHS, tagSchema } from './check-tag.ts';
import { readCsv } from './read-csv.ts';
import { readJson } from './read-json.ts';
import { namesOf, readTagPack } from './read-tagpack.ts';
import { type FileField, Problems } from './tag-file.ts';

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

interface SourceDraft {
  title: string;
  creators: Set<string>;
  attributions: Map<string, Attribution>;
}

const READERS = { csv: readCsv, json: readJson, tagpack: readTagPack };

/** Returns the problems of all files instead of the tags if there are any. */
export function readTagFiles(files: readonly TagFile[], options: TagFilesOptions): TagFiles | Problems {
  const problems = new Problems();
  const drafts = new Map<string, SourceDraft>();
  const otherCurrencies = new Map<string, number>();
  let transactionTags = 0;
  let merged = 0;
  for (const { file, contents } of files) {
    problems.file = file;
    const text = readText(contents, problems);
    if (text === undefined) continue;
    const format = options.format ?? formatOf(file, text);
    const raw = READERS[format](text, problems);
    const source = raw.source || basename(file);
    const { title, creator } = raw;
    for (const [field, value] of Object.entries({ source: options.source ?? source, title, creator })) {
      const name = field as FileField;
      const problem = findTextProblem(value, MAX_LENGTHS[name]);
      if (problem !== undefined) problems.add(() => raw.lineOf(name), name, problem);
    }
    transactionTags += raw.transactionTags;
    const draftOf = (tag: { source: string; creator: string }): SourceDraft => {
      const name = options.source ?? (tag.source || source);
      const draft = drafts.get(name) ?? { title: raw.title, creators: new Set(), attributions: new Map() };
      drafts.set(name, draft);
      draft.creators.add(tag.creator || raw.creator);
      return draft;
    };
    // A file without tags still names a source, whose tags are then removed.
    if (!raw.tags.some(({ fields }) => fields.source)) draftOf(raw);
    const schema = tagSchema(options.network, format === 'tagpack');
    for (const tag of raw.tags) {
      const currency = findOtherCurrency(tag);
      if (currency !== undefined) {
        otherCurrencies.set(currency, (otherCurrencies.get(currency) ?? 0) + 1);
        continue;
      }
      const given = Object.entries(tag.fields).filter(([, value]) => value !== null);
      const checked = schema.safeParse(Object.fromEntries(given));
      for (const { path, message } of checked.error?.issues ?? []) {
        const field = path[0] as Field;
        problems.add(() => tag.lineOf(field), (format === 'tagpack' && namesOf(field)[0]) || field, message);
      }
      if (checked.data === undefined) continue;
      const { attributions } = draftOf(checked.data);
      const { attribution } = checked.data;
      const key = `${attribution.address} ${attribution.name}`;
      const other = attributions.get(key);
      if (other !== undefined) merged += 1;
      attributions.set(key, other === undefined ? attribution : merge(other, attribution));
    }
  }
  if (problems.count > 0) return problems;
  const sources = [...drafts].map(([name, { title, creators, attributions }]) => ({
    name,
    title,
    creator: [...creators].filter(Boolean).join(', '),
    attributions: [...attributions.values()],
  }));
  return { sources, otherCurrencies, transactionTags, merged };
}

export function readText(contents: Uint8Array, problems: Problems): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(contents);
  } catch {
    problems.add(1, 'file', 'must be UTF-8 text');
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

/**
 * Keeps the labels of both, and other fields of the more confident one if it has them. If neither
 * is more confident, one that names its address only limits both.
 */
function merge(one: Attribution, other: Attribution): Attribution {
  const [first, second] = other.confidenceLevel > one.confidenceLevel ? [other, one] : [one, other];
  const isEqual = first.confidenceLevel === second.confidenceLevel;
  const actor = first.actor ?? second.actor;
  const namesCluster = first.namesCluster ?? (isEqual ? second.namesCluster : undefined);
  const dates = [one.lastModified, other.lastModified].filter((date) => date !== undefined).sort();
  return {
    ...first,
    link: first.link === '' ? second.link : first.link,
    labels: [...new Set([...one.labels, ...other.labels])],
    category: first.category ?? second.category,
    confidence: first.confidence ?? (isEqual ? second.confidence : undefined),
    lastModified: dates.at(-1),
    ...(actor !== undefined && { actor }),
    ...(namesCluster !== undefined && { namesCluster }),
  };
}
