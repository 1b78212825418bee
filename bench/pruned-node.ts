/**
 * A simulated node at rest that has pruned its chain, and a peer that serves a generated UTXO set
 * at its pruning point. Above that, transactions spend two UTXOs each, half of which are of that
 * set, and pay a new script and one that spends. `npm run bench:sync -- --pruned MILLIONS` starts
 * it; alone:
 *
 *   node bench/pruned-node.ts [--utxos 2000000] [--transactions 150000]
 *   NODE_URL=<the printed URL> NODE_P2P_URL=<the other one> npm run bench:sync
 */
import {
  buildTransaction,
  createdEntries,
  type DagTransaction,
  digest,
  NodeServer,
  outpointKey,
  payToKey,
  Random,
  UtxoSetServer,
  type UtxoEntry,
  withDerived,
} from '@kasgres/devnet';
import { commitmentOf, generateUtxo, generateUtxos } from './generated-set.ts';
import { readOptions } from './options.ts';
import { BEGINS_AT, network, StaticNode, takeAny } from './static-node.ts';

const TRANSACTIONS_PER_BLOCK = 20;
/** So many hours of blocks does a node keep. */
const HOURS = 30;
const REWARD = 1e8;
const FEE = 1_000;
const INPUTS = 2;
/** Smaller outputs are left alone. */
const LEAST = 10 * FEE;

const { utxos, transactions } = readOptions({ utxos: 2e6, transactions: 150_000 });
const blocks = Math.ceil(transactions / TRANSACTIONS_PER_BLOCK);
const blockMs = Math.ceil((HOURS * 3_600_000) / Math.max(blocks, 1));
const random = new Random('pruned', 'bench');
const utxoCommitment = await commitmentOf(utxos);
const node = new StaticNode(blockMs, { blueScore: 1n, timestamp: BigInt(BEGINS_AT), utxoCommitment });
/** Outputs above the pruning point that are not spent yet. */
const live: UtxoEntry[] = [];
let spentOfSet = 0;

for (let number = 1; number <= blocks; number += 1) {
  const payments = Array.from({ length: TRANSACTIONS_PER_BLOCK }, (_, index) => pay(`${number} ${index}`));
  mine(payments);
  // A transaction spends only outputs of blocks below its own.
  const created = payments.flatMap((payment) => createdEntries(payment, number, false));
  live.push(...created.filter(({ amount }) => amount >= LEAST));
}
// It accepts the transactions of the last one.
mine([]);

const server = await NodeServer.start({ state: node.state() });
const peer = await UtxoSetServer.start({
  network: network.id,
  set: () => ({
    pruningPointHash: node.firstHash,
    utxos: { [Symbol.iterator]: () => generateUtxos(0, utxos, utxos) },
  }),
});
console.log(`NODE_URL=${server.url} NODE_P2P_URL=${peer.url}`);
process.send?.({ url: server.url, p2pUrl: peer.url });

function mine(payments: readonly DagTransaction[]): void {
  node.mine({ subsidy: REWARD, rewards: [{ amount: REWARD, scriptPublicKey: node.miner }], payments });
}

function pay(name: string): DagTransaction {
  const entries = Array.from({ length: INPUTS }, () => takeAnyLive() ?? takeOfSet());
  const amount = entries.reduce((sum, entry) => sum + Number(entry.amount), 0) - FEE;
  const paid = Math.floor(amount / 3);
  const [{ scriptPublicKey }] = entries as [UtxoEntry];
  const outputs = [
    { amount: paid, scriptPublicKey: payToKey(digest([name])) },
    { amount: amount - paid, scriptPublicKey },
  ];
  const inputs = entries.map((entry) => ({ entry, redeemScript: undefined }));
  return withDerived(buildTransaction({ version: 0, utxos: inputs, outputs, payload: Buffer.alloc(0) }));
}

function takeAnyLive(): UtxoEntry | undefined {
  return live.length < TRANSACTIONS_PER_BLOCK || random.chance(1 / 2) ? undefined : takeAny(live, random);
}

/** The spent UTXOs are spread evenly over the set. */
function takeOfSet(): UtxoEntry {
  const stride = Math.floor(utxos / (blocks * TRANSACTIONS_PER_BLOCK * INPUTS));
  if (stride === 0) throw new Error(`${transactions} transactions may spend more than ${utxos} UTXOs`);
  spentOfSet += 1;
  const utxo = generateUtxo(spentOfSet * stride, utxos);
  return { ...utxo, key: outpointKey(utxo.outpoint) };
}
