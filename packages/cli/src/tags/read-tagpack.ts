/**
 * Reads TagPacks, GraphSense's public format of tags in YAML (graphsense-tagpack-tool, src/tagpack/conf/tagpack_schema.yaml): a header, and
 * a list of tags that inherit its fields. `label` is the name of the owner, `source` a link to the evidence, and `concepts`, `category`
 * and `abuse` are labels.
 */
import {
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  type Document,
  isAlias,
  type YAMLMap,
  visit,
} from 'yaml';
import { UNKNOWN_CONFIDENCE_LEVEL } from './check-tag.ts';
import { type Position, type Problems, quoted } from './problems.ts';
import type { Field, RawFile, RawTag } from './raw-tag.ts';

const TAG_FIELDS = [
  'address',
  'tx_hash',
  'label',
  'source',
  'currency',
  'network',
  'confidence',
  'category',
  'abuse',
  'concepts',
  'lastmod',
  'actor',
  'context',
  'is_cluster_definer',
  'tag_type',
];
const HEADER_FIELDS = ['header', 'title', 'creator', 'description', 'owner', 'is_public', 'tags', ...TAG_FIELDS];

/** The names of a field in a TagPack. The first one that exists counts. */
const NAMES: Readonly<Record<Field, readonly string[]>> = {
  address: ['address'],
  name: ['label'],
  link: ['source'],
  labels: ['concepts', 'category', 'abuse'],
  category: ['category', 'abuse'],
  confidence: ['confidence'],
  lastmod: ['lastmod'],
  source: [],
  creator: [],
  currency: ['currency'],
  network: ['network'],
};

interface Entry {
  value: Node | null;
  position: Position;
}
type Entries = Map<string, Entry>;

export function readTagPack(file: string, text: string, problems: Problems): RawFile {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, merge: true, prettyErrors: false });
  for (const { pos, message } of document.errors) {
    problems.add({ file, line: lines.linePos(pos[0]).line }, 'YAML', `cannot be read: ${message}`);
  }
  const reader = new Reader(file, document, lines, problems);
  const isReadable = document.errors.length === 0;
  const header = isReadable ? reader.readHeader() : new Map<string, Entry>();
  const title = reader.textOf(header, 'title');
  const creator = reader.textOf(header, 'creator');
  const tags = isReadable ? reader.readTags(header) : [];
  return {
    file,
    nameOf: (field) => NAMES[field][0] ?? field,
    source: creator === '' ? title : `${title} (${creator})`,
    title,
    creator,
    tags: tags.filter((tag) => tag !== 'of a transaction'),
    transactionTags: tags.filter((tag) => tag === 'of a transaction').length,
    defaultConfidenceLevel: UNKNOWN_CONFIDENCE_LEVEL,
    // GraphSense allows any text, such as a book or a person.
    linksAreUrls: false,
  };
}

class Reader {
  readonly #file: string;
  readonly #document: Document;
  readonly #lines: LineCounter;
  readonly #problems: Problems;
  /** The target of each alias. The document itself would search all nodes for each alias. */
  readonly #targets = new Map<Node, Node>();

