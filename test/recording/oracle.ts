/**
 * What is true at a checkpoint by plain accounting over the replayed DAG, in the form of a recording's `expected.json`: chain,
 * acceptance, containing blocks, balances, reorganisations, counts.
 */
import { acceptedBy, type DagBlock, type DagTransaction } from '@kasgres/devnet';
import { classifyScript, isCoinbase, scriptToAddress, toHex } from '@kasgres/kaspa';
import { utxosAtSink, sumOf } from './utxos.ts';
import { exchanges } from './recording.ts';
import type { ReplayNode } from './replay-node.ts';

export interface Reorg {
  checkpoint: string;
  fromSink: string;
  toSink: string;
  depth: number;
  /** From the old sink down. */
  removed: string[];
  /** Up to the new sink. */
  added: string[];
  /** Accepted before and not after. */
  txsUnaccepted: string[];
  coinbasesUnaccepted: string[];
  /** Accepted before and after, by other blocks. */
  txsMoved: { tx: string; from: string; to: string }[];
  /** Of those that were unaccepted: accepted again at the end, or not. */
  finallyAccepted: string[];
  neverAcceptedAgain: string[];
}

export type ReorgSoFar = Omit<Reorg, 'finallyAccepted' | 'neverAcceptedAgain'>;

export interface Oracle {
  network: string;
  genesis: string;
  finalSink: string;
  finalSinkBlueScore: number;
  circulatingSupply: { atSink: string; inNonStandardScriptsAtSink: string };
  /** From genesis, which is not in it, to the sink. */
  chainBlocks: string[];
  acceptedTxToAcceptingBlock: Record<string, string>;
  /** Sorted. */
  minedButNotAcceptedTxs: string[];
  /** Only ids that are in several blocks. */
  txToContainingBlocks: Record<string, string[]>;
  reorgs: Reorg[];
  /** Of all reorganisations, sorted. */
  unacceptedByReorgs: string[];
  balances: Record<string, { atSink: string; txCountAtSink: number }>;
  utxoCountAtSink: number;
  checkpoints: { name: string; sink: string }[];
  counts: Record<string, unknown>;
}

/** Collects the truth while a replay moves from checkpoint to checkpoint. */
export class OracleCollector {
  private readonly reorgs: ReorgSoFar[] = [];
  private readonly checkpoints: { name: string; sink: string }[] = [];
  private accepted: Map<string, string> = new Map();

  /** To be called at every checkpoint, the first included. Those that only ask about the mempool are left out. */
  visit(node: ReplayNode): void {
    const { name } = node.checkpoint;
    if (exchanges(node.checkpoint, 'getBlockDagInfo').length === 0) return;
    const sink = node.dag.sink.hash;
    const accepted = acceptingBlocks(node);
    const last = this.checkpoints.at(-1);
    if (last !== undefined && node.change.removed.length > 0 && last.sink !== sink) {
      const chain = { removed: hashesOf(node.change.removed), added: hashesOf(node.change.added) };
      const isCoinbaseId = (tx: string) => isCoinbase(node.dag.findTransaction(tx) as DagTransaction);
      this.reorgs.push(
        reorgOf(
          { checkpoint: name, fromSink: last.sink, toSink: sink, ...chain },
          this.accepted,
          accepted,
          isCoinbaseId,
        ),
      );
    }
    this.accepted = accepted;
    this.checkpoints.push({ name, sink });
  }

  /** Where the replay stands now. */
  oracle(node: ReplayNode): Oracle {
    const { dag, network } = node;
    const utxos = utxosAtSink(dag).all();
    const nonStandard = utxos.filter(({ scriptPublicKey }) => classifyScript(scriptPublicKey) === 'nonstandard');
    const containing = containingBlocks(node);
    return {
      network: network.id,
      genesis: dag.genesis.hash,
      finalSink: dag.sink.hash,
      finalSinkBlueScore: Number(dag.sink.header.blueScore),
      circulatingSupply: {
        atSink: String(sumOf(utxos)),
        inNonStandardScriptsAtSink: String(sumOf(nonStandard)),
      },
      chainBlocks: hashesOf(dag.chainBlocks.slice(1)),
      acceptedTxToAcceptingBlock: Object.fromEntries(this.accepted),
      minedButNotAcceptedTxs: [...containing.keys()].filter((id) => !this.accepted.has(id)).sort(),
      txToContainingBlocks: Object.fromEntries(
        [...containing].filter(([, blocks]) => blocks.length > 1).map(([id, blocks]) => [id, hashesOf(blocks)]),
      ),
      reorgs: this.reorgs.map((reorg) => finished(reorg, this.accepted)),
      unacceptedByReorgs: [...new Set(this.reorgs.flatMap(({ txsUnaccepted }) => txsUnaccepted))].sort(),
      balances: balances(node),
      utxoCountAtSink: utxos.length,
      checkpoints: this.checkpoints,
      counts: counts(node, containing, this.accepted),
    };
  }
}

function hashesOf(blocks: readonly DagBlock[]): string[] {
  return blocks.map(({ hash }) => hash);
}

function acceptingBlocks({ dag }: ReplayNode): Map<string, string> {
  return new Map(
    dag.chainBlocks.flatMap((block) =>
      acceptedBy(block).map(({ transaction }): [string, string] => [toHex(transaction.transactionId), block.hash]),
    ),
  );
}

function containingBlocks({ dag }: ReplayNode): Map<string, DagBlock[]> {
  const containing = new Map<string, DagBlock[]>();
  for (const block of dag.allBlocks()) {
    for (const { transactionId } of block.transactions) {
      const id = toHex(transactionId);
      containing.set(id, [...(containing.get(id) ?? []), block]);
    }
  }
  return containing;
}

