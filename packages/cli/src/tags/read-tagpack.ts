/**
 * Reads TagPacks, GraphSense's public format of tags in YAML (graphsense-tagpack-tool,
 * src/tagpack/conf/tagpack_schema.yaml): a header, and a list of tags that inherit its fields.
 * `label` is the name of the owner, `source` a link to the evidence, and `concepts`, `category` and
 * `abuse` are labels.
 */
import { type Document, isAlias, isMap, isScalar, LineCounter, type Node, parseDocument, visit } from 'yaml';
import { type Field, type RawTag, wordOf } from './check-tag.ts';
import { quoted } from './quoted.ts';
import { isObject, type Path, type Problems, type RawFile, Tree } from './tag-file.ts';

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

/** The fields that a TagPack names differently. */
const OTHER_NAMES: Readonly<Partial<Record<Field, readonly string[]>>> = {
  name: ['label'],
  link: ['source'],
  labels: ['concepts', 'category', 'abuse'],
  category: ['category', 'abuse'],
};

/** Returns the names of a field in a TagPack, of which the first one that exists counts. */
export function namesOf(field: Field): readonly string[] {
  return OTHER_NAMES[field] ?? [field];
}

type Fields = Record<string, unknown>;

export function readTagPack(text: string, problems: Problems): RawFile {
  const before = problems.count;
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, merge: true, prettyErrors: false });
  const report = (offset: number, problem: string): void => problems.add(lines.linePos(offset).line, 'YAML', problem);
  for (const { pos, message } of document.errors) report(pos[0], `cannot be read: ${message}`);
  prepareNodes(document, report);
  if (problems.count > before) {
    return { source: '', title: '', creator: '', tags: [], transactionTags: 0, lineOf: () => 1 };
  }

  const root: unknown = document.toJS({ maxAliasCount: -1 });
  // A field that aliases or merge keys lead to is on the line of what contains it.
  const lineAt = (path: Path, ...others: Path[]): number => {
    const parents = path.map((_, level) => path.slice(0, -1 - level));
    const node = [path, ...others, ...parents].map((candidate) => findNode(document, candidate)).find(Boolean);
    return lines.linePos(node?.range?.[0] ?? 0).line;
  };
  return new Reader(problems, lineAt).readFile(root);
}

/**
 * Makes scalars texts as they are written, since a label may look like a number, and dates depend
 * on the YAML version.
 */
function prepareNodes(document: Document, report: (offset: number, problem: string) => void): void {
  const anchors = new Set<string>();
  visit(document, {
    Alias: (_, { source, range }) => {
      if (!anchors.has(source)) report(range?.[0] ?? 0, `has no anchor &${source} before it`);
    },
    Node: (key, node) => {
      if (!isAlias(node) && node.anchor !== undefined) anchors.add(node.anchor);
      if (key !== 'key' && isScalar(node) && node.value !== null) node.value = node.source ?? node.value;
    },
  });
}

/**
 * Returns the key of a field, or an item of a list; undefined if aliases or merge keys lead there.
 */
function findNode(document: Document, path: Path): Node | undefined {
  const parent = path.length > 1 ? document.getIn(path.slice(0, -1), true) : document.contents;
  if (path.length === 0 || !isMap(parent)) return (document.getIn(path, true) ?? undefined) as Node | undefined;
  return parent.items.find(({ key }) => isScalar(key) && key.value === path.at(-1))?.key as Node | undefined;
}

class Reader extends Tree {
  readFile(root: unknown): RawFile {
    if (!isObject(root)) this.report([], 'file', 'must be a TagPack: a header with title, creator and tags');
    const outer = this.#fieldsOf(isObject(root) ? root : {}, [], HEADER_FIELDS, 'a TagPack');
    const inner = outer['header'] ?? {};
    if (!isObject(inner)) {
      this.report(['header'], 'header', 'must contain the fields of the header; includes are not supported');
    }
    const nested = isObject(inner) ? this.#fieldsOf(inner, ['header'], HEADER_FIELDS, 'a TagPack') : {};
    const header = { ...outer, ...nested };
    const pathOf = (name: string): Path => (name in nested ? ['header', name] : [name]);
    for (const needed of isObject(root) ? ['title', 'creator', 'tags'] : []) {
      if ((header[needed] ?? '') === '')
        this.report('header' in outer ? ['header'] : [], needed, 'is missing in the header');
    }
    for (const [fields, path] of [
      [outer, ['is_public']],
      [nested, ['header', 'is_public']],
    ] as const) {
      const { is_public: isPublic = true } = fields;
      // YAML 1.1 has more words for false, such as `no`.
      if (wordOf(isPublic) !== 'true') {
        const problem = `must be true, since Kasgres shows tags to everybody: ${quoted(isPublic)}`;
        this.report(path, 'is_public', problem);
      }
    }
    const title = this.textOf(header, 'title', pathOf('title'));
    const creator = this.textOf(header, 'creator', pathOf('creator'));
    const tags = header['tags'] ?? [];
    const path = pathOf('tags');
    if (!Array.isArray(tags)) this.report(path, 'tags', 'must be a list of tags');
    const inherited = Object.fromEntries(Object.entries(header).filter(([name]) => TAG_FIELDS.includes(name)));
    const read = Array.isArray(tags) ? tags.map((tag, index) => this.#readTag(tag, [...path, index], inherited)) : [];
    return {
      source: creator === '' ? title : `${title} (${creator})`,
      title,
      creator,
      tags: read.filter((tag) => typeof tag === 'object'),
      transactionTags: read.filter((tag) => tag === 'of a transaction').length,
      lineOf: (field) => this.lineAt(pathOf(field === 'source' ? 'title' : field)),
    };
  }

  #readTag(tag: unknown, path: Path, inherited: Fields): RawTag | 'of a transaction' | undefined {
    if (!isObject(tag)) {
      this.report(path, 'tags', 'must be tags with an address and a label');
      return undefined;
    }
    const own = this.#fieldsOf(tag, path, TAG_FIELDS, 'a tag');
    if ('tx_hash' in own) {
      if ('address' in own) this.report(path, 'tx_hash', 'cannot be combined with address');
      return 'of a transaction';
    }
    const all: Fields = { ...inherited, ...own };
    const { address, label, source, concepts = [], category, abuse, ...others } = all;
    const { confidence, lastmod, currency, network, actor, is_cluster_definer, tag_type } = others;
    const kinds = [category, abuse].filter((kind) => kind !== undefined);
    const labels: unknown = Array.isArray(concepts) ? [...(concepts as unknown[]), ...kinds] : concepts;
    return {
      fields: {
        address,
        name: label,
        link: source,
        labels,
        category: kinds[0],
        confidence,
        lastmod,
        currency,
        network,
        actor,
        is_cluster_definer,
        tag_type,
      },
      lineOf: (field) => {
        const name = namesOf(field).find((known) => known in all);
        return name === undefined ? this.lineAt(path) : this.lineAt([...path, name], ['header', name], [name]);
      },
    };
  }

  /** Returns the known fields of a map, and reports others and those without a value. */
  #fieldsOf(map: Fields, path: Path, known: readonly string[], kind: string): Fields {
    this.reportUnknownFields(map, path, known, kind);
    const fields = Object.entries(map).filter(([name]) => known.includes(name));
    for (const [name, value] of fields) {
      if (value === null) this.report([...path, name], name, 'has no value; remove it');
    }
    return Object.fromEntries(fields.filter(([, value]) => value !== null));
  }
}