  constructor(file: string, document: Document, lines: LineCounter, problems: Problems) {
    this.#file = file;
    this.#document = document;
    this.#lines = lines;
    this.#problems = problems;
    const anchors = new Map<string, Node>();
    visit(document, {
      Node: (_, node) => {
        const target = isAlias(node) ? anchors.get(node.source) : undefined;
        if (target !== undefined) this.#targets.set(node, target);
        else if (isAlias(node)) problems.add(this.#positionOf(node), 'YAML', `has no anchor &${node.source} before it`);
        if (!isAlias(node) && node.anchor !== undefined) anchors.set(node.anchor, node);
      },
    });
  }

  readHeader(): Entries {
    const root = this.#resolve(this.#document.contents);
    if (!isMap(root)) {
      this.#problems.add(this.#positionOf(root), 'file', 'must be a TagPack: a header with title, creator and tags');
      return new Map();
    }
    const entries = this.#entriesOf(root, HEADER_FIELDS, 'is not a field of a TagPack');
    const inner = entries.get('header');
    if (inner !== undefined) this.#addInner(entries, inner);
    for (const needed of ['title', 'creator', 'tags']) {
      if (!entries.has(needed)) this.#problems.add(this.#positionOf(root), needed, 'is missing in the header');
    }
    return entries;
  }

  readTags(header: Entries): (RawTag | 'of a transaction')[] {
    const entry = header.get('tags');
    if (entry === undefined) return [];
    if (!isSeq(entry.value)) {
      this.#problems.add(entry.position, 'tags', 'must be a list of tags');
      return [];
    }
    const inherited = new Map([...header].filter(([field]) => TAG_FIELDS.includes(field)));
    return entry.value.items.flatMap((item) => this.#readTag(this.#resolve(item as Node | null), inherited));
  }

  /** Returns the text of a field; empty if it is missing. */
  textOf(entries: Entries, field: string): string {
    const entry = entries.get(field);
    if (entry === undefined) return '';
    const value = this.#valueOf(entry.value);
    if (typeof value === 'string' && value.trim() !== '') return value.trim();
    this.#problems.add(entry.position, field, `must be a text, not ${quoted(value)}`);
    return '';
  }

  #readTag(item: Node | null, inherited: Entries): (RawTag | 'of a transaction')[] {
    const position = this.#positionOf(item);
    if (!isMap(item)) {
      this.#problems.add(position, 'tags', 'must be tags with an address and a label');
      return [];
    }
    const own = this.#entriesOf(item, TAG_FIELDS, 'is not a field of a tag');
    const entries = new Map([...inherited, ...own]);
    if (own.has('tx_hash')) {
      if (own.has('address')) this.#problems.add(position, 'tx_hash', 'cannot be combined with address');
      return ['of a transaction'];
    }
    const valueOf = (field: string): unknown => this.#valueOf(entries.get(field)?.value ?? null);
    const concepts = valueOf('concepts') ?? [];
    const kinds = ['category', 'abuse'].map(valueOf).filter((kind) => kind !== null);
    const fields = {
      address: valueOf('address'),
      name: valueOf('label'),
      link: valueOf('source'),
      labels: Array.isArray(concepts) ? [...(concepts as unknown[]), ...kinds] : concepts,
      category: kinds[0],
      confidence: valueOf('confidence'),
      lastmod: valueOf('lastmod'),
      currency: valueOf('currency'),
      network: valueOf('network'),
    };
    const positionOf = (field: Field): Position => {
      const name = NAMES[field].find((known) => entries.has(known));
      return (name === undefined ? undefined : entries.get(name)?.position) ?? position;
    };
    return [{ fields, positionOf }];
  }

  /** Includes the fields of merge keys (`<<`), which a map's own fields override. */
  #entriesOf(map: YAMLMap, known: readonly string[], unknown: string): Entries {
    const entries: Entries = new Map();
    for (const { key, value } of map.items) {
      const position = this.#positionOf(key as Node);
      const name = isScalar(key) ? this.#nameOf(key.value) : '';
      if (name === '<<') {
        for (const merged of this.#mergedMaps(value as Node | null)) {
          for (const [field, entry] of this.#entriesOf(merged, known, unknown)) {
            if (!entries.has(field)) entries.set(field, entry);
          }
        }
        continue;
      }
      const node = this.#resolve(value as Node | null);
      if (!known.includes(name))
        this.#problems.add(position, quoted(name), `${unknown}; the fields are ${known.join(', ')}`);
      else if (isScalar(node) ? node.value === null : node === null) {
        this.#problems.add(position, name, 'has no value; remove it');
      } else entries.set(name, { value: node, position });
    }
    return entries;
  }

  #mergedMaps(value: Node | null): YAMLMap[] {
    const node = this.#resolve(value);
    const nodes = isSeq(node) ? node.items.map((item) => this.#resolve(item as Node | null)) : [node];
    return nodes.filter((node) => isMap(node));
  }

  /** Adds the fields below `header: …`, as some TagPacks nest them. */
  #addInner(entries: Entries, { value, position }: Entry): void {
    if (!isMap(value)) {
      this.#problems.add(position, 'header', 'must contain the fields of the header; includes are not supported');
      return;
    }
    for (const [field, entry] of this.#entriesOf(value, HEADER_FIELDS, 'is not a field of a TagPack'))
      entries.set(field, entry);
  }

  /** Returns scalars as they are written, since a label may look like a number, and dates depend on the YAML version. */
  #valueOf(node: Node | null): unknown {
    if (node === null) return null;
    if (isSeq(node)) return node.items.map((item) => this.#valueOf(this.#resolve(item as Node | null)));
    if (!isScalar(node)) return node.toJS(this.#document) as unknown;
    return typeof node.value === 'string' ? node.value : (node.source ?? node.value);
  }

  #nameOf(key: unknown): string {
    return typeof key === 'symbol' ? '<<' : String(key);
  }

  #resolve(node: Node | null): Node | null {
    return isAlias(node) ? (this.#targets.get(node) ?? null) : node;
  }

  #positionOf(node: Node | null): Position {
    const offset = node?.range?.[0] ?? 0;
    return { file: this.#file, line: this.#lines.linePos(offset).line };
  }
}
