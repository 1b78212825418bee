import type { Tag } from './tags.ts';

/** A source's statement about an address. */
export interface Attribution extends Tag {
  category: string | undefined;
  /** How the source knows, as it says. */
  confidence: string | undefined;
  /** Confidence from 0 to 100. */
  confidenceLevel: number;
  /** `2026-01-31` */
  lastModified: string | undefined;
  /** Id of the owner, as the source says: several spellings of its name are one owner. */
  actor?: string | undefined;
  /** Whether it names the owner of the whole cluster (default), and not of this address only. */
  namesCluster?: boolean | undefined;
}

/** A source with all its attributions, unique by address and name. */
export interface TagSource {
  name: string;
  title: string;
  creator: string;
  attributions: readonly Attribution[];
}

/** Numbers of attributions, compared with the previous import. */
export interface SourceChanges {
  source: string;
  new: number;
  changed: number;
  removed: number;
  unchanged: number;
}
