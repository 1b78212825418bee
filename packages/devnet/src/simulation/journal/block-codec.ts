/** A block as the journal keeps it: with hash and ids, so that reading it back computes none of them again. */
import {
  COINBASE_SUBNETWORK,
  type Covenant,
  type Hash,
  HASH_BYTES,
  type Header,
  NATIVE_SUBNETWORK,
  type ScriptPublicKey,
  SUBNETWORK_ID_BYTES,
  type TransactionInput,
  type TransactionOutput,
} from '@kasgres/kaspa';
import type { DagTransaction } from '../../dag/dag.ts';
import type { BlockBody } from '../consensus/consensus.ts';
import { bytesKey, scriptKey } from '../../economy/utxo.ts';
import { ByteSink, ByteSource } from './bytes.ts';

const BLUE_WORK_BYTES = 24;
const sink = new ByteSink();

export function encodeBlock({ hash, header, transactions }: BlockBody): Buffer {
  sink.bytes(hash);
  writeHeader(header);
  writeList(transactions, writeTransaction);
  return sink.take();
}

/**
 * Reads blocks back. Their byte arrays are views of the given bytes, and hashes of blocks and scripts that come again are the same objects
 * each time: a chain is mostly references and addresses, and would need twice the memory without it.
 */
export class BlockDecoder {
  private readonly blockHashes = new Map<string, Hash>();
  private readonly scripts = new Map<string, ScriptPublicKey>();

  /** Throws RangeError when the bytes are too few. */
  decode(bytes: Buffer): BlockBody {
    const source = new ByteSource(bytes);
    const hash = this.blockHash(source);
    return { hash, header: this.header(source), transactions: readList(source, () => this.transaction(source)) };
  }

  private header(source: ByteSource): Header {
    return {
      version: source.uint16(),
      parentsByLevel: readList(source, () => readList(source, () => this.blockHash(source))),
      hashMerkleRoot: readHash(source),
      acceptedIdMerkleRoot: readHash(source),
      utxoCommitment: readHash(source),
      timestamp: source.uint64(),
      bits: source.uint32(),
      nonce: source.uint64(),
      daaScore: source.uint64(),
      blueScore: source.uint64(),
      blueWork: BigInt(`0x${source.bytes(BLUE_WORK_BYTES).toString('hex')}`),
      pruningPoint: this.blockHash(source),
    };
  }

  private transaction(source: ByteSource): DagTransaction {
    return {
      transactionId: readHash(source),
      hash: readHash(source),
      computeMass: source.uint64(),
      version: source.uint16(),
      inputs: readList(source, readInput),
      outputs: readList(source, () => this.output(source)),
      lockTime: source.uint64(),
      subnetworkId: readSubnetwork(source),
      gas: source.uint64(),
      payload: source.lengthAndBytes(),
      storageMass: source.uint64(),
    };
  }

  private output(source: ByteSource): TransactionOutput {
    return {
      amount: source.uint64(),
      scriptPublicKey: this.script(source),
      covenant: source.uint8() === 0 ? undefined : readCovenant(source),
    };
  }

  private blockHash(source: ByteSource): Hash {
    const hash = readHash(source);
    return known(this.blockHashes, bytesKey(hash), hash);
  }

  private script(source: ByteSource): ScriptPublicKey {
    const scriptPublicKey = { version: source.uint16(), script: source.lengthAndBytes() };
    return known(this.scripts, scriptKey(scriptPublicKey), scriptPublicKey);
  }
}

/** The first value that came with the key. */
function known<T>(values: Map<string, T>, key: string, value: T): T {
  const first = values.get(key);
  if (first === undefined) values.set(key, value);
  return first ?? value;
}

function writeHeader(header: Header): void {
  sink.uint16(header.version);
  writeList(header.parentsByLevel, (hashes) => writeList(hashes, (hash) => sink.bytes(hash)));
  sink.bytes(header.hashMerkleRoot).bytes(header.acceptedIdMerkleRoot).bytes(header.utxoCommitment);
  sink.uint64(header.timestamp).uint32(header.bits).uint64(header.nonce);
  sink.uint64(header.daaScore).uint64(header.blueScore);
  sink.bytes(Buffer.from(header.blueWork.toString(16).padStart(2 * BLUE_WORK_BYTES, '0'), 'hex'));
  sink.bytes(header.pruningPoint);
}

function writeTransaction(transaction: DagTransaction): void {
  sink.bytes(transaction.transactionId).bytes(transaction.hash).uint64(transaction.computeMass);
  sink.uint16(transaction.version);
  writeList(transaction.inputs, writeInput);
  writeList(transaction.outputs, writeOutput);
  sink.uint64(transaction.lockTime).bytes(transaction.subnetworkId).uint64(transaction.gas);
  sink.lengthAndBytes(transaction.payload).uint64(transaction.storageMass);
}

function writeInput(input: TransactionInput): void {
  sink.bytes(input.previousOutpoint.transactionId).uint32(input.previousOutpoint.index);
  sink.lengthAndBytes(input.signatureScript).uint64(input.sequence);
  sink.uint8(input.sigOpCount).uint16(input.computeBudget);
}

function readInput(source: ByteSource): TransactionInput {
  return {
    previousOutpoint: { transactionId: readHash(source), index: source.uint32() },
    signatureScript: source.lengthAndBytes(),
    sequence: source.uint64(),
    sigOpCount: source.uint8(),
    computeBudget: source.uint16(),
  };
}

function writeOutput({ amount, scriptPublicKey, covenant }: TransactionOutput): void {
  sink.uint64(amount).uint16(scriptPublicKey.version).lengthAndBytes(scriptPublicKey.script);
  sink.uint8(covenant === undefined ? 0 : 1);
  if (covenant !== undefined) sink.uint16(covenant.authorizingInput).bytes(covenant.covenantId);
}

/** Nearly all transactions share two of them. */
function readSubnetwork(source: ByteSource): Uint8Array {
  const id = source.bytes(SUBNETWORK_ID_BYTES);
  return [NATIVE_SUBNETWORK, COINBASE_SUBNETWORK].find((known) => Buffer.compare(known, id) === 0) ?? id;
}

function readCovenant(source: ByteSource): Covenant {
  return { authorizingInput: source.uint16(), covenantId: readHash(source) };
}

function readHash(source: ByteSource): Buffer {
  return source.bytes(HASH_BYTES);
}

function writeList<T>(items: readonly T[], write: (item: T) => void): void {
  sink.uint32(items.length);
  for (const item of items) write(item);
}

function readList<T>(source: ByteSource, read: (source: ByteSource) => T): T[] {
  return Array.from({ length: source.uint32() }, () => read(source));
}
