/** GET /v1/addresses/{address}/cluster: the addresses that common inputs assign to one owner, and the evidence. */
import { findScriptId } from '../../../index-state/sql.ts';
import { type Reading, requireCaughtUp } from '../../../index-state/state.ts';
import { type Page, readPage } from '../../../pages/read-page.ts';
import { indexRoute } from '../../../route.ts';
import { requireNetwork, requireNetworkOfCursor } from '../../../schemas/address.ts';
import { findLinks } from './find-links.ts';
import {
  type AttributionRow,
  type ClusterRow,
  findCluster,
  findClusteredTo,
  getUnclustered,
  isMember,
  listAddressesOf,
  listAttributions,
  listChangeLinks,
  listIdsOf,
  listMembers,
  listNamedMembers,
  listNames,
  loadMembers,
  type MemberRow,
  type NameRow,
} from './queries.ts';
import {
  type ClusterJson,
  type ClusterMemberJson,
  type ClusterNameJson,
  type ClusterPageJson,
  type ClusterQuery,
  clusterPage,
  type EvidenceJson,
  MAX_LINKS,
  params,
  query,
} from './schemas.ts';

function toMember(row: MemberRow): ClusterMemberJson {
  const { address, name, link, labels } = row;
  return {
    address,
    balance: String(row.balance),
    tag: name === null ? null : { address, name, link: link ?? '', labels: labels ?? [] },
    automaticLabels: row.automatic_labels,
  };
}

function toNames(names: readonly NameRow[], attributions: readonly AttributionRow[]): ClusterNameJson[] {
  const byName = Map.groupBy(attributions, (row) => row.tag_name);
  return names.map(({ name, addresses }) => ({
    name,
    addresses: Number(addresses),
    attributions: (byName.get(name) ?? []).map(({ tag_name: _name, confidence_level, addresses, ...attribution }) => ({
      ...attribution,
      confidenceLevel: confidence_level,
      addresses: Number(addresses),
    })),
  }));
}

interface ClusterWithMembers {
  cluster: Omit<ClusterJson, 'clusteredTo'>;
  members: Page<MemberRow>;
}

async function describeCluster({ db }: Reading, row: ClusterRow, request: ClusterQuery): Promise<ClusterWithMembers> {
  const names = await listNames(db, row.id);
  const named = await listNamedMembers(
    db,
    row.id,
    names.map(({ name }) => name),
  );
  const { address, name, link, labels } = row;
  return {
    cluster: {
      id: address,
      size: Number(row.size),
      balance: String(row.balance),
      name,
      link,
      labels,
      names: toNames(names, await listAttributions(db, named)),
    },
    members: await readPage(request, {
      findPosition: async (cursor) => {
        const scriptId = await findScriptId(db, cursor);
        return scriptId !== undefined && (await isMember(db, scriptId, row.id)) ? scriptId : undefined;
      },
      list: (slice) => listMembers(db, row.id, slice),
    }),
  };
}

/** Describes an address without a cluster as a cluster of one member, which has no rows. */
async function describeUnclustered(
  { db }: Reading,
  address: string,
  scriptId: bigint | undefined,
  request: ClusterQuery,
): Promise<ClusterWithMembers> {
  const row = await getUnclustered(db, address, scriptId);
  const { tag, balance } = toMember(row);
  const names = tag === null ? [] : [{ name: tag.name, addresses: 1n }];
  const attributions = await listAttributions(db, tag === null ? [] : [tag]);
  return {
    cluster: {
      id: address,
      size: 1,
      balance,
      name: tag?.name ?? null,
      link: tag?.link ?? '',
      labels: tag?.labels ?? [],
      names: toNames(names, attributions),
    },
    members: await readPage(request, {
      findPosition: async (cursor) => (cursor === address ? cursor : undefined),
      list: async ({ from }) => (from === undefined ? [row] : []),
    }),
  };
}

/** The requested address, with its script and cluster if it has any. */
interface Subject {
  address: string;
  scriptId: bigint | undefined;
  clusterId: bigint | undefined;
}

/** Lists the transactions that link two addresses of a cluster, each with inputs of both its ends. */
async function getEvidence({ db }: Reading, subject: Subject, other: string): Promise<EvidenceJson> {
  const evidence = { address: other, isSameCluster: true, links: [], truncated: false };
  if (other === subject.address) return evidence;
  const { scriptId: from, clusterId } = subject;
  const to = await findScriptId(db, other);
  if (from === undefined || to === undefined || clusterId === undefined || !(await isMember(db, to, clusterId))) {
    return { ...evidence, isSameCluster: false };
  }
  const { links, isTruncated } = await findLinks({ from, to }, (scriptIds) => loadMembers(db, scriptIds), MAX_LINKS);
  const addresses = await listAddressesOf(db, [...new Set(links.flatMap(({ scriptIds }) => scriptIds))]);
  const ids = await listIdsOf(
    db,
    links.map(({ transactionId }) => transactionId),
  );
  return {
    ...evidence,
    links: links.map(({ transactionId, scriptIds }) => ({
      transactionId: ids.get(transactionId) ?? '',
      addresses: scriptIds.map((scriptId) => addresses.get(scriptId) ?? ''),
      heuristic: 'common-input',
    })),
    truncated: isTruncated,
  };
}

async function getPage(reading: Reading, address: string, request: ClusterQuery): Promise<ClusterPageJson> {
  const { db, state } = reading;
  const { evidence_for: other } = request;
  requireNetwork(state.network, address, 'address');
  requireNetworkOfCursor(state.network, request);
  if (other !== undefined) requireNetwork(state.network, other, 'evidence_for');
  requireCaughtUp(state);

  const scriptId = await findScriptId(db, address);
  const row = scriptId === undefined ? undefined : await findCluster(db, scriptId);
  const { cluster, members } =
    row === undefined
      ? await describeUnclustered(reading, address, scriptId, request)
      : await describeCluster(reading, row, request);
  const subject = { address, scriptId, clusterId: row?.id };
  const changeLinks = scriptId === undefined ? [] : await listChangeLinks(db, scriptId);
  return {
    cluster: { ...cluster, clusteredTo: (await findClusteredTo(db)) ?? null },
    members: members.rows.map(toMember),
    metadata: members.metadata,
    evidence: other === undefined ? null : await getEvidence(reading, subject, other),
    changeSuggestions: changeLinks,
  };
}

export const getAddressCluster = indexRoute(
  {
    method: 'GET',
    url: '/v1/addresses/:address/cluster',
    operationId: 'getAddressCluster',
    summary: 'Cluster of an address by common inputs: names, members and evidence',
    tag: 'Address',
    cost: 0.5,
    tagOf: 'content',
    params,
    query,
    response: clusterPage,
    errors: [404],
  },
  (reading, { params, query }) => getPage(reading, params.address, query),
);
