/** Reads of a mempool that mempool-node.ts makes large. */
import { type Attack, type Attacker, onlyExpects, UNANSWERED, withKey } from './attack.ts';

/**
 * The node lists 27 pending transactions of 90 kB for each of these: more than a response may have.
 */
const ADDRESSES = 40;

async function listByAddresses(attacker: Attacker): Promise<void> {
  const body = JSON.stringify({ addresses: attacker.options.addresses.slice(0, ADDRESSES) });
  const headers = { 'x-api-key': attacker.key };
  await attacker.repeat(8, async () => await attacker.send('/v1/rpc/getMempoolEntriesByAddresses', headers, body));
}

export const MEMPOOL: readonly Attack[] = [
  {
    name: 'pending transactions of 40 addresses',
    keys: 1,
    run: listByAddresses,
    findFault: onlyExpects(400, 429, 503, 'error', UNANSWERED),
  },
  {
    name: 'polls of the mempool',
    keys: 1,
    run: (attacker) =>
      attacker.flood(
        30,
        withKey(attacker.key, [
          { path: '/v1/mempool' },
          { path: '/v1/rpc/getMempoolEntries' },
          {
            method: 'POST',
            path: '/v1/rpc/getMempoolEntries',
            body: '{"includeOrphanPool":true,"filterTransactionPool":false}',
          },
        ]),
      ),
  },
];
