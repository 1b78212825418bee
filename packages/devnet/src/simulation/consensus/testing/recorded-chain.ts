/**
 * Reads the chain of a real node that `test/recording/make-recorded-chain.ts` wrote, as blocks that
 * consensus takes.
 */
import { readFileSync } from 'node:fs';
import { brotliDecompressSync } from 'node:zlib';
import { fromJson, type JsonValue } from '@bufbuild/protobuf';
import { fromHex, type Header, merkleRoot, parseBlueWork, ZERO_HASH } from '@kasgres/kaspa';
import { protocol } from '@kasgres/node';
import { withDerived } from '../../../economy/build-transaction.ts';
import { readTransaction } from '../../../rpc/from-messages.ts';
import type { BlockBody } from '../consensus.ts';

export interface RecordedChain {
  checkpoints: {
    name: string;
    sink: string;
    virtualParentHashes: string[];
    virtualDaaScore: string;
    pastMedianTime: string;
    /** The blocks since the last checkpoint as `protocol.Block`, parents first. */
    blocks: JsonValue[];
  }[];
  /** The transaction ids that each block of the last selected chain accepts, in order. */
  accepted: [hash: string, ids: string[]][];
  /** Sompi at the last virtual block. */
  supply: string;
}

export function readRecordedChain(): RecordedChain {
  const file = new URL('../recorded/recorded-chain.json.br', import.meta.url);
  return JSON.parse(brotliDecompressSync(readFileSync(file)).toString()) as RecordedChain;
}

/**
 * Returns a block and the GHOSTDAG data that the node reported. The recording omits signatures, so
 * hashes of transactions and merkle roots are not the real ones; ids and block hashes are.
 */
export function readRecordedBlock(json: JsonValue): { body: BlockBody; ghostdag: protocol.BlockVerboseData } {
  const { header, transactions: messages, verboseData } = fromJson(protocol.BlockSchema, json);
  if (header === undefined || verboseData === undefined) throw new Error('a recorded block without header');
  const transactions = messages.map((message) => withDerived(readTransaction(message)));
  const bodyHeader: Header = {
    version: header.version,
    parentsByLevel: header.parents.map(({ parentHashes }) => parentHashes.map(fromHex)),
    hashMerkleRoot: merkleRoot(transactions.map(({ hash }) => hash)),
    acceptedIdMerkleRoot: ZERO_HASH,
    utxoCommitment: ZERO_HASH,
    timestamp: header.timestamp,
    bits: header.bits,
    nonce: 0n,
    daaScore: header.daaScore,
    blueScore: header.blueScore,
    blueWork: parseBlueWork(header.blueWork),
    pruningPoint: ZERO_HASH,
  };
  return { body: { hash: fromHex(verboseData.hash), header: bodyHeader, transactions }, ghostdag: verboseData };
}
