/**
 * The diagram of docs/schema.md: the joins between views of schema `kaspa`. Views have no foreign
 * keys, so they are listed here.
 */

/**
 * A row of the first view joins zero or one (`||--o|`) or many (`||--o{`) rows of the second one.
 */
const RELATIONS = [
  ['blocks.hash', '||--o|', 'chain_blocks.hash'],
  ['blocks.hash', '||--o{', 'block_parents.block_hash'],
  ['blocks.hash', '||--o|', 'mergesets.block_hash'],
  ['chain_blocks.hash', '||--o{', 'mergesets.chain_block_hash'],
  ['blocks.hash', '||--o{', 'block_transactions.block_hash'],
  ['transactions.transaction_id', '||--o{', 'block_transactions.transaction_id'],
  ['chain_blocks.index', '||--o{', 'accepted_transactions.chain_index'],
  ['transactions.transaction_id', '||--o|', 'accepted_transactions.transaction_id'],
  ['transactions.transaction_id', '||--o{', 'inputs.transaction_id'],
  ['transactions.transaction_id', '||--o{', 'outputs.transaction_id'],
  ['outputs.transaction_id', '||--o{', 'inputs.previous_transaction_id'],
  ['outputs.transaction_id', '||--o|', 'utxos.transaction_id'],
  ['transactions.transaction_id', '||--o{', 'address_transactions.transaction_id'],
  ['addresses.address', '||--o{', 'address_transactions.address'],
  ['addresses.address', '||--o{', 'address_hours.address'],
  ['addresses.address', '||--o{', 'utxos.address'],
  ['addresses.address', '||--o|', 'tags.address'],
  ['addresses.address', '||--o{', 'attributions.address'],
  ['tag_sources.name', '||--o{', 'attributions.source'],
  ['clusters.cluster', '||--o{', 'addresses.cluster'],
  ['clusters.cluster', '||--o{', 'cluster_members.cluster'],
  ['clusters.cluster', '||--o{', 'cluster_merges.cluster'],
  ['transactions.transaction_id', '||--o{', 'cluster_merges.transaction_id'],
  ['covenants.covenant_id', '||--o{', 'covenant_events.covenant_id'],
  ['covenants.covenant_id', '||--o{', 'covenant_utxos.covenant_id'],
  ['transactions.transaction_id', '||--o{', 'covenant_events.transaction_id'],
  ['program_templates.template', '||--o{', 'programs.template'],
  ['program_templates.template', '||--o{', 'covenants.template'],
] as const;

/**
 * Returns a mermaid diagram. `types` has the type of each `view.column`. Throws if a relation names
 * an unknown column.
 */
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
    ...RELATIONS.map(([one, many, of]) => `  ${viewOf(one)} ${many} ${viewOf(of)} : ${columnOf(of)}`),
    ...entities.flat(),
    '```',
  ].join('\n');
}

const viewOf = (end: string): string => end.split('.')[0] ?? '';
const columnOf = (end: string): string => end.split('.')[1] ?? '';
