/**
 * What the API asks the node for. The replay's own answers are compared here: that they are the recorded ones is the replay's
 * own test.
 */
import type { NodeClient } from '@kasgres/node';
import { compareMempoolByAddresses, compareMempoolEntries, compareTemplate } from '../../node/compare/mempool.ts';
import { Findings, questions, type Stage, statusOf } from './stage.ts';

export async function compareNetwork(stage: Stage): Promise<Findings> {
  const findings = new Findings();
  for (const { response } of questions(stage, 'getCurrentNetwork')) {
    const answer = await stage.api.get('/v1/rpc/getCurrentNetwork');
    findings.compare('network', answer, { body: { network: response.currentNetwork } });
  }
  return findings;
}

/** For every id and every address of this network that was asked for at the checkpoint. */
export async function compareMempool(stage: Stage, client: NodeClient): Promise<Findings> {
  const findings = new Findings();
  const isOurs = (address: string) => address.startsWith(`${stage.node.network.addressPrefix}:`);
  const askedIds = questions(stage, 'getMempoolEntry').map(({ request }) => request.txId);
  const askedAddresses = questions(stage, 'getMempoolEntriesByAddresses')
    .filter(({ response }) => response.error === undefined)
    .flatMap(({ request }) => request.addresses);
  const ids = [...new Set(askedIds.filter((id) => /^[0-9a-f]{64}$/.test(id)))];
  const addresses = [...new Set(askedAddresses.filter(isOurs))];
  findings.add(await compareMempoolEntries(client, stage.api, ids), ids.length);
  findings.add(await compareMempoolByAddresses(client, stage.api, addresses), addresses.length);
  return findings;
}

export async function compareTemplates(stage: Stage, client: NodeClient): Promise<Findings> {
  const findings = new Findings();
  for (const { request, response } of questions(stage, 'getBlockTemplate')) {
    const { payAddress, extraData } = request;
    if (response.error === undefined) {
      findings.add(await compareTemplate(client, stage.api, { payAddress, extraData }), 1);
    } else {
      const answer = await stage.api.post('/v1/rpc/getBlockTemplate', { payAddress, extraData });
      findings.compare(`template for ${payAddress}`, answer, { status: statusOf(response.error.message) });
    }
  }
  return findings;
}