/** A reorganisation, from what was accepted by which block before and after it, in the order of acceptance. */
export function reorgOf(
  chain: Pick<Reorg, 'checkpoint' | 'fromSink' | 'toSink' | 'removed' | 'added'>,
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
  isCoinbaseId: (tx: string) => boolean,
): ReorgSoFar {
  const unaccepted = [...before.keys()].filter((tx) => !after.has(tx));
  return {
    ...chain,
    depth: chain.removed.length,
    txsUnaccepted: unaccepted,
    coinbasesUnaccepted: unaccepted.filter(isCoinbaseId),
    txsMoved: [...before].flatMap(([tx, from]) => {
      const to = after.get(tx);
      return to === undefined || to === from ? [] : [{ tx, from, to }];
    }),
  };
}

/** With what became of it in the end. */
export function finished(reorg: ReorgSoFar, accepted: ReadonlyMap<string, string>): Reorg {
  return {
    ...reorg,
    finallyAccepted: reorg.txsUnaccepted.filter((tx) => accepted.has(tx)),
    neverAcceptedAgain: reorg.txsUnaccepted.filter((tx) => !accepted.has(tx)),
  };
}

/** Of every address that an accepted transaction pays to. */
function balances({ dag, network }: ReplayNode): Oracle['balances'] {
  const byAddress = new Map<string, { sompi: bigint; transactions: Set<string> }>();
  for (const block of dag.chainBlocks) {
    for (const { transaction } of acceptedBy(block)) {
      const spent = transaction.inputs.map(({ previousOutpoint }) => {
        const output = dag.findTransaction(toHex(previousOutpoint.transactionId))?.outputs[previousOutpoint.index];
        if (output === undefined) throw new Error('an accepted transaction spends what was never made');
        return { scriptPublicKey: output.scriptPublicKey, sompi: -output.amount };
      });
      const paid = transaction.outputs.map(({ scriptPublicKey, amount }) => ({ scriptPublicKey, sompi: amount }));
      for (const { scriptPublicKey, sompi } of [...spent, ...paid]) {
        const address = scriptToAddress(scriptPublicKey, network.addressPrefix);
        if (address === undefined) continue;
        const entry = byAddress.get(address) ?? { sompi: 0n, transactions: new Set() };
        entry.sompi += sompi;
        entry.transactions.add(toHex(transaction.transactionId));
        byAddress.set(address, entry);
      }
    }
  }
  return Object.fromEntries(
    [...byAddress].map(([address, { sompi, transactions }]) => [
      address,
      { atSink: String(sompi), txCountAtSink: transactions.size },
    ]),
  );
}

function counts(
  { dag }: ReplayNode,
  containing: ReadonlyMap<string, DagBlock[]>,
  accepted: ReadonlyMap<string, string>,
): Record<string, unknown> {
  const chain = dag.chainBlocks.slice(1);
  const reds = chain.flatMap(({ mergeSetReds }) => mergeSetReds);
  const acceptedTransactions = chain.flatMap(acceptedBy).map(({ transaction }) => transaction);
  const payments = acceptedTransactions.filter((transaction) => !isCoinbase(transaction));
  const outputs = payments.flatMap((transaction) => transaction.outputs);
  const isCoinbaseId = (id: string) => isCoinbase(dag.findTransaction(id) as DagTransaction);
  const inSeveral = [...containing].filter(([, blocks]) => blocks.length > 1).map(([id]) => id);
  const ofType = (type: string) =>
    outputs.filter(({ scriptPublicKey }) => classifyScript(scriptPublicKey) === type).length;
  return {
    blocks: dag.size,
    chainBlocks: chain.length,
    offChainBlocks: dag.size - chain.length - 1,
    acceptedTxs: acceptedTransactions.length,
    acceptedNonCoinbase: payments.length,
    distinctTxsInBlocks: containing.size,
    chainBlocksMergingRed: chain.filter(({ mergeSetReds }) => mergeSetReds.length > 0).length,
    redBlocks: reds.length,
    redBlocksWithTxs: reds.filter(({ transactions }) => transactions.length > 1).length,
    nonCoinbaseTxsAcceptedOnlyViaRed: payments.filter(({ transactionId }) =>
      containing.get(toHex(transactionId))?.every((block) => reds.includes(block)),
    ).length,
    chainBlocksMerging2plusBlues: chain.filter(({ mergeSetBlues }) => mergeSetBlues.length > 1).length,
    maxBlues: Math.max(...chain.map(({ mergeSetBlues }) => mergeSetBlues.length)),
    maxParents: Math.max(...[...dag.allBlocks()].map(({ parents }) => parents.length)),
    nonCoinbaseTxsIn2plusBlocks: inSeveral.filter((id) => !isCoinbaseId(id)).length,
    coinbaseIdsIn2plusBlocks: inSeveral.filter(isCoinbaseId).length,
    minedNonCoinbaseNeverAccepted: [...containing.keys()].filter((id) => !accepted.has(id) && !isCoinbaseId(id)).length,
    acceptedOutputsByType: {
      pubkey: ofType('pubkey'),
      ecdsa: ofType('pubkeyecdsa'),
      p2sh: ofType('scripthash'),
      nonstandard: ofType('nonstandard'),
    },
    acceptedTxVersions: {
      v0: payments.filter(({ version }) => version === 0).length,
      v1: payments.filter(({ version }) => version === 1).length,
    },
    acceptedTxsWithPayload: payments.filter(({ payload }) => payload.length > 0).length,
    covenantOutputs: outputs.filter(({ covenant }) => covenant !== undefined).length,
  };
}
