/**
 * The expected result of a recording, in the form of its `expected.json`. It is computed from
 * facts, which are read either from the replayed DAG (the oracle) or from the database of an index
 * (to be compared with it).
 */
import { acceptedBy, type DagBlock, type DagTransaction } from '@kasgres/devnet';
import { classifyScript, isCoinbase, scriptToAddress, toHex } from '@kasgres/kaspa';
import type { Pool } from 'pg';
import { sumOf, utxosAtSink } from '../support/oracle.ts';
import type { Oracle, Reorg } from './expected-result.ts';
import type { ReplayNode } from './replay-node.ts';

interface BlockFacts {
  hash: string;
  transactionIds: string[];
  parents: number;
  blues: number;
  reds: number;
  isChainBlock: boolean;
  isRed: boolean;
}

interface TransactionFacts {
  isCoinbase: boolean;
  version: number;
  hasPayload: boolean;
  outputTypes: string[];
  covenants: number;
}

interface Facts extends Pick<Oracle, 'circulatingSupply' | 'balances' | 'utxoCountAtSink' | 'finalSinkBlueScore'> {
  /** From genesis to the sink, with the ids of accepted transactions in order. */
  chain: { hash: string; accepted: string[] }[];
  blocks: BlockFacts[];
  transactions: Map<string, TransactionFacts>;
}

/** Collects the result while an index or a replay moves from checkpoint to checkpoint. */
export class OracleCollector {
  readonly #reorgs: Omit<Reorg, 'finallyAccepted' | 'neverAcceptedAgain'>[] = [];
  readonly #checkpoints: Oracle['checkpoints'] = [];
  #last: Facts | undefined;

