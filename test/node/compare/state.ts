/**
 * Every balance, every UTXO and the supply of an index against a node at rest. The node's are those of its virtual block: they are
 * recorded, one block is mined on the node's template, whose mergeset is what the virtual block would have merged, and compared then
 * (DESIGN.md §6).
 */
import type { Pool } from 'pg';
import { scriptToAddress } from '@kasgres/kaspa';
import type { NodeClient } from '@kasgres/node';
import type { Load } from '../load/load.ts';
import { mineTemplate } from '../load/miner.ts';
import { schnorrOwner } from '../load/owner.ts';
import { type Utxos, recordUtxos } from './utxos.ts';
import { firstDifference } from './first-difference.ts';
import { readDag } from './node-dag.ts';

export interface StateToCompare {
  /** Started after its last reorganisation: its supply is a maximum. */
  node: NodeClient;
  pool: Pool;
  loads: readonly Load[];
  untilIndexed: () => Promise<void>;
}

const miner = schnorrOwner(new Uint8Array(32).fill(2));

/** By outpoint: all that the index keeps of a UTXO. */
type UtxoTexts = Record<string, string>;

/** What is wrong, a sentence each. */
export async function compareState({ node, pool, loads, untilIndexed }: StateToCompare): Promise<string[]> {
  const addresses = await findAddresses(node, pool, loads);
  const recorded = await recordUtxos(node, addresses, { isSupplyExact: true });
  const { virtualParentHashes } = await node.call('getBlockDagInfo', {});
  await mineTemplate(node, miner);
  await untilIndexed();
  const { sink } = await node.call('getSink', {});
  const { block } = await node.call('getBlock', { hash: sink, includeTransactions: false });
  const parents = block?.header?.parents[0]?.parentHashes.toSorted().join();
  if (parents !== virtualParentHashes.toSorted().join()) return ['somebody else has mined'];

  const balances = await storedBalances(pool);
  const ofNode = Object.fromEntries([...recorded.balances].filter(([, balance]) => balance > 0n));
  const withoutAddress = balances.get(null) ?? 0n;
  const total = [...balances.values()].reduce((sum, balance) => sum + balance, 0n);
  balances.delete(null);
  const { rows } = await pool.query<{ circulating: string }>(
    'select circulating_sompi::text as circulating from checkpoint',
  );
  const wrong = [
    ['balance', firstDifference(ofNode, Object.fromEntries(balances))],
    ['utxo', firstDifference(utxosOfNode(recorded), await storedUtxos(pool))],
    ['supply', firstDifference(recorded.circulatingSompi, BigInt(rows[0]?.circulating ?? -1))],
    ['sum of all balances', firstDifference(recorded.circulatingSompi, total)],
    [
      'what scripts without an address hold',
      firstDifference(
        recorded.circulatingSompi - Object.values(ofNode).reduce((sum, balance) => sum + balance, 0n),
        withoutAddress,
      ),
    ],
  ].flatMap(([what, difference]) => (difference === undefined ? [] : [`${what}: ${difference}`]));
  return Object.keys(ofNode).length === 0 ? ['nobody holds anything', ...wrong] : wrong;
}

/** All that the load, the blocks of the node and the index know: the index may lack some, and have too many. */
async function findAddresses(node: NodeClient, pool: Pool, loads: readonly Load[]): Promise<string[]> {
  const ofLoads = loads
    .flatMap(({ wallet }) => wallet.scripts)
    .flatMap((script) => scriptToAddress(script, 'kaspasim') ?? []);
  const { rows } = await pool.query<{ address: string }>('select address from scripts where address is not null');
  const dag = await readDag(node);
  return [...new Set([...ofLoads, ...dag.addresses, ...rows.map(({ address }) => address)])];
}

/** Of everyone who holds something; null stands for all scripts without an address. */
async function storedBalances(pool: Pool): Promise<Map<string | null, bigint>> {
  const { rows } = await pool.query<{ address: string | null; balance: string }>(
    `select s.address, sum(b.balance)::text as balance from balances b join scripts s on s.id = b.script_id
     group by s.address having sum(b.balance) <> 0`,
  );
  return new Map(rows.map(({ address, balance }) => [address, BigInt(balance)]));
}

async function storedUtxos(pool: Pool): Promise<UtxoTexts> {
  const { rows } = await pool.query<{ outpoint: string; utxo: string }>(
    `select encode(coalesce(t.transaction_id, e.transaction_id), 'hex') || ':' || u.index as outpoint,
       concat_ws(' ', s.address, s.version, encode(s.script, 'hex'), u.amount, u.block_daa_score, u.is_coinbase) as utxo
     from utxos u join scripts s on s.id = u.script_id
     left join transactions t on t.id = u.transaction_id
     left join earlier_transactions e on e.id = u.transaction_id
     where s.address is not null`,
  );
  return Object.fromEntries(rows.map(({ outpoint, utxo }) => [outpoint, utxo]));
}

function utxosOfNode({ utxos }: Utxos): UtxoTexts {
  return Object.fromEntries(
    [...utxos.values()].flat().map(({ address, outpoint, utxoEntry: entry }) => {
      const { version, scriptPublicKey } = entry?.scriptPublicKey ?? { version: -1, scriptPublicKey: '' };
      const isCoinbase = entry?.isCoinbase === true ? 't' : 'f';
      return [
        `${outpoint?.transactionId}:${outpoint?.index}`,
        [address, version, scriptPublicKey, entry?.amount, entry?.blockDaaScore, isCoinbase].join(' '),
      ];
    }),
  );
}
