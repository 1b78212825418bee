/**
 * GET /v1/addresses/{address}/cluster: the addresses that common inputs assign to one owner, and
 * the evidence.
 */
import {
  addressInput,
  type Db,
  findScriptId,
  requireCaughtUp,
  requireNetwork,
  requireNetworkOfCursor,
} from '@kasgres/reads';
import { z } from 'zod';
import { indexRoute } from '../../../openapi/route.ts';
import { readPage } from '../../../pages/read-page.ts';
import { groupRows, lookUp } from '../../shared.ts';
import { findLinks } from './find-links.ts';
import {
  findCluster,
  findClusteredTo,
  findMember,
  getUnclustered,
  listAttributions,
  listChangeLinks,
  listMembers,
  listNamedMembers,
  listNames,
  loadLinks,
  loadMembers,
} from './queries.ts';
import { type ClusterJson, type ClusterQuery, clusterPage, type EvidenceJson, MAX_LINKS, query } from './schemas.ts';

interface Subject {
  address: string;
  scriptId: bigint | undefined;
  /** The root of its cluster, if it has one. */
  rootId?: bigint;
}

async function describeNames(
  db: Db,
  names: readonly { name: string; addresses: number }[],
  named: readonly { name: string; address: string }[],
): Promise<ClusterJson['names']> {
  const attributionsOf = groupRows(await listAttributions(db, named), (row) => row.tagName);
  return names.map(({ name, addresses }) => ({
    name,
    addresses,
    attributions: attributionsOf(name).map(({ tagName: _tagName, ...attribution }) => attribution),
  }));
}

async function describeCluster(db: Db, address: string, request: ClusterQuery) {
  const scriptId = await findScriptId(db, address);
  const found = scriptId === undefined ? undefined : await findCluster(db, scriptId);
  if (found === undefined) return await describeUnclustered(db, { address, scriptId }, request);
  const { rootId, ...cluster } = found;
  const names = await listNames(db, rootId);
  return {
    cluster: { ...cluster, names: await describeNames(db, names, await listNamedMembers(db, rootId, names)) },
    members: await readPage(request, {
      findPosition: (cursor) => findMember(db, cursor, rootId),
      list: (slice) => listMembers(db, rootId, slice),
    }),
    subject: { address, scriptId, rootId },
  };
}

/** Describes an address without a cluster as a cluster of one member, which has no rows. */
async function describeUnclustered(db: Db, subject: Subject, request: ClusterQuery) {
  const { address, scriptId } = subject;
  const member = await getUnclustered(db, address, scriptId);
  const { balance, tag } = member;
  const tags = tag === null ? [] : [tag];
  const ownName = tags.map(({ name }) => ({ name, addresses: 1 }));
  const names = await describeNames(db, ownName, tags);
  const { name = null, link = '', labels = [] } = tag ?? {};
  return {
    cluster: { id: address, size: 1, balance, name, link, labels, names },
    members: await readPage(request, {
      findPosition: async (cursor) => (cursor === address ? cursor : undefined),
      list: async ({ from }) => (from === undefined ? [member] : []),
    }),
    subject,
  };
}

async function getEvidence(db: Db, { address, scriptId: from, rootId }: Subject, other: string): Promise<EvidenceJson> {
  const evidence = { address: other, isSameCluster: true, links: [], truncated: false };
  if (other === address) return evidence;
  const to = rootId === undefined ? undefined : await findMember(db, other, rootId);
  if (from === undefined || to === undefined) return { ...evidence, isSameCluster: false };
  const { links, isTruncated } = await findLinks({ from, to }, (scriptIds) => loadMembers(db, scriptIds), MAX_LINKS);
  return { ...evidence, links: await loadLinks(db, links), truncated: isTruncated };
}

export const getAddressCluster = indexRoute(
  {
    ...lookUp('Address', '/v1/addresses/:address/cluster', 'getAddressCluster'),
    summary: 'Cluster of an address by common inputs: names, members and evidence',
    cost: 0.5,
    tagOf: 'content',
    params: z.strictObject({ address: addressInput }),
    query,
    response: clusterPage,
    errors: [404],
  },
  async ({ db, state }, { params: { address }, query }) => {
    const { evidence_for: other } = query;
    requireNetwork(state.network, address, 'address');
    requireNetworkOfCursor(state.network, query);
    if (other !== undefined) requireNetwork(state.network, other, 'evidence_for');
    requireCaughtUp(state);
    const { cluster, members, subject } = await describeCluster(db, address, query);
    return {
      cluster: { ...cluster, clusteredTo: await findClusteredTo(db) },
      members: members.rows,
      metadata: members.metadata,
      evidence: other === undefined ? null : await getEvidence(db, subject, other),
      changeSuggestions: subject.scriptId === undefined ? [] : await listChangeLinks(db, subject.scriptId),
    };
  },
);
