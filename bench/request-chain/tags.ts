/** Names for a generated chain: of exchanges, pools, programs and some people. Who they are stands before it begins. */
import type { Tag } from '@kasgres/database';
import { scriptToAddress } from '@kasgres/kaspa';
import { RequestChain, type RequestChainOptions } from './chain.ts';

export function tagsOf(options: RequestChainOptions): Tag[] {
  const { economy, addresses, network } = new RequestChain(options);
  const { exchanges, miners, bots, people } = economy.known;
  const name = (owners: readonly number[], what: string, labels: string[]): Tag[] =>
    owners.flatMap((owner, rank) => {
      const address = scriptToAddress(addresses.scriptOf(owner), network.addressPrefix);
      return address === undefined ? [] : [{ address, name: `${what} ${rank + 1}`, link: '', labels }];
    });
  return [
    ...name(exchanges, 'Exchange', ['exchange']),
    ...name(miners, 'Pool', ['mining']),
    ...name(bots, 'Bot', ['service']),
    ...name(people, 'Person', ['wallet']),
  ];
}
