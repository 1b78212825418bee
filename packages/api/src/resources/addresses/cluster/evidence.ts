/** Why two addresses are in one cluster: the transactions on the way from one to the other, each with inputs of both its ends. */
import type { Reading } from '../../../index-state/state.ts';
import { findScriptId } from '../find-script.ts';
import { findLinks } from './find-links.ts';
import { isMember, listAddressesOf, listIdsOf, loadMembers } from './queries.ts';
import { type EvidenceJson, MAX_LINKS } from './schemas.ts';

/** An address of the path, seen or not, and what it is in, if it is in any. */
export interface Subject {
  address: string;
  scriptId: bigint | undefined;
  clusterId: bigint | undefined;
}

export async function getEvidence({ db }: Reading, subject: Subject, other: string): Promise<EvidenceJson> {
  const answer = { address: other, isSameCluster: true, links: [], truncated: false };
  if (other === subject.address) return answer;
  const { scriptId: from, clusterId } = subject;
  const to = await findScriptId(db, other);
  if (from === undefined || to === undefined || clusterId === undefined || !(await isMember(db, to, clusterId))) {
    return { ...answer, isSameCluster: false };
  }
  const { links, isTruncated } = await findLinks({ from, to }, (scriptIds) => loadMembers(db, scriptIds), MAX_LINKS);
  const addresses = await listAddressesOf(db, [...new Set(links.flatMap(({ scriptIds }) => scriptIds))]);
  const ids = await listIdsOf(
    db,
    links.map(({ transactionId }) => transactionId),
  );
  return {
    ...answer,
    links: links.map(({ transactionId, scriptIds }) => ({
      transactionId: ids.get(transactionId) ?? '',
      addresses: scriptIds.map((scriptId) => addresses.get(scriptId) ?? ''),
      heuristic: 'common-input',
    })),
    truncated: isTruncated,
  };
}