  /** Must be called at every checkpoint that may have another sink. */
  visit(name: string, facts: Facts): void {
    const [fromSink, toSink] = [sinkOf(this.#last), sinkOf(facts)];
    const [before, after] = [acceptingBlocks(this.#last), acceptingBlocks(facts)];
    const removed = chainBlocksOnlyIn(this.#last, facts).reverse();
    this.#checkpoints.push({ name, sink: toSink });
    if (removed.length > 0) {
      const txsUnaccepted = [...before.keys()].filter((tx) => !after.has(tx));
      this.#reorgs.push({
        checkpoint: name,
        fromSink,
        toSink,
        depth: removed.length,
        removed,
        added: chainBlocksOnlyIn(facts, this.#last),
        txsUnaccepted,
        coinbasesUnaccepted: txsUnaccepted.filter((tx) => facts.transactions.get(tx)?.isCoinbase),
        txsMoved: [...before].flatMap(([tx, from]) => {
          const to = after.get(tx);
          return to === undefined || to === from ? [] : [{ tx, from, to }];
        }),
      });
    }
    this.#last = facts;
  }

  /** Returns the result as of the last visit. */
  result(): Oracle {
    const facts = this.#last;
    if (facts === undefined) throw new Error('no checkpoint was visited');
    const accepted = acceptingBlocks(facts);
    const containing = containingBlocks(facts);
    return {
      genesis: facts.chain[0]?.hash ?? '',
      finalSink: sinkOf(facts),
      finalSinkBlueScore: facts.finalSinkBlueScore,
      circulatingSupply: facts.circulatingSupply,
      chainBlocks: facts.chain.slice(1).map(({ hash }) => hash),
      acceptedTxToAcceptingBlock: Object.fromEntries(accepted),
      minedButNotAcceptedTxs: [...containing.keys()].filter((id) => !accepted.has(id)).sort(),
      txToContainingBlocks: Object.fromEntries(
        [...containing]
          .filter(([, blocks]) => blocks.length > 1)
          .map(([id, blocks]) => [id, blocks.map(({ hash }) => hash).sort()]),
      ),
      reorgs: this.#reorgs.map((reorg) => ({
        ...reorg,
        finallyAccepted: reorg.txsUnaccepted.filter((tx) => accepted.has(tx)),
        neverAcceptedAgain: reorg.txsUnaccepted.filter((tx) => !accepted.has(tx)),
      })),
      unacceptedByReorgs: [...new Set(this.#reorgs.flatMap(({ txsUnaccepted }) => txsUnaccepted))].sort(),
      balances: facts.balances,
      utxoCountAtSink: facts.utxoCountAtSink,
      checkpoints: this.#checkpoints,
      counts: countsOf(facts, accepted, containing),
    };
  }
}

const sinkOf = (facts: Facts | undefined): string => facts?.chain.at(-1)?.hash ?? '';

function chainBlocksOnlyIn(facts: Facts | undefined, other: Facts | undefined): string[] {
  const others = new Set(other?.chain.map(({ hash }) => hash));
  return (facts?.chain ?? []).map(({ hash }) => hash).filter((hash) => !others.has(hash));
}

/** By transaction id, in the order of acceptance. */
function acceptingBlocks(facts: Facts | undefined): Map<string, string> {
  return new Map((facts?.chain ?? []).flatMap(({ hash, accepted }) => accepted.map((id) => [id, hash] as const)));
}

function containingBlocks({ blocks }: Facts): Map<string, BlockFacts[]> {
  const containing = new Map<string, BlockFacts[]>();
  for (const block of blocks) {
    for (const id of block.transactionIds) containing.set(id, [...(containing.get(id) ?? []), block]);
  }
  return containing;
}

function countsOf(
  { chain, blocks, transactions }: Facts,
  accepted: ReadonlyMap<string, string>,
  containing: ReadonlyMap<string, readonly BlockFacts[]>,
): Oracle['counts'] {
  const chainBlocks = blocks.filter(({ isChainBlock }) => isChainBlock);
  const reds = blocks.filter(({ isRed }) => isRed);
  const isCoinbaseId = (id: string): boolean => transactions.get(id)?.isCoinbase === true;
  const paymentIds = chain.flatMap((block) => block.accepted).filter((id) => !isCoinbaseId(id));
  const payments = paymentIds.flatMap((id) => transactions.get(id) ?? []);
  const inSeveral = [...containing].filter(([, holders]) => holders.length > 1).map(([id]) => id);
  const outputsOf = (type: string): number =>
    payments.flatMap(({ outputTypes }) => outputTypes).filter((it) => it === type).length;
  return {
    blocks: blocks.length,
    chainBlocks: chain.length - 1,
    offChainBlocks: blocks.length - chainBlocks.length,
    acceptedTxs: accepted.size,
    acceptedNonCoinbase: payments.length,
    distinctTxsInBlocks: containing.size,
    chainBlocksMergingRed: chainBlocks.filter((block) => block.reds > 0).length,
    redBlocks: reds.length,
    redBlocksWithTxs: reds.filter(({ transactionIds }) => transactionIds.length > 1).length,
    nonCoinbaseTxsAcceptedOnlyViaRed: paymentIds.filter((id) => containing.get(id)?.every(({ isRed }) => isRed)).length,
    chainBlocksMerging2plusBlues: chainBlocks.filter(({ blues }) => blues > 1).length,
    maxBlues: Math.max(...chainBlocks.map(({ blues }) => blues)),
    maxParents: Math.max(...blocks.map(({ parents }) => parents)),
    nonCoinbaseTxsIn2plusBlocks: inSeveral.filter((id) => !isCoinbaseId(id)).length,
    coinbaseIdsIn2plusBlocks: inSeveral.filter(isCoinbaseId).length,
    minedNonCoinbaseNeverAccepted: [...containing.keys()].filter((id) => !accepted.has(id) && !isCoinbaseId(id)).length,
    acceptedOutputsByType: {
      pubkey: outputsOf('pubkey'),
      ecdsa: outputsOf('pubkeyecdsa'),
      p2sh: outputsOf('scripthash'),
      nonstandard: outputsOf('nonstandard'),
    },
    acceptedTxVersions: {
      v0: payments.filter(({ version }) => version === 0).length,
      v1: payments.filter(({ version }) => version === 1).length,
    },
    acceptedTxsWithPayload: payments.filter(({ hasPayload }) => hasPayload).length,
    covenantOutputs: payments.reduce((sum, { covenants }) => sum + covenants, 0),
  };
}

const idOf = ({ transactionId }: DagTransaction): string => toHex(transactionId);

/** Computes the facts by plain accounting over the DAG. */
export function factsOfReplay({ dag, network }: ReplayNode): Facts {
  const blocks = [...dag.allBlocks()];
  const reds = new Set(dag.chainBlocks.flatMap(({ mergeSetReds }) => mergeSetReds));
  const utxos = utxosAtSink(dag).all();
  const nonStandard = utxos.filter(({ scriptPublicKey }) => classifyScript(scriptPublicKey) === 'nonstandard');
  const byAddress = new Map<string, { sompi: bigint; transactions: Set<string> }>();
  for (const { transaction } of dag.chainBlocks.flatMap(acceptedBy)) {
    const spent = transaction.inputs.map(({ previousOutpoint }) => {
      const output = dag.findTransaction(toHex(previousOutpoint.transactionId))?.outputs[previousOutpoint.index];
      if (output === undefined) throw new Error('an accepted transaction spends an output that does not exist');
      return { scriptPublicKey: output.scriptPublicKey, amount: 0n - output.amount };
    });
    for (const { scriptPublicKey, amount } of [...spent, ...transaction.outputs]) {
      const address = scriptToAddress(scriptPublicKey, network.addressPrefix);
      if (address === undefined) continue;
      const entry = byAddress.get(address) ?? { sompi: 0n, transactions: new Set() };
      byAddress.set(address, { sompi: entry.sompi + amount, transactions: entry.transactions.add(idOf(transaction)) });
    }
  }
  return {
    finalSinkBlueScore: Number(dag.sink.header.blueScore),
    chain: dag.chainBlocks.map((block) => ({
      hash: block.hash,
      accepted: acceptedBy(block).map(({ transaction }) => idOf(transaction)),
    })),
    blocks: blocks.map((block: DagBlock) => ({
      hash: block.hash,
      transactionIds: block.transactions.map(idOf),
      parents: block.parents.length,
      blues: block.mergeSetBlues.length,
      reds: block.mergeSetReds.length,
      isChainBlock: block.chainIndex !== undefined,
      isRed: reds.has(block),
    })),
    transactions: new Map(
      blocks
        .flatMap(({ transactions }) => transactions)
        .map((transaction) => [
          idOf(transaction),
          {
            isCoinbase: isCoinbase(transaction),
            version: transaction.version,
            hasPayload: transaction.payload.length > 0,
            outputTypes: transaction.outputs.map(({ scriptPublicKey }) => classifyScript(scriptPublicKey)),
            covenants: transaction.outputs.filter(({ covenant }) => covenant !== undefined).length,
          },
        ]),
    ),
    balances: Object.fromEntries(
      [...byAddress].map(([address, { sompi, transactions }]) => [
        address,
        { atSink: String(sompi), txCountAtSink: transactions.size },
      ]),
    ),
    circulatingSupply: { atSink: String(sumOf(utxos)), inNonStandardScriptsAtSink: String(sumOf(nonStandard)) },
    utxoCountAtSink: utxos.length,
  };
}

/** Reads the facts from the database of an index. */
export async function storedFacts(pool: Pool): Promise<Facts> {
  const read = async <Row extends object>(sql: string): Promise<Row[]> => (await pool.query<Row>(sql)).rows;
  const [state] = await read<{ score: number; circulating: string; utxos: number; nonstandard: string }>(
    `select sink.blue_score::int as score, c.circulating_sompi::text as circulating,
      (select count(*)::int from utxos) as utxos,
       (select coalesce(sum(balance), 0)::text from balances join scripts s on s.id = script_id
         where s.type = 'nonstandard') as nonstandard
     from checkpoint c join blocks sink on sink.id = c.block_id`,
  );
  if (state === undefined) throw new Error('the index has no checkpoint');
  const transactions = await read<TransactionFacts & { id: string }>(
    `select encode(t.transaction_id, 'hex') as id, t.subnetwork_id = 1 as "isCoinbase",
       t.version::int, length(t.payload) > 0 as "hasPayload",
       coalesce(array_agg(s.type::text) filter (where o.index is not null), '{}') as "outputTypes",
       count(o.covenant_id)::int as covenants
     from transactions t left join transaction_outputs o on o.transaction_id = t.id
       left join scripts s on s.id = o.script_id
     group by t.id, t.transaction_id, t.subnetwork_id, t.version, t.payload`,
  );
  const balances = await read<{ address: string; balance: string; transactions: number }>(
    `select s.address, coalesce(b.balance, 0)::text as balance, count(*)::int as transactions
     from address_transactions a
     join transactions t on t.id = a.transaction_id and t.accepting_index is not null
     join scripts s on s.id = a.script_id
     left join balances b on b.script_id = s.id
     where s.address is not null
     group by s.id, b.balance`,
  );
  return {
    finalSinkBlueScore: state.score,
    chain: await read(
      `select encode(b.hash, 'hex') as hash, array(
         select encode(t.transaction_id, 'hex')
           from unnest(c.accepted_transactions) with ordinality accepted (id, index)
         join transactions t on t.id = accepted.id order by accepted.index) as accepted
       from chain_blocks c join blocks b on b.id = c.block_id order by c.index`,
    ),
    blocks: await read(
      `select encode(b.hash, 'hex') as hash, (select count(*)::int from block_parents where block_id = b.id) as parents,
         cardinality(merge_set_blues) as blues, cardinality(merge_set_reds) as reds,
         is_chain_block as "isChainBlock", coalesce(not is_blue, false) as "isRed", array(
           select encode(t.transaction_id, 'hex') from block_transactions bt
             join transactions t on t.id = bt.transaction_id
           where bt.block_id = b.id order by bt.index) as "transactionIds"
       from blocks b`,
    ),
    transactions: new Map(transactions.map(({ id, ...facts }) => [id, facts])),
    balances: Object.fromEntries(
      balances.map((row) => [row.address, { atSink: row.balance, txCountAtSink: row.transactions }]),
    ),
    circulatingSupply: { atSink: state.circulating, inNonStandardScriptsAtSink: state.nonstandard },
    utxoCountAtSink: state.utxos,
  };
}
