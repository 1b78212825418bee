/**
 * Expected balances, UTXOs and histories of addresses, computed from the DAG of the simulated node.
 */
import { acceptedBy, type DagTransaction } from '@kasgres/devnet';
import { type Outpoint, scriptToAddress, type ScriptPublicKey, toHex, type Utxo } from '@kasgres/kaspa';
import { utxosAtSink, sumOf } from '../support/oracle.ts';
import type { Harness } from './harness.ts';

export interface Change {
  /** The latest time of the chain up to the accepting block, Unix milliseconds. */
  time: number;
  amount: bigint;
}

export interface Accounts {
  /** Every address in a block, accepted or not. */
  addresses: string[];
  /** Addresses with a balance, richest first. Equal balances have no order. */
  holders: string[];
  /** Unspent at the sink. */
  utxos: (address: string) => readonly Utxo[];
  balance: (address: string) => bigint;
  changes: (address: string) => readonly Change[];
  /** Ids of the transactions that spend from it or pay to it, accepted or not. */
  transactions: (address: string) => ReadonlySet<string>;
  /** UTXOs at the sink whose script has no address. */
  utxosWithoutAddress: readonly Utxo[];
}

const NO_ADDRESS = '';

/** Computes the accounts from every block that the index at rest knows. */
export async function openAccounts({ simulatedDag, database }: Harness): Promise<Accounts> {
  const { dag, network } = simulatedDag.node;
  const addressOf = (script: ScriptPublicKey): string => scriptToAddress(script, network.addressPrefix) ?? NO_ADDRESS;
  const outputOf = ({ transactionId, index }: Outpoint) => dag.findTransaction(toHex(transactionId))?.outputs[index];
  const movements = ({ inputs, outputs }: DagTransaction): [string, bigint][] => [
    ...inputs
      .flatMap(({ previousOutpoint }) => outputOf(previousOutpoint) ?? [])
      .map((utxo): [string, bigint] => [addressOf(utxo.scriptPublicKey), 0n - utxo.amount]),
    ...outputs.map((utxo): [string, bigint] => [addressOf(utxo.scriptPublicKey), utxo.amount]),
  ];

  const utxos = Map.groupBy(utxosAtSink(dag).all(), ({ scriptPublicKey }) => addressOf(scriptPublicKey));
  const changes = new Map<string, Change[]>();
  let time = 0;
  for (const block of dag.chainBlocks) {
    time = Math.max(time, Number(block.header.timestamp));
    for (const [address, amount] of acceptedBy(block).flatMap(({ transaction }) => movements(transaction))) {
      changes.set(address, changes.get(address) ?? []);
      changes.get(address)?.push({ time, amount });
    }
  }
  const transactions = new Map<string, Set<string>>();
  const { rows } = await database.pool.query<{ hash: string }>(`select encode(hash, 'hex') as hash from blocks`);
  for (const transaction of rows.flatMap(({ hash }) => dag.get(hash).transactions)) {
    for (const [address] of movements(transaction)) {
      const ids = transactions.get(address) ?? new Set();
      transactions.set(address, ids.add(toHex(transaction.transactionId)));
    }
  }

  const isAddress = (address: string): boolean => address !== NO_ADDRESS;
  const balance = (address: string): bigint => sumOf(utxos.get(address) ?? []);
  return {
    addresses: [...transactions.keys()].filter(isAddress),
    holders: [...utxos.keys()].filter(isAddress).toSorted((a, b) => compare(balance(b), balance(a))),
    utxos: (address) => utxos.get(address) ?? [],
    balance,
    changes: (address) => changes.get(address) ?? [],
    transactions: (address) => transactions.get(address) ?? new Set(),
    utxosWithoutAddress: utxos.get(NO_ADDRESS) ?? [],
  };
}

/** Returns some addresses of each kind: rich ones, empty ones, and others. */
export function someAddresses({ addresses, holders, balance, changes }: Accounts, ofEach: number): string[] {
  const emptied = addresses.filter((address) => balance(address) === 0n && changes(address).length > 0);
  const step = Math.ceil(addresses.length / ofEach);
  const others = addresses.filter((_, place) => place % step === 0);
  return [...new Set([...holders.slice(0, ofEach), ...emptied.slice(0, ofEach), ...others])];
}

const compare = (a: bigint, b: bigint): number => (a === b ? 0 : a < b ? -1 : 1);

/** Addresses of this and of another network that are in no block. */
export const STRANGER = 'kaspasim:qr559rjklgdt576fdeuydxqjnsz7ycqj770ys3gr7dn7p3u96ula76nheyd3t';
export const OTHER_NETWORK = 'kaspa:qqkqkzjvr7zwxxmjxjkmxxdwju9kjs6e9u82uh59z07vgaks6gg62v8707g73';
