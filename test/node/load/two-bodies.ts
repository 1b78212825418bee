/**
 * One transaction id with two bodies in siblings, the copy with the wrong signature first in the mergeset: the node must pass it over
 * and accept the second.
 */
import { toHex } from '@kasgres/kaspa';
import type { NodeClient, protocol } from '@kasgres/node';
import { type Utxo, isStandard } from './utxo.ts';
import type { Load } from './load.ts';
import { getTemplate, mine, mineTemplate, type MinedBlock, submit } from './miner.ts';
import { type Payment, sign } from './payment.ts';

export interface TwoBodies {
  transactionId: string;
  goodHash: string;
  badHash: string;
  goodBlockHash: string;
  badBlockHash: string;
  /** The block whose body the node says it accepted. */
  acceptedFrom: string | undefined;
}

/** How many nonces are tried for each of the siblings; the order of siblings is that of their hashes. */
const TRIES = 40;

export async function mineTwoBodies(node: NodeClient, load: Load): Promise<TwoBodies> {
  await load.settle();
  const [miner] = load.traffic.miners;
  if (miner === undefined) throw new Error('the load has no miner');
  // The node tells which body it accepted only where every script that takes part has an address.
  await mineTemplate(node, miner);
  await mineTemplate(node, miner);
  const good = load.traffic.standard(takeStandard(load));
  const bad = sign({ ...good.plan, broken: true });
  const template = await getTemplate(node, miner);
  const goods = siblings(template, [good], 0n);
  const bads = siblings(template, [bad], 1000n);
  const empties = siblings(template, [], 2000n);
  // The greatest of equal blue work is the selected parent, and leads the mergeset whatever it carries: that is to be the empty one.
  const badBlock = bads.at(0);
  const goodBlock = goods.find(({ hash }) => badBlock !== undefined && Buffer.compare(hash, badBlock.hash) > 0);
  const top = empties.at(-1);
  if (badBlock === undefined || goodBlock === undefined || top === undefined)
    throw new Error('no order of siblings fits');
  if (Buffer.compare(top.hash, goodBlock.hash) <= 0) throw new Error('no order of siblings fits');
  for (const block of [badBlock, goodBlock, top]) await submit(node, block);
  await mineTemplate(node, miner);
  const acceptedFrom = await findSource(node, toHex(top.hash), toHex(good.id));
  return {
    acceptedFrom,
    transactionId: toHex(good.id),
    goodHash: toHex(good.hash),
    badHash: toHex(bad.hash),
    goodBlockHash: toHex(goodBlock.hash),
    badBlockHash: toHex(badBlock.hash),
  };
}

/** By the chain block above `startHash`, which is the sink. */
async function findSource(node: NodeClient, startHash: string, transactionId: string): Promise<string | undefined> {
  const answer = await node.call('getVirtualChainFromBlockV2', { startHash, dataVerbosityLevel: 1 });
  const accepted = answer.chainBlockAcceptedTransactions.flatMap(({ acceptedTransactions }) => acceptedTransactions);
  return accepted.find(({ verboseData }) => verboseData?.transactionId === transactionId)?.verboseData?.blockHash;
}

function takeStandard(load: Load): Utxo {
  for (;;) {
    const utxo = load.wallet.take();
    if (utxo === undefined) throw new Error('the load has no UTXO left');
    if (isStandard(utxo)) return utxo;
  }
}

/** Blocks that differ only in their nonce, by ascending hash. */
function siblings(template: protocol.Block, payments: Payment[], firstNonce: bigint): MinedBlock[] {
  return Array.from({ length: TRIES }, (_, index) =>
    mine(template, payments, { nonce: firstNonce + BigInt(index) }),
  ).sort((left, right) => Buffer.compare(left.hash, right.hash));
}
