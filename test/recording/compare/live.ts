/**
 * What the API asks the node for. The replay's own answers are compared here: that they are the recorded ones is the replay's
 * own test.
 */
import type { NodeClient } from '@kasgres/node';
import { compareMempoolByAddresses, compareMempoolEntries, compareTemplate } from '../../node/compare/mempool.ts';
import { Findings, requests, type Harness, statusOf } from './harness.ts';

export async function compareNetwork(harness: Harness): Promise<Findings> {
  const findings = new Findings();
  for (const { response } of requests(harness, 'getCurrentNetwork')) {
    const answer = await harness.api.get('/v1/rpc/getCurrentNetwork');
    findings.compare('network', answer, { body: { network: response.currentNetwork } });
  }
  return findings;
}

/** For every id and every address of this network that was asked for at the checkpoint. */
export async function compareMempool(harness: Harness, client: NodeClient): Promise<Findings> {
  const findings = new Findings();
  const isOurs = (address: string) => address.startsWith(`${harness.node.network.addressPrefix}:`);
  const askedIds = requests(harness, 'getMempoolEntry').map(({ request }) => request.txId);
  const askedAddresses = requests(harness, 'getMempoolEntriesByAddresses')
    .filter(({ response }) => response.error === undefined)
    .flatMap(({ request }) => request.addresses);
  const ids = [...new Set(askedIds.filter((id) => /^[0-9a-f]{64}$/.test(id)))];
  const addresses = [...new Set(askedAddresses.filter(isOurs))];
  findings.add(await compareMempoolEntries(client, harness.api, ids), ids.length);
  findings.add(await compareMempoolByAddresses(client, harness.api, addresses), addresses.length);
  return findings;
}

export async function compareTemplates(harness: Harness, client: NodeClient): Promise<Findings> {
  const findings = new Findings();
  for (const { request, response } of requests(harness, 'getBlockTemplate')) {
    const { payAddress, extraData } = request;
    if (response.error === undefined) {
      findings.add(await compareTemplate(client, harness.api, { payAddress, extraData }), 1);
    } else {
      const answer = await harness.api.post('/v1/rpc/getBlockTemplate', { payAddress, extraData });
      findings.compare(`template for ${payAddress}`, answer, { status: statusOf(response.error.message) });
    }
  }
  return findings;
}
