/** A tag as read from a file of any format, before it is checked. */
import type { Position } from './problems.ts';

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
  /** Texts, and a list of texts for the labels. Other values are problems. An empty field counts as missing. */
  fields: Readonly<Partial<Record<Field, unknown>>>;
  /** Returns the position of the field, or of the tag if it does not have the field. */
  positionOf: (field: Field) => Position;
}

export interface RawFile {
  file: string;
  /** Returns the name of a field in this format. */
  nameOf: (field: Field) => string;
  /** Source of the tags that do not name one. */
  source: string;
  title: string;
  creator: string;
  tags: readonly RawTag[];
  /** Number of tags of transactions, which are skipped. */
  transactionTags: number;
  /** Confidence of tags without one. */
  defaultConfidenceLevel: number;
  /** Whether a link that is not a URL is a problem. Otherwise it is dropped. */
  linksAreUrls: boolean;
}

/** Splits at `;` and `|`. */
export function splitLabels(text: string): string[] {
  return text.split(/[;|]/);
}
