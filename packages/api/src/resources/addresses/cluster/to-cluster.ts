/** Rows of a cluster as the answer shows them. */
import type { AttributionRow, ChangeRow, MemberRow, NameRow } from './queries.ts';
import type { AttributionJson, ClusterMemberJson, ClusterNameJson, ClusterPageJson } from './schemas.ts';

export function toMember(row: MemberRow): ClusterMemberJson {
  const { address, name, link, labels } = row;
  return {
    address,
    balance: String(row.balance),
    tag: name === null ? null : { address, name, link: link ?? '', labels: labels ?? [] },
    automaticLabels: row.automatic_labels,
  };
}

export function toNames(names: readonly NameRow[], attributions: readonly AttributionRow[]): ClusterNameJson[] {
  const byName = Map.groupBy(attributions, (row) => row.tag_name);
  return names.map(({ name, addresses }) => ({
    name,
    addresses: Number(addresses),
    attributions: (byName.get(name) ?? []).map(toAttribution),
  }));
}

function toAttribution(row: AttributionRow): AttributionJson {
  const { source, creator, name, link, labels, category, confidence } = row;
  return {
    source,
    creator,
    name,
    link,
    labels,
    category,
    confidence,
    confidenceLevel: row.confidence_level,
    addresses: Number(row.addresses),
  };
}

export function toChangeSuggestion(row: ChangeRow): ClusterPageJson['changeSuggestions'][number] {
  return { address: row.address, transactionId: row.transaction_id, isChange: row.is_change };
}
