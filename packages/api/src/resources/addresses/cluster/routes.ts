/** GET /v1/addresses/{address}/cluster: the addresses that belong to the same owner, as far as common inputs tell, and why. */
import { respondByContent } from '../../../index-state/answer.ts';
import { type Reading, requireCaughtUp } from '../../../index-state/state.ts';
import { type Page, readPage } from '../../../pages/read-page.ts';
import { requireNetwork, requireNetworkOfCursor } from '../../../schemas/address.ts';
import { answers, UNDER_KEY } from '../../../schemas/responses.ts';
import type { ApiPlugin } from '../../../services.ts';
import type { z } from 'zod';
import { findScriptId } from '../find-script.ts';
import { getEvidence } from './evidence.ts';
import {
  type ClusterRow,
  findCluster,
  findClusteredTo,
  getAlone,
  isMember,
  listAttributions,
  listChangeLinks,
  listMembers,
  listNamedMembers,
  listNames,
  type MemberRow,
} from './queries.ts';
import { type ClusterJson, type ClusterPageJson, clusterPage, params, query } from './schemas.ts';
import { toChangeSuggestion, toMember, toNames } from './to-cluster.ts';

type Query = z.infer<typeof query>;
type Described = Omit<ClusterJson, 'clusteredTo'>;

interface Company {
  described: Described;
  members: Page<MemberRow>;
}

async function describeCluster(reading: Reading, cluster: ClusterRow, request: Query): Promise<Company> {
  const { db } = reading;
  const names = await listNames(db, cluster.id);
  const named = await listNamedMembers(
    db,
    cluster.id,
    names.map(({ name }) => name),
  );
  const { address: id, name, link, labels } = cluster;
  return {
    described: {
      id,
      size: Number(cluster.size),
      balance: String(cluster.balance),
      name,
      link,
      labels,
      names: toNames(names, await listAttributions(db, named)),
    },
    members: await listPage(reading, cluster, request),
  };
}

async function listPage({ db }: Reading, { id }: ClusterRow, request: Query): Promise<Page<MemberRow>> {
  return await readPage(request, {
    findPosition: async (cursor) => {
      const scriptId = await findScriptId(db, cursor);
      return scriptId !== undefined && (await isMember(db, scriptId, id)) ? scriptId : undefined;
    },
    list: (slice) => listMembers(db, id, slice),
  });
}

/** Who stands alone is a cluster of one that has no rows. */
async function describeAlone(
  { db }: Reading,
  address: string,
  scriptId: bigint | undefined,
  request: Query,
): Promise<Company> {
  const alone = await getAlone(db, address, scriptId);
  const { tag, balance } = toMember(alone);
  const names = tag === null ? [] : [{ name: tag.name, addresses: 1n }];
  const attributions = await listAttributions(db, tag === null ? [] : [tag]);
  return {
    described: {
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
      list: async ({ from }) => (from === undefined ? [alone] : []),
    }),
  };
}

async function getPage(reading: Reading, address: string, request: Query): Promise<ClusterPageJson> {
  const { db, state } = reading;
  const { evidence_for: other } = request;
  requireNetwork(state.network, address, 'address');
  requireNetworkOfCursor(state.network, request);
  if (other !== undefined) requireNetwork(state.network, other, 'evidence_for');
  requireCaughtUp(state);

  const scriptId = await findScriptId(db, address);
  const cluster = scriptId === undefined ? undefined : await findCluster(db, scriptId);
  const { described, members } =
    cluster === undefined
      ? await describeAlone(reading, address, scriptId, request)
      : await describeCluster(reading, cluster, request);
  const subject = { address, scriptId, clusterId: cluster?.id };
  const changeLinks = scriptId === undefined ? [] : await listChangeLinks(db, scriptId);
  return {
    cluster: { ...described, clusteredTo: (await findClusteredTo(db)) ?? null },
    members: members.rows.map(toMember),
    metadata: members.metadata,
    evidence: other === undefined ? null : await getEvidence(reading, subject, other),
    changeSuggestions: changeLinks.map(toChangeSuggestion),
  };
}

export const clusterRoutes: ApiPlugin = async (app, { index }) => {
  app.get(
    '/v1/addresses/:address/cluster',
    {
      config: { cost: 0.5 },
      schema: {
        operationId: 'getAddressCluster',
        summary: 'Addresses that belong together by common inputs, their names, and why two of them do',
        tags: ['Address'],
        params,
        querystring: query,
        response: answers(clusterPage, 304, ...UNDER_KEY, 400, 404),
      },
    },
    (request, reply) =>
      respondByContent(index, request, reply, (reading) => getPage(reading, request.params.address, request.query)),
  );
};
