/** A tag as a file says it, before anything is checked: what the three readers have in common. */
import type { Place } from './problems.ts';

export type Field =
  | 'address'
  | 'name'
  | 'link'
  | 'labels'
  | 'category'
  | 'confidence'
  | 'lastmod'
  | 'source'
  | 'creator'
  | 'currency'
  | 'network';

export interface RawTag {
  /** Texts, and a list of them for the labels; what is neither is a problem of its field. Absent and empty are the same. */
  fields: Readonly<Partial<Record<Field, unknown>>>;
  /** Where the field stands; where the tag begins when it has no such field. */
  placeOf: (field: Field) => Place;
}

export interface RawFile {
  file: string;
  /** How the file's format calls a field in which a problem is. */
  nameOf: (field: Field) => string;
  /** Name of the source of tags that name none themselves. */
  source: string;
  title: string;
  creator: string;
  tags: readonly RawTag[];
  /** Tags of transactions, which are left out. */
  transactionTags: number;
  /** Confidence of tags that do not say. */
  defaultConfidenceLevel: number;
  /** Whether a link that is no URL is a problem, or just no link. */
  linksAreUrls: boolean;
}

/** Separated by `;` or `|`. */
export function splitLabels(text: string): string[] {
  return text.split(/[;|]/);
}
