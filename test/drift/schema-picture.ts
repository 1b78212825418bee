/** The diagram of docs/schema.md: the joins between views of schema `kaspa`. Views have no foreign keys, so they are listed here. */

/** A row of the first view joins this many rows of the second one. */
type Relation = readonly [one: string, many: 'zero or one' | 'many', of: string];

const RELATIONS: readonly Relation[] = [
  ['blocks.hash', 'zero or one', 'chain_blocks.hash'],
  ['blocks.hash', 'many', 'block_parents.block_hash'],
  ['blocks.hash', 'zero or one', 'mergesets.block_hash'],
  ['chain_blocks.hash', 'many', 'mergesets.chain_block_hash'],
  ['blocks.hash', 'many', 'block_transactions.block_hash'],
  ['transactions.transaction_id', 'many', 'block_transactions.transaction_id'],
  ['chain_blocks.index', 'many', 'accepted_transactions.chain_index'],
  ['transactions.transaction_id', 'zero or one', 'accepted_transactions.transaction_id'],
  ['transactions.transaction_id', 'many', 'inputs.transaction_id'],
  ['transactions.transaction_id', 'many', 'outputs.transaction_id'],
  ['outputs.transaction_id', 'many', 'inputs.previous_transaction_id'],
  ['outputs.transaction_id', 'zero or one', 'utxos.transaction_id'],
  ['transactions.transaction_id', 'many', 'address_transactions.transaction_id'],
  ['addresses.address', 'many', 'address_transactions.address'],
  ['addresses.address', 'many', 'address_hours.address'],
  ['addresses.address', 'many', 'utxos.address'],
  ['addresses.address', 'zero or one', 'tags.address'],
  ['addresses.address', 'many', 'attributions.address'],
  ['tag_sources.name', 'many', 'attributions.source'],
  ['clusters.cluster', 'many', 'addresses.cluster'],
  ['clusters.cluster', 'many', 'cluster_members.cluster'],
  ['clusters.cluster', 'many', 'cluster_merges.cluster'],
  ['transactions.transaction_id', 'many', 'cluster_merges.transaction_id'],
];

const MANY = { 'zero or one': '||--o|', many: '||--o{' } as const;

/** Returns a mermaid diagram. `types` has the type of each `view.column`. Throws if a relation names an unknown column. */
export function drawRelations(types: ReadonlyMap<string, string>): string {
  const ends = [...new Set(RELATIONS.flatMap(([one, , of]) => [one, of]))];
  const missing = ends.filter((end) => !types.has(end));
  if (missing.length > 0) throw new Error(`schema-picture.ts: unknown columns ${missing.join(', ')}`);
  const entities = [...Map.groupBy(ends, viewOf)].map(([view, columns]) => [
    `  ${view} {`,
    ...columns.map((column) => `    ${types.get(column)} ${columnOf(column)}`),
    '  }',
  ]);
  return [
    '```mermaid',
    'erDiagram',
    ...RELATIONS.map(([one, many, of]) => `  ${viewOf(one)} ${MANY[many]} ${viewOf(of)} : ${columnOf(of)}`),
    ...entities.flat(),
    '```',
  ].join('\n');
}

const viewOf = (end: string): string => end.split('.')[0] ?? '';
const columnOf = (end: string): string => end.split('.')[1] ?? '';
