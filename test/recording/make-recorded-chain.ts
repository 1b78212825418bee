/**
 * Makes the fixture of the consensus tests of packages/devnet from a recording of a real node:
 * `node test/recording/make-recorded-chain.ts RECORDING OUTPUT`. Everything that consensus ignores
 * is omitted, above all signatures.
 */
import { writeFileSync } from 'node:fs';
import { brotliCompressSync, constants } from 'node:zlib';
import { create, toJson } from '@bufbuild/protobuf';
import { protocol } from '@kasgres/node';
import type { RecordedChain } from '@kasgres/devnet/testing';
import { exchanges, readRecording } from './recording.ts';

const [, , directory, output] = process.argv;
if (directory === undefined || output === undefined) throw new Error('usage: make-recorded-chain.ts RECORDING OUTPUT');

const { checkpoints } = await readRecording(directory);
const blocks = new Map<string, protocol.Block>();
const accepted = new Map<string, string[]>();
const written = new Set<string>();
const chain: RecordedChain = { checkpoints: [], accepted: [], supply: '0' };

for (const checkpoint of checkpoints) {
  const known = exchanges(checkpoint, 'getBlocks').filter(({ request }) => request.includeTransactions);
  for (const block of known.flatMap(({ response }) => response.blocks)) blocks.set(hashOf(block), block);
  for (const { response } of exchanges(checkpoint, 'getVirtualChainFromBlock')) {
    for (const block of response.acceptedTransactionIds) {
      accepted.set(block.acceptingBlockHash, block.acceptedTransactionIds);
    }
  }
  for (const { response } of exchanges(checkpoint, 'getCoinSupply')) chain.supply = String(response.circulatingSompi);
  const info = exchanges(checkpoint, 'getBlockDagInfo')[0]?.response;
  if (info === undefined) continue;
  chain.checkpoints.push({
    name: checkpoint.name,
    sink: info.sink,
    virtualParentHashes: info.virtualParentHashes,
    virtualDaaScore: String(info.virtualDaaScore),
    pastMedianTime: String(info.pastMedianTime),
    blocks: [...blocks.keys()].flatMap(newBlocksUpTo).map((block) => toJson(protocol.BlockSchema, withoutRest(block))),
  });
}
const genesis = chain.checkpoints[0]?.sink;
for (let hash = chain.checkpoints.at(-1)?.sink ?? ''; hash !== genesis; ) {
  chain.accepted.unshift([hash, accepted.get(hash) ?? []]);
  hash = getBlock(hash).verboseData?.selectedParentHash ?? '';
}
const params = { [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS };
writeFileSync(output, brotliCompressSync(JSON.stringify(chain), { params }));

/** Returns the blocks of a past that are not written yet, parents first. */
function newBlocksUpTo(hash: string): protocol.Block[] {
  if (written.has(hash)) return [];
  written.add(hash);
  const block = getBlock(hash);
  return [...(block.header?.parents[0]?.parentHashes ?? []).flatMap(newBlocksUpTo), block];
}

function withoutRest({ header, transactions, verboseData }: protocol.Block): protocol.Block {
  if (header === undefined || verboseData === undefined) throw new Error('a recorded block without header');
  const { hash, selectedParentHash, mergeSetBluesHashes, mergeSetRedsHashes } = verboseData;
  const { version, parents, timestamp, bits, daaScore, blueScore, blueWork } = header;
  return create(protocol.BlockSchema, {
    header: { version, parents: parents.slice(0, 1), timestamp, bits, daaScore, blueScore, blueWork },
    transactions: transactions.map(({ inputs, outputs, payload, subnetworkId, version: transactionVersion }) => ({
      version: transactionVersion,
      inputs: inputs.map(({ previousOutpoint }) => ({ previousOutpoint })),
      outputs: outputs.map(({ amount, scriptPublicKey, covenant }) => ({
        amount,
        scriptPublicKey,
        ...(covenant && { covenant }),
      })),
      subnetworkId,
      payload,
    })),
    verboseData: { hash, selectedParentHash, mergeSetBluesHashes, mergeSetRedsHashes },
  });
}

function hashOf({ verboseData }: protocol.Block): string {
  return verboseData?.hash ?? '';
}

function getBlock(hash: string): protocol.Block {
  const block = blocks.get(hash);
  if (block === undefined) throw new Error(`the recording does not contain block ${hash}`);
  return block;
}
