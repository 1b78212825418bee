/** Addresses of the simulated network that a person can start from: large owners, with names for their addresses. */
import { type AddressPrefix, scriptToAddress } from '@kasgres/kaspa';
import type { Keyring, Owner } from './keyring.ts';

export interface Landmark {
  address: string;
  name: string;
  link: string;
  labels: string[];
}

const EXCHANGES = ['Harbour Exchange', 'Lighthouse Trading', 'Old Mill Markets', 'Riverbank UTXOs'];
const POOLS = ['Granite Pool', 'Copper Pool', 'Basalt Pool', 'Slate Pool', 'Marble Pool', 'Flint Pool'];

/** The busiest first. */
export function landmarks(keyring: Keyring, prefix: AddressPrefix): Landmark[] {
  return [
    ...name(keyring.exchanges, EXCHANGES, 'exchange', prefix),
    ...name(keyring.miners, POOLS, 'mining-pool', prefix),
  ];
}

/** Owners beyond the names stay without one. */
function name(owners: readonly Owner[], names: readonly string[], label: string, prefix: AddressPrefix): Landmark[] {
  return names.flatMap((name, index) => {
    const key = owners[index]?.keys[0];
    const address = key && scriptToAddress(key.scriptPublicKey, prefix);
    if (address === undefined) return [];
    const page = name.toLowerCase().replaceAll(' ', '-');
    return [{ address, name, link: `https://example.com/${page}`, labels: [label] }];
  });
}
