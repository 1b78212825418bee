/** Entries of the mempool: encoded, decoded, and read in part. */
import { create, fromBinary, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import type { ScriptTotals } from '@kasgres/kaspa';
import { NodeProtocolError } from './errors.ts';
import { type MempoolEntry, MempoolEntrySchema } from './generated/kaspad_pb.ts';
import { PackedPairs } from './packed-pairs.ts';
import { bytesTag, varintTag, WireReader } from './wire-reader.ts';

/** Amounts in sompi, masses in grams. */
export interface PendingEntry {
  fee: bigint;
  version: number;
  computeMass: bigint;
  storageMass: bigint;
  outputSum: bigint;
  scripts: ScriptTotals;
  /** Addresses and amounts of the outputs; the address of a non-standard script is empty. */
  paid: PackedPairs;
  /** Transaction ids and indexes of the outpoints that are spent. */
  spent: PackedPairs;
  /** Covenant ids and indexes of the outputs that are bound to a covenant. */
  bound: PackedPairs;
}

// Field numbers of MempoolEntry and what it contains, in kaspad.proto.
const FEE = varintTag(1);
const TRANSACTION = bytesTag(3);
const VERSION = varintTag(1);
const INPUT = bytesTag(2);
const OUTPUT = bytesTag(3);
const VERBOSE_DATA = bytesTag(9);
const STORAGE_MASS = varintTag(10);
const OUTPOINT = bytesTag(1);
const SIG_OP_COUNT = varintTag(5);
const COMPUTE_BUDGET = varintTag(6);
const OUTPOINT_ID = bytesTag(1);
const OUTPOINT_INDEX = varintTag(2);
const AMOUNT = varintTag(1);
const SCRIPT_PUBLIC_KEY = bytesTag(2);
const OUTPUT_VERBOSE_DATA = bytesTag(3);
const COVENANT = bytesTag(4);
const COVENANT_ID = bytesTag(2);
const SCRIPT = bytesTag(2);
const ADDRESS = bytesTag(6);
const TRANSACTION_ID = bytesTag(1);
const COMPUTE_MASS = varintTag(4);

/** The node may send any text. */
const HASH = /^[0-9a-f]{64}$/;

/**
 * Returns the transaction id of an encoded entry without decoding the rest. Throws
 * NodeProtocolError if it has none.
 */
export function readEntryId(bytes: Uint8Array): string {
  const reader = new WireReader(bytes);
  for (const tag of [TRANSACTION, VERBOSE_DATA]) {
    if (!skipTo(reader, tag)) throw new NodeProtocolError('an entry of the mempool has no transaction id');
    reader.enter();
  }
  if (!skipTo(reader, TRANSACTION_ID)) throw new NodeProtocolError('an entry of the mempool has no transaction id');
  return reader.text();
}

function skipTo(reader: WireReader, wanted: number): boolean {
  while (reader.more) {
    const tag = reader.tag();
    if (tag === wanted) return true;
    reader.skip(tag);
  }
  return false;
}

/** Throws NodeProtocolError. */
export function decodeEntry(bytes: Uint8Array): MempoolEntry {
  try {
    return fromBinary(MempoolEntrySchema, bytes, { readUnknownFields: false });
  } catch (cause) {
    throw new NodeProtocolError(`malformed entry of the mempool: ${String(cause)}`, { cause });
  }
}

/** For tests and programs that respond like a node. */
export const encodeEntry = (entry: MessageInitShape<typeof MempoolEntrySchema>): Uint8Array =>
  toBinary(MempoolEntrySchema, create(MempoolEntrySchema, entry));

/**
 * Reads from an encoded entry what a sample of the mempool keeps. A mempool may have a million
 * outputs: as messages, they would take a gigabyte and most of the time of the garbage collector.
 * Throws NodeProtocolError.
 */
export function readPendingEntry(bytes: Uint8Array): PendingEntry {
  return new PendingEntryReader(bytes).read();
}

class PendingEntryReader {
  readonly #reader: WireReader;
  readonly #entry: Omit<PendingEntry, 'paid' | 'spent' | 'bound'> = {
    fee: 0n,
    version: 0,
    computeMass: 0n,
    storageMass: 0n,
    outputSum: 0n,
    scripts: { sigOps: 0, computeBudget: 0, outputs: 0, outputScriptBytes: 0 },
  };
  readonly #paid: [address: string, amount: bigint][] = [];
  readonly #spent: [transactionId: string, index: bigint][] = [];
  readonly #bound: [covenantId: string, index: bigint][] = [];
  #hasVerboseData = false;

  constructor(bytes: Uint8Array) {
    this.#reader = new WireReader(bytes);
  }

  read(): PendingEntry {
    this.#fields((tag, reader) => {
      if (tag === FEE) this.#entry.fee = reader.uint64();
      else if (tag === TRANSACTION) this.#message(this.#readTransaction);
      else reader.skip(tag);
    });
    if (!this.#hasVerboseData) throw new NodeProtocolError('an entry of the mempool has no verbose data');
    return {
      ...this.#entry,
      paid: PackedPairs.of(this.#paid),
      spent: PackedPairs.of(this.#spent),
      bound: PackedPairs.of(this.#bound),
    };
  }

  readonly #readTransaction = (tag: number, reader: WireReader): void => {
    if (tag === VERSION) this.#entry.version = reader.uint32();
    else if (tag === INPUT) this.#message(this.#readInput);
    else if (tag === OUTPUT) this.#readOutput();
    else if (tag === VERBOSE_DATA) {
      this.#hasVerboseData = true;
      this.#message(this.#readVerboseData);
    } else if (tag === STORAGE_MASS) this.#entry.storageMass = reader.uint64();
    else reader.skip(tag);
  };

  readonly #readInput = (tag: number, reader: WireReader): void => {
    const { scripts } = this.#entry;
    if (tag === OUTPOINT) this.#readOutpoint();
    else if (tag === SIG_OP_COUNT) scripts.sigOps += reader.uint32();
    else if (tag === COMPUTE_BUDGET) scripts.computeBudget += reader.uint32();
    else reader.skip(tag);
  };

  #readOutpoint(): void {
    let id = '';
    let index = 0;
    this.#message((tag, reader) => {
      if (tag === OUTPOINT_ID) id = reader.text();
      else if (tag === OUTPOINT_INDEX) index = reader.uint32();
      else reader.skip(tag);
    });
    this.#spent.push([id, BigInt(index)]);
  }

  #readOutput(): void {
    const { scripts } = this.#entry;
    let amount = 0n;
    let address = '';
    let covenantId = '';
    this.#message((tag, reader) => {
      if (tag === AMOUNT) amount = reader.uint64();
      else if (tag === SCRIPT_PUBLIC_KEY) this.#message(this.#readScript);
      else if (tag === OUTPUT_VERBOSE_DATA) {
        this.#message((inner) => {
          if (inner === ADDRESS) address = reader.text();
          else reader.skip(inner);
        });
      } else if (tag === COVENANT) {
        this.#message((inner) => {
          if (inner === COVENANT_ID) covenantId = reader.text();
          else reader.skip(inner);
        });
      } else reader.skip(tag);
    });
    if (HASH.test(covenantId)) this.#bound.push([covenantId, BigInt(scripts.outputs)]);
    scripts.outputs += 1;
    this.#entry.outputSum += amount;
    this.#paid.push([address, amount]);
  }

  readonly #readScript = (tag: number, reader: WireReader): void => {
    if (tag !== SCRIPT) return reader.skip(tag);
    // Two digits for each byte. The node may send any text.
    this.#entry.scripts.outputScriptBytes += Math.ceil(reader.view().length / 2);
  };

  readonly #readVerboseData = (tag: number, reader: WireReader): void => {
    if (tag === COMPUTE_MASS) this.#entry.computeMass = reader.uint64();
    else reader.skip(tag);
  };

  /** Reads the fields of a nested message, which begins here. */
  #message(handle: (tag: number, reader: WireReader) => void): void {
    const outerEnd = this.#reader.enter();
    this.#fields(handle);
    this.#reader.leave(outerEnd);
  }

  #fields(handle: (tag: number, reader: WireReader) => void): void {
    while (this.#reader.more) handle(this.#reader.tag(), this.#reader);
  }
}
