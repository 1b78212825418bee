/**
 * One transaction id with two variants in siblings. The variant with the wrong signature is first
 * in the mergeset, so the node must skip it and accept the other one.
 */
import { toHex } from '@kasgres/kaspa';
import type { NodeClient, protocol } from '@kasgres/node';
import type { Load } from './load.ts';
import { getTemplate, mine, mineTemplate, type MinedBlock, submit } from './miner.ts';
import { idOf, type Payment, sign } from './payment.ts';

/** The number of nonces that are tried for each sibling: siblings are ordered by their hashes. */
const TRIES = 40;

/** @returns `acceptedFrom` is the block whose variant the node says it accepted */
export async function mineTwoVariants(node: NodeClient, load: Load) {
  await load.settle();
  // The node reports the accepted variant only if every script involved has an address.
  await mineTemplate(node);
  await mineTemplate(node);
  const good = load.traffic.split(load.wallet.takeStandard());
  const bad = sign(load.keys, good.draft, { isBroken: true });
  const template = await getTemplate(node);
  const [badBlock] = siblings(template, [bad], 0);
  const goodBlock = siblings(template, [good], 1_000).find((block) => badBlock && isAbove(block, badBlock));
  const top = siblings(template, [], 2_000).at(-1);
  // With equal blue work the greatest hash is the selected parent and first in the mergeset, so it
  // must be the empty block.
  if (badBlock === undefined || goodBlock === undefined || top === undefined || !isAbove(top, goodBlock))
    throw new Error('no order of siblings fits');
  for (const block of [badBlock, goodBlock, top]) await submit(node, block);
  await mineTemplate(node);

  const { chainBlockAcceptedTransactions } = await node.call('getVirtualChainFromBlockV2', {
    startHash: toHex(top.hash),
    dataVerbosityLevel: 1,
  });
  const accepted = chainBlockAcceptedTransactions.flatMap(({ acceptedTransactions }) => acceptedTransactions);
  return {
    acceptedFrom: accepted.find(({ verboseData }) => verboseData?.transactionId === idOf(good))?.verboseData?.blockHash,
    transactionId: idOf(good),
    goodHash: toHex(good.transaction.hash),
    badHash: toHex(bad.transaction.hash),
    goodBlockHash: toHex(goodBlock.hash),
    badBlockHash: toHex(badBlock.hash),
  };
}

/** Returns blocks that differ only in their nonce, by ascending hash. */
function siblings(template: protocol.Block, payments: Payment[], firstNonce: number): MinedBlock[] {
  const blocks = Array.from({ length: TRIES }, (_, index) => mine(template, payments, BigInt(firstNonce + index)));
  return blocks.sort((left, right) => Buffer.compare(left.hash, right.hash));
}

function isAbove(one: MinedBlock, other: MinedBlock): boolean {
  return Buffer.compare(one.hash, other.hash) > 0;
}
