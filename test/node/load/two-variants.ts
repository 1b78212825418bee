/**
 * One transaction id with two variants in siblings. The variant with the wrong signature is first in the mergeset, so the node must skip it
 * and accept the other one.
 */
import { toHex } from '@kasgres/kaspa';
import type { NodeClient, protocol } from '@kasgres/node';
import type { Load } from './load.ts';
import { getTemplate, mine, mineTemplate, type MinedBlock, submit } from './miner.ts';
import { isStandard, type Payment, sign, type Utxo } from './payment.ts';

export interface TwoVariants {
  transactionId: string;
  goodHash: string;
  badHash: string;
  goodBlockHash: string;
  badBlockHash: string;
  /** The block whose variant the node says it accepted. */
  acceptedFrom: string | undefined;
}

/** Nonces that are tried for each sibling: siblings are ordered by their hashes. */
const TRIES = 40;

export async function mineTwoVariants(node: NodeClient, load: Load): Promise<TwoVariants> {
  await load.settle();
  const [miner] = load.traffic.miners;
  if (miner === undefined) throw new Error('the load has no miner');
  // The node tells which variant it accepted only if every script involved has an address.
  await mineTemplate(node, miner);
  await mineTemplate(node, miner);
  const good = load.traffic.standard(takeStandard(load));
  const bad = sign({ ...good.plan, broken: true });
  const template = await getTemplate(node, miner);
  const goods = siblings(template, [good], 0n);
  const bads = siblings(template, [bad], 1000n);
  const empties = siblings(template, [], 2000n);
  // Of equal blue work the greatest hash is the selected parent and first in the mergeset, so it must be the empty block.
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

/** Returns the block from which the chain block above `startHash` accepted the transaction. */
async function findSource(node: NodeClient, startHash: string, transactionId: string): Promise<string | undefined> {
  const response = await node.call('getVirtualChainFromBlockV2', { startHash, dataVerbosityLevel: 1 });
  const accepted = response.chainBlockAcceptedTransactions.flatMap(({ acceptedTransactions }) => acceptedTransactions);
  return accepted.find(({ verboseData }) => verboseData?.transactionId === transactionId)?.verboseData?.blockHash;
}

function takeStandard(load: Load): Utxo {
  for (;;) {
    const utxo = load.wallet.take();
    if (utxo === undefined) throw new Error('the load has no UTXO left');
    if (isStandard(utxo)) return utxo;
  }
}

/** Returns blocks that differ only in their nonce, by ascending hash. */
function siblings(template: protocol.Block, payments: Payment[], firstNonce: bigint): MinedBlock[] {
  return Array.from({ length: TRIES }, (_, index) =>
    mine(template, payments, { nonce: firstNonce + BigInt(index) }),
  ).sort((left, right) => Buffer.compare(left.hash, right.hash));
}
